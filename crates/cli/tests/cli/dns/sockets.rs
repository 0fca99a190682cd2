//! The sockets of a load: which are kept, where they go, and the IDs of their queries.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};

use super::messages::Query;
use crate::Folder;
use crate::datagrams::{DatagramServer, datagrams};
use crate::loads::{DRIVERS, failures, load, number, scenario};

/// Port and ID of each query that came.
type Came = Arc<Mutex<Vec<(u16, u16)>>>;

/// A server that answers everything.
fn answering() -> (DatagramServer, Came) {
    let came = Came::default();
    let own = came.clone();
    let server = DatagramServer::start(move |bytes, peer| {
        let query = Query::read(bytes);
        own.lock().expect("it lives").push((peer.address.port(), query.id));
        peer.send(&query.response());
    });
    (server, came)
}

/// A name that was made and is none ends its exchange, and not the socket.
#[test]
fn a_wrong_name_keeps_its_socket() {
    let ((server, came), folder) = (answering(), Folder::new("dns-kept"));
    let steps = "      - dns: {name: \"${'a..b'}\"}\n";
    let file = folder.file("kept.yaml", scenario(&server.url("dns", ""), "{users: 3, iterations: 30}", steps));
    for driver in DRIVERS {
        let (seen, _) = load(&["run", &file, "-t", "1h", "--no-abort-on-failures", "--driver", driver]);
        assert_eq!(failures(&seen), [("dns-name", 30)], "{driver}: {seen:#}");
        let came = std::mem::take(&mut *came.lock().expect("it lives"));
        let ports: BTreeSet<u16> = came.iter().map(|(port, _)| *port).collect();
        assert_eq!((came.len(), ports.len()), (30, 3), "{driver}: {ports:?}");
        assert_eq!(number(&seen, "/connections/established"), 3, "{driver}: {seen:#}");
    }
}

/// Of two addresses one refuses: a user meets it once at most, and has its other requests at the one that answers.
#[test]
fn an_address_that_refuses_rests() {
    let (server, came) = answering();
    let closed = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
    let to = format!("127.0.0.1:{closed},127.0.0.1:{}", server.port);
    let url = server.url("dns", "/a.test");
    for driver in DRIVERS {
        let words = ["-n", "600", "-c", "6", "-t", "1h", "--no-abort-on-failures", "--driver", driver];
        let (seen, _) = load(&[&words[..], &["--connect-addresses", &to, &url]].concat());
        let refused = number(&seen, "/datagrams/refused");
        assert!((1..=6).contains(&refused), "{driver}: {seen:#}");
        assert_eq!(failures(&seen), [("connect-refused", refused)], "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("refused", refused)], "{driver}: {seen:#}");
        let came = std::mem::take(&mut *came.lock().expect("it lives"));
        assert_eq!(came.len() as u64, 600 - refused, "{driver}: {seen:#}");
    }
}

/// Without a seed each run has IDs of its own; with one they are drawn again.
#[test]
fn ids_are_drawn_by_the_seed() {
    let ((server, came), folder) = (answering(), Folder::new("dns-drawn"));
    let plan = scenario(&server.url("dns", ""), "{users: 1, iterations: 20}", "      - dns: a.test\n");
    let free = folder.file("free.yaml", plan.clone());
    let seeded = folder.file("seeded.yaml", format!("{plan}run: {{seed: 7}}\n"));
    let ids = |file: &str| {
        let (seen, code) = load(&["run", file, "-t", "1h"]);
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 20), "{seen:#}");
        let came = std::mem::take(&mut *came.lock().expect("it lives"));
        came.into_iter().map(|(_, id)| id).collect::<Vec<_>>()
    };
    let (first, second, drawn) = (ids(&free), ids(&free), ids(&seeded));
    assert_ne!(first, second, "each run has its own");
    assert_eq!(drawn, ids(&seeded), "the seed says them");
    assert_eq!(drawn.iter().collect::<BTreeSet<_>>().len(), 20, "{drawn:?}");
}
