//! The leader: finds workers, prepares a run on all of them, assigns slots, and collects results. A machine: received
//! messages and time go in; requests to the bus and updates come out.
//!
//! Leadership is a lease: one key that is renewed by compare-and-swap (`leader/lease.rs`). Commands are *state* under
//! another key (`protocol::State`): members, slot owners over time (`SlotGrant`), changes, wishes. A worker that missed
//! a message reads that key; a lower epoch is not obeyed. On NATS workers read only the lease, which has the revision
//! of the state: each asks the leader for the part that it needs (`protocol/state.rs`), so that thousands of workers
//! need not read all of it. With many workers the heartbeat interval grows (`pace.rs`). Requests to the leader are
//! answered before queued worker data is processed (`coordinator/run_loop.rs`).
//!
//! - Slots are moved in two steps when their old owners continue: they are told first, and when they have confirmed,
//!   the new owners begin (`leader/reassignment.rs`).
//! - Changes, barriers and rounds are stored with the leader (`leader/run_intents.rs`): a state that is read again after a
//!   lost lease may not contain them yet.
//! - A standby is a leader that begins nothing: it takes over the lease of a run with its plan when that is free, and
//!   reads the stream from its beginning, or from a *checkpoint* (`leader/checkpoints.rs`): all results up to a
//!   position, merged by the thread that writes the journal, and stored on the bus. A checkpoint is valid when the state
//!   that names it is written; only then is the stream deleted up to there.

mod checkpoints;
mod events;
mod late;
mod lease;
mod members;
mod reassignment;
mod run;
mod run_intents;
mod standby;
mod updates;

use std::collections::{BTreeMap, HashMap, VecDeque};

use pacing::Nanos;

use crate::bus::{BusCommand, Bytes, LEADER, Refused, STATE, asking, presence};
use crate::protocol::{Mark, Member, Phase, State, WorkerId, written};
use checkpoints::Checkpoints;
use lease::{LeaseKeeper, LeaseTurn};
pub use members::KnownWorker;
use members::Members;
use run::Run;
use run_intents::RunIntents;
pub use updates::LeaderUpdate;

/// What happens when a worker is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// The others get its share.
    #[default]
    Rebalance,
    /// Its share is not made.
    Continue,
    /// The run ends.
    Fail,
}

/// The settings of a leader.
#[derive(Clone, Debug)]
pub struct LeaderSettings {
    /// Its id: random at start.
    pub who: u64,
    /// Its version of onrush.
    pub version: String,
    /// The number of workers that a run waits for.
    pub workers: usize,
    /// How long it waits for them at most.
    pub patience: Nanos,
    /// The minimum number of workers; a run with fewer ends.
    pub min_workers: usize,
    /// What happens when a worker is lost.
    pub on_loss: OnLoss,
    /// The lease time of the leader.
    pub ttl: Nanos,
    /// The lease of a worker: without contact for this long it starts nothing more, and is then declared lost.
    pub lease: Nanos,
    /// How long late reports of a lost worker are awaited.
    pub late_news: Nanos,
    /// Whether a closed connection means that the worker is gone: it starts nothing, and need not be waited for.
    pub closed_is_gone: bool,
    /// The minimum time from the moment when all are ready to the start.
    pub start_lead: Nanos,
    /// Whether it is a standby: it begins nothing, and takes over a run with its plan.
    pub is_standby: bool,
    /// Whether there can be no other leader: entries of the stream that were read are not needed any more.
    pub is_alone: bool,
}

/// A run, as the leader knows it.
#[derive(Clone, Debug)]
pub struct RunOrder {
    /// The name of its packet, which contains the hash.
    pub plan: String,
    /// The packet.
    pub packet: Bytes,
    /// The number of its scenarios.
    pub scenarios: usize,
    /// The length of the warm-up, whose results do not count.
    pub warmup: Nanos,
    /// The end of its load, counted from the beginning of the measured load; `None` when it is not set by time.
    pub ends_at: Option<Nanos>,
    /// Whether slots may change hands during the run.
    pub can_move: bool,
    /// The most workers that can have a part.
    pub workers_max: usize,
}

/// The id of a part of the load: a member of the run, and one of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId {
    /// The number of the member.
    pub member: u16,
    /// Its part.
    pub part: u16,
}

/// The request that a response will belong to.
#[derive(Clone, Debug)]
enum Pending {
    Lease(u64),
    ReadLease,
    State(u64),
    Load,
    Store,
    Checkpoint(Mark, u64),
    Recall(Mark),
    Presence(WorkerId, u32),
}

impl Pending {
    /// The time after which it is forgotten.
    fn lifetime(&self) -> Nanos {
        match self {
            Self::Store | Self::Checkpoint(..) | Self::Recall(_) => LARGE_RESPONSE_MAX,
            _ => RESPONSE_MAX,
        }
    }
}

/// The time after which a token without a response is forgotten.
const RESPONSE_MAX: Nanos = Nanos::from_millis(10_000);
/// The same for large objects.
const LARGE_RESPONSE_MAX: Nanos = Nanos::from_millis(120_000);
/// The time after which an unconfirmed state is written again: by then a distant bus has responded, too.
const WRITE_AGAIN: Nanos = Nanos::from_millis(1_500);
/// The time after which an unanswered read is repeated.
const LOAD_AGAIN: Nanos = Nanos::from_millis(500);

/// A leader, or a candidate.
#[derive(Debug)]
pub struct Leader {
    setting: LeaderSettings,
    keeper: LeaseKeeper,
    members: Members,
    /// The state, as we want it.
    state: State,
    /// The revision of its key, as far as we know.
    state_key: u64,
    /// Whether it was read since we lead.
    is_loaded: bool,
    is_dirty: bool,
    writing_since: Option<Nanos>,
    order: Option<RunOrder>,
    run: Option<Run>,
    run_intents: RunIntents,
    pending: HashMap<u64, (Pending, Nanos)>,
    token: u64,
    verbs: VecDeque<BusCommand>,
    reported: VecDeque<LeaderUpdate>,
    workers_reported: usize,
    is_closing: bool,
    /// Whether it has resigned.
    has_resigned: bool,
    /// Whether another leader has a run that is to be taken over when it is left.
    is_standby: bool,
    /// Whether entries of the stream are lost.
    has_gap: bool,
    /// The last entry of the stream that was read, and when entries were last received or requested.
    read_upto: u64,
    read_at: Nanos,
    forgotten: u64,
    checkpoints: Checkpoints,
    checked_at: Nanos,
    /// The numbers of members, and how many members they were computed for.
    numbers: (usize, HashMap<Member, u16>),
}

impl Leader {
    /// A candidate.
    pub fn new(setting: LeaderSettings, now: Nanos) -> Self {
        Self {
            keeper: LeaseKeeper::new(setting.who, setting.ttl, now),
            members: Members::default(),
            state: State::nothing(),
            state_key: 0,
            is_loaded: false,
            is_dirty: false,
            writing_since: None,
            order: None,
            run: None,
            run_intents: RunIntents::default(),
            pending: HashMap::new(),
            token: 0,
            verbs: VecDeque::new(),
            reported: VecDeque::new(),
            workers_reported: 0,
            is_closing: false,
            has_resigned: false,
            is_standby: false,
            has_gap: false,
            read_upto: 0,
            read_at: now,
            forgotten: 0,
            checkpoints: Checkpoints::default(),
            checked_at: Nanos::ZERO,
            numbers: (0, HashMap::new()),
            setting,
        }
    }

    /// The subjects that it subscribes to.
    pub fn subjects(&self) -> Vec<String> {
        vec![asking(self.setting.who)]
    }

    /// The next bus command.
    pub fn next_verb(&mut self) -> Option<BusCommand> {
        self.verbs.pop_front()
    }

    /// The next update.
    pub fn next_reported(&mut self) -> Option<LeaderUpdate> {
        self.reported.pop_front()
    }

    /// Whether we lead.
    pub fn leads(&self) -> bool {
        self.keeper.epoch().is_some() && self.is_loaded
    }

    /// The member of a number.
    pub fn member(&self, number: u16) -> Option<KnownWorker> {
        let member = self.state.members.get(usize::from(number))?;
        Some(self.members.in_incarnation(member.id, member.incarnation))
    }

    /// The number of a member. Numbers only grow; a state that was read, or a run that begins, has others.
    pub(crate) fn number_of(&mut self, id: WorkerId, incarnation: u32) -> Option<u16> {
        let (known, numbers) = &mut self.numbers;
        for (place, member) in self.state.members.iter().enumerate().skip(*known) {
            numbers.insert(*member, place as u16);
        }
        *known = self.state.members.len();
        numbers.get(&Member { id, incarnation }).copied()
    }

    /// Forgets the numbers: the members have changed.
    pub(crate) fn forget_numbers(&mut self) {
        self.numbers = (0, HashMap::new());
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Begins a run as soon as there are workers for it.
    pub fn begin(&mut self, order: RunOrder, now: Nanos) {
        self.order = Some(order);
        self.run = Some(Run::new(now));
        // The response for an earlier packet says nothing of this one.
        self.pending.retain(|_, (pending, _)| !matches!(pending, Pending::Store));
        self.run_due(now);
    }

    /// Ends the cluster: there will be no further run, and workers may leave.
    pub fn close(&mut self) {
        self.is_closing = true;
        self.state.phase = Phase::Closed;
        self.is_dirty = true;
    }

    /// Whether workers know that they may leave.
    pub fn is_closed(&self) -> bool {
        self.has_resigned || self.is_closing && self.leads() && !self.is_dirty && self.writing_since.is_none()
    }

    fn ask(&mut self, pending: Pending, now: Nanos, verb: impl FnOnce(u64) -> BusCommand) {
        self.token += 1;
        self.pending.insert(self.token, (pending, now));
        self.verbs.push_back(verb(self.token));
    }

    fn turn(&mut self, turn: Option<LeaseTurn>, now: Nanos) {
        match turn {
            Some(LeaseTurn::Leads(_)) => {
                self.is_loaded = false;
                self.load(now);
            }
            Some(LeaseTurn::LostLeadership) => {
                (self.is_loaded, self.is_dirty, self.writing_since) = (false, false, None);
                self.want_no_checkpoint();
                self.reported.push_back(LeaderUpdate::LostLeadership);
            }
            None => {}
        }
    }

    fn state_written(&mut self, written: u64, result: Result<u64, Refused>, now: Nanos) {
        // An earlier write says nothing of a later one.
        if written == self.state.revision {
            self.writing_since = None;
        }
        match result {
            Ok(revision) => {
                self.state_key = self.state_key.max(revision);
                self.keeper.has_written(written);
                // Another leader may still need the earlier packet.
                if !self.leads() {
                    return;
                }
                self.checkpoint_named(written);
                // No other leader resumes it from now on.
                if written == self.state.revision && !self.is_dirty && self.state.phase >= Phase::Done {
                    self.drop_checkpoint();
                    self.forget();
                }
            }
            // The stored state is read before anything else is written.
            Err(Refused::Conflict) => {
                self.is_dirty = true;
                self.load(now);
            }
            // A bus that refuses a write is retried after a while.
            Err(_) => self.writing_since = Some(now),
        }
    }

    /// Advances the time.
    pub fn tick(&mut self, now: Nanos) {
        self.pending.retain(|_, (pending, since)| now.since(*since) < pending.lifetime());
        self.run_due(now);
    }

    /// Does what is due.
    fn run_due(&mut self, now: Nanos) {
        if self.has_resigned {
            return;
        }
        self.checked_at = now;
        if self.setting.is_standby && !self.leads() {
            self.check_takeover(now);
            if !self.is_standby {
                return;
            }
        }
        let (turn, write) = self.keeper.tick(now);
        self.turn(turn, now);
        let key = LEADER.to_owned();
        match write {
            Some(lease::LeaseAction::Write(revision, lease)) => {
                let value = written(&lease);
                self.ask(Pending::Lease(lease.beat), now, |token| BusCommand::Put {
                    token,
                    key,
                    revision: Some(revision),
                    value,
                });
            }
            Some(lease::LeaseAction::Read) => self.ask(Pending::ReadLease, now, |token| BusCommand::Get { token, key }),
            None => {}
        }
        if self.keeper.epoch().is_some() && !self.is_loaded && !self.is_loading(now) {
            self.load(now);
        }
        if !self.leads() {
            return;
        }
        self.expire_checkpoints(now);
        self.update_run(now);
        self.poll_members(now);
        self.write_state(now);
    }

    fn poll_members(&mut self, now: Nanos) {
        let there = self.members.fit_count(now);
        if std::mem::replace(&mut self.workers_reported, there) != there {
            self.reported.push_back(LeaderUpdate::Workers(there));
        }
        for (id, incarnation) in self.members.doubtful(now) {
            self.ask(Pending::Presence(id, incarnation), now, |token| {
                let payload: Bytes = Vec::new().into();
                BusCommand::Request { token, subject: presence(id), payload }
            });
        }
    }

    /// Reads the stored state.
    fn load(&mut self, now: Nanos) {
        self.ask(Pending::Load, now, |token| BusCommand::Get { token, key: STATE.to_owned() });
    }

    /// Whether a read of the stored state is under way.
    fn is_loading(&self, now: Nanos) -> bool {
        let is_requested =
            |(pending, since): &(Pending, Nanos)| matches!(pending, Pending::Load) && now.since(*since) < LOAD_AGAIN;
        self.pending.values().any(is_requested)
    }

    fn write_state(&mut self, now: Nanos) {
        if self.writing_since.is_some_and(|since| now.since(since) < WRITE_AGAIN) || self.is_loading(now) {
            return;
        }
        if self.writing_since.take().is_some() {
            // It is unknown whether it was written: the stored state shows it.
            self.load(now);
            self.is_dirty = true;
        }
        if !self.is_dirty {
            return;
        }
        self.is_dirty = false;
        self.writing_since = Some(now);
        self.state.revision += 1;
        self.state.epoch = self.keeper.epoch().unwrap_or(self.state.epoch);
        self.names_checkpoint();
        // A leaving worker needs no more of it, and reads it at the same time as all others.
        let value = if self.state.phase == Phase::Closed { written(&self.state.bare()) } else { written(&self.state) };
        let revision = self.state_key;
        let written = self.state.revision;
        self.ask(Pending::State(written), now, |token| BusCommand::Put {
            token,
            key: STATE.to_owned(),
            revision: Some(revision),
            value,
        });
    }

    /// The latest instant of the next action.
    pub fn wake_at(&self, now: Nanos) -> Nanos {
        let often = Nanos::from_millis(100).max(self.poll_interval());
        let soon = if self.leads() { now + often } else { Nanos::NEVER };
        self.keeper.wake_at().min(soon)
    }
}

/// A map of the workers that a leader knows.
pub(crate) type ByWorker<T> = BTreeMap<WorkerId, T>;
