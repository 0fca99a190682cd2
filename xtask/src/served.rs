//! `onrush serve` for commands that need a server; it ends when the value is dropped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Failure;

pub(crate) struct Served {
    child: Child,
    /// Its URL, like `https://127.0.0.1:4711`.
    pub(crate) url: String,
}

impl Served {
    pub(crate) fn start(binary: &Path, flags: &[&str]) -> Result<Self, Failure> {
        Self::at(binary, "127.0.0.1:0", flags)
    }

    /// The same on an address that is passed to other programs.
    pub(crate) fn at(binary: &Path, address: &str, flags: &[&str]) -> Result<Self, Failure> {
        let child = Command::new(binary)
            .args(["serve", "--listen", address, "--lang", "en"])
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?;
        // From here on it ends with the value, whatever it prints.
        let mut served = Self { child, url: String::new() };
        let out = served.child.stdout.take().ok_or("no pipe")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).map_err(|error| error.to_string())?;
        let url =
            line.trim().strip_prefix("listening on ").ok_or_else(|| format!("the server does not listen: {line}"))?;
        served.url = url.trim_end_matches('/').to_owned();
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
