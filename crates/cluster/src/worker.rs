//! A worker: says hello, gets ready for a run (`worker/ready.rs`), follows the state of the leader
//! (`worker/state.rs`), and sends results in batches that count once (`worker/outbox.rs`). A machine: received
//! messages and time go in; requests to the bus and actions on the load come out.
//!
//! It starts requests only while it knows that the leader counts on it: each answered hello allows it to continue for
//! the time of a lease from when it was *sent*; the leader declares it lost a lease after the hello was *received*.
//! So it has stopped before any other worker may have its slots. A worker that was declared lost rejoins with a new
//! life number.

mod act;
mod clock;
mod incarnations;
mod kept;
mod leases;
mod outbox;
mod ready;
mod state;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use pacing::Nanos;

use crate::bus::{BusCommand, BusEvent, Bytes, LEADER, Refused, STATE, asking, presence};
use crate::pace::Pace;
use crate::protocol::{Ask, Hello, Lease, News, Refusal, Reply, RunIntent, Stamp, Stamped, State};
pub use act::{Act, PartOf};
use clock::{Offset, Probes};
pub(crate) use leases::PartLease;
use outbox::{Outbox, Sender};

/// The time after which an unanswered hello is repeated.
const HELLO_AGAIN: Nanos = Nanos::from_millis(300);
/// The time after which a request without a response is lost.
const LOST_AFTER: Nanos = Nanos::from_millis(10_000);
/// The interval at which the state is read when the leader does not confirm its revision.
const POLL_INTERVAL: Nanos = Nanos::from_millis(10_000);
/// Without a response of the leader for this long, the leader key is read at this interval, and less often when there
/// has been no leader for long.
const LOOK_WHO_LEADS: Nanos = Nanos::from_millis(1_600);
const UNLED_FOR_LONG: Nanos = Nanos::from_millis(30_000);
/// The same when the leader knows a newer state: a moment later, since it may be on its way.
const LOOK_BEHIND: Nanos = Nanos::from_millis(700);
/// The time after which a missing packet is fetched again.
const FETCH_AGAIN: Nanos = Nanos::from_millis(2_000);
/// The time after which a missing packet is not expected any more.
const MISSING_MAX: Nanos = Nanos::from_millis(5_000);
/// The time after which a worker without the leader's time cannot take part.
const PROBES_WITHIN: Nanos = Nanos::from_millis(20_000);
/// The lead time of a change that is learned late: all threads learn of it by then.
const FOLLOWS_AFTER: Nanos = Nanos::from_millis(30);
/// The lead time of a part that is learned late.
const BEGINS_AFTER: Nanos = Nanos::from_millis(100);
/// The time without any response after which a worker that goes with its leader ends.
const ALONE_MAX: Nanos = Nanos::from_millis(60_000);

#[derive(Clone, Debug)]
enum Pending {
    Hello(Nanos),
    Time(Nanos, u64),
    Poll,
    Fetch,
    Batch(u64, u32, String),
}

/// The stage of a run.
#[derive(Clone, Debug)]
enum RunStage {
    /// The packet is being fetched, since then; and since when it is known to be missing.
    Fetches(Nanos, Option<Nanos>),
    /// The worker gets ready.
    Prepares,
    /// The clock is being probed, since then.
    Asks(Nanos),
    /// It has reported whether it is ready.
    Stamped,
}

/// A run that the worker takes part in.
#[derive(Clone, Debug)]
struct ActiveRun {
    run: u64,
    incarnation: u32,
    plan: String,
    stage: RunStage,
    probes: Probes,
    /// The owner of the probed clock.
    clock_of: u64,
    offset: Option<Offset>,
    /// When it started, by our clock.
    started: Option<Nanos>,
    warmup: Nanos,
    /// The slot grants of which it released what others get, and of which it began what it gets.
    lost: usize,
    begun: usize,
    changes: usize,
    rounds: Vec<Nanos>,
    /// The number of barrier releases that it received.
    met: u64,
    intent: RunIntent,
    parts: u16,
    ended: u16,
}

/// A worker.
#[derive(Debug)]
pub struct Worker {
    hello: Hello,
    leader: Option<Lease>,
    /// The pace of its messages.
    pace: Pace,
    state: State,
    /// The highest epoch that it received.
    epoch: u64,
    /// The leader counts on it until then.
    lease_until: Nanos,
    answered_at: Nanos,
    said_at: Option<Nanos>,
    /// When it is to say hello, before its regular time.
    called_at: Option<Nanos>,
    checked_at: Nanos,
    /// When the leader last confirmed the state.
    confirmed_at: Nanos,
    requested_who_leads: Nanos,
    /// The last epoch and revision of the state that are known to be written; and since when it knows less.
    written: (u64, u64),
    behind_since: Option<Nanos>,
    /// Its incarnation, and its number in the run.
    number: Option<(u32, Option<u16>)>,
    run: Option<ActiveRun>,
    /// The outboxes of all its incarnations.
    boxes: Vec<((u64, u32), Outbox)>,
    pending: HashMap<u64, (Pending, Nanos)>,
    token: u64,
    verbs: VecDeque<BusCommand>,
    acts: VecDeque<Act>,
    is_closed: bool,
    /// The leader, if it is of another version.
    foreign: Option<u64>,
    /// Whether it is leaving.
    is_leaving: bool,
    /// When the run that it took part in started, by our clock: a new leader may ask.
    known_start: Option<(u64, Nanos)>,
    /// Whether it ends when the leader is gone for long.
    goes_with_leader: bool,
    /// Whether its reports are journaled.
    keeps: bool,
}

impl Worker {
    /// A new worker. Its hello has its id, name and capacity.
    pub fn new(hello: Hello, goes_with_leader: bool, now: Nanos) -> Self {
        Self {
            hello,
            leader: None,
            pace: Pace::for_workers(1),
            state: State::nothing(),
            epoch: 0,
            lease_until: Nanos::ZERO,
            answered_at: now,
            said_at: None,
            called_at: None,
            checked_at: now,
            confirmed_at: now,
            requested_who_leads: now,
            written: (0, 0),
            behind_since: None,
            number: None,
            run: None,
            boxes: Vec::new(),
            pending: HashMap::new(),
            token: 0,
            verbs: VecDeque::new(),
            acts: VecDeque::new(),
            is_closed: false,
            foreign: None,
            is_leaving: false,
            known_start: None,
            goes_with_leader,
            keeps: false,
        }
    }

    /// The subjects that it subscribes to.
    pub fn subjects(&self) -> Vec<String> {
        vec![presence(self.hello.id)]
    }

    /// The next bus command.
    pub fn next_verb(&mut self) -> Option<BusCommand> {
        self.verbs.pop_front()
    }

    /// The next action.
    pub fn next_act(&mut self) -> Option<Act> {
        self.acts.pop_front()
    }

    /// Why the bus does not take its reports, if it does not.
    pub fn refused(&self) -> Option<&Refused> {
        self.boxes.iter().find_map(|(_, outbox)| outbox.refused.as_ref())
    }

    /// When its last run started, by our clock.
    pub fn started(&self) -> Option<Nanos> {
        self.known_start.map(|(_, started)| started)
    }

    /// Its incarnation.
    pub fn incarnation(&self) -> u32 {
        self.hello.incarnation
    }

    /// The highest epoch that it received, and obeys.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether everything was reported.
    pub fn has_reported_all(&self) -> bool {
        self.boxes.is_empty()
    }

    fn ask(&mut self, pending: Pending, now: Nanos, verb: impl FnOnce(u64) -> BusCommand) {
        self.token += 1;
        self.pending.insert(self.token, (pending, now));
        self.verbs.push_back(verb(self.token));
    }

    /// Handles an event from the bus.
    pub fn handle(&mut self, received: BusEvent, now: Nanos) {
        // Whatever a stalled worker receives: if its lease is over, its parts do not count.
        self.check_lease(now);
        match received {
            BusEvent::Message { response_to: Some(to), .. } => {
                self.verbs.push_back(BusCommand::Reply { to, payload: Vec::new().into() });
            }
            BusEvent::Answered { token, response } => self.answered(token, response.ok(), now),
            BusEvent::Got { token, value: None, .. } => drop(self.pending.remove(&token)),
            BusEvent::Got { token, key, value: Some((_, value)) } => {
                self.pending.remove(&token);
                if key == LEADER { self.see_leader(&value, now) } else { self.see_state(&value, now) }
            }
            BusEvent::Changed { key, value, .. } if key == LEADER => self.see_leader(&value, now),
            BusEvent::Changed { key, value, .. } if key == STATE => self.see_state(&value, now),
            BusEvent::Fetched { token, object } => {
                self.pending.remove(&token);
                self.fetched(object, now);
            }
            BusEvent::Appended { token, result } => {
                if let Some((Pending::Batch(run, incarnation, name), _)) = self.pending.remove(&token)
                    && let Some((_, outbox)) =
                        self.boxes.iter_mut().find(|(run_incarnation, _)| *run_incarnation == (run, incarnation))
                {
                    outbox.answered(&name, result);
                }
            }
            BusEvent::Connected => self.said_at = None,
            BusEvent::Message { .. }
            | BusEvent::Changed { .. }
            | BusEvent::Follows { .. }
            | BusEvent::Written { .. }
            | BusEvent::Entry { .. }
            | BusEvent::Stored { .. }
            | BusEvent::Disconnected => {}
        }
        self.run_due(now);
    }

    fn answered(&mut self, token: u64, response: Option<Bytes>, now: Nanos) {
        let Some((pending, _)) = self.pending.remove(&token) else { return };
        let response = match response.and_then(|response| Reply::read(&response)) {
            Some(Stamped::Ours(stamp, response)) if stamp.version == self.hello.version => response,
            Some(Stamped::Ours(stamp, _) | Stamped::Foreign(stamp)) => return self.refuse_foreign(stamp),
            None => return,
        };
        // A former leader has no say any more.
        let is_old = response.epoch < self.epoch;
        #[cfg(test)]
        let is_old = is_old && !crate::sim::fault_injected(crate::sim::Bug::TwoLeaders);
        if is_old {
            return;
        }
        self.epoch = response.epoch;
        self.pace = Pace::for_workers(response.workers as usize);
        if let Some(state) = response.state.filter(State::is_sound) {
            self.take_up(state, now);
        }
        self.see_written(response.epoch, response.revision, now);
        if (response.epoch, response.revision) == (self.state.epoch, self.state.revision) {
            self.confirmed_at = now;
        }
        match pending {
            Pending::Hello(sent) => {
                self.answered_at = self.answered_at.max(now);
                if response.goes_on == Some(true) {
                    // Before its first run no lease is set: there is nothing to end.
                    let lease = if self.state.lease > Nanos::ZERO { self.state.lease } else { self.pace.hello_every() };
                    self.lease_until = self.lease_until.max(sent + lease);
                    self.acts.push_back(Act::Lease(self.lease_until));
                } else {
                    self.begin_new_incarnation();
                }
            }
            Pending::Time(sent, of) => {
                if let Some(run) = self.run.as_mut().filter(|run| run.clock_of == of) {
                    run.probes.received(sent, now, response.now);
                }
            }
            _ => {}
        }
    }

    /// Refuses a leader of another version, once for each.
    fn refuse_foreign(&mut self, Stamp { version: leader, id, .. }: Stamp) {
        if self.foreign.replace(id) != Some(id) {
            self.acts.push_back(Act::Refuse(Refusal::Version { worker: self.hello.version.clone(), leader }));
        }
    }

    /// Reports news of a part.
    pub fn report(&mut self, of: PartOf, news: News, now: Nanos) {
        let is_end = matches!(news, News::Ended { .. } | News::Broken { .. });
        if let Some((_, outbox)) =
            self.boxes.iter_mut().find(|(run_incarnation, _)| *run_incarnation == (of.run, of.incarnation))
        {
            outbox.push(news);
        }
        if is_end {
            let is_own = |run: &&mut ActiveRun| run.run == of.run && run.incarnation == of.incarnation;
            if let Some(run) = self.run.as_mut().filter(is_own) {
                run.ended += 1;
            }
        }
        self.run_due(now);
    }

    /// Notes that all parts of an incarnation are over: it has nothing more to report.
    pub fn all_over(&mut self, run: u64, incarnation: u32, now: Nanos) {
        if let Some((_, outbox)) =
            self.boxes.iter_mut().find(|(run_incarnation, _)| *run_incarnation == (run, incarnation))
        {
            let is_own = self.run.as_ref().is_some_and(|own| (own.run, own.incarnation) == (run, incarnation));
            outbox.push(News::Gone { is_over: is_own });
        }
        self.run_due(now);
    }

    /// Advances the time.
    pub fn tick(&mut self, now: Nanos) {
        self.pending.retain(|_, (_, since)| now.since(*since) < LOST_AFTER);
        self.run_due(now);
    }

    fn run_due(&mut self, now: Nanos) {
        self.check_lease(now);
        // A responsive leader sends the state: to very many workers one after the other.
        let soon = LOOK_BEHIND + self.pace.spread();
        let known_at = self.checked_at.max(self.answered_at);
        let is_behind = self.behind_since.is_some_and(|since| now.since(since.max(known_at)) >= soon);
        if is_behind || now.since(self.checked_at.max(self.confirmed_at)) >= POLL_INTERVAL {
            self.checked_at = now;
            self.ask(Pending::Poll, now, |token| BusCommand::Get { token, key: STATE.to_owned() });
        }
        let usual = LOOK_WHO_LEADS + self.pace.slack();
        let often = if now.since(self.answered_at) < UNLED_FOR_LONG { usual } else { POLL_INTERVAL };
        if now.since(self.answered_at.max(self.requested_who_leads)) >= often {
            self.requested_who_leads = now;
            self.ask(Pending::Poll, now, |token| BusCommand::Get { token, key: LEADER.to_owned() });
        }
        self.get_ready(now);
        self.follow_state(now);
        self.say_hello(now);
        self.send(now);
        if self.goes_with_leader && now.since(self.answered_at) >= ALONE_MAX && !self.is_closed {
            self.give_up();
        }
    }

    fn say_hello(&mut self, now: Nanos) {
        let Some(lease) = self.leader.as_ref().filter(|_| !self.is_leaving) else { return };
        let is_waiting = self.pending.values().any(|(pending, _)| matches!(pending, Pending::Hello(_)));
        let every = if is_waiting { HELLO_AGAIN + self.pace.slack() } else { self.pace.hello_every() };
        let is_called = self.called_at.is_some_and(|at| now >= at);
        if !is_called && self.said_at.is_some_and(|said| now.since(said) < every) {
            return;
        }
        (self.said_at, self.called_at) = (Some(now), None);
        let (run, started) = self.known_start.unwrap_or((0, Nanos::NEVER));
        let run_now = (now >= started).then(|| now.since(started));
        let has_no_room = self.refused().is_some();
        let hello = Hello { run, run_now, has_no_room, ..self.hello.clone() };
        let (subject, payload) = (asking(lease.who), Ask::Hello(hello).written(&self.hello));
        // A late response to an older hello is worth less.
        let forgotten_after = Nanos(4 * (HELLO_AGAIN + self.pace.slack()).0);
        self.pending
            .retain(|_, (pending, since)| !matches!(pending, Pending::Hello(_)) || now.since(*since) < forgotten_after);
        self.ask(Pending::Hello(now), now, |token| BusCommand::Request { token, subject, payload });
    }

    /// Sends pending reports.
    fn send(&mut self, now: Nanos) {
        self.boxes.retain(|(_, outbox)| !outbox.is_done());
        let started = self.known_start.map_or(now, |(_, started)| started);
        let mut sent = Vec::new();
        for ((run, incarnation), outbox) in &mut self.boxes {
            if let Some((name, payload)) = outbox.next(self.hello.revision, now.since(started), now) {
                sent.push((*run, *incarnation, name, payload));
            }
        }
        if !sent.is_empty() && !self.pace.is_slow() {
            // A hello goes with each report: so the leader knows within a moment that more should have come.
            self.said_at = None;
            self.say_hello(now);
        }
        for (run, incarnation, name, payload) in sent {
            let pending = Pending::Batch(run, incarnation, name.clone());
            self.ask(pending, now, |token| BusCommand::Append { token, name, payload });
        }
    }

    /// The latest instant of the next action.
    pub fn wake_at(&self, now: Nanos) -> Nanos {
        let boxes = self.boxes.iter().map(|(_, outbox)| outbox.wake_at()).min().unwrap_or(Nanos::NEVER);
        let is_asking = self.run.as_ref().is_some_and(|run| matches!(run.stage, RunStage::Asks(..)));
        let soon = now + if is_asking { Nanos::from_millis(50) } else { HELLO_AGAIN };
        let soon = soon.min(self.called_at.unwrap_or(Nanos::NEVER));
        let lease = if self.run.is_some() && self.lease_until > now { self.lease_until } else { Nanos::NEVER };
        boxes.min(soon).min(lease)
    }
}
