use wire::http1::{Client, HeadMemory, RequestKind, Response};

/// Any response, cut anywhere: no panic, and the same outcome as in one piece.
pub fn http1_client(input: &[u8]) {
    let Some((&[cut, kind], bytes)) = input.split_first_chunk::<2>() else { return };
    let kind = match kind % 3 {
        0 => RequestKind::Other,
        1 => RequestKind::Head,
        _ => RequestKind::Connect,
    };
    let (front, back) = bytes.split_at(usize::from(cut).min(bytes.len()));
    // The head cache of one run is used for the next: it must change nothing.
    let mut memory = HeadMemory::default();
    let whole = outcome(kind, &[bytes], &mut memory);
    assert_eq!(outcome(kind, &[bytes], &mut memory), whole);
    assert_eq!(outcome(kind, &[front, back], &mut memory), whole);
    assert_eq!(outcome(kind, &bytes.chunks(1).collect::<Vec<_>>(), &mut memory), whole);
}

fn outcome(kind: RequestKind, pieces: &[&[u8]], memory: &mut HeadMemory) -> (Vec<String>, Vec<u8>) {
    let mut machine = Client::default();
    machine.start(kind);
    let (mut words, mut body) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = *piece;
        loop {
            match machine.handle(rest, memory) {
                Err(error) => {
                    words.push(format!("{error:?}"));
                    return (words, body);
                }
                Ok((taken, response)) => {
                    rest = &rest[taken..];
                    match response {
                        Response::NeedMore => break,
                        Response::Body(bytes) => body.extend_from_slice(bytes),
                        Response::End => {
                            words.push("end".to_owned());
                            return (words, body);
                        }
                        other => words.push(format!("{other:?}")),
                    }
                }
            }
        }
    }
    words.push(format!("{:?}", machine.handle_eof()));
    (words, body)
}
