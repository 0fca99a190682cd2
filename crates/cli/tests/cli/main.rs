//! The binary as people use it: real servers, real pipes, real signals.

#[path = "../binary/mod.rs"]
mod binary;
mod grpc;
mod hdr;
mod json;
mod nginx;
mod real;
mod secure;
mod streams;
mod thresholds;
mod usage;
mod views;

use std::process::Command;

use binary::{Served, onrush, output, report, text};

/// A port where nobody listens.
fn closed_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn signal(child: &std::process::Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill starts");
    assert!(status.success(), "kill {name}");
}
