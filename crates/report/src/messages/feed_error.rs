//! Errors of a data file, in both languages: position, reason, and remedy.

use feed::{FeedError, FeedFault};

use super::in_chinese;
use crate::Language;

/// The error in one line.
pub fn feed_error(error: &FeedError, language: Language) -> String {
    match language {
        Language::En => error.to_string(),
        Language::Zh => {
            let line = error.line.map(|line| format!("，第 {line} 行")).unwrap_or_default();
            format!("{}{line}：{}", error.file.display(), chinese(&error.fault))
        }
    }
}

/// Reasons of the system and of libraries are translated; names of columns are not.
fn chinese(fault: &FeedFault) -> String {
    let text = fault.chinese();
    match fault {
        FeedFault::Open { .. } | FeedFault::Read { .. } | FeedFault::Thread { .. } | FeedFault::Json { .. } => {
            in_chinese(&text)
        }
        _ => text,
    }
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
            (FeedFault::NoFiles, &[]),
            (FeedFault::NoneKept, &[]),
            (FeedFault::Filter { reason: "82".to_owned() }, &["82"]),
            (FeedFault::ListTooLong { rows: 82, most: 71 }, &["82", "71"]),
        ]
    }

    #[test]
    fn a_name_of_the_file_stays_as_it_is() {
        let fault = FeedFault::KeyMissing { name: "expected value".to_owned() };
        let error = FeedError { file: "a.json".into(), line: None, fault };
        for language in [Language::En, Language::Zh] {
            assert!(feed_error(&error, language).contains("expected value"), "{}", feed_error(&error, language));
        }
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
                "ulimit", "error", "filter",
            ];
            assert_eq!(words.filter(|word| !known.contains(word)).collect::<Vec<_>>(), Vec::<&str>::new(), "{chinese}");
        }
        let error = FeedError { file: "a".into(), line: None, fault: FeedFault::Directory };
        assert!(feed_error(&error, Language::En).starts_with("a: is a directory"));
        assert!(feed_error(&error, Language::Zh).starts_with("a：这是"));
    }
}
