//! Lateness of waits and of wake-ups on this machine, and the number of inexact stamps: figures to read, which no test
//! asserts. Tests count instead, since a busy machine is late by itself.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

use std::io::Error;
use std::sync::mpsc::channel;

use driver::{Clock, Driver, Event, SocketKind};
use pacing::Nanos;

/// Number of waits of each length, and of wake-ups.
const TIMES: usize = 300;
const SPANS: [Nanos; 3] = [Nanos(300_000), Nanos::from_millis(3), Nanos::from_millis(20)];

/// Prints a line with quantiles of lateness.
fn print(what: &str, mut late: Vec<u64>) {
    late.sort_unstable();
    let micros = |share: usize| late[(late.len() - 1) * share / 100] as f64 / 1_000.0;
    println!("  {what:<28} p50 {:>8.1} us  p99 {:>8.1} us  most {:>8.1} us", micros(50), micros(99), micros(100));
}

fn waits(driver: &mut impl Driver, span: Nanos) -> Vec<u64> {
    let wait = |_| {
        let until = driver.now() + span;
        while driver.now() < until {
            driver.wait(until, |_, _| {}).expect("it works");
        }
        driver.now().since(until).0
    };
    (0..TIMES).map(wait).collect()
}

/// Time from the wake to its event, by the clock that both threads share.
fn wakes(driver: &mut impl Driver, clock: Clock) -> Vec<u64> {
    let (waker, (ask, requested), (notify, reported)) = (driver.waker(), channel(), channel());
    let thread = std::thread::spawn(move || {
        while requested.recv().is_ok() {
            notify.send(clock.now()).expect("somebody hears it");
            waker.wake();
        }
    });
    let wake = |_| {
        ask.send(()).expect("it waits");
        let mut received = None;
        while received.is_none() {
            let now = driver.now();
            let far = now + Nanos::from_millis(10_000);
            driver
                .wait(far, |_, event| received = matches!(event, Event::Woken).then(|| clock.now()))
                .expect("it works");
        }
        let woken = reported.recv().expect("it was told before the wake");
        received.map_or(0, |received| received.since(woken).0)
    };
    let late = (0..TIMES).map(wake).collect();
    drop(ask);
    thread.join().expect("it ends");
    late
}

fn figures<D: Driver>(name: &str, make: impl FnOnce(Clock) -> Result<D, Error>) {
    let clock = Clock::start();
    let mut driver = match make(clock) {
        Ok(driver) => driver,
        Err(error) => return println!("{name}: {error}"),
    };
    println!("{name}:");
    for span in SPANS {
        let late = waits(&mut driver, span);
        print(&format!("waits of {} us", span.0 / 1_000), late);
    }
    let late = wakes(&mut driver, clock);
    print("wakes", late);
}

/// Prints the number of submissions with a stamp that was off by more than the limit.
#[cfg(target_os = "linux")]
fn stamps() -> Result<(), Error> {
    use std::io::Read;
    use std::net::TcpListener;
    use std::sync::Arc;

    use driver::uring::{STAMP_ERROR_MAX, UringDriver};
    use driver::{OpenOptions, Outgoing};

    const CONNECTIONS: usize = 32;
    const TURNS: usize = 2_000;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let options =
        OpenOptions { kind: SocketKind::Stream, to: listener.local_addr()?.into(), from: None, no_delay: true };
    let mut driver = UringDriver::new(Clock::start())?;
    let template = driver.sockets().register(Arc::from(&b"x"[..]));
    let mut sockets = Vec::new();
    for _ in 0..CONNECTIONS {
        sockets.push(driver.sockets().open(&options).map_err(Error::other)?);
        let mut is_connected = false;
        while !is_connected {
            let soon = driver.now() + Nanos::from_millis(20);
            driver.wait(soon, |_, event| is_connected |= matches!(event, Event::Connected { .. }))?;
        }
        let (mut peer, _) = listener.accept()?;
        // It reads until the driver is dropped.
        std::thread::spawn(move || while peer.read(&mut [0; 4_096]).is_ok_and(|count| count > 0) {});
    }
    for _ in 0..TURNS {
        for &socket in &sockets {
            let _ = driver.sockets().now();
            driver.sockets().send(socket, Outgoing::Template(template, 0..1));
        }
        let now = driver.now();
        driver.wait(now, |_, _| {})?;
    }
    let errors = driver.stamp_errors();
    println!(
        "  stamps: {} of {} submissions off by more than {} us, {:.1} requests in each",
        errors.late,
        errors.submissions,
        STAMP_ERROR_MAX.0 / 1_000,
        (CONNECTIONS * TURNS) as f64 / errors.submissions.max(1) as f64
    );
    Ok(())
}

fn main() {
    figures("poll", driver::poll::PollDriver::new);
    #[cfg(target_os = "linux")]
    {
        figures("io_uring", driver::uring::UringDriver::new);
        if let Err(error) = stamps() {
            println!("  stamps: {error}");
        }
    }
}
