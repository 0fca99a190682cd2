//! The table of flags: help, completions, the manual and `docs/reference.md` are generated from it.
//!
//! A flag is a row in one of the files below; its position there is its position in the help.

/// Makes a table of flags. A row: name, letter, value and commands, and what else holds for it; what the short help
/// says instead of the text; the text in English and in Chinese.
macro_rules! flags {
    ($(#[$about:meta])* $vis:vis $table:ident; $(
        $name:literal $(/ $letter:literal)?: $kind:expr, $modes:expr $(, $mark:ident)*;
        $(brief $brief:literal, $brief_zh:literal;)?
        $english:literal, $chinese:literal;
    )*) => {
        $(#[$about])*
        $vis const $table: &[Row] = &[$(
            flag($name, $kind, $modes)$(.short($letter))?$(.$mark())*$(.brief($brief, $brief_zh))?.help($english, $chinese)
        ),*];
    };
}

mod bus;
mod connections;
mod load;
mod request;
mod responses;
mod run;
mod search;
mod serve;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ValueHint};
use protocol::KeyKind;
use report::Language;

/// Makes the enum of commands; all but the first are in `Mode::ALL`.
macro_rules! modes {
    ($top:ident, $($mode:ident,)+) => {
        /// The command, which determines the flags; `Top` is none at all: the flags of `run`, and a few more.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Mode {
            $top,
            $($mode,)+
        }

        impl Mode {
            const ALL: &[Self] = &[$(Self::$mode,)+];
        }
    };
}

// `Ask` is `grpc list` and `grpc describe`.
modes! {
    Top, Run, Demo, Serve, Hold, Recover, Doctor, Check, Init, Report, History, Compare, Web, Ctl, Selftest, Worker, Bus,
    Grpc, Ask, FindMax, Sweep, Capacity, Completions, Man,
}

/// Sets of commands that share flags.
mod modes {
    use super::Mode::{
        self, Ask, Capacity, Compare, Demo, Doctor, FindMax, History, Hold, Init, Recover, Report, Run, Selftest,
        Serve, Sweep, Web, Worker,
    };

    pub(super) const ALL: &[Mode] = Mode::ALL;
    pub(super) const ASKING: &[Mode] = &[Run, Hold, Ask];
    pub(super) const CALLS: &[Mode] = &[Run, Ask];
    pub(super) const DRIVING: &[Mode] = &[Run, Demo, Serve, Hold, Doctor, Selftest, Worker];
    pub(super) const CUSTOM: &[Mode] = &[Run, Hold, Init];
    pub(super) const COMPARING: &[Mode] = &[Run, Hold, Recover, Compare];
    pub(super) const PAGED: &[Mode] = &[Run, Hold, Recover, Report, FindMax, Sweep];
    pub(super) const PAST: &[Mode] = &[History, Compare, Capacity];
    pub(super) const KEYED: &[Mode] = &[Run, Serve, Hold, Ask];
    pub(super) const LOADS: &[Mode] = &[Run, Hold];
    pub(super) const THREADED: &[Mode] = &[Run, Hold, Worker];
    pub(super) const PINNED: &[Mode] = &[Run, Worker];
    pub(super) const PLACED: &[Mode] = &[Run, Hold, Doctor];
    pub(super) const SHOWN: &[Mode] = &[Run, Demo, Hold, Recover];
    pub(super) const FRONTS: &[Mode] = &[FindMax, Sweep];
    pub(super) const JUDGED: &[Mode] = &[Run, Recover];
    pub(super) const KEPT: &[Mode] = &[Run, Hold, Recover];
    pub(super) const SAVED: &[Mode] = &[Run, Hold, FindMax, Sweep];
    pub(super) const PRINTED: &[Mode] = &[Run, Demo, Hold, Recover, FindMax, Sweep];
    pub(super) const WATCHED: &[Mode] = &[Run, Hold, Web, FindMax, Sweep];
}

/// The value of a flag. The text is the name of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word without a flag.
    Word(&'static str),
    /// Words without a flag, at least one.
    Words(&'static str),
    /// The same after `--`; there may be none.
    Behind(&'static str),
    /// The name of a shell, without a flag.
    Shell,
    /// No value.
    Switch,
    /// A value.
    Text(&'static str),
    /// A value that may look like a negative number, so that the plan reports the error.
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
    /// The name after `--`; of a word, its name.
    pub(crate) name: &'static str,
    pub(crate) short: Option<char>,
    pub(crate) kind: Kind,
    /// Its group in the help.
    pub(crate) group: Group,
    /// Whether the short help shows it.
    pub(crate) is_common: bool,
    /// Whether a page may set it for a run. All others read or write files of this machine, or concern the program.
    pub(crate) is_from_page: bool,
    /// What the short help says instead of the text.
    brief: Option<(&'static str, &'static str)>,
    modes: &'static [Mode],
    english: &'static str,
    chinese: &'static str,
}

/// A flag, or a word, of some commands.
const fn flag(name: &'static str, kind: Kind, modes: &'static [Mode]) -> Row {
    Row {
        name,
        short: None,
        kind,
        group: Group::Load,
        is_common: false,
        is_from_page: false,
        brief: None,
        modes,
        english: "",
        chinese: "",
    }
}

/// The flags of a custom protocol.
fn custom_rows(number: u8, protocol: &'static dyn protocol::Protocol) -> impl Iterator<Item = Row> {
    protocol::flags_of(protocol.about().name).iter().map(move |(name, key)| {
        let kind = match key.kind {
            KeyKind::Text => Kind::Free("TEXT"),
            KeyKind::Number { .. } => Kind::Number("N"),
            KeyKind::Switch => Kind::Switch,
            KeyKind::Words => Kind::Free("WORDS"),
            KeyKind::WordLists => Kind::FreeList("WORDS"),
        };
        let row = flag(name, kind, modes::CUSTOM).page().help(key.help.en, key.help.zh);
        Row { group: Group::Custom(number), ..row }
    })
}

/// A group of flags: a heading of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// What a command works on.
    Arguments,
    Load,
    Server,
    Request,
    Checks,
    Connections,
    Http,
    Tls,
    Messaging,
    Grpc,
    /// Those of a custom protocol, by its position.
    Custom(u8),
    Curl,
    Output,
    Generator,
}

impl Group {
    /// The heading.
    pub(crate) fn title(self, language: Language) -> &'static str {
        let (english, chinese) = match self {
            Self::Arguments => ("Arguments", "参数"),
            Self::Load => ("Load", "负载"),
            Self::Server => ("Server", "被测服务"),
            Self::Request => ("Request", "请求"),
            Self::Checks => ("Answers", "断言与阈值"),
            Self::Connections => ("Connections and routing", "连接与路由"),
            Self::Http => ("HTTP version", "HTTP 版本"),
            Self::Tls => ("TLS", "TLS"),
            Self::Messaging => ("WebSocket and TCP", "WebSocket 与 TCP"),
            Self::Grpc => ("gRPC", "gRPC"),
            Self::Custom(number) => protocol::of_number(number).map_or(("", ""), |protocol| {
                let title = protocol.about().title;
                (title, title)
            }),
            Self::Curl => ("curl steps", "curl 步骤"),
            Self::Output => ("Output", "输出"),
            Self::Generator => ("Generator", "压测机"),
        };
        language.pick(english, chinese)
    }
}

/// The table, in the order of the help.
const TABLE: &[(Group, &[Row])] = &[
    (Group::Load, load::ROWS),
    (Group::Load, load::HELD),
    (Group::Load, load::FILES),
    (Group::Load, search::ROWS),
    (Group::Load, search::CAPACITY),
    (Group::Server, serve::ROWS),
    (Group::Server, bus::ROWS),
    (Group::Request, request::ROWS),
    (Group::Checks, responses::ROWS),
    (Group::Connections, connections::ROWS),
    (Group::Http, request::HTTP),
    (Group::Tls, connections::TLS),
    (Group::Messaging, connections::MESSAGING),
    (Group::Grpc, responses::GRPC),
    (Group::Curl, load::CURL),
    (Group::Output, run::VIEW),
    (Group::Generator, run::ENGINE),
];

/// The flags of a command, in the order of its help.
pub(crate) fn rows(mode: Mode) -> Vec<Row> {
    #[cfg(test)]
    crate::register(&[]);
    let known = TABLE.iter().flat_map(|&(group, rows)| rows.iter().map(move |row| Row { group, ..*row }));
    let custom = protocol::registered().iter().zip(0..).flat_map(|(protocol, number)| custom_rows(number, *protocol));
    let is_of = |row: &Row| row.modes.contains(&mode) || (mode == Mode::Top && row.modes.contains(&Mode::Run));
    let mut rows: Vec<Row> =
        known.chain(custom).filter(is_of).map(|row| Row { group: row.group_in(mode), ..row }).collect();
    rows.sort_by_key(|row| row.group != Group::Arguments);
    rows
}

impl Row {
    /// Its heading in a command: where no load is made, what the command works on is an argument.
    fn group_in(&self, mode: Mode) -> Group {
        match self.group {
            group if matches!(mode, Mode::Top | Mode::Run | Mode::Demo | Mode::Hold) => group,
            group if matches!(mode, Mode::FindMax | Mode::Sweep | Mode::Capacity) => group,
            Group::Load => Group::Arguments,
            Group::Server if mode == Mode::Bus => Group::Arguments,
            _ if self.is_word() => Group::Arguments,
            group => group,
        }
    }

    const fn short(mut self, short: char) -> Self {
        self.short = Some(short);
        self
    }

    const fn page(mut self) -> Self {
        self.is_from_page = true;
        self
    }

    const fn common(mut self) -> Self {
        self.is_common = true;
        self
    }

    /// A text of one line for the short help.
    const fn brief(mut self, english: &'static str, chinese: &'static str) -> Self {
        self.brief = Some((english, chinese));
        self.common()
    }

    const fn help(mut self, english: &'static str, chinese: &'static str) -> Self {
        (self.english, self.chinese) = (english, chinese);
        self
    }

    /// The help text.
    pub(crate) fn text(&self, language: Language) -> &'static str {
        language.pick(self.english, self.chinese)
    }

    /// The text of the short help.
    pub(crate) fn brief_text(&self, language: Language) -> &'static str {
        self.brief.map_or(self.text(language), |(english, chinese)| language.pick(english, chinese))
    }

    /// The name of its value, if it takes one.
    pub(crate) fn value(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Word(name) | Kind::Words(name) | Kind::Behind(name) | Kind::Text(name) => Some(name),
            Kind::Number(name) | Kind::Free(name) => Some(name),
            Kind::List(name) | Kind::FreeList(name) | Kind::Choice(name, _) => Some(name),
            Kind::Shell => Some("SHELL"),
            Kind::Switch | Kind::Help | Kind::Version => None,
        }
    }

    /// Whether it is a word without a flag.
    pub(crate) fn is_word(&self) -> bool {
        matches!(self.kind, Kind::Word(_) | Kind::Words(_) | Kind::Behind(_) | Kind::Shell)
    }

    /// Whether a word of a command line is this flag, with its value attached or without one.
    pub(crate) fn is_named(&self, word: &str) -> bool {
        let is_long = word.strip_prefix("--").is_some_and(|name| name == self.name);
        !self.is_word() && (is_long || self.short.is_some_and(|short| word == format!("-{short}")))
    }

    /// Whether the next word is its value.
    pub(crate) fn takes_value(&self) -> bool {
        !matches!(self.kind, Kind::Switch | Kind::Help | Kind::Version)
    }

    /// The argument for clap.
    pub(crate) fn arg(&self, language: Language) -> Arg {
        let mut arg = Arg::new(self.name).help(self.text(language));
        arg = arg.help_heading(self.group.title(language));
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
            Kind::Words(_) => {
                arg.action(ArgAction::Append).num_args(1..).required(true).value_hint(ValueHint::FilePath)
            }
            Kind::Behind(_) => arg.action(ArgAction::Append).num_args(0..).last(true).value_hint(ValueHint::FilePath),
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
