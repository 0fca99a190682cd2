use std::collections::BTreeMap;

use wire::hpack::FieldList;
use wire::http2::{Client, Event, Request};

/// Any bytes of a server, cut anywhere: no panic, and the same outcome as in one piece.
pub fn http2_client(input: &[u8]) {
    let Some((&[cut, requests], bytes)) = input.split_first_chunk::<2>() else { return };
    let (front, back) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let whole = outcome(&[bytes], requests);
    assert_eq!(outcome(&[front, back], requests), whole);
    assert_eq!(outcome(&bytes.chunks(1).collect::<Vec<_>>(), requests), whole);
}

fn outcome(pieces: &[&[u8]], requests: u8) -> (Vec<String>, BTreeMap<u64, Vec<u8>>, Vec<u8>) {
    let (mut client, mut out) = (Client::default(), Vec::new());
    client.start(&mut out);
    let fields = [(&b":method"[..], &b"POST"[..]), (b":scheme", b"http"), (b":path", b"/"), (b":authority", b"a")];
    let body = vec![b'x'; 70_000];
    let request =
        Request::new(1, fields.iter().copied(), if requests.is_multiple_of(2) { body.to_vec() } else { Vec::new() });
    for tag in 0..u64::from(requests % 5) {
        client.send(&request, tag, &mut out);
    }
    let (mut words, mut bodies) = (Vec::new(), BTreeMap::<u64, Vec<u8>>::new());
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let mut list = FieldList::default();
            match client.handle(rest, &mut list, &mut out) {
                Err(error) => {
                    words.push(format!("{error:?}"));
                    return (words, bodies, out);
                }
                Ok((taken, event)) => {
                    rest = &rest[taken..];
                    match event {
                        Event::NeedMore if rest.is_empty() => break,
                        Event::NeedMore | Event::Nothing => {}
                        Event::Body { tag, bytes, is_last, .. } => {
                            bodies.entry(tag).or_default().extend_from_slice(bytes);
                            if is_last {
                                words.push(format!("{tag} end"));
                            }
                        }
                        Event::Settings | Event::Window => client.resume(&mut out),
                        other => words.push(format!("{other:?}")),
                    }
                }
            }
        }
    }
    (words, bodies, out)
}
