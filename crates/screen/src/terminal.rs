//! Taking and restoring the terminal.

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

/// Takes the terminal: keys are read one by one, and the old content is kept.
pub(crate) fn take() -> Result<Terminal<CrosstermBackend<Stdout>>> {
    // The panic message must appear on the restored terminal.
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

/// Restores the terminal, if it was taken.
pub fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        // If the terminal is gone, the error cannot be reported.
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
