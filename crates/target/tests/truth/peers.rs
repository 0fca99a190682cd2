//! Misbehaving servers, on plain sockets. Their threads end with the test's process.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) fn serve(each: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let each = each.clone();
            std::thread::spawn(move || each(stream));
        }
    });
    address
}

/// Reads one request; false when there is none.
fn read_request(stream: &mut TcpStream) -> bool {
    let mut bytes = Vec::new();
    let mut piece = [0; 1_024];
    while !bytes.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&piece[..count]),
            _ => return false,
        }
    }
    true
}

/// Accepts, and reads only when `may_read` is set: to the end, counting the bytes. Never responds.
pub(crate) fn reads_late() -> (SocketAddr, Arc<OnceLock<()>>, Arc<AtomicU64>, Arc<AtomicU64>) {
    let (may_read, bytes, ended) = (Arc::default(), Arc::default(), Arc::default());
    let (requested, seen, over): (Arc<OnceLock<()>>, Arc<AtomicU64>, Arc<AtomicU64>) =
        (Arc::clone(&may_read), Arc::clone(&bytes), Arc::clone(&ended));
    let address = serve(move |mut stream| {
        requested.wait();
        let mut piece = vec![0; 1 << 16];
        while let Ok(count @ 1..) = stream.read(&mut piece) {
            seen.fetch_add(count as u64, Ordering::Relaxed);
        }
        over.fetch_add(1, Ordering::Relaxed);
    });
    (address, may_read, bytes, ended)
}

/// Accepts and never responds.
pub(crate) fn silent() -> SocketAddr {
    serve(|mut stream| while read_request(&mut stream) {})
}

/// Responds to `count` requests on a connection, reads one more, and closes silently.
pub(crate) fn closes_after(count: usize) -> SocketAddr {
    serve(move |mut stream| {
        for _ in 0..count {
            if !read_request(&mut stream)
                || stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err()
            {
                return;
            }
        }
        read_request(&mut stream);
    })
}

/// Responds to `count` requests on a connection and ends it in the same segment as the last response, so that the next
/// request comes too late. Also counts the requests that it read.
pub(crate) fn closes_behind(count: usize) -> (SocketAddr, Arc<AtomicU64>) {
    let read = Arc::new(AtomicU64::new(0));
    let seen = read.clone();
    let address = serve(move |mut stream| {
        for number in 1..=count {
            if !read_request(&mut stream) {
                return;
            }
            seen.fetch_add(1, Ordering::Relaxed);
            if number == count {
                // Corked bytes are sent with the end.
                rustix::net::sockopt::set_tcp_cork(&stream, true).expect("an option that Linux has");
            }
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    });
    (address, read)
}

/// Responds to each request with these bytes and closes.
pub(crate) fn responses_and_closes(response: &'static [u8]) -> SocketAddr {
    serve(move |mut stream| {
        if read_request(&mut stream) {
            // A peer that gave up on us needs no response.
            let _ = stream.write_all(response);
        }
    })
}

/// Responds to each request with these bytes and goes on.
pub(crate) fn responses(response: &'static [u8]) -> SocketAddr {
    serve(move |mut stream| {
        while read_request(&mut stream) {
            if stream.write_all(response).is_err() {
                return;
            }
        }
    })
}

/// Responds at the first bytes of a request, keeps the connection, and reads no more.
pub(crate) fn responses_early() -> SocketAddr {
    serve(|mut stream| {
        if stream.read(&mut [0; 100]).is_ok_and(|count| count > 0) {
            let _ = stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
            hold(&stream);
        }
    })
}

/// Accepts and reads nothing.
pub(crate) fn deaf() -> SocketAddr {
    serve(|stream| hold(&stream))
}

/// Holds a connection as long as the process lives, without reading it.
fn hold(_stream: &TcpStream) {
    loop {
        std::thread::park();
    }
}
