//! Data to stdout, all else to stderr. A reader that went away is no error.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;

use plan::SecretValues;
use report::{Language, Room, Screen};

use crate::exit::Exit;
use crate::redaction;

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

/// What stands below all that was printed, on a terminal only: it goes when something else is printed, and comes again.
static BELOW: Mutex<String> = Mutex::new(String::new());

/// What was printed while something else has the terminal, in order; `None` while nothing has it.
static HELD_BACK: Mutex<Option<Vec<(Stream, String)>>> = Mutex::new(None);

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

/// From now on what is printed waits until the terminal is given back.
pub(crate) fn hold_back() {
    HELD_BACK.lock().expect("nobody panics with it").get_or_insert_default();
}

/// Prints what was held back.
pub(crate) fn release(language: Language) {
    let held = HELD_BACK.lock().expect("nobody panics with it").take();
    for (stream, text) in held.into_iter().flatten() {
        match stream {
            // Whoever printed it is told of a reader that went away with what it prints next.
            Stream::Out => drop(write_stdout(&text, language)),
            Stream::Err => print_note(&text),
        }
    }
}

fn is_held_back(stream: Stream, text: &str) -> bool {
    let mut held = HELD_BACK.lock().expect("nobody panics with it");
    held.as_mut().map(|held| held.push((stream, text.to_owned()))).is_some()
}

/// Goes to the begin of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// Shows a text below all that was printed; an empty one takes it away.
pub(crate) fn show_below(text: &str) {
    let mut below = BELOW.lock().expect("nobody panics with it");
    let mut out = std::io::stdout().lock();
    // Nobody is left to be told when the terminal is gone.
    let _ = out.write_all(format!("{CLEAR_LINE}{text}").as_bytes()).and_then(|()| out.flush());
    text.clone_into(&mut below);
}

/// Writes data at once, so that a reader sees each line when it is there.
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

/// Writes data that is all there is to say.
pub(crate) fn to_stdout(text: &str, language: Language) -> Exit {
    if write_stdout(text, language) == Wrote::Failed { Exit::System } else { Exit::Done }
}

pub(crate) fn cannot_write(what: &str, error: &std::io::Error, language: Language) -> String {
    language.pick(
        format!("cannot write to {what}: {error}; choose another place, or make room if it is full"),
        report::in_chinese(&format!("无法写入 {what}：{error}；请换一个位置，空间不足时请先清理")),
    )
}

/// A line for the person, on stderr. What was typed may hold anything; it stays one line, and the terminal stays as it is.
pub(crate) fn complain(text: &str) {
    let visible: String = text.chars().flat_map(visible).collect();
    let line = format!("onrush: {visible}");
    // Words stay whole where people read them; elsewhere a line is a line.
    match host::terminal_size().filter(|_| std::io::stderr().is_terminal()) {
        Some((columns, _)) => note(&report::wrap(&line, columns).join("\n")),
        None => note(&line),
    }
}

/// What was done; or why not, which is said.
pub(crate) fn complained(done: Result<Exit, (String, Exit)>) -> Exit {
    done.unwrap_or_else(|(text, exit)| {
        complain(&text);
        exit
    })
}

/// The same of a text that has lines of its own, like those of a file with a mark below; an editor finds its places there.
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

/// Lines that are kept for whoever listens.
const SERVER_TEXTS_MAX: usize = 100;
/// What was said since somebody listens.
static RECEIVED: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// From now on what is said on stderr is kept too.
pub(crate) fn listen() {
    *RECEIVED.lock().expect("nobody panics with it") = Some(Vec::new());
}

/// What was said since; nothing more is kept.
pub(crate) fn received() -> Vec<String> {
    RECEIVED.lock().expect("nobody panics with it").take().unwrap_or_default()
}

/// The same without our name. A secret that was typed stays out, whoever says it again.
pub(crate) fn note(text: &str) {
    let words = redaction::words_typed();
    let text = SecretValues::of_words(words.iter().map(String::as_str)).hide(text);
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
    // Nobody is left to be told when stderr is gone.
    if below.is_empty() {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
        return;
    }
    let _ = out.write_all(CLEAR_LINE.as_bytes()).and_then(|()| out.flush());
    let _ = writeln!(std::io::stderr().lock(), "{text}");
    let _ = out.write_all(below.as_bytes()).and_then(|()| out.flush());
}

/// What pages are shown on. A pipe or a file has lines of any length.
pub(crate) fn screen(language: Language, no_color: bool, is_full: bool) -> Screen {
    let room = host::terminal_size().filter(|_| std::io::stdout().is_terminal());
    let room = room.map(|(columns, rows)| Room { columns, rows });
    Screen { language, room, is_colorful: is_colorful(no_color), is_full }
}

/// Colors are for terminals, and only when nobody said no (no-color.org).
fn is_colorful(no_color: bool) -> bool {
    let is_refused = no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && std::io::stdout().is_terminal()
}
