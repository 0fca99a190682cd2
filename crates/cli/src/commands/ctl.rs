//! `onrush ctl`: watches and changes a run that has a page, from a shell or a script, by the same HTTP API as the page.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use report::Language;
use serde_json::{Value, json};
use ureq::Agent;
use url::Url;

use crate::exit::Exit;
use crate::options::args::CtlArgs;
use crate::options::usage;
use crate::output::{self, Wrote};
use crate::session::dashboards;

/// The default URL of a page.
const LINK: &str = "http://127.0.0.1:8089/";
/// The connect timeout.
const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// The commands, with their values in English and in Chinese.
const WORDS: [(&str, &str); 12] = [
    ("run", "run"),
    ("events", "events"),
    ("report", "report"),
    ("rate N/s", "rate N/s"),
    ("users N", "users N"),
    ("pause", "pause"),
    ("resume", "resume"),
    ("end", "end"),
    ("stop", "stop"),
    ("mark TEXT", "mark 文字"),
    ("start -- WORDS", "start -- 参数"),
    ("charts", "charts"),
];

/// Why a command failed.
enum CtlError {
    /// The command is invalid.
    Words(String),
    /// The page cannot be reached, or is not ours.
    Unreached(String),
    /// The run does not allow it.
    Refused(String),
    /// It was done, but the output could not be written.
    Untold,
}

/// Runs a command.
pub(crate) fn ctl(args: &CtlArgs) -> Exit {
    let language = usage::language();
    let done = RunPage::new(args, language).and_then(|page| page.carry_out(args));
    let (text, exit) = match done {
        Ok(()) => return Exit::Done,
        Err(CtlError::Words(text)) => (text, Exit::Usage),
        Err(CtlError::Unreached(text)) => (text, Exit::NothingMeasured),
        Err(CtlError::Refused(text)) => (text, Exit::Unmet),
        Err(CtlError::Untold) => return Exit::System,
    };
    output::complain(&text);
    exit
}

/// The page of a run.
struct RunPage {
    agent: Agent,
    base: Url,
    token: String,
    language: Language,
}

impl RunPage {
    fn new(args: &CtlArgs, language: Language) -> Result<Self, CtlError> {
        let text = args.page.as_deref().unwrap_or(LINK);
        let base = Url::parse(text).ok().filter(|url| url.scheme() == "http" && url.has_host());
        let Some(base) = base else {
            return Err(CtlError::Words(language.pick(
                format!("--page wants the link of a page, like {LINK}#token=TOKEN"),
                format!("--page 需要页面链接，如 {LINK}#token=令牌"),
            )));
        };
        let of_link = base.fragment().and_then(|rest| rest.strip_prefix("token=")).map(str::to_owned);
        let token = of_link.or_else(|| std::env::var(dashboards::TOKEN).ok()).unwrap_or_default();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_connect(Some(CONNECT_WAIT))
            .build();
        Ok(Self { agent: config.new_agent(), base, token, language })
    }

    fn carry_out(&self, args: &CtlArgs) -> Result<(), CtlError> {
        let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
        let is_change = matches!(words[..], ["rate" | "users", _]);
        if !is_change && args.over.is_some() || args.at_once && words != ["stop"] {
            return Err(CtlError::Words(self.language.pick(
                "--over is for rate and users, and --at-once for stop".to_owned(),
                "--over 用于 rate 和 users，--at-once 用于 stop".to_owned(),
            )));
        }
        let response = match words[..] {
            ["run"] => self.ask("/api/run", None)?,
            ["charts"] => self.ask("/api/run/charts", None)?,
            ["report"] => self.ask("/api/run/report.json", None)?,
            ["events"] => return self.events(),
            [kind @ ("rate" | "users"), to] => {
                self.change(args, &json!({"change": kind, "to": to, "over": args.over}))?
            }
            [plain @ ("pause" | "resume" | "end")] => self.change(args, &json!({"change": plain}))?,
            ["stop"] => self.ask("/api/run/stop", Some(&json!({"at_once": args.at_once})))?,
            ["mark", ref rest @ ..] if !rest.is_empty() => {
                self.ask("/api/run/marks", Some(&json!({"text": rest.join(" ")})))?
            }
            ["start", ref rest @ ..] if !rest.is_empty() => {
                let lang = self.language.pick("en", "zh");
                self.ask("/api/runs", Some(&json!({"words": rest, "lang": lang})))?
            }
            _ => {
                let known = WORDS.map(|(en, zh)| self.language.pick(en, zh)).join(self.language.pick(", ", "、"));
                return Err(CtlError::Words(self.language.pick(
                    format!("ctl '{}' means nothing; it knows: {known}", words.join(" ")),
                    format!("ctl 没有 '{}' 这个操作；可用：{known}", words.join(" ")),
                )));
            }
        };
        self.print(&format!("{response:#}\n"))
    }

    fn print(&self, text: &str) -> Result<(), CtlError> {
        if output::write_stdout(text, self.language) == Wrote::Failed { Err(CtlError::Untold) } else { Ok(()) }
    }

    /// Sends a change of the current run.
    fn change(&self, args: &CtlArgs, what: &Value) -> Result<Value, CtlError> {
        let mut body = what.clone();
        body["revision"] = self.ask("/api/run", None)?["revision"].clone();
        if let Some(name) = &args.scenario {
            body["scenario"] = name.as_str().into();
        }
        self.ask("/api/run/changes", Some(&body))
    }

    fn send(&self, path: &str, body: Option<&Value>) -> Result<ureq::http::Response<ureq::Body>, CtlError> {
        let mut url = self.base.clone();
        url.set_path(path);
        url.set_fragment(None);
        let token = format!("Bearer {}", self.token);
        let sent = match body {
            None => self.agent.get(url.as_str()).header("authorization", token).call(),
            Some(body) => {
                let post = self.agent.post(url.as_str()).header("authorization", token);
                post.header("content-type", "application/json").send(body.to_string())
            }
        };
        sent.map_err(|error| {
            let (base, error) = (&self.base[..url::Position::BeforePath], error.to_string());
            // So the client calls what the system says.
            let error = error.strip_prefix("io: ").unwrap_or(&error);
            CtlError::Unreached(self.language.pick(
                format!("no page answers at {base}: {error}; start a run with --web, or name its link with --page"),
                report::in_chinese(&format!(
                    "{base} 没有页面响应：{}；请用 --web 启动压测，或用 --page 指定链接",
                    error.trim_start_matches("io: ")
                )),
            ))
        })
    }

    fn ask(&self, path: &str, body: Option<&Value>) -> Result<Value, CtlError> {
        let mut response = self.send(path, body)?;
        let is_good = response.status().is_success();
        let text = response.body_mut().read_to_string().unwrap_or_default();
        let value: Option<Value> = serde_json::from_str(&text).ok();
        match value {
            Some(value) if is_good => Ok(value),
            Some(value) if value["text"].is_string() => {
                let text = value[self.language.pick("text", "text_zh")].as_str().unwrap_or_default();
                Err(CtlError::Refused(text.to_owned()))
            }
            _ => Err(CtlError::Unreached(self.language.pick(
                format!("what answers at {} is no page of onrush", &self.base[..url::Position::BeforePath]),
                format!("{} 上的服务不是 onrush 的页面", &self.base[..url::Position::BeforePath]),
            ))),
        }
    }

    /// Prints one event per line until they end: `{"event": "interval", "data": {...}}`.
    fn events(&self) -> Result<(), CtlError> {
        let response = self.send("/api/events", None)?;
        if !response.status().is_success() {
            return self.ask("/api/events", None).map(drop);
        }
        let mut kind = String::new();
        for line in BufReader::new(response.into_body().into_reader()).lines().map_while(Result::ok) {
            if let Some(name) = line.strip_prefix("event: ") {
                name.clone_into(&mut kind);
            }
            let data = line.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok());
            let Some(data) = data else { continue };
            let reported = json!({"event": kind, "data": data});
            if output::write_stdout(&format!("{reported}\n"), self.language) != Wrote::All {
                return Ok(());
            }
            if kind == "server_closing" {
                return Ok(());
            }
        }
        Ok(())
    }
}
