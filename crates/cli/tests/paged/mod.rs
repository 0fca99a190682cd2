//! A process of ours that has a page.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::binary::onrush;

pub(crate) const TOKEN: &str = "a-token-of-the-tests";

/// A process with a page; it ends with the value.
pub(crate) struct Paged {
    pub(crate) child: Child,
    /// Host and port.
    pub(crate) host: String,
    pub(crate) link: String,
}

impl Paged {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::started(&mut onrush(args))
    }

    pub(crate) fn started(command: &mut Command) -> Self {
        let command = command.args(["--web-listen", "127.0.0.1:0"]).env("ONRUSH_WEB_TOKEN", TOKEN);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("#token=") {
            line.clear();
            assert!(lines.read_line(&mut line).expect("a line") > 0, "the page is told");
        }
        // What is said later must not block.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let link = line.trim().rsplit(' ').next().expect("a link").to_owned();
        let host = link.trim_start_matches("http://").split('/').next().expect("a host").to_owned();
        Self { child, host, link }
    }
}

impl Drop for Paged {
    fn drop(&mut self) {
        // It may be over.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
