//! Totals and intervals for tests: real ones, made from snapshots like those of the engine.

use figures::{Interval, ScenarioPart};
use metrics::{Failure, Measure, Outcome, SeriesId, Snapshot};
use pacing::Nanos;
use plan::{Flags, Plan, Step};

use crate::totals::Totals;

/// Names that every format must escape.
pub(crate) const ODD_NAMES: [&str; 5] = ["GET /a,b c=d", "say \"hi\"\\", "two\nlines\ttab", "登录 页面", "|#:@{}<&>"];

/// A plan whose steps have these names.
pub(crate) fn plan(names: &[&str]) -> Plan {
    let flags = Flags { url: Some("http://127.0.0.1:8080/x".to_owned()), ..Flags::default() };
    let mut plan = flags.plan().expect("a good plan");
    let first = plan.scenarios[0].steps[0].clone();
    plan.scenarios[0].steps = names.iter().map(|name| Step { name: (*name).to_owned(), ..first.clone() }).collect();
    plan
}

/// A snapshot with `succeeded` responses of each step that take 1 ms, 2 ms and so on, and `failed` timeouts.
pub(crate) fn snapshot(steps: usize, succeeded: u64, failed: u64) -> Snapshot {
    let mut seen = Snapshot::default();
    for step in 0..steps {
        let id = SeriesId::step(step as u32);
        for number in 1..=succeeded {
            let timings = seen.outcome(id, Outcome::Succeeded);
            timings.record(Measure::Response, number * 1_000_000);
            timings.record(Measure::Service, number * 500_000);
        }
        for _ in 0..failed {
            seen.outcome(id, Outcome::Failed(Failure::Timeout)).record(Measure::Response, 2_000_000_000);
        }
    }
    (seen.gauges.users, seen.cpu_ns) = (7, 1_500_000_000);
    seen
}

/// An interval of a second, first emitted or updated; `added` is its delta.
pub(crate) fn interval(plan: &Plan, number: u64, added: &Snapshot, is_update: bool) -> Interval {
    let (from, to) = (Nanos::from_millis(1_000 * (number - 1)), Nanos::from_millis(1_000 * number));
    let paused = Nanos::ZERO;
    let scenarios = vec![engine::ScenarioInterval { paused, seen: added, added, total: added }];
    let reported = engine::Interval {
        number,
        from,
        to,
        paused,
        late_shards: 0,
        is_update,
        seen: added,
        added,
        total: added,
        scenarios,
    };
    Interval::new(&reported, plan)
}

/// Totals of one interval, over steps with these names.
pub(crate) fn totals(names: &[&str], succeeded: u64, failed: u64) -> Totals {
    let plan = plan(names);
    let mut totals = Totals::empty(&ScenarioPart::none(&plan));
    totals.add(&interval(&plan, 1, &snapshot(names.len(), succeeded, failed), false));
    totals
}
