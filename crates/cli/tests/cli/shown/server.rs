//! A server that says what it is told to, and closes.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// The first byte of a connection of TLS.
const HANDSHAKE: u8 = 0x16;

pub(crate) struct Script {
    pub(crate) port: u16,
}

impl Script {
    /// Each connection carries one request of HTTP/1: its path is told, and what is to be said.
    pub(crate) fn start(say: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::of_bytes(move |stream| {
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

    /// Each connection is handled as it is told.
    pub(crate) fn of_bytes(say: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let say = Arc::new(say);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let say = say.clone();
                std::thread::spawn(move || {
                    // Whoever asks whether TLS is spoken here hears at once that it is not.
                    let mut first = [0];
                    if stream.peek(&mut first).is_ok_and(|count| count == 0 || first[0] == HANDSHAKE) {
                        return;
                    }
                    say(&mut stream);
                    // A close with bytes unread would be a reset: the peer closes first, or has nothing more to say.
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

/// Says it in pieces of this size.
pub(crate) fn pieces(stream: &mut TcpStream, bytes: &[u8], size: usize) {
    stream.set_nodelay(true).expect("a socket");
    for piece in bytes.chunks(size) {
        // Whoever has heard enough goes away.
        if stream.write_all(piece).is_err() {
            return;
        }
    }
}
