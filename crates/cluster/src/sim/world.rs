//! A network of leaders, workers and a bus, in virtual time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::sync::Arc;

use pacing::change::{Change, ChangeKind};
use pacing::open::{Rate, Schedule, Spacing, Stage};
use pacing::{Nanos, Random};

use super::due::ScheduleDue;
use super::journals::SimulatedJournal;
use super::judge::Seen;
use super::model::{Made, Model};
use super::trace;
use crate::broker::{Broker, Client};
use crate::bus::{BusCommand, BusEvent, STATE};
use crate::leader::{Leader, LeaderSettings as Leads, LeaderUpdate, OnLoss, RunOrder};
use crate::protocol::{Hello, News, Row, State};
use crate::start_accounting::Ledger;
use crate::worker::{Act, Worker};

/// The most that a late message is delayed.
const LATE_MAX: Nanos = Nanos::from_millis(6_000);

/// Faults of messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageFault {
    pub(super) delay: Nanos,
    pub(super) drop: f64,
    pub(super) double: f64,
    /// The share of messages that come seconds late, after others that were sent later.
    pub(super) late: f64,
}

/// An event of a node.
#[derive(Clone, Debug)]
pub(super) enum Happens {
    KillWorker(usize),
    StallWorker(usize, Nanos),
    /// The threads of the parts stand still, and the one that speaks to the bus does not.
    StallParts(usize, Nanos),
    CutWorker(usize, Nanos),
    KillLeader,
    CutLeader(Nanos),
    StallLeader(Nanos),
    CutBus(Nanos),
    Join,
    Change(ChangeKind),
}

#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) seed: u64,
    pub(super) workers: usize,
    pub(super) leaders: usize,
    /// Whether all leaders but the first are standbys.
    pub(super) is_standby: bool,
    pub(super) rate: u64,
    pub(super) is_random: bool,
    pub(super) span: Nanos,
    /// The largest clock error.
    pub(super) clocks_off: Nanos,
    pub(super) fault: MessageFault,
    pub(super) happens: Vec<(Nanos, Happens)>,
    pub(super) on_loss: OnLoss,
    /// Whether workers only receive the leader key: as on a NATS bus.
    pub(super) is_distant: bool,
    /// The number of additional workers that the pace assumes.
    pub(super) bus_benchmark: usize,
    /// The interval at which received reports are merged; zero: never.
    pub(super) keeps_every: Nanos,
    /// How long what is in flight takes when nothing more starts.
    pub(super) drain: Nanos,
    /// The most worker reports that the bus keeps.
    pub(super) entries_max: Option<usize>,
}

pub(super) enum Who {
    Leader(Box<Leader>, LeaderTally, Box<SimulatedJournal>),
    Worker(Box<Worker>, Box<Model>, Box<SimulatedJournal>),
}

/// The totals of a leader.
#[derive(Default)]
pub(super) struct LeaderTally {
    pub(super) ledger: Ledger,
    pub(super) counts: BTreeMap<(u16, u16), u64>,
    pub(super) lost: u64,
    /// Whether it began with a checkpoint.
    pub(super) recalled: u64,
    pub(super) is_over: bool,
    pub(super) fails: bool,
    /// Whether entries of the stream were lost.
    pub(super) has_gap: bool,
    /// Whether it never began: too few workers were present, or ready.
    pub(super) never_began: bool,
}

impl LeaderTally {
    fn handle(&mut self, reported: LeaderUpdate) {
        match reported {
            LeaderUpdate::News { member, news } => {
                self.ledger.news(member, &news);
                if let News::Row(row) = &*news {
                    *self.counts.entry((member, row.part)).or_default() += count_of(row);
                }
            }
            LeaderUpdate::Lost { member, until, .. } => {
                self.ledger.lost(member, until);
                self.lost += 1;
            }
            LeaderUpdate::Recalled(_) => self.recalled += 1,
            LeaderUpdate::Over => self.is_over = true,
            LeaderUpdate::Fails { .. } => self.fails = true,
            LeaderUpdate::Gap => self.has_gap = true,
            LeaderUpdate::TooFew { .. } | LeaderUpdate::Refused { .. } => self.never_began = true,
            LeaderUpdate::Leads
            | LeaderUpdate::LostLeadership
            | LeaderUpdate::Workers(_)
            | LeaderUpdate::Starts(_)
            | LeaderUpdate::Resumes(_)
            | LeaderUpdate::Frozen
            | LeaderUpdate::NoRoom { .. }
            | LeaderUpdate::WantsCheckpoint
            | LeaderUpdate::Behind(_)
            | LeaderUpdate::Elsewhere
            | LeaderUpdate::Replaced
            | LeaderUpdate::NoRun => {}
        }
    }
}

pub(super) struct Node {
    pub(super) who: Who,
    pub(super) is_dead: bool,
    pub(super) cut_since: Nanos,
    pub(super) cut_until: Nanos,
    pub(super) stalled_until: Nanos,
    /// Past stalls.
    pub(super) stalls: Vec<(Nanos, Nanos)>,
    pub(super) offset: Nanos,
    pub(super) wakes_at: Nanos,
}

pub(super) enum Event {
    Ask(Client, BusCommand),
    Report(Client, BusEvent),
    Happens(Happens),
    Heals(Client),
    Leaves(Client),
}

pub(super) struct World {
    pub(super) setting: Setup,
    pub(super) random: Random,
    pub(super) now: Nanos,
    pub(super) number: u64,
    pub(super) events: BinaryHeap<Reverse<(Nanos, u64, usize)>>,
    pub(super) slots: Vec<Option<Event>>,
    pub(super) nodes: Vec<Node>,
    pub(super) broker: Broker,
    /// The written states: epochs and revisions.
    pub(super) written: HashSet<(u64, u64)>,
    pub(super) bus_cut_until: Nanos,
    pub(super) schedule: Arc<Schedule>,
    pub(super) spacing: Spacing,
    pub(super) made: Vec<Made>,
    pub(super) was_killed: bool,
    pub(super) led_until: Option<Nanos>,
    pub(super) seen: Seen,
}

/// The number of starts in a row.
pub(super) fn count_of(row: &Row) -> u64 {
    row.seen.iter().map(|seen| u64::from_le_bytes(seen[..].try_into().expect("a count"))).sum()
}

fn known(state: &[u8]) -> Option<(u64, u64)> {
    State::read(state).map(|state| (state.epoch, state.revision))
}

/// A bus with a short memory of entry names.
fn forgetful(entries_max: Option<usize>) -> Broker {
    let mut broker = Broker::default();
    (broker.names_max, broker.entries_max) = (Some(1), entries_max);
    broker
}

impl World {
    pub(super) fn new(setting: Setup) -> Self {
        let rate = Rate::per_hour_thousandths(setting.rate * 3_600_000);
        let schedule = Arc::new(Schedule::new(&[Stage { from: rate, to: rate, span: setting.span }]));
        let spacing = if setting.is_random { Spacing::Poisson { seed: setting.seed } } else { Spacing::Even };
        let mut world = Self {
            random: Random::for_stream(setting.seed, 1),
            now: Nanos::ZERO,
            number: 0,
            events: BinaryHeap::new(),
            slots: Vec::new(),
            nodes: Vec::new(),
            broker: forgetful(setting.entries_max),
            written: HashSet::from([(0, 0)]),
            bus_cut_until: Nanos::ZERO,
            schedule,
            spacing,
            made: Vec::new(),
            was_killed: false,
            led_until: None,
            seen: Seen::default(),
            setting,
        };
        for place in 0..world.setting.leaders {
            world.add_leader(place as u64 + 1);
        }
        (0..world.setting.workers).for_each(|_| world.add_worker());
        for (at, happens) in world.setting.happens.clone() {
            world.put(at, Event::Happens(happens));
        }
        world
    }

    pub(super) fn put(&mut self, at: Nanos, event: Event) {
        self.number += 1;
        self.slots.push(Some(event));
        self.events.push(Reverse((at, self.number, self.slots.len() - 1)));
    }

    fn offset(&mut self) -> Nanos {
        Nanos((self.random.unit() * self.setting.clocks_off.0 as f64) as u64 + 1)
    }

    fn add(&mut self, who: Who, offset: Nanos, subjects: Vec<String>) {
        let client = self.nodes.len() as Client;
        let (now, zero) = (self.now, Nanos::ZERO);
        let node = Node {
            who,
            is_dead: false,
            cut_since: zero,
            cut_until: zero,
            stalled_until: zero,
            stalls: Vec::new(),
            offset,
            wakes_at: now,
        };
        self.nodes.push(node);
        self.broker.join(client, subjects);
        self.carry();
    }

    fn add_leader(&mut self, who: u64) {
        let offset = self.offset();
        let now = self.now + offset;
        let setting = Leads {
            who,
            version: "1".to_owned(),
            workers: self.setting.workers,
            patience: Nanos::from_millis(30_000),
            min_workers: 0,
            on_loss: self.setting.on_loss,
            ttl: Nanos::from_millis(3_000),
            lease: Nanos::from_millis(5_000),
            late_news: Nanos::from_millis(60_000),
            closed_is_gone: false,
            start_lead: Nanos::from_millis(2_000),
            is_standby: self.setting.is_standby && who > 1,
            is_alone: false,
        };
        let mut leader = Leader::new(setting, now);
        let order = RunOrder {
            plan: "plan".to_owned(),
            packet: vec![1].into(),
            scenarios: 1,
            warmup: Nanos::ZERO,
            ends_at: Some(self.setting.span),
            can_move: true,
            workers_max: 100,
        };
        leader.begin(order, now);
        let subjects = leader.subjects();
        self.add(Who::Leader(Box::new(leader), LeaderTally::default(), Box::default()), offset, subjects);
    }

    pub(super) fn add_worker(&mut self) {
        let offset = self.offset();
        let id = 1_000 + self.nodes.len() as u64;
        let hello = Hello::new(id, format!("worker-{id}"), "1".to_owned(), 1);
        let mut worker = Worker::new(hello, false, self.now + offset);
        worker.keep_all();
        let model = Model::new(self.schedule.clone(), self.spacing, self.setting.drain);
        let subjects = worker.subjects();
        self.add(Who::Worker(Box::new(worker), Box::new(model), Box::default()), offset, subjects);
        if self.setting.is_distant {
            self.broker.distant.insert(self.nodes.len() as Client - 1);
        }
    }

    /// Whether a message between a node and the bus is blocked now.
    fn is_cut(&self, client: Client) -> bool {
        self.now < self.bus_cut_until || self.now < self.nodes[client as usize].cut_until
    }

    fn send(&mut self, client: Client, make: impl Fn() -> Event) {
        let MessageFault { delay, drop, double, late: is_late } = self.setting.fault;
        let copies = if self.random.unit() < double { 2 } else { 1 };
        for _ in 0..copies {
            if self.is_cut(client) || self.random.unit() < drop {
                continue;
            }
            let late = Nanos(100_000 + (self.random.unit() * delay.0 as f64) as u64);
            let very_late = if is_late > 0.0 && self.random.unit() < is_late { self.random.unit() } else { 0.0 };
            let late = late + Nanos((very_late * LATE_MAX.0 as f64) as u64);
            self.put(self.now + late, make());
        }
    }

    /// Delivers the events of the broker.
    fn carry(&mut self) {
        while let Some((client, received)) = self.broker.next_received() {
            self.send(client, || Event::Report(client, received.clone()));
        }
    }

    /// Sends the commands of a node, and carries out its actions.
    fn after(&mut self, client: Client) -> Result<(), String> {
        let local = self.now + self.nodes[client as usize].offset;
        let (mut verbs, mut turned, mut leaves) = (Vec::new(), true, false);
        while turned {
            turned = false;
            let node = &mut self.nodes[client as usize];
            match &mut node.who {
                Who::Leader(leader, tally, journal) => {
                    journal.lead(leader, client);
                    while let Some(verb) = leader.next_verb() {
                        verbs.push(verb);
                    }
                    while let Some(reported) = leader.next_reported() {
                        if reported == LeaderUpdate::Leads {
                            self.seen.leads_again(self.led_until, self.now);
                        }
                        trace(self.now, client, &reported);
                        // It could not read what was forgotten meanwhile: it ends.
                        if reported == LeaderUpdate::Replaced && self.setting.keeps_every > Nanos::ZERO {
                            leader.withdraw();
                            leaves = true;
                        }
                        journal.reported(&reported, leader);
                        tally.handle(reported);
                    }
                    if leader.leads() {
                        self.led_until = Some(self.now);
                        if let Some(draft) = journal.draft(self.setting.keeps_every, local) {
                            leader.keep(draft, local);
                        }
                    }
                    node.wakes_at =
                        Nanos(leader.wake_at(local).0.saturating_sub(node.offset.0)).max(self.now + Nanos(1_000_000));
                }
                Who::Worker(worker, model, journal) => {
                    while let Some(act) = worker.next_act() {
                        turned = true;
                        trace(self.now, client, &act);
                        if let Act::Prepare { run, .. } = act {
                            worker.prepared(run, Ok(Nanos::ZERO), local);
                        }
                        journal.act(&act, worker);
                        model.act(&act, local);
                    }
                    let (news, done) = model.turn(client as usize, local, &mut self.made);
                    for (of, news) in news {
                        turned = true;
                        worker.report(of, news, local);
                    }
                    for (run, incarnation) in done {
                        turned = true;
                        worker.all_over(run, incarnation, local);
                    }
                    journal.keep(worker, local);
                    while let Some(verb) = worker.next_verb() {
                        verbs.push(verb);
                    }
                    let wakes = worker.wake_at(local).min(model.wake_at().max(local + Nanos::from_millis(10)));
                    node.wakes_at = Nanos(wakes.0.saturating_sub(node.offset.0)).max(self.now + Nanos(1_000_000));
                }
            }
        }
        if leaves {
            self.nodes[client as usize].is_dead = true;
            self.put(self.now + Nanos::from_millis(10), Event::Leaves(client));
        }
        for verb in verbs {
            self.send(client, || Event::Ask(client, verb.clone()));
        }
        Ok(())
    }

    fn wake(&mut self, client: Client, received: Option<BusEvent>) -> Result<(), String> {
        let node = &mut self.nodes[client as usize];
        if node.is_dead {
            node.wakes_at = Nanos::NEVER;
            return Ok(());
        }
        if self.now < node.stalled_until {
            let at = node.stalled_until;
            node.wakes_at = at;
            if let Some(received) = received {
                self.put(at, Event::Report(client, received));
            }
            return Ok(());
        }
        let local = self.now + node.offset;
        match &mut node.who {
            Who::Leader(leader, _, journal) => match received {
                Some(received) => {
                    leader.handle(received.clone(), local);
                    journal.received(&received, leader);
                }
                None => leader.tick(local),
            },
            Who::Worker(worker, ..) => {
                let epoch = worker.epoch();
                match received {
                    Some(received) => worker.handle(received, local),
                    None => worker.tick(local),
                }
                if !self.written.contains(&worker.knows()) {
                    return Err(format!("what was not written was taken up: {:?}", worker.knows()));
                }
                if worker.epoch() < epoch {
                    return Err(format!("a command of epoch {} was obeyed after {epoch}", worker.epoch()));
                }
            }
        }
        self.after(client)
    }

    /// The starts due of the load with these changes.
    pub(super) fn due<'a>(&self, changes: &'a [Change]) -> ScheduleDue<'a> {
        ScheduleDue::new(&self.schedule, self.spacing, changes)
    }

    /// Runs to the end, and checks the ledger.
    pub(super) fn run(mut self) -> Result<Seen, String> {
        let limit = self.setting.span + Nanos::from_millis(240_000);
        while self.now < limit && !self.is_over() {
            let (node, wakes) = self
                .nodes
                .iter()
                .enumerate()
                .map(|(place, node)| (place, node.wakes_at))
                .min_by_key(|(_, at)| *at)
                .expect("somebody");
            match self.events.peek().map(|Reverse((at, _, place))| (*at, *place)) {
                Some((at, place)) if at <= wakes => {
                    self.events.pop();
                    self.now = self.now.max(at);
                    match self.slots[place].take().expect("it happens once") {
                        Event::Ask(client, verb) => {
                            if !self.is_cut(client) {
                                let is_state = matches!(&verb, BusCommand::Put { key, .. } if key == STATE);
                                self.broker.ask(client, verb);
                                let state = Some(STATE).filter(|_| is_state);
                                self.written.extend(state.and_then(|key| known(self.broker.value(key)?)));
                                self.carry();
                            }
                        }
                        Event::Report(client, received) => {
                            if !self.is_cut(client) {
                                self.wake(client, Some(received))?;
                            }
                        }
                        Event::Happens(happens) => self.happen(&happens),
                        Event::Heals(client) => {
                            if !self.is_cut(client) {
                                self.wake(client, Some(BusEvent::Connected))?;
                            }
                        }
                        Event::Leaves(client) => self.broker.leave(client),
                    }
                    if self.slots.len() > 100_000 && self.events.is_empty() {
                        self.slots.clear();
                    }
                }
                _ => {
                    self.now = self.now.max(wakes);
                    self.wake(node as Client, None)?;
                }
            }
        }
        self.judge()
    }
}
