//! Words in the place of a URL: commands, misspelled or of other programs, and URLs that a flag has taken.

use std::ffi::OsString;

use clap::ArgMatches;
use plan::did_you_mean;
use report::Language;

use crate::help;
use crate::options::flags::{Mode, rows};

/// Words that are never meant as a host.
const COMMANDS: [&str; 26] = [
    "run",
    "demo",
    "serve",
    "hold",
    "find-max",
    "sweep",
    "capacity",
    "doctor",
    "init",
    "report",
    "recover",
    "history",
    "compare",
    "web",
    "ctl",
    "check",
    "worker",
    "bus",
    "selftest",
    "grpc",
    "completions",
    "man",
    "help",
    "as",
    "curl",
    "version",
];

/// Shorter words are similar to anything.
const NEAR_BYTES_MIN: usize = 3;

/// Accepts language names of locales: `--lang zh_CN.UTF-8` is `--lang zh`.
pub(crate) fn plain_language(mut words: Vec<OsString>) -> Vec<OsString> {
    let plain = |name: &str| Language::from_name(name).map(|language| language.pick("en", "zh"));
    for place in 1..words.len() {
        let word = words[place].to_string_lossy().into_owned();
        if word == "--lang"
            && let Some(name) = words.get(place + 1).and_then(|name| plain(&name.to_string_lossy()))
        {
            words[place + 1] = name.into();
        } else if let Some(name) = word.strip_prefix("--lang=").and_then(plain) {
            words[place] = format!("--lang={name}").into();
        }
    }
    words
}

/// The language behind the command that it stands before, where the parser looks for it.
pub(crate) fn language_behind(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_command = |place: &usize| *place > 1 && is_documented(&words[*place].to_string_lossy());
    if let Some(place) = first_word(&words).filter(is_command) {
        let language: Vec<OsString> = words.drain(1..place).collect();
        words.splice(2..2, language);
    }
    words
}

/// What is done before the command line is looked at as a whole.
pub(crate) enum Early {
    /// The command line that was meant.
    Words(Vec<OsString>),
    /// A misspelled command: the word.
    Near(String),
}

/// Handles `help`, `help COMMAND` and `version`, and a first word that is similar to a command.
pub(crate) fn early(words: Vec<OsString>) -> Early {
    let Some(place) = first_word(&words) else { return Early::Words(words) };
    let word = words[place].to_string_lossy().into_owned();
    let mut rest = words;
    match word.as_str() {
        "help" => {
            let requested = rest.iter().skip(place + 1).any(|word| is_documented(&word.to_string_lossy()));
            rest.remove(place);
            // Topics without a page of their own are in the main one.
            if !requested {
                rest.truncate(place);
            }
            rest.push("--help".into());
            Early::Words(rest)
        }
        "version" => {
            rest[place] = "--version".into();
            Early::Words(rest)
        }
        _ => match near_command(&word) {
            Some(_) => Early::Near(word),
            None => Early::Words(rest),
        },
    }
}

fn is_documented(word: &str) -> bool {
    help::COMMANDS.iter().any(|(name, _)| *name == word)
}

/// The first word that is no flag, behind nothing but the language.
pub(crate) fn first_word(words: &[OsString]) -> Option<usize> {
    let mut place = 1;
    while let Some(word) = words.get(place) {
        match word.to_string_lossy() {
            word if word == "--lang" => place += 2,
            word if word.starts_with("--lang=") => place += 1,
            word if word.starts_with('-') => return None,
            _ => return Some(place),
        }
    }
    None
}

/// Nothing stands behind the name of the program but the language.
pub(crate) fn is_only_language(words: &[OsString]) -> bool {
    let all: Vec<OsString> = words.iter().cloned().chain(["curl".into()]).collect();
    first_word(&all) == Some(words.len())
}

/// The command whose flags are meant, for a hint.
pub(super) fn command_of(words: &[OsString]) -> Option<String> {
    let word = words.get(first_word(words)?)?.to_string_lossy().into_owned();
    is_documented(&word).then_some(word)
}

/// Whether it is a command in the place of a URL.
pub(crate) fn is_command(word: &str) -> bool {
    COMMANDS.contains(&word)
}

/// A command that is similar to this word.
pub(crate) fn near_command(word: &str) -> Option<&'static str> {
    let is_exact = COMMANDS.contains(&word);
    if is_exact || !is_bare_word(word) || word.len() < NEAR_BYTES_MIN { None } else { did_you_mean(word, COMMANDS) }
}

/// Whether it has nothing of a host: no dot, no port, no path.
pub(crate) fn is_bare_word(word: &str) -> bool {
    let word = word.trim();
    !word.is_empty() && !word.contains(['.', ':', '/', '[']) && !word.eq_ignore_ascii_case("localhost")
}

/// The hint for a bare word in the place of a URL.
pub(crate) fn say_bare_word(word: &str, language: Language) -> String {
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return language.pick(
            format!("'{word}' is not a URL; a port of this machine is :{word}"),
            format!("'{word}' 不是 URL；本机端口请写 :{word}"),
        );
    }
    if COMMANDS.contains(&word) {
        return language.pick(
            format!("'{word}' is a command, not a URL; write it first: onrush {word}, see onrush --help"),
            format!("'{word}' 是命令，不是 URL；请写在最前面：onrush {word}，详见 onrush --help"),
        );
    }
    if let Some(command) = near_command(word) {
        return language.pick(
            format!("unknown command '{word}', did you mean '{command}'? a host of that name is http://{word}/"),
            format!("未知命令 '{word}'，是否想写 '{command}'？若是主机名，请写 http://{word}/"),
        );
    }
    language.pick(
        format!("'{word}' has no dot, no port and no path; if it is a host, write http://{word}/, see onrush --help for commands"),
        format!("'{word}' 既没有点，也没有端口和路径；若是主机名，请写 http://{word}/，命令见 onrush --help"),
    )
}

/// The hint for an existing file in the place of a URL.
pub(crate) fn say_file(word: &str, language: Language) -> Option<String> {
    let is_plain = !word.contains("://") && !word.starts_with(['[', ':']) && std::path::Path::new(word).is_file();
    is_plain.then(|| {
        let word = word.escape_debug().to_string();
        let lower = word.to_ascii_lowercase();
        if lower.ends_with(".yaml") || lower.ends_with(".yml") {
            return language.pick(
                format!("'{word}' is a file; a scenario is run by: onrush run {word}"),
                format!("'{word}' 是文件；运行场景请写：onrush run {word}"),
            );
        }
        language.pick(
            format!(
                "'{word}' is a file, not a URL; commands of curl in it: --curl {word}; a list of URLs: --urls {word}; a host of that name: http://{word}/"
            ),
            format!("'{word}' 是文件，不是 URL；其中是 curl 命令：--curl {word}；是 URL 列表：--urls {word}；若是主机名：http://{word}/"),
        )
    })
}

/// A flag that has taken the URL as its value, where no URL is left.
pub(crate) fn taken_url(matches: &ArgMatches, language: Language) -> Option<String> {
    let (mode, matches) = match matches.subcommand() {
        Some(("run", inner)) => (Mode::Run, inner),
        Some(("hold", inner)) => (Mode::Hold, inner),
        Some(_) => return None,
        None => (Mode::Top, matches),
    };
    let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
    if text("url").is_some() || text("curl").is_some() {
        return None;
    }
    let schemes = ["http://", "https://", "ws://", "wss://", "tcp://", "grpc://", "grpcs://"];
    let flags = rows(mode).into_iter().filter(|row| !row.is_word());
    let (flag, value) = flags.filter_map(|row| Some((row.name, text(row.name)?))).find(|(_, value)| {
        let lower = value.to_ascii_lowercase();
        schemes.iter().any(|scheme| lower.starts_with(scheme))
    })?;
    let shown = plan::masked_url(&value).escape_debug().to_string();
    // The name in tools where users are given as -c and each of them makes -n requests.
    if flag == "user" {
        return Some(language.pick(
            format!("-u is NAME:PASSWORD here, and a URL has no flag: onrush ... {shown}; the command line of go-stress-testing runs as it is behind: onrush as go-stress-testing"),
            format!("-u 在这里是 用户名:密码，URL 不需要参数名：onrush … {shown}；go-stress-testing 的命令行可以原样运行：onrush as go-stress-testing …"),
        ));
    }
    Some(language.pick(
        format!("--{flag} took '{shown}' for its value, so no URL is left; give --{flag} a value of its own"),
        format!("--{flag} 把 '{shown}' 当成了自己的值，因此没有 URL；请给 --{flag} 单独写一个值"),
    ))
}
