//! Bytes in, events out: each case runs whole, at every split, byte by byte, and cut off at every length.

mod corpus;
mod requests;

use super::*;

/// All events of the client machine for `pieces`, as one line. Body pieces are joined: only their sum is a fact.
fn transcript(kind: RequestKind, pieces: &[&[u8]]) -> String {
    let mut memory = HeadMemory::default();
    let first = transcript_with(kind, pieces, &mut memory);
    assert_eq!(transcript_with(kind, pieces, &mut memory), first, "what is remembered changes nothing");
    first
}

fn transcript_with(kind: RequestKind, pieces: &[&[u8]], memory: &mut HeadMemory) -> String {
    let mut machine = Client::default();
    machine.start(kind);
    let mut said = Said::default();
    for piece in pieces {
        let mut rest = *piece;
        loop {
            match machine.handle(rest, memory) {
                Err(error) => return said.end(format!("! {error:?}")),
                Ok((taken, response)) => {
                    assert!(taken <= rest.len(), "took more than it was given");
                    rest = &rest[taken..];
                    match response {
                        Response::NeedMore => {
                            assert!(rest.is_empty(), "wants more but left {} bytes", rest.len());
                            break;
                        }
                        Response::Interim(status) => said.word(format!("{status}")),
                        Response::Head(head) => said.word(describe(&head)),
                        Response::Body(bytes) => said.body.extend_from_slice(bytes),
                        Response::End => return said.end("end".into()),
                    }
                }
            }
        }
    }
    said.end(format!("eof {:?}", machine.handle_eof()))
}

fn describe(head: &ResponseHead) -> String {
    let keep = if head.keep_alive { "keep" } else { "close" };
    format!("{} {:?} {keep}", head.status, head.body)
}

#[derive(Default)]
struct Said {
    words: Vec<String>,
    body: Vec<u8>,
}

impl Said {
    fn word(&mut self, word: String) {
        self.words.push(word);
    }

    fn end(mut self, last: String) -> String {
        if !self.body.is_empty() {
            let body = String::from_utf8_lossy(&self.body).into_owned();
            self.words.push(if body.len() > 40 { format!("({} bytes)", self.body.len()) } else { format!("({body})") });
        }
        self.words.push(last);
        self.words.join(" | ")
    }
}

/// The outcome is as expected, however the bytes are cut, and a truncated response gives the same events in one piece
/// as in many.
fn check(name: &str, kind: RequestKind, bytes: &[u8], expect: &str) {
    assert_eq!(transcript(kind, &[bytes]), expect, "{name}: whole");
    // Long cases are cut at steps that hit every position class; the short ones at every byte.
    let step = (bytes.len() / 2_000).max(1);
    for at in (0..=bytes.len()).step_by(step) {
        let (front, back) = bytes.split_at(at);
        assert_eq!(transcript(kind, &[front, back]), expect, "{name}: split at {at}");
        if bytes.len() < 2_000 {
            let singles: Vec<&[u8]> = front.chunks(1).collect();
            assert_eq!(transcript(kind, &singles), transcript(kind, &[front]), "{name}: cut off at {at}");
        }
    }
    if bytes.len() < 10_000 {
        let singles: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(transcript(kind, &singles), expect, "{name}: byte by byte");
    }
}

#[test]
fn a_connection_carries_many_responses() {
    let mut machine = Client::default();
    let mut memory = HeadMemory::default();
    for _ in 0..3 {
        machine.start(RequestKind::Other);
        let (taken, head) =
            machine.handle(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &mut memory).expect("a good head");
        assert!(matches!(head, Response::Head(ResponseHead { keep_alive: true, .. })));
        assert_eq!(
            machine.handle(&b"hi"[..], &mut memory).expect("a body"),
            (2, Response::Body(b"hi")),
            "after {taken} bytes"
        );
        assert_eq!(machine.handle(b"", &mut memory).expect("the end"), (0, Response::End));
    }
    assert_eq!(machine.handle_eof(), Ending::Idle);
}

#[test]
fn folded_lines_are_fields_in_one_line() {
    let cases: [(&str, &[(&str, &str)]); 8] = [
        ("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n\r\n", &[("A", "1"), ("B", "2")]),
        ("HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\nB: 3\r\n\r\n", &[("A", "1   2"), ("B", "3")]),
        ("HTTP/1.1 200 OK\r\nA:\r\n\t1\r\n\r\n", &[("A", "1")]),
        ("HTTP/1.1 200 OK\nA: 1\n 2\n\n", &[("A", "1  2")]),
        ("HTTP/1.1 200 OK\r\nA: 1\r\n B: 2\r\n\r\n", &[("A", "1   B: 2")]),
        ("HTTP/1.1 200 OK\r\nA: 1\t\r\n\t 2\t3\r\n\r\n", &[("A", "1     2\t3")]),
        ("HTTP/1.1 200 OK\r\nA: 1\r\n  \r\n 2\r\n\r\n", &[("A", "1       2")]),
        ("HTTP/1.1 200 OK\r\nA: 1\r\n", &[("A", "1")]),
    ];
    for (head, expected) in cases {
        let mut head = head.as_bytes().to_vec();
        unfold(&mut head);
        let found: Vec<_> = fields(&head).collect();
        let expected: Vec<_> = expected.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn chunks_come_off_a_whole_body() {
    assert_eq!(dechunk(b"2\r\nhi\r\n4;x\r\n you\r\n0\r\n\r\n").as_deref(), Some(&b"hi you"[..]));
    for bad in [&b""[..], b"2\r\nhi\r\n", b"2\r\nhi\r\n0\r\n\r\nmore", b"x\r\n", b"2\r\nhello\r\n0\r\n\r\n"] {
        assert_eq!(dechunk(bad), None, "{bad:?}");
    }
}

#[test]
fn bytes_without_a_request_are_a_failure() {
    let mut machine = Client::default();
    assert_eq!(machine.handle(b"HTTP/1.1 408 \r\n\r\n", &mut HeadMemory::default()), Err(ProtocolError::Unsolicited));
}

proptest::proptest! {
    #[test]
    fn any_bytes_any_cuts_same_outcome(bytes in proptest::collection::vec(hostile_byte(), 0..400), cuts in proptest::collection::vec(0usize..400, 0..6)) {
        let mut input = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        input.extend_from_slice(&bytes);
        let mut at: Vec<usize> = cuts.into_iter().map(|cut| cut.min(input.len())).collect();
        at.sort_unstable();
        at.insert(0, 0);
        at.push(input.len());
        let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &input[pair[0]..pair[1]]).collect();
        proptest::prop_assert_eq!(transcript(RequestKind::Other, &pieces), transcript(RequestKind::Other, &[&input]));
    }
}

fn hostile_byte() -> impl proptest::strategy::Strategy<Value = u8> {
    proptest::sample::select(b"0123aAfF;:\r\n\r\n \tx\0".to_vec())
}

/// However the record is cut: its first byte cannot begin an HTTP response.
#[test]
fn a_peer_that_speaks_tls_is_known_by_its_first_byte() {
    for record in [&[0x15, 3, 1, 0, 2, 2, 0x46][..], &[0x15], &[0x16, 3, 3], &[0x16]] {
        let mut client = Client::default();
        client.start(RequestKind::Other);
        assert_eq!(client.handle(record, &mut HeadMemory::default()).err(), Some(ProtocolError::Tls), "{record:?}");
    }
    for other in [&[0x14, 3, 1][..], &[0x17, 3, 3], b"SSH-2.0"] {
        let mut client = Client::default();
        client.start(RequestKind::Other);
        let fault = client.handle(other, &mut HeadMemory::default()).err();
        assert_eq!(fault, Some(ProtocolError::StartLine), "{other:?}");
    }
}

/// A head of up to 2 KiB is remembered, and a longer one leaves what is remembered.
#[test]
fn short_heads_are_remembered() {
    let mut memory = HeadMemory::default();
    let mut handle = |bytes: usize| {
        let [front, back] = ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ", "\r\n\r\n"];
        let head = [front, &"x".repeat(bytes - front.len() - back.len()), back].concat();
        let mut client = Client::default();
        client.start(RequestKind::Other);
        let (taken, _) = client.handle(head.as_bytes(), &mut memory).expect("a head");
        assert_eq!(taken, bytes);
        memory.last().len()
    };
    assert_eq!([60, 2_048, 61, 2_049].map(&mut handle), [60, 2_048, 61, 61]);
}
