//! Tests of the packages in roots that contain nothing else.

use std::path::Path;
use std::process::{Command, Output};

use super::content::Content;
use super::{Build, bytes_of, folder, image, make, make_anew, said};
use crate::served::Served;
use crate::{Failure, install, root, run_in};

/// A user without privileges, as in the image.
const NOBODY: &str = "65532:65532";

pub(super) fn all(
    build: &Build,
    binary: &Path,
    content: &Content,
    archive: &Path,
    package: &Path,
) -> Result<(), Failure> {
    is_static(binary)?;
    let servers = Servers { plain: Served::start(binary, &[])?, tls: Served::start(binary, &["--tls"])? };
    alone(binary, &servers)?;
    unpacked(build, content, archive)?;
    installed(build, package)?;
    linted(package)?;
    imaged(binary, &servers)?;
    println!("the binary is static and runs alone; archive, package and image hold what they must");
    Ok(())
}

struct Servers {
    plain: Served,
    tls: Served,
}

/// Checks that the binary needs no loader and no library.
fn is_static(binary: &Path) -> Result<(), Failure> {
    install::ensure("readelf", "binutils", &["/usr/bin/readelf"])?;
    let headers = said(Command::new("readelf").args(["--program-headers", "--dynamic", "--wide"]).arg(binary))?;
    if let Some(line) = headers.lines().find(|line| line.contains("INTERP") || line.contains("(NEEDED)")) {
        return Err(format!("{} is not static: {}", binary.display(), line.trim()));
    }
    // ldd reports it as text, and with an exit code that differs from system to system.
    let ldd = Command::new("ldd").arg(binary).output().map_err(|error| format!("ldd: {error}"))?;
    let words = String::from_utf8_lossy(&[ldd.stdout, ldd.stderr].concat()).into_owned();
    let is_known = words.contains("statically linked") || words.contains("not a dynamic executable");
    is_known.then_some(()).ok_or_else(|| format!("ldd says of {}: {words}", binary.display()))
}

/// The output of a program in a root of its own, as an unprivileged user.
fn inside(root: &Path, program: &str, words: &[&str]) -> Result<Output, Failure> {
    let mut command = install::as_root("chroot");
    command.arg(format!("--userspec={NOBODY}")).arg(root).arg(program).args(words);
    // The environment is not inherited; chroot itself is found by the path.
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.output().map_err(|error| format!("chroot does not start: {error}"))
}

/// A command, its exit code, and its expected output.
struct Case<'a> {
    words: Vec<&'a str>,
    code: i32,
    said: &'a str,
}

impl<'a> Case<'a> {
    fn new(words: &[&'a str], code: i32, said: &'a str) -> Self {
        Self { words: words.to_vec(), code, said }
    }

    fn check(&self, root: &Path, program: &str) -> Result<(), Failure> {
        let done = inside(root, program, &self.words)?;
        let text = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        if done.status.code() == Some(self.code) && text.contains(self.said) {
            return Ok(());
        }
        let (words, root) = (self.words.join(" "), root.display());
        Err(format!(
            "in {root}, onrush {words} ended with {}, not {} and '{}': {text}",
            done.status, self.code, self.said
        ))
    }
}

/// A root with only the binary: no names, no certificates, no /proc, no /dev.
fn alone(binary: &Path, servers: &Servers) -> Result<(), Failure> {
    let root = folder().join("alone");
    make_anew(&root)?;
    std::fs::copy(binary, root.join("onrush")).map_err(|error| format!("{}: {error}", root.display()))?;
    let (plain, tls) = (servers.plain.url.as_str(), servers.tls.url.as_str());
    let by_name = plain.replace("127.0.0.1", "localhost");
    let talk = plain.replace("http", "ws");
    for case in [
        Case::new(&["--version"], 0, env!("CARGO_PKG_VERSION")),
        Case::new(&["-n", "100", plain], 0, "200:100"),
        Case::new(&["-n", "100", "--driver", "poll", plain], 0, "200:100"),
        Case::new(&["-n", "100", "--http2", plain], 0, "200:100"),
        Case::new(&["-n", "100", &by_name], 0, "200:100"),
        Case::new(&["-n", "100", "-k", tls], 0, "200:100"),
        Case::new(
            &["-n", "100", tls],
            2,
            "this system has no trusted certificates; install the package ca-certificates",
        ),
        Case::new(&["--lang", "zh", "-n", "100", tls], 2, "本机没有受信任的证书"),
        Case::new(&["-n", "1", "http://no-such-host.example/"], 3, "check /etc/resolv.conf, or write its address"),
        Case::new(&["hold", "-c", "10", "--hold", "300ms", &talk], 0, "all 10 connections were open"),
        Case::new(&["man"], 0, ".TH ONRUSH"),
    ] {
        case.check(&root, "/onrush")?;
    }
    Ok(())
}

/// The archive matches its checksum and its content.
fn unpacked(build: &Build, content: &Content, archive: &Path) -> Result<(), Failure> {
    let place = archive.parent().expect("it is in a folder");
    let sum = format!("{}.sha256", archive.display());
    run_in(place, Command::new("sha256sum").args(["--check", "--strict", &sum]))?;
    let root = folder().join("unpacked");
    make_anew(&root)?;
    run_in(&root, Command::new("tar").arg("--extract").arg("--file").arg(archive))?;
    for file in content.in_archive() {
        let path = root.join(build.name()).join(&file.path);
        let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if bytes != file.bytes || bytes.is_empty() {
            return Err(format!("{} is not what was put into the archive", path.display()));
        }
    }
    Case::new(&["--version"], 0, &build.version).check(&root.join(build.name()), "/onrush")
}

/// Installs the package into an empty root and removes it again.
fn installed(build: &Build, package: &Path) -> Result<(), Failure> {
    let root = folder().join("installed");
    // The installed files belong to root.
    run_in(&folder(), install::as_root("rm").args(["-rf", "installed"]))?;
    for path in ["var/lib/dpkg/info", "var/lib/dpkg/updates"] {
        make(&root.join(path))?;
    }
    let status = root.join("var/lib/dpkg/status");
    std::fs::write(&status, "").map_err(|error| format!("{}: {error}", status.display()))?;
    let dpkg = |words: &[&str]| {
        let mut command = install::as_root("dpkg");
        command.arg(format!("--root={}", root.display())).args(words);
        command
    };
    let file = package.display().to_string();
    bytes_of(&mut dpkg(&["--install", &file]))?;
    Case::new(&["--version"], 0, &build.version).check(&root, "/usr/bin/onrush")?;
    // It prints a line for each file whose checksum differs.
    let changed = said(&mut dpkg(&["--verify", "onrush"]))?;
    if !changed.is_empty() {
        return Err(format!("dpkg --verify finds: {changed}"));
    }
    for (path, begin) in [
        ("usr/share/man/man1/onrush.1.gz", ".TH ONRUSH"),
        ("usr/share/man/zh_CN/man1/onrush-hold.1.gz", ".TH ONRUSH-HOLD"),
    ] {
        let page = said(Command::new("gzip").arg("-dc").arg(root.join(path)))?;
        page.starts_with(begin).then_some(()).ok_or_else(|| format!("{path} is no page of the manual"))?;
    }
    bytes_of(&mut dpkg(&["--purge", "onrush"]))?;
    let stays = root.join("usr/bin/onrush").exists();
    (!stays).then_some(()).ok_or_else(|| "the package leaves its binary behind".to_owned())
}

/// Checks that lintian reports nothing.
fn linted(package: &Path) -> Result<(), Failure> {
    install::ensure("lintian", "lintian", &["/usr/bin/lintian"])?;
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on", "error,warning"]).arg(package);
    run_in(&root(), &mut lintian)
}

/// Executes the steps of the Dockerfile on a clean copy of the sources; the resulting root runs as the image would.
fn imaged(binary: &Path, servers: &Servers) -> Result<(), Failure> {
    let text = std::fs::read_to_string(root().join("Dockerfile")).map_err(|error| format!("Dockerfile: {error}"))?;
    let stages = image::parse(&text)?;
    let last = stages.last().expect("it has a stage");
    // The trusted authorities come from the image of the build, and here from this machine.
    install::ensure("ca-certificates", "ca-certificates", &["/etc/ssl/certs/ca-certificates.crt"])?;
    let image = image::build(&stages, &root(), &folder().join("image"))?;
    let program = last.entrypoint.first().ok_or("it starts nothing")?;
    let (plain, tls) = (servers.plain.url.as_str(), servers.tls.url.as_str());
    let arguments: Vec<&str> = last.arguments.iter().map(String::as_str).collect();
    for case in [
        Case::new(&arguments, 0, "onrush"),
        Case::new(&["-n", "100", plain], 0, "200:100"),
        Case::new(&["-n", "100", "-k", tls], 0, "200:100"),
        // There are trusted authorities, and ours is none of them.
        Case::new(&["-n", "100", tls], 3, "is not signed by a trusted CA"),
    ] {
        case.check(&image, program)?;
    }
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let made = image.join(program.trim_start_matches('/'));
    let is_same = read(&made)? == read(binary)?;
    is_same.then_some(()).ok_or_else(|| "the same sources in another folder made another binary".to_owned())?;
    // The copy is a complete build, and large.
    let made = folder().join("image");
    std::fs::remove_dir_all(&made).map_err(|error| format!("{}: {error}", made.display()))
}
