use wire::hpack::FieldList;
use wire::http2::{Event, PREFACE, Server};

/// Any bytes of a client, cut anywhere, with a response to every request: no panic, and the same outcome as in one
/// piece.
pub fn http2_server(input: &[u8]) {
    let Some((&cut, bytes)) = input.split_first() else { return };
    // The preface is supplied: the fuzzer need not find it.
    let bytes = [&PREFACE[..], bytes].concat();
    let (front, back) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let whole = outcome(&[&bytes]);
    assert_eq!(outcome(&[front, back]), whole);
    assert_eq!(outcome(&bytes.chunks(1).collect::<Vec<_>>()), whole);
}

fn outcome(pieces: &[&[u8]]) -> (Vec<String>, usize) {
    let (mut server, mut out) = (Server::default(), Vec::new());
    server.start(&mut out);
    let (mut words, mut body_bytes) = (Vec::new(), 0);
    for piece in pieces {
        let mut rest = *piece;
        loop {
            let mut list = FieldList::default();
            let (stream, is_last) = match server.handle(rest, &mut list, &mut out) {
                Err(error) => {
                    words.push(format!("{error:?}"));
                    return (words, body_bytes);
                }
                Ok((taken, event)) => {
                    rest = &rest[taken..];
                    match event {
                        Event::NeedMore if rest.is_empty() => break,
                        Event::NeedMore | Event::Nothing => continue,
                        Event::Body { stream, bytes, is_last, .. } => {
                            body_bytes += bytes.len();
                            (stream, is_last)
                        }
                        Event::Request { stream, is_last, .. } => {
                            words.push(format!("{stream} request"));
                            (stream, is_last)
                        }
                        Event::Trailers { stream, .. } => (stream, true),
                        other => {
                            words.push(format!("{other:?}"));
                            continue;
                        }
                    }
                }
            };
            if is_last {
                words.push(format!("{stream} answered"));
                server.response(stream, 200, std::iter::empty(), false, &mut out);
                let count = server.room(stream).min(100);
                server.data(stream, &[b'y'; 100][..count], true, &mut out);
            }
        }
    }
    (words, body_bytes)
}
