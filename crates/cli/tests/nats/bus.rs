//! A real nats-server on a free port of this machine, or on one of a network, with a folder of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::net::Net;

/// The folder of the programs that tests install.
const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools");

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A PATH that finds a nats-server.
pub(crate) fn path_with_server() -> String {
    format!("{TOOLS}:/usr/bin:/bin")
}

/// A server that ends with the value; its folder is removed.
pub(crate) struct NatsServer {
    child: Child,
    address: String,
    port: u16,
    folder: PathBuf,
    flags: Vec<String>,
    /// Its machine in a network, if any.
    place: Option<(Arc<Net>, usize)>,
    /// The other servers of its cluster.
    others: Vec<Self>,
}

impl NatsServer {
    pub(crate) fn start(flags: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        Self::at("127.0.0.1".to_owned(), port, flags, None)
    }

    /// A server on a machine of a network, at the default port.
    pub(crate) fn on(net: &Arc<Net>, host: usize, flags: &[&str]) -> Self {
        Self::at(net.address(host), 4222, flags, Some((net.clone(), host)))
    }

    fn at(address: String, port: u16, flags: &[&str], place: Option<(Arc<Net>, usize)>) -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("onrush-nats-{}-{number}", std::process::id()));
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let child = spawn(&address, port, &folder, &flags, place.as_ref());
        Self { child, address, port, folder, flags, place, others: Vec::new() }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.address, self.port)
    }

    /// The URL of a cluster of this name.
    pub(crate) fn site(&self, name: &str) -> String {
        let all = std::iter::once(self).chain(&self.others);
        let all: Vec<String> = all.map(Self::address).collect();
        format!("nats://{}/{name}", all.join(","))
    }

    /// Three servers of one cluster, on this machine and the last two of the network.
    pub(crate) fn three(net: &Arc<Net>, host: usize) -> Self {
        let hosts = [host, net.hosts() - 1, net.hosts()];
        let routes: Vec<String> = hosts.iter().map(|host| format!("nats://{}:6222", net.address(*host))).collect();
        let routes = routes.join(",");
        let mut all: Vec<Self> = hosts
            .iter()
            .map(|host| {
                let (name, own) = (format!("server-{host}"), format!("nats://{}:6222", net.address(*host)));
                let flags = ["--cluster_name", "three", "--name", &name, "--cluster", &own, "--routes", &routes];
                Self::on(net, *host, &flags)
            })
            .collect();
        let mut first = all.remove(0);
        first.others = all;
        first
    }

    /// Of several servers, kills the leader of a stream.
    pub(crate) fn kill_leader_of(&mut self, stream: &str) {
        let response = self.ask(&format!("$JS.API.STREAM.INFO.{stream}"), "", "stream_info_response");
        let leads = |server: &&mut Self| {
            let name = server.flags.iter().skip_while(|flag| *flag != "--name").nth(1).cloned().unwrap_or_default();
            response.contains(&format!("\"leader\":\"{name}\""))
        };
        let (own, others) = (self.child.id(), &mut self.others);
        match others.iter_mut().find(leads) {
            Some(server) => server.kill(),
            None => self.kill(),
        }
        assert!(response.contains("server-") && own > 0, "{response}");
    }

    /// Creates the stream of a cluster with this size limit.
    pub(crate) fn makes_stream(&self, name: &str, bytes: u64) {
        let config = format!(
            r#"{{"name":"onrush_{name}_news","subjects":["onrush.{name}.news.*"],"retention":"limits","storage":"file",
            "discard":"new","max_bytes":{bytes},"num_replicas":1,"max_consumers":-1,"max_msgs":-1,"max_age":0}}"#
        );
        let response =
            self.ask(&format!("$JS.API.STREAM.CREATE.onrush_{name}_news"), &config, "stream_create_response");
        assert!(!response.contains("\"error\""), "{response}");
    }

    /// The position of the first worker report that a cluster keeps.
    pub(crate) fn first_kept(&self, name: &str) -> u64 {
        let response = self.ask(&format!("$JS.API.STREAM.INFO.onrush_{name}_news"), "", "stream_info_response");
        let rest = response.split("\"first_seq\":").nth(1).unwrap_or_default();
        rest.split(|sign: char| !sign.is_ascii_digit())
            .next()
            .and_then(|digits| digits.parse().ok())
            .unwrap_or_default()
    }

    /// The server's reply to a request.
    fn ask(&self, subject: &str, payload: &str, kind: &str) -> String {
        let ask = || {
            let mut stream = TcpStream::connect((self.address.as_str(), self.port)).expect("it listens");
            let question = format!(
                "CONNECT {{\"verbose\":false}}\r\nSUB _INBOX.asks 1\r\nPUB {subject} _INBOX.asks {}\r\n{payload}\r\n",
                payload.len()
            );
            stream.write_all(question.as_bytes()).expect("it takes it");
            let mut lines = BufReader::new(stream).lines();
            lines.find_map(|line| line.ok().filter(|line| line.contains(kind))).expect("an answer")
        };
        self.place.as_ref().map_or_else(ask, |(net, host)| net.inside(*host, ask))
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it is there");
        self.child.wait().expect("it ends");
    }

    /// Restarts it, with its data.
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
    let program = format!("{TOOLS}/nats-server");
    let mut command = Command::new(&program);
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
