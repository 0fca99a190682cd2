use wire::tcp::{Delimiter, Framing, Reader, TooLarge};

/// Any bytes and any framing: responses end at the same positions however they are cut.
pub fn tcp(input: &[u8]) {
    let [kind, size, bytes @ ..] = input else { return };
    let framing = match kind % 4 {
        0 => Framing::Bytes(u64::from(*size) + 1),
        1 => {
            let count = usize::from(*size).min(bytes.len());
            let Some(delimiter) = Delimiter::new(&bytes[..count]) else { return };
            Framing::Until(delimiter)
        }
        _ => Framing::LengthPrefix { width: 1 << (size % 4), is_little_endian: kind % 4 == 2 },
    };
    let whole = ends(&framing, &[bytes]);
    let (front, back) = bytes.split_at(usize::from(*kind).min(bytes.len()));
    assert_eq!(ends(&framing, &[front, back]), whole);
    let each: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(ends(&framing, &each), whole);
}

fn ends(framing: &Framing, pieces: &[&[u8]]) -> Result<Vec<usize>, TooLarge> {
    let (mut reader, mut ends, mut before) = (Reader::default(), Vec::new(), 0);
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let (taken, is_over) = reader.handle(framing, rest)?;
            assert!(taken > 0 && taken <= rest.len());
            rest = &rest[taken..];
            before += taken;
            if is_over {
                assert!(!reader.is_within());
                ends.push(before);
            }
        }
    }
    Ok(ends)
}
