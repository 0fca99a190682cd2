//! Tests count and never measure time. Outside `claims::wait_for`, no test sleeps, reads a clock or pins itself to a
//! core: on a disturbed machine such a test fails without a bug, or its limits are widened until it finds none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Words that a test may not use.
const WORDS: [&str; 6] = ["sleep", "elapsed", "Instant::now", "SystemTime::now", "setTimeout", "taskset"];

/// Files that are still excepted, with the number of lines and the reason. The list may only shrink.
const LIST: &str = include_str!("no_time.txt");

/// Environment variable that makes this test write the list, with a placeholder for the reason of each new line.
const WRITES_VARIABLE: &str = "ONRUSH_WRITE_NO_TIME";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_dir() {
            // Folders of npm and cargo are not ours.
            if name != "node_modules" && !entry.join("CACHEDIR.TAG").exists() {
                files_in(&entry, found);
            }
        } else if entry
            .extension()
            .is_some_and(|end| ["rs", "js", "mjs", "py", "go", "sh"].iter().any(|one| end == *one))
        {
            found.push(entry);
        }
    }
    found.sort();
}

/// The test code of a file: all of it below `tests`, and elsewhere the part after `#[cfg(test)]`.
fn test_lines<'a>(path: &Path, text: &'a str) -> Vec<&'a str> {
    let is_all = path.iter().any(|part| part == "tests") || path.file_stem().is_some_and(|stem| stem == "tests");
    let text = match text.split_once("\n#[cfg(test)]\nmod tests {") {
        _ if is_all => text,
        Some((_, tests)) => tests,
        None => "",
    };
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect()
}

fn is_timed(line: &str) -> bool {
    WORDS.iter().any(|word| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            let is_part = |one: Option<char>| one.is_some_and(|one| one.is_alphanumeric() || one == '_');
            !is_part(before) && !is_part(after)
        })
    })
}

/// Number of timing lines by file, relative to the root.
fn timed() -> BTreeMap<String, usize> {
    let mut files = Vec::new();
    ["crates", "xtask", "bench"].iter().for_each(|folder| files_in(&root().join(folder), &mut files));
    let own = root().join("xtask/tests/no_time.rs");
    let mut timed = BTreeMap::new();
    for path in files.into_iter().filter(|path| *path != own) {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let below = path.strip_prefix(root()).expect("a file of the project");
        let count = test_lines(below, &text).into_iter().filter(|line| is_timed(line)).count();
        if count > 0 {
            timed.insert(below.display().to_string(), count);
        }
    }
    timed
}

/// The exceptions: `path count reason`.
fn excepted() -> BTreeMap<String, (usize, &'static str)> {
    let read = |line: &'static str| {
        let mut fields = line.splitn(3, ' ');
        let (path, count, reason) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
        Some((path.to_owned(), (count, reason)))
    };
    LIST.lines().map(|line| read(line).unwrap_or_else(|| panic!("not `path count reason`: {line}"))).collect()
}

#[test]
fn no_test_looks_at_a_clock() {
    let (now, excepted) = (timed(), excepted());
    if std::env::var_os(WRITES_VARIABLE).is_some() {
        let line = |(path, count): (&String, &usize)| {
            let reason = excepted.get(path).map_or("REASON", |(_, reason)| reason);
            format!("{path} {count} {reason}\n")
        };
        let text: String = now.iter().map(line).collect();
        std::fs::write(root().join("xtask/tests/no_time.txt"), text).expect("a file of ours");
        return;
    }
    let more = now.iter().filter(|(path, count)| excepted.get(*path).map_or(0, |(most, _)| *most) < **count);
    let more: Vec<String> = more.map(|(path, count)| format!("{path}: {count}")).collect();
    assert!(more.is_empty(), "count, wait for the event, or use the simulator: {more:#?}");
    let fewer = excepted.iter().filter(|(path, (most, _))| now.get(*path).copied().unwrap_or_default() < *most);
    let fewer: Vec<&String> = fewer.map(|(path, _)| path).collect();
    assert!(fewer.is_empty(), "the list may shrink: {fewer:#?}; {WRITES_VARIABLE}=1 writes it");
}

/// No crate is missed: a rule that reads no file finds no fault.
#[test]
fn all_crates_are_read() {
    let mut files = Vec::new();
    files_in(&root().join("crates"), &mut files);
    for entry in std::fs::read_dir(root().join("crates")).expect("a folder").flatten() {
        assert!(files.iter().any(|file| file.starts_with(entry.path())), "{}", entry.path().display());
    }
}

#[test]
fn each_exception_has_a_reason() {
    for (path, (_, reason)) in excepted() {
        assert!(reason.len() > 10, "{path}: why? {reason}");
    }
}
