//! Flags from the environment (`ONRUSH_CONNECTIONS=100` is `--connections 100`) and from the file of `--config`.
//! They are added to the words of the command line before it is parsed, so that they mean the same. Typed flags win
//! over the environment, and the environment over the file; a list is taken from one layer as a whole.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;
use plan::{Setting, did_you_mean, read_config};
use report::Language;

use crate::help::{self, COMMANDS, QUESTIONS};
use crate::options::flags::{self, Kind, Mode, Row};
use crate::output;
use crate::session::dashboards;
use crate::session::exporting;

/// The prefix of our variables.
const PREFIX: &str = "ONRUSH_";
/// The flag that names the file.
const CONFIG: &str = "config";

/// A command line with the flags of other layers.
#[derive(Debug)]
pub(crate) struct ConfigLayers {
    pub(crate) words: Vec<OsString>,
    /// The source of each added flag.
    sources: Vec<(String, String)>,
}

/// Variables of the environment, in any order.
type Environment = Vec<(String, OsString)>;

impl ConfigLayers {
    /// The words with the environment and a file added. `has_url`: a URL follows the words.
    pub(crate) fn add(words: Vec<OsString>, has_url: bool, language: Language) -> Result<Self, String> {
        Self::add_without(words, &[], has_url, language)
    }

    /// The same, without the variables of some flags, which belong to the wrapping command.
    pub(crate) fn add_without(
        words: Vec<OsString>,
        without: &[Row],
        has_url: bool,
        language: Language,
    ) -> Result<Self, String> {
        let without: Vec<String> = without.iter().map(variable_of).collect();
        let ours = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let is_wanted = |name: &String| name.starts_with(PREFIX) && !without.contains(name);
        let environment: Environment = ours.filter(|(name, _)| is_wanted(name)).collect();
        unknown(&environment).iter().for_each(|name| output::note(&say_unknown(name, language)));
        Self::new(words, environment, has_url, language)
    }

    fn new(
        words: Vec<OsString>,
        mut environment: Environment,
        has_url: bool,
        language: Language,
    ) -> Result<Self, String> {
        let mut sources = Vec::new();
        // Errors in the words themselves are reported by their parser.
        let Ok(matches) = help::command(language).try_get_matches_from(&words) else {
            return Ok(Self { words, sources });
        };
        let (mode, depth, inner) = place(&matches);
        environment.sort();
        environment.retain(|(_, value)| !value.is_empty());
        let settings = settings(mode, inner, &environment, language)?;
        let mut added = Vec::new();
        for row in flags::rows(mode).iter().filter(|row| may_borrow(row) && !is_typed(inner, row)) {
            if row.is_word() && (has_url || is_given(inner, "curl")) {
                continue;
            }
            let variable = variable_of(row);
            let found = environment.iter().find(|(name, _)| *name == variable);
            let words = match found {
                Some((_, value)) => Some((from_variable(row, &variable, value, language)?, variable)),
                None => from_file(row, &settings, language)?,
            };
            if let Some((words, source)) = words {
                added.extend(words);
                // A language that is valid causes no error.
                let is_valid =
                    |(_, value): &(String, OsString)| Language::from_name(&value.to_string_lossy()).is_some();
                if row.name != "lang" || !found.is_some_and(is_valid) {
                    sources.push((format!("--{}", row.name), source));
                }
            }
        }
        let (mut words, rest) = (words[..=depth].to_vec(), words[depth + 1..].to_vec());
        words.extend(added);
        words.extend(rest);
        Ok(Self { words, sources })
    }

    /// The sources of flags, for error messages; `None` if all were typed.
    pub(crate) fn say_sources(&self, language: Language) -> Option<String> {
        let from = |(flag, source): &(String, String)| {
            language.pick(format!("{flag} is from {source}"), format!("{flag} 来自 {source}"))
        };
        let all: Vec<String> = self.sources.iter().map(from).collect();
        (!all.is_empty()).then(|| format!("onrush: {}", all.join(language.pick(", ", "，"))))
    }
}

/// The command that the words name, the number of words that name it, and its flags.
fn place(matches: &ArgMatches) -> (Mode, usize, &ArgMatches) {
    let Some((name, inner)) = matches.subcommand() else { return (Mode::Top, 0, matches) };
    if let Some((question, requested)) = inner.subcommand()
        && QUESTIONS.contains(&question)
    {
        return (Mode::Ask, 2, requested);
    }
    let mode = COMMANDS.iter().find(|(known, _)| *known == name).map_or(Mode::Top, |(_, mode)| *mode);
    (mode, 1, inner)
}

/// Whether a row may come from another layer: flags, and the URL; all other words select what to do.
fn may_borrow(row: &Row) -> bool {
    match row.kind {
        Kind::Word(_) => row.name == "url",
        Kind::Words(_) | Kind::Behind(_) | Kind::Shell | Kind::Help | Kind::Version => false,
        _ => row.name != CONFIG,
    }
}

fn is_typed(matches: &ArgMatches, row: &Row) -> bool {
    is_given(matches, row.name)
}

fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.try_contains_id(name).is_ok() && matches.value_source(name) == Some(ValueSource::CommandLine)
}

/// The variable of a flag.
fn variable_of(row: &Row) -> String {
    format!("{PREFIX}{}", row.name.replace(['-', '.'], "_").to_ascii_uppercase())
}

/// The rows of all commands that may come from another layer.
fn all_rows() -> impl Iterator<Item = Row> {
    let modes = COMMANDS.into_iter().map(|(_, mode)| mode).chain([Mode::Ask]);
    modes.flat_map(flags::rows).filter(|row| may_borrow(row) || row.name == CONFIG)
}

/// Variables that are no flag of any command.
fn unknown(environment: &Environment) -> Vec<String> {
    // A secret is no flag: the process list shows command lines.
    let known: Vec<String> = all_rows()
        .map(|row| variable_of(&row))
        .chain([exporting::TOKEN, dashboards::TOKEN].map(str::to_owned))
        .collect();
    let mut unknown: Vec<String> =
        environment.iter().map(|(name, _)| name.clone()).filter(|name| !known.contains(name)).collect();
    unknown.sort();
    unknown
}

fn say_unknown(name: &str, language: Language) -> String {
    let known: Vec<String> = all_rows().map(|row| variable_of(&row)).collect();
    let bare = |name: &'_ str| name.trim_start_matches(PREFIX).to_owned();
    let known: Vec<String> = known.iter().map(|name| bare(name)).collect();
    match did_you_mean(&bare(name), known.iter().map(String::as_str)) {
        Some(near) => language.pick(
            format!("onrush: the variable {name} is no flag and is ignored; did you mean {PREFIX}{near}?"),
            format!("onrush: 环境变量 {name} 不是参数，已忽略；是否想写 {PREFIX}{near}？"),
        ),
        None => language.pick(
            format!(
                "onrush: the variable {name} is no flag and is ignored; a variable is {PREFIX} and the name of a flag"
            ),
            format!("onrush: 环境变量 {name} 不是参数，已忽略；变量名应为 {PREFIX} 加参数名"),
        ),
    }
}

/// The settings of the file of `--config`, if there is one, with the path.
fn settings(
    mode: Mode,
    matches: &ArgMatches,
    environment: &Environment,
    language: Language,
) -> Result<(String, Vec<Setting>), String> {
    let rows = flags::rows(mode);
    if !rows.iter().any(|row| row.name == CONFIG) {
        return Ok(Default::default());
    }
    let typed = matches.try_get_one::<String>(CONFIG).ok().flatten().cloned();
    let by_variable = || {
        let found = environment.iter().find(|(name, _)| name.strip_prefix(PREFIX) == Some("CONFIG"));
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    };
    let Some(path) = typed.or_else(by_variable) else { return Ok(Default::default()) };
    let settings = read_config(Path::new(&path)).map_err(|error| report::config_error(&path, &error, language))?;
    for setting in &settings {
        if !rows.iter().any(|row| may_borrow(row) && row.name == setting.name) {
            let text = say_foreign(&setting.name, &rows, language);
            return Err(report::config_line(&path, setting.line, &text, language));
        }
    }
    Ok((path, settings))
}

/// The message for a name in a file that is no flag of the command.
fn say_foreign(name: &str, rows: &[Row], language: Language) -> String {
    if all_rows().any(|row| row.name == name) {
        return language.pick(
            format!("this command has no flag --{name} that a file may set; a file is for one command"),
            format!("该命令没有可由文件设置的参数 --{name}；一个文件只用于一个命令"),
        );
    }
    let names = rows.iter().filter(|row| may_borrow(row)).map(|row| row.name);
    match did_you_mean(name, names) {
        Some(near) => language.pick(
            format!("unknown flag '{name}', did you mean '{near}'?"),
            format!("未知参数 '{name}'，是否想写 '{near}'？"),
        ),
        None => language.pick(
            format!("unknown flag '{name}'; names are those of the flags, without hyphens in front"),
            format!("未知参数 '{name}'；名称即参数名，前面不加连字符"),
        ),
    }
}

/// A flag from the value of a variable; a list has one value in each line.
fn from_variable(row: &Row, variable: &str, value: &OsStr, language: Language) -> Result<Vec<OsString>, String> {
    match row.kind {
        Kind::Switch => {
            let text = value.to_string_lossy();
            let is_on = is_on(&text).ok_or_else(|| say_switch(variable, &text, language))?;
            Ok(is_on.then(|| OsString::from(format!("--{}", row.name))).into_iter().collect())
        }
        Kind::List(_) | Kind::FreeList(_) => {
            let lines = value.as_bytes().split(|byte| *byte == b'\n').map(|line| line.trim_ascii());
            Ok(lines.filter(|line| !line.is_empty()).map(|line| word(row, OsStr::from_bytes(line))).collect())
        }
        _ => Ok(vec![word(row, value)]),
    }
}

type FromFile = Option<(Vec<OsString>, String)>;

/// A flag from a file.
fn from_file(row: &Row, (path, settings): &(String, Vec<Setting>), language: Language) -> Result<FromFile, String> {
    let own: Vec<&Setting> = settings.iter().filter(|setting| setting.name == row.name).collect();
    let Some(last) = own.last() else { return Ok(None) };
    let fail = |text: String| Err(report::config_line(path, last.line, &text, language));
    let values: Vec<&String> = own.iter().flat_map(|setting| &setting.values).collect();
    let is_list = matches!(row.kind, Kind::List(_) | Kind::FreeList(_));
    let [only] = values[..] else {
        if is_list {
            let words = values.iter().map(|value| word(row, OsStr::new(value))).collect();
            return Ok(Some((words, path.clone())));
        }
        return fail(language.pick(
            format!("'{}' takes one value; give it once", row.name),
            format!("'{}' 只有一个值；请只写一次", row.name),
        ));
    };
    if row.kind != Kind::Switch {
        return Ok(Some((vec![word(row, OsStr::new(only))], path.clone())));
    }
    match is_on(only) {
        Some(true) => Ok(Some((vec![format!("--{}", row.name).into()], path.clone()))),
        Some(false) => Ok(None),
        None => fail(say_switch(row.name, only, language)),
    }
}

/// A value with its flag, as one word.
fn word(row: &Row, value: &OsStr) -> OsString {
    if row.is_word() {
        return value.to_owned();
    }
    let mut word = OsString::from(format!("--{}=", row.name));
    word.push(value);
    word
}

fn is_on(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

fn say_switch(name: &str, value: &str, language: Language) -> String {
    let value = value.escape_debug();
    language.pick(
        format!("{name} takes true or false, not '{value}'"),
        format!("{name} 的值 '{value}' 无效：应为 true 或 false"),
    )
}

#[cfg(test)]
mod tests;
