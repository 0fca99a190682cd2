//! Files on disk, and the archive of them.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::content::{Content, File};
use super::{Build, make, make_anew, said};
use crate::{Failure, install, run_in};

/// Builds `onrush-VERSION-TARGET.tar.gz` and its checksum.
pub(super) fn archive(folder: &Path, build: &Build, content: &Content) -> Result<PathBuf, Failure> {
    let name = build.name();
    lay_out(&folder.join(&name), &content.in_archive())?;
    let path = folder.join(format!("{name}.tar.gz"));
    let time = format!("--mtime=@{}", build.epoch);
    let all = ["--sort=name", "--format=gnu", "--owner=0", "--group=0", "--numeric-owner", &time];
    let file = path.display().to_string();
    let words = ["--create", "--use-compress-program=gzip -9n", "--file", &file, &name];
    run_in(folder, Command::new("tar").args(all).args(words))?;
    sum(&path)?;
    Ok(path)
}

/// Writes the SHA-256 of a file next to it, as `sha256sum --check` reads it.
pub(super) fn sum(path: &Path) -> Result<(), Failure> {
    let (folder, name) = (path.parent().expect("it is in a folder"), path.file_name().expect("it has a name"));
    let line = said(Command::new("sha256sum").arg(name).current_dir(folder))?;
    let sum = folder.join(format!("{}.sha256", name.to_string_lossy()));
    std::fs::write(&sum, line).map_err(|error| format!("{}: {error}", sum.display()))
}

/// Writes files into an otherwise empty folder.
pub(super) fn lay_out(folder: &Path, files: &[File]) -> Result<(), Failure> {
    make_anew(folder)?;
    for file in files {
        let path = folder.join(&file.path);
        make(path.parent().expect("it is in the folder"))?;
        std::fs::write(&path, &file.bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    // The result is independent of the umask.
    let reported = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    for file in files {
        let path = folder.join(&file.path);
        let mode = if file.is_program { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).map_err(|error| reported(&path, error))?;
        for above in path.ancestors().skip(1).take_while(|above| above.starts_with(folder)) {
            std::fs::set_permissions(above, PermissionsExt::from_mode(0o755))
                .map_err(|error| reported(above, error))?;
        }
    }
    Ok(())
}

/// Compresses without a name and a time inside.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    install::ensure("gzip", "gzip", &["/usr/bin/gzip", "/bin/gzip"])?;
    let mut child = Command::new("gzip")
        .arg("-9n")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("gzip does not start: {error}"))?;
    let (mut into, bytes) = (child.stdin.take().expect("a pipe"), bytes.to_vec());
    // Both of its pipes may be full at a time.
    let writer = std::thread::spawn(move || into.write_all(&bytes));
    let done = child.wait_with_output().map_err(|error| format!("gzip: {error}"))?;
    writer.join().expect("it has no panic").map_err(|error| format!("gzip: {error}"))?;
    done.status.success().then_some(done.stdout).ok_or_else(|| format!("gzip ended with {}", done.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        let bytes: Vec<u8> = (0..300_000u32).flat_map(|number| number.to_le_bytes()).collect();
        let packed = gzip(&bytes).expect("gzip");
        assert_eq!(packed, gzip(&bytes).expect("gzip"), "the same bytes make the same file");
        assert_eq!(&packed[4..8], [0; 4], "a time stands in it");
        let path = std::env::temp_dir().join(format!("onrush-packed-{}.gz", std::process::id()));
        std::fs::write(&path, packed).expect("a file of our own");
        let back = super::super::bytes_of(Command::new("gzip").arg("-dc").arg(&path)).expect("gzip");
        std::fs::remove_file(path).expect("the file goes");
        assert_eq!(back, bytes);
    }

    #[test]
    fn an_archive_is_the_same_each_time_and_has_its_sum() {
        let folder = std::env::temp_dir().join(format!("onrush-laid-out-{}", std::process::id()));
        let files = [File::program("bin/a", "1"), File::new("b", "2"), File::new("c/d/e", "3")];
        lay_out(&folder.join("x"), &[File::new("old", "")]).expect("a folder");
        lay_out(&folder.join("x"), &files).expect("a folder");
        assert!(!folder.join("x/old").exists(), "a file of an earlier build is still there");
        let mode = |path: &str| std::fs::metadata(folder.join(path)).expect("it is there").permissions().mode() & 0o777;
        let modes = ["x", "x/bin/a", "x/b", "x/c", "x/c/d", "x/c/d/e"].map(mode);
        assert_eq!(modes, [0o755, 0o755, 0o644, 0o755, 0o755, 0o644]);
        sum(&folder.join("x/b")).expect("a sum");
        let line = std::fs::read_to_string(folder.join("x/b.sha256")).expect("the sum");
        assert_eq!(line, "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35  b\n");
        std::fs::remove_dir_all(folder).expect("the folder goes");
    }
}
