//! The time of the users of a closed load: all of it is in its figures, to its end and across its boundaries.

use driver::sim::Faults;
use engine::RunResult;
use metrics::{Class, Measure};
use pacing::Nanos;
use selftest::{Happens, SimulatedWorld};

use crate::shown::{ms, plan};

const USERS: u64 = 10;
const SPAN: Nanos = ms(4_000);

/// Flags with their values.
type Pairs<'a> = &'a [(&'a str, &'a str)];

/// The sum of all response times, including those of incomplete requests at the end, in nanoseconds.
fn spent(result: &RunResult) -> f64 {
    let of_class = |class| result.total.class(class).by_measure(Measure::Response).sum();
    let incomplete = result.total.unfinished().by_measure(Measure::Response).sum();
    (Class::ALL.into_iter().map(of_class).sum::<u128>() + incomplete) as f64
}

fn result(path: &str, more: Pairs<'_>, happens: &Happens) -> RunResult {
    let load = plan(path, &[&[("-c", "10"), ("-z", "4s"), ("--grace", "0s")], more].concat());
    let mut world = SimulatedWorld::new(7, Faults::none());
    world.run(&load, 1, happens, |_| ()).expect("a world that works")
}

/// Users do nothing but wait for a response: together they wait for as long as they are active, whatever the outcome.
#[test]
fn the_time_of_users_is_all_there() {
    let freeze = Happens { target_stalls: vec![(ms(1_000), ms(2_500))], ..Happens::default() };
    let calm = Happens::default();
    let cases: [(&str, Pairs<'_>, &Happens); 7] = [
        ("/delay/20", &[], &calm),
        ("/serial/5", &[], &calm),
        ("/queue/4/20", &[], &calm),
        ("/status/500", &[], &calm),
        ("/delay/2000", &[("-t", "300ms")], &calm),
        ("/delay/20", &[], &freeze),
        ("/delay/20", &[("-t", "200ms")], &freeze),
    ];
    for (path, more, happens) in cases {
        let result = result(path, more, happens);
        let all = (USERS * SPAN.0) as f64;
        let share = spent(&result) / all;
        // A user takes no time from a response to the next request, and reconnects after a timeout.
        assert!((0.995..=1.001).contains(&share), "{path} {more:?}: {share}");
        let users_s = result.scenarios[0].users_s.expect("it is known");
        assert!((users_s - all / 1e9).abs() < 0.01, "{path}: {users_s}");
    }
}

/// A request in flight when measuring begins counts with its whole time, so the excess over the users' time is at most
/// the part of those response times before that instant.
#[test]
fn the_time_of_users_reaches_over_the_border_by_what_was_in_flight() {
    for (path, longest) in [("/delay/20", ms(21)), ("/serial/5", ms(51)), ("/delay/300", ms(301))] {
        let result = result(path, &[("--warmup", "1010ms")], &Happens::default());
        let (all, carried) = ((USERS * SPAN.0) as f64, result.total.counts.carried());
        assert_eq!(carried, USERS, "{path}");
        let more = spent(&result) - 0.995 * all;
        assert!(more > 0.0 && more <= (carried * longest.0) as f64 + 0.005 * all, "{path}: {more}");
        let counts = &result.total.counts;
        assert_eq!(counts.all_started(), counts.finished() + counts.unfinished(), "{path}");
    }
}
