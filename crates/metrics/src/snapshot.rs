//! All that one shard saw in one span of time. Snapshots merge exactly, in any order.

use std::collections::BTreeMap;

use crate::{
    Blamed, Class, Distribution, FAILURE_COUNT, Failure, GRPC_STATUSES, Outcome, ROWS_MAX, Row, SAMPLES_MAX, SHOWN_MAX,
    Sample,
};

/// Counters for status codes 0 to 999.
pub const STATUS_COUNT: usize = 1_000;
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

/// Plain counters.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Exchanges whose intended start has come.
    pub started: u64,
    /// Ended well.
    pub succeeded: u64,
    /// Could not be started in time.
    pub dropped: u64,
    /// Those of them that were too late when the generator got to them: not the target's doing.
    pub dropped_by_generator: u64,
    /// In flight when the run was stopped.
    pub unfinished: u64,
    /// Those of them that had no grace: the run was ended at once.
    pub cut: u64,
    /// Ended after nothing was started any more.
    pub drained: u64,
    /// What of that succeeded.
    pub drained_well: u64,
    /// Of a scenario with several steps: rounds that came to their end.
    pub iterations: u64,
    /// Rounds that began and did not come to their last step.
    pub iterations_cut: u64,
    /// Successes whose response time contains a stall of ours.
    pub covered_responses: u64,
    /// Tries, at least one for each exchange that was taken up.
    pub attempts: u64,
    /// Requests that were handed to the socket.
    pub sent: u64,
    /// Complete answers.
    pub answers: u64,
    /// Answers after which the connection stayed.
    pub kept: u64,
    /// The length of the first body, where that was kept.
    pub first_length: u64,
    /// Bodies of another length than the first, where that was kept.
    pub lengths_differ: u64,
    /// Redirects that were followed: each made one start more.
    pub redirects: u64,
    /// Second tries because a reused connection turned out to be closed.
    pub reconnects: u64,
    /// Bytes that arrived, heads and framing included.
    pub bytes_received: u64,
    /// Bytes of bodies that arrived, framing removed.
    pub body_bytes: u64,
    /// Bytes that were handed to the socket.
    pub bytes_handed: u64,
    /// Those of them that the kernel never took.
    pub bytes_untaken: u64,
    /// Connections that were tried.
    pub connections_tried: u64,
    /// Connections that were established.
    pub connections_established: u64,
    /// TLS handshakes that took up an earlier session.
    pub tls_resumed: u64,
    /// New connections that the peer ended before it sent a byte.
    pub cut_off: u64,
    /// Connections that were closed because bytes came which belong to no request.
    pub unsolicited: u64,
    /// Answers by status code.
    pub statuses: Box<[u64; STATUS_COUNT]>,
    /// Answers by their status of gRPC, where they have one.
    pub grpc_statuses: [u64; GRPC_STATUSES.len()],
    /// Messages that were handed to a socket, each once, however often its exchange was tried.
    pub messages_sent: u64,
    /// Those of them of which the kernel has not taken all, known when their connection ended.
    pub messages_untaken: u64,
    /// Messages that came, asked for or not.
    pub messages_received: u64,
    /// Messages of WebSocket that answer none of ours.
    pub unasked: u64,
    /// Conversations of WebSocket that the server ended, by its code: while an answer was awaited, or not.
    pub closes: BTreeMap<u16, u64>,
    failures: Box<[u64; FAILURE_COUNT]>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            started: 0,
            succeeded: 0,
            dropped: 0,
            dropped_by_generator: 0,
            unfinished: 0,
            cut: 0,
            drained: 0,
            drained_well: 0,
            iterations: 0,
            iterations_cut: 0,
            covered_responses: 0,
            attempts: 0,
            sent: 0,
            answers: 0,
            kept: 0,
            first_length: 0,
            lengths_differ: 0,
            redirects: 0,
            reconnects: 0,
            bytes_received: 0,
            body_bytes: 0,
            bytes_handed: 0,
            bytes_untaken: 0,
            connections_tried: 0,
            connections_established: 0,
            tls_resumed: 0,
            cut_off: 0,
            unsolicited: 0,
            statuses: Box::new([0; STATUS_COUNT]),
            grpc_statuses: [0; GRPC_STATUSES.len()],
            messages_sent: 0,
            messages_untaken: 0,
            messages_received: 0,
            unasked: 0,
            closes: BTreeMap::new(),
            failures: Box::new([0; FAILURE_COUNT]),
        }
    }
}

impl Counts {
    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.succeeded += other.succeeded;
        self.dropped += other.dropped;
        self.dropped_by_generator += other.dropped_by_generator;
        self.unfinished += other.unfinished;
        self.cut += other.cut;
        self.drained += other.drained;
        self.drained_well += other.drained_well;
        self.iterations += other.iterations;
        self.iterations_cut += other.iterations_cut;
        self.covered_responses += other.covered_responses;
        self.attempts += other.attempts;
        self.sent += other.sent;
        self.answers += other.answers;
        self.kept += other.kept;
        self.first_length = self.first_length.max(other.first_length);
        self.lengths_differ += other.lengths_differ;
        self.redirects += other.redirects;
        self.reconnects += other.reconnects;
        self.bytes_received += other.bytes_received;
        self.body_bytes += other.body_bytes;
        self.bytes_handed += other.bytes_handed;
        self.bytes_untaken += other.bytes_untaken;
        self.connections_tried += other.connections_tried;
        self.connections_established += other.connections_established;
        self.tls_resumed += other.tls_resumed;
        self.cut_off += other.cut_off;
        self.unsolicited += other.unsolicited;
        add_each(&mut *self.statuses, &*other.statuses);
        add_each(&mut self.grpc_statuses, &other.grpc_statuses);
        self.messages_sent += other.messages_sent;
        self.messages_untaken += other.messages_untaken;
        self.messages_received += other.messages_received;
        self.unasked += other.unasked;
        for (code, number) in &other.closes {
            *self.closes.entry(*code).or_default() += number;
        }
        add_each(&mut *self.failures, &*other.failures);
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    /// Nothing happened.
    pub fn is_empty(&self) -> bool {
        let exchanges = self.started + self.finished() + self.dropped + self.unfinished + self.attempts + self.answers;
        let rest =
            self.sent + self.reconnects + self.bytes_received + self.body_bytes + self.bytes_handed + self.unsolicited;
        exchanges + rest + self.cut_off + self.connections_tried + self.connections_established == 0
    }

    /// Bytes that the kernel took. What it never took is known when a socket ends, perhaps in a later snapshot: of all
    /// snapshots together this is exact.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_handed.saturating_sub(self.bytes_untaken)
    }

    /// Messages that left as a whole; as exact as [`Counts::bytes_sent`].
    pub fn messages_left(&self) -> u64 {
        self.messages_sent.saturating_sub(self.messages_untaken)
    }

    /// The share of the starts that succeeded, of those that were not cut short; `None` without any.
    pub fn success_ratio(&self) -> Option<f64> {
        let whole = self.started.saturating_sub(self.cut);
        (whole > 0).then(|| self.succeeded as f64 / whole as f64)
    }

    /// Exchanges that failed.
    pub fn failed(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Exchanges that ended with an outcome.
    pub fn finished(&self) -> u64 {
        self.succeeded + self.failed()
    }

    /// How often each reason was met, without those that were not.
    pub fn failures(&self) -> impl Iterator<Item = (Failure, u64)> + '_ {
        self.failures
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .filter_map(|(index, count)| Failure::of_index(index).map(|failure| (failure, *count)))
    }

    /// How often each status of gRPC was met, by its name, without those that were not.
    pub fn grpc_statuses(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        GRPC_STATUSES.into_iter().zip(self.grpc_statuses).filter(|(_, count)| *count > 0)
    }

    /// How often each status was met, without those that were not.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.statuses
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .filter_map(|(status, count)| u16::try_from(status).ok().map(|status| (status, *count)))
    }
}

fn add_each(sums: &mut [u64], more: &[u64]) {
    for (sum, number) in sums.iter_mut().zip(more) {
        *sum += number;
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
