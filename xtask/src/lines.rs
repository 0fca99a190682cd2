//! The command `lines`: lines of code of each crate without tests, comments and blanks, and their mean length.

mod lexer;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Failure, root};

/// Lines of code, and their length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    lines: usize,
    /// Characters without comments and the spaces around them.
    length: usize,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.length += other.length;
    }

    fn mean(self) -> f64 {
        self.length as f64 / self.lines.max(1) as f64
    }
}

/// Prints the lines of code of each crate; with a revision, beside those of that revision.
pub(crate) fn lines(revision: Option<&str>) -> Result<(), Failure> {
    let now = counts(&root())?;
    let Some(revision) = revision else {
        print(&now, None);
        return Ok(());
    };
    let folder = std::env::temp_dir().join(format!("onrush-lines-{}", std::process::id()));
    let before = at(revision, &folder).and_then(|()| counts(&folder));
    // What was counted is more important than a folder that stays.
    let _ = std::fs::remove_dir_all(&folder);
    print(&now, Some(&before?));
    Ok(())
}

/// Writes the sources of a revision into a folder.
fn at(revision: &str, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut archive = Command::new("git")
        .args(["archive", "--format=tar", revision, "crates", "xtask"])
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("git: {error}"))?;
    let bytes = archive.stdout.take().ok_or("git has no output")?;
    let unpacked = Command::new("tar").arg("-x").current_dir(folder).stdin(bytes).status();
    let archived = archive.wait().map_err(|error| format!("git: {error}"))?;
    let is_unpacked = unpacked.map_err(|error| format!("tar: {error}"))?.success();
    (archived.success() && is_unpacked).then_some(()).ok_or(format!("git does not know the revision {revision}"))
}

fn print(now: &BTreeMap<String, Count>, before: Option<&BTreeMap<String, Count>>) {
    let names: BTreeSet<&String> = now.keys().chain(before.into_iter().flat_map(BTreeMap::keys)).collect();
    let row = |name: &str, now: Count, before: Option<Count>| {
        let then = before.map_or(String::new(), |before| {
            let change = now.lines as i64 - before.lines as i64;
            format!("   {:>7}   {:>5.1}   {change:>+7}", before.lines, before.mean())
        });
        println!("{name:14} {:>7}   {:>5.1}{then}", now.lines, now.mean());
    };
    let then = if before.is_some() { "    before   length    change" } else { "" };
    println!("{:14} {:>7}  {:>6}{then}", "crate", "lines", "length");
    let mut sums = (Count::default(), Count::default());
    for name in names {
        let of = |counts: &BTreeMap<String, Count>| counts.get(name).copied().unwrap_or_default();
        let (now, before) = (of(now), before.map(of));
        sums.0.add(now);
        sums.1.add(before.unwrap_or_default());
        row(name, now, before);
    }
    row("all", sums.0, before.map(|_| sums.1));
}

/// The lines of code of each crate of a checkout.
fn counts(root: &Path) -> Result<BTreeMap<String, Count>, Failure> {
    let mut counts = BTreeMap::new();
    let mut crates = folders(&root.join("crates"))?;
    crates.push(root.join("xtask"));
    for folder in crates.into_iter().filter(|folder| folder.join("src").is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let count = count(&folder.join("src"))?;
        if count.lines > 0 {
            counts.insert(name, count);
        }
    }
    Ok(counts)
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    Ok(found)
}

/// The lines of code of the files below a folder. Modules that only tests have are left out.
fn count(source: &Path) -> Result<Count, Failure> {
    let (mut files, mut waiting) = (Vec::new(), vec![source.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for path in folders(&folder)? {
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                files.push((path, lexer::code(&text)));
            }
        }
    }
    // A module of tests has a file, or a folder, or both.
    let of_tests: Vec<PathBuf> =
        files.iter().flat_map(|(path, code)| code.test_modules.iter().map(|name| module(path, name))).collect();
    let is_test = |path: &Path| of_tests.iter().any(|of| path.starts_with(of) || path == of.with_extension("rs"));
    let mut count = Count::default();
    for (_, code) in files.iter().filter(|(path, _)| !is_test(path)) {
        count.add(Count { lines: code.lines.len(), length: code.lines.iter().map(|line| line.chars().count()).sum() });
    }
    Ok(count)
}

/// The folder of a module that a file declares.
fn module(file: &Path, name: &str) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default();
    let folder = file.parent().unwrap_or(Path::new(""));
    if ["lib", "main", "mod"].iter().any(|root| stem == *root) {
        folder.join(name)
    } else {
        folder.join(stem).join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_tests_are_left_out() {
        let folder = std::env::temp_dir().join(format!("onrush-lines-test-{}", std::process::id()));
        let source = folder.join("crates/one/src");
        std::fs::create_dir_all(source.join("sim")).expect("a folder");
        std::fs::create_dir_all(source.join("two")).expect("a folder");
        std::fs::create_dir_all(folder.join("xtask/src")).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(source.join(name), text).expect("a file");
        write("lib.rs", "#[cfg(test)]\nmod sim;\nmod two;\n\nfn one() {} // 1\n");
        write("sim.rs", "fn tested() {}\n");
        write("sim/more.rs", "fn tested() {}\n");
        write("two.rs", "/// Two.\nfn two() {\n    one();\n}\n\n#[cfg(test)]\nmod tests;\n");
        write("two/tests.rs", "fn tested() {}\n");
        let counts = counts(&folder);
        std::fs::remove_dir_all(&folder).expect("a folder of our own");
        let length = ["mod two;", "fn one() {}", "fn two() {", "one();", "}"].map(str::len).iter().sum();
        assert_eq!(counts, Ok(BTreeMap::from([("one".to_owned(), Count { lines: 5, length })])));
    }
}
