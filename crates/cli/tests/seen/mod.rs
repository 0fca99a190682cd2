//! What tests that look from outside see: what the server has had, and when something comes to hold.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::binary::Served;

/// A guard of the harness, and no claim of a test: what is waited for comes, however busy the machine is.
const FAR: Duration = Duration::from_secs(120);
const LOOKS_EVERY: Duration = Duration::from_millis(5);

pub(crate) fn stats(served: &Served) -> Value {
    serde_json::from_str(&ask(served, "GET", "/stats")).expect("JSON")
}

/// The body of the answer to one request.
pub(crate) fn ask(served: &Served, method: &str, path: &str) -> String {
    let address = served.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("a server");
    let head = format!("{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.split_once("\r\n\r\n").expect("a body").1.to_owned()
}

/// Waits until something holds. This is the only place in which these tests look at a clock.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < FAR, "it never came: {what}");
        std::thread::sleep(LOOKS_EVERY);
    }
}
