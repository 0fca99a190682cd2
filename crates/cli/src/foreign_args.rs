//! Command lines of other programs after our own.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use plan::Tool;
use report::Language;

use crate::args::Command;
use crate::help;

/// The words before `curl`, and the words after it, when a curl command begins there.
pub(crate) fn split_at_curl(mut words: Vec<OsString>, language: Language) -> (Vec<OsString>, Option<Vec<Vec<u8>>>) {
    // A word after a flag that takes a value is that value: then the words before it are no complete command line.
    let begins = |place: &usize| {
        let before = help::command(language).try_get_matches_from(&words[..*place]);
        before.is_ok_and(|matches| match Command::of(&matches) {
            Command::Run(args) => args.flags.url.is_none(),
            Command::Init(args) => args.flags.url.is_none(),
            _ => false,
        })
    };
    let place = (1..words.len()).filter(|place| words[*place] == "curl").find(begins);
    let Some(place) = place else { return (words, None) };
    let behind = words.split_off(place + 1);
    words.truncate(place);
    (words, Some(behind.into_iter().map(OsString::into_vec).collect()))
}

/// The tool of this command line, and its words: by the name of our binary, or after `as`.
pub(crate) fn tool_of(words: &[OsString]) -> Option<(Result<Tool, String>, Vec<String>)> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let (program, rest) = words.split_first()?;
    let name = std::path::Path::new(program).file_name()?.to_string_lossy().into_owned();
    if let Some(tool) = Tool::of_name(&name) {
        return Some((Ok(tool), rest.iter().map(text).collect()));
    }
    let (first, rest) = rest.split_first()?;
    if first != "as" {
        return None;
    }
    let mut words: Vec<String> = rest.iter().map(text).collect();
    let place = words.iter().position(|word| !word.starts_with('-'));
    let name = place.map(|place| words.remove(place)).unwrap_or_default();
    Some((Tool::of_name(&name).ok_or(name), words))
}
