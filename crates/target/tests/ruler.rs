//! Our times beside those that the target itself knows: delays of three shapes, and a freeze on the wire.
//! `ONRUSH_LONG` makes the runs as long as their tails need: twenty seconds, and ten for the freeze.
#![expect(clippy::print_stdout, reason = "a ruler shows what it measured")]

mod calm;
#[macro_use]
mod each_driver;

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard};

use calm::Calm;
use driver::{Chosen, Kind};
use engine::{RunOptions, RunResult, StopHandle};
use metrics::{Class, Measure};
use plan::Flags;
use target::{ServeOptions, Server};

const MILLI: f64 = 1e6;
const SECOND: f64 = 1e9;

/// What others do on the cores would be measured too.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn is_long() -> bool {
    std::env::var_os("ONRUSH_LONG").is_some()
}

fn server(kind: Kind) -> Server {
    let listen = "127.0.0.1:0".parse().expect("an address");
    Server::start(&ServeOptions::plain(listen, 1, kind)).expect("a server")
}

/// Time that the threads of this process that live were ready to run and had no core.
fn run_delay_ns() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").expect("the system tells").flatten();
    let of_thread = |folder: std::fs::DirEntry| {
        let text = std::fs::read_to_string(folder.path().join("schedstat")).ok()?;
        text.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    threads.filter_map(of_thread).sum()
}

fn load(kind: Kind, server: &Server, path: &str, flags: Flags) -> RunResult {
    let address = server.address();
    let flags = Flags { url: Some(format!("http://{address}{path}")), user_agent: "ruler".to_owned(), ..flags };
    let plan = flags.plan().expect("a good plan");
    let driver = Chosen { kind, was_asked: true, refusal: None };
    let options = RunOptions {
        address,
        tls: None,
        others: Vec::new(),
        threads: 1,
        pins_threads: false,
        driver,
        lookout: engine::Lookout::default(),
        supplies: engine::Supplies::default(),
        team: None,
    };
    engine::run(&plan, &options, &StopHandle::default(), |_| ControlFlow::Continue(())).expect("a run")
}

fn flags(rate: Option<&str>, seconds: u64, connections: u64) -> Flags {
    Flags {
        rate: rate.map(str::to_owned),
        duration: Some(format!("{seconds}s")),
        connections: Some(connections.to_string()),
        ..Flags::default()
    }
}

/// `theory`: the median and the 90th percentile of the shape, in milliseconds.
fn delays(kind: Kind, path: &str, theory: [f64; 2]) {
    let _alone = alone();
    let server = server(kind);
    let seconds = if is_long() { 20 } else { 2 };
    let delayed = run_delay_ns();
    let result = load(kind, &server, path, flags(Some("500"), seconds, 400));
    let of_client: u64 = result.shards.iter().map(|spent| spent.run_delay_ns).sum();
    // Time that threads of both ends were ready and had no core, for each exchange.
    let delayed = (run_delay_ns().saturating_sub(delayed) + of_client) as f64 / (500 * seconds) as f64;
    assert_eq!(result.total.counts.succeeded(), 500 * seconds);
    let (seen, held) = (result.total.class(Class::Succeeded), server.held());
    let service = seen.of(Measure::Service);
    // The tail of a thousand is one exchange: it is judged in the long run only.
    let judged: &[f64] = if is_long() { &[0.5, 0.9, 0.99, 0.999] } else { &[0.5, 0.9] };
    for &quantile in judged {
        let [ours, theirs] = [service, &held].map(|times| times.quantile(quantile).expect("some") as f64);
        // Of all exchanges at most a share `rest` was delayed by more than the mean / `rest` (Markov); of the others at most a share
        // 1 - quantile - `rest` was held for longer than the target's own quantile of that.
        let rest = (1.0 - quantile) / 5.0;
        let late = delayed / rest;
        let most = held.quantile(quantile + rest).expect("some") as f64 + late;
        println!(
            "{kind:?} {path} p{}: {:.3} ms, held {:.3} ms; late {:.3} ms",
            quantile * 100.0,
            ours / MILLI,
            theirs / MILLI,
            late / MILLI
        );
        let slack = 0.3 * MILLI + 0.01 * theirs;
        assert!(
            ours >= theirs - slack && ours <= most + slack,
            "{path} {quantile}: {ours} ns, held for {theirs} ns, at most {most} ns"
        );
    }
    if is_long() {
        for (quantile, expect) in [0.5, 0.9].into_iter().zip(theory) {
            let ours = service.quantile(quantile).expect("some") as f64 / MILLI;
            assert!((ours - expect).abs() <= 1.0, "{path} {quantile}: {ours} ms, {expect} ms in theory");
        }
    }
}

fn a_constant_delay(kind: Kind) {
    delays(kind, "/delay/5", [5.0, 5.0]);
}

fn a_uniform_delay(kind: Kind) {
    delays(kind, "/delay/uniform/10-50", [30.0, 46.0]);
}

fn a_lognormal_delay(kind: Kind) {
    // exp(1.28155 * 0.5) times the median.
    delays(kind, "/delay/lognormal/20,0.5", [20.0, 37.96]);
}

/// 1,000 starts a second, and the target stands still for a second: a start that comes x into the freeze waits for what is left
/// of it, so a share f of all starts waits evenly between nothing and the whole freeze F, and the quantile q above 1 - f is
/// (q - (1 - f)) / f of F. What has piled up is then served one by one: the drain.
fn a_freeze(kind: Kind) {
    let _alone = alone();
    let server = server(kind);
    let (seconds, after) = if is_long() { (10, 4_000) } else { (4, 1_500) };
    let calm = Calm::watch();
    let capacity = load(kind, &server, "/", flags(None, 1, 10));
    let drain = 1_000.0 * capacity.wall.0 as f64 / capacity.total.counts.finished() as f64;
    load(kind, &server, &format!("/stall/{after}/1000"), Flags { requests: Some("1".to_owned()), ..Flags::default() });
    let result = load(kind, &server, "/", flags(Some("1000"), seconds, 10));
    // On a machine that others disturb wake-ups are as late as they are there, and what piled up takes as long again.
    let lateness = calm.lateness();
    let is_calm = lateness.is_calm();
    let drain = if is_calm { drain } else { 4.0 * drain + 4.0 * lateness.at(1.0).as_nanos() as f64 + 20.0 * MILLI };
    let starts = 1_000 * seconds;
    assert_eq!((result.total.counts.started(), result.total.counts.succeeded()), (starts, starts));
    let seen = result.total.class(Class::Succeeded);
    let (response, service) = (seen.of(Measure::Response), seen.of(Measure::Service));
    let frozen = server.frozen().0 as f64;
    let share = frozen / SECOND * 1_000.0 / starts as f64;
    println!("{kind:?} frozen {:.3} ms, drain {:.1} ms", frozen / MILLI, drain / MILLI);
    let shown = |quantile: f64| response.quantile(quantile).expect("some") as f64;
    println!("{kind:?} p90 {:.1} ms (at the edge of the freeze: not judged)", shown(0.9) / MILLI);
    for quantile in [0.95, 0.99, 0.999, 1.0] {
        let expect = (quantile - (1.0 - share)) / share * frozen;
        let ours = shown(quantile);
        println!("{kind:?} p{}: {:.1} ms, {:.1} ms in theory", quantile * 100.0, ours / MILLI, expect / MILLI);
        assert!(
            (ours - expect).abs() <= expect * 0.02 + 2.0 * MILLI + drain,
            "{quantile}: {ours} ns, {expect} ns expected, drain {drain} ns"
        );
    }
    let slow = service.count_between((0.1 * SECOND) as u64, (10.0 * SECOND) as u64);
    // One for each connection, unless the machine kept one of both from its core for a tenth of a second.
    assert!((1..=10).contains(&slow) || !is_calm, "{slow} slow service times on 10 connections");
}

/// The closed model has the same few slow exchanges, and its response time shows no more than they do.
fn a_freeze_under_a_closed_load(kind: Kind) {
    let _alone = alone();
    let server = server(kind);
    load(kind, &server, "/stall/500/1000", Flags { requests: Some("1".to_owned()), ..Flags::default() });
    let calm = Calm::watch();
    let result = load(kind, &server, "/delay/5", flags(None, 3, 10));
    // Whoever has no core for a tenth of a second is slow too. The same runs in the simulator, where nobody is disturbed.
    let others = if calm.lateness().is_calm() { 10 } else { u64::MAX };
    let seen = result.total.class(Class::Succeeded);
    for measure in [Measure::Response, Measure::Service] {
        let times = seen.of(measure);
        let slow = times.count_between((0.1 * SECOND) as u64, (10.0 * SECOND) as u64);
        assert!((1..=others).contains(&slow), "{measure:?}: {slow} slow ones on 10 connections");
        let is_hidden = times.quantile(0.99) < Some(100_000_000);
        assert!(is_hidden || others > 10, "{measure:?}: {:?}", times.quantile(0.99));
    }
}

on_each_driver! {
    a_constant_delay
    a_uniform_delay
    a_lognormal_delay
    a_freeze
    a_freeze_under_a_closed_load
}
