//! `Expect: 100-continue`: when the body is sent.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use driver::{Event, Outgoing, Sockets};
use metrics::{Class, Measure};
use plan::Flags;

use crate::world::{LATENCY, OwnServer, World, flags, is_by_arithmetic};

const BODY: &str = "hello=world";
const REQUESTS: u64 = 4;
const SECOND: u64 = 1_000_000_000;

/// The server's reply to a head.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Word {
    /// Sends this, and goes on reading.
    Goes(&'static [u8]),
    /// Sends this, and expects the next request.
    Final(&'static [u8]),
}

/// Each request as received: its head alone, or with the part of the body that arrived before the reply.
type Came = Rc<RefCell<Vec<Vec<u8>>>>;

struct Server {
    word: Word,
    came: Came,
    connections: HashMap<(u32, u32), Vec<u8>>,
}

impl OwnServer for Server {
    fn handle(&mut self, sockets: &mut dyn Sockets, event: Event<'_>) {
        match event {
            Event::Received { socket, bytes, .. } => {
                let own = self.connections.entry((socket.index, socket.generation)).or_default();
                let had_head = own.windows(4).any(|four| four == b"\r\n\r\n");
                own.extend_from_slice(bytes);
                if !had_head && own.windows(4).any(|four| four == b"\r\n\r\n") {
                    self.came.borrow_mut().push(own.clone());
                    let (Word::Goes(word) | Word::Final(word)) = self.word;
                    if !word.is_empty() {
                        sockets.send(socket, Outgoing::Lent(word.to_vec()));
                    }
                    if matches!(self.word, Word::Final(_)) {
                        own.clear();
                    }
                } else if !had_head {
                    return;
                }
                if own.ends_with(BODY.as_bytes()) {
                    own.clear();
                    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    sockets.send(socket, Outgoing::Lent(response.to_vec()));
                }
            }
            Event::PeerClosed { socket, .. } => sockets.close(socket),
            _ => {}
        }
    }
}

#[test]
fn a_body_waits_for_a_word_a_final_status_or_a_second() {
    let goes_on: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let hints: &[u8] = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let both = [hints, goes_on].concat().leak();
    let no: &[u8] = b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n";
    let early: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    // Reply, connections, successes, one-way trips for one request, and the time spent waiting in vain.
    let cases = [
        (Word::Goes(goes_on), 1, REQUESTS, 4, 0),
        (Word::Goes(both), 1, REQUESTS, 4, 0),
        (Word::Goes(b""), 1, REQUESTS, 2, SECOND),
        (Word::Goes(hints), 1, REQUESTS, 2, SECOND),
        (Word::Final(no), REQUESTS, 0, 2, 0),
        (Word::Final(early), REQUESTS, REQUESTS, 2, 0),
    ];
    for header in ["Expect: 100-continue", "expect: 100-Continue"] {
        for (word, connections, succeeded, ways, waited_ns) in cases {
            let (finished, came) = play(word, &[header], |flags| flags);
            let counts = &finished.total.counts;
            assert_eq!((counts.succeeded(), counts.connections_established()), (succeeded, connections), "{word:?}");
            assert!(came.iter().all(|request| request.ends_with(b"\r\n\r\n")), "{word:?}: a body came before the word");
            let class = if succeeded > 0 { Class::Succeeded } else { Class::FailedAnswered };
            let service = finished.total.class(class).by_measure(Measure::Service).min().expect("some");
            is_by_arithmetic(service, waited_ns + ways * LATENCY.0, 12);
            // A body that was never sent is not counted.
            let is_final = matches!(word, Word::Final(_));
            let head = came[0].len() as u64;
            let each = if is_final { head } else { head + BODY.len() as u64 };
            assert_eq!(counts.bytes_sent(), REQUESTS * each, "{word:?}");
        }
    }
}

#[test]
fn nothing_waits_that_does_not_ask_to() {
    let nothing = Word::Goes(b"");
    for headers in [&[][..], &["Expect: something"], &["X-Expect: 100-continue"]] {
        let (_, came) = play(nothing, headers, |flags| flags);
        assert!(came.iter().all(|request| request.ends_with(BODY.as_bytes())), "{headers:?}");
    }
    // An HTTP/1.0 server does not know `100 Continue`.
    let (_, came) = play(nothing, &["Expect: 100-continue"], |flags| Flags { http10: true, ..flags });
    assert!(came.iter().all(|request| request.ends_with(BODY.as_bytes())));
}

/// The timeout of a request runs from its head on, and also ends it while the body waits.
#[test]
fn a_timeout_that_is_shorter_ends_the_waiting() {
    let (finished, came) =
        play(Word::Goes(b""), &["Expect: 100-continue"], |flags| Flags { timeout: Some("300ms".to_owned()), ..flags });
    let counts = &finished.total.counts;
    assert_eq!((counts.failed(), came.len() as u64), (REQUESTS, REQUESTS));
    let service = finished.total.class(Class::TimedOut).by_measure(Measure::Service).max().expect("some");
    is_by_arithmetic(service, 300_000_000, 12);
}

fn play(word: Word, headers: &[&str], change: impl Fn(Flags) -> Flags) -> (engine::Finished, Vec<Vec<u8>>) {
    let came = Came::default();
    let server = Server { word, came: came.clone(), connections: HashMap::new() };
    let load = Flags {
        data: Some(BODY.to_owned()),
        headers: headers.iter().map(|header| (*header).to_owned()).collect(),
        connections: Some("1".to_owned()),
        requests: Some(REQUESTS.to_string()),
        ..flags("/")
    };
    let plan = change(load).plan().expect("a good plan");
    let finished = World::with(server).play(Vec::new(), Some((&plan, 1))).finished.expect("a load");
    let came = came.borrow().clone();
    (finished, came)
}
