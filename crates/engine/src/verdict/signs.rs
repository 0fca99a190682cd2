//! Signs: observations that by themselves show what the target or the users did.

use metrics::{Counter, Failure, Measure, Timings};
use pacing::Nanos;
use plan::Load;

use super::known::{Basis, Gaps, PaceHeld};
use super::{Evidence, failed, syns, within};

/// Users that pause keep their pace when the target has less than this share of their iterations.
const TARGET_SHARE_MAX: f64 = 0.5;
/// Iterations that begin at this share of the rate of a pacing follow it; the last ones may be missing.
const PACE_SHARE_MIN: f64 = 0.99;
/// Requests that waited for a connection for this share of their time had too few of them.
const WAIT_SHARE_MIN: f64 = 0.5;
/// The share of refusing responses from which on they are reported.
const REFUSED_SHARE_MIN: f64 = 0.01;
/// The divisor of the measured time: a user without a response for that part of it was starved.
const STARVED_SHARE: u64 = 2;
/// The responses that each of the others had meanwhile.
const STARVED_OTHERS_MIN: u64 = 10;
/// A load opens connections all the time when it does so for this share of its requests.
const OPENING_SHARE_MIN: f64 = 0.5;
/// Statuses that mean overload.
const REFUSING: [u16; 4] = [TOO_MANY, 502, 503, 504];
const TOO_MANY: u16 = 429;
/// The share of all failures that counts as most of them.
const MOST: f64 = 0.9;
const OVERLOADED_SHARE_MIN: f64 = 0.2;

/// A gap, in which nothing came back for a while. One no longer than the retry of a SYN takes is no stall of a target
/// whose listen queue was full: all of its clients waited for a retry.
pub(super) fn gaps_basis(evidence: &Evidence<'_>, gaps: Gaps) -> Basis {
    if gaps.refused > 0 {
        return Basis::Outage(gaps);
    }
    let is_one_retry = gaps.to - gaps.from <= syns::RETRY_MAX;
    lost_syns(evidence).filter(|_| is_one_retry).unwrap_or(Basis::StoodStill(gaps))
}

/// Failures that show what the target did.
pub(super) fn failures_basis(evidence: &Evidence<'_>) -> Option<Basis> {
    lost_syns(evidence).or_else(|| starved(evidence))
}

/// Connections were open only after their SYN had been sent again, in a load that opens one for most of its requests:
/// elsewhere that is a moment at its beginning.
fn lost_syns(evidence: &Evidence<'_>) -> Option<Basis> {
    let (connect, finished) = (&evidence.total.connect, evidence.total.counts.finished());
    let opens_many = connect.count() as f64 >= OPENING_SHARE_MIN * finished as f64;
    let lost = syns::lost(connect).filter(|_| opens_many)?;
    Some(Basis::LostSyns { lost, of: connect.count() })
}

/// Some responses of the target have a status that means overload, or that no server behind it took the request.
pub(super) fn refusals_basis(evidence: &Evidence<'_>) -> Option<Basis> {
    let counts = &evidence.total.counts;
    let by_status = failed(counts, |failure| failure == Failure::Status);
    // Any 429 shows a limit; some of the other statuses may have any cause.
    let is_reported = |(status, refused): &(u16, u64)| {
        let least = if *status == TOO_MANY { REFUSED_SHARE_MIN } else { OVERLOADED_SHARE_MIN };
        let is_most = *refused <= by_status && *refused as f64 >= MOST * counts.failed() as f64;
        REFUSING.contains(status) && is_most && *refused as f64 > least * counts.finished() as f64
    };
    let (status, refused) = counts.statuses().filter(is_reported).max_by_key(|(_, refused)| *refused)?;
    let served_per_s = counts.succeeded() as f64 / measured_s(evidence);
    (counts.succeeded() > 0).then_some(Basis::Refusals { status, refused, served_per_s })
}

/// Users of a closed load that waited for most of it, while the others had response after response.
fn starved(evidence: &Evidence<'_>) -> Option<Basis> {
    let (Load::Closed { duration: Some(duration), .. }, None) = (&evidence.scenario.load, evidence.requested_per_s)
    else {
        return None;
    };
    let long_ns = Nanos::from(*duration).0 / STARVED_SHARE;
    let long = |timings: &Timings| timings.by_measure(Measure::Response).count_between(long_ns, u64::MAX);
    let of = evidence.scenario.users();
    let requests = long(&evidence.total.unfinished()) + long(&evidence.total.all());
    let others = of.checked_sub(requests).filter(|others| *others > 0)?;
    let is_left_out = requests > 0 && evidence.total.counts.responses() >= STARVED_OTHERS_MIN * others;
    is_left_out.then_some(Basis::Starved { requests, of })
}

/// Users of a closed load that kept their pacing or their pauses, while the target had little of their time.
pub(super) fn held(evidence: &Evidence<'_>, all: &Timings) -> Option<PaceHeld> {
    let scenario = evidence.scenario;
    if scenario.every.is_none() && !scenario.program.pauses() {
        return None;
    }
    let users_s = evidence.users_s?;
    let held = users_basis(evidence, all, users_s)?;
    let is_kept = match scenario.every {
        // The last iteration of each may have begun and not ended.
        Some(every) => {
            let iterations = held.iterations_per_s * measured_s(evidence);
            let is_in_time = held.target_ns < every.as_nanos() as f64;
            is_in_time && iterations + held.users >= PACE_SHARE_MIN * users_s / every.as_secs_f64()
        }
        None => gives_the_target_little(&held),
    };
    is_kept.then_some(held)
}

/// Users of an open load that pause, while the target had little of their time: starts wait for their pauses.
pub(super) fn pausing(evidence: &Evidence<'_>, all: &Timings, connections: u64) -> Option<PaceHeld> {
    let held = users_basis(evidence, all, connections as f64 * measured_s(evidence))?;
    (evidence.scenario.program.pauses() && gives_the_target_little(&held)).then_some(held)
}

/// Whether most of an iteration is pauses.
fn gives_the_target_little(held: &PaceHeld) -> bool {
    held.target_ns < TARGET_SHARE_MAX * held.iteration_ns
}

/// Figures of users that were there together for a time.
fn users_basis(evidence: &Evidence<'_>, all: &Timings, users_s: f64) -> Option<PaceHeld> {
    let counts = &evidence.total.counts;
    let iterations = match evidence.scenario.program.is_one_exchange() {
        true => counts.finished(),
        false => counts[Counter::Iterations] + counts[Counter::IterationsFailed],
    } as f64;
    if iterations == 0.0 || users_s <= 0.0 {
        return None;
    }
    let unfinished = evidence.total.unfinished();
    // A user that waits for a start does nothing, and blocks no other.
    let is_closed = evidence.requested_per_s.is_none();
    let measure = if is_closed { Measure::Response } else { Measure::Service };
    let with_target = [all.by_measure(measure), unfinished.by_measure(measure), &evidence.total.connect];
    let with_target = &with_target[..if is_closed { 2 } else { 3 }];
    let busy_ns = with_target.iter().map(|times| within(times, evidence.wall)).sum::<f64>();
    let (iteration_ns, target_ns) = (users_s * 1e9 / iterations, busy_ns / iterations);
    let span_s = measured_s(evidence);
    Some(PaceHeld { users: users_s / span_s, iterations_per_s: iterations / span_s, iteration_ns, target_ns })
}

/// The measured time, without the wait at the end.
fn measured_s(evidence: &Evidence<'_>) -> f64 {
    let followed = evidence.slices.span();
    if followed > Nanos::ZERO { followed.as_secs_f64() } else { evidence.wall.as_secs_f64() }
}

/// Requests of a closed load waited for one of the connections that users share, or for a stream.
pub(super) fn waits(evidence: &Evidence<'_>, all: &Timings) -> Option<Basis> {
    let (scenario, sum) = (evidence.scenario, |measure| all.by_measure(measure).sum() as f64);
    let connections = match scenario.shared_connections {
        Some(shared) if shared < scenario.users() => shared,
        _ if scenario.target().streams > 1 => scenario.load.connections(),
        _ => return None,
    };
    let share = sum(Measure::Wait) / sum(Measure::Response).max(1.0);
    (share >= WAIT_SHARE_MIN).then_some(Basis::Waits { connections, share })
}
