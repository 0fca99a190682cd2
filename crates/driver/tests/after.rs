//! Drivers that follow each other in one process leave nothing behind, whatever was in progress when they were dropped.

#[macro_use]
extern crate claims;

use std::io::Read;
use std::net::{TcpListener, TcpStream};

use driver::{Clock, Driver, Event, OpenOptions, Outgoing, SocketKind};
use pacing::Nanos;

/// Total number of drivers, and how many of them the process may need to reach its usual size.
const DRIVERS: usize = 120;
const FIRST: usize = 20;
/// More than the kernel takes for a peer that does not read.
const LARGE: usize = 16 << 20;
/// Maximum that an allocator retains in any case. A driver that leaked its buffers would leak half a megabyte each
/// time.
const GROWTH_MAX: u64 = 24 << 20;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("the system tells").count()
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the system tells");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("a number");
    pages * rustix::param::page_size() as u64
}

/// A connection that receives, with a send in progress that cannot complete.
fn leave_in_the_middle(mut driver: impl Driver, listener: &TcpListener) -> TcpStream {
    let to = listener.local_addr().expect("an address");
    let options = OpenOptions { kind: SocketKind::Stream, to: to.into(), from: None, no_delay: true };
    let socket = driver.sockets().open(&options).expect("a socket");
    let mut is_connected = false;
    while !is_connected {
        let soon = driver.now() + Nanos::from_millis(20);
        driver.wait(soon, |_, event| is_connected |= matches!(event, Event::Connected { .. })).expect("it works");
    }
    let (peer, _) = listener.accept().expect("it is there");
    driver.sockets().send(socket, Outgoing::Lent(vec![7; LARGE]));
    let now = driver.now();
    driver.wait(now, |_, _| {}).expect("it works");
    assert!(driver.sockets().unsent(socket) > 0, "the peer has taken all of it");
    peer
}

fn leaves_nothing(new: impl Fn() -> Box<dyn FnOnce(&TcpListener) -> TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut usual = (0, 0);
    for number in 0..DRIVERS {
        let mut peer = new()(&listener);
        // The socket is gone with its driver: bytes sent before arrive, and then an end of some kind.
        let mut rest = Vec::new();
        let _ = peer.read_to_end(&mut rest);
        assert!(rest.len() < LARGE && rest.iter().all(|byte| *byte == 7), "other bytes than those that were sent");
        if number + 1 == FIRST {
            usual = (descriptors(), resident_bytes());
        }
    }
    let now = (descriptors(), resident_bytes());
    assert!(now.0 <= usual.0, "{} descriptors, {} before", now.0, usual.0);
    assert!(now.1 < usual.1 + GROWTH_MAX, "{} bytes more", now.1 - usual.1);
}

#[test]
fn many_drivers_follow_each_other() {
    leaves_nothing(|| {
        Box::new(|listener| {
            leave_in_the_middle(driver::poll::PollDriver::new(Clock::start()).expect("a driver"), listener)
        })
    });
    #[cfg(target_os = "linux")]
    leaves_nothing(|| {
        Box::new(|listener| {
            leave_in_the_middle(driver::uring::UringDriver::new(Clock::start()).expect("a driver"), listener)
        })
    });
}
