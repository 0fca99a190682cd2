//! Our times compared with those of the target itself, over real sockets: we measured at least the time for which the
//! target delayed a response. How much longer depends on the machine; `simulated` checks it to the nanosecond.
#![expect(clippy::print_stdout, reason = "a ruler shows what it measured")]

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;

use std::ops::ControlFlow;
use std::sync::Arc;

use driver::{DriverSelection, Kind};
use engine::{RunOptions, RunResult, Running, StopHandle};
use metrics::{Class, Measure};
use pacing::change::ChangeKind;
use plan::{Flags, Plan};
use target::{ServeOptions, Server};

const MILLI: f64 = 1e6;
const SECOND: f64 = 1e9;

fn server(kind: Kind) -> Server {
    let listen = "127.0.0.1:0".parse().expect("an address");
    Server::start(&ServeOptions::plain(listen, 1, kind)).expect("a server")
}

fn plan(server: &Server, path: &str, flags: Flags) -> Plan {
    let url = Some(format!("http://{}{path}", server.address()));
    let timeout = Some("1h".to_owned());
    Flags { url, timeout, user_agent: "ruler".to_owned(), ..flags }.plan().expect("a good plan")
}

fn options(kind: Kind, server: &Server) -> RunOptions {
    RunOptions {
        address: server.address(),
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads: 1,
        pins_threads: false,
        driver: DriverSelection { kind, was_requested: true, refusal: None },
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    }
}

fn load(kind: Kind, server: &Server, path: &str, flags: Flags) -> RunResult {
    let (plan, stop) = (plan(server, path, flags), StopHandle::default());
    engine::run(&plan, &options(kind, server), &stop, |_| ControlFlow::Continue(())).expect("a run")
}

/// A load at a rate, without a limit of lateness.
fn at_rate(per_s: u64, connections: u64) -> Flags {
    Flags {
        rate: Some(per_s.to_string()),
        connections: Some(connections.to_string()),
        max_lateness: Some("1h".to_owned()),
        ..Flags::default()
    }
}

/// `least`: the minimum delay of a response, in milliseconds.
fn delays(kind: Kind, path: &str, least: f64) {
    const COUNT: u64 = 300;
    let server = server(kind);
    let result = load(kind, &server, path, Flags { requests: Some(COUNT.to_string()), ..at_rate(500, 400) });
    let (seen, held) = (result.total.class(Class::Succeeded), server.held());
    let service = seen.by_measure(Measure::Service);
    assert_eq!((result.total.counts.started(), service.count(), held.count()), (COUNT, COUNT, COUNT));
    assert!(held.min() >= Some((least * MILLI) as u64), "{path}: answered after {:?} ns", held.min());
    // Each exchange took at least as long as its response was delayed. So the shortest of ours is not below the
    // shortest of theirs, and the same holds for the second, and for any other rank.
    for quantile in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0] {
        let [ours, theirs] = [service, &held].map(|times| times.quantile(quantile).expect("some"));
        let percent = quantile * 100.0;
        println!("{kind:?} {path} p{percent}: {:.3} ms, held {:.3} ms", ours as f64 / MILLI, theirs as f64 / MILLI);
        assert!(ours >= theirs, "{path} p{percent}: {ours} ns, held for {theirs} ns");
    }
    assert!(service.sum() >= held.sum() && service.min() >= held.min() && service.max() >= held.max());
}

fn a_constant_delay(kind: Kind) {
    delays(kind, "/delay/5", 5.0);
}

fn a_uniform_delay(kind: Kind) {
    delays(kind, "/delay/uniform/10-50", 10.0);
}

fn a_lognormal_delay(kind: Kind) {
    delays(kind, "/delay/lognormal/20,0.5", 0.0);
}

/// A load in which the target freezes for a second. It begins before the freeze and ends after it.
fn load_with_a_freeze(kind: Kind, server: &Server, path: &str, flags: Flags) -> RunResult {
    let flags = Flags { duration: Some("1h".to_owned()), interval: Some("100ms".to_owned()), ..flags };
    let plan = Arc::new(plan(server, path, flags));
    let mut running = Running::start(plan, options(kind, server), &StopHandle::default()).expect("a run");
    let control = running.control();
    running.wait().expect("an interval");
    load(kind, server, "/stall/0/1000", Flags { requests: Some("1".to_owned()), ..Flags::default() });
    while server.frozen() == pacing::Nanos::ZERO {
        running.wait().expect("a load that goes on");
    }
    control.change(0, ChangeKind::End).expect("a load that goes on");
    let result = running.finish().expect("a run");
    let counts = &result.total.counts;
    assert_eq!((counts.started(), counts.finished()), (counts.succeeded(), counts.succeeded()));
    assert!(server.frozen().0 as f64 >= SECOND, "{:?}", server.frozen());
    assert!(server.stats_json().contains("\"freezes\":1,"), "{}", server.stats_json());
    result
}

/// 1,000 starts a second, and the target freezes for a second: a start at x into the freeze waits for the rest of it.
/// So at least (1 s - x) * 1,000 starts take longer than x, however late the machine is.
fn a_freeze(kind: Kind) {
    let server = server(kind);
    let result = load_with_a_freeze(kind, &server, "/", at_rate(1_000, 10));
    let class = result.total.class(Class::Succeeded);
    let response = class.by_measure(Measure::Response);
    for tenths in 1_u32..=9 {
        let longer_than = f64::from(tenths) / 10.0;
        // A count is as exact as the histogram buckets, whose width is below a hundredth.
        let count = response.count_between((0.99 * longer_than * SECOND) as u64, u64::MAX);
        let least = 1_000 - 100 * u64::from(tenths) - 1;
        println!("{kind:?}: {count} took longer than {longer_than} s, at least {least} in theory");
        assert!(count >= least, "{count} took longer than {longer_than} s, at least {least} in theory");
    }
}

/// The closed model has few slow exchanges, and its response times include no fewer of them than its service times.
fn a_freeze_under_a_closed_load(kind: Kind) {
    let server = server(kind);
    let closed = Flags { connections: Some("10".to_owned()), ..Flags::default() };
    let result = load_with_a_freeze(kind, &server, "/delay/5", closed);
    let seen = result.total.class(Class::Succeeded);
    let [response, service] = [Measure::Response, Measure::Service].map(|measure| seen.by_measure(measure));
    let slow = |times: &metrics::Distribution| times.count_between((0.1 * SECOND) as u64, u64::MAX);
    println!("{kind:?}: {} slow responses, {} slow exchanges", slow(response), slow(service));
    assert!(slow(service) >= 1 && slow(response) >= slow(service));
    let held = server.held();
    assert!(service.sum() >= held.sum() && service.max() >= held.max());
}

on_each_driver! {
    a_constant_delay
    a_uniform_delay
    a_lognormal_delay
    a_freeze
    a_freeze_under_a_closed_load
}
