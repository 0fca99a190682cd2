//! Identifiers and retransmissions, as the server sees them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use super::packets::{ACCEPT, Packet};
use super::server::SECRET;
use crate::datagrams::{DatagramServer, datagrams};
use crate::loads::{DRIVERS, failures, load, number};
use crate::seen::wait_for;
use crate::side_by_side;

/// The identifiers of a socket.
const IDS: usize = 256;

/// How often each request came: by sender, identifier and authenticator.
type Came = Arc<Mutex<BTreeMap<(SocketAddr, u8, Vec<u8>), u32>>>;

/// A server that responds when `responds` says so of the number of a request and the times that it has come.
fn responding(responds: impl Fn(usize, u32) -> bool + Send + 'static) -> (DatagramServer, Came) {
    let came = Came::default();
    let own = came.clone();
    let server = DatagramServer::start(move |bytes, peer| {
        let packet = Packet(bytes.to_vec());
        let mut came = own.lock().expect("it lives");
        let number = came.len();
        let key = (peer.address, packet.id(), packet.authenticator().to_vec());
        let times = came.entry(key).or_default();
        *times += 1;
        if responds(number, *times) {
            peer.send(&packet.response(ACCEPT, &[], SECRET));
        }
    });
    (server, came)
}

fn url_of(server: &DatagramServer) -> String {
    format!("radius://bob:b@127.0.0.1:{}", server.port)
}

/// Each identifier, by its socket, and the requests that had it.
fn by_id(came: &Came) -> BTreeMap<(SocketAddr, u8), usize> {
    let mut ids = BTreeMap::new();
    came.lock().expect("it lives").keys().for_each(|(from, id, _)| *ids.entry((*from, *id)).or_default() += 1);
    ids
}

#[test]
fn no_identifier_of_an_unanswered_request_is_used_again() {
    side_by_side(&DRIVERS, |driver| {
        let (server, came) = responding(|_, _| false);
        let url = url_of(&server);
        let words = ["-n", "600", "-c", "1", "-t", "1ms", "--no-abort-on-failures", "--radius-resend", "off"];
        let words = [&words[..], &["--radius-secret", SECRET, "--driver", driver, &url]].concat();
        let (seen, code) = load(&words);
        assert_eq!((code, failures(&seen)), (Some(1), vec![("timeout", 600)]), "{driver}: {seen:#}");
        wait_for("all have come", || came.lock().expect("it lives").len() == 600);
        let ids = by_id(&came);
        assert_eq!(ids.len(), 600, "{driver}: each once");
        let mut sockets: BTreeMap<SocketAddr, usize> = BTreeMap::new();
        ids.keys().for_each(|(from, _)| *sockets.entry(*from).or_default() += 1);
        let mut counts: Vec<usize> = sockets.into_values().collect();
        counts.sort_unstable();
        assert_eq!(counts, [600 - 2 * IDS, IDS, IDS], "{driver}");
        assert_eq!(number(&seen, "/connections/established"), 3, "{driver}: {seen:#}");
    });
}

/// All requests of a second wait at the same time, which one socket has no identifiers for.
#[test]
fn requests_of_a_rate_that_wait_together_have_sockets_of_their_own() {
    const COUNT: usize = 600;
    side_by_side(&DRIVERS, |driver| {
        let (server, came) = responding(|_, _| false);
        let url = url_of(&server);
        let words = ["--rate", "1200", "-n", "600", "-t", "1s", "-c", "1000", "--no-abort-on-failures"];
        let words = [&words[..], &["--radius-resend", "off", "--radius-secret", SECRET]].concat();
        let (seen, code) = load(&[&words[..], &["--driver", driver, &url]].concat());
        assert_eq!((code, failures(&seen)), (Some(1), vec![("timeout", COUNT as u64)]), "{driver}: {seen:#}");
        wait_for("all have come", || came.lock().expect("it lives").len() == COUNT);
        assert!(by_id(&came).values().all(|requests| *requests == 1), "{driver}");
        assert_eq!(datagrams(&seen), [], "{driver}: {seen:#}");
    });
}

/// An identifier is used again after its response. That of a request without one is left out.
#[test]
fn identifiers_are_used_again_after_a_response() {
    side_by_side(&DRIVERS, |driver| {
        let (server, came) = responding(|number, _| !(100..105).contains(&number));
        let url = url_of(&server);
        let words = ["-n", "1000", "-c", "1", "-t", "1s", "--no-abort-on-failures", "--radius-resend", "off"];
        let words = [&words[..], &["--radius-secret", SECRET, "--driver", driver, &url]].concat();
        let (seen, _) = load(&words);
        assert_eq!(failures(&seen), [("timeout", 5)], "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/succeeded"), 995, "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/connections/established"), 1, "{driver}: {seen:#}");
        let ids = by_id(&came);
        assert_eq!(ids.len(), IDS, "{driver}");
        assert_eq!(ids.values().filter(|requests| **requests == 1).count(), 5, "{driver}: {ids:?}");
    });
}

/// A request that is sent again has the same identifier and authenticator, which a server knows it by.
#[test]
fn a_lost_request_is_sent_again_as_it_was() {
    for (driver, time) in [("uring", 2), ("poll", 2), ("uring", 3)] {
        let (server, came) = responding(move |_, times| times == time);
        let url = url_of(&server);
        let words = ["-n", "40", "-c", "20", "-t", "1h", "--radius-resend", "50ms", "--radius-secret", SECRET];
        let (seen, code) = load(&[&words[..], &["--driver", driver, &url]].concat());
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 40), "{driver}: {seen:#}");
        let resent = number(&seen, "/datagrams/resent");
        // The server may still read the last ones.
        let again = || came.lock().expect("it lives").values().map(|times| u64::from(times - 1)).sum::<u64>();
        wait_for("all have come", || again() == resent);
        let came = came.lock().expect("it lives");
        assert_eq!(came.len(), 40, "{driver}");
        assert!(came.values().all(|times| (time..=6).contains(times)), "{driver}: {came:?}");
        assert_eq!(number(&seen, "/requests/sent"), 40, "{driver}: {seen:#}");
    }
}

#[test]
fn a_request_is_sent_six_times_at_most() {
    side_by_side(&DRIVERS, |driver| {
        let (server, came) = responding(|_, _| false);
        let url = url_of(&server);
        let words = ["-n", "20", "-c", "20", "-t", "3s", "--radius-resend", "10ms", "--radius-secret", SECRET];
        let words = [&words[..], &["--no-abort-on-failures", "--driver", driver, &url]].concat();
        let (seen, code) = load(&words);
        assert_eq!((code, failures(&seen)), (Some(1), vec![("timeout", 20)]), "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("resent", 100)], "{driver}: {seen:#}");
        wait_for("all have come", || came.lock().expect("it lives").values().all(|times| *times == 6));
    });
}
