//! A real nats-server on a free port of this machine, or on one of a network, with a folder of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::net::Net;

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// It ends with the value, and its folder goes.
pub(crate) struct NatsServer {
    child: Child,
    address: String,
    port: u16,
    folder: PathBuf,
    flags: Vec<String>,
    /// It is on this machine of a network.
    place: Option<(Arc<Net>, usize)>,
}

impl NatsServer {
    pub(crate) fn start(flags: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        Self::at("127.0.0.1".to_owned(), port, flags, None)
    }

    /// On a machine of a network, at the usual port.
    pub(crate) fn on(net: &Arc<Net>, host: usize, flags: &[&str]) -> Self {
        Self::at(net.address(host), 4222, flags, Some((net.clone(), host)))
    }

    fn at(address: String, port: u16, flags: &[&str], place: Option<(Arc<Net>, usize)>) -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("onrush-nats-{}-{number}", std::process::id()));
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let child = spawn(&address, port, &folder, &flags, place.as_ref());
        Self { child, address, port, folder, flags, place }
    }

    /// Where a cluster of this name is.
    pub(crate) fn site(&self, name: &str) -> String {
        format!("nats://{}:{}/{name}", self.address, self.port)
    }

    /// The stream of a cluster is there already, and takes so many bytes.
    pub(crate) fn makes_stream(&self, name: &str, bytes: u64) {
        let config = format!(
            r#"{{"name":"onrush_{name}_news","subjects":["onrush.{name}.news.*"],"retention":"limits","storage":"file",
            "discard":"new","max_bytes":{bytes},"num_replicas":1,"max_consumers":-1,"max_msgs":-1,"max_age":0}}"#
        );
        let ask = || {
            let mut stream = TcpStream::connect((self.address.as_str(), self.port)).expect("it listens");
            let publish = format!(
                "CONNECT {{\"verbose\":false}}\r\nSUB _INBOX.made 1\r\n\
                 PUB $JS.API.STREAM.CREATE.onrush_{name}_news _INBOX.made {}\r\n{config}\r\n",
                config.len()
            );
            stream.write_all(publish.as_bytes()).expect("it takes it");
            let mut lines = BufReader::new(stream).lines();
            lines.find_map(|line| line.ok().filter(|line| line.contains("stream_create_response"))).expect("an answer")
        };
        let answer = self.place.as_ref().map_or_else(ask, |(net, host)| net.inside(*host, ask));
        assert!(!answer.contains("\"error\""), "{answer}");
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it is there");
        self.child.wait().expect("it ends");
    }

    /// It comes back, with what it had.
    pub(crate) fn begin(&mut self) {
        self.child = spawn(&self.address, self.port, &self.folder, &self.flags, self.place.as_ref());
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

fn spawn(address: &str, port: u16, folder: &Path, flags: &[String], place: Option<&(Arc<Net>, usize)>) -> Child {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/nats-server");
    let mut command = Command::new(program);
    command
        .args(["--addr", address, "--port", &port.to_string(), "--jetstream", "--store_dir"])
        .arg(folder)
        .args(flags);
    if let Some((net, host)) = place {
        command = net.on(*host, &command);
    }
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let child = child.unwrap_or_else(|error| panic!("{program}: {error}; cargo xtask test --long installs it"));
    let begun = Instant::now();
    let listens = || TcpStream::connect((address, port)).is_ok();
    while !place.map_or_else(listens, |(net, host)| net.inside(*host, listens)) {
        assert!(begun.elapsed() < Duration::from_secs(30), "nats-server does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}
