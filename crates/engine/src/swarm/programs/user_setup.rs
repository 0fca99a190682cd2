//! Work of users before their first iteration and after their last, and the pacing between them.

use std::time::Duration;

use pacing::Nanos;
use plan::{Flags, Node, OnFailure, Plan, Program, UserShape, UserStage};

use super::{answered, ask, fixed, or, plan, played, users};
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

fn lasting(count: u64, time: &str) -> Flags {
    let duration = Some(time.to_owned());
    Flags { connections: Some(count.to_string()), duration, ..Flags::default() }
}

fn run(plan: Plan, threads: usize) -> History {
    played(Setup { plan, threads, ..Setup::calm(11) })
}

fn steps(history: &History) -> [u64; 3] {
    [0, 1, 2].map(|step| answered(history, step))
}

#[test]
fn each_user_starts_and_stops_once() {
    let paths = ["/", "/delay/10", "/"];
    for threads in [1, 2, 7] {
        let history = run(three(&paths, users(7, 300)), threads);
        let counts = &history.total.counts;
        assert_eq!(steps(&history), [7, 300, 7], "{threads}");
        assert_eq!((counts.iterations(), counts.iterations_cut(), counts.started()), (300, 0, 314), "{threads}");
        // The same when time ends it: a user in an iteration is cut off, and stops then.
        let history = run(three(&paths, lasting(7, "1s")), threads);
        let [started, requested, stopped] = steps(&history);
        assert_eq!((started, stopped), (7, 7), "{threads}");
        assert!(requested >= 7 * 60, "{requested}");
    }
    // More users than iterations: a user without one starts none.
    let history = run(three(&paths, users(7, 3)), 1);
    assert_eq!(steps(&history), [3, 3, 3]);
}

#[test]
fn who_thinks_when_the_load_ends_stops_all_the_same() {
    let mut plan = three(&["/", "/", "/"], lasting(5, "2s"));
    plan.scenarios[0].program.nodes = vec![ask(1), fixed(60_000)];
    let history = run(plan, 2);
    assert_eq!(steps(&history), [5, 5, 5]);
    assert!(history.wall < Nanos(3 * SECOND), "{:?}", history.wall);
    assert_eq!(history.total.counts.iterations_cut(), 5);
}

#[test]
fn a_start_that_fails_is_tried_again_and_no_iteration_begins() {
    // At 0, 1, 3, 7 and 15 s; nothing was begun that would need a stop, and the outcome is the same.
    let history = run(three(&["/status/500", "/", "/"], lasting(4, "20s")), 2);
    assert_eq!(steps(&history), [4 * 5, 0, 4]);
    assert_eq!((history.total.counts.iterations(), history.total.counts.iterations_failed()), (0, 0));
    // A failure in a stop ends it, and it is not retried.
    let history = run(three(&["/", "/", "/status/500"], users(4, 40)), 2);
    assert_eq!(steps(&history), [4, 40, 4]);
    assert_eq!(history.total.counts.iterations(), 40);
}

#[test]
fn users_that_leave_and_come_back_stop_and_start() {
    let mut plan = three(&["/", "/delay/10", "/"], lasting(4, "3s"));
    let stage = |users, millis| UserStage { from: users, to: users, span: Duration::from_millis(millis) };
    let shape = UserShape::Stages(vec![stage(4, 1_000), stage(1, 1_000), stage(4, 1_000)]);
    plan.scenarios[0].load =
        plan::Load::Closed { users: 4, shape, requests: None, duration: Some(Duration::from_secs(3)) };
    let history = run(plan, 2);
    let [started, _, stopped] = steps(&history);
    // Four come, three leave and come back, and all leave in the end.
    assert_eq!((started, stopped), (7, 7));
}

#[test]
fn iterations_start_so_often_and_each_user_has_so_many() {
    for threads in [1, 3] {
        let mut plan = plan(&[(&["/delay/10"], vec![ask(0)])], lasting(3, "2050ms"));
        plan.scenarios[0].every = Some(Duration::from_millis(100));
        let history = run(plan, threads);
        // At 0, 100, ... 2,000 ms.
        assert_eq!((answered(&history, 0), history.total.counts.dropped()), (3 * 21, 0), "{threads}");
        // An iteration that takes longer than the pacing is followed at once by the next, which counts from there.
        let mut plan = super::plan(&[(&["/delay/150"], vec![ask(0)])], lasting(3, "1550ms"));
        plan.scenarios[0].every = Some(Duration::from_millis(100));
        let late = answered(&run(plan, threads), 0);
        assert!((3 * 9..=3 * 11).contains(&late), "{late}");
        let mut plan =
            super::plan(&[(&["/"], vec![ask(0)])], Flags { duration: Some("60s".to_owned()), ..users(5, 1_000) });
        plan.scenarios[0].load =
            plan::Load::Closed { users: 5, shape: UserShape::AtOnce, requests: None, duration: None };
        plan.scenarios[0].iterations_per_user = Some(20);
        let history = run(plan, threads);
        assert_eq!((answered(&history, 0), history.was_stopped), (100, false), "{threads}");
    }
}

#[test]
fn a_scenario_begins_later() {
    for shape in [UserShape::AtOnce, UserShape::Ramp(Duration::from_millis(100))] {
        let both: [(&[&str], Vec<Node>); 2] = [(&["/delay/10"], vec![ask(0)]), (&["/delay/10"], vec![ask(0)])];
        let mut plan = plan(&both, lasting(2, "1s"));
        plan.scenarios[1].begin = Duration::from_secs(2);
        plan.scenarios[1].load =
            plan::Load::Closed { users: 2, shape, requests: None, duration: Some(Duration::from_secs(1)) };
        let history = run(plan, 2);
        let later = &history.others[0];
        let (first, second) = (history.total.counts.succeeded(), later.total.counts.succeeded());
        assert!(second > 0 && first.abs_diff(second) <= first / 8, "{first} {second}");
        assert!(
            history.wall >= Nanos(3 * SECOND) && history.wall < Nanos(3 * SECOND + SECOND / 2),
            "{:?}",
            history.wall
        );
        let begun = later.reported.rows.iter().find(|row| row.started > 0).map(|row| row.from);
        assert!(begun.is_some_and(|from| from >= Nanos(SECOND)), "{begun:?}");
    }
}
