//! The stamp of a request is near the instant at which the kernel takes it.
#![cfg(target_os = "linux")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use driver::uring::UringDriver;
use driver::{Clock, Driver, Event, ListenOptions, OpenOptions, Outgoing, Socket, Sockets};
use pacing::Nanos;

const CONNECTIONS: usize = 200;
/// Submissions whose first stamp may be too early, beside those in which this machine took the processor from us. On a machine that is
/// shared with others each call takes longer now and then than the ones before it; without a bound nearly all would be late.
const LATE_PERCENT_MAX: u64 = 20;

/// How often the processor was taken from this thread so far.
fn times_taken() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("the system tells");
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:")).expect("a line");
    line.trim().parse().expect("a number")
}

/// Answers each byte with a byte, until it is told to end.
fn echo(is_over: Arc<AtomicBool>) -> (SocketAddr, std::thread::JoinHandle<()>) {
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut driver = UringDriver::new(Clock::start()).expect("a driver");
        let options = ListenOptions { on: "127.0.0.1:0".parse().expect("an address"), share_port: false };
        let (_, address) = driver.sockets().listen(&options).expect("a port");
        let template = driver.sockets().register(Arc::from(&b"x"[..]));
        tell.send(address).expect("somebody hears it");
        while !is_over.load(Ordering::Relaxed) {
            let soon = driver.now() + Nanos::from_millis(20);
            let waited = driver.wait(soon, |sockets, event| {
                if let Event::Received { socket, .. } = event {
                    sockets.send(socket, Outgoing::Template(template, 0..1));
                }
            });
            waited.expect("the driver works");
        }
    });
    (told.recv().expect("it listens"), thread)
}

#[test]
fn a_batch_is_cut_before_its_first_stamp_is_wrong() {
    let is_over = Arc::new(AtomicBool::new(false));
    let (address, server) = echo(is_over.clone());
    let mut driver = UringDriver::new(Clock::start()).expect("a driver");
    let template = driver.sockets().register(Arc::from(&b"x"[..]));
    // All of them are opened and sent to in one turn: without a bound, the first would wait for the last.
    let sockets: Vec<Socket> = (0..CONNECTIONS)
        .map(|_| {
            let _ = driver.sockets().now();
            driver.sockets().open(&OpenOptions { to: address.into(), from: None, no_delay: true }).expect("a socket")
        })
        .collect();
    let mut connected = 0;
    let give_up = Instant::now() + Duration::from_secs(10);
    while connected < sockets.len() {
        assert!(Instant::now() < give_up, "{connected} of {CONNECTIONS} connected");
        let soon = driver.now() + Nanos::from_millis(20);
        driver
            .wait(soon, |_, event| connected += usize::from(matches!(event, Event::Connected { .. })))
            .expect("the driver works");
    }
    for &socket in &sockets {
        let _ = driver.sockets().now();
        driver.sockets().send(socket, Outgoing::Template(template, 0..1));
    }
    let (mut answers, mut handled) = (0, Nanos::ZERO);
    let taken = times_taken();
    let end = driver.now() + Nanos::from_millis(1_500);
    while driver.now() < end {
        let waited = driver.wait(end, |sockets, event| {
            if let Event::Received { socket, at, .. } = event {
                answers += 1;
                // A handler that takes its time.
                while sockets.now().since(at) < handled {}
                handled = Nanos(answers % 4 * 1_000);
                let _ = sockets.now();
                sockets.send(socket, Outgoing::Template(template, 0..1));
            }
        });
        waited.expect("the driver works");
    }
    let errors = driver.sockets().stamp_errors();
    let taken = times_taken() - taken;
    is_over.store(true, Ordering::Relaxed);
    server.join().expect("the server ends");
    assert!(answers > 1_000, "{answers} answers");
    assert!(errors.submissions > 500, "{errors:?} for {answers} answers");
    let most = errors.submissions * LATE_PERCENT_MAX / 100 + taken;
    assert!(errors.late <= most, "{errors:?} for {answers} answers, {taken} times without a processor");
}
