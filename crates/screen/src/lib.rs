//! A run in the whole terminal: its figures, charts, and keys that change it.
//!
//! A thread of its own asks a [`Source`] what runs and draws it; nothing that it does can hold up the run. The terminal is given
//! back when the [`Display`] ends, when anything panics, and when somebody calls [`restore`].

mod draw;
mod keys;
mod known;
mod terminal;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use report::Language;
use serde_json::Value;

use crate::known::Known;
pub use crate::terminal::restore;

/// How often it is looked what runs, and whether it is over.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What a key does to the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A change, as the HTTP API takes it.
    Change(Value),
    /// The end, when what is in flight has come.
    Stop,
    /// The end at once.
    Abort,
}

/// What is shown, and what carries out what keys say.
pub trait Source: Send {
    /// What runs, as `GET /api/run` tells it.
    fn run(&self) -> Value;

    /// What charts show of it: series over time, and a histogram.
    fn charts(&self) -> Value;

    /// Does what a key says.
    ///
    /// # Errors
    /// Why not, in English and Chinese.
    fn act(&self, act: &Act) -> Result<(), [String; 2]>;
}

/// How it looks.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Of all words.
    pub language: Language,
    /// With colours.
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
    /// It is none, or the system refuses a thread.
    pub fn start(source: Box<dyn Source>, look: Look) -> std::io::Result<Self> {
        let mut terminal = terminal::take()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = is_over.clone();
        let show = move || {
            let mut known = Known::new(look);
            while !ended.load(Ordering::Relaxed) {
                known.look(&*source);
                if terminal.draw(|frame| draw::all(frame, &known)).is_err() || !wait(&mut known, &*source) {
                    break;
                }
            }
            restore();
        };
        let thread = std::thread::Builder::new().name("screen".to_owned()).spawn(show).inspect_err(|_| restore())?;
        Ok(Self { is_over, thread: Some(thread) })
    }

    /// Gives the terminal back.
    pub fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // One that panicked has given it back.
            let _ = thread.join();
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits for a key, or until it is time to look again. False: the terminal is gone.
fn wait(known: &mut Known, source: &dyn Source) -> bool {
    match event::poll(LOOK_EVERY) {
        Ok(false) => true,
        // What was resized is drawn anew in any case.
        Ok(true) => match event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                keys::press(key, known, source);
                true
            }
            other => other.is_ok(),
        },
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests;
