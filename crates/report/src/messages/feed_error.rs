//! Errors of a data file, in both languages: position, reason, and remedy.

use feed::{COLUMNS_MAX, FeedError, FeedFault, NAMES_SAID_MAX, ROW_BYTES_MAX};

use super::in_chinese as reason_in_chinese;
use crate::Language;

/// The error in one line.
pub fn feed_error(error: &FeedError, language: Language) -> String {
    match language {
        Language::En => error.to_string(),
        Language::Zh => {
            let line = error.line.map(|line| format!("，第 {line} 行")).unwrap_or_default();
            format!("{}{line}：{}", error.file.display(), in_chinese(&error.fault))
        }
    }
}

fn in_chinese(fault: &FeedFault) -> String {
    match fault {
        FeedFault::Open { reason } => {
            format!("无法打开：{}；请检查路径，并确认当前用户有读取权限", reason_in_chinese(reason))
        }
        FeedFault::Read { reason } => {
            format!("无法读取：{}；请把文件复制到本地磁盘后再使用", reason_in_chinese(reason))
        }
        FeedFault::Directory => "这是一个目录；请指定其中的文件".to_owned(),
        FeedFault::NotRegular => "这不是普通文件，无法反复读取；请先把数据写入普通文件，再指定该文件".to_owned(),
        FeedFault::Thread { reason } => {
            format!("无法创建读取文件的线程：{}；请调高进程数上限（ulimit -u）", reason_in_chinese(reason))
        }
        FeedFault::Changed => "文件在打开后被修改；压测期间请勿写入，或改用它的副本".to_owned(),
        FeedFault::NoRows => "没有数据行；请至少添加一行；CSV 首行是列名，除非在场景文件中另行给出".to_owned(),
        FeedFault::Fields { found, wanted } => {
            format!("这一行有 {found} 个字段，而列数为 {wanted}；字段中含有分隔符、双引号或换行时，请用双引号括起来")
        }
        FeedFault::OpenQuote => "这一行有未闭合的双引号；请补上，引号内的双引号要写两遍".to_owned(),
        FeedFault::RowTooLong => {
            format!("这一行超过 {} MiB；请检查引号或括号是否成对，或缩短内容", ROW_BYTES_MAX >> 20)
        }
        FeedFault::ColumnsTooMany => format!("列数超过 {COLUMNS_MAX}；请检查分隔符，或去掉不用的列"),
        FeedFault::ColumnTwice { name } => format!("有两列同名：“{name}”；请改成不同的名称"),
        FeedFault::ColumnMissing { name, columns } => format!("没有“{name}”这一列；现有的列：{}", said(columns)),
        FeedFault::KeyMissing { name } => format!("此对象缺少首个对象中有的“{name}”；请补上，没有值时写 null"),
        FeedFault::KeyUnknown { name } => {
            format!("此对象有“{name}”，而首个对象没有；请在首个对象中补上，没有值时写 null")
        }
        FeedFault::Text { charset } => {
            format!("内容不是有效的 {charset}；请将文件另存为 UTF-8，CSV 也可以指定其编码，例如 gbk")
        }
        FeedFault::Wide => "文件编码为 UTF-16 或 UTF-32；请另存为 UTF-8".to_owned(),
        FeedFault::Charset { name } => format!("编码“{name}”未知，或无法逐行读取；请将文件另存为 UTF-8"),
        FeedFault::Separator { found } => {
            format!("{found:?} 不能用作分隔符；请使用一个 ASCII 字符，不能是双引号或换行")
        }
        FeedFault::Json { reason } => format!("不是有效的 JSON：{}；请修正这一行", reason_in_chinese(reason)),
        FeedFault::NoArray => {
            "内容不是由对象组成的数组；请用 [ 和 ] 括住全部内容并用逗号分隔，若每行一个对象，请将格式指定为 jsonl"
                .to_owned()
        }
        FeedFault::NoObject => "这一行不是对象；请写成 {\"名称\": 值}".to_owned(),
        FeedFault::Cut => "文件在数组结束之前中断；请重新写出完整的文件".to_owned(),
        FeedFault::AfterEnd => "数组结束后还有内容；请把所有数据放进同一个数组".to_owned(),
    }
}

fn said(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SAID_MAX).map(String::as_str).collect();
    let rest = if names.len() > NAMES_SAID_MAX { format!(" 等 {} 列", names.len()) } else { String::new() };
    format!("{}{rest}", shown.join("、"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason() -> String {
        std::io::Error::from_raw_os_error(2).to_string()
    }

    /// Faults, each with the texts that it must contain in any language.
    fn faults() -> Vec<(FeedFault, &'static [&'static str])> {
        let name = || "密码".to_owned();
        let columns: Vec<String> = (0..20).map(|number| format!("c{number}")).collect();
        vec![
            (FeedFault::Open { reason: reason() }, &["os error 2"]),
            (FeedFault::Read { reason: reason() }, &["os error 2"]),
            (FeedFault::Directory, &[]),
            (FeedFault::NotRegular, &[]),
            (FeedFault::Thread { reason: reason() }, &["os error 2", "ulimit -u"]),
            (FeedFault::Changed, &[]),
            (FeedFault::NoRows, &["CSV"]),
            (FeedFault::Fields { found: 71, wanted: 82 }, &["71", "82"]),
            (FeedFault::OpenQuote, &[]),
            (FeedFault::RowTooLong, &["8 MiB"]),
            (FeedFault::ColumnsTooMany, &["4096"]),
            (FeedFault::ColumnTwice { name: name() }, &["密码"]),
            (FeedFault::ColumnMissing { name: name(), columns }, &["密码", "c0", "c11"]),
            (FeedFault::KeyMissing { name: name() }, &["密码", "null"]),
            (FeedFault::KeyUnknown { name: name() }, &["密码", "null"]),
            (FeedFault::Text { charset: "GBK" }, &["GBK", "UTF-8", "gbk"]),
            (FeedFault::Wide, &["UTF-16", "UTF-8"]),
            (FeedFault::Charset { name: "klingon".to_owned() }, &["klingon", "UTF-8"]),
            (FeedFault::Separator { found: '\n' }, &["'\\n'", "ASCII"]),
            (FeedFault::Json { reason: "expected value".to_owned() }, &["JSON"]),
            (FeedFault::NoArray, &["[", "]", "jsonl"]),
            (FeedFault::NoObject, &["{\""]),
            (FeedFault::Cut, &[]),
            (FeedFault::AfterEnd, &[]),
        ]
    }

    #[test]
    fn each_mistake_is_reported_in_both_languages() {
        for (fault, parts) in faults() {
            let error = FeedError { file: "data/users.csv".into(), line: Some(4_711), fault };
            let (english, chinese) = (feed_error(&error, Language::En), feed_error(&error, Language::Zh));
            assert!(english.starts_with("data/users.csv, line 4711: ") && english.contains("; "), "{english}");
            assert!(chinese.starts_with("data/users.csv，第 4711 行：") && chinese.contains('；'), "{chinese}");
            for text in [&english, &chinese] {
                assert!(parts.iter().all(|part| text.contains(part)), "{text}");
                assert!(!text.contains("c12"), "{text}");
            }
            // The remaining English words are names and words that the user types.
            let words = chinese.split(|each: char| !each.is_ascii_alphabetic()).filter(|word| word.len() > 2);
            let known = [
                "data", "users", "csv", "CSV", "JSON", "UTF", "MiB", "null", "GBK", "gbk", "jsonl", "ASCII", "klingon",
                "ulimit", "error",
            ];
            assert_eq!(words.filter(|word| !known.contains(word)).collect::<Vec<_>>(), Vec::<&str>::new(), "{chinese}");
        }
        let error = FeedError { file: "a".into(), line: None, fault: FeedFault::Directory };
        assert!(feed_error(&error, Language::En).starts_with("a: is a directory"));
        assert!(feed_error(&error, Language::Zh).starts_with("a：这是"));
    }
}
