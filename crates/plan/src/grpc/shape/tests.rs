use proptest::prelude::*;
use prost_reflect::DynamicMessage;
use prost_reflect::prost::Message;

use super::*;
use crate::Schema;

const ZOO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/peers/grpc/proto/zoo.proto");

fn kind(name: &str) -> MessageDescriptor {
    let schema = Schema::from_protos(&[ZOO.to_owned()], &[]).expect("a good file");
    schema.pool.get_message_by_name(name).expect("a type")
}

fn fits(shape: &Shape, pieces: &[&[u8]]) -> bool {
    let mut reader = ShapeReader::default();
    pieces.iter().all(|piece| reader.handle(shape, piece).is_ok()) && reader.end().is_ok()
}

/// The same at every split and byte by byte.
fn fits_however_cut(shape: &Shape, bytes: &[u8]) -> bool {
    let fits_whole = fits(shape, &[bytes]);
    for at in 0..=bytes.len() {
        let (front, back) = bytes.split_at(at);
        assert_eq!(fits(shape, &[front, back]), fits_whole, "{bytes:02x?}, split at {at}");
    }
    assert_eq!(fits(shape, &bytes.chunks(1).collect::<Vec<_>>()), fits_whole, "{bytes:02x?}, byte by byte");
    fits_whole
}

fn animal(json: &str) -> Vec<u8> {
    let mut reader = serde_json::Deserializer::from_str(json);
    DynamicMessage::deserialize(kind("zoo.Animal"), &mut reader).expect("JSON of the type").encode_to_vec()
}

const ANIMALS: [&str; 8] = [
    r#"{}"#,
    r#"{"name":"世界 é","picture":"AAECAwQF/w=="}"#,
    r#"{"kinds":["BIRD","OLD_FISH",2],"packed":[1,2.5],"words":["","x"]}"#,
    r#"{"ages":{"a":"9223372036854775807","":-1},"places":{"-5":{"lat":1.5,"lon":-2e10}},"flags":{"true":"yes"}}"#,
    r#"{"papers":{"a":[1,"x",null,true,{"b":{}}]},"born":"2024-02-29T23:59:59.123456789Z"}"#,
    r#"{"inner":{"text":"a","children":[{"text":"b"},{},{"children":[{"text":"é"}]}]}}"#,
    r#"{"d":-0.5,"f":1.5e-45,"i32":-2147483648,"s64":-1,"x32":1,"x64":"2","isBig":true}"#,
    r#"{"any":{"@type":"type.googleapis.com/zoo.Place","lat":3},"nothing":{}}"#,
];

#[test]
fn messages_fit_their_type_at_every_split() {
    let shape = Shape::new(&kind("zoo.Animal"));
    for json in ANIMALS {
        assert!(fits_however_cut(&shape, &animal(json)), "{json}");
    }
    let good: [(&str, &[u8]); 8] = [
        ("a field that is not described", b"\xf8\x7f\x01\x0a\x01a"),
        ("a long one", b"\xfa\x7f\x02ab"),
        ("a group that is not described", b"\xfb\x7f\x08\x01\xfb\x01\x12\x00\xfc\x01\xfc\x7f"),
        ("the same twice", b"\x0a\x01a\x0a\x01b"),
        ("numbers one by one", b"\x20\x01\x20\x02"),
        ("numbers in one length", b"\x22\x03\x01\x80\x01"),
        ("no numbers in a length", b"\x22\x00"),
        ("a length with zeros behind it", b"\x0a\x81\x80\x00a"),
    ];
    for (name, bytes) in good {
        assert!(fits_however_cut(&shape, bytes), "{name}");
    }
}

#[test]
fn what_is_no_message_of_the_type_is_found() {
    let shape = Shape::new(&kind("zoo.Animal"));
    let deep = |depth: usize| {
        let mut bytes = Vec::new();
        for _ in 0..depth {
            let mut outer = vec![0x12];
            prost_reflect::prost::encoding::encode_varint(bytes.len() as u64, &mut outer);
            outer.extend_from_slice(&bytes);
            bytes = outer;
        }
        let mut outer = vec![0xc2, 1];
        prost_reflect::prost::encoding::encode_varint(bytes.len() as u64, &mut outer);
        outer.extend_from_slice(&bytes);
        outer
    };
    assert!(fits(&shape, &[&deep(99)]) && !fits(&shape, &[&deep(100)]), "as deep as may be, and no deeper");
    let bad: [(&str, &[u8]); 22] = [
        ("HTML", b"<html><body>hello</body></html>"),
        ("JSON", b"{\"name\": \"x\"}"),
        ("text", b"hello"),
        ("all bits", b"\xff\xff\xff\xff"),
        ("number 0", b"\x02\x00"),
        ("a tag beyond 32 bits", b"\xf8\xff\xff\xff\x7f\x01"),
        ("a tag that does not end", b"\x80"),
        ("a string that is a number", b"\x08\x01"),
        ("a number that is a string", b"\x1a\x01a"),
        ("64 bits that are 32", b"\xd5\x01\0\0\0\0"),
        ("wire type 6", b"\x0e"),
        ("a length beyond the end", b"\x0a\x05a"),
        ("a length of 2 GiB", b"\x0a\x80\x80\x80\x80\x08"),
        ("no UTF-8", b"\x0a\x02\xc3\x28"),
        ("a character cut off", b"\x0a\x01\xe4\x12\x01\xb8"),
        ("a message that ends within a field", b"\xc2\x01\x02\x0a\x01a"),
        ("a message that ends within a number", b"\x2a\x02\x10\x80\x01"),
        ("packed numbers that end within one", b"\x22\x02\x01\x80"),
        ("packed doubles of 9 bytes", b"\xba\x02\x09123456789"),
        ("an end of no group", b"\x0c"),
        ("a group that does not end", b"\xfb\x7f\x08\x01"),
        ("the end of another group", b"\xfb\x7f\x08\x01\xf4\x7f"),
    ];
    for (name, bytes) in bad {
        assert!(!fits_however_cut(&shape, bytes), "{name}");
    }
    // A number of more than ten bytes.
    assert!(!fits_however_cut(&shape, &[&[0x18][..], &[0xff; 10], &[1]].concat()));
}

proptest! {
    /// The result equals that of a parser that builds the message.
    #[test]
    fn bytes_fit_when_they_can_be_decoded(which in 0..ANIMALS.len(), changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..4), cut in any::<usize>()) {
        let kind = kind("zoo.Animal");
        let mut bytes = animal(ANIMALS[which]);
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
        }
        bytes.truncate(bytes.len() - cut % 3 % (bytes.len() + 1));
        let decoded = DynamicMessage::decode(kind.clone(), &*bytes);
        prop_assert_eq!(fits(&Shape::new(&kind), &[&bytes]), decoded.is_ok(), "{:02x?}: {:?}", bytes, decoded.err());
    }
}
