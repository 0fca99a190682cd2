//! The engine's times compared with those that the target knows: delays of three shapes, and a freeze at packet level.

use metrics::{Class, Measure};
use pacing::Nanos;
use plan::Flags;

use crate::world::{LATENCY, World, flags, is_by_arithmetic};

const MILLI: u64 = 1_000_000;
/// A network round trip.
const ROUND_TRIP: u64 = 2 * LATENCY.0;

fn text(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

/// `theory`: the median and the 90th percentile of the shape, in milliseconds.
fn delays(path: &str, theory: [f64; 2]) {
    const COUNT: u64 = 20_000;
    const CONNECTIONS: u64 = 60;
    let load = Flags { rate: text(500), requests: text(COUNT), connections: text(CONNECTIONS), ..flags(path) };
    let (plan, mut world) = (load.plan().expect("a good plan"), World::default());
    let finished = world.play(Vec::new(), Some((&plan, 2))).finished.expect("a load");
    assert_eq!((finished.total.counts.started(), finished.total.counts.succeeded()), (COUNT, COUNT));
    let (held, times) = (world.target().held(), finished.total.class(Class::Succeeded));
    let service = times.by_measure(Measure::Service);
    assert_eq!((service.count(), held.count()), (COUNT, COUNT));
    // Each took as long as its response was delayed, plus the round trip: so did the shortest, the longest, and the sum
    // of all.
    let [ours, theirs] = [service, &held].map(|times| u64::try_from(times.sum()).expect("hours"));
    is_by_arithmetic(ours, theirs + COUNT * ROUND_TRIP, 5 * COUNT);
    // While connections are established an exchange may wait behind the events of all of them.
    for (ours, theirs) in [(service.min(), held.min()), (service.max(), held.max())] {
        is_by_arithmetic(ours.expect("some"), theirs.expect("some") + ROUND_TRIP, 3 * CONNECTIONS);
    }
    // A quantile of 20,000 random times is known to about a hundredth.
    for (quantile, expect) in [0.5, 0.9].into_iter().zip(theory) {
        let ours = held.quantile(quantile).expect("some") as f64 / MILLI as f64;
        assert!((ours / expect - 1.0).abs() <= 0.012, "{path} {quantile}: {ours} ms, {expect} ms in theory");
    }
}

#[test]
fn a_constant_delay() {
    delays("/delay/5", [5.0, 5.0]);
}

#[test]
fn a_uniform_delay() {
    delays("/delay/uniform/10-50", [30.0, 46.0]);
}

#[test]
fn a_lognormal_delay() {
    // exp(1.28155 * 0.5) times the median.
    delays("/delay/lognormal/20,0.5", [20.0, 37.96]);
}

/// Little's law: users that wait only for responses are all busy, from when they are connected to the end.
#[test]
fn users_are_busy() {
    const USERS: u64 = 50;
    let load = Flags { connections: text(USERS), requests: text(30_000), ..flags("/") };
    let (plan, mut world) = (load.plan().expect("a good plan"), World::default());
    let finished = world.play(Vec::new(), Some((&plan, 1))).finished.expect("a load");
    let class = finished.total.class(Class::Succeeded);
    let service = class.by_measure(Measure::Service);
    let busy = service.sum() as f64 / (USERS * (finished.wall.0 - ROUND_TRIP)) as f64;
    assert_eq!((service.count(), service.min() >= Some(ROUND_TRIP)), (30_000, true));
    assert!((0.99..=1.0).contains(&busy), "{busy} of {USERS} users were busy");
}

/// The span in which the target is frozen.
const FREEZE: [Nanos; 2] = [Nanos::from_millis(1_500), Nanos::from_millis(2_500)];

/// 1,000 starts a second for four seconds on ten connections. A start without a free connection waits for one; after
/// the freeze the target answers all received requests at once. So all times can be computed.
#[test]
fn a_freeze() {
    let load =
        Flags { rate: text(1_000), requests: text(4_000), connections: text(10), preconnect: true, ..flags("/") };
    let (plan, mut world) = (load.plan().expect("a good plan"), World::default());
    world.freeze(FREEZE[0], FREEZE[1]);
    let finished = world.play(Vec::new(), Some((&plan, 1))).finished.expect("a load");
    assert_eq!((finished.total.counts.started(), finished.total.counts.succeeded()), (4_000, 4_000));
    // The first starts to wait find connections that have just been established.
    let (mut free, mut responses, mut services) = (vec![ROUND_TRIP; 10], Vec::new(), Vec::new());
    for number in 0..4_000 {
        let intended = number * MILLI;
        free.sort_unstable();
        let sent = intended.max(free[0]);
        let arrived = sent + LATENCY.0;
        let is_frozen = (FREEZE[0].0..FREEZE[1].0).contains(&arrived);
        free[0] = if is_frozen { FREEZE[1].0 } else { arrived } + LATENCY.0;
        responses.push(free[0] - intended);
        services.push(free[0] - sent);
    }
    let times = finished.total.class(Class::Succeeded);
    for (measure, by_hand) in [(Measure::Response, responses), (Measure::Service, services)] {
        let ours = times.by_measure(measure);
        let longest = by_hand.iter().copied().max().expect("some");
        is_by_arithmetic(ours.max().expect("some"), longest, 100);
        // A start that waits for earlier ones waits for their events too: four for each of some 1,100.
        let sum = u64::try_from(ours.sum()).expect("hours");
        is_by_arithmetic(sum, by_hand.iter().sum(), 4 * 1_100 * 1_100 / 2);
        let slow = by_hand.iter().filter(|time| **time >= 100 * MILLI).count() as u64;
        let ours = ours.count_between(100 * MILLI, u64::MAX);
        assert!((slow..=slow + 5).contains(&ours), "{measure:?}: {ours} slow ones, {slow} by arithmetic");
    }
    // One slow exchange for each connection, and hundreds of slow responses.
    assert_eq!(times.by_measure(Measure::Service).count_between(100 * MILLI, u64::MAX), 10);
    assert!(times.by_measure(Measure::Response).count_between(100 * MILLI, u64::MAX) >= 900);
}

/// The closed model has the same few slow exchanges, and its response times include no more than these.
#[test]
fn a_freeze_under_a_closed_load() {
    let load = Flags { connections: text(10), duration: text("3s"), ..flags("/delay/5") };
    let (plan, mut world) = (load.plan().expect("a good plan"), World::default());
    world.freeze(Nanos::from_millis(500), Nanos::from_millis(1_500));
    let finished = world.play(Vec::new(), Some((&plan, 1))).finished.expect("a load");
    assert_eq!(finished.total.counts.started(), finished.total.counts.succeeded());
    let times = finished.total.class(Class::Succeeded);
    for measure in [Measure::Response, Measure::Service] {
        let times = times.by_measure(measure);
        assert_eq!(times.count_between(100 * MILLI, u64::MAX), 10, "{measure:?}");
        assert!(times.quantile(0.99) < Some(6 * MILLI), "{measure:?}: {:?}", times.quantile(0.99));
    }
}
