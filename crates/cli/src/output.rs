//! Data goes to stdout, all else to stderr. A reader that went away is no error.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;

use plan::SecretValues;
use report::{Doing, Language, Room, Screen};

use crate::exit::Exit;
use crate::session::redaction;

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    /// It was written.
    All,
    /// The reader closed the pipe.
    PipeClosed,
    /// It failed, and the user should know.
    Failed,
}

/// The status line below all output, on a terminal only: it is removed while something else is printed, and then
/// restored.
static BELOW: Mutex<String> = Mutex::new(String::new());

/// Output that is held back while a dashboard has the terminal, in order; `None` while none has it.
static HELD_BACK: Mutex<Option<Vec<(Stream, String)>>> = Mutex::new(None);

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

/// Holds back output until the terminal is given back.
pub(crate) fn hold_back() {
    HELD_BACK.lock().expect("nobody panics with it").get_or_insert_default();
}

/// Prints the held back output.
pub(crate) fn release(language: Language) {
    let held = HELD_BACK.lock().expect("nobody panics with it").take();
    for (stream, text) in held.into_iter().flatten() {
        match stream {
            // A closed reader shows at the next write.
            Stream::Out => drop(write_stdout(&text, language)),
            Stream::Err => print_note(&text),
        }
    }
}

fn is_held_back(stream: Stream, text: &str) -> bool {
    let mut held = HELD_BACK.lock().expect("nobody panics with it");
    held.as_mut().map(|held| held.push((stream, text.to_owned()))).is_some()
}

/// Goes to the beginning of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// Shows a status line below all output; an empty one removes it.
pub(crate) fn show_below(text: &str) {
    let mut below = BELOW.lock().expect("nobody panics with it");
    let mut out = std::io::stdout().lock();
    // If the terminal is gone, the error cannot be reported.
    let _ = out.write_all(format!("{CLEAR_LINE}{text}").as_bytes()).and_then(|()| out.flush());
    text.clone_into(&mut below);
}

/// Writes data at once, so that a reader sees each line immediately.
pub(crate) fn write_stdout(text: &str, language: Language) -> Wrote {
    if is_held_back(Stream::Out, text) {
        return Wrote::All;
    }
    let below = BELOW.lock().expect("nobody panics with it");
    let mut out = std::io::stdout().lock();
    let written = match below.is_empty() {
        true => out.write_all(text.as_bytes()),
        false => out.write_all(format!("{CLEAR_LINE}{text}{below}").as_bytes()),
    };
    let written = written.and_then(|()| out.flush());
    drop((out, below));
    match written {
        Ok(()) => Wrote::All,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Wrote::PipeClosed,
        Err(error) => {
            complain(&cannot_write(language.pick("stdout", "标准输出"), &error, language));
            Wrote::Failed
        }
    }
}

/// Writes the only output of a command.
pub(crate) fn to_stdout(text: &str, language: Language) -> Exit {
    if write_stdout(text, language) == Wrote::Failed { Exit::System } else { Exit::Done }
}

pub(crate) fn cannot_write(what: &str, error: &std::io::Error, language: Language) -> String {
    let otherwise = ("choose another place, or make room if it is full", "请换一个位置，空间不足时请先清理");
    let why = report::system_fault(&error.to_string(), Doing::Write, otherwise, language);
    language.pick(format!("cannot write to {what}: {why}"), format!("无法写入 {what}：{why}"))
}

/// Prints a line for the user on stderr. Typed text may contain anything; control characters are escaped, and it stays
/// one line.
pub(crate) fn complain(text: &str) {
    let visible: String = text.chars().flat_map(visible).collect();
    let line = format!("onrush: {visible}");
    // On a terminal, lines break between words; elsewhere a line is a line.
    match host::terminal_size().filter(|_| std::io::stderr().is_terminal()) {
        Some((columns, _)) => note(&report::wrap(&line, columns).join("\n")),
        None => note(&line),
    }
}

/// The exit code, after an error was printed.
pub(crate) fn complained(done: Result<Exit, (String, Exit)>) -> Exit {
    done.unwrap_or_else(|(text, exit)| {
        complain(&text);
        exit
    })
}

/// Prints a message with lines of its own, like one with a mark below a line of a file; editors find the location
/// there.
pub(crate) fn complain_in_lines(text: &str) {
    if !text.contains('\n') {
        return complain(text);
    }
    for line in text.lines() {
        note(&line.chars().flat_map(visible).collect::<String>());
    }
}

fn visible(each: char) -> impl Iterator<Item = char> {
    let escaped = each.is_control().then(|| each.escape_default());
    let plain = (!each.is_control()).then_some(each);
    escaped.into_iter().flatten().chain(plain)
}

/// The most lines that are recorded.
const SERVER_TEXTS_MAX: usize = 100;
/// Messages since recording began.
static RECEIVED: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Starts to record messages on stderr.
pub(crate) fn listen() {
    *RECEIVED.lock().expect("nobody panics with it") = Some(Vec::new());
}

/// Ends the recording, and returns its messages.
pub(crate) fn received() -> Vec<String> {
    RECEIVED.lock().expect("nobody panics with it").take().unwrap_or_default()
}

/// Prints a message without our name. A typed secret is redacted in any message.
pub(crate) fn note(text: &str) {
    let words = redaction::words_typed();
    let text = SecretValues::from_words(words.iter().map(String::as_str)).hide(text);
    if let Some(received) =
        RECEIVED.lock().expect("nobody panics with it").as_mut().filter(|received| received.len() < SERVER_TEXTS_MAX)
    {
        received.push(text.clone());
    }
    if !is_held_back(Stream::Err, &text) {
        print_note(&text);
    }
}

fn print_note(text: &str) {
    let below = BELOW.lock().expect("nobody panics with it");
    let mut out = std::io::stdout().lock();
    // If stderr is gone, the error cannot be reported.
    if below.is_empty() {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
        return;
    }
    let _ = out.write_all(CLEAR_LINE.as_bytes()).and_then(|()| out.flush());
    let _ = writeln!(std::io::stderr().lock(), "{text}");
    let _ = out.write_all(below.as_bytes()).and_then(|()| out.flush());
}

/// The properties of the output. A pipe or a file has lines of any length.
pub(crate) fn screen(language: Language, no_color: bool, is_full: bool) -> Screen {
    let room = host::terminal_size().filter(|_| std::io::stdout().is_terminal());
    let room = room.map(|(columns, rows)| Room { columns, rows });
    Screen { language, room, is_colorful: is_colorful(no_color), is_full }
}

/// Whether to use colors: on terminals, unless disabled (no-color.org).
fn is_colorful(no_color: bool) -> bool {
    let is_refused = no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && std::io::stdout().is_terminal()
}
