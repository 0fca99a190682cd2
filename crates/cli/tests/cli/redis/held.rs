//! Held connections, beside the clients that the server lists.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::server::Redis;
use super::{DRIVERS, number};
use crate::hold::is_kept;
use crate::raw::Raw;
use crate::seen::wait_for;
use crate::{ChildGuard, onrush, report, signal};

/// The clients of this user in the server's list, with those of its fields that begin like this.
fn clients(server: &Redis, user: &str, field: &str) -> usize {
    let list = server.cli(&["CLIENT", "LIST"]);
    let has = |line: &&str| line.contains(&format!(" user={user} ")) && line.contains(field);
    list.lines().filter(has).count()
}

#[test]
fn held_connections_are_the_clients_of_the_server() {
    for driver in DRIVERS {
        let server = Redis::start();
        server.cli(&["ACL", "SETUSER", "bob", "on", ">pw", "~*", "+@all"]);
        let url = format!("redis://bob:pw@127.0.0.1:{}/5", server.port);
        for (words, command) in [
            (&["--every", "100ms", "--redis-command", "INCR n"][..], "incr"),
            (&["--once", "--redis-command", "INCR n"], "incr"),
            (&[], ""),
        ] {
            let before = (server.calls("incr"), server.calls("auth"));
            let common = ["hold", "-c", "200", "--hold", "1h", "-t", "1h", "--grace", "1h", "-o", "json"];
            let mut command_line = onrush(&[&common[..], &["--driver", driver], words, &[&url]].concat());
            let run = ChildGuard::start(command_line.stdout(Stdio::piped()));
            let enough = before.0 + if words.is_empty() { 0 } else { 200 };
            wait_for("all are there", || clients(&server, "bob", " db=5 ") == 200 && server.calls("incr") >= enough);
            assert_eq!(clients(&server, "bob", ""), 200);
            if words.contains(&"--every") {
                wait_for("each sends again", || server.calls("incr") >= before.0 + 600);
            }
            signal(&run.0, "-INT");
            let held = report(&run.output());
            wait_for("all are gone", || clients(&server, "bob", "") == 0);
            for name in ["established", "closed"] {
                assert_eq!(number(&held, &format!("/connections/{name}")), 200, "{driver} {words:?} {name}: {held:#}");
            }
            assert_eq!(number(&held, "/connections/lost"), 0, "{held:#}");
            assert_eq!(server.calls("auth") - before.1, 200, "{driver} {words:?}");
            if command.is_empty() {
                assert_eq!(server.calls("incr"), before.0);
                continue;
            }
            let calls = server.calls("incr") - before.0;
            assert_eq!(number(&held, "/messages/sent"), calls, "{driver} {words:?}: {held:#}");
            assert_eq!(number(&held, "/messages/answered"), calls, "{driver} {words:?}: {held:#}");
        }
    }
}

#[test]
fn a_hold_by_time_is_kept() {
    let server = Redis::start();
    let words = ["hold", "-c", "50", "--hold", "300ms", "--every", "100ms", "-o", "json"];
    let done = onrush(&[&words[..], &["--redis-command", "INCR n", &server.url]].concat()).output();
    let held = report(&done.expect("the binary starts"));
    is_kept(&held);
    assert_eq!(server.cli(&["GET", "n"]), number(&held, "/messages/sent").to_string(), "{held:#}");
    // A refused command is no response that a hold accepts.
    server.cli(&["SET", "k", "v"]);
    let words = ["hold", "-c", "5", "--hold", "100ms", "--once", "-o", "json", "--redis-command", "LPUSH k v"];
    let done = onrush(&[&words[..], &[&server.url]].concat()).output().expect("the binary starts");
    let held = report(&done);
    assert_eq!((done.status.code(), number(&held, "/messages/refused")), (Some(1), 5), "{held:#}");
}

/// After a reply that nobody requested, no further reply can be matched: such a connection is of no use, and is closed.
#[test]
fn a_reply_without_a_request_ends_a_held_connection() {
    for driver in DRIVERS {
        let ended = Arc::new(AtomicUsize::new(0));
        let counter = ended.clone();
        let server = Raw::start(move |mut stream, _| {
            let mut bytes = [0; 4096];
            while stream.read(&mut bytes).is_ok_and(|count| count > 0) {
                if stream.write_all(b"+PONG\r\n+AGAIN\r\n").is_err() {
                    break;
                }
            }
            counter.fetch_add(1, Ordering::SeqCst);
        });
        let words = ["hold", "-c", "2", "--hold", "1h", "--once", "-o", "json", "--driver", driver];
        let mut command = onrush(&[&words[..], &["--redis-command", "PING", &server.url("redis", "")]].concat());
        let run = ChildGuard::start(command.stdout(Stdio::piped()));
        wait_for("both are closed", || ended.load(Ordering::SeqCst) == 2);
        signal(&run.0, "-INT");
        let held = report(&run.output());
        assert_eq!(number(&held, "/connections/lost"), 2, "{driver}: {held:#}");
        assert_eq!(held["losses"][0]["reason"], "protocol", "{driver}: {held:#}");
    }
}
