//! A gRPC peer: each call has one message and the status 0.

use wire::grpc::push_message;
use wire::hpack::Indexing;

use super::streams::{Response, Streams};

/// `{"message": "Hello, world"}` as a Protobuf message: field 1, a text of 12 bytes.
const HELLO: &[u8] = b"\x0a\x0cHello, world";

/// The response of a grpc-go server; its fields are indexed from the second response on.
pub(crate) fn greeter() -> Streams {
    let mut body = Vec::new();
    push_message(HELLO, false, &mut body);
    let head = [(":status", "200"), ("content-type", "application/grpc")];
    let trailers = [("grpc-status", "0"), ("grpc-message", "")];
    Streams::new(|encoder| {
        let response = Response::default().headers(&head, Indexing::Kept, false, encoder).data(&body, false);
        response.headers(&trailers, Indexing::Kept, true, encoder)
    })
}
