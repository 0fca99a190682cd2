//! The Debian package. It has no scripts and depends on nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::content::{Content, File};
use super::{Build, bytes_of, make, packed, said};
use crate::{Failure, install, run};

/// The revision: counts the packages of one version.
const REVISION: u32 = 1;
/// The maintainer if none is given. RFC 2606 reserves `.invalid`: no mail reaches a real address.
const NOBODY: (&str, &str) = ("onrush maintainers", "maintainers@onrush.invalid");

/// Overrides for lintian: unusual properties that are intended.
const OVERRIDES: &str = "# One file that runs on every Linux is what the package is for.\nonrush: shared-library-lacks-prerequisites [usr/bin/onrush]\n\
# Not from a request to package it for Debian.\nonrush: initial-upload-closes-no-bugs *\n";

/// The copyright file, with the year of the sources.
fn copyright(build: &Build) -> Result<String, Failure> {
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: onrush
Comment: The binary holds work of others too; their names and the texts of their
 licences are in /usr/share/doc/onrush/THIRD-PARTY.txt.

Files: *
Copyright: {} the authors of onrush
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the text of this licence is in
 /usr/share/common-licenses/Apache-2.0.
",
        date(build, "+%Y")?
    ))
}

/// The maintainer, from the environment variables of the Debian tools.
fn maintainer() -> String {
    let said = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let name = said("DEBFULLNAME").unwrap_or_else(|| NOBODY.0.to_owned());
    format!("{name} <{}>", said("DEBEMAIL").unwrap_or_else(|| NOBODY.1.to_owned()))
}

fn version(build: &Build) -> String {
    format!("{}-{REVISION}", build.version)
}

/// Builds `onrush_VERSION_ARCHITECTURE.deb` and its checksum.
pub(super) fn package(folder: &Path, build: &Build, content: &Content) -> Result<PathBuf, Failure> {
    install::ensure("dpkg-deb", "dpkg", &["/usr/bin/dpkg-deb"])?;
    let architecture = said(Command::new("dpkg").arg("--print-architecture"))?.trim().to_owned();
    let mut files = content.in_debian(&packed::gzip)?;
    let doc = "usr/share/doc/onrush";
    files.push(File::new(format!("{doc}/copyright"), copyright(build)?));
    files.push(File::new(format!("{doc}/changelog.Debian.gz"), packed::gzip(changelog(build)?.as_bytes())?));
    files.push(File::new("usr/share/lintian/overrides/onrush", OVERRIDES));
    let control = control(build, &architecture, &maintainer(), &files);
    let sums = sums(folder, &files)?;
    files.push(File::new("DEBIAN/control", control));
    files.push(File::new("DEBIAN/md5sums", sums));
    let name = format!("onrush_{}_{architecture}", version(build));
    let tree = folder.join(&name);
    packed::lay_out(&tree, &files)?;
    let path = folder.join(format!("{name}.deb"));
    let words = ["--root-owner-group", "-Zxz", "--build"];
    let epoch = build.epoch.to_string();
    run(Command::new("dpkg-deb").args(words).arg(&tree).arg(&path).env("SOURCE_DATE_EPOCH", epoch))?;
    packed::sum(&path)?;
    Ok(path)
}

/// The control file for dpkg.
fn control(build: &Build, architecture: &str, maintainer: &str, files: &[File]) -> String {
    // In KiB, each file rounded up, as dpkg-gencontrol does.
    let size: usize = files.iter().map(|file| file.bytes.len().div_ceil(1_024)).sum();
    format!(
        "Package: onrush
Version: {}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {size}
Recommends: ca-certificates
Section: net
Priority: optional
Description: load generator with accurate results
 onrush loads a server over HTTP/1, HTTP/2, gRPC, WebSocket or TCP and shows,
 every second and as a summary, how fast it answered, what failed, and what the
 bottleneck was. With a rate, each request is timed from the instant at which it
 was due.
",
        version(build)
    )
}

/// The time of the sources.
fn date(build: &Build, form: &str) -> Result<String, Failure> {
    let time = format!("--date=@{}", build.epoch);
    said(Command::new("date").args(["--utc", &time, form]).env("LC_ALL", "C")).map(|text| text.trim().to_owned())
}

/// The changelog of the package, in Debian's format.
fn changelog(build: &Build) -> Result<String, Failure> {
    let (version, date) = (version(build), date(build, "+%a, %d %b %Y %H:%M:%S +0000")?);
    Ok(format!(
        "onrush ({version}) unstable; urgency=medium\n\n  * onrush {}; changelog.gz says what is new.\n\n -- {}  {date}\n",
        build.version,
        maintainer()
    ))
}

/// The checksums by which `dpkg --verify` finds modified files.
fn sums(folder: &Path, files: &[File]) -> Result<String, Failure> {
    let (mut lines, scratch) = (String::new(), folder.join("summed"));
    make(folder)?;
    for file in files {
        std::fs::write(&scratch, &file.bytes).map_err(|error| format!("{}: {error}", scratch.display()))?;
        let said = bytes_of(Command::new("md5sum").arg(&scratch))?;
        let sum = String::from_utf8_lossy(&said).split(' ').next().unwrap_or_default().to_owned();
        lines.push_str(&format!("{sum}  {}\n", file.path));
    }
    std::fs::remove_file(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build() -> Build {
        Build { version: "1.2.3".to_owned(), target: "x86_64-unknown-linux-gnu".to_owned(), epoch: 1_700_000_000 }
    }

    #[test]
    fn control_says_what_dpkg_wants() {
        let files = [File::new("a", vec![0; 1_025]), File::new("b", vec![0; 1])];
        let text = control(&build(), "amd64", "A B <a@b.example>", &files);
        for line in ["Package: onrush", "Version: 1.2.3-1", "Architecture: amd64", "Maintainer: A B <a@b.example>"] {
            assert!(text.lines().any(|known| known == line), "{line} in {text}");
        }
        assert!(text.contains("Installed-Size: 3\n"), "{text}");
        assert!(!text.contains("Depends:"), "a static binary depends on nothing");
        // Policy 5.6.13: the short line has no article and at most 80 characters; the others begin with a blank.
        let (_, description) = text.split_once("Description: ").expect("a description");
        let mut lines = description.lines();
        assert!(lines.next().is_some_and(|short| short.len() <= 80 && !short.starts_with("a ")));
        assert!(lines.all(|line| line.starts_with(' ') && line.len() <= 80), "{description}");
    }

    #[test]
    fn the_changelog_has_the_form_of_debian() {
        let text = changelog(&build()).expect("date");
        assert!(text.starts_with("onrush (1.2.3-1) unstable; urgency=medium\n\n  * "), "{text}");
        assert!(text.ends_with("  Tue, 14 Nov 2023 22:13:20 +0000\n"), "{text}");
    }

    #[test]
    fn every_file_has_its_sum() {
        let folder = std::env::temp_dir().join(format!("onrush-sums-{}", std::process::id()));
        let files = [File::new("usr/a", "1"), File::new("usr/b", "")];
        let text = sums(&folder, &files).expect("md5sum");
        assert_eq!(text, "c4ca4238a0b923820dcc509a6f75849b  usr/a\nd41d8cd98f00b204e9800998ecf8427e  usr/b\n");
        std::fs::remove_dir_all(folder).expect("the folder goes");
    }
}
