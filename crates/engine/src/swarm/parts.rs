//! One load as several runs that each have a partition of it, as workers on several machines have: whichever joins,
//! leaves or hands slots over, together they start what one run of the whole load starts.

use std::net::SocketAddr;
use std::ops::ControlFlow;

use driver::Clock;
use driver::sim::{Faults, Host, Network, SimDriver};
use metrics::Snapshot;
use pacing::{Nanos, SLOT_COUNT, Segment};
use plan::{Flags, Plan};
use target::SteppedServer;

use crate::idle::QUIET;
use crate::{DataSources, Lease, Partition, SteppedRun, StopHandle};

/// A run of a partition, in the simulated network.
struct Crewed {
    run: SteppedRun<SimDriver>,
    hosts: Vec<Host>,
    segment: Segment,
    total: Snapshot,
    /// Users at the end of each interval.
    users: Vec<(Nanos, u64)>,
    /// The starts by the end of each interval, and those behind.
    rows: Vec<(Nanos, u64, u64)>,
}

struct World {
    network: Network,
    server: SteppedServer<SimDriver>,
    server_host: Host,
    runs: Vec<Crewed>,
    plan: Plan,
    threads: usize,
    begins: Nanos,
}

fn address() -> SocketAddr {
    "10.0.0.1:80".parse().expect("an address")
}

fn millis(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

impl World {
    fn new(plan: Plan, threads: usize, seed: u64) -> Self {
        let network = Network::new(seed, Faults::none());
        let driver = network.add_host();
        let server_host = driver.host();
        let server = SteppedServer::start(driver, address()).expect("a free address");
        let begins = network.now();
        Self { network, server, server_host, runs: Vec::new(), plan, threads, begins }
    }

    /// Begins a run of these slots, from then on.
    fn begin(&mut self, slots: impl Iterator<Item = u16>, from: Option<Nanos>) {
        self.begin_with(slots, from, Lease::default());
    }

    fn begin_with(&mut self, slots: impl Iterator<Item = u16>, from: Option<Nanos>, lease: Lease) {
        self.begin_part(slots, from, lease, &StopHandle::default());
    }

    fn begin_part(&mut self, slots: impl Iterator<Item = u16>, from: Option<Nanos>, lease: Lease, stop: &StopHandle) {
        let segment = Segment::from_slots(slots).expect("some slots");
        let begins = Some((Clock::start(), self.begins));
        let part = Partition { segment: segment.clone(), from, begins, lease, ..Partition::default() };
        let (network, mut hosts) = (self.network.clone(), Vec::new());
        let data_sources = (DataSources::default(), part);
        let run = SteppedRun::start_with(&self.plan, data_sources, address(), self.threads, stop, || {
            let driver = network.add_host();
            hosts.push(driver.host());
            driver
        });
        self.runs.push(Crewed { run, hosts, segment, total: Snapshot::default(), users: Vec::new(), rows: Vec::new() });
    }

    /// Goes on until an instant of the load, or to the end.
    fn advance(&mut self, until: Option<Nanos>) {
        let until = until.map_or(Nanos::NEVER, |until| self.begins + until);
        while self.runs.iter().any(|one| one.run.is_waiting()) && self.network.now() < until {
            let next = self.network.next().expect("something happens");
            if next == self.server_host {
                self.server.step().expect("a simulated driver works");
                continue;
            }
            let whose = |one: &Crewed| one.hosts.iter().position(|host| *host == next);
            let found = self.runs.iter_mut().find_map(|one| whose(one).map(|shard| (one, shard)));
            let (one, shard) = found.expect("somebody's host");
            let (total, users, rows) = (&mut one.total, &mut one.users, &mut one.rows);
            let is_on = one.run.step(shard, |reported| {
                total.merge(reported.added);
                rows.push((reported.to, total.counts.started(), reported.seen.gauges.behind));
                users.push((reported.to, reported.seen.gauges.users));
                ControlFlow::Continue(())
            });
            if !is_on.expect("a simulated driver works") {
                self.network.park(next);
            }
        }
    }

    fn finish(mut self) -> (Snapshot, u64, Vec<Vec<(Nanos, u64)>>) {
        self.advance(None);
        let mut all = Snapshot::default();
        let mut users = Vec::new();
        for one in self.runs {
            let (mut total, mut rows) = (one.total, one.users);
            let last = one.run.finish(|reported| {
                total.merge(reported.added);
                rows.push((reported.to, reported.seen.gauges.users));
                ControlFlow::Continue(())
            });
            let last = last.expect("a simulated driver works");
            assert_eq!(last.total.counts, total.counts, "what was told is all");
            all.merge(&last.total);
            users.push(rows);
        }
        (all, self.server.requests(), users)
    }
}

fn plan(flags: Flags) -> Plan {
    let text = |text: &str| Some(text.to_owned());
    let flags = Flags { interval: text("100ms"), user_agent: "parts".to_owned(), ..flags };
    flags.plan().expect("a good plan")
}

fn own(worker: u16) -> impl Iterator<Item = u16> {
    (0..SLOT_COUNT as u16).filter(move |slot| slot % 3 == worker)
}

/// Three workers; one hands over to the two others at 1.5 s, a fourth joins at 2.5 s and takes a part of each.
fn with_moves(plan: &Plan, threads: usize) -> (Snapshot, u64, Vec<Vec<(Nanos, u64)>>) {
    let mut world = World::new(plan.clone(), threads, 7);
    (0..3).for_each(|worker| world.begin(own(worker), None));
    world.advance(Some(millis(1_300)));
    let (leaves, joins) = (millis(1_500), millis(2_500));
    world.runs[0].run.control().lose(own(0), leaves);
    world.advance(Some(leaves));
    let heir = |heir: u16| own(0).filter(move |slot| slot / 3 % 2 == heir);
    (0..2).for_each(|place| world.begin(heir(place), Some(leaves)));
    world.advance(Some(millis(2_300)));
    let taken = |slot: &u16| slot.is_multiple_of(5);
    for one in &mut world.runs[1..] {
        one.run.control().lose(one.segment.slots().filter(taken), joins);
    }
    world.advance(Some(joins));
    world.begin((0..SLOT_COUNT as u16).filter(taken), Some(joins));
    world.finish()
}

#[test]
fn an_open_load_in_parts_starts_what_the_whole_starts() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    for arrivals in ["even", "poisson"] {
        for threads in [1, 2] {
            let text = |text: &str| Some(text.to_owned());
            let plan = plan(Flags {
                url: text("http://10.0.0.1/delay/3"),
                rate: text("2000"),
                duration: text("4s"),
                arrivals: text(arrivals),
                warmup: text("300ms"),
                ..Flags::default()
            });
            let mut whole = World::new(plan.clone(), threads, 7);
            whole.begin(0..SLOT_COUNT as u16, None);
            let (whole, all_served, _) = whole.finish();
            let (parts, served, _) = with_moves(&plan, threads);
            assert_eq!(parts.counts.started(), whole.counts.started(), "{arrivals} on {threads}");
            assert_eq!(parts.counts.succeeded(), parts.counts.all_started());
            // A warm-up has its requests too.
            assert_eq!((served, served), (all_served, parts.counts.warmed_up() + parts.counts.succeeded()));
            assert!(
                parts.lag.max().unwrap_or(0) < 60_000_000,
                "the worker that joins late was not late: {:?}",
                parts.lag.max()
            );
            assert_eq!(parts.stalled_ns, 0);
        }
    }
}

#[test]
fn a_closed_load_in_parts_has_the_users_of_the_whole() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    for threads in [1, 2] {
        let text = |text: &str| Some(text.to_owned());
        let plan = plan(Flags {
            url: text("http://10.0.0.1/delay/10"),
            connections: text("60"),
            duration: text("4s"),
            ..Flags::default()
        });
        let (parts, served, users) = with_moves(&plan, threads);
        assert_eq!((parts.counts.succeeded(), served), (parts.counts.started(), served));
        assert!(parts.counts.started() > 60 * 4 * 90, "each has been busy: {}", parts.counts.started());
        let at = |instant: u64| -> u64 {
            let of = |rows: &Vec<(Nanos, u64)>| {
                let row = rows.iter().find(|(to, _)| *to >= millis(instant) && *to < millis(instant + 100));
                row.map_or(0, |(_, users)| *users)
            };
            users.iter().map(of).sum()
        };
        // Rows in which no worker joined or left.
        assert_eq!([1_000, 2_000, 3_000, 3_600].map(at), [60; 4], "on {threads}");
    }
}

/// The lease is not extended: the partition does not start what is due then, and later; nor does it when it was stalled
/// meanwhile.
#[test]
fn a_part_without_a_lease_starts_nothing() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let text = |text: &str| Some(text.to_owned());
    let open = Flags { rate: text("1000"), ..Flags::default() };
    let closed = Flags { connections: text("20"), ..Flags::default() };
    for (flags, is_open) in [(open, true), (closed, false)] {
        for threads in [1, 2] {
            let url = text("http://10.0.0.1/delay/10");
            let plan = plan(Flags { url, duration: text("4s"), ..flags.clone() });
            let mut world = World::new(plan, threads, 7);
            let lease = Lease::until(world.begins + millis(1_000));
            world.begin_with(own(0), None, lease.clone());
            world.advance(Some(millis(800)));
            lease.extend(world.begins + millis(2_000));
            // A shorter lease takes nothing away.
            lease.extend(world.begins + millis(1_500));
            let (seen, served, _) = world.finish();
            let counts = &seen.counts;
            assert_eq!((counts.succeeded(), served), (counts.started(), counts.started()));
            if is_open {
                let due = (0..2_000).filter(|start| start % 4_096 % 3 == 0).count();
                assert_eq!(counts.started(), due as u64, "on {threads}");
            } else {
                assert!((7 * 150..=7 * 201).contains(&counts.started()), "{}", counts.started());
            }
        }
    }
}

/// What a part says after its lease, also of what came due in a stall: all that was due before is started or behind.
#[test]
fn a_part_that_has_no_lease_says_what_it_leaves() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let text = |text: &str| Some(text.to_owned());
    // What is in flight lasts for long, or is over at once; some leases end, and some stalls, in the middle of an interval.
    for (path, lease, (from, to)) in
        [("delay/3000", 1_000, (700, 1_400)), ("delay/1", 1_000, (700, 1_400)), ("delay/1", 808, (650, 809))]
    {
        for (threads, frozen) in [(1, 1), (2, 2), (3, 1), (3, 0)] {
            let plan = plan(Flags {
                url: text(&format!("http://10.0.0.1/{path}")),
                rate: text("1000"),
                duration: text("8s"),
                connections: text("3000"),
                ..Flags::default()
            });
            let mut world = World::new(plan, threads, 7);
            world.begin_with(own(0), None, Lease::until(world.begins + millis(lease)));
            for host in &world.runs[0].hosts[..frozen] {
                world.network.freeze(*host, world.begins + millis(from), world.begins + millis(to));
            }
            world.advance(None);
            let due = (0..lease).filter(|start| start % 4_096 % 3 == 0).count() as u64;
            let Crewed { run, rows, .. } = world.runs.remove(0);
            let ended = run.finish(|_| ControlFlow::Continue(())).expect("a simulated driver works");
            let left: u64 = ended.ends.iter().map(|end| end.left).sum();
            assert_eq!(
                (ended.total.counts.started() + left, left > 0),
                (due, frozen > 0),
                "{path} {threads}: {rows:?}"
            );
            let later: Vec<_> = rows.iter().filter(|(at, ..)| *at >= millis(to + 100)).collect();
            assert!(path == "delay/1" || later.len() > 20, "{rows:?}");
            assert!(later.iter().all(|(_, started, behind)| started + behind == due), "{path} {threads}: {rows:?}");
        }
    }
}

/// A part that leaves says what it leaves of the rest of its lease, unless a budget has ended its starts before.
#[test]
fn a_part_that_leaves_says_what_it_leaves() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let text = |text: &str| Some(text.to_owned());
    for (path, budget, threads) in
        [("delay/3000", None, 1), ("delay/1", None, 3), ("delay/3000", Some("requests=90"), 1)]
    {
        let plan = plan(Flags {
            url: text(&format!("http://10.0.0.1/{path}")),
            rate: text("1000"),
            duration: text("8s"),
            connections: text("3000"),
            budget: budget.map(str::to_owned),
            ..Flags::default()
        });
        let mut world = World::new(plan, threads, 7);
        let (lease, stop) = (Lease::until(world.begins + millis(5_000)), StopHandle::default());
        world.begin_part(own(0), None, lease.clone(), &stop);
        world.advance(Some(millis(650)));
        lease.cut(world.begins + millis(750));
        stop.leave();
        world.advance(None);
        let due_by = |until: Nanos| (0..until.0 / 1_000_000).filter(|start| start % 4_096 % 3 == 0).count() as u64;
        let due = due_by(millis(750));
        let Crewed { run, rows, .. } = world.runs.remove(0);
        if budget.is_none() {
            let is_all = |(at, started, behind): &(Nanos, u64, u64)| started + behind == due_by(*at.min(&millis(750)));
            assert!(rows.iter().all(is_all), "{path} {threads}: {rows:?}");
        }
        let ended = run.finish(|_| ControlFlow::Continue(())).expect("a simulated driver works");
        let left: u64 = ended.ends.iter().map(|end| end.left).sum();
        let started = ended.total.counts.started();
        if budget.is_some() {
            assert_eq!((started, left), (90, 0));
        } else {
            assert_eq!(started + left, due, "{path} {threads}: {left} left");
            assert!((33..=34).contains(&left), "a tenth of a second: {left}");
        }
    }
}

/// A part that stood still from before it could begin until after its lease owned nothing.
#[test]
fn a_part_that_never_began_leaves_nothing() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let text = |text: &str| Some(text.to_owned());
    for threads in [1, 3] {
        let url = text("http://10.0.0.1/delay/1");
        let plan = plan(Flags { url, rate: text("1000"), duration: text("8s"), ..Flags::default() });
        let mut world = World::new(plan, threads, 7);
        world.begin_with(own(0), Some(millis(300)), Lease::until(world.begins + millis(500)));
        for host in &world.runs[0].hosts {
            world.network.freeze(*host, world.begins, world.begins + millis(800));
        }
        world.advance(None);
        let ended = world.runs.remove(0).run.finish(|_| ControlFlow::Continue(())).expect("a simulated driver works");
        let (started, end) = (ended.total.counts.started(), &ended.ends[0]);
        assert_eq!((started, end.left, end.stopped_at), (0, 0, millis(300)), "on {threads}");
    }
}
