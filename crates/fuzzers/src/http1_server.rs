use wire::http1::{Server, ServerEvent};

/// Any request, cut anywhere: no panic, and the same events as in one piece.
pub fn http1_server(input: &[u8]) {
    let Some((&cut, bytes)) = input.split_first() else { return };
    let (front, back) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let whole = outcome(&[bytes]);
    assert_eq!(outcome(&[front, back]), whole);
    assert_eq!(outcome(&bytes.chunks(1).collect::<Vec<_>>()), whole);
}

fn outcome(pieces: &[&[u8]]) -> (Vec<String>, Vec<u8>) {
    let mut machine = Server::default();
    let (mut words, mut body) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = *piece;
        loop {
            match machine.handle(rest) {
                Err(error) => {
                    words.push(format!("{error:?}"));
                    return (words, body);
                }
                Ok((taken, event)) => {
                    rest = &rest[taken..];
                    match event {
                        ServerEvent::NeedMore => break,
                        ServerEvent::Body(bytes) => body.extend_from_slice(bytes),
                        other => words.push(format!("{other:?}")),
                    }
                }
            }
        }
    }
    (words, body)
}
