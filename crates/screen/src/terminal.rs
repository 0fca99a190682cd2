//! The terminal is taken, and given back whatever happens.

use std::io::{Result, Stdout, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};

static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static PANICS: Once = Once::new();

/// Keys come one by one, and what stood there before is kept.
pub(crate) fn take() -> Result<Terminal<CrosstermBackend<Stdout>>> {
    // What a panic says is read on the terminal as it was.
    PANICS.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
    enable_raw_mode()?;
    IS_TAKEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen).inspect_err(|_| restore())?;
    Terminal::new(CrosstermBackend::new(stdout())).inspect_err(|_| restore())
}

/// Gives the terminal back, when it was taken.
pub fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        // Nobody is left to be told when the terminal is gone.
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
