//! Command lines of other programs behind our own.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use clap::FromArgMatches;
use report::Language;

use crate::args::{Cli, Command};
use crate::help;

/// What stands before `curl`, and the words behind it, when a command of curl begins there.
pub(crate) fn split_at_curl(mut words: Vec<OsString>, language: Language) -> (Vec<OsString>, Option<Vec<Vec<u8>>>) {
    // A word behind a flag that wants a value is that value: then what stands before it is no whole command line.
    let begins = |place: &usize| {
        let before = help::command(language).try_get_matches_from(&words[..*place]);
        before.ok().and_then(|matches| Cli::from_arg_matches(&matches).ok()).is_some_and(|cli| match cli.command {
            None => cli.run.url.is_none(),
            Some(Command::Run(args)) => args.url.is_none(),
            Some(_) => false,
        })
    };
    let place = (1..words.len()).filter(|place| words[*place] == "curl").find(begins);
    let Some(place) = place else { return (words, None) };
    let behind = words.split_off(place + 1);
    words.truncate(place);
    (words, Some(behind.into_iter().map(OsString::into_vec).collect()))
}
