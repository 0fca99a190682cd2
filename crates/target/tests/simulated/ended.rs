//! Servers that end a kept-alive connection: which requests are retried, which are not, and how that is counted.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use driver::{Event, Outgoing, Socket, Sockets};
use engine::Finished;
use metrics::{Class, Failure, Measure};
use pacing::Nanos;
use plan::Flags;

use crate::world::{LATENCY, OwnServer, World, flags, is_by_arithmetic};

const REQUESTS: u64 = 20;
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// How a server ends a connection whose first request it has answered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// It closes both sides this long after the response, while the next request is in transit.
    Closes(Nanos),
    /// It ends its own side this long after the response, and reads on.
    HalfCloses(Nanos),
    /// When it has read the next request, which it does not answer.
    Drops,
}

/// A server that ends its connections. See [`End`].
struct Server {
    end: End,
    read: Rc<Cell<u64>>,
    /// Received bytes of an incomplete request, and number of answered requests.
    connections: HashMap<(u32, u32), (Vec<u8>, u32)>,
    ends: Vec<(Nanos, Socket)>,
}

impl OwnServer for Server {
    fn handle(&mut self, sockets: &mut dyn Sockets, event: Event<'_>) {
        match event {
            Event::Received { socket, bytes, at } => {
                let (came, answered) = self.connections.entry((socket.index, socket.generation)).or_default();
                came.extend_from_slice(bytes);
                if !came.ends_with(b"\r\n\r\n") {
                    return;
                }
                came.clear();
                self.read.set(self.read.get() + 1);
                *answered += 1;
                match (self.end, *answered) {
                    (_, 1) => {
                        sockets.send(socket, Outgoing::Lent(RESPONSE.to_vec()));
                        if let End::Closes(after) | End::HalfCloses(after) = self.end {
                            self.ends.push((at + after, socket));
                        }
                    }
                    (End::Drops, _) => sockets.close(socket),
                    _ => {}
                }
            }
            Event::PeerClosed { socket, .. } => sockets.close(socket),
            _ => {}
        }
    }

    fn turn(&mut self, now: Nanos, sockets: &mut dyn Sockets) -> Nanos {
        let end = self.end;
        self.ends.retain(|(at, socket)| {
            match end {
                _ if *at > now => return true,
                End::HalfCloses(_) => sockets.shutdown(*socket),
                _ => sockets.close(*socket),
            }
            false
        });
        self.ends.iter().map(|(at, _)| *at).min().unwrap_or(Nanos::NEVER)
    }
}

/// A load of one user, and the number of requests that the server read.
fn play(end: End, method: &str, no_retry: bool) -> (Finished, u64) {
    let read = Rc::new(Cell::new(0));
    let server = Server { end, read: read.clone(), connections: HashMap::new(), ends: Vec::new() };
    let load = Flags {
        method: Some(method.to_owned()),
        connections: Some("1".to_owned()),
        requests: Some(REQUESTS.to_string()),
        no_retry,
        ..flags("/")
    };
    let plan = load.plan().expect("a good plan");
    let finished = World::with(server).play(Vec::new(), Some((&plan, 1))).finished.expect("a load");
    let counts = &finished.total.counts;
    assert_eq!(counts.started() + counts.carried(), REQUESTS);
    assert_eq!(counts.succeeded() + counts.failed() + counts.dropped() + counts.unfinished(), REQUESTS);
    assert_eq!(counts.sent(), counts.responses() + counts.reconnects() + counts.failed(), "{end:?} {method}");
    assert_eq!(counts.attempts(), REQUESTS + counts.reconnects(), "{end:?} {method}");
    let most = counts.responses() + counts.begun_before() + counts.failed();
    assert!((counts.responses()..=most).contains(&read.get()), "{end:?} {method}: read {}", read.get());
    (finished, read.get())
}

const REPEATABLE: [&str; 6] = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"];
const ONCE: [&str; 3] = ["POST", "PATCH", "PURGE"];
/// The request is in transit when the end arrives.
const CROSSING: Nanos = Nanos(LATENCY.0 / 2);

/// The server read nothing twice, for any method: repeatable requests are retried at once, all others when the server's
/// kernel has refused them.
#[test]
fn a_request_that_crosses_a_close_goes_out_again_whatever_its_method() {
    for method in REPEATABLE.into_iter().chain(ONCE) {
        let (finished, read) = play(End::Closes(CROSSING), method, false);
        let counts = &finished.total.counts;
        assert_eq!((counts.succeeded(), read), (REQUESTS, REQUESTS), "{method}");
        // Each but the first meets the end of the previous connection.
        let begun = if REPEATABLE.contains(&method) { REQUESTS - 1 } else { 0 };
        assert_eq!((counts.reconnects(), counts.begun_before()), (REQUESTS - 1, begun), "{method}");
    }
}

#[test]
fn who_reads_on_behind_his_end_gets_what_goes_out_once_no_second_time() {
    for method in ONCE {
        let (finished, read) = play(End::HalfCloses(CROSSING), method, false);
        let counts = &finished.total.counts;
        assert_eq!((read, counts.reconnects()), (REQUESTS, 0), "{method}");
        assert_eq!(counts.failures().collect::<Vec<_>>(), [(Failure::ClosedEarly, REQUESTS / 2)], "{method}");
        // It has failed when the end came, not when it was known that nobody refuses it.
        let failed = finished.total.class(Class::FailedUnanswered);
        for measure in [Measure::Service, Measure::Response] {
            assert_eq!(failed.by_measure(measure).count(), REQUESTS / 2, "{method}");
            is_by_arithmetic(failed.by_measure(measure).max().expect("some"), CROSSING.0, 4);
        }
    }
    for method in REPEATABLE {
        let (finished, read) = play(End::HalfCloses(CROSSING), method, false);
        let counts = &finished.total.counts;
        assert_eq!((counts.succeeded(), counts.reconnects()), (REQUESTS, REQUESTS - 1), "{method}");
        assert_eq!((counts.begun_before(), read), (REQUESTS - 1, 2 * REQUESTS - 1), "{method}");
    }
}

#[test]
fn what_a_server_read_and_dropped_goes_out_again_where_that_does_no_harm() {
    for method in REPEATABLE {
        let (finished, read) = play(End::Drops, method, false);
        let counts = &finished.total.counts;
        assert_eq!((counts.succeeded(), counts.begun_before()), (REQUESTS, counts.reconnects()), "{method}");
        assert_eq!((counts.reconnects(), read), (REQUESTS - 1, 2 * REQUESTS - 1), "{method}");
        // Its time runs from the first planned start: a round trip to the server before the time of its own connection.
        let times = finished.total.class(Class::Succeeded);
        let least = times.by_measure(Measure::Service).max().map(|service| service + 2 * LATENCY.0);
        assert!(times.by_measure(Measure::Response).max() >= least, "{method}");
    }
    for method in ONCE {
        let (finished, read) = play(End::Drops, method, false);
        let counts = &finished.total.counts;
        assert_eq!((counts.succeeded(), counts.failed(), counts.reconnects()), (10, 10, 0), "{method}");
        assert_eq!(read, REQUESTS);
    }
}

#[test]
fn without_retries_each_of_them_is_a_failure() {
    for (method, end) in [("GET", End::Closes(CROSSING)), ("POST", End::Closes(CROSSING)), ("GET", End::Drops)] {
        let (finished, read) = play(end, method, true);
        let counts = &finished.total.counts;
        let expected = if end == End::Drops { REQUESTS } else { REQUESTS / 2 };
        assert_eq!((counts.failed(), counts.reconnects(), read), (REQUESTS / 2, 0, expected), "{method} {end:?}");
    }
}
