//! A server on grpc-go, and loads of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::binary::{output, report, text};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The path of an installed tool.
pub(super) fn tool(name: &str) -> PathBuf {
    let tool = root().join("target/tools").join(name);
    assert!(tool.exists(), "{name} is missing; `cargo xtask test` installs it with go");
    tool
}

/// A file of the peer, or of the target.
pub(super) fn proto(name: &str) -> String {
    root().join("crates").join(name).display().to_string()
}

/// The folders of all descriptions that the peer serves.
pub(super) fn peer_protos() -> String {
    format!("{}:{}", proto("cli/tests/peers/grpc/proto"), proto("target/proto"))
}

/// A new folder.
pub(super) fn folder() -> PathBuf {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("onrush-grpc-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A server on grpc-go.
pub(super) struct Peer {
    child: Child,
    pub(super) address: String,
    counter: String,
    pub(super) folder: PathBuf,
}

impl Peer {
    pub(super) fn start(flags: &[&str]) -> Self {
        Self::with(flags, folder())
    }

    pub(super) fn with(flags: &[&str], folder: PathBuf) -> Self {
        let log = folder.join("messages").display().to_string();
        let mut child = Command::new(tool("grpcpeer"))
            .args(["serve", "-proto", &peer_protos(), "-log", &log])
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let (address, counter) = line.trim().split_once(' ').expect("two addresses");
        Self { child, address: address.to_owned(), counter: counter.to_owned(), folder }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("grpc://{}{path}", self.address)
    }

    /// The number of calls that it has counted.
    pub(super) fn calls(&self) -> u64 {
        let mut stream = TcpStream::connect(&self.counter).expect("the peer listens");
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("it reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("it answers");
        response.lines().last().and_then(|line| line.parse().ok()).expect("a number")
    }

    /// The messages that it received: their bytes, and their JSON.
    pub(super) fn messages(&self) -> Vec<String> {
        self.calls();
        let log = std::fs::read_to_string(self.folder.join("messages")).expect("a log");
        log.lines().map(str::to_owned).collect()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The report of a load, which may have failed.
pub(super) fn run(args: &[&str]) -> serde_json::Value {
    let done = output(&[args, &["--output", "json"]].concat());
    assert!(done.status.code().is_some_and(|code| code <= 1), "{args:?}: {}", text(&done.stderr));
    report(&done)
}
