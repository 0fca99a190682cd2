//! A driver that may let what comes gather, on real sockets; how long a simulated one does is for the swarm to see.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use driver::{Driver, Event, Outgoing, Sockets};
use pacing::Nanos;

use super::real::Real;
use super::{Lab, Peer, connected, is_quiet, received, received_bytes, until};

/// What comes is told when the time to gather is over, and at once when there is none.
fn what_comes_gathers<D: Driver>(mut lab: Real<D>) {
    let (socket, mut peer) = connected(&mut lab);
    let span = Nanos::from_millis(60);
    lab.driver().gather(span);
    for piece in [b"some", b"more"] {
        peer.write_all(piece);
        let (mut begun, mut told) = (Nanos::ZERO, None);
        while told.is_none() {
            begun = lab.driver().now();
            lab.wait(begun + Nanos::from_millis(500), |event| {
                if let Event::Received { at, .. } = event {
                    told = Some(at);
                }
            });
        }
        let lay = told.expect("it came").since(begun);
        // A sleep is asked to end some microseconds earlier, since it ends late.
        assert!(lay.0 >= span.0 * 9 / 10, "{lay:?}");
    }
    lab.driver().gather(Nanos::ZERO);
    peer.write_all(b"last");
    assert_eq!(received(&until(&mut lab, |all| received_bytes(all) == 4)), b"last");
    lab.driver().sockets().close(socket);
}

/// A wait that may gather ends when it is due.
fn gathering_ends_in_time<D: Driver>(mut lab: Real<D>) {
    let (socket, mut peer) = connected(&mut lab);
    lab.driver().gather(Nanos::from_millis(3_600_000));
    for span in [Nanos::ZERO, Nanos(5_000), Nanos(400_000), Nanos::from_millis(20)] {
        let begun = lab.driver().now();
        is_quiet(&mut lab, span);
        assert!(lab.driver().now().since(begun) < Nanos::from_millis(60_000), "{span:?}");
    }
    peer.write_all(b"there");
    let all = until(&mut lab, |all| received_bytes(all) == 5);
    assert_eq!(received(&all), b"there");
    lab.driver().sockets().close(socket);
}

/// Nobody sleeps on what is to be sent: the peer has it long before.
fn what_is_sent_leaves_before_a_sleep<D: Driver>(mut lab: Real<D>) {
    const SPAN: Duration = Duration::from_secs(1);
    let (socket, peer) = connected(&mut lab);
    let template = lab.driver().sockets().register(Arc::from(&b"ping"[..]));
    lab.driver().gather(Nanos::from(SPAN));
    for bytes in [Outgoing::Template(template, 0..4), Outgoing::Lent(b"pong".to_vec())] {
        let mut other: TcpStream = peer.try_clone().expect("a second handle");
        let reader = std::thread::spawn(move || {
            other.read_exact(4);
            Instant::now()
        });
        let begun = Instant::now();
        let over = lab.driver().now() + Nanos::from(SPAN);
        lab.driver().sockets().send(socket, bytes);
        while lab.driver().now() < over {
            lab.wait(over, |_| {});
        }
        let had = reader.join().expect("it reads").duration_since(begun);
        assert!(had < SPAN * 9 / 10, "it left after {had:?}");
    }
}

macro_rules! on_real_drivers {
    ($($test:ident)*) => {
        mod on_poll {
            $(#[test] fn $test() { super::$test(super::Real::on(driver::poll::PollDriver::new)); })*
        }

        mod on_uring {
            $(#[test] fn $test() { super::$test(super::Real::on(driver::uring::UringDriver::new)); })*
        }
    };
}

on_real_drivers! {
    what_comes_gathers
    gathering_ends_in_time
    what_is_sent_leaves_before_a_sleep
}
