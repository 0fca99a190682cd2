//! The state of one scenario on a shard: users, exchanges, attempts, connections, and the reactions to events.
//!
//! Each has a table of its own. A user has exchanges, an exchange has attempts, an attempt runs on a connection; state that
//! only an active exchange needs is released when it ends, so an idle connection is a few words. `Users` decides the
//! next action of each user, `InFlight` has the exchanges in flight and their outcomes, `Pool` the connections and
//! their destinations.
//!
//! Calls go down, from users to exchanges to connections. What is to go up waits in a queue: an exchange that ends
//! frees its user (`users/freed.rs`), a connection whose TLS breaks is lost at the end of the turn. Only connections
//! opened in advance let their user advance directly: it has no exchange yet.

#[cfg(test)]
mod audit;
mod connections;
mod events;
mod exchanges;
mod messaging;
mod scenario_config;
mod stalls;
mod users;

use std::collections::VecDeque;
use std::sync::Arc;

use driver::{Sockets, Template, Waker};
use metrics::{Distribution, InFlightAges, Snapshot};
use pacing::Nanos;
use plan::CaptureOptions;
use wire::connection::Scratch;
use wire::http1::HeadMemory;

use crate::budget_lease::BudgetLease;
use crate::slab::Slab;
use crate::timers::Timers;
use crate::user::{LastExchange, StartQuota, User};
#[cfg(test)]
pub(crate) use connections::CLOSING_MAX;
use connections::Connections;
use connections::addresses::AddressCounts;
#[cfg(test)]
pub(crate) use connections::layers::COALESCE_MAX;
use connections::layers::Links;
use connections::lifetimes::Lifetimes;
use connections::lookups::Lookups;
pub(crate) use connections::opening::is_of_peer;
use connections::origins::ExtraConnections;
pub(crate) use connections::origins::Origin;
use connections::reachability::ReachabilityGuard;
use connections::sharing::Sharing;
use exchanges::redirects::Steps;
use exchanges::request_log::RequestLog;
pub(crate) use exchanges::step::{PreparedStep, http2_fields};
pub(crate) use exchanges::timer_entry::TimerEntry;
use exchanges::wait_for_read::ReadWaiters;
use exchanges::{Attempt, Exchange};
use messaging::MessagingState;
pub(crate) use scenario_config::{ClosedWork, Counters, OpenWork, ScenarioConfig};
use stalls::Stalls;
use users::barriers::BarrierWaiters;
use users::closed::Closed;
use users::first_round::FirstRound;
use users::freed::{FreedUser, NextAction};
use users::load_changes::PauseWindow;
use users::open::Open;
use users::programs::Programs;
use users::variables::States;

/// Users that start between two polls of the sockets, so that responses do not wait while thousands connect.
const START_BATCH: u64 = 256;

/// The runtime of one scenario on one shard.
pub(crate) struct ScenarioRuntime {
    work: ScenarioConfig,
    users: Users,
    in_flight: InFlight,
    pool: Pool,
    timers: Timers<TimerEntry>,
    /// What was recorded since the last hand-over.
    pub(crate) unreported: Box<Snapshot>,
    instants: Instants,
    stalls: Stalls,
    request_log: RequestLog,
    /// Why a user stops the run, until it is told.
    stop_reason: Option<std::sync::Arc<str>>,
}

/// The users and their next actions.
struct Users {
    all: Vec<User>,
    started: u64,
    ended: u64,
    /// Users that left because their program said so.
    gave_up: u64,
    /// Users that still have to run `on_stop`.
    pending_teardown: u64,
    budget: StartQuota,
    /// The lease of this shard on the budget of the run; once no request is left, nothing begins any more.
    budget_lease: Option<BudgetLease>,
    is_out_of_requests: bool,
    /// Iterations in progress; none where each is one exchange and nothing else.
    inside: u64,
    programs: Programs,
    /// Users that wait for others in the middle of their programs; none without barriers.
    barriers: Option<BarrierWaiters>,
    /// The states of users.
    states: States,
    closed: Closed,
    open: Option<Open>,
    pause_window: PauseWindow,
    /// Users that are free and have not advanced yet; none between two events.
    freed: VecDeque<FreedUser>,
}

/// Exchanges in flight, and how they end.
struct InFlight {
    exchanges: Slab<Exchange>,
    attempts: Slab<Attempt>,
    /// For each position in `attempts`: the instant of its timer entry.
    armed: Vec<Nanos>,
    /// The same for messages that are sent later.
    armed_messages: Vec<Nanos>,
    /// Positions of attempts with passed deadlines that wait for the sockets to be read.
    overdue: Vec<u32>,
    read_waiters: ReadWaiters,
    /// Steps of the plan, and of redirects.
    steps: Steps,
    templates: Vec<Template>,
    /// Inspection of messages of responses.
    inspection: exchanges::grpc::Inspection,
    /// Length of the first body.
    first_length: Option<u64>,
    /// One step and one origin, with nothing captured: the case of most loads.
    is_simple: bool,
    /// Some exchanges are shown: they are recorded as they go.
    records: bool,
    /// Users without a first exchange yet, where first exchanges are compared with the others; and their times.
    first_round: Option<Box<FirstRound>>,
    first_times: Distribution,
    /// Why the last request could not be made.
    why: String,
}

/// Connections, and their origins.
struct Pool {
    connections: Connections,
    /// Origins of exchanges; redirects may add some.
    origins: Vec<Origin>,
    /// Connections of users beyond the one to the first origin.
    extra_connections: ExtraConnections,
    links: Links,
    /// Connections that users share; none where each has its own.
    sharing: Option<Box<Sharing>>,
    /// Lookups of names of redirects.
    lookups: Lookups,
    /// Targets of redirects that do not resolve.
    unknown: Vec<(Arc<plan::Target>, metrics::Failure)>,
    addresses: AddressCounts,
    /// Limits of kept connections, where there are some.
    lifetimes: Option<Box<Lifetimes>>,
    reachability_guard: ReachabilityGuard,
    heads: HeadMemory,
    /// Scratch memory of connections with layers for the time of a call; taken while one of them is read.
    scratch: Option<Box<Scratch>>,
    messaging: MessagingState,
    /// Connections opened in advance, with deadlines that wait for the sockets to be read.
    overdue_prepared: Vec<driver::Socket>,
    /// Some connections have layers: TLS, or streams.
    is_layered: bool,
    /// Some begin with something else than what the target gets.
    has_passages: bool,
    /// Whether messages to any origin are datagrams.
    has_datagrams: bool,
    /// Some have TLS with a proxy around all that the target gets.
    has_outer_tls: bool,
}

impl Pool {
    /// `connections_most`: as many as there may be while all users are at work.
    fn new(work: &ScenarioConfig, connections_most: usize, origins: Vec<Origin>, messaging: MessagingState) -> Self {
        let mut pool = Self {
            connections: Connections::with_room_for(connections_most),
            extra_connections: ExtraConnections::default(),
            links: Links::new(&origins, work),
            sharing: work.shared.map(|most| Box::new(Sharing::new(most, &origins))),
            lookups: Lookups::default(),
            unknown: Vec::new(),
            addresses: AddressCounts::of(&origins),
            lifetimes: Lifetimes::of(&origins),
            reachability_guard: ReachabilityGuard::default(),
            heads: HeadMemory::default(),
            scratch: Some(Box::default()),
            messaging,
            overdue_prepared: Vec::new(),
            is_layered: origins.iter().any(Origin::begins_layered),
            has_passages: origins.iter().any(|origin| origin.passage.is_some()),
            has_datagrams: origins.iter().any(Origin::is_datagram),
            has_outer_tls: origins.iter().any(Origin::has_outer_tls),
            origins,
        };
        if pool.sharing.is_some() {
            pool.connections.count_alone(pool.origins.len());
        }
        pool
    }
}

/// Instants that a runtime keeps.
struct Instants {
    /// Start of the run.
    started: Nanos,
    /// What is intended from then on is measured.
    measured_from: Nanos,
    /// What begins and is intended from then on is measured: the same instant in a warm-up, and everything after it.
    counts_from: Nanos,
    /// All that had come to the sockets by then has been read: a deadline after it may have been met.
    read_until: Nanos,
    /// Waits for the sockets so far.
    waits: u64,
    /// When WebSocket peers have agreed to the end of the run, or had time to.
    closing_until: Nanos,
}

impl Instants {
    fn new(started: Nanos, warmup: Nanos) -> Self {
        Self {
            started,
            measured_from: started + warmup,
            counts_from: started + warmup,
            read_until: started,
            waits: 0,
            closing_until: Nanos::ZERO,
        }
    }
}

impl ScenarioRuntime {
    pub(crate) fn new(mut work: ScenarioConfig, waker: &Waker, sockets: &mut dyn Sockets, started: Nanos) -> Self {
        let (origins, steps) = (work.origins.to_vec(), Steps::new(work.steps.clone()));
        let templates = work.steps.iter().map(|step| sockets.register(step.request_bytes().clone())).collect();
        let is_paced = work.is_paced();
        // Draws for a request are keyed by its position in the program.
        let is_made = work.memory.is_needed() || steps.fixed.iter().any(|step| step.dynamic_parts.is_some());
        let programs = Programs::new(&work.program, steps.fixed.len(), is_paced || is_made, work.open.is_none());
        let states = States::new(&work, waker, started);
        let counts_due = programs.counts_due(work.budget.is_some());
        let users = Users {
            // Their number is known: memory that is not touched yet costs nothing, and growing would leave halves
            // behind.
            all: Vec::with_capacity(work.share.users as usize),
            started: 0,
            ended: 0,
            gave_up: 0,
            pending_teardown: 0,
            budget: StartQuota { starts: work.share.starts, is_over: false },
            budget_lease: work.budget.take().map(|pool| BudgetLease::new(pool, started)),
            is_out_of_requests: false,
            inside: 0,
            barriers: work
                .barriers
                .take()
                .map(|(barriers, participant)| BarrierWaiters::new(barriers, participant, waker)),
            states,
            programs,
            closed: Closed::new(&work),
            open: work.open.take().map(|open| Open::new(open, &work, counts_due, started)),
            pause_window: PauseWindow::default(),
            freed: VecDeque::new(),
        };
        let in_flight = InFlight {
            exchanges: Slab::default(),
            attempts: Slab::default(),
            armed: Vec::new(),
            armed_messages: Vec::new(),
            overdue: Vec::new(),
            read_waiters: ReadWaiters::default(),
            templates,
            inspection: exchanges::grpc::Inspection::default(),
            first_length: None,
            is_simple: !is_paced
                && steps.is_simple()
                && users.programs.is_constant()
                && origins.len() == 1
                && work.capture_options == CaptureOptions::default(),
            records: work.capture_options.failures || steps.fixed.iter().any(|step| step.is_shown),
            why: String::new(),
            first_round: work.has_first_round.then(|| Box::new(FirstRound::new(work.share.users))),
            first_times: Distribution::default(),
            steps,
        };
        let connections_most = (work.share.users * users.programs.most()) as usize;
        let pool = Pool::new(&work, connections_most, origins, MessagingState::new(&work, sockets));
        let instants = Instants::new(started, work.warmup);
        let request_log = RequestLog::new(&work.log_config, work.shard, work.scenario);
        let (timers, unreported, stalls) = (Timers::default(), Box::default(), Stalls::default());
        let stop_reason = None;
        let mut runtime =
            Self { work, users, in_flight, pool, timers, unreported, instants, stalls, request_log, stop_reason };
        runtime.check_budget_lease();
        runtime.order_first_rows();
        runtime.arm_limits(started);
        runtime
    }

    /// All that had come to the sockets by this instant has been read.
    pub(crate) fn has_read_until(&mut self, at: Nanos) {
        self.instants.read_until = at;
    }

    pub(crate) fn read_until(&self) -> Nanos {
        self.instants.read_until
    }

    /// Starts users that have not started yet, and wakes users that are due.
    pub(crate) fn turn(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        if now >= self.users.pause_window.due {
            self.apply_pause(now, sockets);
        }
        if self.users.open.is_some() {
            self.turn_open(now, sockets);
        } else {
            self.turn_closed(now, sockets);
        }
        if self.awaits_read() {
            self.expire_overdue(now, sockets);
        }
        if self.users.states.rows.has_waiting() {
            self.resume_row_waiters(now, sockets);
        }
        if self.users.barriers.is_some() {
            self.resume_released(now);
        }
        while let Some(deadline) = self.timers.poll(now) {
            match deadline {
                TimerEntry::Attempt(index) => self.attempt_due(index, now, sockets),
                TimerEntry::User { user, at } if !self.wakes(user, at) => {}
                TimerEntry::User { user, at } if self.is_canceled(user) => self.cancel(user, at, now, sockets),
                TimerEntry::User { user, at } => self.advance_user(user, LastExchange::Rested, at, now, sockets),
                TimerEntry::Closing(socket) => self.close(socket, sockets),
                TimerEntry::Limits => self.close_old(now, sockets),
                TimerEntry::Preparing(socket) => self.prepare_due(socket, now, sockets),
                TimerEntry::Message(index) => self.message_due(index, now),
            }
            self.advance_freed(sockets);
        }
        if self.users.barriers.is_some() {
            self.report_if_stuck(now);
        }
        if !self.pool.lookups.is_empty() {
            self.resume_looked_up(sockets);
        }
        if self.pool.sharing.is_some() {
            self.serve_waiting(sockets);
        }
        // The output of the events since the last turn leaves in one piece for each connection.
        while self.pool.links.is_dirty() {
            self.flush(sockets);
            self.lose_broken(sockets);
        }
    }

    /// How long received data may stay unread.
    #[inline]
    pub(crate) fn coalesce_span(&self) -> Nanos {
        self.pool.links.read_coalescer.span()
    }

    fn new_user(&mut self) -> u32 {
        self.users.all.push(User::default());
        self.users.started += 1;
        u32::try_from(self.users.all.len() - 1).expect("a bounded number of users")
    }

    /// When `turn` must be called again.
    pub(crate) fn next_turn(&self, now: Nanos) -> Nanos {
        if self.awaits_read() {
            return Nanos::ZERO;
        }
        let barriers = self.users.barriers.as_ref().map_or(Nanos::NEVER, BarrierWaiters::next_turn);
        let timers = self.timers.next().min(self.next_lookup(now)).min(self.users.pause_window.due).min(barriers);
        if let Some(open) = &self.users.open {
            return timers.min(open.next_turn(self.users.all.len()));
        }
        timers.min(self.users.closed.next_turn())
    }

    /// Starts no step any more, except the first of iterations that were intended until `at` in an open load. Returns
    /// the (completed, succeeded, missed deadline) counts of this snapshot so far.
    pub(crate) fn stop_starting(&mut self, at: Nanos) -> (u64, u64, u64) {
        self.users.budget.is_over = true;
        if let Some(open) = &mut self.users.open {
            open.stop_at(at);
        }
        self.leave_barriers(at);
        self.wake_owing(at);
        let counts = &self.unreported.counts;
        (counts.finished(), counts.succeeded(), counts.missed_deadline())
    }

    /// Nothing is in flight and nothing will be started.
    pub(crate) fn is_over(&self) -> bool {
        if let Some(open) = &self.users.open {
            let is_free = self.users.pending_teardown() == 0 && (self.users.inside == 0 || self.users.budget.is_over);
            return is_free && self.in_flight.exchanges.is_empty() && open.is_over() && self.pool.lookups.is_empty();
        }
        let have_left = self.users.gave_up > 0 && self.users.gave_up >= self.work.share.users;
        let is_spent = have_left || self.users.budget.is_spent() && self.users.inside == 0;
        let is_spent = (is_spent || self.users.budget.is_over) && self.users.pending_teardown() == 0;
        self.in_flight.exchanges.is_empty() && is_spent && self.pool.lookups.is_empty()
    }

    /// Backlog: starts that have not ended.
    pub(crate) fn backlog(&self) -> u64 {
        self.in_flight.exchanges.len() as u64 + self.users.open.as_ref().map_or(0, Open::waiting)
    }

    /// Open connections that have carried a response.
    pub(crate) fn connections_open(&self) -> u64 {
        self.pool.connections.proven
    }

    /// Exchanges in flight: begun and not ended.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.exchanges.len()
    }

    /// Whether the connection of this socket is one of its own.
    pub(crate) fn knows(&mut self, socket: driver::Socket) -> bool {
        self.pool.connections.find(socket).is_some()
    }

    /// Ages of all that is in flight.
    pub(crate) fn record_ages(&self, now: Nanos, ages: &mut InFlightAges) {
        for exchange in self.in_flight.exchanges.values().filter(|exchange| exchange.is_measured) {
            ages.response.record(now.since(exchange.intended).0);
        }
        for attempt in self.in_flight.attempts.values().filter(|attempt| attempt.was_sent() && attempt.is_measured) {
            ages.service.record(now.since(attempt.sent).0);
        }
        if let Some(open) = &self.users.open {
            open.waiting_from(self.instants.counts_from)
                .for_each(|intended| ages.response.record(now.since(intended).0));
        }
    }

    /// Users whose exchanges have ended go on. A loop that ends exchanges of several users calls this
    /// after each of them.
    #[inline]
    fn advance_freed(&mut self, sockets: &mut dyn Sockets) {
        while let Some(FreedUser { user, intended, next }) = self.users.freed.pop_front() {
            match next {
                NextAction::Advance { view, now } => self.advance_user(user, view, intended, now, sockets),
                NextAction::Redirect { step, elsewhere } => self.hop_to(user, step, elsewhere, intended, sockets),
            }
        }
    }

    /// Runs the next action of a user. `intended` is when it became free, `now` when the loop got to it.
    fn advance_user(&mut self, user: u32, view: LastExchange, intended: Nanos, now: Nanos, sockets: &mut dyn Sockets) {
        let mut view = view;
        if !self.in_flight.is_simple {
            let Some(received) = self.on_exchange_end(user, view, intended, sockets) else { return };
            view = received;
        }
        if self.users.open.is_some() {
            return self.next_open(user, view, intended, now, sockets);
        }
        if !self.users.closed.is_active(user) {
            let turn = users::programs::UserTurn { intended, taken_up: now, is_counted: false };
            if self.stops_before_parking(user, turn, sockets) {
                return;
            }
            return self.park(user, sockets);
        }
        if self.users.closed.is_rendezvous() && view != LastExchange::NoConnection {
            let is_inside = !self.in_flight.is_simple && self.users.all[user as usize].is_inside;
            let goes_on = if is_inside { !self.users.budget.is_over } else { !self.users.budget.is_spent() };
            if goes_on && self.users.closed.gather(user) {
                return;
            }
        }
        self.act(user, view, intended, now, sockets);
    }
}
