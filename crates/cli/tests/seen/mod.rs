//! Helpers of tests from outside: the server's counts, and waiting for conditions.

use std::io::{Read, Write};
use std::net::TcpStream;

pub(crate) use claims::wait_for;
use serde_json::Value;

use super::binary::Served;

pub(crate) fn stats(served: &Served) -> Value {
    serde_json::from_str(&ask(served, "GET", "/stats")).expect("JSON")
}

/// The body of the response to one request.
pub(crate) fn ask(served: &Served, method: &str, path: &str) -> String {
    let address = served.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("a server");
    let head = format!("{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("a request");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("an answer");
    response.split_once("\r\n\r\n").expect("a body").1.to_owned()
}
