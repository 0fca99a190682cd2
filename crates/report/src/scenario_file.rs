//! A scenario file made from a command line: a start for users who want more than one request repeated.
//!
//! It contains what the plan contains, in the keys of the file; what those cannot express is detected by the caller,
//! which reads the file again.

mod text;

use core::net::IpAddr;
use core::time::Duration;
use std::fmt::Write;

use plan::{
    CustomRequest, FieldValue, Follow, Plan, Protocol, ProxyHeaderVersion, Request, Step, Target, Trust,
    is_secret_field,
};

use crate::Language;
use text::{key, pattern, plain};

/// The initial users of a closed load and its duration: little enough for any server.
const LOAD: &str = "{users: 10, for: 30s}";

/// The timeout of a step without one.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A file with the secrets that its reader must provide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioFile {
    /// The file.
    pub text: String,
    /// Secrets that are not in it: the environment variables that it reads, with their values.
    pub secrets: Vec<(String, String)>,
}

/// The body of this request, counted from 1, is binary: a file cannot contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinaryBody(pub usize);

/// The file of an HTTP plan. `agent` is the default user agent of the program; `name` is the name of the file.
///
/// # Errors
/// A body is binary.
pub fn scenario_file(plan: &Plan, agent: &str, name: &str, language: Language) -> Result<ScenarioFile, BinaryBody> {
    let scenario = plan.scenarios.first().expect("a plan has a scenario");
    let mut writer = Writer { text: String::new(), secrets: Vec::new(), language, agent, name };
    let parts: Vec<TargetedStep> =
        scenario.steps.iter().map(|step| TargetedStep { step, target: &scenario.targets[step.target] }).collect();
    if let Some(binary) = parts.iter().position(|part| part.body().is_none()) {
        return Err(BinaryBody(binary + 1));
    }
    writer.file(&parts);
    Ok(ScenarioFile {
        text: writer.text,
        secrets: writer.secrets.into_iter().map(|secret| (secret.variable, secret.value)).collect(),
    })
}

/// The file of another protocol, by the scheme of the URL; `None` for HTTP.
pub fn messaging_scenario_file(url: &str, name: &str, language: Language) -> Option<String> {
    let (scheme, _) = url.split_once("://")?;
    let url = pattern(url);
    let lines = match scheme {
        "ws" | "wss" => {
            vec![
                format!("- websocket: {url}"),
                "  steps:".to_owned(),
                "    - send: hello".to_owned(),
                "    - receive: {within: 5s}".to_owned(),
            ]
        }
        "tcp" => vec![
            format!("- tcp: {url}"),
            "  until: \"\\n\"".to_owned(),
            "  steps:".to_owned(),
            "    - send: \"hello\\n\"".to_owned(),
            "    - receive: {within: 5s}".to_owned(),
        ],
        "grpc" | "grpcs" => vec![format!("- grpc: {url}"), "  message: {}".to_owned()],
        _ => return None,
    };
    let mut writer = Writer { text: String::new(), secrets: Vec::new(), language, agent: "", name };
    writer.how_to();
    writer.load();
    lines.iter().for_each(|line| writer.line(6, line));
    writer.threshold();
    Some(writer.text)
}

/// A step with its target.
struct TargetedStep<'a> {
    step: &'a Step,
    target: &'a Target,
}

/// A value that stays out of the file.
struct Secret {
    /// The environment variable that the file reads it from.
    variable: String,
    /// Its name in the file.
    name: String,
    value: String,
}

struct Writer<'a> {
    text: String,
    secrets: Vec<Secret>,
    language: Language,
    agent: &'a str,
    name: &'a str,
}

impl<'a> TargetedStep<'a> {
    fn request(&self) -> &'a Request {
        &self.step.request
    }

    fn body(&self) -> Option<&'a str> {
        std::str::from_utf8(&self.request().body).ok()
    }

    /// The origin of its URL.
    fn origin(&self) -> String {
        let Target { url, .. } = self.target;
        let host = url.find("://").map_or(0, |place| place + 3);
        let end = url[host..].find(['/', '?']).map_or(url.len(), |place| host + place);
        url[..end].to_owned()
    }

    /// The fields that the file has to name: not those that are written by default or belong to the connection.
    fn headers(&self, agent: &str) -> Vec<(&'a str, String)> {
        let own_host = self.origin().rsplit('/').next().unwrap_or_default().to_owned();
        let has_body = !self.request().body.is_empty();
        let is_own = |name: &str, value: &str| match name.to_ascii_lowercase().as_str() {
            "host" => value == own_host,
            "user-agent" => value == agent,
            "accept" => value == "*/*",
            "content-length" | "connection" => true,
            "content-type" => {
                has_body
                    && (value == "application/x-www-form-urlencoded"
                        || value == "application/json" && self.json().is_some())
            }
            _ => false,
        };
        let all = self.request().headers.iter().map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value)));
        all.filter(|(name, value)| !is_own(name, value)).map(|(name, value)| (name, value.into_owned())).collect()
    }

    /// The body as a JSON value, if that is written to the same text.
    fn json(&self) -> Option<serde_json::Value> {
        let is_json = |(name, value): &(String, Vec<u8>)| {
            name.eq_ignore_ascii_case("content-type") && value == b"application/json"
        };
        let text = self.body().filter(|_| self.request().headers.iter().any(is_json))?;
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        let again = value.to_string();
        let is_same = (value.is_object() || value.is_array()) && again == text;
        is_same.then_some(value)
    }
}

impl Writer<'_> {
    fn pick(&self, english: &str, chinese: &str) -> String {
        self.language.pick(english, chinese).to_owned()
    }

    fn line(&mut self, indent: usize, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "");
    }

    fn note(&mut self, indent: usize, english: &str, chinese: &str) {
        let note = self.pick(english, chinese);
        self.line(indent, &format!("# {note}"));
    }

    fn how_to(&mut self) {
        let name = self.name;
        for (english, chinese, words) in [
            ("Check it:  ", "检查：  ", "check"),
            ("Try it:    ", "试一次：", "run --debug"),
            ("Run it:    ", "运行：  ", "run"),
        ] {
            let line = format!("# {}onrush {words} {name}", self.language.pick(english, chinese));
            self.line(0, &line);
        }
        self.line(0, "");
    }

    fn file(&mut self, parts: &[TargetedStep]) {
        self.how_to();
        let origin = parts.first().map(TargetedStep::origin).unwrap_or_default();
        self.line(0, &format!("target: {}", plain(&origin)));
        let shared = self.shared(parts);
        // The steps are written first: their secrets are declared before them.
        let head = std::mem::take(&mut self.text);
        self.defaults(parts, &shared);
        self.scenario(parts, &origin, &shared);
        let rest = std::mem::replace(&mut self.text, head);
        if !self.secrets.is_empty() {
            self.note(
                0,
                "Secrets stay out of this file: each is read from the environment.",
                "敏感信息不写入文件，从环境变量读取。",
            );
            self.line(0, "vars:");
            let lines: Vec<String> = self
                .secrets
                .iter()
                .map(|secret| format!("{}: \"${{env.{}}}\"", secret.name, secret.variable))
                .collect();
            lines.iter().for_each(|line| self.line(2, line));
            let names: Vec<&str> = self.secrets.iter().map(|secret| secret.name.as_str()).collect();
            let line = format!("secrets: [{}]", names.join(", "));
            self.line(0, &line);
        }
        self.text += &rest;
    }

    /// Fields that every step has, where there are several steps.
    fn shared(&self, parts: &[TargetedStep]) -> Vec<(String, String)> {
        let mut all = parts.iter().map(|part| part.headers(self.agent));
        let Some(first) = all.next().filter(|_| parts.len() > 1) else { return Vec::new() };
        let others: Vec<_> = all.collect();
        let is_once =
            |name: &str, list: &[(&str, String)]| list.iter().filter(|(known, _)| *known == name).count() == 1;
        let is_shared = |field: &&(&str, String)| {
            is_once(field.0, &first) && others.iter().all(|other| other.contains(field) && is_once(field.0, other))
        };
        first.iter().filter(is_shared).map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    fn defaults(&mut self, parts: &[TargetedStep], shared: &[(String, String)]) {
        let mut lines = Vec::new();
        let target = parts.first().map(|part| part.target);
        let follow = parts.iter().find_map(|part| part.step.follow.as_ref());
        if let Some(Follow { most, .. }) = follow {
            lines.push("location: true".to_owned());
            lines.push(format!("max_redirs: {most}"));
        }
        if let Some(target) = target {
            let is_blind = target.tls.as_ref().is_some_and(|tls| tls.trust == Trust::Anybody);
            lines.extend(is_blind.then(|| "insecure: true".to_owned()));
            lines.extend((target.protocol == Protocol::Http2).then(|| "http: 2".to_owned()));
            lines.extend(
                target.unix.as_ref().map(|path| format!("unix_socket: {}", plain(&path.display().to_string()))),
            );
            let own = (target.host.as_str(), target.port);
            let behind = target.proxy.as_ref().map(|proxy| &proxy.behind);
            let elsewhere =
                behind.unwrap_or(&target.dial).as_ref().filter(|(host, port)| (host.as_str(), *port) != own);
            lines.extend(elsewhere.map(|(host, port)| {
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                format!("connect_to: {}", plain(&format!("{}:{}:{host}:{port}", target.host, target.port)))
            }));
        }
        self.network(target);
        if lines.is_empty() && shared.is_empty() {
            return;
        }
        self.line(0, "defaults:");
        lines.iter().for_each(|line| self.line(2, line));
        self.headers(2, shared);
    }

    /// The settings of connections.
    fn network(&mut self, target: Option<&Target>) {
        let mut lines = Vec::new();
        if let Some(proxy) = target.and_then(|target| target.proxy.as_deref()) {
            if proxy.credentials.is_some() {
                lines.push(self.pick(
                    "# The proxy wants a login: give it whole with --proxy.",
                    "# 代理需要认证：请用 --proxy 完整给出。",
                ));
            }
            lines.push(format!("proxy: {}", plain(&proxy.place())));
            lines.extend(proxy.tunnels.then(|| "proxy_tunnel: true".to_owned()));
        }
        if let Some(header) = target.and_then(|target| target.proxy_header.as_ref()) {
            let version = if header.version == ProxyHeaderVersion::V1 { "v1" } else { "v2" };
            lines.push(format!("proxy_protocol: {version}"));
            let from: Vec<String> = header.from.iter().map(IpAddr::to_string).collect();
            lines.extend((!from.is_empty()).then(|| format!("proxy_protocol_from: {}", plain(&from.join(",")))));
        }
        if !lines.is_empty() {
            self.line(0, "network:");
            lines.iter().for_each(|line| self.line(2, line));
        }
    }

    fn headers(&mut self, indent: usize, headers: &[(String, String)]) {
        if headers.is_empty() {
            return;
        }
        self.line(indent, "headers:");
        for (name, value) in headers {
            let value = if is_secret_field(name) { self.secret(name, value) } else { pattern(value) };
            self.line(indent + 2, &format!("{}: {value}", key(name)));
        }
    }

    /// The slot of a value that stays out of the file.
    fn secret(&mut self, field: &str, value: &str) -> String {
        if let Some(known) = self.secrets.iter().find(|known| known.value == value) {
            return format!("\"${{{}}}\"", known.name);
        }
        let word: String = field.chars().map(|each| if each.is_ascii_alphanumeric() { each } else { '_' }).collect();
        let word = word.trim_matches('_').to_ascii_lowercase();
        let same = self.secrets.iter().filter(|known| known.name.starts_with(&word)).count();
        let name = if same == 0 { word } else { format!("{word}_{}", same + 1) };
        let slot = format!("\"${{{name}}}\"");
        self.secrets.push(Secret { variable: name.to_ascii_uppercase(), name, value: value.to_owned() });
        slot
    }

    fn load(&mut self) {
        self.line(0, "scenarios:");
        self.line(2, "main:");
        self.note(
            4,
            "Or, whatever the server does: {rate: 100/s, for: 1m}; over time: {users: [\"100:1m\", \"100:5m\", \"0:30s\"]}",
            "不管服务快慢：{rate: 100/s, for: 1m}；随时间变化：{users: [\"100:1m\", \"100:5m\", \"0:30s\"]}",
        );
        self.line(4, &format!("load: {LOAD}"));
        self.line(4, "steps:");
    }

    fn threshold(&mut self) {
        self.line(0, "");
        self.note(0, "What the figures must be; the exit code says whether they are.", "阈值；未达标时退出码为 1。");
        self.line(0, "thresholds: [\"failed / done < 1%\"]");
    }

    fn scenario(&mut self, parts: &[TargetedStep], origin: &str, shared: &[(String, String)]) {
        self.note(
            0,
            "data: {users: {file: users.csv}}   # then ${users.name}, a row for each iteration",
            "data: {users: {file: users.csv}}   # 之后可用 ${users.name}，每次迭代取一行",
        );
        self.load();
        for part in parts {
            self.step(part, origin, shared);
            self.line(6, "# - think: 1s-3s");
        }
        self.threshold();
    }

    /// A request of a custom protocol.
    fn custom_step(&mut self, part: &TargetedStep, custom: &CustomRequest) {
        let fields = custom.fields.iter().map(|(key, value)| format!("{key}: {}", flow(custom, value)));
        let fields = fields.collect::<Vec<_>>().join(", ");
        self.line(6, &format!("- {}: {{{fields}}}", custom.protocol));
        if part.step.timeout != TIMEOUT {
            self.line(8, &format!("timeout: {}ms", part.step.timeout.as_millis()));
        }
        self.note(
            8,
            "extract: {value: json $[0]}         # then ${value} in any later step",
            "extract: {value: json $[0]}         # 之后的步骤可用 ${value}",
        );
    }

    fn step(&mut self, part: &TargetedStep, origin: &str, shared: &[(String, String)]) {
        let request = part.request();
        if let Some(custom) = part.step.messaging.as_ref().and_then(|messaging| messaging.custom.as_deref()) {
            return self.custom_step(part, custom);
        }
        let own = if part.origin() == origin { String::new() } else { part.origin() };
        let url = pattern(&format!("{own}{}", request.path));
        let known = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].contains(&request.method.as_str());
        if known {
            self.line(6, &format!("- {}: {url}", request.method.to_ascii_lowercase()));
        } else {
            let both = pattern(&format!("{} {own}{}", request.method, request.path));
            self.line(6, &format!("- request: {both}"));
        }
        let headers = part.headers(self.agent).into_iter().map(|(name, value)| (name.to_owned(), value));
        let headers: Vec<(String, String)> = headers.filter(|field| !shared.contains(field)).collect();
        self.headers(8, &headers);
        if part.step.timeout != TIMEOUT {
            self.line(8, &format!("timeout: {}ms", part.step.timeout.as_millis()));
        }
        match (part.json(), part.body().unwrap_or_default()) {
            (Some(json), _) => self.line(8, &format!("json: {}", text::json(&json))),
            (None, "") => {}
            (None, body) => self.line(8, &format!("body: {}", pattern(body))),
        }
        self.note(
            8,
            "extract: {id: json $.id}            # then ${id} in any later step",
            "extract: {id: json $.id}            # 之后的步骤可用 ${id}",
        );
        self.line(8, "expect: {status: 200-399}");
    }
}

/// The value of a field in one line.
fn flow(custom: &CustomRequest, value: &FieldValue) -> String {
    match value {
        FieldValue::Text(index) => {
            let bytes = custom.texts.get(*index as usize).map_or(&[][..], |text| &text.bytes);
            text::json(&String::from_utf8_lossy(bytes).into())
        }
        FieldValue::Number(number) => number.to_string(),
        FieldValue::Switch(is_on) => is_on.to_string(),
        FieldValue::List(list) => {
            format!("[{}]", list.iter().map(|value| flow(custom, value)).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests;
