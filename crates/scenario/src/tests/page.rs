//! The reference of the format, made from its tables; `cargo xtask reference` writes it. The program itself never shows
//! it, so this is a part of the tests only.

use std::fmt::Write as _;

use super::*;
use crate::keys::{
    CHOICE, COOKIES, DATA, DEFAULTS, EXPECT, FILE, LOAD, MEET, MESSAGE, NETWORK, PART, RECEIVE, RETRY, RUN, SCENARIO,
    TAKE, steps,
};

/// Writes the pages instead of comparing them.
const WRITE: &str = "ONRUSH_WRITE_REFERENCE";
/// Longest line of a page, in columns.
const COLUMNS: usize = 118;

/// The kind of a key's value, in English and in Chinese.
fn kind(kind: &Kind) -> (String, String) {
    let plain = |english: &str, chinese: &str| (english.to_owned(), chinese.to_owned());
    match kind {
        Kind::Nothing => plain("nothing", "空"),
        Kind::Text => plain("text", "文本"),
        Kind::Pattern => plain("text with slots", "可含占位符的文本"),
        Kind::Expression => plain("expression", "表达式"),
        Kind::Switch => plain("true or false", "true 或 false"),
        Kind::Count => plain("number", "整数"),
        Kind::Time => plain("time", "时长"),
        Kind::Rate => plain("rate", "速率"),
        Kind::Word(words) => (words.join(", "), words.join("、")),
        Kind::Json => plain("JSON with slots", "可含占位符的 JSON"),
        Kind::OneOrMore(one) | Kind::List(one) => {
            let (english, chinese) = self::kind(one);
            let is_list = matches!(kind, Kind::List(_));
            match is_list {
                true => (format!("list of: {english}"), format!("列表：{chinese}")),
                false => (format!("{english}, or a list of them"), format!("{chinese}，或其列表")),
            }
        }
        Kind::Named(one) | Kind::Variables(one) => {
            let (english, chinese) = self::kind(one);
            (format!("map of names to: {english}"), format!("名称到以下内容的映射：{chinese}"))
        }
        Kind::Object(object) => (object.title.to_owned(), object.title_zh.to_owned()),
        Kind::Either(kinds) => {
            let (english, chinese): (Vec<_>, Vec<_>) = kinds.iter().map(self::kind).unzip();
            (english.join(", or "), chinese.join("，或"))
        }
        Kind::Steps | Kind::MaybeSteps => plain("list of steps", "步骤列表"),
    }
}

fn page(is_chinese: bool) -> String {
    let pick = |english: &'static str, chinese: &'static str| if is_chinese { chinese } else { english };
    let mut page = format!(
        "# {}\n\n{}\n\n{}\n\n{}\n",
        pick("Keys of scenario files", "场景文件字段说明"),
        pick("[中文](scenario-keys.zh.md)", "[English](scenario-keys.md)"),
        wrapped(
            pick(
                "Made from the tables of the reader by `cargo xtask reference`; the same tables make [the JSON Schema](scenario.schema.json). `onrush check FILE` says what is wrong with a file, and [this page](scenarios.md) teaches the format.",
                "由程序所用的字段表通过 `cargo xtask reference` 生成，[JSON Schema](scenario.schema.json) 也出自同一份表。`onrush check 文件` 会指出文件中的错误；格式讲解见[场景文件](scenarios.zh.md)。",
            ),
            ""
        ),
        wrapped(
            pick(
                "Slots are `${name}`, `${row.column}`, `${env.NAME}`, the functions random, uuid, now, counter, base64, sha256, hmac, urlencode, json, pick, name, email and phone, and any other expression in JavaScript; `$${` stands for `${`. A key in bold must be there.",
                "占位符包括 `${名称}`、`${行.列}`、`${env.变量}`，函数 random、uuid、now、counter、base64、sha256、hmac、urlencode、json、pick、name、email、phone，以及任意 JavaScript 表达式；`$${` 表示 `${` 本身。粗体的字段必须写。",
            ),
            ""
        ),
    );
    let objects = [&FILE, &SCENARIO, &LOAD, &DATA, &DEFAULTS, &NETWORK, &RUN];
    let parts = [&EXPECT, &TAKE, &CHOICE, &MEET, &RECEIVE, &MESSAGE, &PART, &RETRY, &COOKIES];
    // The HTTP verbs have the same keys.
    let steps = steps().filter(|step| {
        !["put", "patch", "delete", "head", "options", "request"].contains(&step.id) && step.id != "post"
    });
    for object in objects.into_iter().chain(steps).chain(parts) {
        let title = match (object.id, is_chinese) {
            ("get", false) => "a get, post, put, patch, delete, head, options or request step".to_owned(),
            ("get", true) => "`get`、`post`、`put`、`patch`、`delete`、`head`、`options`、`request` 步骤".to_owned(),
            _ => pick(object.title, object.title_zh).to_owned(),
        };
        let mut letters = title.chars();
        let title: String = match title.strip_suffix(" 步骤").filter(|verb| is_chinese && verb.is_ascii()) {
            Some(verb) => format!("`{verb}` 步骤"),
            None => letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect(),
        };
        write!(page, "\n## {title}\n\n").expect("text grows");
        for field in object.fields {
            let (english, chinese) = kind(&field.kind);
            let name = if field.is_needed { format!("**`{}`**", field.name) } else { format!("`{}`", field.name) };
            let text = pick(field.english, field.chinese).replace('<', "\\<").replace('*', "\\*");
            let line = if is_chinese {
                format!("{name}（{chinese}）：{text}")
            } else {
                format!("{name} ({english}): {text}")
            };
            writeln!(page, "- {}", wrapped(&line, "  ")).expect("text grows");
        }
    }
    page
}

/// A text wrapped to lines; a Chinese sentence has no spaces and is cut after punctuation.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut lines, mut columns) = (String::new(), indent.len());
    for piece in text.split_inclusive([' ', '，', '；', '。', '、', '：']) {
        let wide: usize = piece.trim_end().chars().map(|each| if each.is_ascii() { 1 } else { 2 }).sum();
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

#[test]
fn the_published_pages_are_those_of_the_tables() {
    for (name, is_chinese) in [("scenario-keys.md", false), ("scenario-keys.zh.md", true)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let made = page(is_chinese);
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(&path, &made).expect("the page can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == made, "docs/{name} is not what the tables say; run: cargo xtask reference");
    }
}

#[test]
fn each_key_says_what_it_is_in_both_languages() {
    for object in [&FILE, &SCENARIO, &LOAD, &DATA, &DEFAULTS, &NETWORK, &RUN, &EXPECT, &TAKE].into_iter().chain(steps())
    {
        for field in object.fields {
            assert!(field.english.is_ascii() && field.english.len() > 8, "{}: {}", object.title, field.english);
            assert!(!field.chinese.is_ascii(), "{}: {}", object.title, field.chinese);
        }
        assert!(object.title.is_ascii() && (!object.title_zh.is_ascii()), "{}", object.title_zh);
    }
}
