//! Work of users of a rate before their first iteration and after their last.

use std::time::Duration;

use metrics::{Class, Measure, SeriesId};
use pacing::Nanos;
use pacing::change::ChangeKind;
use plan::{ConnectionCount, Flags, Load, Node, OnFailure, Plan, Program};

use super::{answered, ask, fixed, or, plan, played, rate};
use crate::swarm::history::{History, Setup};

const SECOND: u64 = 1_000_000_000;

/// A plan with `on_start` (step 0), an iteration (step 1) and `on_stop` (step 2).
fn three(paths: &[&str], flags: Flags) -> Plan {
    let mut plan = plan(&[(paths, vec![ask(1)])], flags);
    let program = &mut plan.scenarios[0].program;
    *program =
        Program { start: vec![or(0, OnFailure::Next)], stop: vec![or(2, OnFailure::Next)], ..std::mem::take(program) };
    plan
}

fn run(plan: Plan, threads: usize) -> History {
    played(Setup { plan, threads, ..Setup::calm(11) })
}

fn steps(history: &History) -> [u64; 3] {
    [0, 1, 2].map(|step| answered(history, step))
}

fn connections(plan: &mut Plan, count: ConnectionCount) {
    if let Load::Open { connections, .. } = &mut plan.scenarios[0].load {
        *connections = count;
    }
}

/// The slowest of a step, in milliseconds.
fn slowest(history: &History, step: u32) -> u64 {
    let timings = history.total.timings(SeriesId::step(step), Class::Succeeded).expect("some went well");
    timings.by_measure(Measure::Response).max().expect("some") / 1_000_000
}

#[test]
fn each_user_starts_and_stops_once_and_the_rate_stays() {
    for threads in [1, 2, 7] {
        for flags in [rate("100", "3s"), Flags { requests: Some("300".to_owned()), ..rate("100", "60s") }] {
            let history = run(three(&["/delay/5", "/delay/50", "/delay/5"], flags), threads);
            let [started, requested, stopped] = steps(&history);
            assert_eq!((requested, started), (300, stopped), "{threads}");
            // About six are busy at a time on one shard.
            assert!((threads.min(5) as u64..=40).contains(&started), "{threads}: {started}");
            let counts = &history.total.counts;
            assert_eq!((counts.iterations(), counts.iterations_cut(), counts.dropped()), (300, 0, 0), "{threads}");
            assert_eq!((counts.started(), counts.unfinished()), (300 + 2 * started, 0), "{threads}");
            assert!(history.wall < Nanos(3 * SECOND + SECOND / 4), "{threads}: {:?}", history.wall);
        }
    }
}

/// A login of 500 ms: a start that is due waits for it, and that is in the time of the iteration.
#[test]
fn getting_ready_is_part_of_the_response_time() {
    for threads in [1, 2] {
        let history = run(three(&["/delay/500", "/delay/10", "/"], rate("10", "4s")), threads);
        let [started, requested, stopped] = steps(&history);
        assert_eq!((requested, started), (40, stopped), "{threads}");
        // One for each start that came while no user was ready.
        assert!((4..=12).contains(&started), "{threads}: {started}");
        assert!((505..540).contains(&slowest(&history, 1)), "{threads}: {} ms", slowest(&history, 1));
        assert!(slowest(&history, 0) < 520, "{threads}: {} ms", slowest(&history, 0));
        // Users that are there from the beginning are ready when the first start is due.
        let mut plan = three(&["/delay/500", "/delay/10", "/"], rate("10", "4s"));
        connections(&mut plan, ConnectionCount::Exactly(6));
        let Load::Open { stages, .. } = &mut plan.scenarios[0].load else { panic!("it has a rate") };
        stages.insert(0, plan::RateStage { from: 0, to: 0, span: Duration::from_secs(1) });
        let history = run(plan, threads);
        assert_eq!(steps(&history), [6, 40, 6], "{threads}");
        assert!(slowest(&history, 1) < 20, "{threads}: {} ms", slowest(&history, 1));
    }
}

/// At the end, a user that pauses in the middle of an iteration is cut off and stops; one that never began has nothing
/// to stop.
#[test]
fn the_end_of_a_load_lets_all_stop() {
    for threads in [1, 2, 7] {
        let mut plan = three(&["/", "/", "/"], rate("20", "2s"));
        plan.scenarios[0].program.nodes = vec![ask(1), fixed(60_000), ask(1)];
        plan.scenarios[0].program.stop = vec![fixed(200), or(2, OnFailure::Next)];
        let history = run(plan, threads);
        assert_eq!(steps(&history), [40, 40, 40], "{threads}");
        assert_eq!((history.total.counts.iterations(), history.total.counts.iterations_cut()), (0, 40), "{threads}");
        assert!(history.wall < Nanos(2 * SECOND + SECOND / 2), "{threads}: {:?}", history.wall);
        // All are opened, and one works.
        let mut plan = three(&["/", "/", "/"], rate("5", "2s"));
        plan.scenarios[0].program.start = Vec::new();
        connections(&mut plan, ConnectionCount::Exactly(7));
        let history = run(plan, threads);
        let [started, requested, stopped] = steps(&history);
        assert!(started == 0 && requested == 10 && (1..=7).contains(&stopped), "{threads}: {stopped}");
    }
}

/// A start that waits when the load ends was due before: it is served by users that get ready then.
#[test]
fn starts_that_wait_at_the_end_are_served() {
    for threads in [1, 2] {
        let flags = Flags { grace: Some("5s".to_owned()), ..rate("10", "1s") };
        let mut plan = three(&["/delay/900", "/", "/"], flags);
        plan.scenarios[0].program.start = vec![or(0, OnFailure::Next), or(0, OnFailure::Next)];
        let history = run(plan, threads);
        let [started, requested, stopped] = steps(&history);
        let counts = &history.total.counts;
        assert_eq!((requested, counts.unfinished(), counts.dropped()), (10, 0, 0), "{threads}");
        // A user that was in the first half when no start waited any more went no further.
        assert!((11..=20).contains(&started) && stopped <= 10, "{threads}: {started} {stopped}");
        assert!((1_800..1_900).contains(&slowest(&history, 1)), "{threads}: {} ms", slowest(&history, 1));
        assert!(history.wall < Nanos(3 * SECOND), "{threads}: {:?}", history.wall);
    }
}

/// No user gets ready: what is due waits as long as it may, and is dropped.
#[test]
fn a_start_that_fails_is_tried_again_and_what_is_due_waits() {
    for threads in [1, 2] {
        let flags = Flags { max_lateness: Some("500ms".to_owned()), ..rate("4", "10s") };
        let mut plan = three(&["/status/500", "/", "/"], flags);
        connections(&mut plan, ConnectionCount::UpTo(2));
        let history = run(plan, threads);
        let [started, requested, stopped] = steps(&history);
        let counts = &history.total.counts;
        // At 0, 1, 3 and 7 s, each of two; the second begins a little later.
        assert_eq!((started, requested, stopped), (8, 0, 2), "{threads}");
        assert!(counts.dropped() >= 38 && counts.dropped() + counts.unfinished() == 40, "{threads}: {counts:?}");
        assert!(history.wall < Nanos(11 * SECOND), "{threads}: {:?}", history.wall);
    }
}

#[test]
fn a_pause_holds_users_that_get_ready() {
    for threads in [1, 2] {
        let mut plan = three(&["/delay/50", "/delay/20", "/"], rate("50", "2s"));
        plan.scenarios[0].program.start = vec![or(0, OnFailure::Next), fixed(100), or(0, OnFailure::Next)];
        let second = Nanos(SECOND);
        let changes = vec![(Nanos(0), 0, ChangeKind::Pause), (second, 0, ChangeKind::Resume)];
        let history = played(Setup { plan, threads, changes, ..Setup::calm(11) });
        let [started, requested, stopped] = steps(&history);
        let counts = &history.total.counts;
        assert_eq!((requested, counts.dropped(), counts.unfinished()), (100, 0, 0), "{threads}");
        assert_eq!(started, 2 * stopped, "{threads}");
        assert!(history.wall >= Nanos(2 * SECOND + SECOND / 2), "{threads}: {:?}", history.wall);
    }
}

/// Each conversation has a connection of its own, also those of starts that wait for their user when the load is over.
#[test]
fn a_start_that_waits_gets_no_connection_of_an_earlier_conversation() {
    for threads in [1, 2] {
        let flags = Flags { connections: Some("2".to_owned()), ..rate("20", "1s") };
        let mut plan = plan(&[(&["/delay/300"], Vec::new())], flags);
        plan.scenarios[0].program.nodes = vec![Node::Messaging { target: 0, nodes: vec![ask(0)] }];
        let history = played(Setup { plan, threads, ..Setup::calm(11) });
        let counts = &history.total.counts;
        assert_eq!((counts.started(), counts.succeeded()), (20, 20), "{threads}: {counts:?}");
        assert!(history.wall > Nanos::from_millis(2_500), "{threads}: {:?}", history.wall);
        assert_eq!(counts.connections_established(), 20, "{threads}");
    }
}
