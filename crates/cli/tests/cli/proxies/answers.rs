//! Proxies of the test's own: answers in all forms, and none.

use std::io::{Read, Write};
use std::net::TcpListener;

use super::{DRIVERS, failing, failures, number};
use crate::{output, report};

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// The behavior of a proxy after the first bytes of a connection.
#[derive(Clone)]
enum Behavior {
    /// Sends these bytes, one by one, and closes the connection.
    Sends(Vec<u8>),
    /// Sends these bytes, one by one, and answers each request that follows by itself.
    Opens(Vec<u8>),
}

/// Starts a proxy; it ends with the process.
fn start(behavior: Behavior) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let behavior = behavior.clone();
            std::thread::spawn(move || {
                let (answer, is_open) = match behavior {
                    Behavior::Sends(answer) => (answer, false),
                    Behavior::Opens(answer) => (answer, true),
                };
                let mut buffer = [0; 4_096];
                // The client may be gone at any time.
                let _ = stream.set_nodelay(true);
                let _ = stream.read(&mut buffer);
                for byte in answer.chunks(1) {
                    let _ = stream.write_all(byte);
                }
                while is_open && matches!(stream.read(&mut buffer), Ok(1..)) {
                    let _ = stream.write_all(RESPONSE);
                }
            });
        }
    });
    port
}

/// A proxy that takes connections and never answers holds a request up no longer than the connect timeout.
#[test]
fn a_silent_proxy_is_given_up() {
    // The system takes them: nothing accepts.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    for scheme in ["http", "socks5", "socks5h"] {
        for driver in DRIVERS {
            let proxy = format!("{scheme}://127.0.0.1:{port}");
            let words = ["--driver", driver, "--connect-timeout", "200ms", "--proxy", &proxy, "--proxy-tunnel"];
            let seen = failing(&[&words[..], &["http://127.0.0.1:9/"]].concat());
            assert_eq!(failures(&seen), [("proxy-timeout", 6)], "{words:?}: {seen:#}");
        }
    }
}

/// What is no answer of a proxy, and where it ends too early.
#[test]
fn wrong_answers_are_named() {
    let long = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 1_000]].concat();
    for (scheme, answer, reason) in [
        ("http", b"nonsense\r\n\r\n".to_vec(), "proxy-answer"),
        ("http", b"HTTP/1.1 2000 OK\r\n\r\n".to_vec(), "proxy-answer"),
        ("http", b"\x05\x00\x05\x00\r\n\r\n".to_vec(), "proxy-answer"),
        ("http", Vec::new(), "proxy-closed"),
        ("http", b"HTTP/1.1 200 OK\r\nX: y\r\n".to_vec(), "proxy-closed"),
        ("http", long, "proxy-closed"),
        ("http", b"HTTP/1.1 407 Login\r\nContent-Length: 2\r\n\r\nno".to_vec(), "proxy-login"),
        ("http", b"HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:9/\r\n\r\n".to_vec(), "proxy-refused"),
        ("http", b"HTTP/1.0 502 Bad Gateway\r\n\r\n".to_vec(), "proxy-refused"),
        ("socks5", b"\x04\x5a\0\0\0\0\0\0".to_vec(), "proxy-answer"),
        ("socks5", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "proxy-answer"),
        ("socks5", Vec::new(), "proxy-closed"),
        ("socks5", b"\x05".to_vec(), "proxy-closed"),
        ("socks5", b"\x05\xff".to_vec(), "proxy-login"),
    ] {
        let proxy = format!("{scheme}://127.0.0.1:{}", start(Behavior::Sends(answer.clone())));
        for driver in DRIVERS {
            let words = ["--driver", driver, "--proxy", &proxy, "--proxy-tunnel", "http://127.0.0.1:9/"];
            let seen = failing(&words);
            assert_eq!(failures(&seen), [(reason, 6)], "{}: {seen:#}", String::from_utf8_lossy(&answer));
        }
    }
}

/// Unusual answers that open a tunnel, and come in single bytes.
#[test]
fn unusual_answers_open_tunnels() {
    let fields = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(3_000));
    for answer in [
        "HTTP/1.0 200 Connection established\r\nProxy-agent: x\r\n\r\n",
        "HTTP/1.1 200 \r\n\r\n",
        // What would be a body is none in such a response (RFC 9110, 9.3.6).
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        &fields,
    ] {
        let proxy = format!("http://127.0.0.1:{}", start(Behavior::Opens(answer.as_bytes().to_vec())));
        for driver in DRIVERS {
            let words = ["-c", "3", "--requests-each", "10", "--driver", driver, "--proxy", &proxy, "--proxy-tunnel"];
            let seen = report(&output(&[&words[..], &["-o", "json", "http://127.0.0.1:9/"]].concat()));
            assert_eq!(number(&seen, "/requests/succeeded"), 30, "{answer}: {seen:#}");
            assert_eq!(number(&seen, "/times/proxy_tunnel/count"), 3, "{answer}: {seen:#}");
        }
    }
}
