//! What a load is told while it runs, second by second, and what follows from it.

use metrics::{Counter, Failure, Outcome, SeriesId};
use pacing::Nanos;
use plan::Flags;

use super::*;

/// Each second, all of fifty requests fail; gives the second at which the load is stopped.
fn stopped_at(persists: bool, seconds: u64) -> Option<u64> {
    let flags = Flags { url: Some("http://127.0.0.1:1/".to_owned()), persists, ..Flags::default() };
    let (plan, stop) = (flags.plan().expect("a good plan"), StopHandle::default());
    let view = View { language: Language::En, screen: Screen::plain(Language::En), is_json: true, is_quiet: true };
    let address = "127.0.0.1:1".parse().expect("an address");
    let files = Files::open(None, None, &[]).unwrap_or_else(|(path, error)| panic!("{path}: {error}"));
    let mut live = Live::new(view, (&plan, address), &[], files, stop.clone());
    let mut total = Snapshot::default();
    (1..=seconds).find(|&second| {
        let mut seen = Snapshot::default();
        for _ in 0..50 {
            seen.counts[Counter::Started] += 1;
            seen.outcome(SeriesId::step(0), Outcome::Failed(Failure::Status));
        }
        total.merge(&seen);
        let (from, to) = (Nanos::from_millis(1_000 * (second - 1)), Nanos::from_millis(1_000 * second));
        let (seen, paused) = (&seen, Nanos::ZERO);
        let part = engine::ScenarioInterval { paused, seen, added: seen, total: &total };
        let told = engine::Interval {
            number: second,
            from,
            to,
            paused,
            late_shards: 0,
            is_again: false,
            seen,
            added: seen,
            total: &total,
            scenarios: vec![part],
        };
        let _ = live.interval(&told);
        assert_eq!(live.was_aborted(), stop.is_stopped());
        stop.is_stopped()
    })
}

/// Thirty seconds of failures are enough; who wants more says so.
#[test]
fn a_hopeless_load_ends_by_itself() {
    assert_eq!(stopped_at(false, 100), Some(30));
    assert_eq!(stopped_at(true, 100), None);
}
