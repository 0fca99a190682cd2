//! What is wrong with a command line: one line that names the mistake and the remedy.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use report::Language;

use crate::exit::Exit;
use crate::output;

/// The language of everything that is said: the flag wins, then the environment.
pub(crate) fn language_of(words: &[OsString]) -> Language {
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let by_flag = texts.iter().enumerate().find_map(|(index, word)| match word.strip_prefix("--lang") {
        Some("") => texts.get(index + 1).and_then(|name| Language::of_name(name)),
        Some(rest) => rest.strip_prefix('=').and_then(Language::of_name),
        None => None,
    });
    let by_environment = || {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().filter_map(|name| std::env::var(name).ok());
        locale.into_iter().find(|value| !value.is_empty()).map_or(Language::En, |value| Language::of_locale(&value))
    };
    by_flag.unwrap_or_else(by_environment)
}

/// Says what the parser found.
pub(crate) fn explain(error: &clap::Error, language: Language) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => output::to_stdout(&error.to_string(), language),
        _ => {
            let (text, see) = (mistake(error, language), language.pick("see onrush --help", "详见 onrush --help"));
            output::complain(&format!("{text}{}{see}", language.pick("; ", "；")));
            Exit::Usage
        }
    }
}

fn mistake(error: &clap::Error, language: Language) -> String {
    let context = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(", ")),
        _ => None,
    };
    let pick = |en: String, zh: String| language.pick(en, zh);
    let arg = context(ContextKind::InvalidArg).unwrap_or_default();
    let value = context(ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let meant = context(ContextKind::SuggestedArg).map_or(String::new(), |meant| {
                pick(format!(", did you mean '{meant}'?"), format!("，是否想写 '{meant}'？"))
            });
            if arg.starts_with('-') {
                pick(format!("unknown flag '{arg}'{meant}"), format!("未知参数 '{arg}'{meant}"))
            } else {
                pick(
                    format!("'{arg}' is one word too many; one URL is loaded at a time"),
                    format!("多出了 '{arg}'；一次只压测一个 URL"),
                )
            }
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            pick(format!("'{arg}' needs a value"), format!("'{arg}' 后面缺少值"))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let valid = context(ContextKind::ValidValue).unwrap_or_default();
            let valid = if valid.is_empty() { "bash, elvish, fish, powershell, zsh".to_owned() } else { valid };
            pick(
                format!("'{value}' is no value of '{arg}'; it takes {valid}"),
                format!("'{value}' 不是 '{arg}' 的有效值；可选：{valid}"),
            )
        }
        ErrorKind::ArgumentConflict => {
            let other = context(ContextKind::PriorArg).unwrap_or_default();
            if arg.is_empty() || other.is_empty() {
                pick(
                    "one URL is loaded at a time, and flags stand behind their command".to_owned(),
                    "一次只压测一个 URL，参数写在命令之后".to_owned(),
                )
            } else if arg == other {
                pick(format!("'{arg}' was given twice; give it once"), format!("'{arg}' 重复；请只写一次"))
            } else {
                pick(format!("'{arg}' and '{other}' do not go together"), format!("'{arg}' 和 '{other}' 不能同时使用"))
            }
        }
        ErrorKind::MissingRequiredArgument => pick(format!("{arg} is missing"), format!("缺少 {arg}")),
        ErrorKind::TooManyValues | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues | ErrorKind::NoEquals => {
            pick(format!("'{arg}' has a wrong number of values"), format!("'{arg}' 的值个数不对"))
        }
        ErrorKind::InvalidSubcommand => {
            let name = context(ContextKind::InvalidSubcommand).unwrap_or_default();
            pick(format!("unknown command '{name}'"), format!("未知命令 '{name}'"))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => pick(
            "a command is missing, as in: onrush grpc list grpc://127.0.0.1:8080".to_owned(),
            "缺少命令，例如：onrush grpc list grpc://127.0.0.1:8080".to_owned(),
        ),
        ErrorKind::InvalidUtf8 => pick("an argument is not valid UTF-8".to_owned(), "参数不是有效的 UTF-8".to_owned()),
        // Display kinds were handled; a kind that the parser learns later still says something.
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            pick(line.clone(), format!("命令行有误：{line}"))
        }
    }
}
