//! Commands that wrap another one: `find-max` and `sweep` take the command line of a load, of `run` or of `hold`, and
//! have flags of their own, anywhere among it.

use std::ffi::OsString;

use clap::ArgMatches;
use clap::parser::ValueSource;
use report::Language;

use crate::exit::Exit;
use crate::help;
use crate::options::args::Command;
use crate::options::flags::{self, Kind, Mode};
use crate::output;
use crate::session::config_layers::ConfigLayers;

/// The wrapping commands.
const FRONTS: [(&str, Mode); 2] = [("find-max", Mode::FindMax), ("sweep", Mode::Sweep)];

/// Own flags first, then two hyphens and the command line of the load; other commands as they are.
pub(crate) fn sorted(words: Vec<OsString>) -> Vec<OsString> {
    let Some((place, mode)) = front(&words) else { return words };
    let rows = flags::rows(mode);
    let mut own: Vec<OsString> = words[..=place].to_vec();
    let (mut rest, mut words) = (Vec::new(), words.into_iter().skip(place + 1));
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            rest.extend(words.by_ref());
            break;
        }
        // The words after it are curl's.
        if text == "curl" {
            rest.push(word);
            rest.extend(words.by_ref());
            break;
        }
        let (name, has_value) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (&*text, false),
        };
        let Some(row) = rows.iter().find(|row| row.is_named(name)) else {
            rest.push(word);
            continue;
        };
        own.push(word);
        if row.takes_value() && !has_value {
            own.extend(words.next());
        }
    }
    if !rest.is_empty() {
        own.push("--".into());
        own.extend(rest);
    }
    own
}

/// The position of such a command's word, after nothing but the language.
fn front(words: &[OsString]) -> Option<(usize, Mode)> {
    let mut place = 1;
    loop {
        let word = words.get(place)?.to_string_lossy();
        if word == "--lang" {
            place += 2;
        } else if word.starts_with("--lang=") {
            place += 1;
        } else {
            let (_, mode) = FRONTS.into_iter().find(|(name, _)| *name == word)?;
            return Some((place, mode));
        }
    }
}

/// The exit code of a command; an error of its command line is printed.
pub(crate) fn ended(begun: Result<Exit, String>) -> Exit {
    begun.unwrap_or_else(|text| {
        output::complain_in_lines(&text);
        Exit::Usage
    })
}

/// The command line of a load: its arguments, and its flags.
pub(crate) struct WrappedCommand {
    pub(crate) command: Command,
    typed: ArgMatches,
    mode: Mode,
}

/// Parses the command line of a load. `more`: words before it.
pub(crate) fn behind(words: &[String], more: &[String], language: Language) -> Result<WrappedCommand, String> {
    let is_hold = words.first().is_some_and(|word| word == "hold");
    let is_named = is_hold || words.first().is_some_and(|word| word == "run");
    let name = if is_hold { "hold" } else { "run" };
    // A curl command takes all words after it.
    let own = more.iter().chain(words.iter().skip(usize::from(is_named)));
    let all: Vec<OsString> = ["onrush", name].into_iter().map(OsString::from).chain(own.map(OsString::from)).collect();
    let (all, curl) = crate::options::foreign_args::split_at_curl(all, language);
    // Flags from other layers are no error: they have no meaning here, or are overridden.
    let typed = help::command(language).try_get_matches_from(&all);
    let own = [flags::rows(Mode::FindMax), flags::rows(Mode::Sweep)].concat();
    let borrowed = ConfigLayers::add_without(all, &own, curl.is_some(), language)?;
    let matches = help::command(language).try_get_matches_from(&borrowed.words);
    let matches = matches.map_err(|error| crate::options::usage::said(&error, language))?;
    let mut command = Command::from_matches(&matches);
    if let Command::Run(args) = &mut command {
        args.flags.curl = curl;
    }
    let of_command = |matches: &ArgMatches| matches.subcommand().map(|(_, inner)| inner.clone());
    let typed = typed.ok().as_ref().and_then(of_command).or_else(|| of_command(&matches));
    let mode = if is_hold { Mode::Hold } else { Mode::Run };
    Ok(WrappedCommand { command, typed: typed.expect("a command was named"), mode })
}

impl WrappedCommand {
    /// The first of these flags that was given.
    pub(crate) fn given(&self, names: &[&'static str]) -> Option<&'static str> {
        let is_given = |name: &&&'static str| {
            self.typed.try_contains_id(name).is_ok()
                && self.typed.value_source(name).is_some_and(|source| source == ValueSource::CommandLine)
        };
        names.iter().find(is_given).copied()
    }

    /// The kind of this flag, if it is one of the load.
    pub(crate) fn kind_of(&self, name: &str) -> Option<Kind> {
        flags::rows(self.mode).into_iter().find(|row| row.name == name && !row.is_word()).map(|row| row.kind)
    }

    /// The long name of a flag that is given by its letter, like `c` of `-c`; others as they are.
    pub(crate) fn long_name<'a>(&self, name: &'a str) -> &'a str {
        let letter = name.chars().next().filter(|_| name.chars().count() == 1);
        let row =
            flags::rows(self.mode).into_iter().find(|row| !row.is_word() && letter.is_some() && row.short == letter);
        row.map_or(name, |row| row.name)
    }

    /// The names of all flags of the load.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        flags::rows(self.mode).into_iter().filter(|row| !row.is_word()).map(|row| row.name).collect()
    }
}
