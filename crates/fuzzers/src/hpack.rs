use wire::hpack::{Decoder, Encoder, FieldList, Indexing, TABLE_BYTES_DEFAULT};

const LIST_BYTES_MAX: usize = 64 * 1024;

/// Any block: no panic, the table within its size, and decoded fields can be encoded and decoded again.
pub fn hpack(input: &[u8]) {
    let (mut decoder, mut fields) = (Decoder::new(TABLE_BYTES_DEFAULT), FieldList::default());
    let (mut encoder, mut again) = (Encoder::default(), Decoder::new(TABLE_BYTES_DEFAULT));
    // Blocks of one connection, each with its length before it.
    let mut rest = input;
    while let Some((&length, tail)) = rest.split_first() {
        let (block, after) = tail.split_at(usize::from(length).min(tail.len()));
        rest = after;
        if decoder.decode(block, &mut fields, LIST_BYTES_MAX).is_err() {
            return;
        }
        let mut written = Vec::new();
        encoder.resize(usize::from(length) * 20);
        encoder.begin(&mut written);
        for (number, (name, value)) in fields.iter().enumerate() {
            let indexing = [Indexing::Kept, Indexing::NotKept, Indexing::Never][number % 3];
            encoder.field(name, value, indexing, &mut written);
        }
        let mut read = FieldList::default();
        again.decode(&written, &mut read, usize::MAX).expect("our own block");
        assert!(read.iter().eq(fields.iter()));
    }
}
