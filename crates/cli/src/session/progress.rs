//! The status line of a terminal, next to the table: what is about to happen, and how much of it is left.

use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plan::{Hold, Plan};
use report::{Aim, Screen};

use crate::output;

/// The update interval of the line.
const TICK: Duration = Duration::from_millis(500);

/// An update of the line.
enum ProgressFigures {
    /// The number of completed requests.
    Done(u64),
    /// The load was changed: its end is unknown.
    NoAim,
}

/// The line below the table. Without a terminal it does nothing.
pub(crate) struct Progress {
    ticker: Option<(Sender<ProgressFigures>, JoinHandle<()>)>,
}

impl Progress {
    /// The line of a load.
    pub(crate) fn for_load(screen: &Screen, is_shown: bool, plan: &Plan, address: SocketAddr) -> Self {
        Self::start(screen, is_shown, &Aim::for_load(plan), || report::begins(plan, address, screen))
    }

    /// The line of held connections.
    pub(crate) fn for_hold(screen: &Screen, is_shown: bool, plan: &Hold, address: SocketAddr) -> Self {
        Self::start(screen, is_shown, &Aim::for_hold(plan), || report::hold_begins(plan, address, screen))
    }

    fn start(screen: &Screen, is_shown: bool, aim: &Aim, begins: impl FnOnce() -> String) -> Self {
        let Some(room) = screen.room.filter(|_| is_shown) else { return Self { ticker: None } };
        output::note(&begins());
        let (mut aim, language, columns, begun) = (*aim, screen.language, room.columns, Instant::now());
        let (sender, receiver) = mpsc::channel();
        let tick = move || {
            let mut done = 0;
            loop {
                output::show_below(&aim.progress(begun.elapsed(), done, columns, language));
                match receiver.recv_timeout(TICK) {
                    Ok(ProgressFigures::Done(number)) => done = number,
                    Ok(ProgressFigures::NoAim) => aim = Aim::default(),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            output::show_below("");
        };
        let ticker = std::thread::Builder::new().name("progress".to_owned()).spawn(tick);
        Self { ticker: ticker.ok().map(|thread| (sender, thread)) }
    }

    /// Sets the number of completed requests.
    pub(crate) fn interval(&self, done: u64) {
        if let Some((sender, _)) = &self.ticker {
            // The thread ends only when we end it.
            let _ = sender.send(ProgressFigures::Done(done));
        }
    }

    /// Notes that the load was changed.
    pub(crate) fn forget_aim(&self) {
        if let Some((sender, _)) = &self.ticker {
            // The thread ends only when we end it.
            let _ = sender.send(ProgressFigures::NoAim);
        }
    }

    /// Removes the line.
    pub(crate) fn end(&mut self) {
        if let Some((sender, thread)) = self.ticker.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
