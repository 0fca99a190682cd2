//! From the values of a cell to a command line.

use plan::{FlagDialect, did_you_mean};
use report::Language;
use search::Grid;
use url::Url;

use crate::options::args::Command;
use crate::options::flags::Kind;
use crate::session::redaction::MASK;
use crate::session::wrapped_command::{self, WrappedCommand};

/// How a value becomes words.
#[derive(Clone, Debug, PartialEq, Eq)]
enum How {
    /// A flag with a value.
    Flag,
    /// A switch, which is set for this value.
    Switch { name: String, when: bool },
    /// A variable of a file.
    Variable,
    /// The URL.
    Url,
}

/// Flags of a sweep as a whole.
const OF_THE_WHOLE: [&str; 14] = [
    "help",
    "version",
    "json",
    "html",
    "output",
    "save",
    "no-save",
    "web",
    "web-listen",
    "stop-file",
    "quiet",
    "no-color",
    "lang",
    "config",
];

/// What is varied, by name.
pub(super) struct Varied(Vec<(String, How)>);

/// The value of a switch word.
fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "yes" | "true" | "1" => Some(true),
        "off" | "no" | "false" | "0" => Some(false),
        _ => None,
    }
}

impl Varied {
    pub(super) fn new(grid: &Grid, base: &WrappedCommand, language: Language) -> Result<Self, String> {
        let has_file = matches!(&base.command, Command::Run(args) if args.file().is_some());
        let mut all = Vec::new();
        for vary in &grid.vary {
            // With a file, a letter may be one of its variables.
            let name = if has_file { vary.name.as_str() } else { base.long_name(&vary.name) };
            if super::OF_ONE_RUN.contains(&name) || OF_THE_WHOLE.contains(&name) {
                return Err(language.pick(
                    format!("--vary {name}: that is nothing of a load that could be compared"),
                    format!("--vary {name}：它不是可以比较的负载参数"),
                ));
            }
            let how = match (name, base.kind_of(name)) {
                ("url", _) if has_file => How::Variable,
                ("url", _) => How::Url,
                (_, Some(Kind::Switch)) => How::Switch { name: name.to_owned(), when: true },
                (_, Some(_)) => How::Flag,
                // A switch, by the flag that disables it.
                (_, None) if base.kind_of(&format!("no-{name}")) == Some(Kind::Switch) => {
                    How::Switch { name: format!("no-{name}"), when: false }
                }
                (_, None) if has_file => How::Variable,
                (_, None) => return Err(unknown(name, base, language)),
            };
            let wrong = vary.values.iter().find(|value| matches!(how, How::Switch { .. }) && switch(value).is_none());
            if let Some(value) = wrong {
                return Err(language.pick(
                    format!("--vary {name}: a switch is on or off, not '{value}'"),
                    format!("--vary {name}：'{value}' 无效：开关只能取 on 或 off"),
                ));
            }
            all.push((name.to_owned(), how));
        }
        Ok(Self(all))
    }

    /// The same grid for display: different secrets only differ by a number.
    pub(super) fn shown(&self, grid: &Grid) -> Grid {
        let mut shown = grid.clone();
        for ((name, how), vary) in self.0.iter().zip(&mut shown.vary) {
            let masked: Vec<String> = vary.values.iter().map(|value| masked(name, how, value)).collect();
            let is_twice = |at: usize| masked.iter().filter(|other| **other == masked[at]).count() > 1;
            let named = |(at, value): (usize, &String)| match is_twice(at) {
                true => format!("{value} #{}", at + 1),
                false => value.clone(),
            };
            vary.values = masked.iter().enumerate().map(named).collect();
        }
        shown
    }

    /// The command line of a cell.
    pub(super) fn behind(
        &self,
        values: &[String],
        words: &[String],
        language: Language,
    ) -> Result<WrappedCommand, String> {
        let (mut more, mut url) = (Vec::new(), None);
        for ((name, how), value) in self.0.iter().zip(values) {
            match how {
                How::Flag => more.push(format!("--{name}={value}")),
                How::Switch { name, when } if switch(value) == Some(*when) => more.push(format!("--{name}")),
                How::Switch { .. } => {}
                How::Variable => more.push(format!("--var={name}={value}")),
                How::Url => url = Some(value),
            }
        }
        let mut behind = wrapped_command::behind(words, &more, language)?;
        if let Some(value) = url {
            let place = match &mut behind.command {
                Command::Run(args) => &mut args.flags.url,
                Command::Hold(args) => &mut args.flags.common.url,
                _ => return Ok(behind),
            };
            *place = Some(joined(place.as_deref(), value, language)?);
        }
        Ok(behind)
    }
}

/// A value without secrets.
fn masked(name: &str, how: &How, value: &str) -> String {
    match (name, how) {
        (name, How::Flag) if is_credential(name) => MASK.to_owned(),
        (name, How::Variable) if plan::is_secret_field(name) => MASK.to_owned(),
        _ => plan::masked_header(&plan::masked_url(value)),
    }
}

fn is_credential(name: &str) -> bool {
    plan::credential(&format!("--{name}"), FlagDialect::Onrush).is_some()
}

fn unknown(name: &str, base: &WrappedCommand, language: Language) -> String {
    let names = base.names();
    let near = did_you_mean(name, names.iter().copied());
    let (en, zh) = match near {
        Some(near) => (format!("; did you mean {near}?"), format!("；是否想写 {near}？")),
        None => ("; see onrush run --help".to_owned(), "；详见 onrush run --help".to_owned()),
    };
    language
        .pick(format!("--vary {name}: there is no flag --{name}{en}"), format!("--vary {name}：没有参数 --{name}{zh}"))
}

/// Joins a path with the host of the URL; a URL is used as it is.
fn joined(base: Option<&str>, value: &str, language: Language) -> Result<String, String> {
    if !value.starts_with('/') {
        return Ok(value.to_owned());
    }
    let none = || {
        language.pick(
            format!("--vary url={value}: paths need a URL that they belong to; give one behind the flags"),
            format!("--vary url={value}：路径需要所属的 URL；请在参数之后给出 URL"),
        )
    };
    let base = base.ok_or_else(none)?;
    let whole = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
    let whole = Url::parse(&whole).map_err(|_| none())?;
    Ok(format!("{}{value}", &whole[..url::Position::BeforePath]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_to_the_host() {
        let join = |base: Option<&str>, value: &str| joined(base, value, Language::En).ok();
        assert_eq!(join(Some("http://a:8080/x?y=1"), "/b?c=2"), Some("http://a:8080/b?c=2".to_owned()));
        assert_eq!(join(Some("a:8080"), "/b"), Some("http://a:8080/b".to_owned()));
        assert_eq!(join(None, "http://c/"), Some("http://c/".to_owned()));
        assert_eq!(join(None, "/b"), None);
    }

    #[test]
    fn switches_are_read() {
        assert_eq!(
            ["on", "OFF", "yes", "0", "x"].map(switch),
            [Some(true), Some(false), Some(true), Some(false), None]
        );
    }
}
