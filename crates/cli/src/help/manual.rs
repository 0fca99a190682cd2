//! Manual pages in `man` format, one for each command, from the same table as the help.

use std::fmt::Write as _;

use report::Language;

use super::texts::{EXIT_CODES, Example, PATHS, about, examples, purpose, usage};
use super::{COMMANDS, FRONT_ENDS, QUESTIONS, text};
use crate::options::flags::{self, Mode};

/// All pages: the words after `onrush`, the command, and its flags.
pub(crate) fn pages() -> Vec<(&'static str, &'static str, Option<Mode>)> {
    let commands = COMMANDS.into_iter().map(|(name, mode)| (name, name, Some(mode)));
    let questions = QUESTIONS.into_iter().zip(["grpc list", "grpc describe"]);
    let questions = questions.map(|(name, called)| (called, name, Some(Mode::Ask)));
    let front_ends = FRONT_ENDS.into_iter().map(|name| (name, name, None));
    std::iter::once(("", "onrush", Some(Mode::Top))).chain(commands).chain(questions).chain(front_ends).collect()
}

/// The page of a command, like `grpc list`; empty for that of `onrush`. `None`: there is no such command.
pub(crate) fn page(called: &str, language: Language) -> Option<String> {
    let (called, name, mode) = pages().into_iter().find(|(known, _, _)| *known == called)?;
    let title = [&["onrush"], &called.split_whitespace().collect::<Vec<_>>()[..]].concat().join("-");
    let mut page = Roff { text: String::new(), language };
    let version = env!("CARGO_PKG_VERSION");
    page.raw(&format!(".TH {} 1 \"\" \"onrush {version}\" \"onrush\"", title.to_uppercase()));
    let what = text(about(name), language);
    // Justified lines are hard to read.
    page.raw(".ad l\n.nh");
    page.section("NAME", "名称");
    page.line(&format!("{title} - {}", purpose(name, language)));
    page.section("SYNOPSIS", "用法");
    for way in text(usage(name), language).lines() {
        page.line(way);
        page.raw(".br");
    }
    page.section("DESCRIPTION", "说明");
    what.lines().for_each(|line| page.line(line));
    if mode == Some(Mode::Top) {
        page.commands();
    }
    if let Some(mode) = mode {
        page.flags(mode);
    }
    if mode == Some(Mode::Serve) {
        page.section("PATHS", "路径");
        page.line(language.pick("Times are milliseconds.", "时间单位为毫秒。"));
        PATHS.iter().for_each(|&(path, en, zh)| page.entry(path, language.pick(en, zh)));
    }
    page.examples(examples(name));
    page.section("EXIT STATUS", "退出码");
    let (separator, codes) = (language.pick("; ", "；"), text(EXIT_CODES, language));
    for code in codes.split(separator) {
        let (number, meaning) = code.split_once(' ').unwrap_or((code, ""));
        page.entry(number, meaning);
    }
    if mode != Some(Mode::Top) {
        page.section("SEE ALSO", "参见");
        page.raw(".BR onrush (1)");
    }
    Some(page.text)
}

struct Roff {
    text: String,
    language: Language,
}

impl Roff {
    fn raw(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("text grows");
    }

    /// A line of text.
    fn line(&mut self, line: &str) {
        let line = escaped(line);
        // A dot or a quote at the beginning would make it a request.
        let guard = if line.starts_with(['.', '\'']) { "\\&" } else { "" };
        self.raw(&format!("{guard}{line}"));
    }

    fn section(&mut self, english: &str, chinese: &str) {
        let title = self.language.pick(english, chinese);
        self.raw(&format!(".SH \"{title}\""));
    }

    fn entry(&mut self, name: &str, meaning: &str) {
        self.raw(".TP");
        self.raw(&format!("\\fB{}\\fR", escaped(name)));
        self.line(meaning);
    }

    fn commands(&mut self) {
        self.section("COMMANDS", "命令");
        for (called, name, _) in pages().into_iter().skip(1) {
            self.entry(called, purpose(name, self.language));
        }
    }

    fn flags(&mut self, mode: Mode) {
        let rows = flags::rows(mode);
        if rows.is_empty() {
            return;
        }
        self.section("OPTIONS", "参数");
        let mut group = None;
        for row in &rows {
            if group.replace(row.group) != Some(row.group) {
                let title = row.group.title(self.language);
                self.raw(&format!(".SS \"{title}\""));
            }
            self.entry(super::page::head(row).trim_start(), row.text(self.language));
        }
    }

    fn examples(&mut self, all: &[Example]) {
        self.section("EXAMPLES", "示例");
        for (command, english, chinese) in all {
            self.line(self.language.pick(english, chinese));
            self.raw(".PP\n.RS 4\n.nf");
            self.line(command);
            self.raw(".fi\n.RE\n.PP");
        }
    }
}

/// Escapes special characters of `man`; lines may break between Chinese characters.
fn escaped(text: &str) -> String {
    let is_chinese = |each: char| ('一'..='龥').contains(&each);
    let may_follow = |each: char| is_chinese(each) || "（《“".contains(each);
    let mut escaped = String::with_capacity(text.len());
    let mut last = ' ';
    for each in text.chars() {
        let is_between = (is_chinese(last) || "，。；：、）》”".contains(last)) && may_follow(each);
        if is_between {
            escaped.push_str("\\:");
        }
        match each {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            each => escaped.push(each),
        }
        last = each;
    }
    escaped
}
