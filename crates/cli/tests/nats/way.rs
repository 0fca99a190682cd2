//! A slow link to the bus, for one machine: data from the bus is delayed.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::spawn;
use std::time::{Duration, Instant};

use super::net::Net;

/// A relay that serves until the process ends; its threads end with their connections.
pub(crate) struct Way {
    /// Where it listens, on its machine.
    pub(crate) address: String,
    delay: Arc<AtomicU64>,
}

impl Way {
    /// A link without delay.
    pub(crate) fn on(net: &Net, host: usize, to: String) -> Self {
        let delay = Arc::new(AtomicU64::new(0));
        let (far, known) = (to, delay.clone());
        let address = net.inside(host, || {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = listener.local_addr().expect("an address").to_string();
            // A thread is on the machine of the thread that creates it.
            spawn(move || {
                for near in listener.incoming().flatten() {
                    if let Ok(far) = TcpStream::connect(&far) {
                        carry(near, far, known.clone());
                    }
                }
            });
            address
        });
        Self { address, delay }
    }

    /// Sets the delay of data from now on.
    pub(crate) fn takes(&self, delay: Duration) {
        self.delay.store(delay.as_millis() as u64, Ordering::Relaxed);
    }
}

fn carry(near: TcpStream, far: TcpStream, delay: Arc<AtomicU64>) {
    let both = (near.try_clone().expect("a handle"), far.try_clone().expect("a handle"));
    let (mut out, mut far_out) = both;
    let (mut near, mut far) = (near, far);
    let (sender, late) = channel();
    spawn(move || {
        let _ = std::io::copy(&mut near, &mut far_out);
        let _ = far_out.shutdown(Shutdown::Both);
    });
    spawn(move || {
        let mut piece = vec![0; 64 << 10];
        while let Ok(count @ 1..) = far.read(&mut piece) {
            let at = Instant::now() + Duration::from_millis(delay.load(Ordering::Relaxed));
            if sender.send((at, piece[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    spawn(move || {
        deliver(&late, &mut out);
        let _ = out.shutdown(Shutdown::Both);
    });
}

fn deliver(late: &Receiver<(Instant, Vec<u8>)>, out: &mut TcpStream) {
    for (at, bytes) in late {
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        if out.write_all(&bytes).is_err() {
            return;
        }
    }
}
