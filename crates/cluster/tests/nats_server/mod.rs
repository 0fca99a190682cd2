//! A NATS server for tests.

use std::process::{Child, Command, Stdio};

use claims::wait_for;

/// A server with a folder of its own; both are removed with the value.
pub(crate) struct NatsServer {
    pub(crate) child: Child,
    folder: std::path::PathBuf,
    pub(crate) port: u16,
}

impl NatsServer {
    pub(crate) fn start() -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let folder = std::env::temp_dir().join(format!("onrush-nats-{}-{port}", std::process::id()));
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/nats-server");
        let child = Command::new(program)
            .args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--jetstream", "--store_dir"])
            .arg(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}; cargo xtask test --long installs it"));
        // From here on it ends with the value.
        let server = Self { child, folder, port };
        wait_for("nats-server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        server
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
