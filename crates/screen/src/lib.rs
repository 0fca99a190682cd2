//! A run in the whole terminal: its figures, charts, and keys that change it. It knows no engine.
//!
//! A separate thread asks a [`Source`] for the current run and draws it; nothing in it can delay the run. The
//! terminal is restored when the [`Display`] ends, when anything panics, and when [`restore`] is called.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod draw;
mod keys;
mod known;
mod labels;
mod terminal;

use std::fs::File;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use report::Language;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use serde_json::Value;

use crate::known::ScreenState;
pub use crate::terminal::restore;

/// The polling interval of the run and of its end.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// The most keys that are read at a time.
const KEYS_MAX: usize = 64;

/// The effect of a key on the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A change, in the format of the HTTP API.
    Change(Value),
    /// A graceful stop: exchanges in flight may finish.
    Stop,
    /// An immediate stop.
    Abort,
}

/// The source of the display, which also carries out actions.
pub trait Source: Send {
    /// The run, as in `GET /api/run`.
    fn run(&self) -> Value;

    /// Chart data: series over time, and a histogram.
    fn charts(&self) -> Value;

    /// Carries out an action.
    ///
    /// # Errors
    /// The reason of a failure, in English and Chinese.
    fn act(&self, act: &Act) -> Result<(), [String; 2]>;
}

/// The style of the display.
#[derive(Clone, Copy, Debug)]
pub struct ScreenStyle {
    /// The language.
    pub language: Language,
    /// Whether to use colors.
    pub has_colors: bool,
}

/// The terminal while it shows a run.
#[derive(Debug)]
pub struct Display {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Takes the terminal.
    ///
    /// # Errors
    /// There is no terminal, or the system refuses a thread.
    pub fn start(source: Box<dyn Source>, style: ScreenStyle) -> std::io::Result<Self> {
        let keys = Keys::open()?;
        let mut terminal = terminal::take()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = is_over.clone();
        let show = move || {
            let mut known = ScreenState::new(style);
            while !ended.load(Ordering::Relaxed) {
                known.poll(&*source);
                if terminal.draw(|frame| draw::all(frame, &known)).is_err() {
                    break;
                }
                let Some(pressed) = keys.wait() else { break };
                // An escape sequence is none of our keys.
                for key in pressed.into_iter().take_while(|key| *key != keys::ESCAPE) {
                    keys::press(key, &mut known, &*source);
                }
            }
            restore();
        };
        let thread = std::thread::Builder::new().name("screen".to_owned()).spawn(show).inspect_err(|_| restore())?;
        Ok(Self { is_over, thread: Some(thread) })
    }

    /// Restores the terminal.
    pub fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has restored it.
            let _ = thread.join();
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.end();
    }
}

/// The source of keys. All of ours are single bytes, which are read here: the terminal library reads from a closed
/// terminal in an endless loop.
struct Keys(Option<File>);

impl Keys {
    /// The standard input if it is a terminal, else the terminal of the process.
    fn open() -> std::io::Result<Self> {
        if std::io::stdin().is_terminal() { Ok(Self(None)) } else { File::open("/dev/tty").map(Some).map(Self) }
    }

    /// Waits for keys, or for the next poll. `None`: the terminal is gone.
    fn wait(&self) -> Option<Vec<u8>> {
        let input = std::io::stdin();
        let from = self.0.as_ref().map_or_else(|| input.as_fd(), File::as_fd);
        let mut requested = [PollFd::from_borrowed_fd(from, PollFlags::IN)];
        match rustix::event::poll(&mut requested, Some(&POLL_INTERVAL)) {
            Ok(0) | Err(Errno::INTR) => return Some(Vec::new()),
            Ok(_) if requested[0].revents() == PollFlags::IN => {}
            _ => return None,
        }
        let mut bytes = [0; KEYS_MAX];
        match rustix::io::read(from, &mut bytes) {
            Ok(0) => None,
            Ok(count) => Some(bytes[..count].to_vec()),
            Err(Errno::INTR | Errno::AGAIN) => Some(Vec::new()),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
