//! The commands and their texts, in both languages; their flags are in `flags`.
//! Help, completions and manual are generated from here.

pub(crate) mod manual;
pub(crate) mod page;
#[cfg(test)]
pub(crate) mod reference;
mod texts;

use clap::{Arg, ArgAction, Command};
use report::Language;

use crate::options::flags::{self, Mode};
use texts::purpose;
#[cfg(test)]
pub(crate) use texts::{about, examples, usage};

/// The commands, in the order of the help.
pub(crate) const COMMANDS: [(&str, Mode); 22] = [
    ("run", Mode::Run),
    ("demo", Mode::Demo),
    ("serve", Mode::Serve),
    ("hold", Mode::Hold),
    ("find-max", Mode::FindMax),
    ("sweep", Mode::Sweep),
    ("capacity", Mode::Capacity),
    ("doctor", Mode::Doctor),
    ("init", Mode::Init),
    ("report", Mode::Report),
    ("history", Mode::History),
    ("compare", Mode::Compare),
    ("web", Mode::Web),
    ("ctl", Mode::Ctl),
    ("check", Mode::Check),
    ("recover", Mode::Recover),
    ("worker", Mode::Worker),
    ("bus", Mode::Bus),
    ("selftest", Mode::Selftest),
    ("grpc", Mode::Grpc),
    ("completions", Mode::Completions),
    ("man", Mode::Man),
];

/// The subcommands of `grpc`.
pub(crate) const QUESTIONS: [&str; 2] = ["list", "describe"];

/// Notations of a load that are read before the parser.
pub(crate) const FRONT_ENDS: [&str; 2] = ["as", "curl"];

/// The command that a request for help names. Its flags follow it, so it comes first.
pub(crate) fn requested(words: &[String]) -> (&'static str, Mode) {
    // The language may come before the command.
    let mut words: Vec<&String> = words.iter().collect();
    while words.get(1).is_some_and(|word| word.starts_with("--lang")) {
        let value = usize::from(*words[1] == "--lang");
        words.drain(1..(2 + value).min(words.len()));
    }
    // `help COMMAND` is `COMMAND --help`.
    if words.get(1).is_some_and(|word| *word == "help") {
        words.remove(1);
    }
    let known =
        |name: Option<&&String>| COMMANDS.into_iter().find(|(known, _)| name.is_some_and(|name| *name == known));
    match known(words.get(1)) {
        Some((name, Mode::Grpc)) => {
            let question = words.get(2).and_then(|word| QUESTIONS.into_iter().find(|known| known == *word));
            question.map_or((name, Mode::Grpc), |question| (question, Mode::Ask))
        }
        Some(found) => found,
        None => ("onrush", Mode::Top),
    }
}

/// The clap command with texts in a language.
pub(crate) fn command(language: Language) -> Command {
    one("onrush", Mode::Top, language)
        .version(env!("CARGO_PKG_VERSION"))
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .subcommands(commands(language))
}

fn commands(language: Language) -> [Command; COMMANDS.len()] {
    COMMANDS.map(|(name, mode)| match mode {
        Mode::Grpc => one(name, mode, language)
            .subcommands(QUESTIONS.map(|question| one(question, Mode::Ask, language)))
            .subcommand_required(true)
            .arg_required_else_help(true),
        _ => one(name, mode, language),
    })
}

/// The clap command for completions: also words that are read before the parser. A URL in the place of a command is
/// left to the user, since shells that expect one there no longer complete commands.
pub(crate) fn completed(language: Language) -> Command {
    let bare = |name| Command::new(name).disable_help_flag(true).disable_version_flag(true);
    let rest = || {
        let rest = Arg::new("rest").action(ArgAction::Append).num_args(0..).allow_hyphen_values(true);
        rest.value_hint(clap::ValueHint::Url)
    };
    let native = || {
        let native = Arg::new("native").long("native").action(ArgAction::SetTrue);
        native.help(language.pick("Show the output of onrush", "使用 onrush 自己的输出"))
    };
    let tools = plan::Tool::ALL.map(|tool| {
        let name = tool.name();
        bare(name).about(language.pick(format!("as {name} does"), format!("同 {name}"))).arg(native()).arg(rest())
    });
    let front_ends = [
        bare(FRONT_ENDS[0]).about(purpose(FRONT_ENDS[0], language)).arg(native()).subcommands(tools),
        bare(FRONT_ENDS[1]).about(purpose(FRONT_ENDS[1], language)).arg(rest()),
    ];
    let rows = flags::rows(Mode::Top);
    let flags = rows.iter().filter(|row| !row.is_word()).map(|row| row.arg(language));
    let top = bare("onrush").about(purpose("onrush", language)).version(env!("CARGO_PKG_VERSION")).args(flags);
    top.subcommands(commands(language)).subcommands(front_ends)
}

/// A text in one of its languages.
pub(crate) fn text((english, chinese): (&'static str, &'static str), language: Language) -> &'static str {
    language.pick(english, chinese)
}

fn one(name: &'static str, mode: Mode, language: Language) -> Command {
    Command::new(name)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .about(purpose(name, language))
        .args(flags::rows(mode).iter().map(|row| row.arg(language)))
}

#[cfg(test)]
mod tests;
