//! Held connections in simulations: whatever the network does, each connection ends in one count, and nothing leaks.

use std::net::SocketAddr;
use std::sync::Arc;

use driver::sim::{Faults, Network, SimDriver};
use driver::{Driver, Event, Sockets, Waker};
use metrics::Held;
use pacing::{Nanos, Random, Segment};
use plan::{Flags, HoldFlags};
use target::SteppedServer;

use super::Orders;
use super::job::HoldConfig;
use super::runtime::{HoldRuntime, Phase};
use super::shard::{HoldChannels, REPORTS_MAX, Report, run, turn};
use crate::Places;
use crate::endpoints::EndpointRotation;

mod peers;

const TURNS_MAX: u64 = 2_000_000;
/// By then nothing is awaited any more.
const QUIET_AFTER: Nanos = Nanos::from_millis(400_000);

struct Story {
    seen: Held,
    flags: HoldFlags,
    count: u64,
    most_open: u64,
    sockets_left: usize,
    turns: u64,
}

fn flags_of(random: &mut Random) -> (HoldFlags, u64) {
    let count = random.between(1, 60);
    let mut pick = |choices: &[&str]| choices[random.below(choices.len() as u64) as usize].to_owned();
    let some = |text: String| (!text.is_empty()).then_some(text);
    let scheme = pick(&["ws", "ws", "http"]);
    let work = pick(&["every", "every", "pause", "once", "none"]);
    let every = match work.as_str() {
        "every" => pick(&["50ms", "300ms", "1s"]),
        "pause" => pick(&["10ms-90ms", "100ms-600ms"]),
        _ => String::new(),
    };
    let says = work != "none" && scheme == "ws";
    let common = Flags {
        url: Some(format!("{scheme}://10.0.0.1/")),
        connections: Some(count.to_string()),
        ramp: some(pick(&["", "", "40", "2000"])),
        data: if says { some(pick(&["", "hello"])) } else { None },
        ws_deflate: scheme == "ws" && pick(&["", "", "x"]) == "x",
        timeout: some(pick(&["200ms", "2s", "30s"])),
        connect_timeout: some(pick(&["300ms", "5s"])),
        grace: some(pick(&["0s", "500ms", "3s"])),
        ..Flags::default()
    };
    let (once, reconnect) = (work == "once", pick(&["", "", "x"]) == "x");
    (HoldFlags { common, every: some(every), once, reconnect, ..HoldFlags::default() }, count)
}

/// Checks that the gauges match the connections.
fn audit(world: &HoldRuntime) {
    let of = |phases: &[Phase]| world.connections.iter().filter(|one| phases.contains(&one.phase)).count() as u32;
    assert_eq!(world.opening, of(&[Phase::Connects, Phase::Shakes, Phase::Begins]), "opening");
    assert_eq!(world.open, of(&[Phase::Idle, Phase::Asks, Phase::Says]), "open");
    assert_eq!(world.closing, of(&[Phase::Closes, Phase::Leaves]), "closing");
    assert_eq!(world.owed, world.connections.iter().map(|one| u64::from(one.owed)).sum::<u64>(), "owed");
    let counts = &world.unreported.counts;
    let opening = u64::from(world.opening);
    let tried = counts.established() + counts.failed_in_all() + counts.abandoned() + opening;
    assert_eq!(counts.tried(), tried, "each try has one end");
    let ended = counts.lost_in_all() + counts.closed() + counts.close_timed_out() + u64::from(world.open);
    let closes = u64::from(of(&[Phase::Closes]));
    assert_eq!(counts.established(), ended + closes, "each connection has one end");
}

fn play(seed: u64, is_calm: bool) -> Story {
    let mut random = Random::new(seed);
    let faults = if is_calm { Faults::none() } else { Faults::draw(&mut random) };
    let (flags, count) = flags_of(&mut random);
    let end_after = Nanos(random.between(100_000_000, 4_000_000_000));
    let is_frozen = !is_calm && random.chance(300_000);
    let server_freeze = is_frozen.then(|| {
        let from = Nanos(random.below(2_000_000_000));
        (from, from + Nanos(random.between(1_000_000, 1_500_000_000)))
    });
    carry_out(&Scene { seed, faults, flags, count, end_after, push: None, server_freeze, own_freeze: None })
}

/// A simulated hold and its faults.
struct Scene {
    seed: u64,
    faults: Faults,
    flags: HoldFlags,
    count: u64,
    end_after: Nanos,
    /// The target sends to each connection at this interval.
    push: Option<std::time::Duration>,
    /// The target is frozen from one instant to another.
    server_freeze: Option<(Nanos, Nanos)>,
    /// The generator is frozen from one instant to another.
    own_freeze: Option<(Nanos, Nanos)>,
}

fn carry_out(scene: &Scene) -> Story {
    let Scene { seed, flags, count, .. } = scene;
    let (seed, count) = (*seed, *count);
    let plan = flags.plan().unwrap_or_else(|error| panic!("{error}: {flags:?}"));
    let network = Network::new(seed ^ 0x401d, scene.faults.clone());
    let server_driver = network.add_host();
    let server_host = server_driver.host();
    let address: SocketAddr = "10.0.0.1:80".parse().expect("an address");
    let behavior = target::Behavior { push: scene.push, ..target::Behavior::default() };
    let mut server = SteppedServer::start_as(server_driver, address, behavior).expect("a server");
    let mut driver: SimDriver = network.add_host();
    let host = driver.host();
    let job = Arc::new(HoldConfig::new(&plan, EndpointRotation::new(Places::these(&[address]), None), None));
    let mut world = HoldRuntime::new(job, Segment::share(0, 1), driver.sockets());
    let started = driver.now();
    world.start_at(started);
    let end_at = started + scene.end_after;
    for (frozen, span) in [(server_host, scene.server_freeze), (host, scene.own_freeze)] {
        if let Some((from, to)) = span {
            network.freeze(frozen, from, to);
        }
    }
    let (mut turns, mut most_open) = (0, 0);
    while !world.is_over() {
        turns += 1;
        assert!(turns < TURNS_MAX, "seed {seed}: no end after {turns} turns");
        let Some(next) = network.next() else { panic!("seed {seed}: nothing will ever happen again") };
        if next == server_host {
            server.step().expect("the server works");
            continue;
        }
        let now = driver.now();
        if !world.is_closing() && now >= end_at {
            world.begin_closing(now, end_at, driver.sockets());
        }
        turn(&mut driver, &mut world, now).expect("the driver works");
        audit(&world);
        most_open = most_open.max(world.now().open);
        let end = if world.is_closing() { Nanos::NEVER } else { end_at };
        let until = world.next_turn(now).min(end);
        world.sleep_until(until);
        driver.wait(until, |sockets, event| world.handle(sockets, event)).expect("the driver works");
        audit(&world);
    }
    world.end(driver.sockets());
    let sockets_left = network.open_sockets(host);
    network.park(host);
    let quiet = network.now() + QUIET_AFTER;
    while let Some(next) = network.next() {
        if network.now() > quiet {
            break;
        }
        if next == server_host {
            server.step().expect("the server works");
        }
    }
    Story { seen: std::mem::take(&mut *world.unreported), flags: flags.clone(), count, most_open, sockets_left, turns }
}

#[test]
fn each_connection_ends_once_whatever_happens() {
    let (mut lost, mut failed, mut answered) = (0, 0, 0);
    for seed in 0..300 {
        let story = play(seed, false);
        let counts = &story.seen.counts;
        let about = || format!("seed {seed}: {counts:?} {:?}", story.flags);
        assert_eq!(story.sockets_left, 0, "{}", about());
        assert!(
            counts.answered() + counts.unanswered() <= counts.sent() && counts.sent() <= counts.due(),
            "{}",
            about()
        );
        assert_eq!(story.seen.response.count(), counts.answered(), "{}", about());
        assert_eq!(story.seen.incomplete.count(), counts.unanswered() + counts.unsent(), "{}", about());
        assert_eq!(counts.due(), counts.sent() + counts.unsent(), "{}", about());
        assert_eq!(story.seen.connect.count(), counts.established(), "{}", about());
        assert!(story.flags.reconnect || counts.retries() == 0, "{}", about());
        assert!(story.most_open <= story.count, "{}", about());
        lost += counts.lost_in_all();
        failed += counts.failed_in_all();
        answered += counts.answered();
        let again = play(seed, false);
        assert_eq!(
            (again.turns, format!("{:?}", again.seen.counts)),
            (story.turns, format!("{:?}", story.seen.counts)),
            "seed {seed} gave two reports"
        );
    }
    assert!(lost > 0 && failed > 0 && answered > 1_000, "{lost} lost, {failed} failed, {answered} answered");
}

#[test]
fn in_a_calm_world_all_goes_well() {
    for seed in 0..100 {
        let story = play(seed, true);
        let counts = &story.seen.counts;
        let about = || format!("seed {seed}: {counts:?} {:?}", story.flags);
        assert_eq!(counts.failed_in_all() + counts.lost_in_all(), 0, "{}", about());
        // Without a grace some may be in flight at the end.
        let has_grace = story.flags.common.grace.as_deref() != Some("0s");
        assert!(!has_grace || counts.unanswered() == 0, "{}", about());
        assert_eq!(counts.closed() + counts.close_timed_out(), counts.established(), "{}", about());
        let is_slow = story.flags.common.ramp.as_deref() == Some("40");
        assert!(is_slow || counts.tried() == story.count, "{}", about());
    }
}

/// A hundred connections that each send every 300 ms, for four seconds; the generator stalls from 1 s to `to_ms`.
fn with_a_stall(seed: u64, to_ms: u64, grace: &str) -> Story {
    // What was requested by then gets a response in time, during the stall.
    with_freezes(seed, (900, 1_010), (1_000, to_ms), grace)
}

/// The same; target and generator are frozen from one instant to another, in milliseconds.
fn with_freezes(seed: u64, servers: (u64, u64), ours: (u64, u64), grace: &str) -> Story {
    let flag = |text: &str| Some(text.to_owned());
    let common = Flags {
        url: flag("ws://10.0.0.1/"),
        connections: flag("100"),
        timeout: flag("200ms"),
        grace: flag(grace),
        ..Flags::default()
    };
    let flags = HoldFlags { common, every: flag("300ms"), ..HoldFlags::default() };
    let span = |(from, to)| Some((Nanos::from_millis(from), Nanos::from_millis(to)));
    carry_out(&Scene {
        seed,
        faults: Faults::none(),
        flags,
        count: 100,
        end_after: Nanos::from_millis(4_000),
        push: None,
        server_freeze: span(servers),
        own_freeze: span(ours),
    })
}

#[test]
fn a_stall_of_ours_makes_no_timeouts() {
    for seed in 0..20 {
        let story = with_a_stall(seed, 2_000, "3s");
        let counts = &story.seen.counts;
        let about = format!("seed {seed}: {counts:?}");
        assert_eq!((counts.lost_in_all(), counts.unanswered(), counts.closed()), (0, 0, 100), "{about}");
        assert_eq!(counts.answered(), counts.sent(), "{about}");
    }
}

/// As if the generator had been stopped between the stamp of a message and its sending.
#[test]
fn what_left_only_after_a_stall_is_waited_for() {
    for seed in 0..20 {
        let story = with_freezes(seed, (980, 2_020), (1_000, 2_000), "3s");
        let counts = &story.seen.counts;
        let about = format!("seed {seed}: {counts:?}");
        assert_eq!((counts.lost_in_all(), counts.unanswered(), counts.closed()), (0, 0, 100), "{about}");
        // A target that is silent for longer gets no extra time.
        let story = with_freezes(seed, (980, 2_500), (1_000, 2_000), "3s");
        assert!(story.seen.counts.lost_in_all() > 0, "{:?}", story.seen.counts);
    }
}

#[test]
fn what_was_due_in_a_stall_of_ours_is_counted_as_late() {
    for seed in 0..20 {
        // Each connection had its turn three or four times in the second.
        let counts = with_a_stall(seed, 2_000, "3s").seen.counts;
        assert!((1_300..=1_400).contains(&counts.due()), "{counts:?}");
        assert!((300..=350).contains(&counts.late()), "{counts:?}");
        assert_eq!((counts.due(), counts.unsent()), (counts.sent(), 0), "{counts:?}");
        // The plan ends within the stall: each connection has three or four more turns, and sends one of them.
        let counts = with_a_stall(seed, 6_000, "3s").seen.counts;
        assert!((1_300..=1_400).contains(&counts.due()), "{counts:?}");
        assert!((960..=1_050).contains(&counts.late()), "{counts:?}");
        assert_eq!(counts.due(), counts.sent() + counts.unsent(), "{counts:?}");
        assert!((860..=950).contains(&counts.unsent()), "{counts:?}");
        assert_eq!((counts.answered(), counts.unanswered()), (counts.sent(), 0), "{counts:?}");
    }
}

/// A driver that is alone in its network: its waits take their full length, in virtual time.
struct Alone {
    network: Network,
    driver: SimDriver,
}

impl Driver for Alone {
    fn sockets(&mut self) -> &mut dyn Sockets {
        self.driver.sockets()
    }

    fn now(&self) -> Nanos {
        self.driver.now()
    }

    fn waker(&self) -> Waker {
        self.driver.waker()
    }

    fn wait(&mut self, until: Nanos, handle: impl FnMut(&mut dyn Sockets, Event<'_>)) -> Result<(), std::io::Error> {
        self.driver.wait(until, handle)?;
        self.network.next().expect("a wait ends");
        Ok(())
    }

    fn has_more(&self) -> bool {
        self.driver.has_more()
    }
}

/// Reports of a shard that are not taken do not pile up, and nothing of them is lost.
#[test]
fn a_run_that_does_not_listen_is_reported_little() {
    let flags =
        Flags { url: Some("ws://10.0.0.1:1/".to_owned()), connections: Some("3".to_owned()), ..Flags::default() };
    let hold = HoldFlags { common: flags, reconnect: true, hold: Some("30s".to_owned()), ..HoldFlags::default() };
    let plan = hold.plan().expect("a good plan");
    // There is no listener there, so each connection is tried again and again.
    let job = Arc::new(HoldConfig::new(
        &plan,
        EndpointRotation::new(Places::these(&["10.0.0.1:1".parse().expect("an address")]), None),
        None,
    ));
    let network = Network::new(1, Faults::none());
    let mut driver = Alone { driver: network.add_host(), network: network.clone() };
    let world = HoldRuntime::new(job, Segment::share(0, 1), driver.sockets());
    let ((reports, reported), (start, begins), (_take, taken)) =
        (std::sync::mpsc::channel(), std::sync::mpsc::channel(), std::sync::mpsc::channel());
    let orders = Arc::new(Orders::new(&plan, 1));
    start.send(driver.now()).expect("it listens");
    let channels = HoldChannels { shard: 0, reports, taken, orders, stop: crate::StopHandle::default() };
    run(driver, world, &channels, &begins);
    drop(channels);
    let (mut intervals, mut tried, mut failed) = (0, 0, 0);
    for report in reported {
        let (is_interval, seen) = match report {
            Report::Interval { seen, .. } => (true, seen),
            Report::Over { seen, .. } => (false, seen),
            _ => continue,
        };
        intervals += usize::from(is_interval);
        tried += seen.counts.tried();
        failed += seen.counts.failed_in_all() + seen.counts.abandoned();
    }
    assert!(network.now() > Nanos::from_millis(30_000), "thirty intervals passed");
    assert_eq!(intervals, REPORTS_MAX);
    assert!(tried > 3 && tried == failed, "{tried} tried, {failed} failed");
}
