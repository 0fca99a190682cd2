//! Real programs that receive metrics, each on free ports with a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::seen::wait_for;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A program that runs until the value is dropped.
pub(super) struct Program {
    child: Child,
    folder: PathBuf,
    pub(super) port: u16,
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The output of curl.
pub(super) fn curl(words: &[&str]) -> String {
    let done = Command::new("curl").args(["--silent", "--show-error", "--max-time", "10"]).args(words).output();
    let done = done.expect("curl starts");
    assert!(done.status.success(), "{words:?}: {done:?}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

impl Program {
    fn start(name: &str, port: u16, ready: &str, command: impl FnOnce(&Path) -> Command) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("onrush-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let log = std::fs::File::create(folder.join("log")).expect("a file");
        let mut command = command(&folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).current_dir(&folder);
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("{name} does not start ({error}): `cargo xtask test` installs it, or: apt-get install {name}")
        });
        let mut program = Self { child, folder, port };
        let url = format!("http://127.0.0.1:{port}{ready}");
        wait_for("the program is ready", || {
            if program.child.try_wait().expect("a child").is_some() {
                panic!("{name} ended: {}", std::fs::read_to_string(program.folder.join("log")).unwrap_or_default());
            }
            Command::new("curl").args(["-sf", "-o", "/dev/null", &url]).status().expect("curl starts").success()
        });
        program
    }

    /// Prometheus, which scrapes the page at this port, if there is one, and accepts remote writes.
    pub(super) fn prometheus(page: Option<u16>, flags: &[&str]) -> Self {
        let port = crate::closed_port();
        let program = Self::start("prometheus", port, "/-/ready", |folder| {
            let jobs = page.map_or(String::new(), |page| {
                format!("scrape_configs:\n- job_name: onrush\n  static_configs: [{{targets: ['127.0.0.1:{page}']}}]\n")
            });
            let config = format!("global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n{jobs}");
            std::fs::write(folder.join("prometheus.yml"), config).expect("a file");
            let mut command = Command::new("prometheus");
            command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]).args(flags);
            command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
            command
        });
        // It discovers its targets some seconds after it is ready.
        let targets = format!("http://127.0.0.1:{port}/api/v1/targets");
        wait_for("Prometheus has a target", || {
            page.is_none() || curl(&[&targets]).contains("\"scrapePool\":\"onrush\"")
        });
        program
    }

    /// The one value of an expression at this time, with a lookback of a minute. `None` when there is none.
    pub(super) fn query(&self, expression: &str) -> Value {
        let url = format!("http://127.0.0.1:{}/api/v1/query", self.port);
        let response = curl(&["--get", &url, "--data-urlencode", &format!("query={expression}")]);
        serde_json::from_str::<Value>(&response).expect("JSON")["data"]["result"].clone()
    }

    /// The same as a number.
    pub(super) fn number(&self, expression: &str) -> f64 {
        let result = self.query(expression);
        let value = result[0]["value"][1].as_str().unwrap_or_else(|| panic!("{expression}: {result}"));
        assert_eq!(result.as_array().map(Vec::len), Some(1), "{expression}: {result}");
        value.parse().expect("a number")
    }

    /// InfluxDB 1, with a database `load` that only `me` with `hunter2` may use.
    pub(super) fn influx() -> Self {
        let (port, other) = (crate::closed_port(), crate::closed_port());
        let program = Self::start("influxdb", port, "/ping", |folder| {
            let dir = folder.display();
            let config = format!(
                "reporting-disabled = true\nbind-address = \"127.0.0.1:{other}\"\n[meta]\ndir = \"{dir}/meta\"\n\
                 [data]\ndir = \"{dir}/data\"\nwal-dir = \"{dir}/wal\"\n\
                 [http]\nbind-address = \"127.0.0.1:{port}\"\nauth-enabled = true\n"
            );
            std::fs::write(folder.join("influx.conf"), config).expect("a file");
            let mut command = Command::new("influxd");
            command.args(["-config", "influx.conf"]);
            command
        });
        let ask = |query: &str, user: &[&str]| {
            let url = format!("http://127.0.0.1:{port}/query");
            curl(&[&["-XPOST", &url, "--data-urlencode", query], user].concat())
        };
        ask("q=CREATE USER me WITH PASSWORD 'hunter2' WITH ALL PRIVILEGES", &[]);
        ask("q=CREATE DATABASE load", &["-u", "me:hunter2"]);
        program
    }

    /// The rows of an InfluxDB query, each with its columns and tags.
    pub(super) fn select(&self, query: &str) -> Value {
        let url = format!("http://127.0.0.1:{}/query", self.port);
        let query = format!("q={query}");
        let response =
            curl(&["-u", "me:hunter2", "--get", &url, "--data-urlencode", "db=load", "--data-urlencode", &query]);
        serde_json::from_str::<Value>(&response).expect("JSON")["results"][0]["series"].clone()
    }
}
