//! Command lines of other programs after our own.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use plan::{CurlAsk, Tool};
use report::Language;

use crate::exit::Exit;
use crate::help;
use crate::options::args::Command;
use crate::options::flags::{self, Mode};
use crate::options::usage;
use crate::output;

/// `help as TOOL` and `help curl` as they are written elsewhere: `as TOOL --help`, `curl --help`.
pub(crate) fn plain_help(mut words: Vec<OsString>) -> Vec<OsString> {
    let Some(place) = usage::first_word(&words).filter(|place| words[*place] == "help") else { return words };
    if words.get(place + 1).is_some_and(|word| help::FRONT_ENDS.iter().any(|name| word == name)) {
        words.remove(place);
        words.push("--help".into());
    }
    words
}

/// The words behind `curl`, where they ask for its help or hold flags of the load: what is said of that.
pub(crate) fn answered(before: &[OsString], behind: &[Vec<u8>], language: Language) -> Option<Exit> {
    let rows = flags::rows(Mode::Top);
    let takes_value = |flag: &str| rows.iter().find(|row| row.is_named(flag)).map(flags::Row::takes_value);
    let is_alone = behind.is_empty() && usage::is_only_language(before);
    match plan::curl_ask(behind, &takes_value) {
        None if !is_alone => None,
        None | Some(CurlAsk::Help) => {
            let is_long = behind.iter().any(|word| word == b"--help");
            let columns = output::screen(language, true, false).room.map(|room| room.columns);
            Some(output::to_stdout(&help::page::curl_page(is_long, columns, language), language))
        }
        Some(CurlAsk::LoadFlag(flag)) => {
            output::complain(&language.pick(
                format!("'{flag}' behind the word curl is read as a flag of curl; one of the load stands before it: onrush {flag} curl ..."),
                format!("写在 curl 之后的 '{flag}' 会当作 curl 的参数；负载参数请写在 curl 之前：onrush {flag} curl …"),
            ));
            Some(Exit::Usage)
        }
    }
}

/// The words before `curl`, and the words after it, when a curl command begins there.
pub(crate) fn split_at_curl(mut words: Vec<OsString>, language: Language) -> (Vec<OsString>, Option<Vec<Vec<u8>>>) {
    // A word after a flag that takes a value is that value: then the words before it are no complete command line.
    let begins = |place: &usize| {
        let before = help::command(language).try_get_matches_from(&words[..*place]);
        before.is_ok_and(|matches| match Command::from_matches(&matches) {
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
    if let Some(tool) = Tool::from_name(&name) {
        return Some((Ok(tool), rest.iter().map(text).collect()));
    }
    let place = usage::first_word(words).filter(|place| words[*place] == "as")?;
    let mut words: Vec<String> = words[place + 1..].iter().map(text).collect();
    let place = words.iter().position(|word| !word.starts_with('-'));
    let name = place.map(|place| words.remove(place)).unwrap_or_default();
    Some((Tool::from_name(&name).ok_or(name), words))
}
