//! Queries that are sent again: what we count is what the server saw.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::messages::Query;
use crate::datagrams::{DatagramServer, datagrams};
use crate::loads::{DRIVERS, failures, load, number};
use crate::seen::wait_for;
use crate::side_by_side;

/// How often each datagram came: by sender and content.
type Came = Arc<Mutex<BTreeMap<(std::net::SocketAddr, Vec<u8>), u32>>>;

/// A server that responds when a datagram comes for this time.
fn responding_at(time: u32) -> (DatagramServer, Came) {
    let came = Came::default();
    let own = came.clone();
    let server = DatagramServer::start(move |bytes, peer| {
        let mut came = own.lock().expect("it lives");
        let times = came.entry((peer.address, bytes.to_vec())).or_default();
        *times += 1;
        if *times == time {
            peer.send(&Query::read(bytes).response());
        }
    });
    (server, came)
}

/// Bytes that came.
fn bytes(came: &Came) -> u64 {
    let came = came.lock().expect("it lives");
    came.iter().map(|((_, bytes), times)| bytes.len() as u64 * u64::from(*times)).sum()
}

/// Times of each query at the server.
fn times(came: &Came) -> Vec<u32> {
    came.lock().expect("it lives").values().copied().collect()
}

#[test]
fn a_lost_query_is_sent_again() {
    side_by_side(&DRIVERS, |driver| {
        for time in [1, 2, 3] {
            let (server, came) = responding_at(time);
            let words = ["-n", "40", "-c", "20", "-t", "1h", "--dns-resend", "50ms", "--driver", driver];
            let (seen, code) = load(&[&words[..], &[&server.url("dns", "/a.test")]].concat());
            let what = format!("{driver} {time}");
            assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 40), "{what}: {seen:#}");
            let resent = number(&seen, "/datagrams/resent");
            // The server may still read the last ones.
            wait_for(&format!("all come: {what}"), || {
                u64::from(times(&came).iter().map(|times| times - 1).sum::<u32>()) == resent
            });
            let times = times(&came);
            assert_eq!(times.len(), 40, "{what}");
            // On a busy machine one may be sent again while its response is on its way.
            assert!(times.iter().all(|times| (time..=3).contains(times)), "{what}: {times:?}");
            // Each is a request once, however often it was sent.
            for pointer in ["/requests/sent", "/messages/sent", "/requests/attempts", "/messages/received"] {
                assert_eq!(number(&seen, pointer), 40, "{what} {pointer}: {seen:#}");
            }
        }
    });
}

#[test]
fn a_query_without_a_response_is_sent_three_times_and_no_more() {
    side_by_side(&DRIVERS, |driver| {
        let (server, came) = responding_at(u32::MAX);
        let words = ["-n", "20", "-c", "20", "-t", "3s", "--dns-resend", "20ms", "--driver", driver];
        let (seen, code) = load(&[&words[..], &["--no-abort-on-failures", &server.url("dns", "/a.test")]].concat());
        assert_eq!((code, failures(&seen)), (Some(1), vec![("timeout", 20)]), "{driver}: {seen:#}");
        assert_eq!(times(&came), [3; 20], "{driver}");
        assert_eq!(datagrams(&seen), [("resent", 40)], "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/bytes/sent"), bytes(&came), "{driver}: {seen:#}");
    });
}

#[test]
fn without_resend_each_query_is_sent_once() {
    side_by_side(&[&[][..], &["--dns-resend", "off"]], |more| {
        let (server, came) = responding_at(2);
        let words = ["-n", "20", "-c", "20", "-t", "300ms", "--no-abort-on-failures"];
        let (seen, code) = load(&[&words[..], more, &[&server.url("dns", "/a.test")]].concat());
        assert_eq!((code, failures(&seen)), (Some(1), vec![("timeout", 20)]), "{more:?}: {seen:#}");
        // The server may still read the last ones.
        wait_for("all come", || times(&came).len() >= 20);
        assert_eq!((times(&came), datagrams(&seen)), (vec![1; 20], vec![]), "{more:?}: {seen:#}");
    });
}
