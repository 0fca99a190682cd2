//! Several words in the place of a URL: hints at their meaning.

use report::Language;

use super::words::{command_of, is_bare_word, is_command, near_command};
use crate::help;
use crate::options::flags::{self, Mode, Row};

/// Methods that users write in front of a URL.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS"];
/// Comparison signs whose quotes were lost.
const SIGNS: [char; 4] = ['<', '>', '=', '!'];

/// The flags that may stand behind a command.
pub(super) fn flags_of(command: Option<&str>) -> Vec<Row> {
    let mode = help::COMMANDS.iter().find(|(name, _)| Some(*name) == command).map(|(_, mode)| *mode);
    let mode = mode.unwrap_or(Mode::Top);
    let mut rows = flags::rows(mode);
    // Those of a load follow these commands too.
    if matches!(mode, Mode::FindMax | Mode::Sweep) {
        rows.extend([Mode::Run, Mode::Hold].into_iter().flat_map(flags::rows));
    }
    rows
}

/// The words that are neither flags nor values of them, behind the command that was typed.
fn bare_words(words: &[String]) -> Vec<String> {
    let typed = command_of(&words.iter().map(Into::into).collect::<Vec<_>>());
    let rows = flags_of(typed.as_deref());
    let (mut bare, mut words) = (Vec::new(), words.iter().skip(1).skip_while(|word| Some(*word) == typed.as_ref()));
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            bare.push(word.clone());
            continue;
        }
        if rows.iter().find(|row| row.is_named(word)).is_some_and(Row::takes_value) {
            words.next();
        }
    }
    bare
}

/// The hint for the typed words.
pub(super) fn say(words: &[String], language: Language) -> Option<String> {
    let bare = bare_words(words);
    let shown = |word: &str| plan::masked_url(word).escape_debug().to_string();
    let sign = bare.iter().find(|word| word.starts_with(SIGNS));
    if let Some(sign) = sign.map(|sign| shown(sign)) {
        return Some(language.pick(
            format!("'{sign}' stands alone; what has spaces goes in quotes, as in --threshold 'p99 < 50ms'"),
            format!("'{sign}' 单独成了一个词；含空格的值请加引号，例如 --threshold 'p99 < 50ms'"),
        ));
    }
    let [first, second, ..] = &bare[..] else { return None };
    let (one, other) = (shown(first), shown(second));
    // Elsewhere a lone word is a part of a value whose quotes were lost.
    let is_first = |word: &String| words.get(1) == Some(word);
    let is_of_url = |word: &str| word.starts_with(['&', '?', '%']);
    let is_lone = |word: &&String| is_bare_word(word) && !is_command(word) && !is_first(word) && !is_of_url(word);
    let is_no_command = bare.first().is_some_and(|word| is_first(word) && is_bare_word(word) && !is_command(word));
    if let Some(word) = bare.iter().find(is_lone).filter(|_| !is_no_command) {
        let word = if plan::SecretValues::from_words(words.iter().map(String::as_str)).hide(word) == *word {
            word
        } else {
            "***"
        };
        let word = word.escape_debug().to_string();
        return Some(language.pick(
            format!("'{word}' stands alone; what has spaces goes in quotes, as in -H 'Name: value'"),
            format!("'{word}' 单独成了一个词；含空格的值请加引号，例如 -H 'Name: value'"),
        ));
    }
    if METHODS.iter().any(|method| first.eq_ignore_ascii_case(method)) {
        let method = first.to_ascii_uppercase();
        return Some(language.pick(
            format!("'{one}' is a method, not a command; write -X {method} {other}"),
            format!("'{one}' 是请求方法，不是命令；请写 -X {method} {other}"),
        ));
    }
    if is_bare_word(first) && !is_command(first) {
        return Some(match near_command(first) {
            Some(near) => language.pick(
                format!("there is no command '{one}', did you mean '{near}'?"),
                format!("没有 '{one}' 这个命令，是否想写 '{near}'？"),
            ),
            None => language.pick(
                format!("there is no command '{one}'; a load has none: onrush {other}"),
                format!("没有 '{one}' 这个命令；压测不需要命令：onrush {other}"),
            ),
        });
    }
    if is_command(second) {
        return Some(language.pick(
            format!("'{other}' is a command; write it first, and its flags behind it: onrush {other}"),
            format!("'{other}' 是命令；请写在最前面，参数写在它之后：onrush {other}"),
        ));
    }
    let is_url = |word: &str| !is_bare_word(word) && !is_of_url(word);
    Some(if is_url(first) && is_url(second) {
        language.pick(
            format!(
                "two URLs, '{one}' and '{other}': one is loaded at a time; several are the lines of a file: --urls FILE"
            ),
            format!("有两个 URL：'{one}' 和 '{other}'；一次只压测一个，多个请逐行写在文件里：--urls 文件"),
        )
    } else {
        language.pick(
            format!("'{other}' stands behind the URL '{one}'; if it belongs to it, put both in quotes, with %20 for each space"),
            format!("URL '{one}' 后面多出了 '{other}'；如果它属于 URL，请整体加引号，空格写成 %20"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let words: Vec<String> = std::iter::once("onrush").chain(line.split(' ')).map(str::to_owned).collect();
        let [english, chinese] = [Language::En, Language::Zh].map(|language| say(&words, language).unwrap_or_default());
        assert_eq!(english.is_empty(), chinese.is_empty());
        assert!(english.is_empty() || !chinese.is_ascii() && english.is_ascii(), "{chinese}");
        english
    }

    #[test]
    fn each_mistake_has_its_sentence() {
        for (line, wanted) in [
            ("-n 10 http://a/ http://b/", "two URLs, 'http://a/' and 'http://b/'"),
            ("run http://a/ b.example/x", "two URLs"),
            ("-n 10 http://a/search?q=one &b=two", "'&b=two' stands behind the URL 'http://a/search?q=one'"),
            ("-n 10 http://a/search?q=one two", "'two' stands alone; what has spaces goes in quotes"),
            ("--threshold p99 < 50ms http://a/", "'<' stands alone"),
            ("http://a/ --threshold p99 <= 50ms", "'<=' stands alone"),
            ("stress http://a/", "there is no command 'stress'; a load has none: onrush http://a/"),
            ("swep http://a/", "did you mean 'sweep'?"),
            ("get http://a/", "write -X GET http://a/"),
            ("POST http://a/", "write -X POST http://a/"),
            ("http://a/ run", "'run' is a command; write it first"),
            ("-H X-Env: prod http://a/", "'prod' stands alone; what has spaces goes in quotes, as in -H"),
            ("-H Authorization: Bearer abcdefgh http://a/", "stands alone; what has spaces goes in quotes"),
            ("find-max -t 5s http://a/ http://b/", "two URLs, 'http://a/'"),
            ("sweep -X POST http://a/ http://b/", "two URLs, 'http://a/'"),
            ("http://me:secret@a/ http://b/", "two URLs, 'http://***@a/'"),
        ] {
            assert!(said(line).contains(wanted), "{line}: {}", said(line));
        }
        for line in ["-c 10 -z 5s http://a/", "--threshold x -H y http://a/", "-k http://a/ --header z", "run a.yaml"] {
            assert_eq!(said(line), "", "{line}");
        }
    }
}
