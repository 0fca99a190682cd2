//! Results of a hold.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use engine::{HoldResult, MemoryUse, WorkersSummary};
use metrics::{Censored, Distribution, Failure, HeldCounters, HeldCounts, HeldNow, TlsFault};
use pacing::Nanos;
use plan::{Hold, HoldWork};

use crate::times::UnreliableMarks;
use crate::{FailureCount, HostFacts, Times, per_second};

/// Open-file limits that servers often have; the number of established connections is compared with them.
const COMMON_LIMITS: [u64; 14] =
    [256, 512, 1_024, 2_048, 4_096, 8_192, 10_000, 10_240, 16_384, 20_000, 32_768, 65_536, 100_000, 1_048_576];
/// The most descriptors that a server has open besides its connections.
const OTHER_DESCRIPTORS_MAX: u64 = 48;
/// The share of due messages that must have been sent and answered.
const RATE_SHARE_MIN: f64 = 0.99;
/// A generator that used this share of its threads' time is saturated.
const BUSY_SHARE: f64 = 0.85;

/// Counts of a hold. The plain counters are available through `Deref`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldTally {
    /// The plain counters.
    pub counters: HeldCounters,
    /// Attempts that failed.
    pub failed: u64,
    /// Failed attempts by reason, the most frequent first.
    pub failed_by: Vec<FailureCount>,
    /// Established connections that were lost.
    pub lost: u64,
    /// Lost connections by reason, the most frequent first.
    pub lost_by: Vec<FailureCount>,
}

impl Deref for HeldTally {
    type Target = HeldCounters;

    fn deref(&self) -> &HeldCounters {
        &self.counters
    }
}

impl HeldTally {
    /// The tally of the shards' counters.
    pub fn of(counts: &HeldCounts) -> Self {
        let reasons = |of: &[u64]| HeldCounts::reasons(of).into_iter().map(FailureCount::held).collect();
        Self {
            counters: counts.counters,
            failed: counts.failed_in_all(),
            failed_by: reasons(&counts.failed),
            lost: counts.lost_in_all(),
            lost_by: reasons(&counts.lost),
        }
    }
}

/// The data of all shards about a hold in one interval.
#[derive(Clone, Debug)]
pub struct HeldInterval {
    /// The number of the interval; the first is 1.
    pub number: u64,
    /// Whether it is an update: it was reported before without a shard that was late, and is more complete now.
    pub is_update: bool,
    /// Start of the interval, since the start of the hold.
    pub from: Nanos,
    /// End of the interval, since the start of the hold.
    pub to: Nanos,
    /// Counts of the interval.
    pub seen: HeldTally,
    /// Counts since the start.
    pub total: HeldTally,
    /// Gauges at the end of the interval.
    pub now: HeldNow,
    /// Response times of messages in the interval.
    pub response: Times,
    /// Response times of all messages since the start.
    pub answered: Distribution,
    /// Connections established per second.
    pub established_per_s: f64,
    /// Messages per second that were answered or came unsolicited.
    pub messages_per_s: f64,
    /// Bytes per second in both directions.
    pub bytes_per_s: f64,
    /// Memory at the end of the interval.
    pub memory: MemoryUse,
}

impl HeldInterval {
    /// The figures of an interval that the engine reports.
    pub fn of(interval: &engine::HoldInterval<'_>) -> Self {
        let &engine::HoldInterval { number, is_update, from, to, seen, total, memory, .. } = interval;
        let seconds = (to - from).as_secs_f64();
        let tally = HeldTally::of(&seen.counts);
        Self {
            number,
            is_update,
            from,
            to,
            now: seen.now,
            response: of_responses(seen, &seen.response),
            answered: total.response.clone(),
            established_per_s: per_second(tally.established(), seconds),
            messages_per_s: per_second(tally.answered() + tally.pushed(), seconds),
            bytes_per_s: per_second(tally.bytes_received() + tally.bytes_queued(), seconds),
            seen: tally,
            total: HeldTally::of(&total.counts),
            memory,
        }
    }
}

/// Times of messages, including the incomplete ones.
fn of_responses(seen: &metrics::Held, times: &metrics::Distribution) -> Times {
    Times::new(times, &Censored::from_times(&seen.incomplete, times), UnreliableMarks::default())
}

/// The reason why a due message does not count as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortfallReason {
    /// Never sent.
    Unsent,
    /// Not answered.
    Unanswered,
    /// Sent by a worker that was lost before it reported whether they were answered.
    Unknown,
    /// Due on a connection that was lost.
    Missed,
    /// Refused by the check.
    Refused,
}

/// Due messages that do not count as done, of one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageShortfall {
    /// The reason.
    pub by: ShortfallReason,
    /// The count.
    pub count: u64,
}

/// The input for the results of a hold.
#[derive(Debug)]
pub struct HeldInput {
    /// The plan of the hold.
    pub plan: Arc<Hold>,
    /// The target, resolved.
    pub address: SocketAddr,
    /// The time of the name lookup, when there was one.
    pub lookup: Option<Duration>,
    /// The result of the hold.
    pub result: HoldResult,
    /// Facts of the machine.
    pub host: HostFacts,
}

/// The results of a hold. Those of the engine are available through `Deref`.
#[derive(Clone, Debug)]
pub struct Held {
    /// The result of the engine; what it counted is in the figures.
    result: HoldResult,
    /// The plan of the hold.
    pub plan: Arc<Hold>,
    /// The target, resolved.
    pub address: SocketAddr,
    /// The time of the name lookup, when there was one.
    pub lookup: Option<Duration>,
    /// The counts.
    pub tally: HeldTally,
    /// Times of connections.
    pub connect: Times,
    /// Times from the intended instant of a message to its response.
    pub response: Times,
    /// The same as a histogram, as recorded.
    pub answered: Distribution,
    /// Times from the sending of a message to its response.
    pub service: Times,
    /// Times between unsolicited messages.
    pub gap: Times,
    /// Lateness of the loops.
    pub lag: Times,
    /// Messages that all connections were to send a second, and that were achieved while all were held, where their
    /// times are planned.
    pub requested_and_achieved: Option<(f64, f64)>,
    /// Bytes that came and that left a second while the connections were held; over the whole time when that was too
    /// short.
    pub bytes_per_s: (f64, f64),
    /// Messages are answered.
    pub has_responses: bool,
    /// Whether at least 99 of 100 due messages were sent and answered.
    pub is_rate_kept: bool,
    /// Whether the hold succeeded: it completed, every connection was established, none was lost, and each due message
    /// was sent and answered.
    pub is_kept: bool,
    /// Due messages that do not count as done.
    pub owed: Vec<MessageShortfall>,
    /// The most connections that the target accepted, and the common server limit near that number.
    pub target_limit: Option<(u64, u64)>,
    /// Whether the loops of the generator were too late, or saturated.
    pub is_generator_busy: bool,
    /// Facts of the machine.
    pub host: HostFacts,
}

impl Deref for Held {
    type Target = HoldResult;

    fn deref(&self) -> &HoldResult {
        &self.result
    }
}

impl Held {
    /// Computes all figures of a hold.
    pub fn of(input: HeldInput) -> Self {
        let HeldInput { plan, address, lookup, result, host } = input;
        let (total, tally) = (&result.total, HeldTally::of(&result.total.counts));
        let has_responses =
            plan.step.messaging.as_ref().is_none_or(|messaging| messaging.response != plan::ResponseEnd::None);
        // For messages that want no response nothing is unaccounted.
        let workers_summary = result.workers_summary.as_ref().filter(|_| has_responses);
        let unknown = workers_summary.map_or(0, |workers_summary| workers_summary.books.unaccounted_responses);
        let owed = owed(&tally, has_responses, unknown);
        let has_all = result.most_open == plan.connections;
        let has_losses = result.workers_summary.as_ref().is_some_and(WorkersSummary::has_losses);
        let could = result.wall.0 as f64 * result.threads as f64;
        Self {
            address,
            lookup,
            connect: Times::known(&total.connect),
            response: of_responses(total, &total.response),
            answered: total.response.clone(),
            service: of_responses(total, &total.service),
            gap: Times::known(&total.gap),
            lag: Times::known(&total.lag),
            requested_and_achieved: requested_and_achieved(&plan, &result, &tally, has_responses),
            bytes_per_s: bytes_per_s(&result, &tally),
            has_responses,
            is_rate_kept: is_rate_kept(&plan, &tally, has_responses, unknown),
            is_kept: !result.was_stopped && has_all && !has_losses && tally.lost == 0 && owed.is_empty(),
            owed,
            target_limit: target_limit(&plan, result.most_open, &tally),
            is_generator_busy: result.is_unreliable() || tally.cpu_ns() as f64 > BUSY_SHARE * could,
            host,
            tally,
            plan,
            result,
        }
    }
}

/// Messages that count as done.
fn done(counters: &HeldCounters, has_responses: bool) -> u64 {
    if has_responses { counters.answered() } else { counters.messages_left() }
}

/// What happened a second while the connections were held: each shard has its own time. `None` when that was too short.
fn held_per_s(result: &HoldResult, count: impl Fn(&HeldCounters) -> u64) -> Option<f64> {
    let rates = result.steady.iter().map(|(counted, time)| per_second(count(counted), time.as_secs_f64()));
    (!result.steady.is_empty()).then(|| rates.sum())
}

fn bytes_per_s(result: &HoldResult, tally: &HeldTally) -> (f64, f64) {
    let seconds = result.wall.as_secs_f64();
    let of = |count: fn(&HeldCounters) -> u64| {
        held_per_s(result, count).unwrap_or_else(|| per_second(count(&tally.counters), seconds))
    };
    (of(HeldCounters::bytes_received), of(HeldCounters::bytes_sent))
}

fn requested_and_achieved(
    plan: &Hold,
    result: &HoldResult,
    tally: &HeldTally,
    has_responses: bool,
) -> Option<(f64, f64)> {
    let HoldWork::Every(every) = plan.work else { return None };
    let each = 1.0 / every.as_secs_f64();
    let achieved = held_per_s(result, |counted| done(counted, has_responses)).unwrap_or_else(|| {
        // Of a time without a whole interval: the share that was done of what was due, on the connections that there
        // were.
        let due = (tally.due() + tally.missed()).max(1) as f64;
        result.most_open as f64 * each * done(&tally.counters, has_responses) as f64 / due
    });
    Some((plan.connections as f64 * each, achieved))
}

fn is_rate_kept(plan: &Hold, tally: &HeldTally, has_responses: bool, unknown: u64) -> bool {
    let HoldWork::Every(_) = plan.work else { return true };
    // What a lost worker has not told is no fault of the target.
    (done(&tally.counters, has_responses) + unknown) as f64 >= RATE_SHARE_MIN * (tally.due() + tally.missed()) as f64
}

fn target_limit(plan: &Hold, open: u64, tally: &HeldTally) -> Option<(u64, u64)> {
    let waits = |failure: Failure| {
        matches!(
            failure,
            Failure::ConnectTimeout
                | Failure::Tls(TlsFault::NoAnswer)
                | Failure::NoFirstAnswer
                | Failure::Timeout
                | Failure::ClosedEarly
                | Failure::Reset
        )
    };
    let refused: u64 = tally.failed_by.iter().filter(|each| waits(each.failure)).map(|each| each.count).sum();
    let limit = COMMON_LIMITS.iter().copied().find(|limit| (open..=open + OTHER_DESCRIPTORS_MAX).contains(limit))?;
    (refused > 0 && open > 0 && limit < plan.connections).then_some((open, limit))
}

fn owed(tally: &HeldTally, has_responses: bool, unknown: u64) -> Vec<MessageShortfall> {
    // A message that is not known to be answered counts as unanswered, unless the worker that would know was lost.
    let unanswered = match has_responses {
        true => tally.due().saturating_sub(tally.unsent() + tally.answered() + unknown).max(tally.unanswered()),
        false => tally.unanswered(),
    };
    let unsent = match has_responses {
        true => tally.unsent(),
        false => tally.due().saturating_sub(tally.messages_left()).max(tally.unsent()),
    };
    let all = [
        (ShortfallReason::Unsent, unsent),
        (ShortfallReason::Unanswered, unanswered),
        (ShortfallReason::Unknown, unknown),
        (ShortfallReason::Missed, tally.missed()),
        (ShortfallReason::Refused, tally.refused()),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).map(|(by, count)| MessageShortfall { by, count }).collect()
}
