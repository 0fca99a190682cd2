//! Size of the terminal of stdout.

/// Columns and lines of the terminal of stdout; `None` where stdout is a file or a pipe, or the terminal does not
/// report them.
pub fn terminal_size() -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
}
