//! A driver that may delay events to coalesce them, on real sockets; the swarm checks how long a simulated one does.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::channel;

use driver::{Driver, Event, Kind, Outgoing};
use pacing::Nanos;

use super::real::Real;
use super::{LIMIT, Lab, Peer, connected, received, received_bytes, seen, until, wait_for};

/// More than any test waits for.
const HOUR: Nanos = Nanos::from_millis(3_600_000);

/// Events are reported when the delay is over, and not before; and without a delay, no wait coalesces.
fn what_comes_gathers<D: Driver>(mut lab: Real<D>) {
    let (socket, mut peer) = connected(&mut lab);
    let span = Nanos::from_millis(60);
    lab.driver().coalesce(span);
    for piece in [b"some", b"more"] {
        peer.write_all(piece);
        let (mut begun, mut reported) = (Nanos::ZERO, None);
        while reported.is_none() {
            begun = lab.driver().now();
            lab.wait(begun + HOUR, |event| {
                if let Event::Received { at, .. } = event {
                    reported = Some(at);
                }
            });
        }
        let lay = reported.expect("it came").since(begun);
        // A sleep is requested some microseconds shorter, since it ends late.
        assert!(lay.0 >= span.0 * 9 / 10, "{lay:?}");
    }
    lab.driver().coalesce(Nanos::ZERO);
    peer.write_all(b"last");
    assert_eq!(received(&until(&mut lab, |all| received_bytes(all) == 4)), b"last");
    lab.driver().sockets().close(socket);
}

/// A wait with a longer allowed delay than any test waits for ends when it is due.
fn gathering_ends_in_time<D: Driver>(mut lab: Real<D>) {
    let (socket, mut peer) = connected(&mut lab);
    lab.driver().coalesce(Nanos::from(2 * LIMIT));
    for span in [Nanos::ZERO, Nanos(5_000), Nanos(400_000), Nanos::from_millis(20)] {
        let due = lab.driver().now() + span;
        wait_for(&mut lab, &mut span.clone(), |lab, _| {
            lab.wait(due, |event| panic!("nothing should happen: {event:?}"));
            lab.driver().now() >= due
        });
    }
    peer.write_all(b"there");
    let mut all = Vec::new();
    wait_for(&mut lab, &mut all, |lab, all| {
        let soon = lab.driver().now() + Nanos::from_millis(5);
        lab.wait(soon, |event| all.push(seen(event)));
        received_bytes(all) == 5
    });
    assert_eq!(received(&all), b"there");
    lab.driver().sockets().close(socket);
}

/// Queued sends are not delayed: the peer has them while a driver sleeps for an hour.
fn what_is_sent_leaves_before_a_sleep(kind: Kind) {
    for is_lent in [false, true] {
        let (notify, peer) = channel();
        // It sleeps until this program ends.
        std::thread::spawn(move || {
            let mut lab = Real::chosen(kind);
            let (socket, peer) = connected(&mut lab);
            let template = lab.driver().sockets().register(Arc::from(&b"ping"[..]));
            notify.send(peer).expect("somebody hears it");
            lab.driver().coalesce(HOUR);
            let bytes = if is_lent { Outgoing::Lent(b"ping".to_vec()) } else { Outgoing::Template(template, 0..4) };
            lab.driver().sockets().send(socket, bytes);
            let over = lab.driver().now() + HOUR;
            while lab.driver().now() < over {
                lab.wait(over, |_| {});
            }
        });
        let mut peer: TcpStream = peer.recv().expect("it is connected");
        peer.set_read_timeout(Some(LIMIT)).expect("a timeout");
        assert_eq!(peer.read_exact(4), b"ping");
    }
}

macro_rules! on_real_drivers {
    ($($test:ident)*) => {
        mod on_poll {
            $(#[test] fn $test() { super::$test(super::Real::chosen(driver::Kind::Poll)); })*

            #[test]
            fn what_is_sent_leaves_before_a_sleep() {
                super::what_is_sent_leaves_before_a_sleep(driver::Kind::Poll);
            }
        }

        mod on_uring {
            $(#[test] fn $test() { super::$test(super::Real::chosen(driver::Kind::Uring)); })*

            #[test]
            fn what_is_sent_leaves_before_a_sleep() {
                super::what_is_sent_leaves_before_a_sleep(driver::Kind::Uring);
            }
        }
    };
}

on_real_drivers! {
    what_comes_gathers
    gathering_ends_in_time
}
