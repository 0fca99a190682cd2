//! Commands of curl as steps: a load sends what curl would send.

mod body;
mod command;
mod foreign;
mod form;
mod glob;
mod options;
mod proxy;
mod request;
mod resume;
mod shell;
mod usage;

pub(crate) use form::command_of_form;
pub use usage::{CurlAsk, CurlFlags, curl_ask, curl_flags};

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::curl_url::{CurlUrl, CurlUrlFault};
use crate::error::{CurlFault, at};
use crate::file::read_up_to;
use crate::{Follow, Form, PlanError, RouteOverrides, TargetPolicy, Tls, TlsVersion, Version};
use command::Command;
use options::Meaning;
use shell::Word;

/// The largest file with commands.
pub const CURL_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most commands of one load, each of which is a step.
pub const COMMANDS_MAX: usize = 1_000;

/// One request of a command, with its options.
pub(crate) struct Sending {
    pub(crate) line: usize,
    pub(crate) form: Form,
    pub(crate) follow: Option<RedirectOptions>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) way: Route,
}

impl Sending {
    /// Replaces its URL.
    pub(crate) fn lead(&mut self, text: &str) -> Result<(), PlanError> {
        self.form.url = CurlUrl::parse(text, None, false, true).map_err(|fault| match fault {
            CurlUrlFault::Glob => at(self.line, CurlFault::Glob { url: text.to_owned() }),
            CurlUrlFault::Plan(error) => error,
        })?;
        Ok(())
    }
}

/// The redirect options of a command.
#[derive(Clone, Debug)]
pub(crate) struct RedirectOptions {
    most: u32,
    trusts_others: bool,
    keeps_method: bool,
    keeps_post: u8,
    tells_referer: bool,
}

impl RedirectOptions {
    pub(crate) fn with(self, form: Arc<Form>, tls: Tls, route_overrides: RouteOverrides) -> Follow {
        let Self { most, trusts_others, keeps_method, keeps_post, tells_referer } = self;
        Follow {
            form,
            tls: Box::new(tls),
            route_overrides: Box::new(route_overrides),
            target_policy: TargetPolicy::Anywhere,
            most,
            trusts_others,
            keeps_method,
            keeps_post,
            tells_referer,
        }
    }
}

/// The route of a command to its target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Route {
    pub(crate) insecure: bool,
    pub(crate) cacert: Option<String>,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) least: Option<TlsVersion>,
    /// Whether TLS sessions are not resumed.
    pub(crate) no_resumption: bool,
    pub(crate) version: Option<Version>,
    /// The name server to ask.
    pub(crate) dns: Option<SocketAddr>,
    pub(crate) route_overrides: RouteOverrides,
}

/// A command in the words of a command line, after the name of the program.
pub(crate) fn from_words(words: &[Vec<u8>], user_agent: &str) -> Result<Vec<Sending>, PlanError> {
    let words: Vec<Word> = words.iter().map(|bytes| Word { bytes: bytes.clone(), line: 0 }).collect();
    from_command(&words, 0, user_agent)
}

/// The number of commands and of words in a text, split like a shell does.
///
/// # Errors
/// A quote does not end, or a running shell would be needed.
pub fn curl_words(text: &[u8]) -> Result<(usize, usize), PlanError> {
    let commands = shell::commands(text)?;
    Ok((commands.len(), commands.iter().map(Vec::len).sum()))
}

/// The words of one command, as a shell splits them; `None` where a shell sees none or several.
pub fn shell_words(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut commands = shell::commands(text).ok()?;
    let words = commands.pop().filter(|_| commands.is_empty())?;
    Some(words.into_iter().map(|word| word.bytes).collect())
}

/// The commands of a file.
pub(crate) fn from_file(flag: &'static str, path: &str, user_agent: &str) -> Result<Vec<Sending>, PlanError> {
    let text = read_up_to(flag, path, CURL_FILE_BYTES_MAX)?;
    from_text(&text, user_agent).map_err(|error| error.in_file(path))
}

fn from_text(text: &[u8], user_agent: &str) -> Result<Vec<Sending>, PlanError> {
    foreign::refuse(text)?;
    let mut all = Vec::new();
    for words in shell::commands(text)? {
        let Some((name, mut rest)) = words.split_first() else { continue };
        let mut name = name;
        // A prompt that was copied with the command.
        if name.bytes == b"$"
            && let Some((next, behind)) = rest.split_first()
        {
            (name, rest) = (next, behind);
        }
        let program = name.bytes.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default();
        if !program.eq_ignore_ascii_case(b"curl") && !program.eq_ignore_ascii_case(b"curl.exe") {
            let word = String::from_utf8_lossy(&name.bytes).chars().take(60).collect();
            return Err(at(name.line, CurlFault::NotCurl { word }));
        }
        all.extend(from_command(rest, name.line, user_agent)?);
        if all.len() > COMMANDS_MAX {
            return Err(at(name.line, CurlFault::TooMany { most: COMMANDS_MAX }));
        }
    }
    if all.is_empty() { Err(at(1, CurlFault::Empty)) } else { Ok(all) }
}

fn from_command(words: &[Word], line: usize, user_agent: &str) -> Result<Vec<Sending>, PlanError> {
    let given = options::read(words)?;
    let mut all = Vec::new();
    for part in given.split(|one| one.meaning == Meaning::Next) {
        all.extend(Command::from_flags(part, line)?.sendings(user_agent)?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
