//! All that one shard saw in one span of time. Snapshots merge exactly, in any order.

use crate::counts::Counts;

use crate::{Blamed, Class, Distribution, Outcome, ROWS_MAX, Row, SAMPLES_MAX, SHOWN_MAX, Sample};

/// Steps that have series of their own; those behind them share the last.
pub const SERIES_MAX: u32 = 64;
/// The longest text of a server that is kept.
const HEARD_CHARS_MAX: usize = 200;
/// Statuses and codes whose texts are kept.
const HEARD_MAX: usize = 256;

/// What is measured of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// done - intended.
    Response,
    /// done - sent.
    Service,
    /// sent - taken up.
    Wait,
    /// taken up - intended.
    Lateness,
    /// first byte - sent.
    FirstByte,
}

impl Measure {
    /// All of them, in the order of their index.
    pub const ALL: [Self; 5] = [Self::Response, Self::Service, Self::Wait, Self::Lateness, Self::FirstByte];

    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Response => "response_time",
            Self::Service => "service_time",
            Self::Wait => "wait",
            Self::Lateness => "lateness",
            Self::FirstByte => "first_byte",
        }
    }
}

/// One distribution for each [`Measure`].
#[derive(Clone, Debug, Default)]
pub struct Timings([Distribution; Measure::ALL.len()]);

impl Timings {
    /// The distribution of a measure.
    pub fn of(&self, measure: Measure) -> &Distribution {
        &self.0[measure as usize]
    }

    /// Adds one time.
    #[inline]
    pub fn record(&mut self, measure: Measure, value_ns: u64) {
        self.0[measure as usize].record(value_ns);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            own.merge(more);
        }
    }

    /// Bytes that the distributions take on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.0.iter().map(Distribution::heap_bytes).sum()
    }

    fn clear(&mut self) {
        self.0.iter_mut().for_each(Distribution::clear);
    }
}

/// Which series a record goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesKey {
    /// Index in the plan, over all scenarios.
    pub step: u32,
    /// How it ended.
    pub class: Class,
}

/// Series of one step: one for each class, and one for what did not end.
const SERIES_OF_STEP: usize = Class::ALL.len() + 1;
/// The place of what did not end among them.
const UNFINISHED: usize = Class::ALL.len();

impl SeriesKey {
    fn id(self) -> usize {
        self.step as usize * SERIES_OF_STEP + self.class as usize
    }
}

/// How long exchanges have waited that are in flight at one instant.
#[derive(Clone, Debug, Default)]
pub struct Ages {
    /// Since they were intended.
    pub response: Distribution,
    /// Since they were sent; of those that were.
    pub service: Distribution,
}

impl Ages {
    /// Those of a measure that grows with an exchange; `None` of another.
    pub fn of(&self, measure: Measure) -> Option<&Distribution> {
        match measure {
            Measure::Response => Some(&self.response),
            Measure::Service => Some(&self.service),
            Measure::Wait | Measure::Lateness | Measure::FirstByte => None,
        }
    }

    /// Adds what is in flight elsewhere at the same instant.
    pub fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.response.clear();
        self.service.clear();
    }
}

/// What one shard saw from one instant to another; merged, what all of them saw.
#[derive(Clone, Debug, Default)]
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
    pub message_given_up: Distribution,
    /// On streams of messages: from one that answers none of ours back to the one before it.
    pub message_gap: Distribution,
    /// The time that dropped starts had waited when they were given up.
    pub dropped_after: Distribution,
    /// Users that are at work (a gauge: merged over shards of one instant, not over time).
    pub users: u64,
    /// Connections that have carried an answer and are open (a gauge too).
    pub connections_open: u64,
    /// What is in flight at the end (a gauge as well).
    pub in_flight: Ages,
    /// How late the shard's loop came to ticks that are evenly spaced; a stall is as many late ticks as it covers.
    pub lag: Distribution,
    /// Time in which the shard's loop stood still though something was due.
    pub stalled_ns: u64,
    /// Service times of successes that contain a stall of ours; most runs have none.
    covered: Option<Box<Distribution>>,
    /// CPU time that the shard's thread spent.
    pub cpu_ns: u64,
    /// Time that it was ready to run and had no core.
    pub run_delay_ns: u64,
    /// What servers said of a status of gRPC, or of a code with which they closed WebSockets: one text for each, of those that were
    /// heard the first in the alphabet.
    heard: Vec<(u16, Box<str>)>,
    /// From the first byte of an answer to its last, where that was kept.
    pub reading: Distribution,
    /// From intended to sent, where that was kept.
    pub before: Distribution,
    /// Where redirects are followed: from the intended instant of the first request to the end of the last answer.
    pub chains: Distribution,
    /// Each exchange by itself, where they were kept.
    rows: Vec<Row>,
    /// Exchanges that found no room there.
    pub rows_left_out: u64,
    /// A head of an answer.
    head: Vec<u8>,
    /// Where failures were met, when the load goes to several places.
    pub blamed: Blamed,
    /// Exchanges as they went, where they were kept: the first ones.
    samples: Vec<Sample>,
    /// A series is allocated at its first record.
    series: Vec<Option<Box<Timings>>>,
}

impl Snapshot {
    /// Counts an outcome and gives the timings of its series.
    #[inline]
    pub fn outcome(&mut self, step: u32, outcome: Outcome) -> &mut Timings {
        match outcome {
            Outcome::Succeeded => self.counts.succeeded += 1,
            Outcome::Failed(failure) => self.counts.failures[failure.index()] += 1,
        }
        self.timings_mut(SeriesKey { step, class: Class::of(outcome) }.id())
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
    pub fn has_heard(&self, status: usize) -> bool {
        self.heard(status).is_some()
    }

    /// What a server said of this status of gRPC, or with this code of a close; the ones are below 1000, the others are not.
    pub fn heard(&self, status: usize) -> Option<&str> {
        self.heard.iter().find(|(number, _)| usize::from(*number) == status).map(|(_, text)| &**text)
    }

    /// Keeps what a server said of a status of gRPC, or of a close, in one line that is not too long.
    pub fn hear(&mut self, status: usize, text: &str) {
        let line: String =
            text.chars().map(|each| if each.is_control() { ' ' } else { each }).take(HEARD_CHARS_MAX).collect();
        let Ok(number) = u16::try_from(status) else { return };
        let has_room = self.heard.len() < HEARD_MAX;
        match self.heard.iter_mut().find(|(known, _)| *known == number) {
            Some((_, known)) if **known <= *line => {}
            Some((_, known)) => *known = line.into(),
            None if has_room => self.heard.push((number, line.into())),
            None => {}
        }
    }

    /// Counts a start that was given up after `waited_ns`.
    pub fn drop_start(&mut self, waited_ns: u64) {
        self.counts.dropped += 1;
        self.dropped_after.record(waited_ns);
    }

    /// What servers said is changed: secrets go before it is shown.
    pub fn change_heard(&mut self, change: impl Fn(&str) -> String) {
        self.heard.iter_mut().for_each(|(_, text)| *text = change(text).into());
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

    /// Keeps an exchange by itself, as long as there is room.
    pub fn keep_row(&mut self, row: Row) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(row);
        } else {
            self.rows_left_out += 1;
        }
    }

    /// Exchanges that were kept by themselves.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The same, for whoever goes on with them: there may be millions.
    pub fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Keeps the head of an answer, unless there is one.
    pub fn hear_head(&mut self, head: &[u8]) {
        if self.head.is_empty() {
            self.head = head.to_vec();
        }
    }

    /// A head of an answer, where one was kept.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Keeps an exchange, as long as it is among the first.
    pub fn keep_sample(&mut self, sample: Sample) {
        let most = if sample.is_shown { SHOWN_MAX } else { SAMPLES_MAX };
        let place = self.samples.partition_point(|known| known.at_ns <= sample.at_ns);
        self.samples.insert(place, sample);
        self.samples.truncate(most);
    }

    fn timings_mut(&mut self, id: usize) -> &mut Timings {
        if id >= self.series.len() {
            self.series.resize_with(id + 1, || None);
        }
        self.series[id].get_or_insert_default()
    }

    /// Counts an exchange that did not end. `waited_ns`: since it was intended, and since it was sent if it was.
    pub fn leave_unfinished(&mut self, step: u32, waited_ns: u64, sent_ns: Option<u64>) {
        self.counts.unfinished += 1;
        let timings = self.timings_mut(step as usize * SERIES_OF_STEP + UNFINISHED);
        timings.record(Measure::Response, waited_ns);
        if let Some(sent_ns) = sent_ns {
            timings.record(Measure::Service, sent_ns);
        }
    }

    /// The same of so many that were never taken up, each of which waited at least so long.
    pub fn leave_many_unfinished(&mut self, count: u64, waited_ns: u64) {
        self.counts.unfinished += count;
        self.timings_mut(UNFINISHED).0[Measure::Response as usize].record_many(waited_ns, count);
    }

    /// The times of what did not end, as far as they are known; empty when everything did.
    pub fn unfinished(&self) -> Timings {
        self.series_at(UNFINISHED)
    }

    /// The same of one step.
    pub fn unfinished_of(&self, step: u32) -> Option<&Timings> {
        self.series.get(step as usize * SERIES_OF_STEP + UNFINISHED)?.as_deref()
    }

    /// The timings of a series; `None` when nothing was recorded.
    pub fn timings(&self, key: SeriesKey) -> Option<&Timings> {
        self.series.get(key.id())?.as_deref()
    }

    /// All series of a class, merged; empty when nothing was recorded.
    pub fn class(&self, class: Class) -> Timings {
        self.series_at(class as usize)
    }

    fn series_at(&self, place: usize) -> Timings {
        let mut sum = Timings::default();
        for timings in self.series.iter().skip(place).step_by(SERIES_OF_STEP).flatten() {
            sum.merge(timings);
        }
        sum
    }

    /// All classes merged: whatever ended.
    pub fn all(&self) -> Timings {
        let mut sum = Timings::default();
        for (id, timings) in self.series.iter().enumerate() {
            if let Some(timings) = timings.as_deref().filter(|_| id % SERIES_OF_STEP != UNFINISHED) {
                sum.merge(timings);
            }
        }
        sum
    }

    /// Adds all of `other`, gauges too.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.connect.merge(&other.connect);
        self.tls.merge(&other.tls);
        self.message.merge(&other.message);
        self.message_given_up.merge(&other.message_given_up);
        self.message_gap.merge(&other.message_gap);
        self.dropped_after.merge(&other.dropped_after);
        self.users += other.users;
        self.connections_open += other.connections_open;
        self.cpu_ns += other.cpu_ns;
        self.run_delay_ns += other.run_delay_ns;
        self.in_flight.merge(&other.in_flight);
        self.lag.merge(&other.lag);
        self.stalled_ns += other.stalled_ns;
        if let Some(covered) = &other.covered {
            self.covered.get_or_insert_default().merge(covered);
        }
        for (status, text) in &other.heard {
            self.hear(usize::from(*status), text);
        }
        self.blamed.merge(&other.blamed);
        self.reading.merge(&other.reading);
        self.before.merge(&other.before);
        self.chains.merge(&other.chains);
        self.rows_left_out += other.rows_left_out;
        other.rows.iter().for_each(|row| self.keep_row(*row));
        self.hear_head(&other.head);
        for sample in &other.samples {
            self.keep_sample(sample.clone());
        }
        for (id, timings) in other.series.iter().enumerate() {
            if let Some(timings) = timings {
                self.timings_mut(id).merge(timings);
            }
        }
    }

    /// The gauges of an instant take the place of those of an earlier one.
    pub fn set_gauges(&mut self, now: &Self) {
        (self.users, self.connections_open) = (now.users, now.connections_open);
        self.in_flight.clear();
        self.in_flight.merge(&now.in_flight);
    }

    /// Bytes that the series of steps take.
    pub fn series_bytes(&self) -> usize {
        let of = |timings: &Timings| size_of::<Timings>() + timings.heap_bytes();
        self.series.capacity() * size_of::<usize>()
            + self.series.iter().flatten().map(|timings| of(timings)).sum::<usize>()
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
        self.connect.clear();
        self.tls.clear();
        self.message.clear();
        self.message_given_up.clear();
        self.message_gap.clear();
        self.dropped_after.clear();
        self.lag.clear();
        self.in_flight.clear();
        self.covered = None;
        self.stalled_ns = 0;
        (self.users, self.connections_open, self.cpu_ns, self.run_delay_ns) = (0, 0, 0, 0);
        self.heard.clear();
        self.samples.clear();
        self.blamed.clear();
        self.reading.clear();
        self.before.clear();
        self.chains.clear();
        self.rows.clear();
        self.rows_left_out = 0;
        self.head.clear();
        self.series.iter_mut().flatten().for_each(|timings| timings.clear());
    }
}
