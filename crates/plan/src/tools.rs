//! Command lines of other load generators: their flags and defaults, as a plan of ours.
//!
//! Each tool has a table of its flags. A flag without a counterpart here is refused by its name.

mod ab;
mod gostress;
mod hey;
mod oha;
mod options;
mod webbench;
mod wrk;

use std::time::Duration;

use crate::draft::{Body, Commands, Connection, Load, ProxyRequest, Request, ResponseChecks, Security};
use crate::{CaptureOptions, Draft, Header, Plan, PlanError, Proxy, ProxyOptions, StatusSet};
pub use ab::AbSettings;
pub use gostress::{GoStressSettings, Verify};
pub use hey::HeySettings;
pub use oha::{OhaFormat, OhaSettings};
use options::{GivenFlags, Opt, Style};
pub use webbench::WebbenchSettings;
pub use wrk::WrkSettings;

/// Longer than any run.
const NO_TIMEOUT: Duration = Duration::from_secs(3_650 * 24 * 3_600);
/// What stands behind the names of programs that are downloaded.
const PLATFORMS: [&str; 17] = [
    "linux", "mac", "macos", "darwin", "osx", "windows", "win", "amd64", "arm64", "aarch64", "x64", "x86", "64", "386",
    "arm", "musl", "gnu",
];
/// As often as a table of theirs may want a line.
const INTERVAL: Duration = Duration::from_millis(100);

/// A load generator whose command lines are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the tool of its name")]
pub enum Tool {
    Wrk,
    Wrk2,
    Ab,
    Hey,
    Oha,
    Webbench,
    GoStress,
}

impl Tool {
    /// All tools.
    pub const ALL: [Self; 7] = [Self::Wrk, Self::Wrk2, Self::Ab, Self::Hey, Self::Oha, Self::Webbench, Self::GoStress];

    /// The name of its program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::Wrk2 => "wrk2",
            Self::Ab => "ab",
            Self::Hey => "hey",
            Self::Oha => "oha",
            Self::Webbench => "webbench",
            Self::GoStress => "go-stress-testing",
        }
    }

    /// The tool of a program's name, with the names that it goes by where it is downloaded: `hey_linux_amd64`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.strip_suffix(".exe").unwrap_or(name).replace('_', "-");
        let mut name = name.as_str();
        loop {
            if let Some(known) = Self::ALL.into_iter().find(|tool| tool.name() == name) {
                return Some(known);
            }
            if name == "go-stress" {
                return Some(Self::GoStress);
            }
            name = name.rsplit_once('-').filter(|(_, last)| PLATFORMS.contains(last))?.0;
        }
    }

    /// The supported flags, as written.
    pub fn flags(self) -> Vec<&'static str> {
        let table = match self {
            Self::Wrk | Self::Wrk2 => &wrk::TABLE[..],
            Self::Ab => &ab::TABLE,
            Self::Hey => &hey::TABLE,
            Self::Oha => &oha::TABLE,
            Self::Webbench => &webbench::TABLE,
            Self::GoStress => &gostress::TABLE,
        };
        table.iter().map(|opt| opt.id).collect()
    }

    /// Its exit code when its flags are invalid.
    pub fn usage_exit(self, fault: &ToolFault) -> u8 {
        match self {
            Self::Hey if fault.is_of_file() => 2,
            Self::Hey if matches!(fault, ToolFault::Url | ToolFault::FewerRequests { .. } | ToolFault::Plan(_)) => 1,
            Self::Wrk | Self::Wrk2 => 1,
            Self::Ab => 22,
            Self::Hey | Self::Oha | Self::Webbench | Self::GoStress => 2,
        }
    }
}

/// An error in a command line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFault {
    /// A flag that the tool does not have.
    #[error("the flag {flag} is none of its flags; leave it out, or see docs/come-as-you-are.md")]
    Unknown {
        /// As written.
        flag: String,
    },
    /// A flag without its value.
    #[error("the flag {flag} wants a value behind it; add it")]
    NoValue {
        /// The flag.
        flag: String,
    },
    /// An invalid value.
    #[error("the flag {flag} wants {wanted}, not '{value}'")]
    Value {
        /// The flag.
        flag: &'static str,
        /// As given.
        value: String,
        /// The expected form.
        wanted: &'static str,
    },
    /// A flag without a counterpart here.
    #[error("{flag} has no counterpart here; leave it out, or see docs/come-as-you-are.md for what there is instead")]
    Unsupported {
        /// The flag.
        flag: &'static str,
    },
    /// There is no URL, or too many of them.
    #[error("it wants one URL, like http://127.0.0.1:8080/; its flags come as its own help has them")]
    Url,
    /// More users than requests.
    #[error("-n {requests} is fewer than -c {users}; raise one or lower the other")]
    FewerRequests {
        /// The number of requests.
        requests: u64,
        /// The number of users.
        users: u64,
    },
    /// A required flag is missing.
    #[error("the flag {flag} must be there; add it")]
    Missing {
        /// The flag.
        flag: &'static str,
    },
    /// Flags that contradict each other.
    #[error("{one} and {other} cannot both be there; leave one out")]
    Conflict {
        /// A flag.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// An error in the resulting plan.
    #[error("{0}")]
    Plan(Box<PlanError>),
}

impl ToolFault {
    /// Whether a file that a flag names is missing, or too large.
    fn is_of_file(&self) -> bool {
        let Self::Plan(error) = self else { return false };
        matches!(**error, PlanError::File { .. } | PlanError::FileTooLarge { .. })
    }
}

impl From<PlanError> for ToolFault {
    fn from(error: PlanError) -> Self {
        Self::Plan(Box::new(error))
    }
}

/// The options of a tool beside its load, which determine its output.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each is of the tool of its name")]
pub enum Settings {
    Wrk(WrkSettings),
    Ab(AbSettings),
    Hey(HeySettings),
    Oha(OhaSettings),
    Webbench(WebbenchSettings),
    GoStress(GoStressSettings),
}

/// A parsed command line.
#[derive(Clone, Debug)]
pub struct ToolRun {
    /// The tool.
    pub tool: Tool,
    /// The load.
    pub draft: Draft,
    /// The number of threads, where given.
    pub threads: Option<u64>,
    /// Whether our own output is requested.
    pub is_native: bool,
    /// Whether one exchange is shown, and no load follows.
    pub is_debug: bool,
    /// The options of the output.
    pub settings: Settings,
}

impl ToolRun {
    /// Parses the words after the name of a tool.
    ///
    /// # Errors
    /// The first error, with its remedy.
    pub fn parse(tool: Tool, words: &[String], user_agent: &str) -> Result<Self, ToolFault> {
        let is_native = words.iter().any(|word| word == "--native");
        let words: Vec<String> = words.iter().filter(|word| *word != "--native").cloned().collect();
        let (words, consents) = without_consents(words);
        let mut run = match tool {
            Tool::Wrk | Tool::Wrk2 => wrk::parse(tool, &words),
            Tool::Ab => ab::parse(&words),
            Tool::Hey => hey::parse(&words),
            Tool::Oha => oha::parse(&words),
            Tool::Webbench => webbench::parse(&words),
            Tool::GoStress => gostress::parse(&words),
        }?;
        run.is_native = is_native;
        run.draft.consents = consents;
        run.draft.request.user_agent = user_agent.to_owned();
        Ok(run)
    }

    /// Takes what the tool prints of a request in a file from the plan.
    pub fn fill(&mut self, plan: &Plan) {
        if let (Settings::GoStress(settings), Some(Commands::File { .. })) = (&mut self.settings, &self.draft.commands)
        {
            settings.fill(plan);
        }
    }
}

/// The words without our own `--allow-host HOST`, and the hosts.
fn without_consents(words: Vec<String>) -> (Vec<String>, Vec<String>) {
    let (mut rest, mut hosts) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--allow-host") {
            Some("") => hosts.extend(words.next()),
            Some(host) if host.starts_with('=') => hosts.push(host[1..].to_owned()),
            _ => rest.push(word),
        }
    }
    (rest, hosts)
}

/// A whole number of one flag.
fn whole(flag: &'static str, text: &str) -> Result<u64, ToolFault> {
    text.parse().map_err(|_| ToolFault::Value { flag, value: text.to_owned(), wanted: "a whole number" })
}

/// A positive decimal number of one flag.
fn decimal(flag: &'static str, text: &str) -> Result<f64, ToolFault> {
    let number: Option<f64> = text.parse().ok();
    number.filter(|number| number.is_finite() && *number >= 0.0).ok_or_else(|| ToolFault::Value {
        flag,
        value: text.to_owned(),
        wanted: "a number",
    })
}

/// A sum of numbers with their units, like `1m 30s`; zero needs none.
fn span_of(text: &str, units: &[(&str, f64)]) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let (mut rest, mut sum) = (text, 0.0);
    while !rest.is_empty() || text.is_empty() {
        let digits = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, behind) = rest.split_at(digits);
        let behind = behind.trim_start();
        let letters = behind.find(|each: char| !each.is_alphabetic()).unwrap_or(behind.len());
        let (unit, next) = behind.split_at(letters);
        sum += number.parse::<f64>().ok()? * units.iter().find(|(name, _)| *name == unit)?.1;
        rest = next.trim_start();
    }
    Duration::try_from_secs_f64(sum).ok()
}

/// A request with these headers, and an unchanged body.
fn request_of(method: &str, headers: Vec<Header>, body: Option<Vec<u8>>, timeout: Duration) -> Request {
    Request {
        method: Some(method.to_owned()),
        headers,
        body: body.map(|bytes| Body::Bytes(bytes.into())),
        timeout: Some(timeout),
        ..Request::default()
    }
}

/// Every status is a success.
fn any_response() -> ResponseChecks {
    ResponseChecks { status: Some(StatusSet::any()), ..ResponseChecks::default() }
}

/// Certificates are not verified, where `is_insecure`.
fn trusting(is_insecure: bool) -> Security {
    Security { insecure: is_insecure, ..Security::default() }
}

/// The proxy of a tool; `user`: its name and password, where they stand apart.
fn through(proxy: Option<&str>, user: Option<&str>) -> Result<ProxyRequest, PlanError> {
    let proxy = proxy.filter(|text| !text.is_empty()).map(Proxy::parse).transpose()?;
    let proxy = proxy.map(|proxy| proxy.or_credentials(user)).transpose()?;
    let proxies = proxy.map(|proxy| ProxyOptions::all(proxy, Vec::new()));
    Ok(ProxyRequest { proxies: proxies.unwrap_or_default(), ..ProxyRequest::default() })
}

/// Replaces a header of the same name.
fn set(headers: &mut Vec<Header>, header: Header) {
    headers.retain(|known| !known.is(&header.name));
    headers.push(header);
}

#[cfg(test)]
mod tests;
