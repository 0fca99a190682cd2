//! The reference page of all commands and flags, generated from the table; `cargo xtask reference` writes it.
//!
//! The program itself never shows the page, so this is part of the tests only.

use std::fmt::Write as _;
use std::path::PathBuf;

use report::Language;

use crate::help::{self, COMMANDS, FRONT_ENDS, QUESTIONS};
use crate::options::flags::{self, Mode, Row};

/// Longest line of a page, in characters. A Chinese one is as wide as two others.
const COLUMNS: usize = 118;
/// The variable that makes the tests write the pages instead of comparing them.
const WRITE: &str = "ONRUSH_WRITE_REFERENCE";

fn page(language: Language) -> String {
    let other = language.pick("[中文](reference.zh.md)", "[English](reference.md)");
    let title = language.pick("Commands and flags", "命令与参数");
    let made = language.pick(
        "Made from the table of flags by `cargo xtask reference`; `onrush COMMAND --help` shows the same.",
        "由参数表通过 `cargo xtask reference` 生成；`onrush 命令 --help` 显示相同内容。",
    );
    let mut page = format!("# {title}\n\n{other}\n\n{made}\n");
    for (name, mode) in COMMANDS {
        section(&mut page, &format!("onrush {name}"), name, mode, language);
        if mode == Mode::Grpc {
            for question in QUESTIONS {
                section(&mut page, &format!("onrush {name} {question}"), question, Mode::Ask, language);
            }
        }
    }
    FRONT_ENDS.iter().for_each(|name| front_end(&mut page, name, language));
    write!(page, "\n## onrush\n\n").expect("text grows");
    let top = flags::rows(Mode::Top).into_iter().filter(|row| row.name == "version");
    top.for_each(|row| page.push_str(&item(&row, language)));
    page
}

fn section(page: &mut String, title: &str, name: &str, mode: Mode, language: Language) {
    let (english, chinese) = help::about(name);
    write!(page, "\n## {title}\n\n{}\n", wrapped(language.pick(english, chinese), "")).expect("text grows");
    let mut group = None;
    for row in flags::rows(mode) {
        if group.replace(row.group) != Some(row.group) {
            write!(page, "\n### {}\n\n", row.group.title(language)).expect("text grows");
        }
        page.push_str(&item(&row, language));
    }
}

/// A command that takes the flags of another program: its forms, its examples, and for curl the flags.
fn front_end(page: &mut String, name: &str, language: Language) {
    let about = wrapped(help::text(help::about(name), language), "");
    write!(page, "\n## onrush {name}\n\n{about}\n\n").expect("text grows");
    for way in help::text(help::usage(name), language).lines() {
        writeln!(page, "    {way}").expect("text grows");
    }
    let lists = if name == "curl" { help::page::flags_of_curl().into() } else { Vec::new() };
    for (title, flags) in lists {
        let flags: Vec<String> = flags.iter().map(|flag| format!("`{flag}`")).collect();
        let (title, flags) = (help::text(title, language), wrapped(&flags.join(", "), ""));
        write!(page, "\n### {title}\n\n{flags}\n").expect("text grows");
    }
    write!(page, "\n### {}\n\n", language.pick("Examples", "示例")).expect("text grows");
    for (command, english, chinese) in help::examples(name) {
        let meaning = wrapped(language.pick(english, chinese), "  ");
        writeln!(page, "- `{command}`\n  {meaning}").expect("text grows");
    }
}

/// A flag with its value and its help text.
fn item(row: &Row, language: Language) -> String {
    let value = row.value().unwrap_or_default();
    let name = if row.is_word() { value.to_owned() } else { format!("--{} {value}", row.name).trim_end().to_owned() };
    let short = row.short.map(|short| format!("`-{short}`, ")).unwrap_or_default();
    format!("- {short}`{name}`\n  {}\n", wrapped(row.text(language), "  "))
}

/// A text in lines that fit; a Chinese sentence has no spaces and is broken after its punctuation.
fn wrapped(text: &str, indent: &str) -> String {
    let text = text.replace('\n', " ").replace('<', "\\<").replace('*', "\\*");
    let (mut lines, mut columns) = (String::new(), indent.len());
    for piece in text.split_inclusive([' ', '，', '；', '。', '、', '：']) {
        let wide = piece.trim_end().chars().map(|each| if each.is_ascii() { 1 } else { 2 }).sum::<usize>();
        if columns + wide > COLUMNS && columns > indent.len() {
            lines.truncate(lines.trim_end().len());
            lines.push('\n');
            lines.push_str(indent);
            columns = indent.len();
        }
        lines.push_str(piece);
        columns += wide + usize::from(piece.ends_with(' '));
    }
    lines
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

#[test]
fn the_reference_page_is_that_of_the_table() {
    for (name, language) in [("reference.md", Language::En), ("reference.zh.md", Language::Zh)] {
        let (path, made) = (path(name), page(language));
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(&path, &made).expect("the page can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == made, "docs/{name} is not what the table says; run: cargo xtask reference");
    }
}

#[test]
fn the_page_has_every_flag_of_every_command() {
    for language in [Language::En, Language::Zh] {
        let page = page(language);
        for line in page.lines() {
            // A single word, like an address, may be longer than a line.
            assert!(line.chars().count() <= COLUMNS || !line.trim().contains(' '), "{line}");
        }
        let of = |title: &str| {
            let begin = page.find(&format!("\n## {title}\n")).expect("each command has a section");
            page[begin + 4..].split("\n## ").next().unwrap_or_default().to_owned()
        };
        for (name, mode) in COMMANDS {
            let section = of(&format!("onrush {name}"));
            let items = section.lines().filter(|line| line.starts_with("- ")).count();
            assert_eq!(items, flags::rows(mode).len(), "{name}");
        }
        for question in QUESTIONS {
            assert!(of(&format!("onrush grpc {question}")).contains("`--proto FILE`"));
        }
        for name in FRONT_ENDS {
            let section = of(&format!("onrush {name}"));
            help::examples(name).iter().for_each(|example| assert!(section.contains(example.0), "{}", example.0));
        }
        assert!(of("onrush curl").contains("`-X/--request`") && of("onrush curl").contains("`--http3`"));
        assert!(of("onrush").contains("`-V`, `--version`"));
    }
}
