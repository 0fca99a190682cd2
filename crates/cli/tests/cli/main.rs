//! The binary as people use it: real servers, real pipes, real signals.

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
mod docs;
mod ended;
mod examples;
mod export;
mod far_meetings;
mod files;
mod folder;
mod given;
mod grpc;
mod hdr;
mod hidden;
mod hold;
mod hostile;
mod hostile_talks;
mod init;
mod iterations;
mod json;
mod kept;
mod mapping;
mod meant;
mod mistakes;
mod nginx;
mod openssl;
#[path = "../paged/mod.rs"]
mod paged;
mod raw;
mod real;
mod recorder;
mod relay;
mod safety;
mod search;
mod secure;
#[path = "../seen/mod.rs"]
mod seen;
mod shells;
mod shown;
mod silent;
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

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use binary::{Served, onrush, output, report, text};
use folder::Folder;

/// A port where nobody listens, and that nobody gets by chance: those of connections, and of listeners that take any, are higher.
fn closed_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id().wrapping_mul(61) + NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 10_000 + (number % 20_000) as u16;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn signal(child: &std::process::Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill starts");
    assert!(status.success(), "kill {name}");
}
