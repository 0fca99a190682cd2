//! Very many workers on a real bus. What the server and the leader take is measured and printed; losses and the memory
//! of the server are checked. `cargo xtask bus 10000` runs it; `ONRUSH_BUS` is a bus that is there.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[macro_use]
extern crate claims;

mod benchmark;
#[path = "../nats_server/mod.rs"]
mod nats_server;

use std::time::Duration;

use benchmark::{BenchmarkOrder, Moment, RATE, TIME_MIN, TIMES, try_out};
use engine::StopHandle;
use nats_server::NatsServer;

/// How long the workers would make load, in seconds.
const SECONDS: u64 = 12;
/// How long they may take to join: the time is printed.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// The most memory of a server for a thousand of them, and for ten thousand.
const SERVER_BYTES_MAX: u64 = 400 << 20;
const SERVER_BYTES_MAX_OF_MANY: u64 = 1_536 << 20;
const MANY: usize = 1_000;
/// Slots of a load: with more workers, some have no part.
const PARTS_MAX: usize = 4_096;

/// CPU time of our own server since its start, and its memory.
fn takes(server: Option<&NatsServer>) -> (Duration, u64) {
    let spent = server.map(|server| host::spent_of(server.child.id()).expect("it runs"));
    spent.map_or_else(Default::default, |spent| (spent.cpu, spent.resident_bytes))
}

#[test]
fn very_many_workers_lose_nothing() {
    let count = std::env::var("ONRUSH_WORKERS").ok().and_then(|text| text.parse().ok()).unwrap_or(MANY);
    let bus = std::env::var("ONRUSH_BUS").ok();
    let server = bus.is_none().then(NatsServer::start);
    let own = || format!("nats://127.0.0.1:{}/crowd", server.as_ref().expect("a server").port);
    let bus_url = bus.unwrap_or_else(own).parse().expect("an address");
    host::raise_descriptor_limit();
    let order = BenchmarkOrder {
        bus_url,
        who: 7,
        workers: count,
        seconds: SECONDS,
        patience: PATIENCE,
        version: "crowd".to_owned(),
    };
    let (mut before, mut most) = (Duration::ZERO, 0);
    let outcome = try_out(&order, &StopHandle::default(), |moment| {
        let (cpu, bytes) = takes(server.as_ref());
        match moment {
            Moment::There(_) => {}
            Moment::Ready(_) => before = cpu,
            Moment::Second(_) => most = most.max(bytes),
        }
    });
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let cpu = takes(server.as_ref()).0.saturating_sub(before);
    let lag = |share: f64| Duration::from_nanos(outcome.lags.quantile(share).unwrap_or_default());
    let cores = cpu.as_secs_f64() / outcome.span.as_secs_f64();
    println!(
        "{count} workers, ready after {:.1?}, {} batches of {} bytes: lag p50 {:.1?}, p99 {:.1?}, most {:.1?}; the server took {cores:.2} cores, {} MiB at most",
        outcome.ready_after,
        outcome.lags.count(),
        outcome.bytes / outcome.lags.count().max(1),
        lag(0.5),
        lag(0.99),
        lag(1.0),
        most >> 20
    );
    assert_eq!(outcome.fault_count, 0, "{:?}", outcome.faults);
    assert_eq!(outcome.with_part, count.min(PARTS_MAX));
    let whole = RATE * SECONDS;
    assert_eq!((outcome.made, outcome.counted, outcome.times.count()), (whole, whole, whole));
    // The merged results of all parts equal, bucket for bucket, those of a single worker.
    assert!(outcome.is_same, "merged: {:?}", outcome.times);
    for share in [0.1, 0.5, 0.9, 0.99, 0.999] {
        let known = TIME_MIN as f64 + share * TIMES as f64;
        let found = outcome.times.quantile(share).unwrap_or_default() as f64;
        println!("p{}: {found} of {known}", share * 100.0);
        assert!((found - known).abs() <= known / 1_000.0, "{share}: {found}, not {known}");
    }
    assert_eq!((outcome.undelivered, outcome.unknown, outcome.lost), (0, 0, 0));
    let bytes_max = if count > MANY { SERVER_BYTES_MAX_OF_MANY } else { SERVER_BYTES_MAX };
    assert!(most <= bytes_max, "{most} bytes");
}
