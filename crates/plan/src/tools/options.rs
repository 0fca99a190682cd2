//! Flag parsers in the manner of other tools' libraries.

use super::{ToolFault, whole};

/// A flag of a tool.
pub(super) struct Opt {
    /// The flag as written, with its dashes; the name in messages.
    pub(super) id: &'static str,
    /// Its other spelling.
    pub(super) also: &'static str,
    /// Whether a value follows.
    pub(super) takes_value: bool,
}

/// A flag with a value.
pub(super) const fn value(id: &'static str, also: &'static str) -> Opt {
    Opt { id, also, takes_value: true }
}

/// A flag without one.
pub(super) const fn switch(id: &'static str, also: &'static str) -> Opt {
    Opt { id, also, takes_value: false }
}

/// The syntax of a tool's command line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// getopt_long: flags before and after the URL, long ones may be abbreviated.
    Getopt,
    /// Apache's: short flags only, none after the URL.
    Apache,
    /// Go's: one dash or two, `=` or a blank; the first word that is no flag ends them.
    Go,
    /// clap's: flags anywhere, no abbreviations.
    Clap,
}

/// The content of a command line.
pub(super) struct GivenFlags {
    /// Flags in order, each with its value.
    pub(super) flags: Vec<(&'static str, String)>,
    /// The words that are no flags.
    pub(super) rest: Vec<String>,
}

impl GivenFlags {
    /// The last value of a flag.
    pub(super) fn last(&self, id: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(known, _)| *known == id).map(|(_, value)| value.as_str())
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.flags.iter().any(|(known, _)| *known == id)
    }

    /// All values of a flag.
    pub(super) fn all<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> + 'a {
        self.flags.iter().filter(move |(known, _)| *known == id).map(|(_, value)| value.as_str())
    }

    /// The whole number of a flag; `default` where it is not given.
    pub(super) fn whole(&self, id: &'static str, default: u64) -> Result<u64, ToolFault> {
        self.last(id).map_or(Ok(default), |text| whole(id, text))
    }

    /// A switch of Go: given, unless given as false.
    pub(super) fn is_on(&self, id: &'static str) -> Result<bool, ToolFault> {
        match self.last(id) {
            None => Ok(false),
            Some("" | "1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some(other) => Err(ToolFault::Value { flag: id, value: other.to_owned(), wanted: "true or false" }),
        }
    }

    /// Refuses the first of these flags that is given.
    pub(super) fn refuse(&self, ids: &[&'static str]) -> Result<(), ToolFault> {
        match self.flags.iter().find(|(id, _)| ids.contains(id)) {
            Some((flag, _)) => Err(ToolFault::Unsupported { flag }),
            None => Ok(()),
        }
    }

    /// The one word that is no flag.
    pub(super) fn url(&self) -> Result<String, ToolFault> {
        match self.rest.as_slice() {
            [url] => Ok(url.clone()),
            _ => Err(ToolFault::Url),
        }
    }
}

/// Refuses the first of these numbers of flags that is zero.
pub(super) fn refuse_zeros(numbers: &[(&'static str, u64)]) -> Result<(), ToolFault> {
    match numbers.iter().find(|(_, number)| *number == 0) {
        Some((flag, _)) => Err(ToolFault::Value { flag, value: "0".to_owned(), wanted: "more than nothing" }),
        None => Ok(()),
    }
}

/// Parses a command line by the table of a tool.
pub(super) fn read(style: Style, table: &'static [Opt], words: &[String]) -> Result<GivenFlags, ToolFault> {
    let mut given = GivenFlags { flags: Vec::new(), rest: Vec::new() };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let is_flag = word.len() > 1 && word.starts_with('-');
        if word == "--" {
            given.rest.extend(words.cloned());
            break;
        }
        if !is_flag {
            given.rest.push(word.clone());
            if matches!(style, Style::Go | Style::Apache) {
                given.rest.extend(words.cloned());
                break;
            }
            continue;
        }
        let mut next = |flag: &str| words.next().cloned().ok_or_else(|| ToolFault::NoValue { flag: flag.to_owned() });
        if style == Style::Go || word.starts_with("--") {
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let known = long(style, table, name).ok_or_else(|| ToolFault::Unknown { flag: name.to_owned() })?;
            let value = match (known.takes_value, attached) {
                (_, Some(value)) => value,
                (true, None) => next(name)?,
                (false, None) => String::new(),
            };
            given.flags.push((known.id, value));
            continue;
        }
        let mut letters = &word[1..];
        // Of a word that begins with no flag, nothing is one.
        let first = letters.chars().next().map(|letter| format!("-{letter}"));
        let is_known = |name: &str| table.iter().any(|known| known.id == name || known.also == name);
        if first.is_some_and(|first| !is_known(&first)) {
            return Err(ToolFault::Unknown { flag: word.clone() });
        }
        while let Some(letter) = letters.chars().next() {
            letters = &letters[letter.len_utf8()..];
            let name = format!("-{letter}");
            let known = table.iter().find(|known| known.id == name || known.also == name);
            let known = known.ok_or_else(|| ToolFault::Unknown { flag: name.clone() })?;
            let value = match (known.takes_value, letters) {
                (false, _) => String::new(),
                (true, "") => next(&name)?,
                (true, _) => {
                    let value = std::mem::take(&mut letters);
                    if style == Style::Clap { value.strip_prefix('=').unwrap_or(value) } else { value }.to_owned()
                }
            };
            given.flags.push((known.id, value));
        }
    }
    Ok(given)
}

fn long(style: Style, table: &'static [Opt], name: &str) -> Option<&'static Opt> {
    if style == Style::Go {
        let name = name.trim_start_matches('-');
        return table.iter().find(|known| [known.id, known.also].iter().any(|id| id.trim_start_matches('-') == name));
    }
    let exact = table.iter().find(|known| known.id == name || known.also == name);
    if exact.is_some() || style != Style::Getopt {
        return exact;
    }
    let mut fits = table.iter().filter(|known| known.id.starts_with(name) || known.also.starts_with(name));
    match (fits.next(), fits.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}
