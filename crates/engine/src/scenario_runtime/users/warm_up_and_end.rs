//! End of the warm-up, which resets the counts but those of connections, and end of the run, which aborts what is in flight.

use driver::Sockets;
use metrics::{Counter, RequestRecordEnd};
use pacing::Nanos;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::{Attempt, Exchange};
use crate::slab::Key;
#[cfg(test)]
use crate::swarm::mutants::{Bug, fault_injected};

impl ScenarioRuntime {
    /// Ends what is in flight as incomplete, counts it, and closes every connection, or begins to. `is_cut`: it had no
    /// grace.
    pub(crate) fn end(&mut self, is_cut: bool, sockets: &mut dyn Sockets) {
        let now = sockets.now();
        let before = self.unreported.counts.unfinished();
        self.trace_waiting(now);
        if self.users.pending_teardown > 0 {
            self.count_without_stop(self.users.pending_teardown);
        }
        self.leave_barriers(now);
        if let Some(open) = &mut self.users.open {
            open.count_unstarted(now, self.instants.counts_from, self.work.first_series, &mut self.unreported);
        }
        let open: Vec<Key> = self.in_flight.attempts.keys().collect();
        for key in open {
            self.count_last_sent(key, sockets);
            self.count_untaken_message(key, sockets);
            if let Some(attempt) = self.in_flight.attempts.remove(key) {
                self.leave_unfinished(attempt.exchange, Some(&attempt), now);
            }
        }
        // None is without an attempt; but every begun exchange must end.
        for key in self.in_flight.exchanges.keys().collect::<Vec<_>>() {
            self.leave_unfinished(key, None, now);
        }
        self.give_up_lookups(|_| true, now);
        self.keep_values();
        self.unreported.counts[Counter::IterationsCut] += self.counted_inside();
        self.cut_transactions(now);
        if is_cut {
            self.unreported.counts[Counter::Cut] += self.unreported.counts.unfinished() - before;
        }
        if self.work.capture_options.bodies {
            let mut head = self.pool.heads.last().to_vec();
            wire::http1::unfold(&mut head);
            self.unreported.tool_details.read_head(&head);
        }
        self.count_kernel_drops(sockets);
        self.close_gracefully(now, sockets);
    }

    /// An exchange did not end before the run.
    pub(in crate::scenario_runtime) fn leave_unfinished(&mut self, key: Key, attempt: Option<&Attempt>, now: Nanos) {
        let Some(exchange) = self.in_flight.exchanges.remove(key) else { return };
        if exchange.is_measured {
            self.count_unfinished(&exchange, attempt, now);
        }
        self.forget_step(exchange.step);
    }

    fn count_unfinished(&mut self, exchange: &Exchange, attempt: Option<&Attempt>, now: Nanos) {
        #[cfg(test)]
        if fault_injected(Bug::UnfinishedHasNoTime) {
            self.unreported.counts[Counter::Unfinished] += 1;
            return;
        }
        let series = if self.in_flight.is_simple {
            self.work.first_series
        } else {
            self.in_flight.steps[exchange.step as usize].series
        };
        self.trace_end(exchange, attempt, RequestRecordEnd::Unfinished, now);
        if let Some(attempt) = attempt {
            self.count_sent_to_address(exchange.address_slot, attempt);
        }
        let sent = attempt.filter(|attempt| attempt.was_sent()).map(|attempt| attempt.sent);
        let since = |at: Nanos| now.since(at).0;
        self.unreported.leave_unfinished(series, since(exchange.intended), sent.map(since));
    }

    /// The warm-up is over: counts are reset; connections stay. `goes_on`: so does the load.
    pub(crate) fn begin_measuring(&mut self, goes_on: bool) {
        let seen = &mut *self.unreported;
        let (tried, established) = (seen.counts.connections_tried(), seen.counts.connections_established());
        let (connect, tls) = (std::mem::take(&mut seen.connect), std::mem::take(&mut seen.tls));
        let proxy_tunnel = std::mem::take(&mut seen.proxy_tunnel);
        let (tls_resumed, warmed_up) = (seen.counts.tls_resumed(), seen.counts.warmed_up());
        let users_left = seen.counts.users_left();
        let by_address = seen.by_address.connections();
        seen.clear();
        seen.by_address = by_address;
        (seen.counts[Counter::WarmedUp], seen.counts[Counter::UsersLeft]) = (warmed_up, users_left);
        (seen.tls, seen.proxy_tunnel, seen.counts[Counter::TlsResumed]) = (tls, proxy_tunnel, tls_resumed);
        (seen.counts[Counter::ConnectionsTried], seen.counts[Counter::ConnectionsEstablished]) = (tried, established);
        seen.connect = connect;
        self.count_anew(goes_on);
    }

    /// The counter of an exchange that begins: one that was intended in the warm-up, and waited until it was over, is
    /// carried over.
    #[inline]
    pub(in crate::scenario_runtime) fn counter_of(&self, step: u32, intended: Nanos) -> Counter {
        let waited = || self.users.open.is_some() || self.in_flight.steps.is_hop(step);
        if intended < self.instants.measured_from && waited() { Counter::Carried } else { Counter::Started }
    }

    /// Counts what is in flight: it belongs to the measured time from here on. Some of it was intended after the
    /// warm-up, and began before the clock was checked; what began in the warm-up is carried over, with the instant at
    /// which it was intended.
    fn count_anew(&mut self, goes_on: bool) {
        let counts = &mut self.unreported.counts;
        for key in self.in_flight.exchanges.keys().collect::<Vec<_>>() {
            let Some(exchange) = self.in_flight.exchanges.find(key) else { continue };
            if !exchange.is_measured && !goes_on {
                continue;
            }
            counts[Counter::Attempts] += 1 + u64::from(exchange.tries);
            counts[Counter::Reconnects] += u64::from(exchange.tries);
            counts[Counter::BegunBefore] += u64::from(exchange.begun);
            if std::mem::replace(&mut exchange.is_measured, true) {
                counts[Counter::Started] += 1;
                counts[Counter::Redirects] += u64::from(self.in_flight.steps.is_hop(exchange.step));
            } else {
                counts[Counter::Carried] += 1;
            }
        }
        // Exchanges that wait for a connection, or for a look at it, are counted when they get it.
        let untried = self.untried() + self.awaiting_read();
        let counts = &mut self.unreported.counts;
        counts[Counter::Attempts] -= untried;
        for key in self.in_flight.attempts.keys().collect::<Vec<_>>() {
            let Some(attempt) = self.in_flight.attempts.find(key).filter(|attempt| attempt.was_sent()) else {
                continue;
            };
            let exchange = attempt.exchange;
            counts[Counter::Sent] +=
                u64::from(self.in_flight.exchanges.find(exchange).is_some_and(|exchange| exchange.is_measured));
        }
        if goes_on {
            self.instants.counts_from = Nanos::ZERO;
        }
        // A start that waits for a user was counted when it was due, or is when it begins.
        if let Some(open) = self.users.open.as_ref().filter(|open| open.counts_due()) {
            let waiting = open.waiting_from(self.instants.counts_from);
            waiting.for_each(|intended| self.unreported.counts[open.counter_of(intended)] += 1);
        }
    }
}
