//! The command `check`: formatting and lints, with no compiled C that nothing would link.

use std::process::Command;

use crate::{Failure, cargo, root, run};

/// With the features that the first build omits and packages have; code that only the first build has is checked by the
/// build of the tests.
const FEATURES: [&str; 2] = ["--features", "onrush/dns,onrush/aws-lc,onrush/css,onrush/nats"];

/// The crate with the C of the features `aws-lc` and `nats`, which takes longest of all that `check` would build.
const IN_C: &str = "aws-lc-sys";

/// What its build script would say, as far as it matters where nothing is linked: its bindings, and that it is there.
const SAID: [&str; 2] = [r#"rustc-cfg=["universal"]"#, r#"include="not built""#];

pub(crate) fn check() -> Result<(), Failure> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    let mut clippy = cargo(&["clippy", "--workspace", "--all-targets", "--quiet"]);
    clippy.args(FEATURES);
    for said in said_for(&target()?, &locked_version()?) {
        clippy.args(["--config", &said]);
    }
    run(clippy.args(["--", "-D", "warnings"]))
}

/// Settings of cargo that stand for the build script of `IN_C`: the key has the name of its library, which has the version.
fn said_for(target: &str, version: &str) -> [String; 2] {
    let library = format!("aws_lc_{}", version.replace('.', "_"));
    SAID.map(|said| format!("target.{target}.{library}.{said}"))
}

/// The target of the compiler of this machine.
fn target() -> Result<String, Failure> {
    let done = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc does not start: {error}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let target = text.lines().find_map(|line| line.strip_prefix("host: "));
    target.map(str::to_owned).ok_or_else(|| format!("rustc -vV names no host: {text}"))
}

fn locked_version() -> Result<String, Failure> {
    let path = root().join("Cargo.lock");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    version_in(&text).map(str::to_owned).ok_or_else(|| format!("{} has no {IN_C}", path.display()))
}

fn version_in(lock: &str) -> Option<&str> {
    let (_, rest) = lock.split_once(&format!("name = \"{IN_C}\"\n"))?;
    rest.lines().next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_in_c_has_the_version_in_its_name() {
        let lock = "[[package]]\nname = \"aws-lc-sys\"\nversion = \"1.20.3\"\n";
        assert_eq!(version_in(lock), Some("1.20.3"));
        assert_eq!(version_in("[[package]]\nname = \"other\"\n"), None);
        let said = said_for("x86_64-unknown-linux-gnu", "1.20.3");
        assert_eq!(said[0], r#"target.x86_64-unknown-linux-gnu.aws_lc_1_20_3.rustc-cfg=["universal"]"#);
    }

    /// If the version were not found, all of its C would be compiled again.
    #[test]
    fn the_lock_file_has_it() {
        assert!(locked_version().expect("it is there").split('.').count() == 3);
    }
}
