//! The measurements of one shard in one time span. Snapshots merge exactly, in any order.

use crate::catalog::{SeriesId, SeriesKind};
use crate::own_figures::{OwnTotal, OwnTotals, OwnValue};
use crate::table::{CheckCounts, SeriesClass, Table};
use crate::{
    ByAddress, Class, Counter, Counts, Distribution, Failure, FailuresByHost, Gauges, InFlightAges, Measure, Outcome,
    SAMPLES_MAX, SHOWN_MAX, Sample, Timings, ToolDetails,
};

/// The longest server text that is stored, in characters.
const SERVER_TEXT_CHARS_MAX: usize = 200;
/// The most statuses and codes whose texts are stored.
pub(crate) const SERVER_TEXTS_MAX: usize = 256;

/// The measurements of one shard between two instants; merged, those of all shards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The counters.
    pub counts: Counts,
    /// Time from the start of a connection to its establishment.
    pub connect: Distribution,
    /// Through a proxy: time from there until the tunnel to the target is open.
    pub proxy_tunnel: Distribution,
    /// Time from there to the end of the TLS handshake.
    pub tls: Distribution,
    /// On message streams: the time from the i-th message to the i-th response.
    pub message: Distribution,
    /// On message streams: the ages of the messages whose call timed out before they were answered.
    pub message_incomplete: Distribution,
    /// On message streams: the time from an unsolicited message back to the message before it.
    pub message_gap: Distribution,
    /// The time that dropped starts had waited when they were dropped.
    pub dropped_after: Distribution,
    /// The ages, as far as reported, of exchanges that were in flight at a worker when it was lost.
    pub lost_after: InFlightAges,
    /// The gauges at the end.
    pub gauges: Gauges,
    /// Lateness of the shard's loop at evenly spaced ticks; a stall counts as the late ticks that it covers.
    pub lag: Distribution,
    /// Time in which the shard's loop stalled though something was due.
    pub stalled_ns: u64,
    /// Service times of successes that contain a stall of the generator; most runs have none.
    pub(crate) stall_affected: Option<Box<Distribution>>,
    /// CPU time that the shard's thread used.
    pub cpu_ns: u64,
    /// Time in which it was runnable and had no core.
    pub run_delay_ns: u64,
    /// Texts that servers sent with a gRPC status, or with a WebSocket close code: one text for each, the
    /// alphabetically first of those received. Ordered by number.
    pub(crate) server_texts: Vec<(u16, Box<str>)>,
    /// Where redirects are followed: the time from the intended instant of the first request to the end of the last
    /// response.
    pub chains: Distribution,
    /// Data that only some views use.
    pub tool_details: ToolDetails,
    /// Failures by host, when the load goes to several hosts.
    pub failures_by_host: FailuresByHost,
    /// Measurements by address, where a name has several.
    pub by_address: ByAddress,
    /// Recorded exchanges, where enabled: the first ones.
    pub(crate) samples: Vec<Sample>,
    /// Steps, transactions and custom values.
    pub(crate) table: Table,
    /// Figures of the user's own.
    pub(crate) own: OwnTotals,
}

impl Snapshot {
    /// Counts the outcome of an exchange, and returns the timings of its series: the response time of each is recorded
    /// there.
    #[inline]
    pub fn outcome(&mut self, series: SeriesId, outcome: Outcome) -> &mut Timings {
        match outcome {
            Outcome::Succeeded => {
                self.counts[Counter::Succeeded] += 1;
                self.table.timings_mut(series, SeriesClass::As(Class::Succeeded))
            }
            Outcome::Failed(failure) => self.failed(series, failure),
        }
    }

    /// Apart from successes: most exchanges are one.
    #[cold]
    fn failed(&mut self, series: SeriesId, failure: Failure) -> &mut Timings {
        self.counts.failures[failure.index()] += 1;
        self.table.fail(series, failure, 1);
        self.table.timings_mut(series, SeriesClass::As(Class::from_outcome(Outcome::Failed(failure))))
    }

    /// Records one value into a series that is no step: the time of a transaction, or a value measured by a script. It
    /// counts once. A check is counted alone, whatever the value is.
    #[inline]
    pub fn record(&mut self, series: SeriesId, class: Class, value: u64) {
        if series.kind() == SeriesKind::Check {
            let passed = u64::from(class == Class::Succeeded);
            self.table.count_check(series, CheckCounts { passed, failed: 1 - passed });
            return;
        }
        self.table.timings_mut(series, SeriesClass::As(class)).record(Measure::Response, value);
    }

    /// Counts a success that came after its deadline; what is no step is no request.
    #[cold]
    pub fn miss_deadline(&mut self, series: SeriesId) {
        self.counts[Counter::MissedDeadline] += u64::from(series.kind() == SeriesKind::Step);
        self.table.missed.add(series, 1);
    }

    /// Counts a failure of a step after which it is tried again.
    #[cold]
    pub fn retry(&mut self, series: SeriesId) {
        self.counts[Counter::Retried] += 1;
        self.table.retried.add(series, 1);
    }

    /// The failures of a series after which it was tried again.
    pub fn retried_of(&self, series: SeriesId) -> u64 {
        self.table.retried.of(series)
    }

    /// The successes of a series that came after their deadline.
    pub fn missed_deadline_of(&self, series: SeriesId) -> u64 {
        self.table.missed.of(series)
    }

    /// Records a value of the figure of the user's own with this number.
    #[inline]
    pub fn record_own(&mut self, number: usize, value: OwnValue) {
        self.own.record(number, value);
    }

    /// What was recorded of the figure of the user's own with this number; `None` when nothing was.
    pub fn own(&self, number: usize) -> Option<&OwnTotal> {
        self.own.get(number)
    }

    /// Records the reason of a failure.
    pub fn fail(&mut self, series: SeriesId, failure: Failure) {
        self.table.fail(series, failure, 1);
    }

    /// Records a value that was incomplete at the end of the run: it takes this long at least.
    pub fn record_unfinished(&mut self, series: SeriesId, value: u64) {
        self.table.timings_mut(series, SeriesClass::Not).record(Measure::Response, value);
    }

    /// Records that the service time of a success contains a stall of the generator.
    pub fn cover(&mut self, service_ns: u64) {
        self.stall_affected.get_or_insert_default().record(service_ns);
    }

    /// The service times that contain a stall; `None` without any.
    pub fn stall_affected(&self) -> Option<&Distribution> {
        self.stall_affected.as_deref()
    }

    /// The number of service times that contain a stall.
    pub fn stall_affected_count(&self) -> u64 {
        self.stall_affected().map_or(0, Distribution::count)
    }

    /// Whether a text is stored for this gRPC status or close code.
    pub fn has_server_text(&self, status: usize) -> bool {
        self.server_text(status).is_some()
    }

    /// The text of servers for this gRPC status or close code; the former are below 1000, the latter are not.
    pub fn server_text(&self, status: usize) -> Option<&str> {
        self.server_texts.iter().find(|(number, _)| usize::from(*number) == status).map(|(_, text)| &**text)
    }

    /// Stores a server text for a gRPC status or a close code, as one line of limited length.
    pub fn learn_text(&mut self, status: usize, text: &str) {
        let line: String =
            text.chars().map(|each| if each.is_control() { ' ' } else { each }).take(SERVER_TEXT_CHARS_MAX).collect();
        let Ok(number) = u16::try_from(status) else { return };
        match self.server_texts.binary_search_by_key(&number, |(known, _)| *known) {
            Ok(place) if *self.server_texts[place].1 <= *line => {}
            Ok(place) => self.server_texts[place].1 = line.into(),
            Err(place) if self.server_texts.len() < SERVER_TEXTS_MAX => {
                self.server_texts.insert(place, (number, line.into()))
            }
            Err(_) => {}
        }
    }

    /// Counts a start that was dropped after `waited_ns`.
    pub fn drop_start(&mut self, waited_ns: u64) {
        self.counts[Counter::Dropped] += 1;
        self.dropped_after.record(waited_ns);
    }

    /// Counts exchanges that were in flight at a worker when it was lost. `ages`: the last reported ages of some or all
    /// of them; of the others nothing is known.
    pub fn lose(&mut self, count: u64, ages: &InFlightAges) {
        self.counts[Counter::LostWithWorker] += count;
        let (mut response, mut service) = (count, count);
        // Otherwise some of the waiting ones were not counted as started yet, and which ones is unknown.
        if ages.response.count() <= count {
            self.lost_after.merge(ages);
            (response, service) = (count - ages.response.count(), count.saturating_sub(ages.service.count()));
        }
        self.lost_after.response.record_many(0, response);
        self.lost_after.service.record_many(0, service);
    }

    /// Rewrites the server texts: secrets are removed before they are shown.
    pub fn change_server_texts(&mut self, change: impl Fn(&str) -> String) {
        self.server_texts.iter_mut().for_each(|(_, text)| *text = change(text).into());
    }

    /// Whether a further failed exchange is to be recorded.
    #[inline]
    pub fn wants_samples(&self) -> bool {
        self.samples.len() < SAMPLES_MAX
    }

    /// The recorded exchanges, in the order of their instants.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Records an exchange, as long as it is among the first.
    pub fn keep_sample(&mut self, sample: Sample) {
        let most = if sample.is_shown { SHOWN_MAX } else { SAMPLES_MAX };
        let place = self.samples.partition_point(|known| known.at_ns <= sample.at_ns);
        self.samples.insert(place, sample);
        self.samples.truncate(most);
    }

    /// Counts an incomplete exchange. `waited_ns`: since it was intended, and since it was sent if it was.
    pub fn leave_unfinished(&mut self, series: SeriesId, waited_ns: u64, sent_ns: Option<u64>) {
        self.counts[Counter::Unfinished] += 1;
        let timings = self.table.timings_mut(series, SeriesClass::Not);
        timings.record(Measure::Response, waited_ns);
        if let Some(sent_ns) = sent_ns {
            timings.record(Measure::Service, sent_ns);
        }
    }

    /// Counts `count` exchanges that were never taken up, each of which waited at least this long.
    pub fn leave_many_unfinished(&mut self, series: SeriesId, count: u64, waited_ns: u64) {
        self.counts[Counter::Unfinished] += count;
        self.table.timings_mut(series, SeriesClass::Not).record_many(Measure::Response, waited_ns, count);
    }

    /// The times of incomplete exchanges, as far as they are known; empty without any.
    pub fn unfinished(&self) -> Timings {
        self.step_timings(SeriesClass::Not)
    }

    /// The times of the incomplete exchanges of one series.
    pub fn unfinished_of(&self, series: SeriesId) -> Option<&Timings> {
        self.table.timings(series, SeriesClass::Not)
    }

    /// The timings of one class of a series; `None` when nothing was recorded.
    pub fn timings(&self, series: SeriesId, class: Class) -> Option<&Timings> {
        self.table.timings(series, SeriesClass::As(class))
    }

    /// How often the check of this series passed and failed.
    pub fn check_counts(&self, series: SeriesId) -> CheckCounts {
        self.table.check(series)
    }

    /// The number of exchanges of one class of a series: each has one response time. Of a check: its evaluations.
    pub fn count_of(&self, series: SeriesId, class: Class) -> u64 {
        if series.kind() == SeriesKind::Check {
            return self.table.check(series).of(class);
        }
        self.timings(series, class).map_or(0, |timings| timings.by_measure(Measure::Response).count())
    }

    /// One series alone, as if nothing else had been recorded: its times and its counts.
    #[must_use]
    pub fn only(&self, series: SeriesId) -> Self {
        let (mut seen, step) = (Self::default(), SeriesId::step(0));
        for class in Class::ALL {
            if let Some(timings) = self.timings(series, class) {
                let count = timings.by_measure(Measure::Response).count();
                seen.counts[Counter::Started] += count;
                seen.counts[Counter::Succeeded] += if class == Class::Succeeded { count } else { 0 };
                seen.table.timings_mut(step, SeriesClass::As(class)).merge(timings);
            }
        }
        if let Some(timings) = self.unfinished_of(series) {
            let count = timings.by_measure(Measure::Response).count();
            seen.counts[Counter::Started] += count;
            seen.counts[Counter::Unfinished] += count;
            seen.table.timings_mut(step, SeriesClass::Not).merge(timings);
        }
        seen.counts[Counter::MissedDeadline] += self.table.missed.of(series);
        seen.counts[Counter::Retried] += self.table.retried.of(series);
        let checked = self.table.check(series);
        seen.counts[Counter::Started] += checked.passed + checked.failed;
        seen.counts[Counter::Succeeded] += checked.passed;
        // Each of those may have been of this series, unless it has no exchanges.
        if series.kind() != SeriesKind::Check {
            seen.counts[Counter::LostWithWorker] = self.counts.lost();
            seen.lost_after.merge(&self.lost_after);
        }
        for (failure, count) in self.failures_of(series) {
            seen.counts.failures[failure.index()] += count;
            seen.table.fail(step, failure, count);
        }
        seen
    }

    /// The failures of a series, with their counts.
    pub fn failures_of(&self, series: SeriesId) -> impl Iterator<Item = (Failure, u64)> + '_ {
        let own = self.table.failures().filter(move |(known, _, _)| *known == series);
        own.map(|(_, failure, count)| (failure, count))
    }

    /// One class of all steps, merged; empty when nothing was recorded.
    pub fn class(&self, class: Class) -> Timings {
        self.step_timings(SeriesClass::As(class))
    }

    fn step_timings(&self, ended: SeriesClass) -> Timings {
        let mut sum = Timings::default();
        let steps = SeriesId::all(SeriesKind::Step).filter_map(|step| self.table.timings(step, ended));
        steps.for_each(|timings| sum.merge(timings));
        sum
    }

    /// All classes of all steps, merged: everything that completed.
    pub fn all(&self) -> Timings {
        let mut sum = Timings::default();
        Class::ALL.into_iter().for_each(|class| sum.merge(&self.class(class)));
        sum
    }

    /// Adds all of `other`, gauges too.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.connect.merge(&other.connect);
        self.proxy_tunnel.merge(&other.proxy_tunnel);
        self.tls.merge(&other.tls);
        self.message.merge(&other.message);
        self.message_incomplete.merge(&other.message_incomplete);
        self.message_gap.merge(&other.message_gap);
        self.dropped_after.merge(&other.dropped_after);
        self.lost_after.merge(&other.lost_after);
        self.cpu_ns += other.cpu_ns;
        self.run_delay_ns += other.run_delay_ns;
        self.gauges.merge(&other.gauges);
        self.lag.merge(&other.lag);
        self.stalled_ns += other.stalled_ns;
        if let Some(stall_affected) = &other.stall_affected {
            self.stall_affected.get_or_insert_default().merge(stall_affected);
        }
        for (status, text) in &other.server_texts {
            self.learn_text(usize::from(*status), text);
        }
        self.failures_by_host.merge(&other.failures_by_host);
        self.by_address.merge(&other.by_address);
        self.chains.merge(&other.chains);
        self.tool_details.merge(&other.tool_details);
        for sample in &other.samples {
            self.keep_sample(sample.clone());
        }
        self.table.merge(&other.table);
        self.own.merge(&other.own);
    }

    /// Bytes that the series and the figures of the user's own take.
    pub fn series_bytes(&self) -> usize {
        self.table.bytes() + self.own.bytes()
    }

    /// Resets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.connect.clear();
        self.proxy_tunnel.clear();
        self.tls.clear();
        self.message.clear();
        self.message_incomplete.clear();
        self.message_gap.clear();
        self.dropped_after.clear();
        self.lost_after.clear();
        self.lag.clear();
        self.gauges.clear();
        self.stall_affected = None;
        self.stalled_ns = 0;
        (self.cpu_ns, self.run_delay_ns) = (0, 0);
        self.server_texts.clear();
        self.samples.clear();
        self.failures_by_host.clear();
        self.by_address.clear();
        self.chains.clear();
        self.tool_details.clear();
        self.table.clear();
        self.own.clear();
    }
}
