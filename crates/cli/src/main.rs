//! The `onrush` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    onrush::main_with(&[])
}
