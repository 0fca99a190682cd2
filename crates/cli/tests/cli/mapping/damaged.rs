//! Messages of calls that are damaged, or compressed in a way that nobody wanted.

use super::{Case, GRPC, HTML, REPLY, case, only, whole};
use crate::raw::{DATA, END_STREAM, data, fields, frame, message};

/// A message in gzip, by its plain form.
pub(super) fn zipped(bytes: &[u8]) -> Vec<u8> {
    wire::grpc::gzip(bytes)
}

/// A response whose messages are encoded.
pub(super) fn with_encoding(stream: u32, name: &str, body: &[u8]) -> Vec<u8> {
    let head = fields(stream, 0, &[(":status", "200"), GRPC, ("grpc-encoding", name)]);
    [head, data(stream, 0, body), fields(stream, END_STREAM, &[("grpc-status", "0")])].concat()
}

/// Two messages in gzip, of which one byte is wrong, counted from the end.
pub(super) fn damaged(at_end: usize) -> Vec<u8> {
    let mut bytes = zipped(&[REPLY, REPLY].concat());
    let at = bytes.len() - at_end;
    bytes[at] ^= 0x55;
    bytes
}

/// The cause of a failure of the protocol.
fn protocol(detail: &'static str) -> Option<(&'static str, &'static str)> {
    Some(("protocol", detail))
}

/// Calls without a wanted encoding.
pub(super) fn plain_messages() -> Vec<Case> {
    let ok = [("grpc-status", "0")];
    let plain = |body: &'static [u8]| move |stream| whole(stream, "200", GRPC, body, &ok);
    vec![
        case("a good one", "OK", None, move |stream| whole(stream, "200", GRPC, &message(0, REPLY), &ok)),
        case("an empty one", "OK", None, plain(b"\0\0\0\0\0")),
        case("flag 2", "INTERNAL", protocol("message-flag"), plain(b"\x02\0\0\0\0")),
        case("flag 255", "INTERNAL", protocol("message-flag"), plain(b"\xff\0\0\0\0")),
        case("half a prefix", "INTERNAL", protocol("message-cut"), plain(b"\0\0\0")),
        case("a length beyond the end", "INTERNAL", protocol("message-cut"), plain(b"\0\0\0\0\x09\x0a")),
        case("4 GiB", "INTERNAL", protocol("message-cut"), plain(b"\0\xff\xff\xff\xff\x0a\x02hi")),
        case("no message", "UNIMPLEMENTED", protocol("message-count"), move |stream| only(stream, "200", GRPC, &ok)),
        case("two messages", "UNIMPLEMENTED", protocol("message-count"), move |stream| {
            whole(stream, "200", GRPC, &[message(0, REPLY), message(0, REPLY)].concat(), &ok)
        }),
        case("compressed, unannounced", "INTERNAL", protocol("message-encoding"), move |stream| {
            whole(stream, "200", GRPC, &message(1, &zipped(REPLY)), &ok)
        }),
        case("compressed as identity", "INTERNAL", protocol("message-encoding"), |stream| {
            with_encoding(stream, "identity", &message(1, &zipped(REPLY)))
        }),
        case("gzip that nobody wanted", "INTERNAL", protocol("encoding-not-offered"), |stream| {
            with_encoding(stream, "gzip", &message(1, &zipped(REPLY)))
        }),
        case("snappy", "INTERNAL", protocol("encoding-not-offered"), |stream| {
            with_encoding(stream, "snappy", &message(1, b"\x04\x0c\x0a\x02hi"))
        }),
        case("snappy that is not used", "OK", None, |stream| with_encoding(stream, "snappy", &message(0, REPLY))),
        case("HTML", "INTERNAL", protocol("message-type"), move |stream| {
            whole(stream, "200", GRPC, &message(0, b"<html></html>"), &ok)
        }),
        case("noise", "INTERNAL", protocol("message-type"), move |stream| {
            whole(stream, "200", GRPC, &message(0, &[0xff; 20]), &ok)
        }),
        case("a number for a string", "INTERNAL", protocol("message-type"), move |stream| {
            whole(stream, "200", GRPC, &message(0, b"\x08\x05"), &ok)
        }),
        case("no UTF-8", "INTERNAL", protocol("message-type"), move |stream| {
            whole(stream, "200", GRPC, &message(0, b"\x0a\x02\xff\xfe"), &ok)
        }),
        case("a field that ends early", "INTERNAL", protocol("message-type"), move |stream| {
            whole(stream, "200", GRPC, &message(0, b"\x0a\x05hi"), &ok)
        }),
        case("a field that nobody knows", "OK", None, move |stream| {
            whole(stream, "200", GRPC, &message(0, b"\x0a\x02hi\xf8\x7f\x01"), &ok)
        }),
        case("a bad message in many frames", "INTERNAL", protocol("message-type"), move |stream| {
            let body = message(0, &[b"\x0a\xc8\x01", &[b'x'; 199][..]].concat());
            let head = fields(stream, 0, &[(":status", "200"), GRPC]);
            let parts = body.chunks(3).flat_map(|part| frame(DATA, 0, stream, part));
            [head, parts.collect(), fields(stream, END_STREAM, &ok)].concat()
        }),
        case("HTML and no status", "UNKNOWN", protocol("content-type"), |stream| only(stream, "200", HTML, &[])),
    ]
}

/// Calls that offer gzip.
pub(super) fn zipped_messages() -> Vec<Case> {
    vec![
        case("gzip", "OK", None, |stream| with_encoding(stream, "gzip", &message(1, &zipped(REPLY)))),
        case("plain beside it", "OK", None, |stream| with_encoding(stream, "gzip", &message(0, REPLY))),
        case("no gzip", "INTERNAL", protocol("message-unzip"), |stream| {
            with_encoding(stream, "gzip", &message(1, b"no gzip"))
        }),
        case("nothing as gzip", "INTERNAL", protocol("message-unzip"), |stream| {
            with_encoding(stream, "gzip", &message(1, b""))
        }),
        case("damaged content", "INTERNAL", protocol("message-unzip"), |stream| {
            with_encoding(stream, "gzip", &message(1, &damaged(12)))
        }),
        case("a damaged checksum", "INTERNAL", protocol("message-unzip"), |stream| {
            with_encoding(stream, "gzip", &message(1, &damaged(8)))
        }),
        case("a damaged length", "INTERNAL", protocol("message-unzip"), |stream| {
            with_encoding(stream, "gzip", &message(1, &damaged(1)))
        }),
        case("cut", "INTERNAL", protocol("message-unzip"), |stream| {
            let bytes = zipped(REPLY);
            with_encoding(stream, "gzip", &message(1, &bytes[..bytes.len() - 9]))
        }),
        case("more behind it", "INTERNAL", protocol("message-unzip"), |stream| {
            with_encoding(stream, "gzip", &message(1, &[zipped(REPLY), b"more".to_vec()].concat()))
        }),
        case("HTML in gzip", "INTERNAL", protocol("message-type"), |stream| {
            with_encoding(stream, "gzip", &message(1, &zipped(b"<html></html>")))
        }),
        case("deflate", "INTERNAL", protocol("encoding-not-offered"), |stream| {
            with_encoding(stream, "deflate", &message(1, b"x"))
        }),
        case("a bomb", "RESOURCE_EXHAUSTED", protocol("unzipped-too-large"), |stream| {
            with_encoding(stream, "gzip", &message(1, &bomb()))
        }),
    ]
}

/// 80 MiB of one long string, in 80 KB.
fn bomb() -> Vec<u8> {
    let mut text = vec![0x0a, 0x80, 0x80, 0x80, 0x28];
    text.resize(text.len() + (80 << 20), b'x');
    zipped(&text)
}
