//! The one table of flags: help, completions, the manual and `docs/reference.md` are made of it.
//!
//! A flag is a row in one of the files below; its position there is its position in the help.

mod answer;
mod connect;
mod load;
mod request;
mod run;
mod serve;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction};
use report::Language;

/// What is behind `onrush`, and so which flags there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// No command at all: the flags of `run`, and a few more.
    Top,
    Run,
    Demo,
    Serve,
    Hold,
    Doctor,
    Selftest,
    /// `grpc` without a question.
    Grpc,
    /// `grpc list` and `grpc describe`.
    Ask,
    Completions,
    Man,
}

/// The commands that flags are shared by.
mod modes {
    use super::Mode::{self, Ask, Completions, Demo, Doctor, Grpc, Hold, Man, Run, Selftest, Serve, Top};

    pub(super) const ALL: &[Mode] = &[Run, Demo, Serve, Hold, Doctor, Selftest, Grpc, Ask, Completions, Man];
    pub(super) const ASK: &[Mode] = &[Ask];
    pub(super) const ASKING: &[Mode] = &[Run, Hold, Ask];
    pub(super) const CALLS: &[Mode] = &[Run, Ask];
    pub(super) const COMPLETIONS: &[Mode] = &[Completions];
    pub(super) const DOCTOR: &[Mode] = &[Doctor];
    pub(super) const DRIVING: &[Mode] = &[Run, Demo, Serve, Hold, Doctor, Selftest];
    pub(super) const HOLD: &[Mode] = &[Hold];
    pub(super) const KEYED: &[Mode] = &[Run, Serve, Hold, Ask];
    pub(super) const LOADS: &[Mode] = &[Run, Hold];
    pub(super) const PLACED: &[Mode] = &[Run, Hold, Doctor];
    pub(super) const RUN: &[Mode] = &[Run];
    pub(super) const SERVE: &[Mode] = &[Serve];
    pub(super) const SHOWN: &[Mode] = &[Run, Demo, Hold];
    pub(super) const TOP: &[Mode] = &[Top];
}

/// What a flag takes. The text is the name of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word without a flag.
    Word(&'static str),
    /// The name of a shell, without a flag.
    Shell,
    /// Nothing.
    Switch,
    /// A value.
    Text(&'static str),
    /// A value that may look like a negative number, so that the plan says what is wrong with it.
    Number(&'static str),
    /// A value that may begin with a hyphen.
    Free(&'static str),
    /// A value, any number of times.
    List(&'static str),
    /// A value that may begin with a hyphen, any number of times.
    FreeList(&'static str),
    /// One of these words.
    Choice(&'static str, &'static [&'static str]),
    /// Shows the help and ends.
    Help,
    /// Shows the version and ends.
    Version,
}

/// One flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// What stands behind `--`; of a word, what it is called.
    pub(crate) name: &'static str,
    pub(crate) short: Option<char>,
    pub(crate) kind: Kind,
    modes: &'static [Mode],
    english: &'static str,
    chinese: &'static str,
}

/// A flag, or a word, of some commands.
const fn flag(name: &'static str, kind: Kind, modes: &'static [Mode]) -> Row {
    Row { name, short: None, kind, modes, english: "", chinese: "" }
}

/// The table, in the order of the help.
const USUAL: &[&[Row]] = &[
    load::ROWS,
    load::HELD,
    serve::ROWS,
    request::ROWS,
    connect::TLS,
    connect::TALK,
    answer::CALLS,
    answer::CHECKS,
    answer::SHOWN,
    run::ENGINE,
    run::VIEW,
];

/// The table as `hold` shows it: what is said comes before how it is secured.
const HELD: &[&[Row]] = &[
    load::ROWS,
    load::HELD,
    request::ROWS,
    answer::CHECKS,
    connect::TALK,
    connect::TLS,
    answer::SHOWN,
    run::ENGINE,
    run::VIEW,
];

/// The flags of a command, in the order of its help.
pub(crate) fn rows(mode: Mode) -> Vec<Row> {
    let of = |table: &[&[Row]], mode: Mode| {
        table.concat().into_iter().filter(|row| row.modes.contains(&mode)).collect::<Vec<_>>()
    };
    match mode {
        Mode::Top => [of(USUAL, Mode::Run), of(USUAL, Mode::Top)].concat(),
        Mode::Hold => of(HELD, mode),
        _ => of(USUAL, mode),
    }
}

impl Row {
    const fn short(mut self, short: char) -> Self {
        self.short = Some(short);
        self
    }

    const fn help(mut self, english: &'static str, chinese: &'static str) -> Self {
        (self.english, self.chinese) = (english, chinese);
        self
    }

    /// What it means to people.
    pub(crate) fn text(&self, language: Language) -> &'static str {
        language.pick(self.english, self.chinese)
    }

    /// What its value is called, if it takes one.
    pub(crate) fn value(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Word(name) | Kind::Text(name) | Kind::Number(name) | Kind::Free(name) => Some(name),
            Kind::List(name) | Kind::FreeList(name) | Kind::Choice(name, _) => Some(name),
            Kind::Shell => Some("SHELL"),
            Kind::Switch | Kind::Help | Kind::Version => None,
        }
    }

    /// Whether it stands without a flag.
    pub(crate) fn is_word(&self) -> bool {
        matches!(self.kind, Kind::Word(_) | Kind::Shell)
    }

    /// The flag for the parser of command lines.
    pub(crate) fn arg(&self, language: Language) -> Arg {
        let mut arg = Arg::new(self.name).help(self.text(language));
        arg = arg.help_heading(language.pick("Options", "选项"));
        if !self.is_word() {
            arg = arg.long(self.name);
        }
        if let Some(short) = self.short {
            arg = arg.short(short);
        }
        if let Some(name) = self.value() {
            arg = arg.value_name(name);
        }
        match self.kind {
            Kind::Word(_) | Kind::Text(_) => arg.action(ArgAction::Set),
            Kind::Shell => {
                let shells = clap::value_parser!(clap_complete::Shell);
                arg.action(ArgAction::Set).required(true).value_parser(shells).hide_possible_values(true)
            }
            Kind::Switch => arg.action(ArgAction::SetTrue),
            Kind::Number(_) => arg.action(ArgAction::Set).allow_negative_numbers(true),
            Kind::Free(_) => arg.action(ArgAction::Set).allow_hyphen_values(true),
            Kind::List(_) => arg.action(ArgAction::Append),
            Kind::FreeList(_) => arg.action(ArgAction::Append).allow_hyphen_values(true),
            Kind::Choice(_, words) => {
                let words = PossibleValuesParser::new(words.iter().copied());
                arg.action(ArgAction::Set).value_parser(words).hide_possible_values(true)
            }
            Kind::Help => arg.action(ArgAction::Help),
            Kind::Version => arg.action(ArgAction::Version),
        }
    }
}
