//! Servers that connect and then stay silent: the stage without a response is named, not the accept queue.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::binary::{onrush, output, text};
use crate::openssl::Folder;
use crate::{ChildGuard, closed_port, listens, side_by_side};

/// Accepts, sends the same to every client, and falls silent; connections stay until the other side ends them.
fn silent_after(words: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                let _ = stream.read(&mut bytes).and_then(|_| stream.write_all(words));
                while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
            });
        }
    });
    port
}

const TLS: [&str; 3] =
    ["tls (no-response)", "the TLS handshake had no answer within 300ms", "TLS 握手在 300ms 内没有收到响应"];
const WEBSOCKET: [&str; 3] =
    ["no-first-answer", "the WebSocket handshake had no answer within 300ms", "WebSocket 握手在 300ms 内没有收到响应"];
const REQUEST: [&str; 3] =
    ["no-first-answer", "the first request on it had no answer within 300ms", "首个请求在 300ms 内没有收到响应"];

/// Half a head of a record, and half of a handshake message after it.
const HALF_RECORD: &[u8] = b"\x16\x03\x03";
const HALF_HELLO: &[u8] = b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03";

#[test]
fn the_stage_that_has_no_response_is_named() {
    let cases: [(&str, &str, &[u8], [&str; 3]); 12] = [
        ("https", "", b"", TLS),
        ("https", "--http2", b"", TLS),
        ("https", "--no-keepalive", b"", TLS),
        ("https", "", HALF_RECORD, TLS),
        ("https", "-q 20/s", HALF_HELLO, TLS),
        ("wss", "", b"", TLS),
        ("wss", "--ws-deflate", HALF_HELLO, TLS),
        ("ws", "", b"", WEBSOCKET),
        ("ws", "-q 20/s", b"HTTP/1.1 101 Switching", WEBSOCKET),
        ("ws", "--ws-deflate", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n", WEBSOCKET),
        ("ws", "--no-keepalive", b"H", WEBSOCKET),
        ("ws", "--rendezvous", b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n", WEBSOCKET),
    ];
    let cases = cases.map(|case| ["uring", "poll"].map(|driver| (case, driver)));
    side_by_side(cases.as_flattened(), |&((scheme, flags, words, expected), driver)| {
        let url = format!("{scheme}://127.0.0.1:{}/", silent_after(words));
        let mut args = vec!["-n", "2", "-c", "2", "--connect-timeout", "300ms"];
        args.extend((scheme != "ws").then_some("-k"));
        args.extend(flags.split_whitespace());
        args.extend(["--driver", driver, &url]);
        for (language, says) in [("en_US.UTF-8", expected[1]), ("zh_CN.UTF-8", expected[2])] {
            let done = onrush(&args).env("LANG", language).output().expect("the binary starts");
            let complaint = text(&done.stderr);
            assert_eq!(done.status.code(), Some(3), "{url} {flags} {driver}: {complaint}");
            assert!(complaint.contains(expected[0]) && complaint.contains(says), "{url} {flags}: {complaint}");
            assert!(!complaint.contains("firewall") && !complaint.contains("防火墙"), "{complaint}");
        }
    });
}

#[test]
fn held_connections_name_it_too() {
    let cases = [
        ("https", &b""[..], TLS),
        ("wss", HALF_HELLO, TLS),
        ("ws", b"HTTP/1.1 101 ", WEBSOCKET),
        ("http", b"HTTP/1.1 200 OK\r\n", REQUEST),
    ];
    let cases = cases.map(|case| ["uring", "poll"].map(|driver| (case, driver)));
    side_by_side(cases.as_flattened(), |&((scheme, words, expected), driver)| {
        let url = format!("{scheme}://127.0.0.1:{}/", silent_after(words));
        let args = ["hold", "-c", "3", "--hold", "600ms", "--connect-timeout", "300ms", "--driver", driver];
        let more: &[&str] = if expected == TLS { &["-k"] } else { &[] };
        for (language, says) in [("en_US.UTF-8", expected[1]), ("zh_CN.UTF-8", expected[2])] {
            let args = [&args[..], more, &[&url]].concat();
            let done = onrush(&args).env("LANG", language).output().expect("the binary starts");
            let page = text(&done.stdout) + &text(&done.stderr);
            assert!(page.contains(expected[0]) && page.contains(says), "{url}: {page}");
        }
    });
}

/// TLS is established, and the WebSocket handshake within it has no response.
#[test]
fn silence_within_tls_is_of_what_is_spoken_there() {
    let folder = Folder::new("silent");
    folder.make("req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=localhost");
    let port = closed_port();
    let server = Command::new("openssl")
        .args(["s_server", "-quiet", "-accept", &format!("127.0.0.1:{port}"), "-key", "key.pem", "-cert", "cert.pem"])
        .current_dir(&folder.0)
        // It forwards its stdin, which is empty, as long as the pipe is open.
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let server = server.expect("openssl is installed: `cargo xtask test` installs it, or: apt-get install openssl");
    let mut server = ChildGuard(server);
    listens(&mut server.0, port);
    let url = format!("wss://127.0.0.1:{port}/");
    // It serves one after the other: the second driver would wait for the end of the first.
    for driver in ["uring", "poll"] {
        let args = ["-k", "-n", "1", "-c", "1", "--connect-timeout", "2s", "--driver", driver, &url];
        let complaint = text(&output(&args).stderr);
        assert!(complaint.contains("no-first-answer"), "{complaint}");
        assert!(complaint.contains("the WebSocket handshake had no answer within 2s"), "{complaint}");
    }
}
