//! A NATS server of the tests' own, and who leads on it.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::team::Workers;
use cluster::{OnLoss, Setting};
use driver::Choice;
use engine::{Lookout, RunOptions, Supplies};
use pacing::Nanos;

/// A server with a folder of its own; both go with the value.
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
        let begun = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "nats-server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { child, folder, port }
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

/// Who leads so many workers, which have so long to come.
pub(crate) fn setting(version: &str, workers: usize, patience: Duration) -> Setting {
    Setting {
        who: 7,
        version: version.to_owned(),
        workers,
        patience: Nanos::from(patience),
        min_workers: 1,
        on_loss: OnLoss::Rebalance,
        ttl: Nanos::from_millis(3_000),
        lease: Nanos::from_millis(5_000),
        late_news: Nanos::from_millis(15_000),
        closed_is_gone: false,
        start_lead: Nanos::from_millis(2_000),
        is_standby: false,
        is_alone: false,
    }
}

/// How a load is carried out by workers that are led so.
pub(crate) fn options(team: Workers) -> RunOptions {
    RunOptions {
        address: "127.0.0.1:9".parse().expect("an address"),
        tls: None,
        others: Vec::new(),
        threads: 1,
        pins_threads: false,
        driver: driver::choose(Choice::Poll).expect("a driver"),
        lookout: Lookout { slowest: 0, log: None },
        supplies: Supplies::default(),
        team: Some(Arc::new(team)),
    }
}
