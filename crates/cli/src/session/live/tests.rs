//! The events of a load second by second, and what follows from them.

use std::sync::Arc;

use driver::sim::Faults;
use figures::RunInput;
use metrics::{Counter, Failure, SeriesId};
use pacing::Nanos;
use plan::Flags;
use selftest::{Happens, SimulatedWorld};

use super::*;
use crate::commands::run::Load;
use crate::exit::Exit;
use crate::session::ending::LoadOutcome;
use crate::session::run_settings::RunSettings;

/// Live views as in a pipe.
fn live<'a>(plan: &'a Plan, address: SocketAddr, stop: &StopHandle) -> Live<'a> {
    let view = View { language: Language::En, screen: Screen::plain(Language::En), is_json: true, is_quiet: true };
    let files = Files::open(None, None, &[]).unwrap_or_else(|(path, error)| panic!("{path}: {error}"));
    Live::new(view, (plan, address), &[], files, stop.clone())
}

/// Each second, all of fifty requests fail; returns the second at which the load is stopped.
fn stopped_at(ignores_failures: bool, seconds: u64) -> Option<u64> {
    let flags = Flags { url: Some("http://127.0.0.1:1/".to_owned()), ignores_failures, ..Flags::default() };
    let (plan, stop) = (flags.plan().expect("a good plan"), StopHandle::default());
    let mut live = live(&plan, "127.0.0.1:1".parse().expect("an address"), &stop);
    let mut total = Snapshot::default();
    (1..=seconds).find(|&second| {
        let mut seen = Snapshot::default();
        for _ in 0..50 {
            seen.counts[Counter::Started] += 1;
            seen.outcome(SeriesId::step(0), metrics::Outcome::Failed(Failure::Status));
        }
        total.merge(&seen);
        let (from, to) = (Nanos::from_millis(1_000 * (second - 1)), Nanos::from_millis(1_000 * second));
        let (seen, paused) = (&seen, Nanos::ZERO);
        let part = engine::ScenarioInterval { paused, seen, added: seen, total: &total };
        let reported = engine::Interval {
            number: second,
            from,
            to,
            paused,
            late_shards: 0,
            is_update: false,
            seen,
            added: seen,
            total: &total,
            scenarios: vec![part],
        };
        let _ = live.interval(&reported);
        assert_eq!(live.was_aborted(), stop.is_stopped());
        stop.is_stopped()
    })
}

/// A load in a simulated network, where a minute takes no time: its report, its exit code, and its messages. A few of
/// its requests succeed, so that it is no failure in itself.
fn simulated(ignores_failures: bool) -> (Value, Exit, Vec<String>) {
    let address = SimulatedWorld::address();
    let text = |text: &str| Some(text.to_owned());
    let url = Some(format!("http://{address}/fail/97"));
    let flags = Flags { url, rate: text("50"), duration: text("1m"), ignores_failures, ..Flags::default() };
    let (plan, stop) = (flags.plan().expect("a good plan"), StopHandle::default());
    let mut live = live(&plan, address, &stop);
    output::listen();
    let result = SimulatedWorld::new(1, Faults::none())
        .run_with(&plan, 2, &Happens::default(), &stop, |reported| _ = live.interval(reported))
        .expect("a world that works");
    let said = output::received();
    let (thresholds, notes, changes) = (&[][..], Vec::new(), Vec::new());
    let (plan_of_run, lookup, host) = (Arc::new(plan.clone()), None, machine::host_facts());
    let run = Run::new(RunInput { plan: plan_of_run, address, lookup, result, thresholds, notes, changes, host });
    let outcome =
        LoadOutcome { wrote: Wrote::All, was_requested: false, was_aborted: live.was_aborted(), is_worse: false };
    let exit = Load::for_tool(Language::En).exit(&plan, &run, &RunSettings::default(), outcome);
    (live.json.value(&run), exit, said)
}

/// Thirty seconds of failures end a load, unless a flag allows more.
#[test]
fn a_failing_load_ends_by_itself() {
    assert_eq!(stopped_at(false, 100), Some(30));
    assert_eq!(stopped_at(true, 100), None);
    let (report, exit, said) = simulated(false);
    assert!(said.iter().any(|line| line.contains("--no-abort-on-failures goes on")), "{said:?}");
    assert_eq!((&report["stopped"], exit), (&true.into(), Exit::Unmet), "{report:#}");
    let started = report["requests"]["started"].as_u64();
    assert!((Some(1_500)..=Some(1_501)).contains(&started), "thirty seconds of fifty: {report:#}");
    let (report, exit, said) = simulated(true);
    assert_eq!((&report["stopped"], &report["requests"]["started"]), (&false.into(), &3_000.into()), "{report:#}");
    assert_eq!((exit, said), (Exit::Done, Vec::<String>::new()));
}
