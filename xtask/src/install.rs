//! What the tests need from the system: installed as root or with sudo, or named exactly.

use std::path::Path;
use std::process::Command;

use crate::{Failure, run};

/// Makes sure that one of `paths` exists, by installing a Debian package when none does.
pub(crate) fn ensure(program: &str, package: &str, paths: &[&str]) -> Result<(), Failure> {
    let is_there = || paths.iter().any(|path| Path::new(path).exists());
    if is_there() {
        return Ok(());
    }
    let by_hand = format!("{program} is missing; install it: apt-get install {package}");
    install(package).map_err(|failure| format!("{failure}\n{by_hand}"))?;
    if is_there() { Ok(()) } else { Err(by_hand) }
}

/// Installs a Debian package.
pub(crate) fn install(package: &str) -> Result<(), Failure> {
    let root: &[&str] = if is_root() { &[] } else { &["sudo", "--non-interactive"] };
    let apt = |words: &[&str]| {
        let all: Vec<&str> = root.iter().chain(&["apt-get"]).chain(words).copied().collect();
        run(Command::new(all[0]).args(&all[1..]).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    // A list that is old, or a mirror that is down, shows in the installation.
    let _ = apt(&["update", "-qq"]);
    apt(&["install", "-y", "-qq", "--no-install-recommends", package])
}

/// The judge of HTTP/2 clients, in `target/tools`.
pub(crate) fn h2specd() -> Result<(), Failure> {
    let tools = crate::root().join("target/tools");
    if tools.join("h2specd").exists() {
        return Ok(());
    }
    let has_go = || Command::new("go").arg("version").output().is_ok_and(|output| output.status.success());
    if !has_go() {
        install("golang-go")?;
    }
    run(Command::new("go").env("GOBIN", &tools).args(["install", H2SPECD]))
}

/// The last version that was published.
const H2SPECD: &str = "github.com/summerwind/h2spec/cmd/h2specd@v2.2.1+incompatible";

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
