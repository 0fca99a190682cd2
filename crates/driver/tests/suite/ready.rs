//! Whether a wait has reported everything that was ready.

use driver::{Driver, Event, Outgoing};
use pacing::Nanos;

use super::{Lab, Peer, Seen, open, until, wait_for};

/// More than one wait of any driver reports.
const SOCKETS: usize = 3_000;
/// Connections that are not accepted yet: fewer than the backlog of any listener.
const BATCH: usize = 100;
/// More bytes than one wait of any driver reports.
const MUCH: usize = 5 << 20;

fn many<L: Lab>(lab: &mut L, count: usize) -> Vec<L::Peer> {
    let address = lab.listen();
    let mut peers = Vec::new();
    while peers.len() < count {
        let batch = BATCH.min(count - peers.len());
        for _ in 0..batch {
            open(lab, address);
        }
        until(lab, |all| all.iter().filter(|seen| matches!(seen, Seen::Connected(_))).count() == batch);
        peers.extend((0..batch).map(|_| lab.accept()));
    }
    peers
}

/// Reads everything that is ready, without waiting. Returns the number of bytes, and of waits that reported them.
fn read_ready<L: Lab>(lab: &mut L) -> (usize, usize) {
    let (mut bytes, mut waits) = (0, 0);
    loop {
        waits += 1;
        let now = lab.driver().now();
        let driver = lab.driver();
        driver
            .wait(now, |_, event| {
                if let Event::Received { bytes: got, .. } = event {
                    bytes += got.len()
                }
            })
            .expect("the driver works");
        if !driver.has_more() {
            return (bytes, waits);
        }
    }
}

/// Reads until there were this many bytes, and no more.
fn read_rest<L: Lab>(lab: &mut L, mut bytes: usize, count: usize) {
    wait_for(lab, &mut bytes, |lab, bytes| {
        let soon = lab.driver().now() + Nanos::from_millis(5);
        lab.wait(soon, |event| {
            if let Event::Received { bytes: got, .. } = event {
                *bytes += got.len()
            }
        });
        *bytes >= count
    });
    assert_eq!(bytes, count);
}

pub(super) fn many_ready_sockets_are_more<L: Lab>(mut lab: L) {
    let count = lab.scale(SOCKETS);
    let mut peers = many(&mut lab, count);
    read_ready(&mut lab);
    assert!(!lab.driver().has_more(), "nobody said anything");
    for peer in &mut peers {
        peer.write_all(b"x");
    }
    lab.await_ready(count);
    let (bytes, waits) = read_ready(&mut lab);
    // A simulated completion may be reported later.
    if !L::IS_SIMULATED {
        assert_eq!(bytes, count, "after {waits} waits");
    }
    read_rest(&mut lab, bytes, count);
    read_ready(&mut lab);
    assert!(!lab.driver().has_more(), "all are silent again");
}

pub(super) fn much_ready_data_is_more<L: Lab>(mut lab: L) {
    // Each peer's kernel sends at once as much as a fresh connection has room for, which is some 64 KiB.
    let mut peers = many(&mut lab, 100);
    let mut written = 0;
    for peer in &mut peers {
        written += peer.try_write(&[1; 150_000]);
    }
    lab.await_ready(MUCH);
    let (bytes, waits) = read_ready(&mut lab);
    if !L::IS_SIMULATED {
        assert!(bytes >= MUCH, "{bytes} of {written} after {waits} waits");
    }
    read_rest(&mut lab, bytes, written);
    read_ready(&mut lab);
    assert!(!lab.driver().has_more(), "all are silent again");
    // A send that was taken at once is reported by a later wait.
    let (socket, _peer) = super::connected(&mut lab);
    lab.driver().sockets().send(socket, Outgoing::Lent(b"x".to_vec()));
    until(&mut lab, |all| all.contains(&Seen::Sent(socket, Some(1))));
    read_ready(&mut lab);
}
