//! Public items are used: each stands, by its name, outside its own file, and not in tests alone.

#[path = "../src/lines/lexer.rs"]
mod lexer;
mod sources;

use std::collections::BTreeMap;

use sources::{root, tracked};

/// Bounds that a reader finds by their names, and items that only tests of other crates use. The list may only shrink.
const KNOWN: [(&str, &str); 26] = [
    ("claims/src/lib.rs", "as_one"),
    ("cluster/src/nats.rs", "join_here"),
    ("cluster/src/nats/bus_url.rs", "USUAL_NAME"),
    ("driver/src/sim.rs", "next_among"),
    ("driver/src/uring.rs", "stamp_errors"),
    ("driver/src/uring/stamps.rs", "STAMP_ERROR_MAX"),
    ("engine/src/run.rs", "run_on"),
    ("engine/src/subscribers.rs", "HOLD_UP_MAX"),
    ("engine/src/subscribers.rs", "try_next"),
    ("feed/src/reader.rs", "READER_BYTES_MAX"),
    ("host/src/spent.rs", "spent_of"),
    ("metrics/src/catalog.rs", "add_scenario"),
    ("metrics/src/catalog.rs", "add_with_unit"),
    ("plan/src/body_bytes.rs", "SHARED_BYTES_MIN"),
    ("plan/src/curl.rs", "CURL_FILE_BYTES_MAX"),
    ("plan/src/draft/urls.rs", "URLS_FILE_BYTES_MAX"),
    ("plan/src/draft/urls.rs", "URLS_MAX"),
    ("plan/src/extract.rs", "TAKEN_MAX"),
    ("report/src/changes.rs", "change_value"),
    ("report/src/messages/extract_error.rs", "not_extracted"),
    ("scenario/src/expression.rs", "EXPRESSION_BYTES_MAX"),
    ("selftest/src/lib.rs", "simulate"),
    ("selftest/src/world/simulated.rs", "requests_after"),
    ("selftest/src/world/simulated.rs", "run_and_probe"),
    ("wire/src/grpc/message.rs", "PREFIX_BYTES"),
    ("wire/src/websocket/handshake.rs", "accept_of"),
];

/// The words that begin a type, behind `pub`.
const TYPES: [&str; 4] = ["struct", "enum", "trait", "type"];

fn is_word(one: char) -> bool {
    one.is_alphanumeric() || one == '_'
}

/// The name of the public item that a line begins, and whether it is a type: others may have its values without its
/// name.
fn item(line: &str) -> Option<(&str, bool)> {
    let mut words = line.strip_prefix("pub ")?.split_whitespace();
    let mut word = words.next()?;
    while ["async", "unsafe", "const"].contains(&word) {
        let next = words.next()?;
        if word == "const" && next != "fn" {
            return Some((next.split(|one| !is_word(one)).next()?, false));
        }
        word = next;
    }
    let is_type = TYPES.contains(&word);
    let next = (is_type || ["fn", "static"].contains(&word)).then(|| words.next()).flatten()?;
    Some((next.split(|one| !is_word(one)).next().filter(|name| !name.is_empty())?, is_type))
}

fn is_of_tests(path: &str) -> bool {
    ["/tests/", "/benches/"].iter().any(|folder| path.contains(folder)) || path.ends_with("/tests.rs")
}

#[test]
fn public_items_are_used() {
    let files: Vec<(String, Vec<String>)> = tracked()
        .into_iter()
        .filter(|path| path.ends_with(".rs") && !is_of_tests(path))
        .map(|path| {
            let text = std::fs::read_to_string(root().join(&path)).expect("text");
            (path, lexer::code(&text).lines)
        })
        .collect();
    // The files in which a name stands. A name that is made public once more is not used by that.
    let mut uses: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, lines) in &files {
        let mut is_exported = false;
        for line in lines {
            is_exported |= line.starts_with("pub use ");
            for word in line.split(|one| !is_word(one)).filter(|word| !word.is_empty() && !is_exported) {
                let files = uses.entry(word).or_default();
                if files.last() != Some(&path.as_str()) {
                    files.push(path);
                }
            }
            is_exported &= !line.ends_with(';');
        }
    }
    let mut found = Vec::new();
    for (path, lines) in files.iter().filter(|(path, _)| path.starts_with("crates/") && path.contains("/src/")) {
        for (name, is_type) in lines.iter().filter_map(|line| item(line)) {
            let is_word_of = |line: &&String| line.split(|one| !is_word(one)).any(|word| word == name);
            // The value of a field, or of a function.
            if is_type && lines.iter().filter(is_word_of).nth(1).is_some() {
                continue;
            }
            if uses.get(name).is_none_or(|files| files.iter().all(|file| file == path)) {
                found.push((path.strip_prefix("crates/").expect("a crate"), name));
            }
        }
    }
    found.sort_unstable();
    let new: Vec<_> = found.iter().filter(|one| !KNOWN.contains(one)).collect();
    assert!(new.is_empty(), "{} unused items: {new:#?}", new.len());
    let gone: Vec<_> = KNOWN.iter().filter(|one| !found.contains(one)).collect();
    assert!(gone.is_empty(), "remove from the list: {gone:#?}");
    assert!(uses.len() > 5_000, "files were read");
}

#[test]
fn items_have_names() {
    for (line, name) in [
        ("pub fn one(&self) {", Some(("one", false))),
        ("pub const fn two() -> u8 {", Some(("two", false))),
        ("pub async fn three<T>() {", Some(("three", false))),
        ("pub const FOUR: u8 = 4;", Some(("FOUR", false))),
        ("pub struct Five<'a> {", Some(("Five", true))),
        ("pub fn $getter(&self) -> u64 {", None),
        ("pub(crate) fn six() {", None),
        ("pub six: u8,", None),
        ("pub use seven::Seven;", None),
    ] {
        assert_eq!(item(line), name, "{line}");
    }
}
