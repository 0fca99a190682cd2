//! A search with given trials, the same on each machine.

use std::time::Duration;

use ::report::{About, SearchInput, Varied, search_value};
use ::search::{Bin, Class, Purpose, SearchEnd, SearchResult, Tally, Trial, TrialOrder, TrialOutcome};
use metrics::GoalMisses;
use serde_json::Value;

/// Loads that were tried, with their results.
const TRIALS: [(f64, Purpose, Class, u64); 4] = [
    (12_800.0, Purpose::Look, Class::Missed, 900),
    (12_400.0, Purpose::Full, Class::Undecided, 180),
    (12_400.0, Purpose::Full, Class::Met, 20),
    (12_400.0, Purpose::Confirm, Class::Met, 31),
];

/// The number of its trials.
pub(crate) const ALL: usize = TRIALS.len();

/// The report of a search after its first `made` trials.
pub(crate) fn searched(made: usize) -> Value {
    let trials: Vec<Trial> = (0..made).map(trial).collect();
    let found = SearchResult {
        lower: (made == ALL).then_some(12_400.0),
        upper: Some(12_800.0),
        is_confirmed: made == ALL,
        not_confirmed: None,
        own_limit: None,
        unknown: None,
        ran: None,
        limit: "target",
        ended: SearchEnd::Width,
        noise: None,
        is_worse: false,
        stalls: None,
        slower: None,
        recovered: Some(Duration::from_millis(1_300)),
        not_recovered: None,
        law: None,
        met: None,
        took: Duration::from_secs(23 * made as u64),
    };
    search_value(&SearchInput {
        found: &found,
        trials: &trials,
        goals: &["p99(response_time) < 200ms".to_owned()],
        varied: Varied::Rate { is_request: true },
        target: "http://127.0.0.1:8080/",
        budget: Duration::from_secs(720),
        began_unix: Duration::from_secs(1_700_000_000),
        about: &About::default(),
        kept_as: None,
        is_running: made < ALL,
    })
}

fn trial(place: usize) -> Trial {
    let (at, purpose, class, lost) = TRIALS[place];
    let span = Duration::from_secs(20);
    let order = TrialOrder { number: place + 1, at, purpose, warmup: span / 8, span, span_max: span, bin: span / 40 };
    let lost = GoalMisses { lost, of: 20_000 };
    let mut tally = Tally::default();
    tally.push(Bin { lost: vec![lost], ..Bin::default() });
    let outcome = TrialOutcome {
        tally,
        measured: span,
        done_per_s: at,
        p50_ns: Some(4_000_000),
        p99_ns: Some(180_000_000),
        limit: if class == Class::Missed { "target" } else { "plan_kept" },
        ..TrialOutcome::default()
    };
    let (began, is_above) = (span * place as u32, lost.share() > 0.01);
    let (recovered, not_recovered, is_piling_up) = (None, None, false);
    Trial { order, began, outcome, lost: vec![lost], class, is_above, is_piling_up, recovered, not_recovered }
}
