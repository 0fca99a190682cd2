use std::io::{Read, Write};
use std::net::TcpStream;

use crate::samples::totals;
use crate::totals::Totals;

use super::*;

/// More than any test waits for: what ends before it does not wait for it.
const HOUR: Duration = Duration::from_secs(3_600);

fn reported(totals: Totals) -> Arc<Batch> {
    Arc::new(Batch { interval: None, held: None, totals, at_unix: Duration::ZERO })
}

fn ask(address: SocketAddr, text: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the page listens");
    stream.write_all(text.as_bytes()).expect("it is sent");
    let mut response = Vec::new();
    // A reset connection has delivered what it has delivered.
    let _ = stream.read_to_end(&mut response);
    String::from_utf8_lossy(&response).into_owned()
}

fn get(address: SocketAddr, path: &str) -> String {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
}

fn page() -> Scrape {
    Scrape::start("127.0.0.1:0".parse().expect("an address"), &reported(Totals::default())).expect("it listens")
}

#[test]
fn the_page_stays_until_the_end_was_read() {
    let page = page();
    let address = page.address();
    assert!(get(address, "/metrics").contains("onrush_users 0\n"));
    page.show(&reported(totals(&["one"], 5, 0)), true);
    let reader = std::thread::spawn(move || get(address, "/metrics"));
    let (reads, was_read) = page.finish(Deadline::after(HOUR), &|| false);
    let text = reader.join().expect("it reads");
    assert!(text.contains("outcome=\"succeeded\"} 5\n"), "{text}");
    assert!(was_read && reads == 2, "{reads}");
    assert!(TcpStream::connect(address).is_err(), "the page is gone");
}

#[test]
fn nobody_reads_the_end() {
    let page = page();
    page.show(&reported(Totals::default()), true);
    assert_eq!(page.finish(Deadline::after(Duration::from_millis(1)), &|| false), (0, false));
    let page = self::page();
    page.show(&reported(Totals::default()), true);
    assert_eq!(page.finish(Deadline::after(HOUR), &|| true), (0, false));
}

#[test]
fn whatever_else_is_requested_is_answered_or_refused() {
    let page = page();
    let address = page.address();
    assert!(get(address, "/").starts_with("HTTP/1.1 200 "));
    assert!(get(address, "/else").starts_with("HTTP/1.1 404 "));
    let post = ask(address, "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    assert!(post.starts_with("HTTP/1.1 405 "), "{post}");
    // A request that is too large is not read to its end.
    let large = format!("GET /metrics HTTP/1.1\r\nHost: x\r\nX: {}", "y".repeat(BOUNDS.request_bytes));
    assert!(!ask(address, &large).contains("200 OK"));
    // Other connections wait while all slots are in use, and are served when one is free.
    let mut taken: Vec<TcpStream> =
        (0..BOUNDS.connections).map(|_| TcpStream::connect(address).expect("it listens")).collect();
    let waiting = std::thread::spawn(move || get(address, "/metrics"));
    taken.clear();
    assert!(waiting.join().expect("it reads").contains("onrush_users"));
    page.finish(Deadline::after(HOUR), &|| true);
}

#[test]
fn the_wanted_format_is_chosen() {
    for (accept, expected) in [
        ("", Format::Plain),
        ("*/*", Format::Plain),
        ("text/html", Format::Plain),
        (
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            Format::OpenMetrics,
        ),
        (
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,*/*;q=0.1",
            Format::Protobuf,
        ),
        ("application/vnd.google.protobuf;proto=other;encoding=delimited,text/plain;q=0.1", Format::Plain),
        (
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; q=0.1, text/plain;q=NaN",
            Format::Plain,
        ),
    ] {
        assert_eq!(format_of(accept), expected, "{accept}");
    }
}
