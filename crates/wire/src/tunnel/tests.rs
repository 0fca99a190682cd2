//! Bytes in, progress out: each case runs whole, at every split, and byte by byte.

use super::*;

const OPEN: &str = "HTTP/1.1 200 Connection established\r\n\r\n";
/// What the peer behind the proxy sends at once.
const PEER: &[u8] = b"\x16\x03\x01 hello";

/// The number of bytes that belonged to the proxy, or `None` when more are needed; and what was sent behind the first
/// message.
type Outcome = (Result<Option<usize>, TunnelFault>, Vec<u8>);

fn name() -> Destination<'static> {
    Destination::Name("shop.example", 443)
}

fn credentials() -> Credentials {
    Credentials { user: "Aladdin".to_owned(), password: "open sesame".to_owned() }
}

fn http() -> Tunnel {
    Tunnel::http(&name(), None, &mut Vec::new())
}

fn socks(credentials: Option<&Credentials>) -> Tunnel {
    Tunnel::socks5(&name(), credentials, &mut Vec::new()).expect("a name and a login that can be sent")
}

fn outcome(mut tunnel: Tunnel, pieces: &[&[u8]]) -> Outcome {
    let (mut before, mut out) = (0, Vec::new());
    for piece in pieces {
        match tunnel.read(piece, &mut out) {
            Err(fault) => return (Err(fault), out),
            Ok(TunnelProgress::NeedMore) => before += piece.len(),
            Ok(TunnelProgress::Established { taken }) => {
                assert!(taken <= piece.len(), "took more than was given");
                return (Ok(Some(before + taken)), out);
            }
        }
    }
    (Ok(None), out)
}

/// The outcome of `bytes`, which is the same however they are cut.
fn check(make: impl Fn() -> Tunnel, bytes: &[u8]) -> Outcome {
    let whole = outcome(make(), &[bytes]);
    // Long cases are cut at some hundred places.
    for at in (0..=bytes.len()).step_by((bytes.len() / 500).max(1)) {
        let (front, back) = bytes.split_at(at);
        assert_eq!(outcome(make(), &[front, back]), whole, "split at {at}");
    }
    if bytes.len() < 5_000 {
        let singles: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(outcome(make(), &singles), whole, "byte by byte");
    }
    whole
}

/// The first bytes of a proxy up to the first at which it is no longer only incomplete.
fn decided_after(make: impl Fn() -> Tunnel, bytes: &[u8]) -> usize {
    (0..=bytes.len()).find(|at| outcome(make(), &[&bytes[..*at]]).0 != Ok(None)).expect("a decision")
}

#[test]
fn requests_are_written_as_in_the_rfcs() {
    let mut out = Vec::new();
    Tunnel::http(&name(), None, &mut out);
    assert_eq!(out, b"CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example:443\r\n\r\n");
    out.clear();
    let v6 = Destination::Address("[2001:db8::1]:80".parse().expect("an address"));
    Tunnel::http(&v6, Some(&credentials()), &mut out);
    let login = "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";
    let expected = format!("CONNECT [2001:db8::1]:80 HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n{login}\r\n\r\n");
    assert_eq!(String::from_utf8_lossy(&out), expected);
    let v4 = Destination::Address("192.0.2.1:8080".parse().expect("an address"));
    let cases: [(Destination<'_>, &[u8]); 3] = [
        (name(), b"\x05\x01\x00\x03\x0cshop.example\x01\xbb"),
        (v4, b"\x05\x01\x00\x01\xc0\x00\x02\x01\x1f\x90"),
        (v6, b"\x05\x01\x00\x04\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x50"),
    ];
    for (to, request) in cases {
        let mut out = Vec::new();
        let tunnel = Tunnel::socks5(&to, None, &mut out).expect("an address");
        assert_eq!(out, b"\x05\x01\x00");
        assert_eq!(outcome(tunnel, &[b"\x05\x00"]), (Ok(None), request.to_vec()));
        out.clear();
        let tunnel = Tunnel::socks5(&to, Some(&credentials()), &mut out).expect("an address");
        assert_eq!(out, b"\x05\x02\x00\x02");
        let sent = [b"\x01\x07Aladdin\x0bopen sesame", request].concat();
        assert_eq!(outcome(tunnel, &[b"\x05\x02", b"\x01\x00"]), (Ok(None), sent));
    }
}

#[test]
fn an_open_tunnel_leaves_the_other_bytes_to_the_peer() {
    let heads = [
        OPEN.to_owned(),
        "HTTP/1.0 200 OK\r\n\r\n".to_owned(),
        "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
        format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nA: b\r\n\r\n{OPEN}"),
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned(),
    ];
    for head in heads {
        let expected = (Ok(Some(head.len())), Vec::new());
        assert_eq!(check(http, &[head.as_bytes(), PEER].concat()), expected, "{head}");
        assert_eq!(check(http, head.as_bytes()), expected, "{head}");
        assert_eq!(decided_after(http, head.as_bytes()), head.len());
    }
    let long = [&b"\x05\x00\x00\x03\xff"[..], &[7; 255 + 2]].concat();
    let replies: [&[u8]; 4] = [
        b"\x05\x00\x00\x01\xc0\x00\x02\x01\x1f\x90",
        b"\x05\x00\x00\x03\x00\x00\x00",
        b"\x05\x00\x00\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x00\x50",
        &long,
    ];
    let login = credentials();
    for reply in replies {
        for (credentials, begin, sent) in
            [(None, &b"\x05\x00"[..], 19), (Some(&login), b"\x05\x00", 19), (Some(&login), b"\x05\x02\x01\x00", 40)]
        {
            let bytes = [begin, reply].concat();
            let (result, out) = check(|| socks(credentials), &[&bytes, PEER].concat());
            assert_eq!((result, out.len()), (Ok(Some(bytes.len())), sent), "{reply:?}");
            assert_eq!(decided_after(|| socks(credentials), &bytes), bytes.len());
        }
    }
}

#[test]
fn http_proxies_that_refuse_are_reported() {
    let status = |status| TunnelFault::Refused(Refusal::Status(status));
    let endless = format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(70_000));
    let cases: [(&str, TunnelFault); 11] = [
        ("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n", TunnelFault::Login),
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nno way", status(403)),
        ("HTTP/1.1 502 Bad Gateway\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status(502)),
        ("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", status(302)),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", TunnelFault::Invalid),
        ("HTTP/1.1 200 OK\r\nno field\r\n\r\n", TunnelFault::Invalid),
        ("SSH-2.0-OpenSSH_9.6\r\n", TunnelFault::Invalid),
        ("\x05\x00", TunnelFault::Invalid),
        ("\x15\x03\x01\x00\x02\x02\x46", TunnelFault::Invalid),
        (&"HTTP/1.1 100 Continue\r\n\r\n".repeat(100), TunnelFault::Invalid),
        (&endless, TunnelFault::Invalid),
    ];
    for (answer, fault) in cases {
        assert_eq!(check(http, answer.as_bytes()), (Err(fault), Vec::new()), "{:.40}", answer);
    }
    // Half an answer is none: its end is for the caller to report.
    for at in 0..OPEN.len() {
        assert_eq!(outcome(http(), &[&OPEN.as_bytes()[..at]]).0, Ok(None));
    }
}

#[test]
fn socks_proxies_that_refuse_are_reported() {
    let login = credentials();
    let refused = |code| TunnelFault::Refused(Refusal::Socks(code));
    let mut cases: Vec<(bool, Vec<u8>, TunnelFault)> = vec![
        (false, b"\x05\xff".to_vec(), TunnelFault::Login),
        (true, b"\x05\xff".to_vec(), TunnelFault::Login),
        (true, b"\x05\x02\x01\x01".to_vec(), TunnelFault::Login),
        (false, b"\x05\x02".to_vec(), TunnelFault::Invalid),
        (true, b"\x05\x01".to_vec(), TunnelFault::Invalid),
        (false, b"\x04".to_vec(), TunnelFault::Invalid),
        (true, b"\x05\x02\x05".to_vec(), TunnelFault::Invalid),
        (false, b"\x05\x00\x04".to_vec(), TunnelFault::Invalid),
        (false, b"\x05\x00\x05\x00\x00\x02".to_vec(), TunnelFault::Invalid),
        (false, OPEN.as_bytes().to_vec(), TunnelFault::Invalid),
    ];
    cases.extend((1..=9).map(|code| (false, vec![5, 0, 5, code], refused(code))));
    for (logs_in, bytes, fault) in cases {
        let make = || socks(logs_in.then_some(&login));
        assert_eq!(check(make, &[&bytes, PEER].concat()).0, Err(fault), "{bytes:?}");
        let is_http = bytes.starts_with(b"H");
        assert_eq!(decided_after(make, &bytes), if is_http { 1 } else { bytes.len() }, "with its byte: {bytes:?}");
    }
    // After a decision nothing is read.
    let mut tunnel = socks(None);
    let mut out = Vec::new();
    for _ in 0..2 {
        assert!(tunnel.read(b"\x04", &mut out).is_err());
    }
    assert_eq!((tunnel.read(b"\x05", &mut out), out), (Err(TunnelFault::Invalid), Vec::new()));
}

#[test]
fn what_socks_cannot_send_is_refused() {
    let long = "x".repeat(256);
    let mut out = Vec::new();
    for wrong in ["", &*long] {
        let to = Destination::Name(wrong, 80);
        assert_eq!(Tunnel::socks5(&to, None, &mut out).err(), Some(TunnelFault::Name));
        let (user, password) = (wrong.to_owned(), "x".to_owned());
        let logins = [Credentials { user, password }, Credentials { user: "x".to_owned(), password: wrong.to_owned() }];
        for login in logins {
            assert_eq!(Tunnel::socks5(&name(), Some(&login), &mut out).err(), Some(TunnelFault::Credentials));
        }
    }
    assert!(out.is_empty(), "nothing is sent");
    let most = &long[1..];
    let login = Credentials { user: most.to_owned(), password: most.to_owned() };
    let tunnel = Tunnel::socks5(&Destination::Name(most, 80), Some(&login), &mut out).expect("the most");
    let (_, sent) = outcome(tunnel, &[b"\x05\x02\x01\x00"]);
    assert_eq!(sent.len(), (1 + 2 * 256) + (4 + 256 + 2));
}

#[test]
fn tunnels_are_small_and_hide_passwords() {
    assert!(size_of::<Tunnel>() <= 104, "{} bytes", size_of::<Tunnel>());
    let shown = format!("{:?} {:?}", credentials(), socks(Some(&credentials())));
    let bytes = format!("{:?}", credentials().password.as_bytes());
    assert!(shown.contains("Aladdin") && !shown.contains("sesame") && !shown.contains(&bytes[1..9]), "{shown}");
    let refused = TunnelFault::Refused(Refusal::Socks(5)).to_string();
    assert_eq!(refused, "the proxy refuses the connection: connection refused (code 5)");
    let refused = TunnelFault::Refused(Refusal::Status(502)).to_string();
    assert_eq!(refused, "the proxy refuses the connection: status 502");
}

/// A client and a server that exchange their bytes in pieces of some length, until one of them is done: what the
/// client ended with, and what the server was requested to reach.
fn exchange(
    start: impl Fn(&mut Vec<u8>) -> Tunnel,
    mut server: TunnelServer,
    refusal: Option<Refusal>,
    length: usize,
) -> (Result<TunnelProgress, TunnelFault>, Option<(String, u16)>) {
    let (mut up, mut down, mut reached) = (Vec::new(), Vec::new(), None);
    let mut client = start(&mut up);
    loop {
        assert!(!up.is_empty(), "both sides wait");
        for piece in std::mem::take(&mut up).chunks(length) {
            match server.read(piece, &mut down).expect("a request") {
                TunnelServerEvent::NeedMore => {}
                TunnelServerEvent::Refused => break,
                TunnelServerEvent::Requested { host, port, taken } => {
                    assert_eq!(taken, piece.len());
                    reached = Some((host, port));
                    match refusal {
                        None => server.accept(&mut down),
                        Some(refusal) => server.refuse(refusal, &mut down),
                    }
                }
            }
        }
        for piece in std::mem::take(&mut down).chunks(length) {
            let progress = client.read(piece, &mut up);
            if progress != Ok(TunnelProgress::NeedMore) {
                return (progress, reached);
            }
        }
    }
}

#[test]
fn both_sides_understand_each_other() {
    let v6 = Destination::Address("[2001:db8::1]:80".parse().expect("an address"));
    let v4 = Destination::Address("192.0.2.1:8080".parse().expect("an address"));
    let login = credentials();
    let other = Credentials { password: "sesame".to_owned(), ..credentials() };
    for (to, host, port) in [(name(), "shop.example", 443), (v6, "2001:db8::1", 80), (v4, "192.0.2.1", 8080)] {
        let http = |with| move |out: &mut Vec<u8>| Tunnel::http(&to, with, out);
        let socks = |with| move |out: &mut Vec<u8>| Tunnel::socks5(&to, with, out).expect("an address");
        let reached = Some((host.to_owned(), port));
        let (status, code) = (Refusal::Status(503), Refusal::Socks(4));
        for length in [1, 2, 3, 7, 1_000] {
            for (with, expected) in [(None, None), (Some(&login), None), (Some(&login), Some(&login))] {
                let server = || TunnelServer::new(expected.cloned());
                for one in [exchange(http(with), server(), None, length), exchange(socks(with), server(), None, length)]
                {
                    assert!(matches!(one.0, Ok(TunnelProgress::Established { .. })), "{one:?}");
                    assert_eq!(one.1, reached);
                }
                for (refusal, by_http, by_socks) in
                    [(status, status, Refusal::Socks(1)), (code, Refusal::Status(502), code)]
                {
                    let one = exchange(http(with), server(), Some(refusal), length);
                    assert_eq!(one, (Err(TunnelFault::Refused(by_http)), reached.clone()));
                    let one = exchange(socks(with), server(), Some(refusal), length);
                    assert_eq!(one, (Err(TunnelFault::Refused(by_socks)), reached.clone()));
                }
            }
            for with in [None, Some(&other)] {
                let server = || TunnelServer::new(Some(login.clone()));
                let denied = (Err(TunnelFault::Login), None);
                assert_eq!(exchange(http(with), server(), None, length), denied);
                assert_eq!(exchange(socks(with), server(), None, length), denied);
            }
        }
    }
}

/// The event of a server for `bytes`, with the number of all bytes that it took, and what it sent; the same at every
/// split.
fn served(bytes: &[u8]) -> (Result<TunnelServerEvent, TunnelFault>, Vec<u8>) {
    let read = |pieces: &[&[u8]]| {
        let (mut server, mut out, mut before) = (TunnelServer::new(None), Vec::new(), 0);
        for piece in pieces {
            match server.read(piece, &mut out) {
                Ok(TunnelServerEvent::NeedMore) => before += piece.len(),
                Ok(TunnelServerEvent::Requested { host, port, taken }) => {
                    return (Ok(TunnelServerEvent::Requested { host, port, taken: before + taken }), out);
                }
                other => return (other, out),
            }
        }
        (Ok(TunnelServerEvent::NeedMore), out)
    };
    let whole = read(&[bytes]);
    for at in 0..=bytes.len() {
        assert_eq!(read(&[&bytes[..at], &bytes[at..]]), whole, "split at {at}");
    }
    assert_eq!(read(&bytes.chunks(1).collect::<Vec<_>>()), whole, "byte by byte");
    whole
}

#[test]
fn a_server_refuses_what_is_no_request_for_a_tunnel() {
    let invalid: [&[u8]; 6] = [
        b"\x04\x01\x00\x50",
        b"GET\x00",
        b"CONNECT a:1 HTTP/1.1\r\n\r\n",
        b"\x05\x01\x00\x04",
        b"\x05\x01\x00\x05\x01\x00\x03\x00\x00\x50",
        b"\x05\x01\x00\x05\x01\x00\x03\x01\xff\x00\x50",
    ];
    for bytes in invalid {
        assert_eq!(served(bytes).0, Err(TunnelFault::Invalid), "{bytes:?}");
    }
    let refused: [(&[u8], &[u8]); 7] = [
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 405 "),
        (b"CONNECT shop.example HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 400 "),
        (b"CONNECT :443 HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 400 "),
        (b"CONNECT a:65536 HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 400 "),
        (b"\x05\x01\x02", b"\x05\xff"),
        (b"\x05\x01\x00\x05\x02\x00\x01\xc0\x00\x02\x01\x00\x50", b"\x05\x00\x05\x07"),
        (b"\x05\x01\x00\x05\x01\x00\x02\xc0\x00\x02\x01\x00\x50", b"\x05\x00\x05\x08"),
    ];
    for (bytes, answer) in refused {
        let (event, out) = served(bytes);
        assert_eq!(event, Ok(TunnelServerEvent::Refused), "{bytes:?}");
        assert!(out.starts_with(answer), "{out:?}");
    }
    let requests: [&[u8]; 2] =
        [b"CONNECT [::1]:80 HTTP/1.1\r\nHost: a\r\n\r\n", b"\x05\x02\x01\x00\x05\x01\x00\x03\x03::1\x00\x50"];
    for bytes in requests {
        let expected = TunnelServerEvent::Requested { host: "::1".to_owned(), port: 80, taken: bytes.len() };
        assert_eq!(served(&[bytes, PEER].concat()).0, Ok(expected));
    }
}
