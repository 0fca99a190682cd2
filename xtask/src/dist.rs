//! Distribution: one static binary, and packages of it: an archive, a Debian package and an image.
//!
//! The binary needs nothing of the system that it runs on: glibc is linked statically, names are resolved without it
//! (the feature `dns`), and TLS runs on every CPU (the feature `aws-lc`). Builds are reproducible: times come from the
//! commit, paths are stripped.

mod checks;
mod content;
mod deb;
mod image;
mod licences;
mod packed;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, cargo, install, root, run};
use content::Content;

/// Features of packages beyond the default: name resolution without glibc, the crypto for every CPU, and a bus for many
/// machines.
const FEATURES: &str = "onrush/dns,onrush/aws-lc,onrush/css,onrush/nats";

/// The extent of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The binary alone, as the image needs it.
    Binary,
    /// Archive and Debian package too.
    All,
    /// All of them, tested in clean roots.
    Checked,
}

/// The properties of a build in names and files.
#[derive(Clone, Debug)]
struct Build {
    /// The version in the manifest.
    version: String,
    /// The target triple.
    target: String,
    /// The Unix time of every file in a package.
    epoch: u64,
}

impl Build {
    fn for_this_machine() -> Result<Self, Failure> {
        let rustc = said(Command::new("rustc").arg("-vV").current_dir(root()))?;
        let target = rustc.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc -vV names no host")?;
        if !target.contains("-linux-gnu") {
            return Err(format!(
                "packages are made on Linux with glibc, not on {target}: build on Debian, or with Docker"
            ));
        }
        Ok(Self { version: env!("CARGO_PKG_VERSION").to_owned(), target: target.to_owned(), epoch: epoch()? })
    }

    /// The name of the archive, without its extension.
    fn name(&self) -> String {
        format!("onrush-{}-{}", self.version, self.target)
    }
}

/// Builds the packages. See the module.
pub(crate) fn dist(extent: Extent) -> Result<(), Failure> {
    let build = Build::for_this_machine()?;
    let (binary, third_party) = (static_binary(&build)?, licences::third_party(&build)?);
    let beside = folder().join("THIRD-PARTY.txt");
    std::fs::write(&beside, &third_party).map_err(|error| format!("{}: {error}", beside.display()))?;
    if extent == Extent::Binary {
        return Ok(());
    }
    let ask = |words: &[&str]| bytes_of(Command::new(&binary).args(words));
    let content = Content::gather(&root(), &binary, &ask, third_party)?;
    let archive = packed::archive(&folder(), &build, &content)?;
    println!("{}", archive.display());
    let package = deb::package(&folder(), &build, &content)?;
    println!("{}", package.display());
    if extent == Extent::Checked {
        checks::all(&build, &binary, &content, &archive, &package)?;
    }
    Ok(())
}

/// The folder of all output of this module.
fn folder() -> PathBuf {
    root().join("target/dist")
}

/// The binary of packages: `target/dist/bin/onrush`. Debug information stays in the build folder.
fn static_binary(build: &Build) -> Result<PathBuf, Failure> {
    for (program, package, path) in [
        ("a C compiler", "gcc", "/usr/bin/cc"),
        ("strip", "binutils", "/usr/bin/strip"),
        // The static glibc is in the same package as its headers.
        ("the headers of glibc", "libc6-dev", "/usr/include/stdio.h"),
    ] {
        install::ensure(program, package, &[path])?;
    }
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let home = home.map_err(|_| "neither CARGO_HOME nor HOME is set: set one of them".to_owned())?;
    // Panic messages contain source paths: relative ones, independent of this machine.
    let flags = [
        "-Ctarget-feature=+crt-static".to_owned(),
        format!("--remap-path-prefix={home}=/cargo"),
        format!("--remap-path-prefix={}=/onrush", root().display()),
    ];
    // With an explicit target, build scripts and macros are not linked statically.
    let words =
        ["build", "--package", "onrush", "--profile", "dist", "--features", FEATURES, "--target", &build.target];
    // C assertions contain paths too.
    let of_c = format!("-ffile-prefix-map={home}=/cargo -ffile-prefix-map={}=/onrush", root().display());
    run(cargo(&words).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).env("CFLAGS", of_c))?;
    let bin = folder().join("bin");
    make(&bin)?;
    let binary = bin.join("onrush");
    let built = root().join("target").join(&build.target).join("dist/onrush");
    run(Command::new("strip").arg("-o").arg(&binary).arg(built))?;
    Ok(binary)
}

/// The time of the sources: that of the commit, or without one, that of the last change to `CHANGELOG.md`.
fn epoch() -> Result<u64, Failure> {
    if let Ok(said) = std::env::var("SOURCE_DATE_EPOCH") {
        return said.parse().map_err(|_| format!("SOURCE_DATE_EPOCH is a number of seconds since 1970, not '{said}'"));
    }
    if let Ok(text) = said(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))
        && let Ok(seconds) = text.trim().parse()
    {
        return Ok(seconds);
    }
    let reported = std::fs::metadata(root().join("CHANGELOG.md")).and_then(|file| file.modified());
    let reported = reported.map_err(|error| format!("CHANGELOG.md: {error}"))?;
    Ok(reported.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

fn make(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Creates an empty folder, removing a previous one.
fn make_anew(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {error}", folder.display())),
        _ => make(folder),
    }
}

/// The output of a command, which must succeed.
fn bytes_of(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let done = command.output().map_err(|error| format!("{command:?} does not start: {error}"))?;
    if !done.status.success() {
        return Err(format!("{command:?} ended with {}: {}", done.status, String::from_utf8_lossy(&done.stderr)));
    }
    Ok(done.stdout)
}

fn said(command: &mut Command) -> Result<String, Failure> {
    bytes_of(command).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
