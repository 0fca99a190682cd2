//! A relay to a server on which one connection has to wait: what begins when all are connected begins when the test
//! says so.

use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::spawn;

/// It forwards data as long as the test lasts.
pub(crate) struct Relay {
    /// Where it listens.
    pub(crate) address: String,
    release: Sender<()>,
}

impl Relay {
    /// The first `free` connections get through at once, and the next ones when [`Relay::release`] is called.
    pub(crate) fn start(server: &str, free: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let ((release, released), server) = (channel(), server.to_owned());
        spawn(move || pass_on(&listener, &server, free, &released));
        Self { address, release }
    }

    pub(crate) fn release(&self) {
        self.release.send(()).expect("somebody waits");
    }
}

fn pass_on(listener: &TcpListener, server: &str, free: usize, released: &Receiver<()>) {
    for (number, near) in listener.incoming().flatten().enumerate() {
        if number == free && released.recv().is_err() {
            // The test is over.
            return;
        }
        let far = TcpStream::connect(server).expect("a server");
        for stream in [&near, &far] {
            stream.set_nodelay(true).expect("a socket");
        }
        let again = |stream: &TcpStream| stream.try_clone().expect("a second handle");
        for (mut from, mut to) in [(again(&near), again(&far)), (far, near)] {
            spawn(move || {
                // A peer that closes in the middle ends the forwarding.
                let _ = copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    }
}
