//! Conclusions in words: each is true of its figures, whatever these are, and none gives advice that its own evidence
//! contradicts.

use engine::{Gaps, MachineUse, NotTried};
use pacing::Random;

use super::*;
use crate::verdict;

/// The number of random conclusions.
const RUNS: u64 = 2_000;

/// Phrases that advise more of the load, or praise the result.
const ADVICE: [&str; 4] = ["more users (-c)", "raise -c", "raise 'connections'", "more give more was not tried"];

/// A probe with a part of the users, and its result.
fn part(random: &mut Random) -> UsersPart {
    let time = random.chance(900_000).then(|| 0.3 + random.unit());
    UsersPart { kept: 0.5, rate: 0.3 + random.unit(), time, is_refused: random.chance(100_000) }
}

fn gaps(random: &mut Random) -> Gaps {
    let from = Nanos::from_millis(random.between(100, 900_000));
    let span = Nanos::from_millis(random.between(300, 60_000));
    let came_back = random.chance(500_000);
    let count = random.between(1, 5);
    Gaps { from, to: from + span, count, sum: Nanos(span.0 * count), refused: random.below(1_000), came_back }
}

/// A conclusion with its evidence, as the engine may draw it.
fn conclusion(random: &mut Random) -> (Limit, Basis) {
    let held = PaceHeld {
        users: random.between(1, 10_000) as f64,
        iterations_per_s: random.unit() * 1e4,
        iteration_ns: 1e6 + random.unit() * 1e9,
        target_ns: random.unit() * 1e6,
    };
    match random.below(14) {
        0 => (Limit::PlanKept, Basis::Counts),
        1 => (Limit::PlanKept, Basis::PaceHeld(held)),
        2 => (Limit::Connections, Basis::PaceHeld(held)),
        3 => (Limit::Target, Basis::Probe(part(random))),
        4 => (Limit::Below, Basis::Probe(UsersPart { is_refused: false, ..part(random) })),
        5 => (Limit::Target, Basis::Curve(part(random))),
        6 => (Limit::Target, Basis::StoodStill(gaps(random))),
        7 => (Limit::Target, Basis::Outage(gaps(random))),
        8 => (Limit::Target, Basis::Starved { requests: random.between(1, 40), of: 50 }),
        9 => {
            let status = [429, 502, 503, 504][random.below(4) as usize];
            (
                Limit::Target,
                Basis::Refusals { status, refused: random.between(1, 1_000), served_per_s: random.unit() * 1e3 },
            )
        }
        10 => (Limit::Machine, Basis::Probe(part(random))),
        11 => (Limit::Target, Basis::FirstRound(0.2 + 0.45 * random.unit())),
        12 => (Limit::Target, Basis::LostSyns { lost: random.between(3, 40), of: 50 }),
        _ => (Limit::Unknown, Basis::Nothing(unknown(random))),
    }
}

fn unknown(random: &mut Random) -> Unknown {
    let not_tried = [NotTried::Unwanted, NotTried::Counted, NotTried::Changing, NotTried::OneUser, NotTried::Several];
    match random.below(6) {
        0 => Unknown::NotTried(not_tried[random.below(5) as usize]),
        1 => Unknown::Unsteady,
        2 => Unknown::Unsure(part(random)),
        3 => Unknown::Differing,
        4 => Unknown::TooFewAnswers,
        _ => Unknown::AllBusy { connections: random.between(1, 500) },
    }
}

fn concluded(seed: u64) -> Run {
    let mut random = Random::new(seed);
    let failures: &[(Failure, u64)] = if random.chance(300_000) { &[(Failure::Timeout, 40)] } else { &[] };
    let mut result = result(seen(random.between(1, 60), failures));
    (result.verdict.limit, result.verdict.known) = conclusion(&mut random);
    let own = random.unit();
    result.verdict.machine = Some(MachineUse { cores: 2.0, busy: 1.0 + own, own });
    if matches!(result.verdict.limit, Limit::PlanKept) {
        result.requested_per_s = Some(100.0);
    }
    run(&plan(), result)
}

/// The numbers in a text, in order.
fn numbers(text: &str) -> Vec<f64> {
    let digits = |each: char| each.is_ascii_digit() || each == '.' || each == ',';
    let words = text.split(|each: char| !digits(each)).map(|word| word.trim_matches(['.', ',']).replace(',', ""));
    words.filter_map(|word| word.parse().ok()).collect()
}

/// The figures that a sentence must contain, each with its rounding.
fn figures(known: &Basis) -> Vec<(f64, f64)> {
    let whole = |number: f64| (number, 0.0);
    let percent = |share: f64| (share * 100.0, 0.5);
    let seconds = |at: Nanos| (at.as_secs_f64(), 0.05);
    match known {
        Basis::Probe(part) | Basis::Curve(part) | Basis::Nothing(Unknown::Unsure(part)) => vec![percent(part.rate)],
        Basis::StoodStill(gaps) | Basis::Outage(gaps) => vec![seconds(gaps.from), seconds(gaps.to)],
        Basis::FirstRound(share) => vec![percent(*share)],
        Basis::LostSyns { lost, of } => vec![whole(*lost as f64), whole(*of as f64)],
        Basis::Starved { requests, of } => vec![whole(*requests as f64), whole(*of as f64)],
        Basis::Refusals { status, refused, .. } => vec![whole(f64::from(*status)), whole(*refused as f64)],
        Basis::PaceHeld(held) => vec![whole(held.users)],
        Basis::Nothing(Unknown::AllBusy { connections }) => {
            vec![whole(*connections as f64), whole(2.0 * *connections as f64)]
        }
        _ => Vec::new(),
    }
}

#[test]
fn sentences_are_true_of_their_figures() {
    for seed in 0..RUNS {
        let run = concluded(seed);
        let (limit, known) = (run.verdict.limit, &run.verdict.known);
        let said = [Language::En, Language::Zh].map(|language| verdict::verdict(&run, language));
        for text in &said {
            let numbers = numbers(text);
            for (figure, rounded) in figures(known) {
                let is_said = numbers.iter().any(|number| (number - figure).abs() <= rounded + 1e-6);
                assert!(is_said, "{seed}: {figure} in {text}");
            }
            assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains("  "), "{seed}: {text}");
        }
        let english = &said[0];
        // A target at its limit gives no more to more users, and a failed plan has not reached its target load.
        if matches!(limit, Limit::Target | Limit::Machine | Limit::Unknown) {
            assert!(!ADVICE.iter().any(|advice| english.contains(advice)), "{seed}: {english}");
        }
        assert_eq!(english.contains("the plan was kept"), limit == Limit::PlanKept, "{seed}: {english}");
        let is_at_limit =
            matches!((limit, known), (Limit::Target, Basis::Probe(_) | Basis::Curve(_) | Basis::FirstRound(_)));
        assert_eq!(english.contains("the target is at its limit"), is_at_limit, "{seed}: {english}");
        let is_first =
            english.contains("requests failed (") && !english.starts_with(|each: char| each.is_ascii_digit());
        assert!(!is_first, "{seed}: what failed comes first: {english}");
    }
}

/// Only a run that did all that was requested is green.
#[test]
fn a_run_of_failures_is_never_good() {
    let mut tones = [0u64; 3];
    for seed in 0..RUNS {
        let run = concluded(seed);
        let tone = verdict::tone(&run);
        let is_known = !matches!(run.verdict.known, Basis::Nothing(_));
        if tone == verdict::Tone::Good {
            assert!(run.tally.failed == 0 && is_known, "{seed}: {:?}", run.verdict.known);
        }
        let titles = [Language::En, Language::Zh].map(|language| verdict::title(&run, language));
        assert!(titles.iter().all(|title| !title.is_empty()), "{seed}");
        tones[tone as usize] += 1;
    }
    assert!(tones.iter().all(|count| *count > RUNS / 20), "{tones:?}");
}
