//! The parts of page scripts that need no browser: tests of Node, in `parts`.

use std::process::Command;

use crate::driven::scripts;
use crate::text;

/// Runs all tests in a file; returns the failures.
pub(crate) fn hold(file: &str) -> Result<(), String> {
    let mut command = Command::new("node");
    // A test program of Node that runs others would otherwise use its own format.
    command.args(["--test", "--test-reporter", "spec"]).arg(scripts().join("parts").join(file));
    let done = command.env_remove("NODE_TEST_CONTEXT").output().expect("node starts");
    let (said, complained) = (text(&done.stdout), text(&done.stderr));
    // A file without a test fails.
    let has_tests = !said.contains("tests 0\n");
    if done.status.success() && has_tests { Ok(()) } else { Err(format!("{file}:\n{said}{complained}")) }
}
