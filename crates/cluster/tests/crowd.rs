//! Very many workers on a real bus, each with a connection of its own, that make no load: what they would have seen is made up. So it is
//! known to the last start what has to come out, and what a server and whoever leads take is measured.
//!
//! `ONRUSH_WORKERS=10000 cargo test -p cluster --features nats --test crowd -- --nocapture`

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

mod nats_server;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cluster::bus::{Heard, Inbox};
use cluster::carried::end_to_bytes;
use cluster::nats::{Role, Site, join, join_here};
use cluster::team::Workers;
use cluster::words::{Batch, Hello, News, Row, read};
use cluster::{Act, PartOf, Worker};
use driver::Clock;
use engine::{PartEnd, Running, SceneEnded, StopHandle, Told};
use metrics::{Counter, Distribution, Snapshot};
use nats_server::{NatsServer, options, setting};
use pacing::{Nanos, Segment};
use plan::Flags;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::{LocalSet, spawn_local};

const VERSION: &str = "crowd";
/// Starts a second, of all of them.
const RATE: u64 = 400_000;
/// So long they would make load.
const SECONDS: u64 = 12;
const SECOND: Nanos = Nanos::from_millis(1_000);
/// All of them are there after so long.
const PATIENCE: Duration = Duration::from_secs(120);
/// So many of them come at a time.
const COME_AT_A_TIME: usize = 64;
/// The times that they see are between these, all alike often.
const TIME_MIN: u64 = 200_000;
const TIMES: u64 = 3_000_000;
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// Of all batches, the 99th of a hundred is heard within this time.
const LAG_P99_MAX: Duration = Duration::from_millis(500);
/// The same of ten thousand workers.
const LAG_P99_MAX_OF_MANY: Duration = Duration::from_secs(2);
/// What a server may take for a thousand of them, and for ten thousand.
const SERVER_BYTES_MAX: u64 = 400 << 20;
const SERVER_BYTES_MAX_OF_MANY: u64 = 1_536 << 20;
const MANY: usize = 1_000;

/// CPU time of a server since its start, and the memory that it has.
fn takes(server: &NatsServer) -> (Duration, u64) {
    let of = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", server.child.id())).unwrap_or_default();
    let stat = of("stat");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    let status = of("status");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = resident.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default();
    (Duration::from_millis((ticks(11) + ticks(12)) * 10), kib << 10)
}

/// What all of them know.
struct Shared {
    site: Site,
    clock: Clock,
    /// When the run started, by that clock; 0 before.
    started: Arc<AtomicU64>,
    /// Those that are there, and those that came to no end.
    there: Cell<usize>,
    faults: RefCell<Vec<String>>,
    /// Starts that they would have made, and the times that they would have seen, all in one place.
    made: Cell<u64>,
    seen: RefCell<Distribution>,
    is_over: Cell<bool>,
    coming: tokio::sync::Semaphore,
}

/// A part of the load that nobody makes.
struct Part {
    of: PartOf,
    segment: Segment,
    started: Nanos,
    told: u64,
    is_over: bool,
}

impl Part {
    /// What it would have seen in the next second.
    fn row(&mut self, shared: &Shared) -> News {
        let own = |second: u64| self.segment.count_of_first(second * RATE);
        let count = own(self.told + 1) - own(self.told);
        self.told += 1;
        let before = shared.made.replace(shared.made.get() + count);
        let mut seen = Snapshot::default();
        seen.counts[Counter::Started] = count;
        let mut whole = shared.seen.borrow_mut();
        for number in before..before + count {
            // They fill their span evenly, in whatever order they come.
            let time = TIME_MIN + ((number as f64 * GOLDEN).fract() * TIMES as f64) as u64;
            seen.connect.record(time);
            whole.record(time);
        }
        let mut bytes = Vec::new();
        seen.encode(&mut bytes);
        let (number, covered) = (self.told, Nanos(self.told * SECOND.0));
        News::Row(Row { part: self.of.part, number, upto: number, covered, seen: vec![bytes] })
    }

    fn end(&self) -> News {
        let until = Nanos(self.told * SECOND.0);
        let end = PartEnd {
            wall: until,
            scenarios: vec![SceneEnded { stopped_at: until, backlog: None, spent: None }],
            shards: Vec::new(),
            cpu: host::CpuTime::default(),
            used_up: Vec::new(),
            met: Vec::new(),
        };
        News::Ended { part: self.of.part, until, end: end_to_bytes(&end) }
    }
}

/// One worker, from its first word to the last.
async fn one(number: u64, shared: Rc<Shared>) {
    let hello = Hello::new(number + 1, format!("worker-{number:05}"), VERSION.to_owned(), 1);
    let mut worker = Worker::new(hello, false, shared.clock.now());
    let (sender, mut heard) = unbounded_channel();
    let joined = {
        let _turn = shared.coming.acquire().await.expect("it is never closed");
        let inbox: Inbox = Box::new(move |what| sender.send(what).is_ok());
        join_here(&shared.site, worker.subjects(), inbox).await
    };
    let (mut bus, served) = match joined {
        Ok(joined) => joined,
        Err(error) => return shared.faults.borrow_mut().push(error.to_string()),
    };
    spawn_local(served);
    shared.there.set(shared.there.get() + 1);
    let mut parts: Vec<Part> = Vec::new();
    while !shared.is_over.get() {
        let now = shared.clock.now();
        while let Some(act) = worker.next_act() {
            match act {
                Act::Prepare { run, .. } => worker.prepared(run, Ok(Nanos::ZERO), now),
                Act::Begin { part, tenure, segment, from, started, .. } => {
                    shared.started.store(started.0, Ordering::Relaxed);
                    let (slots, late) = (segment.slots().collect(), Nanos::ZERO);
                    worker.tell(part, News::Began { part: part.part, tenure, slots, from, late }, now);
                    parts.push(Part { of: part, segment, started, told: 0, is_over: false });
                }
                Act::Stop { life } if !parts.is_empty() => {
                    shared.faults.borrow_mut().push(format!("worker {number} was given up ({life:?})"));
                }
                _ => {}
            }
        }
        for part in parts.iter_mut().filter(|part| !part.is_over) {
            while part.told < SECONDS && now >= part.started + Nanos((part.told + 1) * SECOND.0) {
                worker.tell(part.of, part.row(&shared), now);
            }
            if part.told == SECONDS {
                part.is_over = true;
                worker.tell(part.of, part.end(), now);
                worker.all_over(part.of.run, part.of.boot, now);
            }
        }
        while let Some(verb) = worker.next_verb() {
            bus.ask(verb);
        }
        let next =
            parts.iter().filter(|part| !part.is_over).map(|part| part.started + Nanos((part.told + 1) * SECOND.0));
        let wake = worker.wake_at(now).min(next.min().unwrap_or(Nanos::NEVER));
        let left = wake.since(now).as_duration().clamp(Duration::from_millis(1), Duration::from_millis(300));
        match tokio::time::timeout(left, heard.recv()).await {
            Ok(Some(what)) => worker.hear(what, shared.clock.now()),
            Ok(None) => return,
            Err(_) => worker.tick(shared.clock.now()),
        }
    }
}

/// What all of them would have made and seen, and what went wrong.
type Made = (u64, Distribution, Vec<String>);

/// All of them on one thread, until it is over.
fn crowd(count: usize, site: Site, clock: Clock, started: Arc<AtomicU64>, over: Arc<AtomicU64>) -> Made {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let shared = Rc::new(Shared {
        site,
        clock,
        started,
        there: Cell::new(0),
        faults: RefCell::default(),
        made: Cell::new(0),
        seen: RefCell::default(),
        is_over: Cell::new(false),
        coming: tokio::sync::Semaphore::new(COME_AT_A_TIME),
    });
    LocalSet::new().block_on(&runtime, async {
        (0..count as u64).for_each(|number| drop(spawn_local(one(number, shared.clone()))));
        while over.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        shared.is_over.set(true);
    });
    (shared.made.get(), shared.seen.take(), shared.faults.take())
}

/// How late each batch was heard, and the bytes of all of them.
type Lags = Arc<Mutex<(Distribution, u64)>>;

/// Whoever leads them; what it hears is looked at on its way.
fn leads(count: usize, site: &Site, (clock, since): (Clock, Arc<AtomicU64>), lags: Lags) -> Workers {
    let team = Workers::lead(setting(VERSION, count, PATIENCE), Box::new(|| None), |subjects, inbox| {
        let inbox: Inbox = Box::new(move |what| {
            if let Heard::Entry { payload, .. } = &what
                && let Some(batch) = read::<Batch>(payload)
                && since.load(Ordering::Relaxed) > 0
            {
                let at = clock.now().since(Nanos(since.load(Ordering::Relaxed)));
                let mut lags = lags.lock().expect("no holder panics");
                lags.0.record(at.since(batch.sent_at).0);
                lags.1 += payload.len() as u64;
            }
            inbox(what)
        });
        join(site, Role::Leads, subjects, inbox)
    });
    team.expect("it leads")
}

fn load() -> Flags {
    let text = |text: &str| Some(text.to_owned());
    Flags {
        url: text("http://127.0.0.1:9/"),
        rate: text(&RATE.to_string()),
        duration: text(&format!("{SECONDS}s")),
        ..Flags::default()
    }
}

#[test]
fn very_many_workers_lose_nothing() {
    let count = std::env::var("ONRUSH_WORKERS").ok().and_then(|text| text.parse().ok()).unwrap_or(MANY);
    let server = NatsServer::start();
    let site: Site = format!("nats://127.0.0.1:{}/crowd", server.port).parse().expect("an address");
    let (clock, started, over) = (Clock::start(), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (theirs, since, ended) = (site.clone(), started.clone(), over.clone());
    let all = std::thread::spawn(move || crowd(count, theirs, clock, since, ended));
    let lags: Lags = Arc::default();
    let team = leads(count, &site, (clock, started), lags.clone());
    let (plan, stop) = (Arc::new(load().plan().expect("a good plan")), StopHandle::default());
    let begun = Instant::now();
    let running = Running::start(plan, options(team), &stop);
    let mut running = match running {
        Ok(running) => running,
        Err(error) => {
            over.store(1, Ordering::Relaxed);
            panic!("{error}; {:?}", all.join().expect("it ends").2);
        }
    };
    println!("{count} workers are ready after {:.1?}", begun.elapsed());
    let (cpu_before, _) = takes(&server);
    let (from, mut most, mut rows) = (Instant::now(), 0, Vec::new());
    while let Some(told) = running.wait() {
        if let Told::Interval(interval) = told {
            rows.push((interval.number, interval.seen.counts.started(), interval.is_again));
            most = most.max(takes(&server).1);
        }
    }
    let (cpu, span) = (takes(&server).0.saturating_sub(cpu_before), from.elapsed());
    let result = running.finish().expect("it comes to its end");
    over.store(1, Ordering::Relaxed);
    let (made, seen, faults) = all.join().expect("it ends");
    let lags = lags.lock().expect("no holder panics");
    let lag = |share: f64| Duration::from_nanos(lags.0.quantile(share).unwrap_or_default());
    let cores = cpu.as_secs_f64() / span.as_secs_f64();
    println!(
        "{count} workers, {} batches of {} bytes: lag p50 {:.1?}, p99 {:.1?}, most {:.1?}; the server took {cores:.2} cores, {} MiB at most",
        lags.0.count(),
        lags.1 / lags.0.count().max(1),
        lag(0.5),
        lag(0.99),
        lag(1.0),
        most >> 20
    );
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(
        (made, result.total.counts.started(), result.total.connect.count()),
        (RATE * SECONDS, made, made),
        "{rows:?}"
    );
    // What was merged of all their parts is, bucket for bucket, what one would have seen of all of it.
    let merged = &result.total.connect;
    assert!(*merged == seen, "merged: {merged:?}, seen: {seen:?}");
    for share in [0.1, 0.5, 0.9, 0.99, 0.999] {
        let known = TIME_MIN as f64 + share * TIMES as f64;
        let found = merged.quantile(share).unwrap_or_default() as f64;
        println!("p{}: {found} of {known}", share * 100.0);
        assert!((found - known).abs() <= known / 1_000.0, "{share}: {found}, not {known}");
    }
    let books = result.muster.as_ref().expect("workers").books;
    assert_eq!((books.undelivered, books.unknown), (0, 0));
    let (lag_max, bytes_max) =
        if count > MANY { (LAG_P99_MAX_OF_MANY, SERVER_BYTES_MAX_OF_MANY) } else { (LAG_P99_MAX, SERVER_BYTES_MAX) };
    assert!(lag(0.99) <= lag_max && most <= bytes_max, "{:?} {most}", lag(0.99));
}
