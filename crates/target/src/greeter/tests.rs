//! Calls in pieces, at their deadlines, and beyond their limits.

use super::*;

const PLAIN: Zips = Zips { requests: false, responses: false };

fn request(name: &str, delay_ms: u32, status: u32, replies: u32) -> Vec<u8> {
    let request = HelloRequest { name: name.to_owned(), delay_ms, status, replies, gap_ms: 0 };
    let mut bytes = Vec::new();
    push_message(&request.encode_to_vec(), false, &mut bytes);
    bytes
}

/// The responses of a call until it ends, driven by its own timers.
fn converse(path: &str, pieces: &[&[u8]]) -> (Vec<String>, CallEnding, Nanos) {
    let mut call = Call::new(path.as_bytes(), PLAIN, Nanos::NEVER).expect("a method");
    let mut now = Nanos::from_millis(5);
    pieces.iter().for_each(|piece| call.take(piece, now));
    call.request_ended(now);
    let mut said = Vec::new();
    loop {
        let (mut reader, mut current) = (Messages::default(), Vec::new());
        let mut rest = &call.outbox[call.from..];
        loop {
            let (taken, piece) = reader.handle(rest).expect("messages");
            rest = &rest[taken..];
            match piece {
                MessagePiece::NeedMore => break,
                MessagePiece::Bytes(bytes) => current.extend_from_slice(bytes),
                MessagePiece::Begun { .. } => {}
                MessagePiece::End => {
                    let bytes = std::mem::take(&mut current);
                    said.push(HelloReply::decode(&*bytes).expect("a reply").message);
                }
            }
        }
        call.from = call.outbox.len();
        if let Some(ending) = call.ending.take() {
            return (said, ending, now);
        }
        assert_ne!(call.next(), Nanos::NEVER, "it never ends");
        now = now.max(call.next());
        call.step(now);
    }
}

#[test]
fn calls_are_the_same_however_they_are_cut() {
    let many = [request("a", 20, 0, 3), request("b", 0, 0, 0)].concat();
    let cases: [(&str, Vec<u8>, &[&str], u64); 5] = [
        ("/hello.Greeter/SayHello", request("a", 20, 0, 0), &["Hello a"], 25),
        ("/hello.Greeter/SayHellos", request("a", 0, 0, 3), &["Hello a", "Hello a", "Hello a"], 5),
        ("/hello.Greeter/GreetAll", many.clone(), &["Hello a, b"], 25),
        ("/hello.Greeter/Chat", many, &["Hello a", "Hello b"], 25),
        ("/hello.Greeter/Chat", Vec::new(), &[], 5),
    ];
    for (path, body, says, ends_at) in cases {
        for at in 0..=body.len() {
            let (front, back) = body.split_at(at);
            let (said, ending, now) = converse(path, &[front, back]);
            assert_eq!(
                (said.as_slice(), ending.status),
                (&says.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()[..], Status::OK),
                "{path} {at}"
            );
            assert_eq!(now, Nanos::from_millis(ends_at), "{path} {at}");
        }
    }
}

#[test]
fn what_is_wrong_ends_the_call() {
    let two = [request("a", 0, 0, 0), request("b", 0, 0, 0)].concat();
    let requested = request("a", 7, 5, 0);
    let mut zipped = Vec::new();
    push_message(&gzip(b""), true, &mut zipped);
    let cases: [(&str, &[u8], Status); 8] = [
        ("/hello.Greeter/SayHello", &two, Status::INTERNAL),
        ("/hello.Greeter/SayHello", b"", Status::INTERNAL),
        ("/hello.Greeter/SayHello", &requested, Status::NOT_FOUND),
        ("/hello.Greeter/Chat", &requested, Status::NOT_FOUND),
        ("/hello.Greeter/Chat", &two[..two.len() - 1], Status::INTERNAL),
        ("/hello.Greeter/Chat", b"\x02\0\0\0\0", Status::INTERNAL),
        ("/hello.Greeter/Chat", b"\0\x01\0\0\0", Status::RESOURCE_EXHAUSTED),
        ("/hello.Greeter/Chat", &zipped, Status::INTERNAL),
    ];
    for (path, body, status) in cases {
        assert_eq!(converse(path, &[body]).1.status, status, "{path} {body:?}");
    }
    assert!(Call::new(b"/hello.Greeter/SayNothing", PLAIN, Nanos::NEVER).is_none());
}

#[test]
fn a_deadline_ends_what_is_not_over() {
    let mut call = Call::new(b"/hello.Greeter/SayHello", PLAIN, Nanos::from_millis(30)).expect("a method");
    call.take(&request("a", 50, 0, 0), Nanos::ZERO);
    call.request_ended(Nanos::ZERO);
    assert_eq!((call.next(), call.ending.is_none()), (Nanos::from_millis(30), true));
    call.step(Nanos::from_millis(30));
    assert_eq!(call.ending.map(|ending| ending.status), Some(Status::DEADLINE_EXCEEDED));
}

#[test]
fn a_client_that_does_not_read_is_left() {
    let mut call = Call::new(b"/hello.Greeter/Chat", PLAIN, Nanos::NEVER).expect("a method");
    let name = "x".repeat(100_000);
    for _ in 0..165 {
        call.take(&request(&name, 0, 0, 0), Nanos::ZERO);
    }
    assert!(call.outbox.len() <= AHEAD_BYTES + 110_000 && call.ending.is_none());
    assert_eq!(call.next(), Nanos::NEVER, "it waits for the client");
    (0..5).for_each(|_| call.take(&request(&name, 0, 0, 0), Nanos::ZERO));
    assert_eq!(call.ending.map(|ending| ending.status), Some(Status::RESOURCE_EXHAUSTED));
}
