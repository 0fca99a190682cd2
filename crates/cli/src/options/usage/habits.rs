//! Flags as other programs write them: long ones behind one hyphen, and letters that mean something else there.

use std::ffi::OsString;

use report::Language;

use super::foreign;
use super::several::flags_of;
use super::words::{command_of, first_word, is_bare_word, is_command};
use crate::options::flags::Row;

/// A shorter word behind one hyphen is letters that stand together.
const NAME_BYTES_MIN: usize = 3;

/// What is said of the first such flag.
pub(crate) fn say(words: &[OsString], language: Language) -> Option<String> {
    let command = command_of(words);
    let all: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let rows = flags_of(command.as_deref());
    let mut rest = all.iter().skip(1);
    while let Some(word) = rest.next() {
        if !word.starts_with('-') || word == "-" || word == "--" {
            continue;
        }
        let said = threads_or_timeout(word, &rows, language)
            .or_else(|| one_hyphen(word, &rows, command.as_deref().unwrap_or_default(), language));
        if let Some(said) = said {
            return Some(match no_command(words, &all) {
                Some(name) => language.pick(
                    format!("there is no command '{name}', a load has none; and {said}"),
                    format!("没有 '{name}' 这个命令，压测不需要命令；另外，{said}"),
                ),
                None => said,
            });
        }
        if rows.iter().find(|row| row.is_named(word)).is_some_and(Row::takes_value) {
            rest.next();
        }
    }
    None
}

/// A first word that is no command, as `attack` of vegeta.
fn no_command<'a>(words: &[OsString], all: &'a [String]) -> Option<&'a str> {
    let word = all.get(first_word(words)?)?;
    (is_bare_word(word) && !is_command(word)).then_some(word)
}

/// `-t4`: threads to wrk, a timeout here.
fn threads_or_timeout(word: &str, rows: &[Row], language: Language) -> Option<String> {
    let number =
        word.strip_prefix("-t").filter(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))?;
    let has = |name: &str| rows.iter().any(|row| row.name == name);
    (has("timeout") && has("threads")).then(|| {
        let threads = if number == "1" { "thread" } else { "threads" };
        language.pick(
            format!(
                "{word}: {number} {threads}, or a timeout of {number} s? write --threads {number}, or -t {number}s"
            ),
            format!("{word}：是 {number} 个线程，还是 {number} 秒超时？请写 --threads {number} 或 -t {number}s"),
        )
    })
}

/// `-rate=100`: a long flag with one hyphen, which would be read letter by letter.
fn one_hyphen(word: &str, rows: &[Row], command: &str, language: Language) -> Option<String> {
    let typed = word.split('=').next().unwrap_or_default();
    let name = typed.strip_prefix('-').filter(|name| !name.starts_with('-') && name.len() >= NAME_BYTES_MIN)?;
    let long = format!("--{name}");
    if rows.iter().any(|row| row.is_named(&long)) {
        return Some(
            language.pick(format!("'{typed}' wants two hyphens: {long}"), format!("'{typed}' 要写两个连字符：{long}")),
        );
    }
    let meant = foreign::meant(&long, command)?.say(language);
    Some(language.pick(format!("unknown flag '{typed}'; {meant}"), format!("未知参数 '{typed}'；{meant}")))
}

/// The whole word of an unknown letter, where it begins one: `-xyz` of `-x`.
pub(super) fn whole(letter: &str, words: &[String]) -> String {
    let is_it = |word: &&String| word.starts_with(letter) && !word.starts_with("--");
    let is_letter = letter.len() == 2 && !letter.starts_with("--");
    let word = words.iter().skip(1).find(is_it).filter(|_| is_letter);
    word.map_or(letter, |word| word.split('=').next().unwrap_or(letter)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = std::iter::once("onrush").chain(line.split(' ')).map(OsString::from).collect();
        let [english, chinese] = [Language::En, Language::Zh].map(|language| say(&words, language).unwrap_or_default());
        assert_eq!(english.is_empty(), chinese.is_empty());
        assert!(english.is_empty() || !chinese.is_ascii() && english.is_ascii(), "{chinese}");
        english
    }

    #[test]
    fn flags_of_others_are_named_whole() {
        for (line, wanted) in [
            ("-rate=100 http://a/", "'-rate' wants two hyphens: --rate"),
            ("-rate 100 http://a/", "'-rate' wants two hyphens: --rate"),
            ("-duration=5s http://a/", "'-duration' wants two hyphens: --duration"),
            ("-connections 5 http://a/", "'-connections' wants two hyphens: --connections"),
            ("-insecure https://a/", "'-insecure' wants two hyphens: --insecure"),
            ("-timeout=5s http://a/", "'-timeout' wants two hyphens: --timeout"),
            ("-http2 http://a/", "'-http2' wants two hyphens: --http2"),
            ("-body=x http://a/", "unknown flag '-body'; here it is -d DATA"),
            ("-concurrency 10 http://a/", "unknown flag '-concurrency'; here it is -c N"),
            ("-vus 10 http://a/", "unknown flag '-vus'; here it is -c N"),
            ("-cpus=4 http://a/", "unknown flag '-cpus'; here it is --threads N"),
            ("-keepalive=false http://a/", "unknown flag '-keepalive'; connections are kept"),
            ("-proxy http://p/ http://a/", "'-proxy' wants two hyphens: --proxy"),
            ("hold -connections 5 ws://a/", "'-connections' wants two hyphens"),
            ("serve -port 80", "unknown flag '-port'; here it is --listen"),
            (
                "attack -rate=100 http://a/",
                "there is no command 'attack', a load has none; and '-rate' wants two hyphens",
            ),
            ("-t4 -c100 http://a/", "-t4: 4 threads, or a timeout of 4 s? write --threads 4, or -t 4s"),
            ("-c100 -t1 http://a/", "-t1: 1 thread, or a timeout of 1 s?"),
            ("hold -t12 ws://a/", "12 threads, or a timeout of 12 s?"),
        ] {
            assert!(said(line).contains(wanted), "{line}: {}", said(line));
        }
    }

    #[test]
    fn letters_values_and_words_of_ours_are_left_alone() {
        for line in [
            "-kL https://a/",
            "-c100 -n10 -z5s http://a/",
            "-t 4 http://a/",
            "-t4s http://a/",
            "-t 500ms http://a/",
            "-d -rate http://a/",
            "-H -rate http://a/",
            "-dhello http://a/",
            "-ume:secret http://a/",
            "--rate 100 http://a/",
            "http://a/-rate",
            "-h",
            "-V",
            "hold -c5 ws://a/",
            "attack http://a/",
        ] {
            assert_eq!(said(line), "", "{line}");
        }
    }

    #[test]
    fn an_unknown_letter_is_named_with_its_word() {
        let words: Vec<String> = ["onrush", "-xyz=1", "--yes", "-c"].map(str::to_owned).to_vec();
        for (letter, word) in [("-x", "-xyz"), ("-y", "-y"), ("--yes", "--yes"), ("-c", "-c")] {
            assert_eq!(whole(letter, &words), word);
        }
    }
}
