//! After its warm-up a shard allocates nothing per exchange: counted by the allocator of this process.

#![expect(unsafe_code, reason = "an allocator that counts is an unsafe trait")]

#[macro_use]
extern crate claims;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use driver::{Clock, Driver, DriverSelection, Kind};
use engine::{LogFilter, LogSink, RequestLogConfig, RunOptions, StopHandle};
use plan::Flags;
use target::{ServeOptions, Server};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_SHARD: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: every call is passed on to the system's allocator; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_SHARD.try_with(Cell::get).unwrap_or(false) {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Maximum allocations per thousand exchanges: snapshot hand-overs may allocate; exchanges may not.
const ALLOCATIONS_PER_THOUSAND_MAX: u64 = 1;
/// Maximum allocations of the hand-over of one interval: a slow machine has more intervals in a run.
const ALLOCATIONS_PER_INTERVAL_MAX: u64 = 16;
/// Size of a page of a distribution, which is allocated when a time first falls into it: there are as many as the times
/// spread over, independent of the number of exchanges.
const PAGE_BYTES: u64 = 128;
/// Number of snapshots that a shard fills in turn.
const SNAPSHOTS: u64 = 2;

fn check<D: Driver>(
    kind: Kind,
    log_config: RequestLogConfig,
    make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static,
) {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let server = Server::start(&ServeOptions::plain(listen, 1, kind)).expect("a server");
    let flags = Flags {
        url: Some(format!("http://{}/", server.address())),
        requests: Some("200000".to_owned()),
        interval: Some("100ms".to_owned()),
        ..Flags::default()
    };
    let driver = DriverSelection { kind, was_requested: true, refusal: None };
    let options = RunOptions {
        address: server.address(),
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads: 1,
        pins_threads: false,
        driver,
        log_config,
        data_sources: engine::DataSources::default(),
        backend: None,
    };
    let (mut warm, mut last, mut pages, mut intervals) = (None, (0, 0), 0, 0);
    let plan = flags.plan().expect("a good plan");
    let counted = move |clock| {
        IS_SHARD.set(true);
        make(clock)
    };
    engine::run_on(&plan, &options, &StopHandle::default(), counted, |interval| {
        let seen = (ALLOCATIONS.load(Ordering::Relaxed), interval.total.counts.succeeded());
        if seen.1 >= 50_000 {
            warm.get_or_insert(seen);
            intervals += 1;
        }
        last = seen;
        pages = SNAPSHOTS * interval.total.series_bytes() as u64 / PAGE_BYTES;
        ControlFlow::Continue(())
    })
    .expect("a run");
    let warm = warm.expect("an interval after the warm-up");
    let (allocations, exchanges) = (last.0 - warm.0, last.1 - warm.1);
    assert!(exchanges > 50_000, "{exchanges} exchanges after the warm-up");
    assert!(
        allocations
            <= exchanges * ALLOCATIONS_PER_THOUSAND_MAX / 1_000 + intervals * ALLOCATIONS_PER_INTERVAL_MAX + pages,
        "{kind:?}: {allocations} allocations in {exchanges} exchanges, {intervals} intervals, {pages} pages"
    );
}

/// The only test, so that no other one affects the count.
#[test]
fn an_exchange_allocates_nothing() {
    // The slowest requests are stored in preallocated memory; so are the lines of a log, until they are written.
    let (log, lines) = LogSink::new(LogFilter { only_failed: false, per_million: 500_000, seed: 1 });
    let reader = std::thread::spawn(move || {
        std::iter::from_fn(|| lines.next_batch()).map(|batch| batch.lines().len()).sum::<usize>()
    });
    for log_config in [
        RequestLogConfig::default(),
        RequestLogConfig { slowest: 100, log: None },
        RequestLogConfig { slowest: 0, log: Some(log.clone()) },
    ] {
        check(Kind::Poll, log_config.clone(), driver::poll::PollDriver::new);
        #[cfg(target_os = "linux")]
        check(Kind::Uring, log_config, driver::uring::UringDriver::new);
    }
    log.end();
    assert!(reader.join().expect("it ends") > 100_000);
}
