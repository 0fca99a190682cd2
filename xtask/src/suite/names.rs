//! The list of all tests, so that none is lost unnoticed: a commit that merges or drops a test updates the list.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::programs::Case;
use crate::{Failure, root};

fn file() -> PathBuf {
    root().join("xtask/tests.txt")
}

fn names(cases: &[Case]) -> BTreeSet<String> {
    cases.iter().flat_map(Case::test_names).collect()
}

/// Writes the list.
pub(crate) fn write(cases: &[Case]) -> Result<(), Failure> {
    let mut text = names(cases).into_iter().collect::<Vec<_>>().join("\n");
    text.push('\n');
    std::fs::write(file(), text).map_err(|error| format!("{}: {error}", file().display()))
}

/// Reports any difference from the list as an error.
pub(crate) fn compare(cases: &[Case]) -> Result<(), Failure> {
    let text = std::fs::read_to_string(file()).map_err(|error| format!("{}: {error}", file().display()))?;
    let (listed, now): (BTreeSet<String>, _) = (text.lines().map(str::to_owned).collect(), names(cases));
    let lost: Vec<String> = listed.difference(&now).map(|name| format!("  - {name}")).collect();
    let new: Vec<String> = now.difference(&listed).map(|name| format!("  + {name}")).collect();
    if lost.is_empty() && new.is_empty() {
        return Ok(());
    }
    Err(format!(
        "tests are not those of xtask/tests.txt (- lost, + new):\n{}\nif that is meant: cargo xtask test --names",
        [lost, new].concat().join("\n")
    ))
}
