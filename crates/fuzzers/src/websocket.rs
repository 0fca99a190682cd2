use wire::websocket::{
    Deflate, Event, Fault, Machine, Role, Scratch, Session, SessionEvent, Terms, read_request, read_response,
};

const MESSAGE_BYTES_MAX: u64 = 1 << 16;
const KEPT_BYTES_MAX: usize = 1 << 12;

/// Any bytes from either side: the same messages however they are cut, and heads that can be read without a panic.
pub fn websocket(input: &[u8]) {
    let Some((&first, bytes)) = input.split_first() else { return };
    let from = if first & 1 == 0 { Role::Client } else { Role::Server };
    let whole = read(from, first & 2 != 0, &[bytes]);
    let (front, back) = bytes.split_at(usize::from(first >> 2).min(bytes.len()));
    assert!(same(&read(from, first & 2 != 0, &[front, back]), &whole));
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    assert!(same(&read(from, first & 2 != 0, &each), &whole));
    let role = if first & 1 == 0 { Role::Server } else { Role::Client };
    let messaging = converse(role, &[bytes]);
    assert!(messaging == converse(role, &[front, back]) && messaging == converse(role, &each));
    let _ = (read_request(bytes), read_response(bytes, "dGhlIHNhbXBsZSBub25jZQ==", &[], true));
}

/// The events, as text without the cuts.
fn read(from: Role, may_compress: bool, pieces: &[&[u8]]) -> (Vec<u8>, Option<Fault>) {
    let mut machine = Machine::new(from, may_compress, MESSAGE_BYTES_MAX);
    let mut received = Vec::new();
    for piece in pieces {
        let mut bytes = piece.to_vec();
        let mut rest = &mut bytes[..];
        loop {
            let (taken, event) = match machine.handle(rest) {
                Ok(handled) => handled,
                Err(fault) => return (received, Some(fault)),
            };
            let is_done = event == Event::NeedMore;
            match event {
                Event::NeedMore | Event::Nothing => {}
                Event::Bytes(bytes) => {
                    assert!(!bytes.is_empty());
                    received.extend_from_slice(bytes);
                }
                other => received.extend_from_slice(format!("{other:?}").as_bytes()),
            }
            rest = &mut rest[taken..];
            if is_done {
                assert!(rest.is_empty());
                break;
            }
        }
    }
    (received, None)
}

/// The messages of a whole session, and its replies.
fn converse(role: Role, pieces: &[&[u8]]) -> (Vec<u8>, Vec<u8>, Option<Fault>) {
    // Each role tests one of the two context modes.
    let deflate = Some(Deflate { window_bits: 15, keeps_context: role == Role::Client });
    let terms = Terms { role, deflate, message_bytes_max: MESSAGE_BYTES_MAX, kept_bytes_max: KEPT_BYTES_MAX };
    let (mut session, mut scratch) = (Session::new(terms), Scratch::default());
    let (mut received, mut out) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut bytes = piece.to_vec();
        let mut rest = &mut bytes[..];
        loop {
            let (taken, is_done) = match session.handle(rest, &mut scratch, None, &mut out) {
                Err(fault) => return (received, out, Some(fault)),
                Ok((taken, what)) => {
                    if let SessionEvent::Message { bytes, length, is_cut, .. } = &what {
                        assert!(*length <= MESSAGE_BYTES_MAX && *is_cut == (*length > KEPT_BYTES_MAX as u64));
                        assert!(bytes.len() as u64 == if *is_cut { 0 } else { *length });
                        received.extend_from_slice(bytes);
                        received.push(b'|');
                    }
                    (taken, what == SessionEvent::NeedMore)
                }
            };
            rest = &mut rest[taken..];
            if is_done {
                break;
            }
        }
    }
    (received, out, None)
}

/// If there is a fault, bytes before it may have been reported in one of them already.
fn same(one: &(Vec<u8>, Option<Fault>), other: &(Vec<u8>, Option<Fault>)) -> bool {
    one.1 == other.1 && (one.1.is_some() || one.0 == other.0)
}
