//! Command line errors: one line with the error and the remedy.

mod foreign;
mod habits;
mod several;
mod words;

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use plan::did_you_mean;
use report::Language;

use crate::exit::Exit;
use crate::help;
use crate::output;
pub(crate) use habits::say as say_habit;
pub(crate) use words::{
    Early, early, first_word, is_bare_word, is_command, is_only_language, language_behind, plain_language,
    say_bare_word, say_file, taken_url,
};

/// The language of all output: the flag wins, then the environment.
pub(crate) fn language_of(words: &[OsString]) -> Language {
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let by_flag = texts.iter().enumerate().find_map(|(index, word)| match word.strip_prefix("--lang") {
        Some("") => texts.get(index + 1).and_then(|name| Language::from_name(name)),
        Some(rest) => rest.strip_prefix('=').and_then(Language::from_name),
        None => None,
    });
    let by_environment = || {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().filter_map(|name| std::env::var(name).ok());
        locale.into_iter().find(|value| !value.is_empty()).map_or(Language::En, |value| Language::from_locale(&value))
    };
    by_flag.unwrap_or_else(by_environment)
}

/// The language of the whole command line, including other layers.
static SPOKEN: Mutex<Option<Language>> = Mutex::new(None);

/// Sets the language.
pub(crate) fn speak(language: Language) {
    *SPOKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(language);
}

/// The language.
pub(crate) fn language() -> Language {
    let mut spoken = SPOKEN.lock().unwrap_or_else(PoisonError::into_inner);
    *spoken.get_or_insert_with(|| language_of(&std::env::args_os().collect::<Vec<_>>()))
}

/// Prints an error of the parser.
pub(crate) fn explain(error: &clap::Error, language: Language) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp => output::to_stdout(&help_page(language), language),
        ErrorKind::DisplayVersion => output::to_stdout(&error.to_string(), language),
        _ => {
            let command = words::command_of(&std::env::args_os().collect::<Vec<_>>());
            let help = command.map_or("onrush --help".to_owned(), |command| format!("onrush {command} --help"));
            let (text, see) = (mistake(error, language), language.pick(format!("see {help}"), format!("详见 {help}")));
            // A question already has its punctuation.
            let link = match text.chars().last() {
                Some('?') => " ",
                Some('？') => "",
                _ => language.pick("; ", "；"),
            };
            output::complain(&format!("{text}{link}{see}"));
            Exit::Usage
        }
    }
}

/// The error message for a command line inside another one.
pub(crate) fn said(error: &clap::Error, language: Language) -> String {
    mistake(error, language)
}

/// The requested page: `--help` has all flags, `-h` the common ones.
fn help_page(language: Language) -> String {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let (name, mode) = help::requested(&words);
    let is_long = words.iter().any(|word| word == "--help") || words.iter().any(|word| word == "help");
    let columns = output::screen(language, true, false).room.map(|room| room.columns);
    help::page::page(name, mode, is_long, columns, language)
}

/// Dashes that input methods and web pages put in place of a hyphen; the last is the full-width hyphen.
const DASHES: [char; 6] = ['\u{2010}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{ff0d}'];

/// The flag that a word with such a dash stands for.
fn plain_flag(word: &str) -> Option<String> {
    let name = word.trim_start_matches(DASHES);
    let hyphens = if name.chars().count() > 1 { "--" } else { "-" };
    (name.len() < word.len() && name.starts_with(|first: char| first.is_ascii_alphabetic()))
        .then(|| format!("{hyphens}{name}"))
}

/// All words of the command line.
fn typed() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The first word of the command line that begins with such a dash, and its flag.
fn typed_dash() -> Option<(String, String)> {
    std::env::args().skip(1).find_map(|word| plain_flag(&word).map(|plain| (word, plain)))
}

/// The first word of the command line that is a negative time, which is taken for a flag.
fn negative_time() -> Option<String> {
    std::env::args().skip(1).find(|word| {
        let time = word.strip_prefix('-').unwrap_or_default();
        let unit = time.trim_start_matches(|each: char| each.is_ascii_digit() || each == '.');
        unit.len() < time.len() && ["ns", "us", "ms", "s", "m", "h", "d"].contains(&unit)
    })
}

/// Commands without a URL of the user's.
const WITHOUT_URL: [&str; 5] = ["selftest", "serve", "demo", "completions", "man"];

/// Whether the typed command loads a URL.
fn is_load() -> bool {
    let command = words::command_of(&std::env::args_os().collect::<Vec<_>>());
    command.is_none_or(|command| !WITHOUT_URL.contains(&&*command))
}

fn mistake(error: &clap::Error, language: Language) -> String {
    let context = |kind: ContextKind| context(error, kind, language);
    let pick = |en: String, zh: String| language.pick(en, zh);
    let arg = habits::whole(&context(ContextKind::InvalidArg).unwrap_or_default(), &typed());
    let value = context(ContextKind::InvalidValue).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let near =
                context(ContextKind::SuggestedArg).filter(|meant| did_you_mean(&arg, [meant.as_str()]).is_some());
            unknown_argument(&arg, near, language)
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            pick(format!("'{arg}' needs a value"), format!("'{arg}' 后面缺少值"))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            invalid_value(&arg, &value, context(ContextKind::ValidValue).unwrap_or_default(), language)
        }
        ErrorKind::ArgumentConflict => {
            argument_conflict(&arg, &context(ContextKind::PriorArg).unwrap_or_default(), language)
        }
        ErrorKind::MissingRequiredArgument => pick(format!("{arg} is missing"), format!("缺少 {arg}")),
        ErrorKind::TooManyValues | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues | ErrorKind::NoEquals => {
            wrong_count(&arg, language)
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
        // Display kinds were handled; a future kind of the parser still has a message.
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            pick(line.clone(), format!("命令行有误：{line}"))
        }
    }
}

/// What the parser says about its error, as text.
fn context(error: &clap::Error, kind: ContextKind, language: Language) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(language.pick(", ", "、"))),
        _ => None,
    }
}

/// The error message for a word that no flag and no URL is. `near`: a flag with a similar name.
fn unknown_argument(arg: &str, near: Option<String>, language: Language) -> String {
    let pick = |en: String, zh: String| language.pick(en, zh);
    let command = words::command_of(&std::env::args_os().collect::<Vec<_>>()).unwrap_or_default();
    let meant = match (foreign::meant(arg, &command), near) {
        (Some(meant), _) => {
            let said = meant.say(language);
            pick(format!("; {said}"), format!("；{said}"))
        }
        (None, Some(meant)) => pick(format!(", did you mean '{meant}'?"), format!("，是否想写 '{meant}'？")),
        (None, None) => String::new(),
    };
    if let Some(time) = negative_time() {
        let positive = time.trim_start_matches('-');
        pick(
            format!("'{time}' is a negative time; a time is at least 0, like {positive}"),
            format!("'{time}' 是负数；时间不能小于 0，例如 {positive}"),
        )
    } else if arg.starts_with('-') {
        pick(format!("unknown flag '{arg}'{meant}"), format!("未知参数 '{arg}'{meant}"))
    } else if let Some(plain) = plain_flag(arg) {
        printed_dash(arg, &plain, language)
    } else if !is_load() {
        pick(format!("unexpected argument '{arg}'"), format!("多出了参数 '{arg}'"))
    } else {
        several::say(&typed(), language).unwrap_or_else(|| {
            pick(
                format!("unexpected argument '{arg}'; one URL is loaded at a time"),
                format!("多出了 '{arg}'；一次只压测一个 URL"),
            )
        })
    }
}

/// The error message for a flag with a dash in place of its hyphen.
fn printed_dash(arg: &str, plain: &str, language: Language) -> String {
    language.pick(
        format!("'{arg}' begins with a dash of printed text; write {plain} with a hyphen"),
        format!("'{arg}' 开头的是排版用的破折号；请改用连字符写成 {plain}"),
    )
}

/// The error message for a value that its flag does not take. `valid`: the values that the parser names.
fn invalid_value(arg: &str, value: &str, valid: String, language: Language) -> String {
    let valid = if valid.is_empty() {
        ["bash", "elvish", "fish", "powershell", "zsh"].join(language.pick(", ", "、"))
    } else {
        valid
    };
    let file = if value.ends_with(".html") { "--html" } else { "--json" };
    let more = match arg.starts_with("--output") && value.contains(['.', '/']) {
        true => language.pick(format!("; a file is {file} {value}"), format!("；写入文件请用 {file} {value}")),
        false => String::new(),
    };
    language.pick(
        format!("'{value}' is not valid for '{arg}'; it takes {valid}{more}"),
        format!("'{value}' 不是 '{arg}' 的有效值；可选：{valid}{more}"),
    )
}

/// The error message for arguments that exclude each other.
fn argument_conflict(arg: &str, other: &str, language: Language) -> String {
    let pick = |en: String, zh: String| language.pick(en, zh);
    if arg.is_empty() || other.is_empty() {
        if let Some((arg, plain)) = typed_dash() {
            return printed_dash(&arg, &plain, language);
        }
        several::say(&typed(), language).unwrap_or_else(|| {
            pick(
                "one URL is loaded at a time, and flags stand behind their command".to_owned(),
                "一次只压测一个 URL，参数写在命令之后".to_owned(),
            )
        })
    } else if arg == other {
        pick(format!("'{arg}' was given twice; give it once"), format!("'{arg}' 重复；请只写一次"))
    } else {
        pick(format!("'{arg}' and '{other}' do not go together"), format!("'{arg}' 和 '{other}' 不能同时使用"))
    }
}

/// The error message for a flag with too many or too few values.
fn wrong_count(arg: &str, language: Language) -> String {
    let flag = arg.split(['=', ' ']).next().unwrap_or_default();
    if typed().iter().any(|word| word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='))) {
        return language.pick(
            format!("'{flag}' is a switch and takes no value; leave out what stands behind '='"),
            format!("'{flag}' 是开关，不带值；请去掉 '=' 及其后的内容"),
        );
    }
    language.pick(format!("'{arg}' has a wrong number of values"), format!("'{arg}' 的值个数不对"))
}
