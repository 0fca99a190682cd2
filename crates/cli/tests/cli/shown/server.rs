//! A server that sends given data, and closes.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// The first byte of a TLS connection.
const HANDSHAKE: u8 = 0x16;

pub(crate) struct Script {
    pub(crate) port: u16,
}

impl Script {
    /// Each connection carries one HTTP/1 request: `say` gets its path, and sends the response.
    pub(crate) fn start(say: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::from_bytes(move |stream| {
            let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
            let (mut path, mut line) = (String::new(), String::new());
            while reader.read_line(&mut line).is_ok_and(|count| count > 0) && !line.trim().is_empty() {
                if path.is_empty() {
                    path = line.split(' ').nth(1).unwrap_or_default().to_owned();
                }
                line.clear();
            }
            say(&path, stream);
        })
    }

    /// Each connection is handled by `say`.
    pub(crate) fn from_bytes(say: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let say = Arc::new(say);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let say = say.clone();
                std::thread::spawn(move || {
                    // A TLS probe learns at once that there is no TLS.
                    let mut first = [0];
                    if stream.peek(&mut first).is_ok_and(|count| count == 0 || first[0] == HANDSHAKE) {
                        return;
                    }
                    say(&mut stream);
                    // A close with unread bytes would be a reset: the peer closes first, or sends nothing more.
                    let _ = stream.shutdown(std::net::Shutdown::Write);
                    let _ = std::io::copy(&mut stream, &mut std::io::sink());
                });
            }
        });
        Self { port }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

/// Sends it in pieces of this size.
pub(crate) fn pieces(stream: &mut TcpStream, bytes: &[u8], size: usize) {
    stream.set_nodelay(true).expect("a socket");
    for piece in bytes.chunks(size) {
        // The client may close before the end.
        if stream.write_all(piece).is_err() {
            return;
        }
    }
}
