//! The binary, and its server, for the tests that run them.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

/// The binary, with a plain environment.
pub(crate) fn onrush(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onrush"));
    // Our variables are flags.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ONRUSH_")) {
        command.env_remove(name);
    }
    // Runs of scenario files are kept in the user's data folder: not those of tests.
    command.env_remove("HOME").env_remove("XDG_DATA_HOME");
    command.args(args).env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", "C.UTF-8").stdin(Stdio::null());
    command
}

pub(crate) fn output(args: &[&str]) -> Output {
    onrush(args).output().expect("the binary starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

pub(crate) fn report(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// `onrush serve` on a free port; it ends with the value.
pub(crate) struct Served {
    pub(crate) child: std::process::Child,
    pub(crate) url: String,
}

impl Served {
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(flags: &[&str]) -> Self {
        Self::at("127.0.0.1:0", flags)
    }

    pub(crate) fn at(address: &str, flags: &[&str]) -> Self {
        let mut child = onrush(&["serve", "--listen", address, "--threads", "1"])
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let out = child.stdout.as_mut().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").expect("the address").trim_end_matches('/').to_owned();
        Self { child, url }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
