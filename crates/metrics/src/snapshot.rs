//! All that one shard saw in one span of time. Snapshots merge exactly, in any order.

use crate::catalog::{SeriesId, SeriesKind};
use crate::table::{SeriesClass, Table};
use crate::{
    Class, Counter, Counts, Distribution, Failure, FailuresByHost, Gauges, InFlightAges, Measure, Outcome, SAMPLES_MAX,
    SHOWN_MAX, Sample, Timings, ToolDetails,
};

/// The longest text of a server that is kept.
const SERVER_TEXT_CHARS_MAX: usize = 200;
/// Statuses and codes whose texts are kept.
pub(crate) const SERVER_TEXTS_MAX: usize = 256;

/// What one shard saw from one instant to another; merged, what all of them saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The counters.
    pub counts: Counts,
    /// Time from the start of a connection to its establishment.
    pub connect: Distribution,
    /// Time from there to the end of the TLS handshake.
    pub tls: Distribution,
    /// On streams of messages: from the i-th message to the i-th answer.
    pub message: Distribution,
    /// On streams of messages: how long those had waited whose call timed out before they were answered.
    pub message_incomplete: Distribution,
    /// On streams of messages: from one that answers none of ours back to the one before it.
    pub message_gap: Distribution,
    /// The time that dropped starts had waited when they were given up.
    pub dropped_after: Distribution,
    /// How long exchanges had waited, as far as it was told, that were in flight at a worker that was lost.
    pub lost_after: InFlightAges,
    /// How things stand at the end.
    pub gauges: Gauges,
    /// How late the shard's loop came to ticks that are evenly spaced; a stall is as many late ticks as it covers.
    pub lag: Distribution,
    /// Time in which the shard's loop stood still though something was due.
    pub stalled_ns: u64,
    /// Service times of successes that contain a stall of ours; most runs have none.
    pub(crate) covered: Option<Box<Distribution>>,
    /// CPU time that the shard's thread spent.
    pub cpu_ns: u64,
    /// Time that it was ready to run and had no core.
    pub run_delay_ns: u64,
    /// What servers said of a status of gRPC, or of a code with which they closed WebSockets: one text for each, of those that were
    /// heard the first in the alphabet. By their numbers.
    pub(crate) server_texts: Vec<(u16, Box<str>)>,
    /// Where redirects are followed: from the intended instant of the first request to the end of the last answer.
    pub chains: Distribution,
    /// What only some views ask for.
    pub particulars: ToolDetails,
    /// Where failures were met, when the load goes to several places.
    pub blamed: FailuresByHost,
    /// Exchanges as they went, where they were kept: the first ones.
    pub(crate) samples: Vec<Sample>,
    /// Steps, transactions and custom values.
    pub(crate) table: Table,
}

impl Snapshot {
    /// Counts the outcome of an exchange, and gives the timings of its series: the response time of each is recorded there.
    #[inline]
    pub fn outcome(&mut self, series: SeriesId, outcome: Outcome) -> &mut Timings {
        match outcome {
            Outcome::Succeeded => self.counts[Counter::Succeeded] += 1,
            Outcome::Failed(failure) => {
                self.counts.failures[failure.index()] += 1;
                self.table.fail(series, failure, 1);
            }
        }
        self.table.timings_mut(series, SeriesClass::As(Class::of(outcome)))
    }

    /// Records one value into a series that is no step: the time of a transaction, or what a script measured. It counts once.
    #[inline]
    pub fn record(&mut self, series: SeriesId, class: Class, value: u64) {
        self.table.timings_mut(series, SeriesClass::As(class)).record(Measure::Response, value);
    }

    /// What was recorded as failed failed for this reason.
    pub fn fail(&mut self, series: SeriesId, failure: Failure) {
        self.table.fail(series, failure, 1);
    }

    /// The same of what did not end before the run: it takes this long at least.
    pub fn record_unfinished(&mut self, series: SeriesId, value: u64) {
        self.table.timings_mut(series, SeriesClass::Not).record(Measure::Response, value);
    }

    /// The service time of a success contains a stall of ours.
    pub fn cover(&mut self, service_ns: u64) {
        self.covered.get_or_insert_default().record(service_ns);
    }

    /// Such service times; `None` without any.
    pub fn covered(&self) -> Option<&Distribution> {
        self.covered.as_deref()
    }

    /// How many there are.
    pub fn covered_count(&self) -> u64 {
        self.covered().map_or(0, Distribution::count)
    }

    /// A text is known for this status of gRPC, or code of a close.
    pub fn has_server_text(&self, status: usize) -> bool {
        self.server_text(status).is_some()
    }

    /// What a server said of this status of gRPC, or with this code of a close; the ones are below 1000, the others are not.
    pub fn server_text(&self, status: usize) -> Option<&str> {
        self.server_texts.iter().find(|(number, _)| usize::from(*number) == status).map(|(_, text)| &**text)
    }

    /// Keeps what a server said of a status of gRPC, or of a close, in one line that is not too long.
    pub fn hear(&mut self, status: usize, text: &str) {
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

    /// Counts a start that was given up after `waited_ns`.
    pub fn drop_start(&mut self, waited_ns: u64) {
        self.counts[Counter::Dropped] += 1;
        self.dropped_after.record(waited_ns);
    }

    /// Counts exchanges that were in flight at a worker that was lost. `ages`: how long some of them, or all, had waited when they were
    /// told last; of the others nothing is known.
    pub fn lose(&mut self, count: u64, ages: &InFlightAges) {
        self.counts[Counter::GoalMisses] += count;
        let (mut response, mut service) = (count, count);
        // Else some of those that wait were not counted as started yet: nobody knows which.
        if ages.response.count() <= count {
            self.lost_after.merge(ages);
            (response, service) = (count - ages.response.count(), count.saturating_sub(ages.service.count()));
        }
        self.lost_after.response.record_many(0, response);
        self.lost_after.service.record_many(0, service);
    }

    /// What servers said is changed: secrets go before it is shown.
    pub fn change_server_texts(&mut self, change: impl Fn(&str) -> String) {
        self.server_texts.iter_mut().for_each(|(_, text)| *text = change(text).into());
    }

    /// A further failed exchange is wanted.
    #[inline]
    pub fn wants_samples(&self) -> bool {
        self.samples.len() < SAMPLES_MAX
    }

    /// Exchanges that were kept, in the order of their instants.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Keeps an exchange, as long as it is among the first.
    pub fn keep_sample(&mut self, sample: Sample) {
        let most = if sample.is_shown { SHOWN_MAX } else { SAMPLES_MAX };
        let place = self.samples.partition_point(|known| known.at_ns <= sample.at_ns);
        self.samples.insert(place, sample);
        self.samples.truncate(most);
    }

    /// Counts an exchange that did not end. `waited_ns`: since it was intended, and since it was sent if it was.
    pub fn leave_unfinished(&mut self, series: SeriesId, waited_ns: u64, sent_ns: Option<u64>) {
        self.counts[Counter::Unfinished] += 1;
        let timings = self.table.timings_mut(series, SeriesClass::Not);
        timings.record(Measure::Response, waited_ns);
        if let Some(sent_ns) = sent_ns {
            timings.record(Measure::Service, sent_ns);
        }
    }

    /// The same of so many that were never taken up, each of which waited at least so long.
    pub fn leave_many_unfinished(&mut self, series: SeriesId, count: u64, waited_ns: u64) {
        self.counts[Counter::Unfinished] += count;
        self.table.timings_mut(series, SeriesClass::Not).record_many(Measure::Response, waited_ns, count);
    }

    /// The times of exchanges that did not end, as far as they are known; empty when all did.
    pub fn unfinished(&self) -> Timings {
        self.of_steps(SeriesClass::Not)
    }

    /// The same of one series.
    pub fn unfinished_of(&self, series: SeriesId) -> Option<&Timings> {
        self.table.timings(series, SeriesClass::Not)
    }

    /// The timings of a series, of those that ended so; `None` when nothing was recorded.
    pub fn timings(&self, series: SeriesId, class: Class) -> Option<&Timings> {
        self.table.timings(series, SeriesClass::As(class))
    }

    /// How many of a series ended so: each has one response time.
    pub fn count_of(&self, series: SeriesId, class: Class) -> u64 {
        self.timings(series, class).map_or(0, |timings| timings.of(Measure::Response).count())
    }

    /// One series alone, as if nothing else had been seen: its times, and how many there are.
    #[must_use]
    pub fn only(&self, series: SeriesId) -> Self {
        let (mut seen, step) = (Self::default(), SeriesId::step(0));
        for class in Class::ALL {
            if let Some(timings) = self.timings(series, class) {
                let count = timings.of(Measure::Response).count();
                seen.counts[Counter::Started] += count;
                seen.counts[Counter::Succeeded] += if class == Class::Succeeded { count } else { 0 };
                seen.table.timings_mut(step, SeriesClass::As(class)).merge(timings);
            }
        }
        if let Some(timings) = self.unfinished_of(series) {
            let count = timings.of(Measure::Response).count();
            seen.counts[Counter::Started] += count;
            seen.counts[Counter::Unfinished] += count;
            seen.table.timings_mut(step, SeriesClass::Not).merge(timings);
        }
        // Each of those may have been of this series.
        seen.counts[Counter::GoalMisses] = self.counts.lost();
        seen.lost_after.merge(&self.lost_after);
        for (failure, count) in self.failures_of(series) {
            seen.counts.failures[failure.index()] += count;
            seen.table.fail(step, failure, count);
        }
        seen
    }

    /// The reasons for which some of a series failed, and how often each was met.
    pub fn failures_of(&self, series: SeriesId) -> impl Iterator<Item = (Failure, u64)> + '_ {
        let own = self.table.failures().filter(move |(known, _, _)| *known == series);
        own.map(|(_, failure, count)| (failure, count))
    }

    /// All steps of a class, merged; empty when nothing was recorded.
    pub fn class(&self, class: Class) -> Timings {
        self.of_steps(SeriesClass::As(class))
    }

    fn of_steps(&self, ended: SeriesClass) -> Timings {
        let mut sum = Timings::default();
        let steps = SeriesId::all(SeriesKind::Step).filter_map(|step| self.table.timings(step, ended));
        steps.for_each(|timings| sum.merge(timings));
        sum
    }

    /// All classes of all steps, merged: whatever ended.
    pub fn all(&self) -> Timings {
        let mut sum = Timings::default();
        Class::ALL.into_iter().for_each(|class| sum.merge(&self.class(class)));
        sum
    }

    /// Adds all of `other`, gauges too.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.connect.merge(&other.connect);
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
        if let Some(covered) = &other.covered {
            self.covered.get_or_insert_default().merge(covered);
        }
        for (status, text) in &other.server_texts {
            self.hear(usize::from(*status), text);
        }
        self.blamed.merge(&other.blamed);
        self.chains.merge(&other.chains);
        self.particulars.merge(&other.particulars);
        for sample in &other.samples {
            self.keep_sample(sample.clone());
        }
        self.table.merge(&other.table);
    }

    /// Bytes that the series take.
    pub fn series_bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.connect.clear();
        self.tls.clear();
        self.message.clear();
        self.message_incomplete.clear();
        self.message_gap.clear();
        self.dropped_after.clear();
        self.lost_after.clear();
        self.lag.clear();
        self.gauges.clear();
        self.covered = None;
        self.stalled_ns = 0;
        (self.cpu_ns, self.run_delay_ns) = (0, 0);
        self.server_texts.clear();
        self.samples.clear();
        self.blamed.clear();
        self.chains.clear();
        self.particulars.clear();
        self.table.clear();
    }
}
