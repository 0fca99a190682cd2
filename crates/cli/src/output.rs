//! Data to stdout, all else to stderr. A reader that went away is no error.

use std::io::{IsTerminal, Write};

use plan::Known;
use report::Language;

use crate::exit::Exit;

/// Whether somebody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    /// It went out.
    All,
    /// The reader closed the pipe.
    PipeClosed,
    /// It did not go out, and somebody should know.
    Failed,
}

/// Writes data at once, so that a reader sees each line when it is there.
pub(crate) fn write_stdout(text: &str, language: Language) -> Wrote {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Wrote::All,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Wrote::PipeClosed,
        Err(error) => {
            complain(&cannot_write(language.pick("stdout", "标准输出"), &error, language));
            Wrote::Failed
        }
    }
}

/// Writes data that is all there is to say.
pub(crate) fn to_stdout(text: &str, language: Language) -> Exit {
    if write_stdout(text, language) == Wrote::Failed { Exit::System } else { Exit::Done }
}

pub(crate) fn cannot_write(what: &str, error: &std::io::Error, language: Language) -> String {
    language.pick(
        format!("cannot write to {what}: {error}; choose another place, or make room if it is full"),
        format!("无法写入 {what}：{error}；请换一个位置，空间不足时请先清理"),
    )
}

/// A line for the person, on stderr. What was typed may hold anything; it stays one line, and the terminal stays as it is.
pub(crate) fn complain(text: &str) {
    let visible: String = text.chars().flat_map(visible).collect();
    note(&format!("onrush: {visible}"));
}

fn visible(each: char) -> impl Iterator<Item = char> {
    let escaped = each.is_control().then(|| each.escape_default());
    let plain = (!each.is_control()).then_some(each);
    escaped.into_iter().flatten().chain(plain)
}

/// The same without our name. A secret that was typed stays out, whoever says it again.
pub(crate) fn note(text: &str) {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let text = Known::of_words(words.iter().map(String::as_str)).hide(text);
    // Nobody is left to be told when stderr is gone.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Colors are for terminals, and only when nobody said no (no-color.org).
pub(crate) fn is_colorful(no_color: bool) -> bool {
    let is_refused = no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && std::io::stdout().is_terminal()
}
