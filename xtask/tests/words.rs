//! The vocabulary of the field: no private names, no sentence that hides its noun, and no type name for many things.

mod sources;

use std::collections::BTreeMap;

use sources::{root, tracked};

/// Words that no identifier may contain, each with its replacement.
const IDENTIFIERS: [(&str, &str); 39] = [
    ("afar", "remote"),
    ("asked", "requested"),
    ("attendance", "waiters"),
    ("bygone", "recovered"),
    ("covered", "stall_affected"),
    ("crew", "shard_threads, processes"),
    ("crowd", "bus_benchmark"),
    ("go_on", "advance, proceed, resume"),
    ("goodbyes", "graceful_close"),
    ("halt", "pause"),
    ("halving", "probe_arithmetic"),
    ("hear", "handle, receive, record"),
    ("heard", "received"),
    ("hopeless", "failure_rate_guard"),
    ("lookout", "log_config"),
    ("muster", "workers_summary"),
    ("nap", "short_sleep"),
    ("owes", "needs_teardown"),
    ("parties", "participants"),
    ("persists", "ignores_failures"),
    ("purse", "budget_lease"),
    ("reckon", "compute"),
    ("reckoned", "computed"),
    ("reckoner", "evaluator"),
    ("scribe", "encoder"),
    ("seat", "part_state, member_state"),
    ("shelf", "journal"),
    ("spoiled", "unreliable"),
    ("strikes", "fault_injected"),
    ("supplies", "data_sources"),
    ("tell", "report, notify, publish"),
    ("teller", "reporter"),
    ("tenure", "slot_grant"),
    ("tenures", "slot_grants"),
    ("told", "reported"),
    ("town", "simulated network"),
    ("trail", "redirect_state"),
    ("wish", "options, intent"),
    ("wishes", "options, settings"),
];

/// Names that no type may have: their former meanings have names of their own.
const TYPES: [&str; 49] = [
    "Afar", "Asked", "At", "Away", "Begin", "Borrowed", "Bygone", "Came", "Carried", "Cast", "Crew", "Deposed",
    "Depot", "Desk", "Do", "Door", "Gather", "Going", "Ground", "Had", "Hall", "Heard", "Here", "Hope", "Kept", "Life",
    "Look", "Lookout", "Muster", "Nap", "Notice", "Order", "OwnRun", "Past", "Place", "Player", "Purse", "Said",
    "Scene", "Shelf", "Speech", "Stand", "Talk", "Told", "Town", "Trouble", "Turns", "Whole", "Wish",
];

/// Words that no text may contain: comments, messages, help, keys of JSON, and pages.
const TEXTS: [(&str, &str); 12] = [
    ("asked_per_s", "requested_per_s"),
    ("is_spoiled", "is_unreliable"),
    ("SPOILED", "UNRELIABLE"),
    ("i-may-load", "allow-host"),
    ("i_may_load", "allow_host"),
    ("whoever", "name the noun: the leader, the caller, a worker"),
    ("who leads", "the leader"),
    ("so many", "N, or the name of the number"),
    ("what it came to", "result"),
    ("stood_still_s", "stalled_s"),
    ("answers_stream", "responses_stream"),
    ("spoiled_runs", "unreliable_runs"),
];

/// Names with a conventional meaning, within the layer or the protocol of their module.
const CONVENTIONAL: [&str; 23] = [
    "Client",
    "Body",
    "Config",
    "Connection",
    "Error",
    "Event",
    "Field",
    "Key",
    "Kind",
    "Load",
    "Message",
    "Options",
    "Reader",
    "Request",
    "Response",
    "Row",
    "Run",
    "Server",
    "Session",
    "State",
    "Step",
    "Stream",
    "Value",
];

/// Maximum number of types with the same name.
const THINGS_MAX: usize = 3;

/// The files of some folders with these ends, with their texts. This file names what it forbids.
fn texts(folders: &[&str], ends: &[&str]) -> Vec<(String, String)> {
    let is_read = |path: &String| {
        let is_inside = folders.iter().any(|folder| path.starts_with(&format!("{folder}/")));
        let end = path.rsplit_once('.').map_or("", |(_, end)| end);
        is_inside && ends.contains(&end) && path != "xtask/tests/words.rs"
    };
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).expect("text");
        (path, text)
    };
    tracked().into_iter().filter(is_read).map(read).collect()
}

/// A line without strings and comments, as far as a single line shows them.
fn code_of(line: &str) -> String {
    let line = line.split("//").next().unwrap_or(line);
    line.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The identifiers of a line of code.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|one: char| !one.is_ascii_alphanumeric() && one != '_').filter(|word| !word.is_empty())
}

/// The parts of a name in snake case, screaming case or camel case, in lower case.
fn parts(identifier: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for one in identifier.chars() {
        if one == '_' || (one.is_ascii_uppercase() && was_lower) {
            parts.push(String::new());
        }
        was_lower = one.is_ascii_lowercase();
        if one != '_' {
            parts.last_mut().expect("one").push(one.to_ascii_lowercase());
        }
    }
    parts
}

#[test]
fn names_are_those_of_the_field() {
    assert_eq!(parts("is_toldBy_XML"), ["is", "told", "by", "xml"]);
    let mut wrong = Vec::new();
    for (path, text) in texts(&["crates", "xtask"], &["rs"]) {
        for (number, line) in text.lines().enumerate() {
            let code = code_of(line);
            for identifier in identifiers(&code) {
                let parts = parts(identifier);
                for (word, instead) in IDENTIFIERS.iter().filter(|(word, _)| parts.iter().any(|part| part == word)) {
                    wrong.push(format!("{path}:{}: {identifier}: not {word}, but {instead}", number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} names:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn texts_are_those_of_the_field() {
    let mut wrong = Vec::new();
    let all = texts(&["crates", "xtask", "docs", "bench"], &["rs", "md", "js", "json", "html", "py"]);
    let front = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];
    let front = front.map(|name| (name.to_owned(), std::fs::read_to_string(root().join(name)).expect("text")));
    for (path, text) in all.into_iter().chain(front) {
        for (number, line) in text.lines().enumerate() {
            let has = |word: &str| {
                if word == word.to_lowercase() { line.to_lowercase().contains(word) } else { line.contains(word) }
            };
            for (word, instead) in TEXTS.iter().filter(|(word, _)| has(word)) {
                wrong.push(format!("{path}:{}: not \"{word}\", but {instead}", number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}

/// The files of each type name. Types of tests and associated types are left out.
fn types() -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in texts(&["crates", "xtask/src"], &["rs"]) {
        if path.contains("/tests") || path.contains("/programs/") {
            continue;
        }
        for line in text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines() {
            let is_inner = line.starts_with(' ');
            let words: Vec<&str> = line.split_whitespace().skip_while(|word| word.starts_with("pub")).collect();
            let [kind, name, ..] = words[..] else { continue };
            let is_type = ["struct", "enum", "trait", "union"].contains(&kind) || kind == "type" && !is_inner;
            if let Some(name) = identifiers(name).next().filter(|_| is_type) {
                all.entry(name.to_owned()).or_default().push(path.clone());
            }
        }
    }
    all
}

#[test]
fn a_type_name_stands_for_few_things() {
    let all = types();
    assert!(all.len() > 1_000, "{} types", all.len());
    let old: Vec<_> = TYPES.iter().filter_map(|name| all.get_key_value(*name)).collect();
    assert!(old.is_empty(), "{old:#?}");
    let many: Vec<_> = all
        .iter()
        .filter(|(name, places)| places.len() > THINGS_MAX && !CONVENTIONAL.contains(&name.as_str()))
        .collect();
    assert!(many.is_empty(), "{many:#?}");
}
