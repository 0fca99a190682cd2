//! Loads with known truth: 27 kinds of targets, each with several services and numbers of users.

use super::target::{Discipline, Limiter, Nodes, Pace, Servers, Shape, Target};

/// A simulated load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) kind: &'static str,
    /// The target does not change, and serves no other users.
    pub(super) is_still: bool,
    pub(super) target: Target,
    pub(super) users: usize,
}

/// Numbers of users for targets where the smallest numbers are the most telling.
const USERS: [usize; 7] = [2, 4, 5, 6, 8, 20, 60];
const USERS_FEWER: [usize; 4] = [4, 8, 20, 60];
const USERS_MANY: [usize; 2] = [100, 400];
/// Service time of a server that serves 200 requests a second.
const SERVICE_S: f64 = 0.005;

const AUTOSCALING: [(&str, usize, usize, f64); 4] = [
    ("autoscaling 2 to 8 at 2.5 s", 2, 8, 2.5),
    ("autoscaling 2 to 16 at 4.0 s", 2, 16, 4.0),
    ("autoscaling 1 to 4 at 4.8 s", 1, 4, 4.8),
    ("autoscaling 2 to 8 at 5.1 s", 2, 8, 5.1),
];
const BACKGROUND: [(&str, Discipline, f64); 6] = [
    ("background 30 %, fifo 4", Discipline::Fifo, 0.3),
    ("background 60 %, fifo 4", Discipline::Fifo, 0.6),
    ("background 85 %, fifo 4", Discipline::Fifo, 0.85),
    ("background 30 %, sharing 4", Discipline::Sharing, 0.3),
    ("background 60 %, sharing 4", Discipline::Sharing, 0.6),
    ("background 85 %, sharing 4", Discipline::Sharing, 0.85),
];

fn of(discipline: Discipline, servers: usize) -> Target {
    Target {
        discipline,
        servers: Servers::Fixed(servers),
        shape: Shape::Deterministic,
        service_s: SERVICE_S,
        pace: Pace::Constant,
        round_trip_s: 0.0,
        background_per_s: 0.0,
        nodes: Nodes::InTurn(1),
        limiter: None,
        failing_per_million: 0,
    }
}

pub(super) fn fifo(servers: usize) -> Target {
    of(Discipline::Fifo, servers)
}

pub(super) fn delay() -> Target {
    of(Discipline::Delay, 1)
}

/// Targets that do not change.
fn still() -> Vec<(&'static str, Target, &'static [usize])> {
    let limiter = Some(Limiter { per_s: 200.0, burst: 20.0, refusal_s: 0.0005 });
    let trip = |round_trip_s| Target { round_trip_s, ..of(Discipline::Sharing, 2) };
    vec![
        ("fifo 1", fifo(1), &USERS),
        ("fifo 4", fifo(4), &USERS),
        ("sharing 4", of(Discipline::Sharing, 4), &USERS),
        ("delay", delay(), &USERS),
        ("sharing 2, far away", trip(SERVICE_S), &USERS_FEWER),
        ("sharing 2, far away", trip(4.0 * SERVICE_S), &USERS_FEWER),
        ("2 nodes, connections in turn", Target { nodes: Nodes::InTurn(2), ..fifo(2) }, &USERS_FEWER),
        ("4 prefork workers", Target { nodes: Nodes::AtRandom(4), ..fifo(1) }, &USERS_FEWER),
        ("limiter of 200/s", Target { limiter, ..delay() }, &USERS_FEWER),
        ("1 % failures, fifo 4", Target { failing_per_million: 10_000, ..fifo(4) }, &USERS_FEWER),
        ("slow fifo 4, 50 ms", Target { service_s: 0.05, ..fifo(4) }, &USERS_FEWER),
        ("slow delay, 300 ms", Target { service_s: 0.3, ..delay() }, &USERS_FEWER),
        ("fifo 4, 20 ms, many users", Target { service_s: 0.02, ..fifo(4) }, &USERS_MANY),
    ]
}

/// Targets that change while they are loaded, or have background load.
fn moving() -> Vec<(&'static str, Target)> {
    let mut all = Vec::new();
    for until_s in [1.0, 2.5, 4.5] {
        let pace = Pace::SlowStart { until_s };
        all.push(("slow start, delay", Target { pace, ..delay() }));
        all.push(("slow start, fifo 4", Target { pace, ..fifo(4) }));
    }
    for scale_s in [1.0, 3.0] {
        let pace = Pace::CacheFills { scale_s };
        all.push(("cache fills, delay", Target { pace, ..delay() }));
        all.push(("cache fills, fifo 4", Target { pace, ..fifo(4) }));
    }
    all.push(("grows slower, fifo 4", Target { pace: Pace::GrowsSlower { twice_at_s: 2.5 }, ..fifo(4) }));
    all.extend(AUTOSCALING.map(|(kind, from, to, at_s)| {
        let servers = Servers::Scaled { from, to, at_s };
        (kind, Target { servers, ..fifo(from) })
    }));
    all.extend(BACKGROUND.map(|(kind, discipline, share)| {
        let background_per_s = share * 4.0 / SERVICE_S;
        (kind, Target { background_per_s, ..of(discipline, 4) })
    }));
    all
}

/// All cases, split into `parts`, each with its share of each kind.
pub(super) fn all(parts: usize) -> Vec<Case> {
    let still = still().into_iter().map(|(kind, target, users)| (kind, true, target, users));
    let moving = moving().into_iter().map(|(kind, target)| (kind, false, target, &USERS_FEWER[..]));
    let mut all = Vec::new();
    for (kind, is_still, target, users) in still.chain(moving) {
        for shape in Shape::ALL {
            let target = Target { shape, ..target };
            all.extend(users.iter().map(|users| Case { kind, is_still, target, users: *users }));
        }
    }
    let mut random = pacing::Random::new(3);
    (1..all.len()).rev().for_each(|last| all.swap(last, random.below(last as u64 + 1) as usize));
    all.sort_by_key(|case| (case.is_still, case.kind));
    (0..parts).flat_map(|part| all.iter().skip(part).step_by(parts).copied()).collect()
}
