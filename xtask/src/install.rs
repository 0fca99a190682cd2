//! What the tests need from the system: installed as root or with sudo, or named exactly.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, run, run_in};

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

/// What is written in Go, in `target/tools`: the judge of HTTP/2 clients, a client of gRPC, a load generator, and servers for our tests.
pub(crate) fn go_tools() -> Result<(), Failure> {
    let tools = crate::root().join("target/tools");
    for (program, module) in [("h2specd", H2SPECD), ("grpcurl", GRPCURL), ("hey", HEY)] {
        if !tools.join(program).exists() {
            run(go()?.env("GOBIN", &tools).args(["install", module]))?;
        }
    }
    grpc_peer().and_then(|_| websocket_peer())
}

/// The server of gRPC on grpc-go, built; Go knows what is up to date.
pub(crate) fn grpc_peer() -> Result<PathBuf, Failure> {
    let program = crate::root().join("target/tools/grpcpeer");
    let folder = crate::root().join("crates/cli/tests/peers/grpc");
    run_in(&folder, go()?.args(["build", "-o", &program.to_string_lossy(), "."]))?;
    Ok(program)
}

/// The server of WebSocket on gorilla/websocket, built.
fn websocket_peer() -> Result<(), Failure> {
    let program = crate::root().join("target/tools/wspeer");
    let folder = crate::root().join("crates/cli/tests/peers/websocket");
    run_in(&folder, go()?.args(["build", "-o", &program.to_string_lossy(), "."]))
}

/// The cases of Autobahn, in an environment of Python in `target/tools`.
pub(crate) fn autobahn() -> Result<(), Failure> {
    let folder = crate::root().join("target/tools/autobahn");
    if folder.join("bin/kosoku").exists() {
        return Ok(());
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(Command::new(folder.join("bin/pip")).args(["install", "--quiet", "--disable-pip-version-check", KOSOKU]))
}

/// The server of WebSocket on ws, in `target/tools/node`.
pub(crate) fn node_peer() -> Result<(), Failure> {
    ensure("node", "nodejs", &["/usr/bin/node", "/usr/local/bin/node"])?;
    let folder = crate::root().join("target/tools/node");
    if folder.join("node_modules/ws").exists() {
        return Ok(());
    }
    ensure("npm", "npm", &["/usr/bin/npm", "/usr/local/bin/npm"])?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    run_in(&folder, Command::new("npm").args(["install", "--no-audit", "--no-fund", "--silent", "--no-save", WS]))
}

/// Go, installed when missing.
fn go() -> Result<Command, Failure> {
    let has_go = || Command::new("go").arg("version").output().is_ok_and(|output| output.status.success());
    if !has_go() {
        install("golang-go")?;
    }
    Ok(Command::new("go"))
}

/// The WebSocket server of Node that most people use.
const WS: &str = "ws@8.18.3";
/// The cases of Autobahn for Python 3.
const KOSOKU: &str = "kosoku==0.1.0";
/// The last version that was published.
const H2SPECD: &str = "github.com/summerwind/h2spec/cmd/h2specd@v2.2.1+incompatible";
/// The last version that the Go of Debian 12 builds.
const GRPCURL: &str = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.8.9";

/// A load generator whose output ours is compared with.
const HEY: &str = "github.com/rakyll/hey@v0.1.4";
/// Another one; it is built from its source.
const OHA_VERSION: &str = "1.16.0";

/// oha is where the tests look for it.
pub(crate) fn has_oha() -> bool {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo/bin/oha"));
    crate::root().join("target/tools/oha").exists()
        || Path::new("/usr/bin/oha").exists()
        || home.is_some_and(|path| path.exists())
}

/// The load generator oha, in `target/tools`.
pub(crate) fn oha() -> Result<(), Failure> {
    let tools = crate::root().join("target/tools");
    if has_oha() {
        return Ok(());
    }
    let folder = tools.join("cargo");
    run(Command::new("cargo").args(["install", "oha", "--version", OHA_VERSION, "--locked", "--root"]).arg(&folder))?;
    std::fs::copy(folder.join("bin/oha"), tools.join("oha")).map(|_| ()).map_err(|error| format!("oha: {error}"))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
