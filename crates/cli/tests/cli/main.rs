//! The binary as users run it: real servers, real pipes, real signals.

#[macro_use]
extern crate claims;

#[path = "../authority/mod.rs"]
mod authority;
mod autobahn;
#[path = "../binary/mod.rs"]
mod binary;
mod borrowed;
mod budget;
mod call_checks;
mod causes;
mod certificates;
mod check;
mod come;
mod conversations;
mod crowds;
mod crypto;
mod curl;
mod datagrams;
mod deadlines;
mod dns;
mod docs;
mod drawn;
mod ended;
mod examples;
mod export;
mod files;
mod flows;
mod folder;
mod fronts;
mod frozen;
mod given;
mod growth;
mod grpc;
mod hdr;
mod hidden;
mod hold;
mod hostile;
mod hostile_messaging;
mod init;
mod iterations;
mod json;
mod kept;
mod large_bodies;
mod lifetimes;
mod loads;
mod mapping;
mod meant;
mod mistakes;
mod names;
mod nginx;
mod openssl;
#[path = "../paged/mod.rs"]
mod paged;
mod proxies;
mod radius;
mod raw;
mod real;
mod recorder;
mod redis;
mod relay;
mod remote_barriers;
mod safety;
mod search;
mod secure;
#[path = "../seen/mod.rs"]
mod seen;
mod shells;
mod shown;
mod silent;
mod state;
mod steered;
mod streams;
mod taken;
mod terminal;
mod thresholds;
mod tools;
mod traced;
mod urls;
mod usage;
mod views;
mod watched;
mod workers;

use std::io::Read;
use std::process::{Child, Command, Output};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;

use binary::{Served, onrush, output, report, text};
use folder::Folder;

/// A port without a listener that no process gets by chance: those of connections, and of listeners on any port, are
/// higher.
fn closed_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id().wrapping_mul(61) + NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + (number % 20_000) as u16;
        // Some tests take it at other addresses of this machine, or for datagrams.
        let any = ("0.0.0.0", port);
        if std::net::TcpListener::bind(any).is_ok() && std::net::UdpSocket::bind(any).is_ok() {
            return port;
        }
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill starts");
    assert!(status.success(), "kill {name}");
}

/// A program that ends with the value, at once, without leaving a process behind.
struct ChildGuard(Child);

impl ChildGuard {
    /// Starts it.
    #[track_caller]
    fn start(command: &mut Command) -> Self {
        let name = command.get_program().to_owned();
        Self(command.spawn().unwrap_or_else(|error| panic!("{} does not start: {error}", name.display())))
    }

    /// Its output after its end, except what was read before.
    fn output(mut self) -> Output {
        let (out, err) = (self.0.stdout.take(), self.0.stderr.take());
        let (stdout, stderr) = std::thread::scope(|scope| {
            let err = scope.spawn(|| all_of(err));
            (all_of(out), err.join().expect("it was read"))
        });
        Output { status: self.0.wait().expect("it ends"), stdout, stderr }
    }
}

fn all_of(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes).expect("what it says");
    }
    bytes
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a program listens on this port of 127.0.0.1. `child`: that program.
#[track_caller]
fn listens(child: &mut Child, port: u16) {
    seen::wait_for("somebody listens", || {
        // No assertion: the number of polls depends on the machine.
        if let Some(status) = child.try_wait().expect("a child") {
            panic!("it ended before it listened: {status}");
        }
        std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
}

/// The next item of a channel.
#[track_caller]
fn next_of<T>(receiver: &Receiver<T>, what: &str) -> T {
    let mut next = None;
    seen::wait_for(what, || {
        next = receiver.try_recv().ok();
        next.is_some()
    });
    next.expect("it was waited for")
}

/// Reads lines of a program until one has these words.
#[track_caller]
fn line_with(lines: &mut impl Iterator<Item = std::io::Result<String>>, words: &str) {
    let mut before = Vec::new();
    let found = lines.map_while(Result::ok).find(|line| {
        before.push(line.clone());
        line.contains(words)
    });
    assert!(found.is_some(), "no line has '{words}': {before:#?}");
}

/// Checks each case, many at a time: most of these programs wait for a time to pass.
fn side_by_side<T: Sync>(cases: &[T], check: impl Fn(&T) + Sync) {
    const AT_A_TIME: usize = 16;
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            check(case);
        }
    };
    // One that panics fails the test when the others are done.
    std::thread::scope(|scope| (0..AT_A_TIME.min(cases.len())).for_each(|_| drop(scope.spawn(work))));
}
