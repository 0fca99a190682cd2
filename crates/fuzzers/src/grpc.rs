use wire::grpc::{MessagePiece, Messages, Status, Unzipped, gunzip, parse_timeout, percent_decode, percent_encode};

const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// Any body: the same messages however it is cut; and the fields can be read without a panic.
pub fn grpc(input: &[u8]) {
    let Some((&cut, body)) = input.split_first() else { return };
    let whole = read(&[body]);
    let (front, back) = body.split_at(usize::from(cut).min(body.len()));
    assert_eq!(read(&[front, back]), whole);
    let each: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(read(&each), whole);
    for (_, message) in whole.0 {
        if let Unzipped::Whole(bytes) = gunzip(&message, MESSAGE_BYTES_MAX) {
            assert!(bytes.len() <= MESSAGE_BYTES_MAX);
        }
    }
    let _ = (parse_timeout(body), Status::read(body));
    let text = percent_decode(body);
    assert_eq!(percent_decode(&percent_encode(&text)), text);
}

/// The messages of a body, each with its flag, and whether it is truncated.
fn read(pieces: &[&[u8]]) -> (Vec<(bool, Vec<u8>)>, bool, bool) {
    let (mut machine, mut all, mut is_broken) = (Messages::default(), Vec::new(), false);
    'all: for piece in pieces {
        let mut rest = *piece;
        loop {
            match machine.handle(rest) {
                Err(_) => {
                    is_broken = true;
                    break 'all;
                }
                Ok((taken, what)) => {
                    rest = &rest[taken..];
                    match what {
                        MessagePiece::NeedMore => break,
                        MessagePiece::Begun { is_compressed, .. } => all.push((is_compressed, Vec::new())),
                        MessagePiece::Bytes(bytes) => {
                            all.last_mut().expect("a message has begun").1.extend_from_slice(bytes)
                        }
                        MessagePiece::End => {}
                    }
                }
            }
        }
        assert!(rest.is_empty());
    }
    (all, is_broken, machine.is_between())
}
