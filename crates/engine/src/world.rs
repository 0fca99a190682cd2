//! All that a shard owns but its driver: users, exchanges, attempts, connections, and what is done when something happens.
//!
//! Four slabs, not one. A user has exchanges, an exchange has attempts, an attempt runs on a connection; the state that
//! only an active exchange needs goes back when it ends, so an idle connection is a few words.

#[cfg(test)]
mod audit;
mod calls;
mod changing;
mod closed;
mod connections;
mod events;
mod exchanges;
mod goodbyes;
mod hops;
mod layers;
mod lookups;
mod open;
mod order;
mod origins;
mod record;
mod samples;
mod stalls;
mod step;
mod talks;

use std::sync::Arc;

use driver::{Sockets, Template};
use metrics::{Ages, Snapshot};
use pacing::Nanos;
use plan::{Keeps, Order, Protocol};
use wire::http1::HeadMemory;

use crate::slab::{Key, Slab};
#[cfg(test)]
use crate::swarm::plant::{Bug, strikes};
use crate::timers::Timers;
use crate::user::{Budget, User, View};
use changing::Halt;
use closed::Closed;
pub(crate) use closed::ClosedWork;
#[cfg(test)]
pub(crate) use connections::CLOSING_MAX;
use connections::Connections;
use exchanges::{Attempt, Exchange};
use hops::Steps;
use layers::Links;
use lookups::Lookups;
use open::Open;
pub(crate) use open::OpenWork;
use order::Orders;
use origins::Elsewhere;
pub(crate) use origins::Origin;
use stalls::Stalls;
pub(crate) use step::{PreparedStep, http2_fields};
use talks::Talking;

/// Users that start between two looks at the sockets, so that answers are not kept waiting while thousands connect.
const START_BATCH: u64 = 256;

/// Connections of a shard that fail in an open load before it looks hopeless, when none ever succeeded.
const OPEN_HOPE: u64 = 100;

/// What a shard has to do; the same for all shards but for the share.
#[derive(Clone)]
pub(crate) struct Work {
    /// Where exchanges go; the first step to the first.
    pub(crate) origins: Arc<[Origin]>,
    /// Which share of the connections this is.
    pub(crate) segment: pacing::Segment,
    pub(crate) steps: Arc<[PreparedStep]>,
    /// What is kept beside the usual.
    pub(crate) keeps: Keeps,
    /// In which order.
    pub(crate) order: Order,
    /// Users that share a connection.
    pub(crate) streams: u32,
    /// Its users; in an open load, the most that it may have.
    pub(crate) share: pacing::closed::Share,
    /// What it has of a closed load.
    pub(crate) closed: ClosedWork,
    /// What it has of an open load; none of a closed one.
    pub(crate) open: Option<OpenWork>,
    /// What is intended earlier, counted from the start of the run, does not count.
    pub(crate) warmup: Nanos,
    /// What texts of servers must not say again.
    pub(crate) secrets: plan::Known,
}

/// Whom a deadline wakes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    /// The attempt that lives at this position then, if its own deadline has come.
    Attempt(u32),
    /// A user whose pause is over then.
    User { user: u32, at: Nanos },
    /// A connection that waits for the peer to close first.
    Closing(driver::Socket),
    /// A connection that is opened beforehand.
    Preparing(driver::Socket),
    /// The attempt that lives at this position then, if its next message is due.
    Message(u32),
}

/// See the module.
pub(crate) struct World {
    work: Work,
    templates: Vec<Template>,
    users: Vec<User>,
    users_started: u64,
    users_ended: u64,
    budget: Budget,
    exchanges: Slab<Exchange>,
    attempts: Slab<Attempt>,
    /// For each position in `attempts`: the instant of its entry in `timers`.
    armed: Vec<Nanos>,
    /// The same for messages that leave later.
    armed_messages: Vec<Nanos>,
    /// What it looks into messages of answers with.
    inspection: calls::Inspection,
    connections: Connections,
    timers: Timers<Deadline>,
    /// What was seen since the last hand-over.
    pub(crate) seen: Box<Snapshot>,
    hope: Hope,
    /// The length of the first body.
    first_length: Option<u64>,
    heads: HeadMemory,
    /// Where exchanges go; redirects may add some.
    origins: Vec<Origin>,
    /// Connections of users beyond that to the first of them.
    elsewhere: Elsewhere,
    /// Names of redirects that are looked up.
    lookups: Lookups,
    /// Targets of redirects that nobody knows.
    unknown: Vec<(Arc<plan::Target>, metrics::Failure)>,
    orders: Orders,
    /// Steps of the plan, and of redirects.
    steps: Steps,
    /// One step and one origin, of which nothing is kept: what most loads are.
    is_simple: bool,
    /// Some exchanges are shown: they are kept as they go.
    records: bool,
    /// Some connections have layers: TLS, or streams.
    is_layered: bool,
    /// Messages of WebSocket or TCP are exchanged.
    is_talk: bool,
    talk: Talking,
    links: Links,
    /// When the run started.
    started: Nanos,
    /// Connections that were opened, or tried.
    opened: u64,
    /// What is intended from then on is measured.
    measured_from: Nanos,
    closed: Closed,
    open: Option<Open>,
    halt: Halt,
    /// All that had come to the sockets by then has been read: a deadline after it may have been kept.
    pub(crate) read_until: Nanos,
    /// Positions of attempts whose deadlines wait for the sockets to be read.
    overdue: Vec<u32>,
    /// The same of connections that are opened beforehand.
    overdue_prepared: Vec<driver::Socket>,
    stalls: Stalls,
    /// Rounds of several steps that users are in.
    inside: u64,
    /// Waits for the sockets so far.
    waits: u64,
    /// When peers of WebSocket have agreed to the end of the run, or had time to.
    parts_until: Nanos,
}

/// Whether a run that never reached its target should go on.
#[derive(Clone, Copy, Debug, Default)]
struct Hope {
    was_connected: bool,
    failed_connects: u64,
}

impl World {
    pub(crate) fn new<S: Sockets>(mut work: Work, sockets: &mut S, started: Nanos) -> Self {
        let (origins, steps) = (work.origins.to_vec(), Steps::new(work.steps.clone()));
        let first = origins[0].protocol();
        let templates = work.steps.iter().map(|step| sockets.register(step.request.clone())).collect();
        let budget = Budget { starts: work.share.starts, is_over: false };
        Self {
            templates,
            // Their number is known: memory that is not touched yet costs nothing, and growing would leave halves behind.
            users: Vec::with_capacity(work.share.users as usize),
            users_started: 0,
            users_ended: 0,
            budget,
            exchanges: Slab::default(),
            attempts: Slab::default(),
            armed: Vec::new(),
            armed_messages: Vec::new(),
            inspection: calls::Inspection::default(),
            connections: Connections::with_room_for(work.share.users as usize),
            timers: Timers::default(),
            seen: Box::default(),
            hope: Hope::default(),
            first_length: None,
            heads: HeadMemory::default(),
            is_layered: origins.iter().any(Origin::is_layered),
            is_talk: matches!(first, Protocol::WebSocket | Protocol::Tcp),
            talk: Talking::new(&work, sockets),
            links: Links::new(&origins, work.share.users, work.streams),
            started,
            opened: 0,
            measured_from: started + work.warmup,
            closed: Closed::new(&work),
            is_simple: steps.is_simple() && origins.len() == 1 && work.keeps == Keeps::default(),
            records: work.keeps.failures || steps.fixed.iter().any(|step| step.is_shown),
            origins,
            elsewhere: Elsewhere::default(),
            lookups: Lookups::default(),
            unknown: Vec::new(),
            orders: Orders::new(work.order, steps.fixed.len(), work.segment.nth(0)),
            steps,
            open: work.open.take().map(|open| Open::new(open, work.share.users, started, started + work.warmup)),
            halt: Halt::default(),
            read_until: started,
            overdue: Vec::new(),
            overdue_prepared: Vec::new(),
            stalls: Stalls::default(),
            inside: 0,
            waits: 0,
            parts_until: Nanos::ZERO,
            work,
        }
    }

    /// Starts users that have not started yet, and wakes whoever is due.
    pub(crate) fn turn<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        if now >= self.halt.due {
            self.look_at_halt(now, sockets);
        }
        if self.open.is_some() {
            self.turn_open(now, sockets);
        } else {
            self.turn_closed(now, sockets);
        }
        if self.has_overdue() {
            self.look_at_overdue(now, sockets);
        }
        while let Some(deadline) = self.timers.poll(now) {
            match deadline {
                Deadline::Attempt(index) => self.attempt_due(index, now, sockets),
                Deadline::User { user, at } => self.next(user, View::Rested, at, now, sockets),
                Deadline::Closing(socket) => self.close(socket, sockets),
                Deadline::Preparing(socket) => self.prepare_due(socket, now, sockets),
                Deadline::Message(index) => self.message_due(index, now),
            }
        }
        if !self.lookups.is_empty() {
            self.look_at_lookups(sockets);
        }
        // What the events since the last turn gave rise to leaves in one piece for each connection.
        if self.links.is_dirty() {
            self.flush(sockets);
        }
    }

    /// Deadlines wait for the sockets to be read.
    #[inline]
    fn has_overdue(&self) -> bool {
        !self.overdue.is_empty() || !self.overdue_prepared.is_empty()
    }

    #[cold]
    fn look_at_overdue<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        for index in std::mem::take(&mut self.overdue) {
            self.expire(index, now, sockets);
        }
        for socket in std::mem::take(&mut self.overdue_prepared) {
            self.prepare_due(socket, now, sockets);
        }
    }

    fn new_user(&mut self) -> u32 {
        self.users.push(User::default());
        self.users_started += 1;
        u32::try_from(self.users.len() - 1).expect("a bounded number of users")
    }

    /// When `turn` must be called again.
    pub(crate) fn next_turn(&self, now: Nanos) -> Nanos {
        if self.has_overdue() {
            return Nanos::ZERO;
        }
        let timers = self.timers.next().min(self.next_lookup(now)).min(self.halt.due);
        if let Some(open) = &self.open {
            return timers.min(open.next_turn(self.users.len()));
        }
        timers.min(self.closed.next_turn())
    }

    /// No step is started any more, but for the first of iterations that were intended until `at` in an open load. Gives what
    /// has ended so far in this snapshot, and what of it well.
    pub(crate) fn stop_starting(&mut self, at: Nanos) -> (u64, u64) {
        self.budget.is_over = true;
        if let Some(open) = &mut self.open {
            open.stop_at(at);
        }
        (self.seen.counts.finished(), self.seen.counts.succeeded)
    }

    /// The plan's time is that of its last start, and what has begun by then comes to its end.
    pub(crate) fn ends_by_count(&self) -> bool {
        self.open.as_ref().is_some_and(Open::ends_by_count)
    }

    /// Nothing is in flight and nothing will be started.
    pub(crate) fn is_over(&self) -> bool {
        if let Some(open) = &self.open {
            return self.exchanges.is_empty() && open.is_over() && self.lookups.is_empty();
        }
        let is_spent = self.budget.is_over || (self.budget.is_spent() && self.inside == 0);
        self.exchanges.is_empty() && is_spent && self.lookups.is_empty()
    }

    /// Users that are at work.
    pub(crate) fn users_at_work(&self) -> u64 {
        if self.open.is_some() {
            return self.exchanges.len() as u64;
        }
        self.users_started - self.users_ended - self.closed.parked
    }

    /// Starts that have come and not ended.
    pub(crate) fn backlog(&self) -> u64 {
        self.exchanges.len() as u64 + self.open.as_ref().map_or(0, Open::waiting)
    }

    /// Connections that have carried an answer and are open.
    pub(crate) fn connections_open(&self) -> u64 {
        self.connections.proven
    }

    /// Exchanges that have begun and not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.exchanges.len()
    }

    /// Every user has failed to connect and no connection was ever established.
    pub(crate) fn is_hopeless(&self) -> bool {
        let connections = (self.work.share.users / u64::from(self.work.streams)).max(1);
        let enough = if self.open.is_some() { OPEN_HOPE } else { connections };
        !self.work.keeps.persists && !self.hope.was_connected && self.hope.failed_connects >= enough
    }

    /// How long all that is in flight has waited.
    pub(crate) fn look_at_ages(&self, now: Nanos, ages: &mut Ages) {
        for exchange in self.exchanges.values().filter(|exchange| exchange.is_measured) {
            ages.response.record(now.since(exchange.intended).0);
        }
        for attempt in self.attempts.values().filter(|attempt| attempt.was_sent() && attempt.is_measured) {
            ages.service.record(now.since(attempt.sent).0);
        }
        if let Some(open) = &self.open {
            open.waiting_from(self.measured_from).for_each(|intended| ages.response.record(now.since(intended).0));
        }
    }

    /// Gives up what is in flight, counts it, and closes every connection, or begins to. `is_cut`: it had no grace.
    pub(crate) fn end<S: Sockets>(&mut self, is_cut: bool, sockets: &mut S) {
        let now = sockets.now();
        let before = self.seen.counts.unfinished;
        if let Some(open) = &mut self.open {
            open.give_up(now, &mut self.seen);
        }
        let open: Vec<Key> = self.attempts.keys().collect();
        for key in open {
            self.count_last_sent(key, sockets);
            self.count_untaken_message(key, sockets);
            if let Some(attempt) = self.attempts.remove(key) {
                let sent = attempt.was_sent().then_some(attempt.sent);
                self.leave_unfinished(attempt.exchange, sent, now);
            }
        }
        // None is without an attempt; but what has begun must end.
        for key in self.exchanges.keys().collect::<Vec<_>>() {
            self.leave_unfinished(key, None, now);
        }
        self.give_up_lookups(now);
        self.seen.counts.iterations_cut += self.counted_inside();
        if is_cut {
            self.seen.counts.cut += self.seen.counts.unfinished - before;
        }
        if self.work.keeps.bodies {
            let mut head = self.heads.last().to_vec();
            wire::http1::unfold(&mut head);
            self.seen.hear_head(&head);
        }
        self.part_all(now, sockets);
    }

    /// An exchange did not end before the run.
    fn leave_unfinished(&mut self, key: Key, sent: Option<Nanos>, now: Nanos) {
        let Some(exchange) = self.exchanges.remove(key).filter(|exchange| exchange.is_measured) else { return };
        #[cfg(test)]
        if strikes(Bug::UnfinishedHasNoTime) {
            self.seen.counts.unfinished += 1;
            return;
        }
        let series = if self.is_simple { 0 } else { self.steps[exchange.step as usize].series };
        let since = |at: Nanos| now.since(at).0;
        self.seen.leave_unfinished(series, since(exchange.intended), sent.map(since));
    }

    /// Asks a user what it does next. `intended` is when it became free, `now` when the loop got to it.
    fn next<S: Sockets>(&mut self, user: u32, view: View, intended: Nanos, now: Nanos, sockets: &mut S) {
        if !self.is_simple {
            self.look_at_iteration(user);
        }
        if self.open.is_some() {
            return self.next_open(user, view, now, sockets);
        }
        if !self.closed.has(user) {
            return self.park(user, sockets);
        }
        if self.closed.is_rendezvous() && view != View::NoConnection {
            let is_inside = !self.is_simple && self.users[user as usize].is_inside;
            let goes_on = if is_inside { !self.budget.is_over } else { !self.budget.is_spent() };
            if goes_on && self.closed.gather(user) {
                return;
            }
        }
        self.act(user, view, intended, now, sockets);
    }

    /// The warm-up is over: what was seen is forgotten, but for the connections, which stay.
    pub(crate) fn begin_measuring(&mut self) {
        let seen = &mut *self.seen;
        let (tried, established) = (seen.counts.connections_tried, seen.counts.connections_established);
        let (connect, tls) = (std::mem::take(&mut seen.connect), std::mem::take(&mut seen.tls));
        let tls_resumed = seen.counts.tls_resumed;
        seen.clear();
        (seen.tls, seen.counts.tls_resumed) = (tls, tls_resumed);
        (seen.counts.connections_tried, seen.counts.connections_established) = (tried, established);
        seen.connect = connect;
        // What was intended after the warm-up may have begun before anybody looked at the clock.
        self.count_anew();
    }

    /// Counts what is under way and belongs to the measured time.
    fn count_anew(&mut self) {
        let counts = &mut self.seen.counts;
        for key in self.exchanges.keys().collect::<Vec<_>>() {
            let Some(exchange) = self.exchanges.find(key).filter(|exchange| exchange.is_measured) else { continue };
            counts.started += 1;
            counts.attempts += 1 + u64::from(exchange.tries);
            counts.reconnects += u64::from(exchange.tries);
            counts.redirects += u64::from(self.steps.is_hop(exchange.step));
        }
        for key in self.attempts.keys().collect::<Vec<_>>() {
            let Some(attempt) = self.attempts.find(key).filter(|attempt| attempt.was_sent()) else { continue };
            let exchange = attempt.exchange;
            counts.sent += u64::from(self.exchanges.find(exchange).is_some_and(|exchange| exchange.is_measured));
        }
        let measured_from = self.measured_from;
        let waiting = self.open.as_ref().map_or(0, |open| open.waiting_from(measured_from).count());
        self.seen.counts.started += waiting as u64;
    }
}
