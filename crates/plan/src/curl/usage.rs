//! Which flags of curl are read, and words behind `curl` that ask for no load or belong to it.

use super::options::{self, Meaning};
use super::shell::Word;
use crate::PlanError;
use crate::error::CurlFault;

/// The flags of curl by what they do to a load, as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurlFlags {
    /// They shape what is sent, or how it gets there.
    pub shaping: Vec<String>,
    /// They are read, and change nothing that is sent.
    pub idle: Vec<String>,
    /// They are refused by their name.
    pub refused: Vec<String>,
}

/// See [`CurlFlags`].
pub fn curl_flags() -> CurlFlags {
    let mut flags = CurlFlags { shaping: Vec::new(), idle: Vec::new(), refused: Vec::new() };
    for (written, meaning) in options::all() {
        match meaning {
            Meaning::Quiet | Meaning::Output => flags.idle.push(written),
            Meaning::OtherProxy | Meaning::Jar | Meaning::Auth | Meaning::Refused => flags.refused.push(written),
            _ => flags.shaping.push(written),
        }
    }
    flags
}

/// What words behind `curl` are, when they are no command of curl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CurlAsk {
    /// Its help is asked for.
    Help,
    /// A flag of the load, with its value, which belongs before the word.
    LoadFlag(String),
}

/// Letters that mean something else to curl, each by the name that it has there.
const LETTERS: [(&str, &str); 5] =
    [("--netrc", "-n"), ("--cookie-jar", "-c"), ("--time-cond", "-z"), ("--disable", "-q"), ("--telnet-option", "-t")];

/// Looks whether the words behind `curl` are a command of curl. `takes_value`: whether a flag of the load has a value, if it is one.
pub fn curl_ask(words: &[Vec<u8>], takes_value: &dyn Fn(&str) -> Option<bool>) -> Option<CurlAsk> {
    let all: Vec<Word> = words.iter().map(|bytes| Word { bytes: bytes.clone(), line: 0 }).collect();
    let given = match options::read(&all) {
        Ok(given) => given,
        Err(PlanError::Curl { fault, .. }) => match *fault {
            CurlFault::Unknown { flag } => return misplaced(words, &flag, takes_value),
            _ => return None,
        },
        Err(_) => return None,
    };
    if given.iter().any(|one| one.meaning == Meaning::Help) {
        return Some(CurlAsk::Help);
    }
    for (place, one) in given.iter().enumerate() {
        if one.flag == "--rate" {
            return misplaced(words, one.flag, takes_value);
        }
        let Some((_, letter)) = LETTERS.iter().find(|(name, _)| *name == one.flag) else { continue };
        let next = given.get(place + 1).filter(|next| next.meaning == Meaning::Url);
        let value = if one.value.is_empty() { next.map_or(&[][..], |next| &next.value) } else { &one.value };
        if is_amount(value) {
            return Some(CurlAsk::LoadFlag(format!("{letter} {}", String::from_utf8_lossy(value))));
        }
    }
    None
}

/// The flag of the load among the words, with its value.
fn misplaced(words: &[Vec<u8>], flag: &str, takes_value: &dyn Fn(&str) -> Option<bool>) -> Option<CurlAsk> {
    let has_value = takes_value(flag)?;
    let place = words.iter().position(|word| word.strip_prefix(flag.as_bytes()).is_some_and(is_end))?;
    let mut shown = String::from_utf8_lossy(&words[place]).into_owned();
    if let Some(value) = words.get(place + 1).filter(|_| has_value && shown == flag) {
        shown = format!("{shown} {}", String::from_utf8_lossy(value));
    }
    Some(CurlAsk::LoadFlag(shown))
}

fn is_end(rest: &[u8]) -> bool {
    rest.is_empty() || rest[0] == b'='
}

/// A number, a time or a rate, as loads have them; no host looks so.
fn is_amount(value: &[u8]) -> bool {
    let is_of_amount = |byte: &u8| byte.is_ascii_alphanumeric() || b"./".contains(byte);
    let dots = value.iter().filter(|byte| **byte == b'.').count();
    value.first().is_some_and(u8::is_ascii_digit) && dots < 2 && value.iter().all(is_of_amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(line: &str) -> Option<CurlAsk> {
        let words: Vec<Vec<u8>> = line.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
        curl_ask(&words, &|flag| match flag {
            "--connections" | "--duration" | "--rate" => Some(true),
            "--rendezvous" => Some(false),
            _ => None,
        })
    }

    #[test]
    fn help_is_requested_for_by_each_way_to_write_it_and_by_no_value() {
        for line in ["--help", "-h", "-h all", "--help category", "http://h/ -sh", "-d a --hel http://h/"] {
            assert_eq!(ask(line), Some(CurlAsk::Help), "{line}");
        }
        for line in ["-d --help http://h/", "-H -h http://h/", "http://h/", "", "-A --help", "-- -h"] {
            assert_eq!(ask(line), None, "{line}");
        }
    }

    #[test]
    fn flags_of_the_load_are_reported_from_those_of_curl() {
        for (line, flag) in [
            ("-n 10 http://h/", "-n 10"),
            ("-c 100 http://h/", "-c 100"),
            ("-z 10s http://h/", "-z 10s"),
            ("-z 1m30s http://h/", "-z 1m30s"),
            ("-q 100/s http://h/", "-q 100/s"),
            ("-q 2.5/s http://h/", "-q 2.5/s"),
            ("http://h/ -t 5s", "-t 5s"),
            ("-c100 http://h/", "-c 100"),
            ("-s -n 10 http://h/", "-n 10"),
            ("--connections 100 http://h/", "--connections 100"),
            ("--duration=10s http://h/", "--duration=10s"),
            ("--rendezvous http://h/", "--rendezvous"),
            ("--rate 100 http://h/", "--rate 100"),
        ] {
            assert_eq!(ask(line), Some(CurlAsk::LoadFlag(flag.to_owned())), "{line}");
        }
        for line in [
            "-n http://h/",
            "-q 127.0.0.1",
            "-q http://h/",
            "-c jar http://h/",
            "-c cookies.txt http://h/",
            "-z 2024-01-01 http://h/",
            "-t TTYPE=vt100 http://h/",
            "--no-such http://h/",
            "-d 10 http://h/",
            "-m 10 http://h/",
            "10",
        ] {
            assert_eq!(ask(line), None, "{line}");
        }
    }

    /// Secrets in the words of a command are found by the letters that take values.
    #[test]
    fn letters_that_take_a_value_are_known_where_secrets_are_hidden() {
        for letter in (0x21..0x7f_u8).map(char::from) {
            let takes_value = options::letter_takes_value(letter);
            assert_eq!(crate::secrets::flags::is_valued_of_curl(letter), takes_value, "-{letter}");
        }
    }

    #[test]
    fn each_flag_of_curl_stands_in_one_list() {
        let CurlFlags { shaping, idle, refused } = curl_flags();
        assert_eq!(shaping.len() + idle.len() + refused.len(), options::all().count());
        let has = |list: &[String], flag: &str| list.iter().any(|known| known == flag);
        assert!(has(&shaping, "-d/--data") && has(&shaping, "--json") && has(&shaping, "-h/--help"), "{shaping:?}");
        assert!(has(&idle, "-s/--silent") && has(&refused, "--preproxy") && has(&refused, "-c/--cookie-jar"));
    }
}
