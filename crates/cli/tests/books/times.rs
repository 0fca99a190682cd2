//! The percentiles of the report compared with bounds from the server's own clock. The server's delay is less than the
//! client's time; the time between a response and the next request of the same connection is more. Neither needs a
//! tolerance.

use std::time::{Duration, Instant};

use crate::cells::{End, Load, TIMEOUT};
use crate::complaints::Complaints;
use crate::run::Ran;

/// Percentiles have three significant digits.
const DIGITS: f64 = 0.001;
/// Where a rank falls on a whole number, binary fractions may put it on either side.
const EDGE: f64 = 1e-6;
/// Starts are whole, and each thread counts its own.
const ROUNDED_STARTS: f64 = 3.0;
const PERCENTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("max", 1.0)];

/// The bounds of a figure, over all ways to count incomplete exchanges.
struct Bounds {
    /// Sorted lower and upper bounds of the times of successes.
    least: Vec<Duration>,
    most: Vec<Duration>,
    /// Lower bounds of the waits of incomplete exchanges; one list for each way to count them, none if they are
    /// unknown.
    censored: Vec<Vec<Duration>>,
}

pub(crate) fn times(ran: &Ran, wrong: &mut Complaints) {
    if ran.books.exchanges.is_empty() {
        return;
    }
    for measure in ["response_time", "service_time"] {
        let bounds = bounds(ran, measure);
        if bounds.censored.is_empty() {
            continue;
        }
        for (name, quantile) in PERCENTILES {
            percentile(ran, &bounds, &Figure { measure, name, quantile }, wrong);
        }
    }
    waiting(ran, wrong);
    unreliable(ran, wrong);
}

struct Figure {
    measure: &'static str,
    name: &'static str,
    quantile: f64,
}

fn percentile(ran: &Ran, bounds: &Bounds, figure: &Figure, wrong: &mut Complaints) {
    let Figure { measure, name, quantile } = *figure;
    let known = &ran.report["times"]["succeeded"][measure];
    // Incomplete exchanges are counted separately.
    let seen = if known["with_incomplete"].is_null() { known } else { &known["with_incomplete"] };
    let Some(value) = seen[format!("{name}_ns")].as_u64().map(Duration::from_nanos) else { return };
    let lists = || bounds.censored.iter();
    let least = lists().filter_map(|censored| least(bounds, censored, quantile)).min().unwrap_or_default();
    wrong.unless(value.mul_f64(1.0 + DIGITS) >= least, || {
        format!("{measure} {name} is {value:?}, and by the server's clock at least {least:?}")
    });
    // `None` when an incomplete exchange may be this percentile.
    let most: Option<Vec<Duration>> =
        lists().map(|censored| bounds.most.get(rank(bounds, censored, quantile) - 1).copied()).collect();
    if let Some(most) = most.and_then(|most| most.into_iter().max()) {
        wrong.unless(value <= most.mul_f64(1.0 + DIGITS), || {
            format!("{measure} {name} is {value:?}, and by the server's clock at most {most:?}")
        });
    }
    let named: Vec<&str> = seen["at_least"].as_array().into_iter().flatten().filter_map(|one| one.as_str()).collect();
    let verdicts: Vec<bool> = lists().flat_map(|censored| is_bound(bounds, censored, quantile)).collect();
    let is_named = named.contains(&name);
    // Where the ways to count differ, or a time is at the edge, either result is accepted.
    wrong.unless(verdicts.contains(&is_named), || {
        let (known, count) = (bounds.least.len(), lists().map(Vec::len).max().unwrap_or(0));
        format!(
            "{measure}: {name} in at_least should be {}: {known} known, {count} given up, named {named:?}",
            !is_named
        )
    });
}

fn rank(bounds: &Bounds, censored: &[Duration], quantile: f64) -> usize {
    let count = bounds.least.len() + censored.len();
    ((quantile * count as f64 - EDGE).ceil() as usize).clamp(1, count.max(1))
}

fn least(bounds: &Bounds, censored: &[Duration], quantile: f64) -> Option<Duration> {
    let mut all = [bounds.least.as_slice(), censored].concat();
    all.sort_unstable();
    all.get(rank(bounds, censored, quantile) - 1).copied()
}

/// Whether the percentile would change with incomplete exchanges at infinity: two results where it falls on the edge,
/// or where an exchange that was incomplete early may precede it and move its rank by one.
fn is_bound(bounds: &Bounds, censored: &[Duration], quantile: f64) -> Vec<bool> {
    let (known, count) = (bounds.least.len() as f64, (bounds.least.len() + censored.len()) as f64);
    let mut verdicts: Vec<bool> =
        [-EDGE, EDGE].map(|edge| !censored.is_empty() && quantile * count + edge > known).to_vec();
    let highest = bounds.most.get(rank(bounds, censored, quantile) - 1);
    verdicts.extend(highest.is_some_and(|highest| censored.iter().any(|waited| waited < highest)).then_some(true));
    verdicts
}

fn bounds(ran: &Ran, measure: &str) -> Bounds {
    let books = &ran.books;
    let (next, before) = (books.next_on_link(), books.before_on_link());
    let mut times = Vec::new();
    for ((exchange, next), before) in books.exchanges.iter().zip(next).zip(before) {
        let Some(begun) = exchange.response_begun.filter(|_| exchange.answered.is_some() && exchange.is_good) else {
            continue;
        };
        let is_shared = ran.cell.load == Load::Streams;
        // A start of an open load may have been intended long before its connection was free.
        let knows_start = !is_shared && (measure == "service_time" || !ran.cell.load.is_open());
        let from = before.filter(|_| knows_start).unwrap_or(ran.spawned);
        let to = next.filter(|_| !is_shared).unwrap_or(ran.exited);
        times.push((begun.duration_since(exchange.first_byte), to.saturating_duration_since(from)));
    }
    let (mut least, mut most): (Vec<Duration>, Vec<Duration>) = times.into_iter().unzip();
    least.sort_unstable();
    most.sort_unstable();
    // A response that was written and never read, since the connection broke: it may have been any of them.
    let succeeded = ran.requests("succeeded") as usize;
    let lost = least.len().saturating_sub(succeeded);
    least.truncate(succeeded);
    most.drain(..lost);
    let timed_out = vec![TIMEOUT; (ran.failed_by("timeout") + ran.failed_by("connect-timeout")) as usize];
    let unfinished = unfinished(ran);
    let dropped = vec![Duration::ZERO; ran.requests("dropped") as usize];
    let all = [timed_out.clone(), unfinished.clone(), dropped].concat();
    let censored = match measure {
        // An exchange aborted by a second Ctrl-C counts as one that had no chance.
        _ if ran.cell.end == End::CtrlCTwice => vec![all, timed_out.clone()],
        "response_time" => vec![all],
        // Whether an exchange that was never sent has a service time is a matter of definition.
        _ => {
            let unanswered = ran.requests("sent").saturating_sub(ran.requests("responses"));
            let sent = (unanswered as usize).saturating_sub(timed_out.len()).min(unfinished.len());
            vec![all, [timed_out.clone(), unfinished.clone()].concat(), [&timed_out, &unfinished[..sent]].concat()]
        }
    };
    // Other failures have no time above the others; where both exist, they may be counted among all or not.
    let failed_otherwise = ran.requests("failed") as usize > timed_out.len();
    let has_censored = censored.iter().any(|one| !one.is_empty());
    let censored = if failed_otherwise && has_censored { Vec::new() } else { censored };
    Bounds { least, most, censored }
}

/// How long the server had held the requests that were unfinished at the end, the longest first; the others are
/// unknown.
fn unfinished(ran: &Ran) -> Vec<Duration> {
    let count = ran.requests("unfinished") as usize;
    let ended = ran.ended_after();
    let held = ran.books.exchanges.iter().filter(|exchange| exchange.answered.is_none());
    let mut held: Vec<Instant> = held.map(|exchange| exchange.head).collect();
    held.sort_unstable();
    let mut waited: Vec<Duration> = match ran.cell.end {
        // The last of them: those before had timed out.
        End::FrozenReading | End::CtrlCTwice => {
            held[held.len().saturating_sub(count)..].iter().map(|head| ended.saturating_duration_since(*head)).collect()
        }
        _ => Vec::new(),
    };
    waited.resize(count, Duration::ZERO);
    waited
}

/// In an open load, starts that were due and had not come to the server were waiting: their number and their waits
/// follow from arithmetic.
fn waiting(ran: &Ran, wrong: &mut Complaints) {
    let started = ran.requests("started");
    let (Some(first), true) = (ran.books.first_head(), ran.cell.load.plans_each_start()) else { return };
    if ran.requests("succeeded") != started {
        return;
    }
    let mut heads: Vec<Instant> = ran.books.exchanges.iter().map(|exchange| exchange.head).collect();
    heads.sort_unstable();
    // The number of exchanges with a response time above this one.
    let above = |time: Duration| -> f64 {
        let due = |instant: &Instant| instant.checked_duration_since(first).and_then(|span| span.checked_sub(time));
        let came_before = heads.iter().enumerate();
        let waited = came_before.filter_map(|(came, head)| {
            let due = ran.cell.load.intended_in(due(head)?).min(started as f64);
            Some(due - came as f64 - ROUNDED_STARTS)
        });
        waited.fold(0.0, f64::max)
    };
    let steps: Vec<(Duration, f64)> =
        (1..200).map(|step| Duration::from_millis(step * 10)).map(|time| (time, above(time))).collect();
    for (name, quantile) in PERCENTILES {
        let Some(value) = ran.report["times"]["succeeded"]["response_time"][format!("{name}_ns")].as_u64() else {
            continue;
        };
        let value = Duration::from_nanos(value);
        let beyond = (started as f64 * (1.0 - quantile)).floor() + 1.0;
        let least = steps.iter().rev().find(|(_, count)| *count >= beyond).map_or(Duration::ZERO, |(time, _)| *time);
        wrong.unless(value >= least, || {
            format!("response_time {name} is {value:?}; by the plan and the server's clock it is at least {least:?}")
        });
    }
}

/// A percentile is unreliable when more than the rest above it overlapped a generator stall.
fn unreliable(ran: &Ran, wrong: &mut Complaints) {
    let known = "/times/succeeded/response_time";
    let has_incomplete = ran.report.pointer(known).is_some_and(|times| !times["with_incomplete"].is_null());
    let path = &format!("{known}{}/unreliable", if has_incomplete { "/with_incomplete" } else { "" });
    let (Some(names), Some(_)) = (wrong.field(ran, path), wrong.field(ran, "/requests/stall_affected")) else {
        return;
    };
    let names: Vec<&str> = names.as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect();
    let incomplete = ["unfinished", "dropped"].map(|name| ran.requests(name)).iter().sum::<u64>();
    let incomplete = incomplete + ran.failed_by("timeout") + ran.failed_by("connect-timeout");
    // Of all that have a percentile: an incomplete exchange has no time of its own, and ranks above.
    let (stall_affected, of) =
        (ran.requests("stall_affected") as f64, (ran.requests("succeeded") + incomplete).max(1) as f64);
    for (name, quantile) in PERCENTILES {
        let (rest, share) = (1.0 - quantile, stall_affected / of);
        let is_near = (share - rest).abs() < 1.0 / of && stall_affected > 0.0;
        wrong.unless(is_near || names.contains(&name) == (share > rest), || {
            format!("{stall_affected} of {of} overlapped a stall of ours, and unreliable are {names:?}: {name}")
        });
    }
}
