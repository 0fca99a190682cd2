use wire::proxy_header::{put_proxy_header, read_proxy_header};
use wire::tunnel::{
    Credentials, Destination, Refusal, Tunnel, TunnelFault, TunnelProgress, TunnelServer, TunnelServerEvent,
};

/// Any bytes from a proxy, from a client of one, or as a header of the PROXY protocol: no panic, and the same outcome
/// however they are cut.
pub fn tunnel(input: &[u8]) {
    let Some((&[cut, kind], bytes)) = input.split_first_chunk::<2>() else { return };
    let cut = usize::from(cut).min(bytes.len());
    let login = Credentials { user: "user".to_owned(), password: "secret".to_owned() };
    match kind % 6 {
        0 => same_at_cuts(bytes, cut, |pieces| opened(pieces, |to, out| Ok(Tunnel::http(to, None, out)))),
        1 => same_at_cuts(bytes, cut, |pieces| opened(pieces, |to, out| Tunnel::socks5(to, None, out))),
        2 => same_at_cuts(bytes, cut, |pieces| opened(pieces, |to, out| Tunnel::socks5(to, Some(&login), out))),
        3 => same_at_cuts(bytes, cut, |pieces| served(pieces, None)),
        4 => same_at_cuts(bytes, cut, |pieces| served(pieces, Some(login.clone()))),
        _ => header(bytes, cut),
    }
}

fn same_at_cuts<T: PartialEq + core::fmt::Debug>(bytes: &[u8], cut: usize, outcome: impl Fn(&[&[u8]]) -> T) {
    let whole = outcome(&[bytes]);
    let (front, back) = bytes.split_at(cut);
    assert_eq!(outcome(&[front, back]), whole);
    assert_eq!(outcome(&bytes.chunks(1).collect::<Vec<_>>()), whole);
}

/// What a client sends, and the number of bytes that it takes until its tunnel is open.
fn opened(
    pieces: &[&[u8]],
    start: impl Fn(&Destination<'_>, &mut Vec<u8>) -> Result<Tunnel, TunnelFault>,
) -> (Vec<u8>, Result<Option<usize>, TunnelFault>) {
    let mut out = Vec::new();
    let mut tunnel = start(&Destination::Name("shop.example", 443), &mut out).expect("a name and a login");
    let mut before = 0;
    for piece in pieces {
        match tunnel.read(piece, &mut out) {
            Ok(TunnelProgress::NeedMore) => before += piece.len(),
            Ok(TunnelProgress::Established { taken }) => {
                assert!(taken <= piece.len() && before + taken > 0);
                return (out, Ok(Some(before + taken)));
            }
            Err(fault) => return (out, Err(fault)),
        }
        // The greeting, the login and the request, each once.
        assert!(out.len() < 200);
    }
    (out, Ok(None))
}

/// What a server sends, and the request that it reads.
fn served(pieces: &[&[u8]], login: Option<Credentials>) -> (Vec<u8>, Result<TunnelServerEvent, TunnelFault>) {
    let (mut server, mut out, mut before) = (TunnelServer::new(login), Vec::new(), 0);
    for piece in pieces {
        match server.read(piece, &mut out) {
            Ok(TunnelServerEvent::NeedMore) => before += piece.len(),
            Ok(TunnelServerEvent::Requested { host, port, taken }) => {
                assert!(taken <= piece.len() && !host.is_empty());
                server.accept(&mut out);
                server.refuse(Refusal::Status(502), &mut out);
                return (out, Ok(TunnelServerEvent::Requested { host, port, taken: before + taken }));
            }
            other => return (out, other),
        }
    }
    (out, Ok(TunnelServerEvent::NeedMore))
}

/// A header is complete at one length, and is read again when it is written.
fn header(bytes: &[u8], cut: usize) {
    let (whole, front) = (read_proxy_header(bytes), read_proxy_header(&bytes[..cut]));
    match whole {
        Ok(Some((header, length))) => {
            assert!(length <= bytes.len());
            assert_eq!(front, if cut < length { Ok(None) } else { whole });
            let (from, to) = header.addresses.unzip();
            let mut again = Vec::new();
            put_proxy_header(header.version, from, to, &mut again);
            assert_eq!(read_proxy_header(&again), Ok(Some((header, again.len()))));
        }
        Ok(None) => assert_eq!(front, whole),
        Err(_) => assert!(front == Ok(None) || front == whole),
    }
}
