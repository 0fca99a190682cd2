//! Sums that must match, with the accounts of the test compared with those of the engine. One process, one test at a
//! time: the memory and the clock belong to it alone. `XTASK_LONG` makes each run ten million exchanges.

#![expect(clippy::print_stdout, reason = "the figures are the point, and there is no harness to keep them")]

#[macro_use]
extern crate claims;

mod ledger;

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock};

use driver::poll::PollDriver;
use driver::{Clock, Driver, DriverSelection, Kind};
use engine::{RunOptions, RunResult, StopHandle};
use ledger::{Ledger, LedgerDriver};
use metrics::{Class, Measure};
use plan::Flags;
use target::{ServeOptions, Server};

const USERS: u64 = 50;
/// Maximum memory growth; the first tenth of the exchanges is a warm-up for the memory.
const MEMORY_GROWTH_MAX: u64 = 2 << 20;

fn chosen(kind: Kind) -> DriverSelection {
    DriverSelection { kind, was_requested: true, refusal: None }
}

struct Bench {
    server: Server,
    requests: u64,
}

struct Run {
    result: RunResult,
    /// Resident memory after a tenth of the exchanges, and after all of them.
    memory: (u64, u64),
}

impl Bench {
    fn new() -> Self {
        let listen = "127.0.0.1:0".parse().expect("an address");
        let requests = if claims::seeds::is_long() { 10_000_000 } else { 300_000 };
        Self { server: Server::start(&ServeOptions::plain(listen, 1, Kind::Poll)).expect("a server"), requests }
    }

    /// Runs all exchanges on one shard.
    fn run<D: Driver>(&self, make: impl Fn(Clock) -> Result<D, std::io::Error> + Clone + Send + 'static) -> Run {
        let flags = Flags {
            url: Some(format!("http://{}/", self.server.address())),
            connections: Some(USERS.to_string()),
            requests: Some(self.requests.to_string()),
            interval: Some("100ms".to_owned()),
            ..Flags::default()
        };
        let options = RunOptions {
            address: self.server.address(),
            tls: None,
            others: Vec::new(),
            names: Vec::new(),
            threads: 1,
            pins_threads: false,
            driver: chosen(Kind::Poll),
            log_config: engine::RequestLogConfig::default(),
            data_sources: engine::DataSources::default(),
            backend: None,
        };
        let plan = flags.plan().expect("a good plan");
        let resident = || host::resident_bytes().expect("this system says");
        let (mut early, mut late) = (None, 0);
        let result = engine::run_on(&plan, &options, &StopHandle::default(), make, |interval| {
            if interval.total.counts.succeeded() >= self.requests / 10 {
                early.get_or_insert_with(resident);
            }
            late = resident();
            ControlFlow::Continue(())
        });
        let memory = (early.expect("an interval after a tenth"), late);
        Run { result: result.expect("a run"), memory }
    }
}

fn main() {
    let bench = Bench::new();
    users_are_busy_and_memory_stays(&bench);
    times_add_up(&bench);
    println!("2 passed, 0 failed");
}

/// The engine's count and sum are exactly those that the test computes itself, and Little's law holds to the
/// nanosecond: its service times and the times without an exchange are the total time of the users.
fn times_add_up(bench: &Bench) {
    let book = Arc::new(Mutex::new(Ledger::default()));
    let (for_driver, made_at) = (book.clone(), Arc::new(OnceLock::new()));
    let made = made_at.clone();
    let Run { result, .. } = bench.run(move |clock| {
        made.get_or_init(|| clock.now());
        Ok(LedgerDriver::new(PollDriver::new(clock)?, for_driver.clone()))
    });
    let book = book.lock().expect("no thread panicked");
    let own_sum = book.service_ns;
    let succeeded = result.total.class(Class::Succeeded);
    let service = succeeded.by_measure(Measure::Service);
    println!("{} exchanges, own sum {own_sum} ns, engine's sum {} ns", bench.requests, service.sum());
    assert_eq!((service.count(), service.sum()), (bench.requests, own_sum));
    let mean = own_sum as f64 / bench.requests as f64;
    assert!((service.mean().expect("a mean") - mean).abs() <= 1e-9 * mean);

    assert_eq!(service.sum() + book.idle_ns, book.spans_ns(), "service and idle times are the time of the users");
    let (first, last) = book.span().expect("answers");
    let (least, most) = (last.since(first), book.read.since(*made_at.get().expect("a shard was made")));
    assert!((least..=most).contains(&result.wall), "{:?} is not of {least:?} to {most:?}", result.wall);
}

/// The mean number of busy users is the sum of the service times divided by the time: never more than there are. A
/// simulated world shows that it is all of them.
fn users_are_busy_and_memory_stays(bench: &Bench) {
    let Run { result, memory: (early, late) } = bench.run(PollDriver::new);
    let class = result.total.class(Class::Succeeded);
    let service = class.by_measure(Measure::Service);
    let users = service.sum() as f64 / result.wall.0 as f64;
    println!(
        "sum of service times / time = {users:.3} of {USERS} users; wall {:?}; resident {early} bytes after a tenth, {late} after all",
        result.wall
    );
    assert_eq!(service.count(), bench.requests);
    assert!(service.sum() <= u128::from(USERS * result.wall.0), "{users:.3} users of {USERS}");
    assert!(late.saturating_sub(early) < MEMORY_GROWTH_MAX, "memory grew from {early} to {late}");
}
