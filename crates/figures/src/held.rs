//! Connections that were held.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use driver::DriverSelection;
use engine::{HoldResult, LateThread, MemoryUse, StoppedOpening, WorkersSummary};
use metrics::{Censored, Distribution, Failure, HeldCounters, HeldCounts, HeldNow, TlsFault};
use pacing::Nanos;
use plan::{Hold, HoldWork};
use wire::tls::Refused;

use crate::times::UnreliableMarks;
use crate::{FailureCount, HostFacts, Times, per_second};

/// A limit of open files that servers often have, near the number of connections that were taken.
const COMMON_LIMITS: [u64; 14] =
    [256, 512, 1_024, 2_048, 4_096, 8_192, 10_000, 10_240, 16_384, 20_000, 32_768, 65_536, 100_000, 1_048_576];
/// Descriptors that a server has open beside its connections, at most.
const OTHER_DESCRIPTORS_MAX: u64 = 48;
/// Of the messages that were due, those that must have left and been answered.
const RATE_SHARE_MIN: f64 = 0.99;
/// A generator that spent this share of its threads' time has none left.
const BUSY_SHARE: f64 = 0.85;

/// What was counted of held connections. The plain counters are read as if they stood here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldTally {
    /// The plain counters.
    pub counters: HeldCounters,
    /// Tries that failed.
    pub failed: u64,
    /// The same by reason, the most frequent first.
    pub failed_by: Vec<FailureCount>,
    /// Established connections that were lost.
    pub lost: u64,
    /// The same by reason, the most frequent first.
    pub lost_by: Vec<FailureCount>,
}

impl Deref for HeldTally {
    type Target = HeldCounters;

    fn deref(&self) -> &HeldCounters {
        &self.counters
    }
}

impl HeldTally {
    /// What the shards count.
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

/// What all shards saw of held connections in one interval.
#[derive(Clone, Debug)]
pub struct HeldInterval {
    /// The first is 1.
    pub number: u64,
    /// It was told before, without a thread that was late, and is more complete now.
    pub is_again: bool,
    /// Since the start.
    pub from: Nanos,
    /// Since the start.
    pub to: Nanos,
    /// What happened in between.
    pub seen: HeldTally,
    /// What happened since the start.
    pub total: HeldTally,
    /// How things stand at its end.
    pub now: HeldNow,
    /// Response times of messages in between.
    pub response: Times,
    /// Response times of all messages since the start.
    pub answered: Distribution,
    /// Connections that were established a second.
    pub established_per_s: f64,
    /// Messages that were answered or came unasked a second.
    pub messages_per_s: f64,
    /// Bytes in both directions a second.
    pub bytes_per_s: f64,
    /// Memory at its end.
    pub memory: MemoryUse,
}

impl HeldInterval {
    /// What the engine says of an interval.
    pub fn of(interval: &engine::HoldInterval<'_>) -> Self {
        let &engine::HoldInterval { number, is_again, from, to, seen, total, memory, .. } = interval;
        let seconds = (to - from).as_secs_f64();
        let tally = HeldTally::of(&seen.counts);
        Self {
            number,
            is_again,
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

/// Times of messages: those that were given up belong to them.
fn of_responses(seen: &metrics::Held, times: &metrics::Distribution) -> Times {
    Times::of(times, &Censored::of_times(&seen.incomplete, times), UnreliableMarks::default())
}

/// What became of messages of which not all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortfallReason {
    /// Never sent.
    Unsent,
    /// Not answered.
    Unanswered,
    /// Sent by a worker that was lost before it told whether they were answered.
    Unknown,
    /// Due on a connection that was lost.
    Missed,
    /// Refused by the check.
    Refused,
}

/// Messages that were due and of which not all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageShortfall {
    /// What became of them.
    pub by: ShortfallReason,
    /// How many.
    pub count: u64,
}

/// Of what figures of held connections are made.
#[derive(Debug)]
pub struct HeldInput {
    /// What was to be done.
    pub plan: Arc<Hold>,
    /// The target, resolved.
    pub address: SocketAddr,
    /// How long the lookup of its name took, when there was one.
    pub lookup: Option<Duration>,
    /// What it has come to.
    pub result: HoldResult,
    /// What the machine says.
    pub host: HostFacts,
}

/// Connections that were held, and what came of them.
#[derive(Clone, Debug)]
pub struct Held {
    /// What was to be done.
    pub plan: Arc<Hold>,
    /// The target, resolved.
    pub address: SocketAddr,
    /// How long the lookup of its name took, when there was one.
    pub lookup: Option<Duration>,
    /// Where connections came from, and where they went: how many of each.
    pub places: (usize, usize),
    /// From the start to the end of the last shard.
    pub wall: Nanos,
    /// When all connections had been tried, since the start; `None` when it was stopped before.
    pub opened_after: Option<Nanos>,
    /// When the closing began, since the start.
    pub closing_after: Option<Nanos>,
    /// Somebody stopped it before its time was over.
    pub was_stopped: bool,
    /// What was counted.
    pub tally: HeldTally,
    /// The most connections that were established at one time.
    pub most_open: u64,
    /// Connections that were open when all had been tried.
    pub open_when_opened: u64,
    /// Connections that were open when the closing began.
    pub open_when_closing: u64,
    /// Times of connections.
    pub connect: Times,
    /// From a message's intended instant to its answer.
    pub response: Times,
    /// The same, as it was recorded.
    pub answered: Distribution,
    /// From its sending to its answer.
    pub service: Times,
    /// Between messages that came unasked.
    pub gap: Times,
    /// How late the loops were.
    pub lag: Times,
    /// Messages that were asked for a second and that were achieved, where their times are planned.
    pub requested_and_achieved: Option<(f64, f64)>,
    /// Messages are answered.
    pub has_responses: bool,
    /// At least 99 of 100 messages that were due have left and were answered.
    pub is_rate_kept: bool,
    /// It came to its end, every connection was established, none was lost, and each message that was due was sent and answered.
    pub is_kept: bool,
    /// Messages of which not all is well.
    pub owed: Vec<MessageShortfall>,
    /// The target took so many connections and no more, which is near a limit that servers often have.
    pub target_limit: Option<(u64, u64)>,
    /// Opening ended early.
    pub stopped_opening: Option<StoppedOpening>,
    /// Memory when the most connections were established.
    pub memory: MemoryUse,
    /// Shards that worked.
    pub threads: usize,
    /// How late each loop was.
    pub loops: Vec<LateThread>,
    /// The thread whose loop was late most, if one was later than is good.
    pub late_thread: Option<LateThread>,
    /// The figures are the generator's as much as the target's.
    pub is_unreliable: bool,
    /// The loops of the generator were too late, or had no time left.
    pub is_generator_busy: bool,
    /// The driver that ran, and why.
    pub driver: DriverSelection,
    /// What the first certificate that was refused said of itself.
    pub refused: Option<Refused>,
    /// The target asked for a certificate of ours, and there was none.
    pub lacked_certificate: bool,
    /// What the machine says.
    pub host: HostFacts,
    /// Who held them, where others did.
    pub workers_summary: Option<WorkersSummary>,
}

impl Held {
    /// All figures of held connections.
    pub fn of(input: HeldInput) -> Self {
        let HeldInput { plan, address, lookup, result, host } = input;
        let (total, tally) = (&result.total, HeldTally::of(&result.total.counts));
        let has_responses = plan.step.talk.as_ref().is_none_or(|talk| talk.response != plan::ResponseEnd::None);
        // Of messages that want no answer nothing is unknown.
        let workers_summary = result.workers_summary.as_ref().filter(|_| has_responses);
        let unknown = workers_summary.map_or(0, |workers_summary| workers_summary.books.unknown_responses);
        let owed = owed(&tally, has_responses, unknown);
        let has_all = result.most_open == plan.connections;
        let has_losses = result.workers_summary.as_ref().is_some_and(WorkersSummary::has_losses);
        let (could, is_unreliable) = (result.wall.0 as f64 * result.threads as f64, result.is_unreliable());
        Self {
            address,
            lookup,
            places: result.places,
            wall: result.wall,
            opened_after: result.opened_after,
            closing_after: result.closing_after,
            was_stopped: result.was_stopped,
            most_open: result.most_open,
            open_when_opened: result.when_opened.open,
            open_when_closing: result.when_closing.open,
            connect: Times::known(&total.connect),
            response: of_responses(total, &total.response),
            answered: total.response.clone(),
            service: of_responses(total, &total.service),
            gap: Times::known(&total.gap),
            lag: Times::known(&total.lag),
            requested_and_achieved: requested_and_achieved(&plan, &result, &tally, has_responses),
            has_responses,
            is_rate_kept: is_rate_kept(&plan, &tally, has_responses, unknown),
            is_kept: !result.was_stopped && has_all && !has_losses && tally.lost == 0 && owed.is_empty(),
            owed,
            target_limit: target_limit(&plan, result.most_open, &tally),
            stopped_opening: result.stopped_opening,
            memory: result.memory,
            threads: result.threads,
            loops: result.loops(),
            late_thread: result.late_thread(),
            is_unreliable,
            is_generator_busy: is_unreliable || tally.cpu_ns() as f64 > BUSY_SHARE * could,
            driver: result.driver,
            refused: result.refused,
            lacked_certificate: result.lacked_certificate,
            host,
            workers_summary: result.workers_summary,
            tally,
            plan,
        }
    }
}

/// Messages that count as done.
fn done(tally: &HeldTally, has_responses: bool) -> u64 {
    if has_responses { tally.answered() } else { tally.messages_left() }
}

fn requested_and_achieved(
    plan: &Hold,
    result: &HoldResult,
    tally: &HeldTally,
    has_responses: bool,
) -> Option<(f64, f64)> {
    let HoldWork::Every(_) = plan.work else { return None };
    let span = result.closing_after.unwrap_or(result.wall).as_secs_f64();
    Some((per_second(tally.due() + tally.missed(), span), per_second(done(tally, has_responses), span)))
}

fn is_rate_kept(plan: &Hold, tally: &HeldTally, has_responses: bool, unknown: u64) -> bool {
    let HoldWork::Every(_) = plan.work else { return true };
    // What a lost worker has not told is no fault of the target.
    (done(tally, has_responses) + unknown) as f64 >= RATE_SHARE_MIN * (tally.due() + tally.missed()) as f64
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
    // What is not known to be answered is not answered, unless a worker has taken the knowledge with it.
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
