//! The architecture rules: a crate depends on lower layers only, and `unsafe` is limited to `driver`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const LAYERS: [(&str, u8); 28] = [
    ("claims", 0),
    ("wire", 1),
    ("plan", 1),
    ("pacing", 1),
    ("metrics", 1),
    ("protocol", 2),
    ("scenario", 3),
    ("search", 2),
    ("driver", 2),
    ("host", 2),
    ("listener", 2),
    ("script", 2),
    ("feed", 2),
    ("engine", 3),
    ("protocols", 3),
    ("cluster", 4),
    ("target", 4),
    ("figures", 4),
    ("history", 1),
    ("export", 5),
    ("report", 6),
    ("screen", 7),
    ("web", 7),
    ("selftest", 7),
    ("fuzzers", 7),
    ("instructions", 8),
    ("onrush", 8),
    ("own-protocol", 9),
];

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, layer)| *layer)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo speaks JSON");
    metadata["packages"].as_array().expect("a list").clone()
}

/// The dependencies on crates of the same layer or above, as pairs.
fn broken(packages: &[Value]) -> Vec<(String, String)> {
    let mut broken = Vec::new();
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let Some(own) = layer(name) else { continue };
        for dependency in package["dependencies"].as_array().expect("a list") {
            let other = dependency["name"].as_str().expect("a name");
            // Dependencies of tests may be anywhere below the binary.
            let is_for_tests = dependency["kind"] == "dev";
            if layer(other).is_some_and(|other| other >= own) && !is_for_tests {
                broken.push((name.to_owned(), other.to_owned()));
            }
        }
    }
    broken
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let packages = packages();
    assert_eq!(broken(&packages), []);
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        assert!(name == "xtask" || layer(name).is_some(), "{name} has no layer");
    }
}

#[test]
fn a_step_upwards_is_seen() {
    let upwards = serde_json::json!([{"name": "wire", "dependencies": [{"name": "engine", "kind": null}]}]);
    let sideways = serde_json::json!([{"name": "plan", "dependencies": [{"name": "wire", "kind": null}]}]);
    assert_eq!(broken(upwards.as_array().expect("a list")).len(), 1);
    assert_eq!(broken(sideways.as_array().expect("a list")).len(), 1);
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// A folder, the forbidden words in it, and the reason.
type Rule = (&'static str, &'static [&'static str], &'static str);

const RULES: [Rule; 5] = [
    (
        "crates/wire/src",
        &["Instant::now", "SystemTime", "std::net", "std::thread"],
        "machines over bytes own no clock and no socket",
    ),
    (
        "crates/pacing/src",
        &["Instant::now", "SystemTime", "std::net", "std::thread"],
        "schedules read no clock: a test says what the time is",
    ),
    (
        "crates/metrics/src",
        &["time::Instant", "SystemTime", "std::thread", "Mutex", "sync::atomic"],
        "recorders are given the time, and are not shared",
    ),
    (
        "crates/figures/src",
        &[
            "Instant",
            "SystemTime",
            "std::fs",
            "std::env",
            "/proc/",
            "Mutex",
            "sync::atomic",
            "host::resident_bytes",
            "host::local_port_range",
            "host::ports_to",
            "host::listen_overflows",
            "host::descriptors",
            "host::somaxconn",
        ],
        "figures are made of what is given",
    ),
    (
        "crates/report/src",
        &[
            "println!",
            "std::env",
            "process::exit",
            "std::time",
            "std::fs",
            "/proc/",
            "host::resident_bytes",
            "host::local_port_range",
            "host::ports_to",
            "host::listen_overflows",
            "host::descriptors",
            "host::somaxconn",
            "Settings::read",
            ".merge(",
            "Snapshot",
            "Censored",
        ],
        "views only show: they read no clock, ask no machine, merge nothing, and do not print",
    ),
];

#[test]
fn rooms_keep_to_their_trade() {
    for (folder, words, reason) in RULES {
        let mut files = Vec::new();
        sources(&root().join(folder), &mut files);
        assert!(!files.is_empty(), "{folder} is empty");
        // The tests of views build the snapshots that are shown.
        let is_view = folder == "crates/report/src";
        for file in files.iter().filter(|file| !(is_view && is_test(file))) {
            let text = std::fs::read_to_string(file).expect("a source");
            assert_eq!(forbidden(&text, words), None, "{}: {reason}", file.display());
        }
    }
}

/// Whether a file contains only tests.
fn is_test(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == "tests.rs")
        || file.parent().is_some_and(|folder| folder.ends_with("tests"))
}

/// The first forbidden word in a source.
fn forbidden<'a>(text: &str, words: &[&'a str]) -> Option<&'a str> {
    let stands_in = |word: &&str| {
        let goes_on = |after: &str| after.starts_with(|each: char| each.is_alphanumeric() || each == '_');
        let is_name = goes_on(&word[word.len() - 1..]);
        // A longer name is a different one.
        text.match_indices(word).any(|(at, _)| !(is_name && goes_on(&text[at + word.len()..])))
    };
    words.iter().copied().find(stands_in)
}

#[test]
fn a_view_that_does_more_than_show_is_seen() {
    let words_of =
        |folder: &str| RULES.iter().find(|(rule, ..)| *rule == folder).map_or(&[][..], |(_, words, _)| words);
    for line in [
        "use std::time::SystemTime;",
        "let now = std::time::Instant::now();",
        "let text = std::fs::read_to_string(\"/proc/self/status\")?;",
        "let memory = host::resident_bytes();",
        "let ports = host::local_port_range();",
        "let ports = host::ports_to(address);",
        "let overflows = host::listen_overflows();",
        "let settings = Settings::read();",
        "sum.merge(&other);",
        "let seen: &Snapshot = run.seen();",
        "let censored = Censored::of_times(&incomplete, &times);",
        "println!(\"{text}\");",
    ] {
        assert!(forbidden(line, words_of("crates/report/src")).is_some(), "{line}");
    }
    for line in [
        "SystemTime::now()",
        "Instant::now()",
        "std::fs::read(path)",
        "host::descriptors()",
        "Mutex::new(0)",
        "std::sync::atomic::AtomicU64",
    ] {
        assert!(forbidden(line, words_of("crates/figures/src")).is_some(), "{line}");
    }
    for line in ["use core::time::Duration;", "use figures::Run;", "host::Settings", "metrics::SnapshotError"] {
        assert_eq!(forbidden(line, words_of("crates/report/src")), None, "{line}");
    }
}

#[test]
fn unsafe_lives_in_the_driver() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let is_unsafe = |line: &&str| {
        line.split(|each: char| !each.is_alphanumeric() && each != '_').any(|word| word == "unsafe")
            && !line.trim_start().starts_with("//")
    };
    // Tests that need it keep it in files of their own.
    let allowed = [
        root().join("crates/driver/src/heap.rs"),
        root().join("crates/driver/src/late_port.rs"),
        root().join("crates/driver/src/memory_info.rs"),
        root().join("crates/driver/src/send_queue.rs"),
        root().join("crates/driver/src/uring"),
        root().join("crates/driver/src/uring.rs"),
        root().join("crates/cli/tests/refused.rs"),
        root().join("crates/cli/tests/books/stopping.rs"),
        root().join("crates/metrics/tests/memory.rs"),
        root().join("crates/target/tests/allocations.rs"),
        root().join("crates/wire/src/hpack/tests/nghttp2.rs"),
    ];
    for file in files.iter().filter(|file| !allowed.iter().any(|place| file.starts_with(place))) {
        let text = std::fs::read_to_string(file).expect("a source");
        assert_eq!(text.lines().find(is_unsafe), None, "{}", file.display());
    }
}
