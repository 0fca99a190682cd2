//! A real nats-server on a free port, with a folder of its own.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// It ends with the value, and its folder goes.
pub(crate) struct NatsServer {
    child: Child,
    port: u16,
    folder: PathBuf,
    flags: Vec<String>,
}

impl NatsServer {
    pub(crate) fn start(flags: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let folder = std::env::temp_dir().join(format!("onrush-nats-{}-{port}", std::process::id()));
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let child = spawn(port, &folder, &flags);
        Self { child, port, folder, flags }
    }

    /// Where a cluster of this name is.
    pub(crate) fn site(&self, name: &str) -> String {
        format!("nats://127.0.0.1:{}/{name}", self.port)
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it is there");
        self.child.wait().expect("it ends");
    }

    /// It comes back, with what it had.
    pub(crate) fn begin(&mut self) {
        self.child = spawn(self.port, &self.folder, &self.flags);
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn spawn(port: u16, folder: &std::path::Path, flags: &[String]) -> Child {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/nats-server");
    let child = Command::new(program)
        .args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream", "--store_dir"])
        .arg(folder)
        .args(flags)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}; cargo xtask test --long installs it"));
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30), "nats-server does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}
