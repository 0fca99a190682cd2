//! A redis-server on a free port, which ends with the value.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{ChildGuard, Folder, closed_port, listens};

/// The server.
pub(super) struct Redis {
    child: ChildGuard,
    folder: Folder,
    flags: Vec<String>,
    pub(super) port: u16,
    pub(super) url: String,
    /// Words of redis-cli before the command, as a login.
    pub(super) login: Vec<String>,
}

impl Redis {
    pub(super) fn start() -> Self {
        Self::with(&[], |_| {})
    }

    /// `flags`: more of them, with `DIR` for its folder; `prepare` fills that.
    pub(super) fn with(flags: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let folder = Folder::new(&format!("redis-server-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        prepare(&folder.0);
        let dir = folder.0.display().to_string();
        let flags: Vec<String> = flags.iter().map(|flag| flag.replace("DIR", &dir)).collect();
        let port = closed_port();
        let child = started(port, &dir, &flags);
        Self { child, folder, flags, port, url: format!("redis://127.0.0.1:{port}"), login: Vec::new() }
    }

    pub(super) fn file(&self, name: &str) -> String {
        self.folder.path(name)
    }

    /// Its output of redis-cli for a command, without the line end.
    #[track_caller]
    pub(super) fn cli(&self, words: &[&str]) -> String {
        let port = self.port.to_string();
        let words = [&["-h", "127.0.0.1", "-p", &port, "--raw"], words].concat();
        let done = Command::new("redis-cli").args(&self.login).args(&words).output().expect("redis-cli starts");
        assert!(done.status.success(), "{words:?}: {done:?}");
        String::from_utf8(done.stdout).expect("UTF-8").trim_end().to_owned()
    }

    /// How often it executed a command, in lower case.
    #[track_caller]
    pub(super) fn calls(&self, name: &str) -> u64 {
        self.stats(&format!("cmdstat_{name}:"), "calls=")
    }

    /// A number of `INFO commandstats`; 0 without its line.
    #[track_caller]
    fn stats(&self, line: &str, field: &str) -> u64 {
        let stats = self.cli(&["INFO", "commandstats"]);
        let fields = stats.lines().find_map(|one| one.strip_prefix(line));
        let value = fields.and_then(|fields| fields.split(',').find_map(|one| one.strip_prefix(field)));
        value.map_or(0, |value| value.trim().parse().expect("a number"))
    }

    /// Ends it at once, as when its machine fails.
    pub(super) fn kill(&mut self) {
        self.child.0.kill().expect("it is there");
        self.child.0.wait().expect("it ends");
    }

    /// Starts it again, at the same port.
    pub(super) fn restart(&mut self) {
        self.child = started(self.port, &self.folder.0.display().to_string(), &self.flags);
    }
}

fn started(port: u16, dir: &str, flags: &[String]) -> ChildGuard {
    let port_text = port.to_string();
    // The same program, which goes by its name. Its own package has a service, so another one is installed.
    let mut command = Command::new("redis-check-rdb");
    command.arg0("redis-server");
    command.args(["--port", &port_text, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    command.args(["--daemonize", "no", "--dir", dir]).args(flags);
    // Its log is in its folder, and not between the lines of a test.
    let mut child = ChildGuard::start(command.args(["--logfile", &format!("{dir}/log")]).stdout(Stdio::null()));
    listens(&mut child.0, port);
    child
}
