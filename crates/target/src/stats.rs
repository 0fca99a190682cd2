//! Counters of the target. Each thread writes its own; the thread that handles `/stats` reads them all.

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::Distribution;
use pacing::Nanos;

use crate::paths::{CountedPath, NAMES};
use crate::shop::{Books, Seen, Sessions};

const STATUS_COUNT: usize = 1_000;

/// A counter with one writing thread: a load and a store, no locked instruction.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    pub(crate) fn subtract(&self, less: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_sub(less), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one thread, on cache lines of their own.
#[repr(align(128))]
pub(crate) struct Stats {
    pub(crate) accepted: Counter,
    pub(crate) open: Counter,
    /// Connections whose reading was delayed at first, by configuration.
    pub(crate) accept_delays: Counter,
    /// Number of times that reading of a connection was paused, since its peer takes no responses.
    pub(crate) reads_paused: Counter,
    /// Tunnels to itself, and headers of the PROXY protocol.
    pub(crate) tunnels: Counter,
    pub(crate) proxy_headers: Counter,
    /// Bytes of custom protocols.
    pub(crate) received_bytes: Counter,
    pub(crate) sent_bytes: Counter,
    /// Their connections that were closed, since their peers did not read what others sent to them.
    pub(crate) slow_readers_closed: Counter,
    /// Connections of WebSocket and plain TCP.
    pub(crate) long_connections_opened: Counter,
    pub(crate) long_connections_open: Counter,
    pub(crate) long_connections_closed: Counter,
    /// Messages of these connections; on a plain one, received pieces.
    pub(crate) long_connection_messages: Counter,
    pub(crate) long_connection_pushes: Counter,
    /// Messages in rooms for which a thread had no room left.
    pub(crate) room_messages_dropped: Counter,
    requests: [Counter; CountedPath::COUNT],
    pub(crate) statuses: [Counter; STATUS_COUNT],
    /// Requests with a session, with an invalid cookie or token, and with those of several sessions.
    session_requests: Counter,
    session_unknown: Counter,
    session_mixed: Counter,
    /// Requested freezes in which this thread took part.
    pub(crate) freezes: Counter,
    /// Time in freezes, from the scheduled instant to the actual end.
    pub(crate) frozen_ns: Counter,
    /// Actual delays of delayed responses. The lock is taken only for these and for reading.
    held: Mutex<Option<Box<Distribution>>>,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            accepted: Counter::default(),
            open: Counter::default(),
            accept_delays: Counter::default(),
            reads_paused: Counter::default(),
            tunnels: Counter::default(),
            proxy_headers: Counter::default(),
            received_bytes: Counter::default(),
            sent_bytes: Counter::default(),
            slow_readers_closed: Counter::default(),
            long_connections_opened: Counter::default(),
            long_connections_open: Counter::default(),
            long_connections_closed: Counter::default(),
            long_connection_messages: Counter::default(),
            long_connection_pushes: Counter::default(),
            room_messages_dropped: Counter::default(),
            requests: std::array::from_fn(|_| Counter::default()),
            statuses: std::array::from_fn(|_| Counter::default()),
            session_requests: Counter::default(),
            session_unknown: Counter::default(),
            session_mixed: Counter::default(),
            freezes: Counter::default(),
            frozen_ns: Counter::default(),
            held: Mutex::default(),
        }
    }
}

impl Stats {
    pub(crate) fn requests_in_all(&self) -> u64 {
        self.requests.iter().map(Counter::get).sum::<u64>() + self.long_connection_messages.get()
    }

    /// Records the actual delay of a response.
    pub(crate) fn hold(&self, span: Nanos) {
        let mut held = self.held.lock().expect("no holder of the lock panics");
        held.get_or_insert_default().record(span.0);
    }

    pub(crate) fn see(&self, seen: Seen) {
        self.session_requests.add(u64::from(seen.is_of_session));
        self.session_unknown.add(u64::from(seen.is_unknown));
        self.session_mixed.add(u64::from(seen.is_mixed));
    }

    /// Counts a request.
    pub(crate) fn count(&self, path: CountedPath) {
        self.requests[path.index()].add(1);
    }

    pub(crate) fn open_now(&self) -> u64 {
        self.open.get()
    }
}

/// Actual delays of all threads.
pub(crate) fn held(threads: &[Stats]) -> Distribution {
    let mut sum = Distribution::default();
    for stats in threads {
        if let Some(held) = stats.held.lock().expect("no holder of the lock panics").as_ref() {
            sum.merge(held);
        }
    }
    sum
}

/// The longest time that a thread spent in freezes.
pub(crate) fn frozen(threads: &[Stats]) -> Nanos {
    Nanos(threads.iter().map(|stats| stats.frozen_ns.get()).max().unwrap_or(0))
}

/// Long connections, in the common format: `{"closed":0,"conns":120000}`.
pub(crate) fn conns_json(threads: &[Stats]) -> String {
    let (closed, open) = threads
        .iter()
        .fold((0, 0), |sum, one| (sum.0 + one.long_connections_closed.get(), sum.1 + one.long_connections_open.get()));
    format!("{{\"closed\":{closed},\"conns\":{open}}}\n")
}

type Pick<'a> = &'a dyn Fn(&Stats) -> u64;

/// The sum over all threads, as JSON. Names and numbers only, so nothing needs escaping.
pub(crate) fn to_json(threads: &[Stats], sessions: &Sessions) -> String {
    let sum = |pick: &dyn Fn(&Stats) -> u64| threads.iter().fold(0u64, |sum, stats| sum.wrapping_add(pick(stats)));
    let mut json = format!(
        "{{\"connections\":{{\"accepted\":{},\"open\":{}}},\"requests_by_path\":{{",
        sum(&|stats| stats.accepted.get()),
        sum(&|stats| stats.open.get())
    );
    let mut by_name = NAMES.map(|name| (name, 0));
    for path in CountedPath::all() {
        by_name[path.name()].1 += sum(&|stats| stats.requests[path.index()].get());
    }
    push_members(&mut json, by_name.into_iter().filter(|(_, count)| *count > 0));
    json.push_str("},\"answers_by_status\":{");
    let by_status = (0..STATUS_COUNT).map(|status| (status, sum(&|stats| stats.statuses[status].get())));
    push_members(&mut json, by_status.filter(|(_, count)| *count > 0));
    json.push('}');
    if sum(&|stats| stats.long_connections_opened.get()) > 0 {
        let names: [(&str, Pick<'_>); 5] = [
            ("opened", &|stats| stats.long_connections_opened.get()),
            ("open", &|stats| stats.long_connections_open.get()),
            ("closed", &|stats| stats.long_connections_closed.get()),
            ("messages", &|stats| stats.long_connection_messages.get()),
            ("pushed", &|stats| stats.long_connection_pushes.get()),
        ];
        json.push_str(",\"long_connections\":{");
        push_members(&mut json, names.into_iter().map(|(name, pick)| (name, sum(pick))));
        json.push('}');
    }
    push_sessions(&mut json, threads, sessions);
    if let Some(resident) = host::resident_bytes() {
        let open = sum(&|stats| stats.open.get());
        write!(json, ",\"memory\":{{\"resident_bytes\":{resident}").expect("writing to a string does not fail");
        if let Some(each) = resident.checked_div(open) {
            write!(json, ",\"resident_bytes_per_connection\":{each}").expect("writing to a string does not fail");
        }
        json.push('}');
    }
    let held = held(threads);
    if held.count() > 0 {
        let at = |quantile| held.quantile(quantile).unwrap_or(0);
        let (p50, p90, p99, p999, max) = (at(0.5), at(0.9), at(0.99), at(0.999), held.max().unwrap_or(0));
        write!(json, ",\"held\":{{\"count\":{},\"p50_ns\":{p50},\"p90_ns\":{p90},\"p99_ns\":{p99},\"p99_9_ns\":{p999},\"max_ns\":{max}}}", held.count())
            .expect("writing to a string does not fail");
    }
    let more = [
        ("accept_delays", sum(&|stats| stats.accept_delays.get())),
        ("reads_paused", sum(&|stats| stats.reads_paused.get())),
        ("tunnels", sum(&|stats| stats.tunnels.get())),
        ("proxy_headers", sum(&|stats| stats.proxy_headers.get())),
        ("received_bytes", sum(&|stats| stats.received_bytes.get())),
        ("sent_bytes", sum(&|stats| stats.sent_bytes.get())),
        ("slow_readers_closed", sum(&|stats| stats.slow_readers_closed.get())),
        ("room_messages_dropped", sum(&|stats| stats.room_messages_dropped.get())),
        ("freezes", sum(&|stats| stats.freezes.get())),
        ("frozen_ns", frozen(threads).0),
    ];
    for (name, count) in more.into_iter().filter(|(_, count)| *count > 0) {
        write!(json, ",\"{name}\":{count}").expect("writing to a string does not fail");
    }
    json.push_str("}\n");
    json
}

/// Requests by path, user and session, as JSON.
pub(crate) fn books_json(threads: &[Stats], books: &Books) -> String {
    let mut json = "{\"paths\":{".to_owned();
    let sum = |path: CountedPath| threads.iter().map(|stats| stats.requests[path.index()].get()).sum::<u64>();
    push_members(&mut json, CountedPath::all().map(|path| (path, sum(path))).filter(|(_, count)| *count > 0));
    json.push_str("},");
    books.push_json(&mut json);
    json.push_str("}\n");
    json
}

/// Session counters of the shop, once there was a session or an unknown cookie or token.
fn push_sessions(json: &mut String, threads: &[Stats], sessions: &Sessions) {
    let sum = |pick: Pick<'_>| threads.iter().map(pick).sum::<u64>();
    let tally = sessions.tally();
    let unknown = sum(&|stats| stats.session_unknown.get());
    if tally.made == 0 && unknown == 0 {
        return;
    }
    let (least, most) = tally.requests.unwrap_or((0, 0));
    let members = [
        ("made", tally.made),
        ("open", tally.open()),
        ("ended", tally.ended),
        ("displaced", tally.displaced),
        ("requests", sum(&|stats| stats.session_requests.get())),
        ("requests_least", least),
        ("requests_most", most),
        ("mixed", sum(&|stats| stats.session_mixed.get())),
        ("unknown", unknown),
    ];
    json.push_str(",\"sessions\":{");
    push_members(json, members.into_iter());
    json.push('}');
}

fn push_members<K: std::fmt::Display>(json: &mut String, members: impl Iterator<Item = (K, u64)>) {
    for (number, (name, count)) in members.enumerate() {
        let comma = if number > 0 { "," } else { "" };
        write!(json, "{comma}\"{name}\":{count}").expect("writing to a string does not fail");
    }
}
