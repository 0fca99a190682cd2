//! A NATS server for tests, and a leader of workers on it.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use claims::wait_for;
use cluster::coordinator::Workers;
use cluster::{LeaderSettings, OnLoss};
use driver::Choice;
use engine::{DataSources, RequestLogConfig, RunOptions};
use pacing::Nanos;

/// A leader for this number of workers, with this patience.
pub(crate) fn leader_settings(who: u64, version: &str, workers: usize, patience: Duration) -> LeaderSettings {
    LeaderSettings {
        who,
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

/// The options of a load that is carried out by these workers.
pub(crate) fn options(workers: Workers) -> RunOptions {
    RunOptions {
        address: "127.0.0.1:9".parse().expect("an address"),
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads: 1,
        pins_threads: false,
        driver: driver::choose(Choice::Poll).expect("a driver"),
        log_config: RequestLogConfig { slowest: 0, log: None },
        data_sources: DataSources::default(),
        backend: Some(Arc::new(workers)),
    }
}

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
