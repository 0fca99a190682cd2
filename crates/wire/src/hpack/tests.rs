use proptest::prelude::*;

use super::*;

const LIST_BYTES_MAX: usize = 64 * 1024;

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex")).collect()
}

fn texts(fields: &FieldList) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    fields.iter().map(|(name, value)| (text(name), text(value))).collect()
}

fn pair(text: &str) -> (String, String) {
    // A name may begin with a colon.
    let at = text[1..].find(": ").expect("a colon") + 1;
    (text[..at].to_owned(), text[at + 2..].to_owned())
}

#[test]
fn single_fields_of_the_rfc() {
    // Appendix C.2.
    let cases = [
        ("400a637573746f6d2d6b65790d637573746f6d2d686561646572", "custom-key: custom-header", true),
        ("040c2f73616d706c652f70617468", ":path: /sample/path", false),
        ("100870617373776f726406736563726574", "password: secret", false),
        ("82", ":method: GET", false),
    ];
    for (hex, field, is_kept) in cases {
        let (mut decoder, mut fields) = (Decoder::new(TABLE_BYTES_DEFAULT), FieldList::default());
        decoder.decode(&bytes_of(hex), &mut fields, LIST_BYTES_MAX).expect("a block");
        assert_eq!(texts(&fields), [pair(field)]);
        assert_eq!(decoder.table.dynamic().len(), usize::from(is_kept), "{field}");
    }
}

#[test]
fn integers_of_the_rfc() {
    // Appendix C.1.
    for (value, bits, hex) in [(10, 5, "0a"), (1_337, 5, "1f9a0a"), (42, 8, "2a")] {
        let mut out = Vec::new();
        push_integer(value, bits, 0, &mut out);
        assert_eq!(out, bytes_of(hex));
        assert_eq!(integer(&mut &out[..], bits), Ok(value));
    }
}

/// Every connection of appendix C: blocks in, fields and table out; where the examples use the Huffman code, our
/// encoder writes blocks of the same length and meaning.
#[test]
fn connections_of_the_rfc() {
    let (mut decoder, mut reader, mut encoder) = (Decoder::new(0), Decoder::new(0), Encoder::default());
    let (mut fields, mut block, mut is_coded) = (FieldList::default(), Vec::new(), false);
    let (mut expect, mut table, mut blocks) = (Vec::new(), Vec::new(), 0);
    for line in include_str!("tests/rfc7541.txt").lines().skip(1) {
        let (kind, text) = line.split_once(' ').expect("a kind");
        match kind {
            "connection" => {
                let (name, size) = text.split_once(' ').expect("a size");
                let size = size.parse().expect("a number");
                decoder = Decoder::new(size);
                reader = Decoder::new(size);
                encoder = Encoder { table: Table::new(size), shrunk_to: None };
                is_coded = name == "C.4" || name == "C.6";
            }
            "block" => {
                block = bytes_of(text);
                decoder.decode(&block, &mut fields, LIST_BYTES_MAX).expect("a block");
                (expect, table) = (Vec::new(), Vec::new());
            }
            "field" => expect.push(pair(text)),
            "entry" => table.push(pair(text)),
            "size" => {
                assert_eq!(texts(&fields), expect);
                assert_eq!(decoder.table.dynamic(), table);
                assert_eq!(decoder.table.size().to_string(), text);
                if is_coded {
                    let mut out = Vec::new();
                    encoder.begin(&mut out);
                    for (name, value) in &expect {
                        encoder.field(name.as_bytes(), value.as_bytes(), Indexing::Kept, &mut out);
                    }
                    // A string whose code is not shorter stays plain: that is cheaper to read.
                    assert_eq!(out.len(), block.len());
                    let mut read = FieldList::default();
                    reader.decode(&out, &mut read, LIST_BYTES_MAX).expect("our own block");
                    assert_eq!(texts(&read), expect);
                }
                blocks += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(blocks, 12);
}

#[test]
fn hostile_blocks() {
    let cases: [(&[u8], HpackError); 13] = [
        // Indices without an entry.
        (&[0x80], HpackError::Malformed),
        (&[0xbe], HpackError::Malformed),
        (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff], HpackError::Malformed),
        // Integers that never end, and too large ones.
        (&[0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], HpackError::Malformed),
        (&[0xff, 0x80], HpackError::Malformed),
        (&[0x40, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x0f], HpackError::Malformed),
        // Strings that end early.
        (&[0x40], HpackError::Malformed),
        (&[0x40, 0x05, b'a'], HpackError::Malformed),
        (&[0x42, 0x01], HpackError::Malformed),
        // Huffman: padding of a whole byte, padding of zeros, and the end-of-string symbol inside.
        (&[0x02, 0x82, 0x1f, 0xff], HpackError::Malformed),
        (&[0x02, 0x81, 0x00], HpackError::Malformed),
        (&[0x02, 0x84, 0xff, 0xff, 0xff, 0xff], HpackError::Malformed),
        // A size that was not allowed; also one after a field.
        (&[0x3f, 0xe2, 0x1f], HpackError::Malformed),
    ];
    for (block, error) in cases {
        let mut decoder = Decoder::new(TABLE_BYTES_DEFAULT);
        assert_eq!(decoder.decode(block, &mut FieldList::default(), LIST_BYTES_MAX), Err(error), "{block:x?}");
    }
    let mut decoder = Decoder::new(TABLE_BYTES_DEFAULT);
    assert_eq!(decoder.decode(&[0x82, 0x20], &mut FieldList::default(), 1_000), Err(HpackError::Malformed));
    // A small block of references to a large field.
    let mut block = vec![0x40, 0x01, b'a', 0x7f, 0x81, 0x1e];
    block.extend_from_slice(&[b'x'; 3_968]);
    block.extend_from_slice(&[0xbe; 1_000]);
    let outcome = decoder.decode(&block, &mut FieldList::default(), LIST_BYTES_MAX);
    assert_eq!(outcome, Err(HpackError::ListTooLarge));
}

#[test]
fn every_byte_has_its_code() {
    let text: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
    let (mut code, mut back) = (Vec::new(), Vec::new());
    huffman::encode(&text, &mut code);
    assert_eq!(code.len(), huffman::encoded_bytes(&text));
    assert!(huffman::decode(&code, &mut back));
    assert_eq!(back, text);
}

/// Comparison with nghttp2, both ways. Its binding is unsafe, so it stands in a file of its own.
#[path = "tests/nghttp2.rs"]
mod nghttp2;

fn field() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, u8)> {
    let name = prop_oneof![
        Just(b":status".to_vec()),
        Just(b"content-type".to_vec()),
        Just(b"cookie".to_vec()),
        "[a-z-]{1,40}".prop_map(String::into_bytes),
    ];
    let value = prop_oneof![
        Just(b"200".to_vec()),
        "[ -~]{0,60}".prop_map(String::into_bytes),
        proptest::collection::vec(1u8..=255, 0..300)
            .prop_map(|bytes| bytes.into_iter().filter(|b| !b"\r\n".contains(b)).collect()),
    ];
    (name, value, 0u8..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_with_nghttp2(
        blocks in proptest::collection::vec(
            (proptest::collection::vec(field(), 0..12), proptest::option::of(prop_oneof![Just(0usize), 1usize..200, 200usize..5_000])),
            1..12,
        )
    ) {
        let (mut encoder, mut inflater) = (Encoder::default(), nghttp2::Inflater::new());
        let (mut decoder, mut deflater) = (Decoder::new(TABLE_BYTES_DEFAULT), nghttp2::Deflater::new());
        let (mut own, mut own_fields) = (Decoder::new(TABLE_BYTES_DEFAULT), FieldList::default());
        for (fields, size) in blocks {
            if let Some(size) = size {
                // The peer of a decoder respects the allowed size.
                inflater.resize(size);
                encoder.resize(size);
                let size = size.min(TABLE_BYTES_DEFAULT);
                deflater.resize(size);
            }
            let mut block = Vec::new();
            encoder.begin(&mut block);
            for (name, value, kind) in &fields {
                let indexing = [Indexing::Kept, Indexing::NotKept, Indexing::Never][usize::from(*kind)];
                encoder.field(name, value, indexing, &mut block);
            }
            let plain: Vec<(Vec<u8>, Vec<u8>)> = fields.into_iter().map(|(name, value, _)| (name, value)).collect();
            prop_assert_eq!(inflater.decode(&block), plain.clone());
            own.decode(&block, &mut own_fields, usize::MAX).expect("our own block");
            let read: Vec<_> = own_fields.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
            prop_assert_eq!(&read, &plain);
            let block = deflater.encode(&plain);
            let mut read = FieldList::default();
            decoder.decode(&block, &mut read, usize::MAX).expect("a block of nghttp2");
            let read: Vec<_> = read.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
            prop_assert_eq!(read, plain);
        }
    }

    #[test]
    fn any_bytes_are_survived(block in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut decoder = Decoder::new(TABLE_BYTES_DEFAULT);
        // Rejected or decoded: either is fine, as long as it terminates.
        let _ = decoder.decode(&block, &mut FieldList::default(), LIST_BYTES_MAX);
    }
}
