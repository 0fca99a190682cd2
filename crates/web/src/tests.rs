use std::io::{Read, Write};
use std::net::TcpStream;

use super::*;

const TOKEN: &str = "a-token-of-the-tests";

/// A page begins in the language of the program.
#[test]
fn a_page_begins_in_the_language_of_the_program() {
    for (language, lang) in [(Language::En, "<html lang=\"en\">"), (Language::Zh, "<html lang=\"zh-CN\">")] {
        let offer = Offer { language, ..Offer::default() };
        let site = Site::start("127.0.0.1:0".parse().expect("an address"), TOKEN, offer).expect("a port");
        let mut stream = TcpStream::connect(site.address()).expect("it listens");
        let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", site.address());
        stream.write_all(head.as_bytes()).expect("it is taken");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("an answer");
        assert!(page.starts_with("HTTP/1.1 200") && page.contains(lang), "{page}");
    }
}

/// A run may take longer to begin than a request may take to arrive, and its client gets the response.
#[test]
fn a_run_may_take_its_time_to_begin() {
    let bounds = Bounds { request: Duration::from_secs(2), ..BOUNDS };
    let (sender, requests) = std::sync::mpsc::channel();
    let offer = Offer { requests: Some(sender), ..Offer::default() };
    let listen = "127.0.0.1:0".parse().expect("an address");
    let site = Site::within(listen, TOKEN, offer, bounds).expect("a port");
    let connect = || TcpStream::connect(site.address()).expect("it listens");
    let body = r#"{"words": ["-n", "1", "http://127.0.0.1:1/"]}"#;
    let head = format!(
        "POST /api/runs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        site.address(),
        body.len()
    );
    let mut whole = connect();
    whole.write_all(head.as_bytes()).expect("it is taken");
    let request = requests.recv().expect("an order");
    // A request that begins later, and never arrives completely, is cut off: so the time of the first one is over too.
    let mut half = connect();
    half.write_all(b"GET /api/run HTTP/1.1\r\n").expect("it is taken");
    let mut rest = Vec::new();
    // It may be reset.
    let _ = half.read_to_end(&mut rest);
    request.response.give(Ok(()));
    let mut response = String::new();
    whole.read_to_string(&mut response).expect("an answer");
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
}
