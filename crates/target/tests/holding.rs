//! Held connections as values: many in one process, concurrently with loads, ended from outside. One process, one test
//! at a time: its descriptors and threads belong to it alone.

#![expect(clippy::print_stdout, reason = "the figures are the point, and there is no harness to keep them")]

#[macro_use]
extern crate claims;

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;

use claims::wait_for;
use driver::{DriverSelection, Kind};
use engine::{Delivery, HoldOptions, HoldResult, HoldUpdate, Holding, Refused, RunOptions, Running, StopHandle};
use metrics::HeldCounts;
use pacing::Nanos;
use pacing::change::ChangeKind;
use plan::{Flags, HoldFlags};
use target::{ServeOptions, Server};

/// Number of concurrent holds, and of rounds that follow each other.
const SIDE_BY_SIDE: u64 = 10;
const ROUNDS: u64 = 20;
/// Rounds after which the allocator has its final number of arenas.
const ROUNDS_BEFORE: u64 = 5;
const CONNECTIONS: u64 = 12;

fn chosen(kind: Kind) -> DriverSelection {
    DriverSelection { kind, was_requested: true, refusal: None }
}

fn flags(server: &Server, scheme: &str) -> Flags {
    Flags { url: Some(format!("{scheme}://{}/", server.address())), ..Flags::default() }
}

fn start(server: &Server, scheme: &str, span: &str, kind: Kind) -> Holding {
    let common = Flags {
        connections: Some(CONNECTIONS.to_string()),
        interval: Some("100ms".to_owned()),
        ..flags(server, scheme)
    };
    let plan = HoldFlags { common, hold: Some(span.to_owned()), ..HoldFlags::default() }.plan().expect("a good plan");
    let options = HoldOptions {
        address: server.address(),
        names: Vec::new(),
        tls: None,
        threads: 2,
        driver: chosen(kind),
        backend: None,
    };
    Holding::start(Arc::new(plan), options, &StopHandle::default()).expect("connections")
}

fn entries(folder: &str) -> usize {
    std::fs::read_dir(folder).expect("this process").count()
}

/// Waits until `expected` threads are left: the kernel removes one from its list a moment after the joining thread is
/// notified.
fn wait_for_threads(expected: usize) {
    wait_for(&format!("{expected} threads"), || entries("/proc/self/task") == expected);
}

fn main() {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let server = Server::start(&ServeOptions::plain(listen, 1, Kind::Poll)).expect("a server");
    let threads = entries("/proc/self/task");
    for kind in [Kind::Uring, Kind::Poll] {
        many_leave_nothing_behind(&server, kind, threads);
        a_load_goes_on_beside(&server, kind);
        what_is_reported_is_what_it_came_to(&server, kind);
        it_is_ended_and_nothing_else(&server, kind);
        who_drops_it_ends_it(&server, kind, threads);
        who_listens_hears_all(&server, kind);
        what_left_is_what_the_kernel_took(kind);
    }
    println!("7 passed, 0 failed");
}

/// With a peer that reads nothing: the bytes of messages that the kernel took are known exactly, since the peer finds
/// them when it finally reads. No message was sent completely, except small ones.
fn what_left_is_what_the_kernel_took(kind: Kind) {
    const LARGE: usize = 24 * 1024 * 1024;
    for (bytes, no_response, left) in [(LARGE, true, 0), (LARGE, false, 0), (1_000, true, 2), (1_000, false, 2)] {
        let about = format!("{kind:?} {bytes} {no_response}");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (begin, reads) = channel();
        let peer = std::thread::spawn(move || {
            let sockets: Vec<TcpStream> = (0..2).map(|_| listener.accept().expect("a connection").0).collect();
            reads.recv().expect("all is over");
            let mut buffer = vec![0; 1 << 20];
            let mut read_all = |mut socket: TcpStream| {
                std::iter::from_fn(|| socket.read(&mut buffer).ok().filter(|count| *count > 0)).sum::<usize>()
            };
            sockets.into_iter().map(&mut read_all).sum::<usize>() as u64
        });
        let common = Flags {
            url: Some(format!("tcp://{address}")),
            connections: Some("2".to_owned()),
            data: Some("x".repeat(bytes)),
            no_response,
            read_bytes: (!no_response).then(|| "2".to_owned()),
            grace: Some("0s".to_owned()),
            timeout: Some("60s".to_owned()),
            ..Flags::default()
        };
        let plan = HoldFlags { common, once: true, hold: Some("500ms".to_owned()), ..HoldFlags::default() };
        let plan = plan.plan().unwrap_or_else(|error| panic!("{error}"));
        let options =
            HoldOptions { address, names: Vec::new(), tls: None, threads: 1, driver: chosen(kind), backend: None };
        let holding = Holding::start(Arc::new(plan), options, &StopHandle::default()).expect("connections");
        let result = holding.finish().expect("an end");
        begin.send(()).expect("it waits");
        let (came, counts) = (peer.join().expect("a sum"), &result.total.counts);
        assert_eq!(counts.bytes_sent(), came, "{about}: {counts:?}");
        assert!(came > 0 && (bytes < LARGE || came < 2 * LARGE as u64), "{about}: {came}");
        assert_eq!((counts.sent(), counts.messages_left()), (2, left), "{about}: {counts:?}");
    }
}

fn is_whole(result: &HoldResult, kind: Kind) {
    let counts = &result.total.counts;
    assert_eq!(HeldCounts::reasons(&counts.failed), [], "{kind:?}");
    assert_eq!(HeldCounts::reasons(&counts.lost), [], "{kind:?}");
    assert_eq!((counts.tried(), counts.established()), (CONNECTIONS, CONNECTIONS), "{kind:?}");
    assert_eq!(counts.closed() + counts.close_timed_out(), CONNECTIONS, "{kind:?}");
    assert_eq!((result.when_opened.open, result.most_open), (CONNECTIONS, CONNECTIONS), "{kind:?}");
}

/// Each ends by itself, without being polled.
fn many_leave_nothing_behind(server: &Server, kind: Kind, threads: usize) {
    let seen = || {
        wait_for_threads(threads);
        entries("/proc/self/fd")
    };
    let mut before = None;
    for round in 1..=ROUNDS {
        let schemes = ["ws", "http"];
        let all: Vec<Holding> = (0..SIDE_BY_SIDE)
            .map(|number| start(server, schemes[number as usize % schemes.len()], "50ms", kind))
            .collect();
        all.into_iter().for_each(|one| is_whole(&one.finish().expect("an end"), kind));
        if round == ROUNDS_BEFORE {
            before = Some(seen());
        }
    }
    let (before, after) = (before.expect("some rounds"), seen());
    println!("{kind:?}: {} holds; descriptors {before} -> {after}", ROUNDS * SIDE_BY_SIDE);
    // The target closes its ends of connections a moment later.
    let slack = (SIDE_BY_SIDE * CONNECTIONS) as usize;
    assert!(after <= before + slack, "{after} descriptors, {before} before");
}

fn a_load_goes_on_beside(server: &Server, kind: Kind) {
    let load = Flags { connections: Some("3".to_owned()), requests: Some("300".to_owned()), ..flags(server, "http") };
    let options = RunOptions {
        address: server.address(),
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads: 2,
        pins_threads: false,
        driver: chosen(kind),
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    };
    let holding = start(server, "ws", "200ms", kind);
    let running = Running::start(Arc::new(load.plan().expect("a good plan")), options, &StopHandle::default());
    let total = running.and_then(Running::finish).expect("a run").total;
    assert_eq!(total.counts.succeeded(), 300, "{kind:?}");
    is_whole(&holding.finish().expect("an end"), kind);
}

fn what_is_reported_is_what_it_came_to(server: &Server, kind: Kind) {
    let mut holding = start(server, "ws", "2s", kind);
    let (mut rows, mut reported, mut last, mut open) = (0, 0, Nanos::ZERO, 0);
    claims::as_one(|| {
        while let Some(HoldUpdate::Interval(interval)) = holding.wait() {
            rows += u64::from(!interval.is_update);
            assert!(interval.is_update || interval.from == last, "{kind:?}: rows follow each other");
            last = last.max(interval.to);
            reported = interval.total.counts.established();
            open = open.max(interval.seen.now.open);
        }
    });
    let result = holding.finish().expect("an end");
    is_whole(&result, kind);
    assert!(rows >= 2, "{kind:?}: {rows} rows");
    assert_eq!((reported, open, last, result.was_stopped), (CONNECTIONS, CONNECTIONS, result.wall, false), "{kind:?}");
}

fn it_is_ended_and_nothing_else(server: &Server, kind: Kind) {
    let mut holding = start(server, "ws", "1h", kind);
    let control = holding.control();
    let is_opening =
        |update: HoldUpdate<'_>| matches!(update, HoldUpdate::Interval(of) if of.seen.now.open < CONNECTIONS);
    while holding.wait().is_some_and(is_opening) {}
    for what in [ChangeKind::Pause, ChangeKind::Resume, ChangeKind::Rate(Vec::new()), ChangeKind::Users(Vec::new())] {
        assert_eq!(control.change(0, what), Err(Refused::Held), "{kind:?}");
    }
    assert!(Refused::Held.to_string().contains("stop them"), "the reason and the remedy");
    let other = start(server, "ws", "300ms", kind);
    control.stop();
    let result = holding.finish().expect("an end");
    is_whole(&result, kind);
    assert!(result.was_stopped, "{kind:?}");
    assert_eq!(control.change(0, ChangeKind::Pause), Err(Refused::Over), "{kind:?}");
    let other = other.finish().expect("an end");
    assert!(!other.was_stopped, "{kind:?}: an end is of one alone");
    is_whole(&other, kind);
}

fn who_drops_it_ends_it(server: &Server, kind: Kind, threads: usize) {
    let mut holding = start(server, "ws", "1h", kind);
    assert!(holding.wait().is_some(), "the first interval");
    drop(holding);
    wait_for_threads(threads);
    // Also before it was polled.
    drop(start(server, "http", "1h", kind));
    wait_for_threads(threads);
}

/// One subscriber takes everything, one nothing until the end, one the newest.
fn who_listens_hears_all(server: &Server, kind: Kind) {
    let mut holding = start(server, "ws", "600ms", kind);
    let (file, slow) = (holding.subscribe(Delivery::Lossless, 4), holding.subscribe(Delivery::Lossless, 1));
    let screen = holding.subscribe(Delivery::Latest, 1);
    let reader = std::thread::spawn(move || {
        std::iter::from_fn(|| file.wait())
            .map(|one| (one.row.interval().is_update, one.skipped + one.joined))
            .collect::<Vec<_>>()
    });
    let mut rows = 0;
    while holding.wait().is_some() {
        rows += 1;
    }
    is_whole(&holding.finish().expect("an end"), kind);
    let all = reader.join().expect("it reads");
    assert_eq!((all.len(), all.iter().map(|(_, lost)| lost).sum::<u64>()), (rows, 0), "{kind:?}");
    // One row that stands for all of them.
    let only = slow.wait().expect("a row");
    let interval = only.row.interval();
    println!("{kind:?}: {rows} intervals, {} joined", only.joined);
    assert_eq!((only.joined + 1, only.skipped, slow.wait().is_none()), (rows as u64, 0, true), "{kind:?}");
    assert_eq!((interval.is_update, interval.from), (false, Nanos::ZERO), "{kind:?}");
    for seen in [interval.seen, interval.total] {
        assert_eq!(
            (seen.counts.established(), seen.counts.closed() + seen.counts.close_timed_out()),
            (CONNECTIONS, CONNECTIONS)
        );
    }
    let newest = screen.try_next().expect("the last row");
    assert_eq!((newest.skipped + 1, newest.joined), (rows as u64, 0), "{kind:?}");
    assert_eq!(newest.row.interval().to, interval.to, "{kind:?}");
}
