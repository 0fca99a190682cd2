//! The terminal that shows what is printed.

/// Columns and lines of the terminal behind stdout; `None` where stdout is a file or a pipe, or the terminal does not say.
pub fn terminal_size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
}
