//! Figures of the user's own against what users record.

use metrics::{Failure, OwnGauge, OwnTotal, SeriesId};
use plan::{Flags, Measurement, Node, OwnFigure, OwnKind, Plan, Value, ValuePattern};

use super::{answered, ask, plan, played, users};
use crate::swarm::history::{History, Setup};

const COUNTER: u32 = 0;
const TREND: u32 = 1;
const SHARE: u32 = 2;
const GAUGE: u32 = 3;

fn value(figure: u32, value: Value) -> Measurement {
    Measurement { figure, value: ValuePattern::Constant(value) }
}

fn planned(nodes: Vec<Node>, flags: Flags) -> Plan {
    let mut plan = plan(&[(&["/", "/"], nodes)], flags);
    let figure =
        |(name, kind): (&str, OwnKind)| OwnFigure { name: name.to_owned(), kind, unit: String::new(), step: 0.01 };
    let kinds = [OwnKind::Counter, OwnKind::Trend, OwnKind::Share, OwnKind::Gauge];
    plan.scenarios[0].program.figures =
        ["orders", "basket", "in_stock", "queue"].into_iter().zip(kinds).map(figure).collect();
    plan
}

fn run_plan(plan: Plan, threads: usize) -> History {
    played(Setup { plan, threads, ..Setup::calm(11) })
}

fn own(history: &History, figure: u32) -> Option<&OwnTotal> {
    history.total.own(figure as usize)
}

/// Each user records the same, whatever the number of threads; nothing of it is a request.
#[test]
fn figures_have_what_users_record() {
    let nodes = || {
        let all = vec![
            value(COUNTER, Value::Float(2.5)),
            value(TREND, Value::Float(19.99)),
            value(SHARE, Value::Bool(true)),
            value(GAUGE, Value::Int(-3)),
        ];
        vec![
            ask(0),
            Node::Record(all),
            ask(1),
            Node::Record(vec![value(SHARE, Value::text("false")), value(TREND, Value::text("0.01"))]),
        ]
    };
    for threads in [1, 3] {
        let history = run_plan(planned(nodes(), users(6, 60)), threads);
        assert_eq!((answered(&history, 0), answered(&history, 1)), (60, 60), "{threads}");
        assert_eq!(history.total.counts.failed(), 0);
        assert_eq!(own(&history, COUNTER), Some(&OwnTotal::Counter { count: 60, sum: 150_000_000_000 }));
        assert_eq!(own(&history, SHARE), Some(&OwnTotal::Share { passed: 60, failed: 60 }));
        let Some(OwnTotal::Trend(trend)) = own(&history, TREND) else { panic!("{:?}", own(&history, TREND)) };
        assert_eq!((trend.count(), trend.sum(), trend.min(), trend.max()), (120, 60 * 2_000, Some(1), Some(1_999)));
        let Some(OwnTotal::Gauge(gauge)) = own(&history, GAUGE) else { panic!("{:?}", own(&history, GAUGE)) };
        let OwnGauge { count, least, greatest, last, .. } = *gauge;
        assert_eq!((count, least, greatest, last), (60, -3.0, -3.0, -3.0));
    }
}

/// What is no value of its figure fails the step before it, ends the iteration, and records none of the step's values.
#[test]
fn values_of_the_wrong_kind_fail_the_step() {
    for (figure, wrong) in [
        (COUNTER, Value::text("lamp")),
        (COUNTER, Value::Int(-1)),
        (COUNTER, Value::Bool(true)),
        (TREND, Value::Null),
        (TREND, Value::Float(1e18)),
        (SHARE, Value::Int(1)),
        (SHARE, Value::text("yes")),
        (GAUGE, Value::Float(f64::INFINITY)),
        (GAUGE, Value::Json("[1]".into())),
    ] {
        let nodes = vec![ask(0), Node::Record(vec![value(GAUGE, Value::Int(1)), value(figure, wrong.clone())]), ask(1)];
        let history = run_plan(planned(nodes, users(2, 10)), 2);
        let failures: Vec<_> = history.total.failures_of(SeriesId::step(0)).collect();
        assert_eq!((failures, answered(&history, 1)), (vec![(Failure::NotRecorded, 10)], 0), "{wrong:?}");
        assert_eq!(own(&history, GAUGE), None, "{wrong:?}");
        assert_eq!(history.total.counts.iterations_failed(), 10, "{wrong:?}");
    }
}

/// Nothing of the warm-up is in a figure.
#[test]
fn figures_of_the_warm_up_are_not_counted() {
    let flags = Flags {
        rate: Some("100".to_owned()),
        duration: Some("2s".to_owned()),
        warmup: Some("1s".to_owned()),
        ..Flags::default()
    };
    let history = run_plan(planned(vec![ask(0), Node::Record(vec![value(COUNTER, Value::Int(1))])], flags), 2);
    let count = own(&history, COUNTER).map_or(0, OwnTotal::count);
    assert_eq!((count, answered(&history, 0)), (200, 200));
}
