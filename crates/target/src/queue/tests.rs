use super::*;

fn shape(path: &str, query: &str) -> QueueShape {
    QueueShape::parse(path, query).expect("a queue")
}

const MILLI: u64 = 1_000_000;

#[test]
fn paths_are_read() {
    let plain =
        QueueShape { workers: 4, mean: Nanos(10 * MILLI), is_even: false, leak_percent: 0, room: 0, stall: None };
    assert_eq!(QueueShape::parse("4/10", ""), Some(plain));
    assert_eq!(QueueShape::parse("4/10/even", "x=1"), Some(QueueShape { is_even: true, ..plain }));
    let stall = Some((Nanos(30_000 * MILLI), Nanos(500 * MILLI)));
    let all = QueueShape { leak_percent: 20, room: 100, stall, ..plain };
    assert_eq!(QueueShape::parse("4/10", "leak=20&room=100&stall=30000/500"), Some(all));
    for (path, query) in [
        ("0/10", ""),
        ("4097/10", ""),
        ("4", ""),
        ("4/0", ""),
        ("4/10/odd", ""),
        ("4/10/even/more", ""),
        ("-1/10", ""),
        ("4/10", "leak"),
        ("4/10", "leak=x"),
        ("4/10", "stall=5"),
        ("4/10", "stall=0/5"),
    ] {
        assert_eq!(QueueShape::parse(path, query), None, "{path}?{query}");
    }
}

/// One worker, 10 ms each: computed by hand.
#[test]
fn a_worker_serves_in_turn() {
    let mut queues = Queues::new(1);
    let mut departs = |ms: u64| queues.arrive(shape("1/10/even", ""), Nanos(ms * MILLI)).map(|at| at.0 / MILLI);
    assert_eq!([0, 5, 12, 100, 101].map(&mut departs), [10, 20, 30, 110, 120].map(Some));
}

#[test]
fn two_workers_serve_two() {
    let mut queues = Queues::new(1);
    let mut departs = |ms: u64| queues.arrive(shape("2/10/even", ""), Nanos(ms * MILLI)).map(|at| at.0 / MILLI);
    assert_eq!([0, 1, 2, 3].map(&mut departs), [10, 11, 20, 21].map(Some));
}

#[test]
fn who_finds_no_room_is_refused() {
    let mut queues = Queues::new(1);
    let mut departs = |ms: u64| queues.arrive(shape("1/10/even", "room=2"), Nanos(ms * MILLI)).is_some();
    assert_eq!([0, 1, 2, 9, 10, 11].map(&mut departs), [true, true, false, false, true, false]);
}

/// The service times are as configured, and all departures can be recomputed from the log.
#[test]
fn the_log_says_when_each_leaves() {
    let mut queues = Queues::new(7);
    let mut free = [Nanos::ZERO; 3];
    for k in 0..20_000u64 {
        let _ = queues.arrive(shape("3/10", ""), Nanos(k * 4 * MILLI));
    }
    let mut sum = 0.0;
    for service in &queues.log {
        let first = free.iter_mut().min().expect("three");
        *first = service.arrived.max(*first) + service.span;
        assert_eq!(*first, service.departs);
        sum += service.span.as_secs_f64();
    }
    let mean = sum / queues.log.len() as f64;
    // The standard error of the mean is 1/140 of it.
    assert!((mean / 0.010 - 1.0).abs() < 0.03, "{mean}");
    assert_eq!(queues.log_csv().lines().count(), 20_001);
}

/// M/M/1 at half of its capacity: a tenth of all stay longer than ln(10) / (mu - lambda).
#[test]
fn times_are_those_of_theory() {
    let (mut queues, mut random) = (Queues::new(3), Random::new(5));
    let (mut at, mut longer) = (0.0, 0);
    let count = 60_000;
    for _ in 0..count {
        at += exponential(&mut random) * 20.0;
        let arrived = Nanos((at * 1e6) as u64);
        let departs = queues.arrive(shape("1/10", ""), arrived).expect("room");
        longer += u32::from(departs.since(arrived).as_secs_f64() > 10f64.ln() / 50.0);
    }
    let share = f64::from(longer) / f64::from(count);
    assert!((share - 0.1).abs() < 0.01, "{share}");
}

/// A stall delays all requests by its length, and its share of time is as requested.
#[test]
fn workers_stand_still() {
    let mut queues = Queues::new(9);
    let requested = shape("1/1/even", "stall=1000/200");
    let mut late = 0;
    for k in 0..10_000u64 {
        let at = Nanos(k * 10 * MILLI);
        late += u64::from(queues.arrive(requested, at).expect("room").since(at).0 > MILLI);
    }
    // 200 of 1,200 ms, with arrivals every 10 ms; some wait for delayed ones.
    assert!((1_300..2_400).contains(&late), "{late}");
}

#[test]
fn services_grow_with_a_leak() {
    let mut queues = Queues::new(1);
    let requested = shape("1/10/even", "leak=50");
    let spans = [0, 60_000, 120_000].map(|ms| {
        let at = Nanos(ms * MILLI);
        queues.arrive(requested, at).expect("room").since(at).0 / MILLI
    });
    assert_eq!(spans, [10, 15, 20]);
}

#[test]
fn queues_do_not_pile_up() {
    let mut queues = Queues::new(1);
    for workers in 1..1_000 {
        let _ = queues.arrive(shape(&format!("{workers}/1"), ""), Nanos(workers));
    }
    assert_eq!(queues.lines.len(), QUEUES_MAX);
    for k in 0..70_000 {
        let _ = queues.arrive(shape("1/0.001", ""), Nanos(k));
    }
    assert_eq!(queues.log.len(), LOGGED_MAX);
}
