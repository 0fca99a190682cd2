//! The files of the project, for tests that read them as text.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// The tracked files that are there, by their paths from the root.
pub(crate) fn tracked() -> Vec<String> {
    let listed = Command::new("git").args(["ls-files"]).current_dir(root()).output().expect("git starts");
    let names = String::from_utf8(listed.stdout).expect("UTF-8");
    names.lines().filter(|name| root().join(name).exists()).map(str::to_owned).collect()
}
