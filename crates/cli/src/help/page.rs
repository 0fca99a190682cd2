//! The pages of `-h` and `--help`, from the table of flags, wrapped to the terminal.

use std::fmt::Write as _;

use report::{Language, wrap};

use super::texts::{EXIT_CODES, Example, PATHS, Text, about, examples, purpose, usage};
use super::{COMMANDS, QUESTIONS};
use crate::options::flags::{self, Mode, Row};

/// The column of the help texts.
const TEXT_COLUMN: usize = 28;
/// The column of the texts of common flags, which fit one line each.
const BRIEF_COLUMN: usize = 32;
/// The column of the texts of commands.
const COMMAND_COLUMN: usize = 15;
/// The longest line; longer ones are hard to read.
const COLUMNS_MAX: usize = 120;
const COLUMNS_MIN: usize = 60;
/// The width when stdout is no terminal.
const COLUMNS_USUAL: usize = 100;
/// The examples of the short page.
const EXAMPLES_FEW: usize = 2;
/// A command with no more flags than this shows them all.
const FLAGS_FEW: usize = 16;

/// The page of a command. The short one has the common flags only.
pub(crate) fn page(name: &str, mode: Mode, is_long: bool, columns: Option<usize>, language: Language) -> String {
    let columns = columns.unwrap_or(COLUMNS_USUAL).clamp(COLUMNS_MIN, COLUMNS_MAX);
    let mut page = Page { text: String::new(), columns, language };
    let rows = flags::rows(mode);
    let is_all = is_long || rows.len() <= FLAGS_FEW;
    page.intro(name);
    if mode == Mode::Top {
        page.commands();
    }
    if mode == Mode::Grpc {
        page.title("Commands", "命令");
        QUESTIONS.iter().for_each(|question| page.entry(question, purpose(question, language)));
    }
    let shown: Vec<Row> = rows.iter().filter(|row| is_all || row.is_common).copied().collect();
    if is_all {
        page.groups(&shown)
    } else {
        page.common(&shown)
    }
    if mode == Mode::Serve {
        page.title("Paths (times in milliseconds)", "路径（时间单位为毫秒）");
        PATHS.iter().for_each(|&(path, en, zh)| page.entry(path, language.pick(en, zh)));
    }
    let all = examples(name);
    page.examples(if is_long { all } else { &all[..all.len().min(EXAMPLES_FEW)] });
    page.ending(name, mode, is_all, rows.len());
    page.text
}

/// The flags of curl with their titles; those that shape what is sent come first.
pub(crate) fn flags_of_curl() -> [(Text, Vec<String>); 3] {
    let flags = plan::curl_flags();
    [
        (("Flags of curl that shape what is sent", "决定请求内容的 curl 参数"), flags.shaping),
        (("Read, without any effect on a load", "可以保留、对压测没有影响的参数"), flags.idle),
        (("Refused by name, as a load has nothing like them", "没有对应功能、会报错拒绝的参数"), flags.refused),
    ]
}

/// The page of `curl`, whose flags are those of curl. The short one has what shapes requests only.
pub(crate) fn curl_page(is_long: bool, columns: Option<usize>, language: Language) -> String {
    let columns = columns.unwrap_or(COLUMNS_USUAL).clamp(COLUMNS_MIN, COLUMNS_MAX);
    let mut page = Page { text: String::new(), columns, language };
    let name = "curl";
    page.intro(name);
    let shown = if is_long { usize::MAX } else { 1 };
    for ((english, chinese), flags) in flags_of_curl().into_iter().take(shown) {
        page.title(english, chinese);
        page.line(2, &flags.join(", "));
    }
    page.examples(examples(name));
    page.text.push('\n');
    let more = if is_long { "onrush --help" } else { "onrush curl --help" };
    page.line(
        0,
        &language.pick(
            format!("Flags of the load stand before the word curl: onrush -c 100 curl ...; see {more}"),
            format!("负载参数写在 curl 之前：onrush -c 100 curl …；详见 {more}"),
        ),
    );
    page.text
}

struct Page {
    text: String,
    columns: usize,
    language: Language,
}

impl Page {
    fn line(&mut self, indent: usize, text: &str) {
        for line in wrap(text, self.columns - indent) {
            writeln!(self.text, "{}{line}", " ".repeat(indent)).expect("text grows");
        }
    }

    fn title(&mut self, english: &str, chinese: &str) {
        let title = self.language.pick(format!("{english}:"), format!("{chinese}："));
        writeln!(self.text, "\n{title}").expect("text grows");
    }

    fn entry(&mut self, name: &str, meaning: &str) {
        self.entry_at(TEXT_COLUMN, name, meaning);
    }

    /// A name with its meaning next to it in a column, or below a long one.
    fn entry_at(&mut self, column: usize, name: &str, meaning: &str) {
        let lines = wrap(meaning, self.columns - column);
        let mut head = format!("  {name}");
        if head.len() + 2 > column {
            writeln!(self.text, "{head}").expect("text grows");
            head.clear();
        }
        for line in lines {
            writeln!(self.text, "{head:column$}{line}").expect("text grows");
            head.clear();
        }
    }

    fn intro(&mut self, name: &str) {
        let (english, chinese) = about(name);
        self.language.pick(english, chinese).lines().for_each(|line| self.line(0, line));
        self.title("Usage", "用法");
        let (english, chinese) = usage(name);
        self.language.pick(english, chinese).lines().for_each(|line| self.line(2, line));
    }

    fn commands(&mut self) {
        self.title("Commands", "命令");
        for (name, _) in COMMANDS.into_iter().chain(super::FRONT_ENDS.map(|name| (name, Mode::Top))) {
            self.entry_at(COMMAND_COLUMN, name, purpose(name, self.language));
        }
    }

    fn groups(&mut self, rows: &[Row]) {
        let mut group = None;
        for row in rows {
            if group.replace(row.group) != Some(row.group) {
                writeln!(self.text, "\n{}{}", row.group.title(self.language), self.language.pick(":", "："))
                    .expect("text grows");
            }
            self.flag(row);
        }
    }

    fn common(&mut self, rows: &[Row]) {
        self.title("Common flags", "常用参数");
        for row in rows {
            self.entry_at(BRIEF_COLUMN, &head(row), row.brief_text(self.language));
        }
    }

    fn flag(&mut self, row: &Row) {
        self.entry(&head(row), row.text(self.language));
    }

    fn examples(&mut self, all: &[Example]) {
        self.title("Examples", "示例");
        for (command, english, chinese) in all {
            // A command is copied as it is.
            writeln!(self.text, "  {command}").expect("text grows");
            self.line(6, self.language.pick(english, chinese));
        }
    }

    fn ending(&mut self, name: &str, mode: Mode, is_all: bool, number: usize) {
        if is_all {
            let text =
                self.language.pick(format!("Exit codes: {}.", EXIT_CODES.0), format!("退出码：{}。", EXIT_CODES.1));
            self.text.push('\n');
            return self.line(0, &text);
        }
        let (command, manual) = match mode {
            Mode::Top => ("onrush".to_owned(), String::new()),
            Mode::Ask => (format!("onrush grpc {name}"), format!(" 'grpc {name}'")),
            _ => (format!("onrush {name}"), format!(" {name}")),
        };
        self.text.push('\n');
        self.line(
            0,
            &self.language.pick(
                format!("All {number} flags: {command} --help. Manual: onrush man{manual}"),
                format!("全部 {number} 个参数：{command} --help；手册：onrush man{manual}"),
            ),
        );
    }
}

/// A flag in its written form, with its value.
pub(crate) fn head(row: &Row) -> String {
    let value = row.value().unwrap_or_default();
    if row.is_word() {
        return value.to_owned();
    }
    let short = row.short.map_or("    ".to_owned(), |short| format!("-{short}, "));
    format!("{short}--{} {value}", row.name).trim_end().to_owned()
}
