//! Which words of a command line say who somebody is: flags of ours, of curl, and of the tools whose command lines are
//! read.

use crate::custom::protocols;

/// Whose flags a word is read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagDialect {
    /// Our own.
    Onrush,
    /// Behind the word `curl`.
    Curl,
    /// Behind `as`.
    Tool,
}

/// Where a credential stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// In this word, from this byte on.
    From(usize),
    /// It is the next word.
    Next,
}

/// Long flags whose value says who somebody is; shortened as far as this, they are no others.
const LONG: [(&str, usize); 7] = [
    ("--user", 6),
    ("--cookie", 8),
    ("--oauth2-bearer", 4),
    ("--proxy-user", 10),
    ("--pass", 6),
    ("--proxy-pass", 10),
    ("--tlspassword", 6),
];
/// The same by a letter.
const SHORT: &str = "ubU";
/// And of the tools: a name and password of ab, hey and oha, a cookie, who one is to a proxy.
const SHORT_OF_TOOLS: &str = "AaCP";
/// Letters with a value, which is what stands behind them in their word.
const VALUED: &str = "cnzqXHAFdtp";
const VALUED_OF_CURL: &str = "ACDEFHKPQTUXYbcdemortuwxyz";
const VALUED_OF_TOOLS: &str = "cnzqXHFdtpTRmDBeghuvoxy";

impl FlagDialect {
    /// Of each word of a command line, without or with the name of the program.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = Self> {
        let (mut dialect, mut flags) = (Self::Onrush, 0);
        words.into_iter().enumerate().map(move |(place, word)| {
            let now = dialect;
            // Nothing but the language stands before it.
            flags += usize::from(word.starts_with("--lang"));
            if dialect == Self::Onrush && word == "as" && place <= 1 + 2 * flags {
                dialect = Self::Tool;
            } else if dialect == Self::Onrush && word == "curl" {
                dialect = Self::Curl;
            }
            now
        })
    }

    fn is_credential(self, letter: char) -> bool {
        SHORT.contains(letter) || (self == Self::Tool && SHORT_OF_TOOLS.contains(letter))
    }

    fn takes_value(self, letter: char) -> bool {
        match self {
            Self::Onrush => VALUED.contains(letter),
            Self::Curl => VALUED_OF_CURL.contains(letter),
            Self::Tool => VALUED_OF_TOOLS.contains(letter),
        }
    }
}

/// Where a word says who somebody is: `-u` of `-ku`, what stands behind it in `-kume:secret`, and long flags.
pub fn credential(word: &str, dialect: FlagDialect) -> Option<Credential> {
    if word.starts_with("--") {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let is_it = |(long, least): &(&str, usize)| name.len() >= *least && long.starts_with(name);
        if !LONG.iter().any(is_it) && !is_secret_of_protocol(name) {
            return None;
        }
        return Some(value.map_or(Credential::Next, |_| Credential::From(name.len() + 1)));
    }
    let letters = word.strip_prefix('-')?;
    for (place, letter) in letters.char_indices() {
        if dialect.is_credential(letter) {
            let behind = 1 + place + letter.len_utf8();
            return Some(if behind == word.len() { Credential::Next } else { Credential::From(behind) });
        }
        // What follows is a value, or no letter of a flag.
        if dialect.takes_value(letter) || !letter.is_ascii_alphanumeric() {
            return None;
        }
    }
    None
}

/// Whether a flag sets a key of a custom protocol whose values are secret.
pub(super) fn is_secret_of_protocol(flag: &str) -> bool {
    let Some(flag) = flag.strip_prefix("--") else { return false };
    protocols().iter().any(|protocol| {
        let key = flag.strip_prefix(protocol.name()).and_then(|rest| rest.strip_prefix('-'));
        key.is_some_and(|key| protocol.is_secret(&key.replace('-', "_")))
    })
}

#[cfg(test)]
pub(crate) fn is_valued_of_curl(letter: char) -> bool {
    VALUED_OF_CURL.contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_behind_other_letters() {
        use Credential::{From, Next};
        use FlagDialect::{Curl, Onrush, Tool};
        for (word, dialect, meant) in [
            ("-u", Onrush, Some(Next)),
            ("-ku", Onrush, Some(Next)),
            ("-kLu", Onrush, Some(Next)),
            ("-kume:secret", Onrush, Some(From(3))),
            ("-ume:secret", Onrush, Some(From(2))),
            ("-kb", Onrush, Some(Next)),
            ("-kbsid=1", Onrush, Some(From(3))),
            ("-ku", Curl, Some(Next)),
            ("-sku", Curl, Some(Next)),
            ("-sSLkume:secret", Curl, Some(From(6))),
            ("-nsU", Curl, Some(Next)),
            ("-sb", Curl, Some(Next)),
            ("--user=me:secret", Onrush, Some(From(7))),
            ("--user", Curl, Some(Next)),
            ("--oauth2=abc", Curl, Some(From(9))),
            ("--proxy-us", Curl, Some(Next)),
            ("--tlspass", Curl, Some(Next)),
            ("--cookie", Onrush, Some(Next)),
            ("-kA", Tool, Some(Next)),
            ("-kAme:secret", Tool, Some(From(3))),
            ("-a", Tool, Some(Next)),
            ("-C", Tool, Some(Next)),
            ("-A", Onrush, None),
            ("-Xu", Onrush, None),
            ("-du=1", Onrush, None),
            ("-ou", Curl, None),
            ("-HX-User: b", Curl, None),
            ("-c100", Onrush, None),
            ("-", Onrush, None),
            ("--", Curl, None),
            ("--user-agent", Onrush, None),
            ("--cookie-jar", Curl, None),
            ("--proxy", Curl, None),
            ("--use", Curl, None),
            ("user", Onrush, None),
            ("-中u", Onrush, None),
            ("", Curl, None),
        ] {
            assert_eq!(credential(word, dialect), meant, "{word} {dialect:?}");
        }
    }

    #[test]
    fn whose_flags_they_are_is_reported_by_what_stands_before() {
        use FlagDialect::{Curl, Onrush, Tool};
        for (line, last) in [
            ("-c 1 curl -u", Curl),
            ("-c 1 -u", Onrush),
            ("as ab -A", Tool),
            ("onrush as ab -A", Tool),
            ("--lang zh as ab -A", Tool),
            ("onrush --lang=zh as ab -A", Tool),
            ("http://h/ -H as -A", Onrush),
            ("as ab curl", Tool),
        ] {
            assert_eq!(FlagDialect::from_words(line.split(' ')).last(), Some(last), "{line}");
        }
    }
}
