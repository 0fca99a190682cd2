//! Texts that a comment cuts.

use super::{Concern, Warning};
use crate::source::{Source, Span};

/// The keys whose texts are for people, so that a # may belong to them.
const KEYS: [&str; 3] = ["name:", "check:", "stop_run:"];

/// Warns of ` #` behind a text without quotes. A comment with a blank behind its # is meant as one.
pub(super) fn cut(source: &Source, all: &mut Vec<Warning>) {
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let text = line.trim_end();
        let rest = text.trim_start().trim_start_matches("- ").trim_start();
        let value = KEYS.iter().find_map(|key| rest.strip_prefix(key)).map(str::trim_start);
        if let Some(value) = value.filter(|value| !value.starts_with(['"', '\'', '|', '>', '{', '[', '#']))
            && let Some(at) = value.find(" #")
            && let behind = value[at + 1..].trim_end()
            && behind.len() > 1
            && !behind.starts_with("# ")
        {
            let from = start + text.len() - behind.len();
            let at = Span::new(from, from + behind.len());
            all.push(Warning { at, concern: Concern::Comment { text: crate::diagnostic::shortened(behind) } });
        }
        start += line.len();
    }
}
