//! A process of ours that has a page.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};

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
        let (paged, lines) = Self::with_lines(command);
        // Later output must not block.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        paged
    }

    /// The same, with its later output, which the caller has to read.
    pub(crate) fn with_lines(command: &mut Command) -> (Self, Lines<BufReader<ChildStderr>>) {
        let command = command.args(["--web-listen", "127.0.0.1:0"]).env("ONRUSH_WEB_TOKEN", TOKEN);
        let child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary starts");
        // It ends with the value from here on.
        let mut paged = Self { child, host: String::new(), link: String::new() };
        let mut lines = BufReader::new(paged.child.stderr.take().expect("a pipe")).lines();
        let reported = lines.by_ref().map_while(Result::ok).find(|line| line.contains("#token="));
        let reported = reported.expect("the page is told");
        paged.link = reported.trim().rsplit(' ').next().expect("a link").to_owned();
        let host = paged.link.trim_start_matches("http://").split('/').next();
        paged.host = host.expect("a host").to_owned();
        (paged, lines)
    }
}

impl Drop for Paged {
    fn drop(&mut self) {
        // It may be over.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
