//! How much of the sent bytes the kernel took, and how much of them the peer's kernel has.

use std::sync::Arc;

use driver::{Driver, Event, Left, OpenOptions, Outgoing, Socket, SocketError, SocketKind, Sockets, Template};
use pacing::Nanos;

use super::{Lab, Peer, Reading, Seen, connected, is_quiet, received, seen, until, wait_for};

/// Size of a request.
const BYTES: usize = 100;
/// More than the kernel takes for a peer that does not read.
const LARGE: usize = 8 << 20;

fn template<L: Lab>(lab: &mut L) -> Template {
    lab.driver().sockets().register(Arc::from(vec![7; BYTES]))
}

/// Each way to send a request.
fn requests<L: Lab>(lab: &mut L) -> [Outgoing; 3] {
    let template = template(lab);
    [
        Outgoing::Template(template, 0..BYTES),
        Outgoing::Shared(Arc::from(vec![7; BYTES]), 0..BYTES),
        Outgoing::Lent(vec![7; BYTES]),
    ]
}

/// Bytes of which each piece differs from its neighbours.
fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|place| (place / 251 + place) as u8).collect()
}

/// Waits until the query returns `expected`.
fn until_unacknowledged<L: Lab>(lab: &mut L, socket: Socket, expected: usize) {
    wait_for(lab, &mut None, |lab, response| {
        let soon = lab.driver().now() + Nanos::from_millis(5);
        lab.wait(soon, |_| {});
        *response = lab.driver().sockets().unacknowledged(socket);
        *response == Some(expected)
    });
}

/// Waits until the peer, which does not read, has some of the sent bytes, and all the rest is not acknowledged.
fn until_whole<L: Lab>(lab: &mut L, socket: Socket, peer: &mut L::Peer, sent: usize) {
    wait_for(lab, &mut (None, 0), |lab, (left, unread)| {
        let soon = lab.driver().now() + Nanos::from_millis(5);
        lab.wait(soon, |_| {});
        *left = lab.driver().sockets().unacknowledged(socket);
        *unread = peer.unread();
        *unread > 0 && left.is_some_and(|left| left > 0 && left + *unread == sent)
    });
}

/// Waits until the peer's kernel has some of the sent bytes.
fn until_some_came<L: Lab>(lab: &mut L, socket: Socket, sent: usize) {
    wait_for(lab, &mut None, |lab, left| {
        let soon = lab.driver().now() + Nanos::from_millis(5);
        lab.wait(soon, |_| {});
        *left = lab.driver().sockets().unacknowledged(socket);
        left.is_some_and(|left| left < sent)
    });
}

/// Closes a socket, which needs more than one wait, and returns what the peer reads to the end.
fn close_and_read<L: Lab>(lab: &mut L, socket: Socket, peer: L::Peer) -> Vec<u8> {
    lab.driver().sockets().close(socket);
    let reading = peer.read_to_end();
    wait_for(lab, &mut (), |lab, ()| {
        let soon = lab.driver().now() + Nanos::from_millis(5);
        lab.wait(soon, |event| panic!("a closed socket says nothing: {event:?}"));
        reading.is_over()
    });
    reading.take()
}

/// The end of a stream: its error, if it failed, and the bytes that were not acknowledged then.
fn end_of<L: Lab>(lab: &mut L, socket: Socket) -> (Option<SocketError>, Left) {
    let mut end = None;
    wait_for(lab, &mut end, |lab, end| {
        let far = lab.far();
        lab.wait_with(far, |sockets, event| match event {
            Event::PeerClosed { socket: ended, .. } if ended == socket => {
                let untaken = sockets.unsent(socket);
                end.get_or_insert((None, Left { untaken, unacknowledged: sockets.unacknowledged(socket) }));
            }
            Event::Failed { socket: ended, error, left, .. } if ended == socket => {
                end.get_or_insert((Some(error), left));
            }
            _ => {}
        });
        end.is_some()
    });
    end.expect("it was just seen")
}

pub(super) fn what_was_read_is_acknowledged<L: Lab>(mut lab: L) {
    for request in requests(&mut lab) {
        let (socket, mut peer) = connected(&mut lab);
        lab.driver().sockets().send(socket, request);
        lab.wait(Nanos::ZERO, |_| {});
        assert_eq!(peer.read_exact(BYTES).len(), BYTES);
        drop(peer);
        let (error, left) = end_of(&mut lab, socket);
        assert_eq!((error, left), (None, Left { untaken: 0, unacknowledged: Some(0) }));
        lab.driver().sockets().close(socket);
        assert_eq!(lab.driver().sockets().unacknowledged(socket), None, "it is gone");
        assert_eq!(lab.driver().sockets().stop_sending(socket), 0, "it is gone");
    }
}

pub(super) fn what_came_after_the_close_is_not_acknowledged<L: Lab>(mut lab: L) {
    for (first, second) in requests(&mut lab).into_iter().zip(requests(&mut lab)) {
        let (socket, peer) = connected(&mut lab);
        drop(peer);
        lab.driver().sockets().send(socket, first);
        let (error, left) = end_of(&mut lab, socket);
        assert_eq!(left.unacknowledged, Some(BYTES), "{error:?}");
        if error.is_some() {
            continue;
        }
        // The reset caused by the first send refuses the second.
        lab.await_reset();
        assert!(lab.driver().sockets().is_reset(socket), "the peer's kernel has refused it");
        lab.driver().sockets().send(socket, second);
        let (error, left) = end_of(&mut lab, socket);
        assert_eq!((error, left.unacknowledged), (Some(SocketError::Reset), Some(2 * BYTES)));
        assert!(left.untaken >= BYTES, "{left:?}");
    }
}

pub(super) fn what_a_reset_left_unread_is_acknowledged<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    peer.pause();
    lab.driver().sockets().send(socket, Outgoing::Lent(vec![7; BYTES]));
    until(&mut lab, |all| all.contains(&Seen::Sent(socket, Some(BYTES))));
    peer.await_unread();
    drop(peer);
    let (error, left) = end_of(&mut lab, socket);
    assert_eq!((error, left), (Some(SocketError::Reset), Left { untaken: 0, unacknowledged: Some(0) }));
}

pub(super) fn what_was_refused_is_not_acknowledged<L: Lab>(mut lab: L) {
    for is_requested in [false, true] {
        for request in requests(&mut lab) {
            let (socket, mut peer) = connected(&mut lab);
            peer.pause();
            lab.driver().sockets().send(socket, Outgoing::Lent(vec![7]));
            until(&mut lab, |all| all.contains(&Seen::Sent(socket, Some(1))));
            peer.await_unread();
            drop(peer);
            // The reset has arrived, but is not reported.
            lab.await_reset();
            lab.driver().sockets().send(socket, request);
            if is_requested {
                assert_eq!(lab.driver().sockets().unacknowledged(socket), Some(BYTES));
            }
            let (error, left) = end_of(&mut lab, socket);
            // The send took the error that the kernel stores; a read may find the end of the stream then.
            assert!(matches!(error, None | Some(SocketError::Reset)), "{error:?}");
            assert_eq!(left, Left { untaken: BYTES, unacknowledged: Some(BYTES) });
        }
        let (socket, mut peer) = connected(&mut lab);
        peer.pause();
        lab.driver().sockets().send(socket, Outgoing::Lent(vec![7]));
        until(&mut lab, |all| all.contains(&Seen::Sent(socket, Some(1))));
        peer.await_unread();
        drop(peer);
        lab.await_reset();
        let template = template(&mut lab);
        lab.driver().sockets().send(socket, Outgoing::Template(template, 0..BYTES));
        assert_eq!(lab.driver().sockets().stop_sending(socket), BYTES);
    }
}

pub(super) fn a_half_closed_peer_acknowledges<L: Lab>(mut lab: L) {
    for request in requests(&mut lab) {
        let (socket, mut peer) = connected(&mut lab);
        peer.end_writing();
        until(&mut lab, |all| all.contains(&Seen::PeerClosed(socket)));
        lab.driver().sockets().send(socket, request);
        lab.wait(Nanos::ZERO, |_| {});
        assert_eq!(peer.read_exact(BYTES).len(), BYTES);
        until_unacknowledged(&mut lab, socket, 0);
    }
}

pub(super) fn our_own_end_counts_for_nothing<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    peer.pause();
    lab.driver().sockets().send(socket, Outgoing::Lent(vec![7; 400_000]));
    until_whole(&mut lab, socket, &mut peer, 400_000);
    lab.driver().sockets().shutdown(socket);
    until_whole(&mut lab, socket, &mut peer, 400_000);
    let reading = peer.read_to_end();
    until_unacknowledged(&mut lab, socket, 0);
    assert_eq!(reading.take().len(), 400_000);
    let (socket, peer) = connected(&mut lab);
    drop(peer);
    lab.driver().sockets().send(socket, Outgoing::Lent(vec![7; BYTES]));
    lab.driver().sockets().shutdown(socket);
    until_unacknowledged(&mut lab, socket, BYTES);
}

pub(super) fn a_stopped_send_says_what_was_not_taken<L: Lab>(mut lab: L) {
    for is_at_once in [false, true] {
        let (socket, mut peer) = connected(&mut lab);
        peer.pause();
        let bytes = pattern(LARGE);
        let (first, second) = bytes.split_at(LARGE / 4 * 3);
        lab.driver().sockets().send(socket, Outgoing::Lent(first.to_vec()));
        lab.driver().sockets().send(socket, Outgoing::Shared(Arc::from(second), 0..second.len()));
        lab.driver().sockets().shutdown(socket);
        if !is_at_once {
            until_some_came(&mut lab, socket, LARGE);
        }
        let untaken = lab.driver().sockets().stop_sending(socket);
        assert!(untaken > 0, "the kernel took all");
        let sockets = lab.driver().sockets();
        assert_eq!((sockets.unsent(socket), sockets.stop_sending(socket)), (0, 0));
        assert!(sockets.unacknowledged(socket).expect("it is connected") <= LARGE - untaken);
        if !is_at_once {
            is_quiet(&mut lab);
        }
        let read = close_and_read(&mut lab, socket, peer);
        assert_eq!(read.len(), LARGE - untaken);
        assert!(read == bytes[..read.len()], "what was taken is not the front");
    }
}

pub(super) fn a_small_send_is_taken_when_it_is_stopped<L: Lab>(mut lab: L) {
    for request in requests(&mut lab) {
        let is_reported = !matches!(request, Outgoing::Template(..));
        let (socket, peer) = connected(&mut lab);
        lab.driver().sockets().send(socket, request);
        let untaken = lab.driver().sockets().stop_sending(socket);
        // Only a simulated kernel takes a part of it.
        if untaken == 0 && is_reported {
            until(&mut lab, |all| matches!(all, [Seen::Sent(reported, _)] if *reported == socket));
        }
        lab.wait(Nanos::ZERO, |_| {});
        assert_eq!(close_and_read(&mut lab, socket, peer), vec![7; BYTES - untaken]);
    }
}

pub(super) fn a_closed_socket_sends_no_more<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    peer.pause();
    lab.driver().sockets().send(socket, Outgoing::Lent(pattern(LARGE)));
    until_some_came(&mut lab, socket, LARGE);
    let read = close_and_read(&mut lab, socket, peer);
    assert!(read.len() < LARGE, "all was sent");
}

pub(super) fn questions_do_not_disturb_a_send<L: Lab>(mut lab: L) {
    let (socket, peer) = connected(&mut lab);
    let bytes = pattern(LARGE / 2);
    for piece in bytes.chunks(LARGE / 4 + 1) {
        lab.driver().sockets().send(socket, Outgoing::Lent(piece.to_vec()));
    }
    lab.driver().sockets().shutdown(socket);
    let read = peer.read_to_end();
    let mut seen = (bytes.len(), 0, false);
    wait_for(&mut lab, &mut seen, |lab, (last, reported, is_over)| {
        let mut left_by_now = |sockets: &mut dyn Sockets| {
            let left = sockets.unacknowledged(socket).expect("it is connected");
            // Our end may not have been sent yet when it was subtracted.
            assert!(left <= *last + 1, "{left} after {last}");
            *last = left;
        };
        left_by_now(lab.driver().sockets());
        let soon = lab.driver().now() + Nanos::from_millis(1);
        lab.wait_with(soon, |sockets, event| match event {
            Event::Sent { .. } => {
                *reported += 1;
                left_by_now(sockets);
            }
            Event::PeerClosed { .. } => *is_over = true,
            other => panic!("nothing else should happen: {other:?}"),
        });
        *is_over
    });
    let (_, reported, _) = seen;
    assert_eq!(reported, 2);
    assert_eq!(lab.driver().sockets().unacknowledged(socket), Some(0));
    assert!(read.take() == bytes, "not what was sent");
}

pub(super) fn questions_do_not_disturb_the_order<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    let (other, mut reader) = connected(&mut lab);
    reader.pause();
    lab.driver().sockets().send(other, Outgoing::Lent(pattern(LARGE)));
    let bytes = pattern(LARGE / 2);
    let (mut written, mut all) = (0, Vec::new());
    wait_for(&mut lab, &mut written, |lab, written| {
        *written += peer.try_write(&bytes[*written..]);
        let soon = lab.driver().now() + Nanos::from_millis(1);
        lab.wait_with(soon, |sockets, event| {
            if let Event::Received { socket: from, ref bytes, .. } = event {
                assert_eq!(from, socket);
                all.extend_from_slice(bytes);
                // The second ends a send in progress and starts it again.
                assert_eq!(sockets.unacknowledged(socket), Some(0));
                assert!(sockets.unacknowledged(other).is_some_and(|count| count > 0));
            }
        });
        all.len() >= bytes.len()
    });
    assert!(all == bytes, "bytes came out of order");
    let untaken = lab.driver().sockets().stop_sending(other);
    let read = close_and_read(&mut lab, other, reader);
    assert_eq!(read.len(), LARGE - untaken);
    assert!(read == pattern(LARGE)[..read.len()], "a send that was asked for is out of order");
    drop(peer);
    let end = until(&mut lab, |all| all.contains(&Seen::PeerClosed(socket)));
    assert_eq!(received(&end), [], "it was handled twice");
}

/// A query also collects other completions. They end the next wait, which would otherwise last until it is due.
pub(super) fn what_came_while_asking_is_reported_at_once<L: Lab>(mut lab: L) {
    let (socket, mut peer) = connected(&mut lab);
    is_quiet(&mut lab);
    for round in 0..20 {
        peer.write_all(&[round; BYTES]);
        lab.await_ready(BYTES);
        assert_eq!(lab.driver().sockets().unacknowledged(socket), Some(0));
        let due = lab.far();
        let mut all = Vec::new();
        wait_for(&mut lab, &mut all, |lab, all| {
            lab.wait(due, |event| all.push(seen(event)));
            received(all).len() >= BYTES
        });
        assert!(lab.driver().now() < due, "it was told when the wait was due");
        assert_eq!(received(&all), [round; BYTES]);
    }
}

pub(super) fn a_failed_connection_leaves_nothing<L: Lab>(mut lab: L) {
    for request in [None, Some(Outgoing::Lent(vec![7; BYTES]))] {
        let to = lab.nobody();
        let untaken = if request.is_some() { BYTES } else { 0 };
        let Ok(socket) = lab.driver().sockets().open(&OpenOptions {
            kind: SocketKind::Stream,
            to: to.into(),
            from: None,
            no_delay: false,
        }) else {
            continue;
        };
        if let Some(request) = request {
            lab.driver().sockets().send(socket, request);
            assert_eq!(lab.driver().sockets().unacknowledged(socket), Some(BYTES));
        }
        let (error, left) = end_of(&mut lab, socket);
        assert_eq!((error, left), (Some(SocketError::Refused), Left { untaken, unacknowledged: None }));
    }
}

/// On a Unix domain socket the kernel counts its own memory, not bytes.
fn nothing_is_known_of_a_local_socket<D: Driver>(mut driver: D, name: &str) {
    let path = std::env::temp_dir().join(format!("onrush-{}-{name}.sock", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    let to = driver::Peer::Unix(path.as_path().into());
    let socket = driver
        .sockets()
        .open(&OpenOptions { kind: SocketKind::Stream, to, from: None, no_delay: true })
        .expect("a socket");
    let mut all = Vec::new();
    while all.is_empty() {
        let soon = driver.now() + Nanos::from_millis(50);
        driver.wait(soon, |_, event| all.push(seen(event))).expect("the driver works");
    }
    assert_eq!(all, [Seen::Connected(socket)]);
    driver.sockets().send(socket, Outgoing::Lent(vec![7; BYTES]));
    assert_eq!(driver.sockets().unacknowledged(socket), None);
    drop(listener);
    std::fs::remove_file(path).expect("it is ours");
}

#[test]
fn poll_knows_nothing_of_a_local_socket() {
    nothing_is_known_of_a_local_socket(
        driver::poll::PollDriver::new(driver::Clock::start()).expect("a driver"),
        "poll",
    );
}

#[test]
#[cfg(target_os = "linux")]
fn uring_knows_nothing_of_a_local_socket() {
    nothing_is_known_of_a_local_socket(
        driver::uring::UringDriver::new(driver::Clock::start()).expect("a driver"),
        "uring",
    );
}
