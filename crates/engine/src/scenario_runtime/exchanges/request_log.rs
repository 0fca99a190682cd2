//! Exchanges that are shown one by one: the slowest, and those of a log.

use metrics::{Outcome, RequestRecord, RequestRecordEnd, Snapshot};
use pacing::Nanos;

use crate::request_log::{RequestLogConfig, ShardLog};
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::{Attempt, Exchange};
use crate::scenario_runtime::users::open::Open;

/// The request log of a runtime.
pub(in crate::scenario_runtime) struct RequestLog {
    /// The response time below which no exchange is shown: the one comparison that all others pay for this.
    pub(in crate::scenario_runtime) least_ns: u64,
    slowest: usize,
    log: Option<ShardLog>,
    shard: u32,
}

impl RequestLog {
    pub(in crate::scenario_runtime) fn new(log_config: &RequestLogConfig, shard: u32, scenario: usize) -> Self {
        let log = log_config.log.clone().map(|pipe| ShardLog::new(pipe, (u64::from(shard) << 32) | scenario as u64));
        let is_wanted = log.is_some() || log_config.slowest > 0;
        Self { least_ns: if is_wanted { 0 } else { u64::MAX }, slowest: log_config.slowest, log, shard }
    }

    /// Some exchanges are to be shown.
    #[inline]
    pub(in crate::scenario_runtime) fn is_open(&self) -> bool {
        self.least_ns < u64::MAX
    }

    /// Records an exchange that has ended, or does not.
    fn see(&mut self, traced: RequestRecord, seen: &mut Snapshot) {
        let has_ended = matches!(traced.end, RequestRecordEnd::Succeeded | RequestRecordEnd::Failed(_));
        if has_ended && self.slowest > 0 {
            let least_ns = seen.tool_details.slowest.keep(traced, self.slowest);
            if self.log.is_none() {
                // There are enough in this snapshot or an earlier one.
                self.least_ns = self.least_ns.max(least_ns);
            }
        }
        if let Some(log) = &mut self.log {
            log.write(traced);
        }
    }
}

impl ScenarioRuntime {
    /// Traces an exchange that has ended, and took at least the shortest time to show.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn trace(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&Attempt>,
        outcome: Outcome,
        done: Nanos,
    ) {
        let end = match outcome {
            Outcome::Succeeded => RequestRecordEnd::Succeeded,
            Outcome::Failed(failure) => RequestRecordEnd::Failed(failure),
        };
        self.trace_end(exchange, attempt, end, done);
    }

    /// Traces an exchange that is dropped, or ended by the end of the run.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn trace_end(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&Attempt>,
        end: RequestRecordEnd,
        at: Nanos,
    ) {
        if !self.request_log.is_open() {
            return;
        }
        let sent = attempt.filter(|attempt| attempt.was_sent()).map(|attempt| attempt.sent);
        let first_byte = attempt.map(|attempt| attempt.first_byte).filter(|first_byte| *first_byte != Nanos::NEVER);
        let status = attempt.and_then(|attempt| attempt.head.map(|head| head.status).or(attempt.status));
        let (step, trace) = (self.series_of(exchange.step), self.trace_of(exchange.step));
        let traced = RequestRecord {
            intended_ns: exchange.intended.since(self.instants.measured_from).0,
            response_ns: at.since(exchange.intended).0,
            lateness_ns: exchange.taken_up.since(exchange.intended).0,
            wait_ns: sent.map(|sent| sent.since(exchange.taken_up).0),
            service_ns: sent.map(|sent| at.since(sent).0),
            first_byte_ns: first_byte.zip(sent).map(|(first_byte, sent)| first_byte.since(sent).0),
            body_bytes: attempt.map_or(0, |attempt| attempt.body_bytes),
            step,
            shard: self.request_log.shard,
            status: status.unwrap_or(0),
            end,
            is_connection_new: attempt.is_some_and(|attempt| attempt.opened),
            trace,
        };
        self.request_log.see(traced, &mut self.unreported);
    }

    /// Traces a start that was dropped before it was an exchange.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn trace_start(&mut self, intended: Nanos, now: Nanos, end: RequestRecordEnd) {
        let exchange = Exchange::new(0, 0, intended, now, self.instants.counts_from);
        self.trace_end(&exchange, None, end, now);
    }

    /// Traces starts that have waited for a user until the end.
    pub(in crate::scenario_runtime) fn trace_waiting(&mut self, now: Nanos) {
        let waiting = |open: &Open| open.waiting_from(self.instants.counts_from).collect::<Vec<_>>();
        let waiting = self.users.open.as_ref().filter(|_| self.request_log.is_open()).map(waiting);
        waiting.unwrap_or_default().into_iter().for_each(|at| self.trace_start(at, now, RequestRecordEnd::Unfinished));
    }

    /// The number of a step in the plan, over all scenarios.
    fn series_of(&self, step: u32) -> u32 {
        let series =
            if self.in_flight.is_simple { self.work.first_series } else { self.in_flight.steps[step as usize].series };
        series.place()
    }

    /// The trace ID in the request of a step; 0 for none.
    fn trace_of(&self, step: u32) -> u128 {
        let made = (!self.in_flight.is_simple).then(|| self.in_flight.steps[step as usize].made.as_deref()).flatten();
        made.and_then(plan::trace_of).unwrap_or_default()
    }

    /// Sends the lines of the log, from time to time.
    pub(crate) fn flush_log(&mut self) {
        if let Some(log) = &mut self.request_log.log {
            log.flush();
        }
    }

    /// Sends the last lines.
    pub(crate) fn finish_log(&mut self) {
        if let Some(log) = &mut self.request_log.log {
            log.finish();
        }
    }
}
