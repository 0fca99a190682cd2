//! Users that wait for others in the middle of their programs.

use std::time::Duration;

use metrics::{Class, Measure, SeriesId};
use pacing::Nanos;
use plan::{Barrier, Flags, Node, OnFailure, Plan, Program, Think, UserShape, UserStage};

use super::{answered, ask, fixed, or, plan, played, rate, users};
use crate::BarrierStats;
use crate::swarm::history::{History, Setup};

const SECOND: u64 = 1_000_000_000;

/// A random pause, so that users come to the barrier one after the other, within 900 ms.
fn apart() -> Node {
    Node::Think(Think::Uniform(Duration::from_millis(100), Duration::from_millis(1_000)))
}

fn barrier(users: u64, within: Option<u64>) -> Barrier {
    Barrier { name: "peak".to_owned(), users, within: within.map(Duration::from_millis) }
}

fn run(mut plan: Plan, barriers: Vec<Barrier>, threads: usize) -> History {
    plan.barriers = barriers;
    played(Setup { plan, threads, ..Setup::calm(11) })
}

fn met(users: u64, full: u64, by_time: u64, short: u64) -> Vec<BarrierStats> {
    vec![BarrierStats { name: "peak".to_owned(), users, full, by_time, short }]
}

fn lasting(count: u64, time: &str) -> Flags {
    Flags { connections: Some(count.to_string()), duration: Some(time.to_owned()), ..Flags::default() }
}

/// The target serves one at a time, for a millisecond each: of requests that arrive in one instant the k-th waits k ms;
/// requests that arrive apart do not wait for each other.
#[test]
fn all_go_on_in_one_instant_and_each_round_forms_anew() {
    let rounds = 12;
    for threads in [1, 2, 7] {
        let nodes = vec![apart(), Node::Barrier(0), ask(0)];
        let plan = plan(&[(&["/serial/1"], nodes)], users(20, 20 * rounds));
        let history = run(plan, vec![barrier(20, None)], threads);
        assert_eq!(answered(&history, 0), 20 * rounds, "{threads}");
        assert_eq!(history.met, met(20, rounds, 0, 0), "{threads}");
        let seen = history.total.class(Class::Succeeded);
        let (service, response) = (seen.by_measure(Measure::Service), seen.by_measure(Measure::Response));
        for place in 1..=20 {
            let within = |at: u64| at * SECOND / 1_000;
            let there = service.count_between(within(place) - 300_000, within(place) + 700_000);
            assert_eq!(there, rounds, "{threads} threads, place {place}: {:?}", service.mean());
        }
        // Time spent waiting for others is in no time of a request.
        assert!(response.max() < Some(25_000_000), "{threads}: {:?}", response.max());
        assert!(seen.by_measure(Measure::Lateness).max() < Some(1_000_000), "{threads}");
        // In each round the slowest of twenty pauses for 100 to 1,000 ms, of a mean of 957.
        let each = history.wall.0 as f64 / 1e6 / rounds as f64;
        assert!((880.0..1_030.0).contains(&each), "{threads}: {each} ms a round");
    }
}

/// More users than a round has, on shards that do not know of each other: the next users that arrive form the next
/// round.
#[test]
fn rounds_are_of_those_that_arrive_next() {
    for threads in [1, 2, 7] {
        let nodes = vec![apart(), Node::Barrier(0), ask(0)];
        let plan = plan(&[(&["/serial/1"], nodes)], users(21, 210));
        let history = run(plan, vec![barrier(7, None)], threads);
        assert_eq!(answered(&history, 0), 210, "{threads}");
        let seen = history.total.class(Class::Succeeded);
        let BarrierStats { full, by_time, short, .. } = history.met[0];
        assert_eq!((full, by_time, short), (30, 0, 0), "{threads}");
        assert!(seen.by_measure(Measure::Service).quantile(0.999) >= Some(6_500_000), "{threads}");
    }
}

/// Nine come at once and one after 10 s: the nine wait for 2 s and go on, and the tenth does not wait.
#[test]
fn time_lets_them_go_on_and_who_is_late_passes() {
    for threads in [1, 2, 7] {
        let early: (&[&str], Vec<Node>) = (&["/serial/1"], vec![Node::Barrier(0), ask(0)]);
        let late: (&[&str], Vec<Node>) = (&["/serial/1"], vec![fixed(10_000), Node::Barrier(0), ask(0)]);
        let mut plan = plan(&[early, late], users(9, 9));
        plan.scenarios[1].load = closed(1, Some(1));
        let history = run(plan, vec![barrier(10, Some(2_000))], threads);
        let of_late = &history.others[0];
        assert_eq!((answered(&history, 0), answered_of(of_late, 1)), (9, 1), "{threads}");
        assert_eq!(history.met, met(10, 0, 1, 0), "{threads}");
        let wall = history.wall.0 / 1_000_000;
        assert!((10_000..10_100).contains(&wall), "{threads}: {wall} ms");
        // All in one instant, after 2 s.
        let service = history.total.class(Class::Succeeded);
        let service = service.by_measure(Measure::Service);
        assert!(service.max() > Some(8_500_000), "{threads}: {:?}", service.max());
        let first = history.reported.rows.iter().find(|row| row.started > 0).map(|row| (row.from, row.to));
        assert!(first.is_some_and(|(from, to)| from <= Nanos(2 * SECOND) && Nanos(2 * SECOND) <= to), "{first:?}");
    }
}

fn lasting_for(users: u64, seconds: u64) -> plan::Load {
    let duration = Some(Duration::from_secs(seconds));
    plan::Load::Closed { users, shape: UserShape::AtOnce, requests: None, duration }
}

fn closed(users: u64, requests: Option<u64>) -> plan::Load {
    plan::Load::Closed { users, shape: UserShape::AtOnce, requests, duration: None }
}

fn answered_of(history: &History, step: u32) -> u64 {
    history.total.count_of(SeriesId::step(step), Class::Succeeded)
}

/// No user waits for those that never come: the last iterations are fewer than a round, or one user has left.
#[test]
fn nobody_waits_for_those_that_cannot_come() {
    for threads in [1, 2, 7] {
        // 34 iterations of 10 users in rounds of 10: three full ones, and four that are left.
        let nodes = vec![fixed(50), Node::Barrier(0), ask(0)];
        let history = run(plan(&[(&["/"], nodes)], users(10, 40)), vec![barrier(10, None)], threads);
        assert_eq!((answered(&history, 0), &history.met), (40, &met(10, 4, 0, 0)), "{threads}");
        let nodes = vec![fixed(50), Node::Barrier(0), ask(0)];
        let history = run(plan(&[(&["/"], nodes)], users(10, 25)), vec![barrier(20, None)], threads);
        assert_eq!(answered(&history, 0), 25, "{threads}");
        assert_eq!(history.met[0].full, 0, "{threads}");
        assert!(history.met[0].short >= 3 && history.wall < Nanos(SECOND), "{threads}: {:?}", history.met);
        // A user that leaves for good is waited for no longer.
        let leaves: (&[&str], Vec<Node>) =
            (&["/status/500"], vec![fixed(300), or(0, OnFailure::Stop), Node::Barrier(0)]);
        let stays: (&[&str], Vec<Node>) = (&["/"], vec![Node::Barrier(0), ask(0)]);
        let mut plan = plan(&[stays, leaves], users(3, 3));
        plan.scenarios[1].load = closed(1, None);
        let history = run(plan, vec![barrier(4, None)], threads);
        assert_eq!((answered(&history, 0), &history.met), (3, &met(4, 0, 0, 1)), "{threads}");
        assert!(history.wall < Nanos(SECOND), "{threads}: {:?}", history.wall);
    }
}

/// Two barriers whose users wait for each other would wait forever.
#[test]
fn barriers_that_wait_for_each_other_end() {
    for threads in [1, 2] {
        let one: (&[&str], Vec<Node>) = (&["/"], vec![Node::Barrier(0), ask(0), Node::Barrier(1)]);
        let other: (&[&str], Vec<Node>) = (&["/"], vec![Node::Barrier(1), ask(0), Node::Barrier(0)]);
        let mut plan = plan(&[one, other], users(2, 2));
        plan.scenarios[1].load = closed(2, Some(2));
        let history =
            run(plan, vec![barrier(4, None), Barrier { name: "other".to_owned(), ..barrier(4, None) }], threads);
        assert_eq!((answered(&history, 0), answered_of(&history.others[0], 1)), (2, 2), "{threads}");
    }
}

/// The time spent waiting is no part of a transaction, unless pauses are; also of one that the end of the load cuts
/// off.
#[test]
fn waiting_counts_as_a_pause_in_transactions() {
    let all = |number, nodes| Node::Transaction { number, nodes };
    for threads in [1, 2] {
        let wait = |millis| vec![fixed(millis), all(0, vec![all(1, vec![ask(0), Node::Barrier(0), ask(0)])])];
        let early: (&[&str], Vec<Node>) = (&["/delay/10"], wait(0));
        let late: (&[&str], Vec<Node>) = (&["/delay/10"], wait(3_000));
        let mut plan = plan(&[early, late], users(1, 1));
        plan.scenarios[1].load = closed(1, Some(1));
        let history = run(plan.clone(), vec![barrier(2, None)], threads);
        let time = |number| {
            let timings =
                history.total.timings(SeriesId::transaction(number), Class::Succeeded).expect("it ended well");
            timings.by_measure(Measure::Response).max().expect("one") / 1_000_000
        };
        let (without, with) = (time(0), time(1));
        assert!((20..30).contains(&without), "{threads}: {without} ms");
        assert!((3_020..3_040).contains(&with), "{threads}: {with} ms");
        // The other user never comes.
        plan.scenarios[1].program.nodes.insert(0, fixed(60_000));
        plan.scenarios[0].load = lasting_for(1, 2);
        plan.scenarios[1].load = lasting_for(1, 2);
        let history = run(plan, vec![barrier(2, None)], threads);
        let time = |number| {
            let timings = history.total.unfinished_of(SeriesId::transaction(number)).expect("it was cut off");
            timings.by_measure(Measure::Response).max().expect("one") / 1_000_000
        };
        let (without, with) = (time(0), time(1));
        assert!((10..20).contains(&without), "{threads}: {without} ms");
        assert!((1_990..2_010).contains(&with), "{threads}: {with} ms");
    }
}

/// A load at a rate keeps it: each iteration is a visitor, and the rate is that of the plan.
#[test]
fn iterations_of_a_rate_meet() {
    for threads in [1, 2, 7] {
        let flags = Flags { requests: Some("400".to_owned()), ..rate("100", "10s") };
        let nodes = vec![ask(0), Node::Barrier(0), ask(1)];
        let history = run(plan(&[(&["/", "/serial/1"], nodes)], flags), vec![barrier(10, None)], threads);
        let counts = &history.total.counts;
        assert_eq!([0, 1].map(|step| answered(&history, step)), [400, 400], "{threads}");
        assert_eq!((counts.iterations(), counts.dropped()), (400, 0), "{threads}");
        assert_eq!(history.met, met(10, 40, 0, 0), "{threads}");
        let slowest = history.total.class(Class::Succeeded).by_measure(Measure::Service).max();
        assert!(slowest >= Some(9_500_000) && slowest < Some(13_000_000), "{slowest:?}");
        // As many carriers as there may be, and a round that needs more.
        let flags = Flags { requests: Some("60".to_owned()), connections: Some("6".to_owned()), ..rate("100", "10s") };
        let nodes = vec![ask(0), Node::Barrier(0), ask(1)];
        let history = run(plan(&[(&["/", "/"], nodes)], flags), vec![barrier(100, None)], threads);
        assert_eq!([0, 1].map(|step| answered(&history, step)), [60, 60], "{threads}");
        assert_eq!(history.met[0].full, 0, "{threads}");
    }
}

/// A user that waits when the load ends is cut off, and does what comes after its last iteration.
#[test]
fn the_end_of_a_load_ends_all_waiting() {
    for threads in [1, 2, 7] {
        let mut plan = plan(&[(&["/", "/", "/"], vec![ask(1), Node::Barrier(0), ask(1)])], lasting(7, "2s"));
        let program = &mut plan.scenarios[0].program;
        let stop = vec![Node::Barrier(0), or(2, OnFailure::Next)];
        *program = Program { start: vec![or(0, OnFailure::Next), Node::Barrier(1)], stop, ..std::mem::take(program) };
        // More users would come later, so those that are there wait for them.
        let stage = |from, to, millis| UserStage { from, to, span: Duration::from_millis(millis) };
        let shape = UserShape::Stages(vec![stage(7, 7, 3_000), stage(8, 8, 1_000)]);
        plan.scenarios[0].load =
            plan::Load::Closed { users: 8, shape, requests: None, duration: Some(Duration::from_secs(2)) };
        let history =
            run(plan, vec![barrier(100, None), Barrier { name: "start".to_owned(), ..barrier(7, None) }], threads);
        let [started, requested, stopped] = [0, 1, 2].map(|step| answered(&history, step));
        assert_eq!((started, requested, stopped), (7, 7, 7), "{threads}");
        assert!(history.wall < Nanos(2 * SECOND + SECOND / 5), "{threads}: {:?}", history.wall);
        assert_eq!(history.met[0], met(100, 0, 0, 0)[0], "{threads}");
        assert_eq!(history.met[1].full, 1, "{threads}");
        let counts = &history.total.counts;
        assert_eq!((counts.iterations(), counts.iterations_cut()), (0, 7), "{threads}");
    }
}
