//! The browser driver: `pages.mjs`, which starts the browser once and tests one page after the other.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Node with its browser; both end with the value.
pub(crate) struct Driven {
    child: Child,
    /// Pages to test. When it is closed the program ends.
    asks: Option<ChildStdin>,
    responses: BufReader<ChildStdout>,
}

/// A page, and its test.
pub(crate) struct Page<'a> {
    pub(crate) name: &'a str,
    /// A name in `pages.mjs`.
    pub(crate) script: &'a str,
    /// A folder for the files of the script.
    pub(crate) out: String,
    /// The input of the script.
    pub(crate) given: Value,
}

pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser")
}

impl Driven {
    pub(crate) fn start() -> Self {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/browser");
        let is_there = tools.join("node_modules/axe-core").exists();
        assert!(is_there, "`cargo xtask test` installs the browser and what drives it");
        let mut command = Command::new("node");
        // The browser keeps a file beside its settings, whatever its profile is.
        command.env("XDG_CONFIG_HOME", tools.join("config"));
        command.arg(scripts().join("pages.mjs")).arg(tools).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("node starts");
        let responses = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { asks: child.stdin.take(), child, responses }
    }

    /// Tests a page; returns why it failed. `wants` receives the requests of its script meanwhile.
    pub(crate) fn shows(&mut self, page: &Page<'_>, mut wants: impl FnMut(&str)) -> Result<(), String> {
        let Page { name, script, out, given } = page;
        let line = json!({"name": name, "script": script, "out": out, "given": given});
        let asks = self.asks.as_mut().expect("it is open until the end");
        writeln!(asks, "{line}").map_err(|error| format!("the program that drives the browser is gone: {error}"))?;
        loop {
            let mut line = String::new();
            let length = self.responses.read_line(&mut line).map_err(|error| error.to_string())?;
            if length == 0 {
                return Err("the program that drives the browser has ended; what it said is above".to_owned());
            }
            let line = line.trim_end();
            let after = |word: &str| line.strip_prefix(word)?.strip_prefix(*name);
            if after("ok ") == Some("") {
                return Ok(());
            }
            if let Some(why) = after("failed ").and_then(|rest| rest.strip_prefix(": ")) {
                return Err(serde_json::from_str(why).unwrap_or_else(|_| why.to_owned()));
            }
            match after("wants ").and_then(|rest| rest.strip_prefix(": ")) {
                Some(what) => wants(what),
                None => return Err(format!("the program that drives the browser says: {line}")),
            }
        }
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        // It closes the browser and ends.
        drop(self.asks.take());
        let _ = self.child.wait();
    }
}
