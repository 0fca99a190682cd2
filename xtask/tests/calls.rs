//! Methods that call each other in a circle over several files: a type whose `impl` is spread over files should have its
//! calls go down, as modules do (`circles.rs`, which sees paths only).
//!
//! It reads text: the methods of each `impl` block, and their calls on `self` or `Self`.

mod sources;

use std::collections::{BTreeMap, BTreeSet};

use sources::{root, tracked};

/// Circles that are there: crate, type, and the number of files that they touch. The list may only shrink: let a method
/// return what is to be done instead of calling back, then lower the number here.
const KNOWN: [(&str, &str, usize); 1] = [("engine", "ScenarioRuntime", 3)];

/// The methods of a type: the file and the body of each.
type Methods = BTreeMap<String, (String, String)>;
/// Methods, and those that each calls.
type Calls<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The text of a file without its tests and comments.
fn code_of(path: &str) -> String {
    let text = std::fs::read_to_string(root().join(path)).expect("text");
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or(line).to_owned() + "\n").collect()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn word_at(text: &str) -> &str {
    &text[..text.find(|character| !is_word(character)).unwrap_or(text.len())]
}

/// The type of an `impl` line.
fn type_of(line: &str) -> Option<&str> {
    let mut rest = line.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.find(|character| {
            depth += i32::from(character == '<') - i32::from(character == '>');
            depth == 0
        })?;
        rest = &rest[end + 1..];
    }
    let rest = rest.split(" for ").last()?.trim_start();
    Some(word_at(rest)).filter(|word| !word.is_empty())
}

/// The `impl` blocks of a file, with their types: they begin and end at the left margin.
fn blocks(code: &str) -> Vec<(String, String)> {
    let (mut found, mut lines) = (Vec::new(), code.lines());
    while let Some(line) = lines.next() {
        if let Some(of) = type_of(line) {
            let body: String =
                lines.by_ref().take_while(|line| *line != "}").map(|line| line.to_owned() + "\n").collect();
            found.push((of.to_owned(), body));
        }
    }
    found
}

/// The words behind each place where `before` stands.
fn words_behind<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    text.match_indices(before).map(move |(at, _)| {
        let rest = text[at + before.len()..].trim_start();
        let word = word_at(rest);
        (word, &rest[word.len()..])
    })
}

/// The methods of a block, with their bodies.
fn methods(block: &str) -> Vec<(String, String)> {
    let begins = |line: &&str| line.starts_with("    ") && !line[4..].starts_with(' ') && line.contains("fn ");
    let starts: Vec<usize> = block.lines().enumerate().filter(|(_, line)| begins(line)).map(|(at, _)| at).collect();
    let lines: Vec<&str> = block.lines().collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let method = |(start, end): (&usize, usize)| {
        let name = word_at(lines[*start].split("fn ").nth(1).unwrap_or_default());
        // A call may be broken over lines.
        let body = lines[start + 1..end].join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        (name.to_owned(), body.replace("self .", "self."))
    };
    starts.iter().zip(ends).map(method).collect()
}

/// Which methods call which.
fn calls(methods: &Methods) -> Calls<'_> {
    let called = |(name, (_, body)): &'_ (&String, &(String, String))| -> BTreeSet<String> {
        let words = words_behind(body, "self.").chain(words_behind(body, "Self::"));
        let names = words.filter(|(_, rest)| rest.starts_with('(') || rest.starts_with("::<")).map(|(name, _)| name);
        names.filter(|other| *other != name.as_str()).map(str::to_owned).collect()
    };
    let known = |name: &String| methods.get_key_value(name).map(|(name, _)| name.as_str());
    methods.iter().map(|one| (one.0.as_str(), called(&one).iter().filter_map(known).collect())).collect()
}

/// All methods that are reached from one.
fn reached<'a>(from: &'a str, calls: &Calls<'a>) -> BTreeSet<&'a str> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(name) = left.pop() {
        left.extend(calls[name].iter().filter(|next| found.insert(**next)));
    }
    found
}

/// The files of methods that reach themselves through another file.
fn in_circles(methods: &Methods) -> BTreeSet<&str> {
    let calls = calls(methods);
    let reached: BTreeMap<&str, BTreeSet<&str>> = calls.keys().map(|name| (*name, reached(name, &calls))).collect();
    let file = |name: &str| methods[name].0.as_str();
    let leaves =
        |name: &str| reached[name].iter().any(|other| reached[other].contains(name) && file(other) != file(name));
    calls.keys().filter(|name| leaves(name)).map(|name| file(name)).collect()
}

#[test]
fn methods_of_files_call_each_other_in_one_direction() {
    let mut crates: BTreeMap<String, BTreeMap<String, Methods>> = BTreeMap::new();
    let mut declared: BTreeMap<(String, String), usize> = BTreeMap::new();
    for path in tracked() {
        let mut parts = path.split('/');
        let (Some("crates"), Some(of), Some("src")) = (parts.next(), parts.next(), parts.next()) else { continue };
        if !path.ends_with(".rs") || path.ends_with("tests.rs") || path.contains("/tests/") {
            continue;
        }
        let code = code_of(&path);
        for kind in ["struct ", "enum "] {
            let names = words_behind(&code, kind).map(|(name, _)| name);
            names.for_each(|name| *declared.entry((of.to_owned(), name.to_owned())).or_default() += 1);
        }
        for (name, body) in blocks(&code) {
            let types = crates.entry(of.to_owned()).or_default();
            let placed = methods(&body).into_iter().map(|(method, body)| (method, (path.clone(), body)));
            types.entry(name).or_default().extend(placed);
        }
    }
    let (mut found, mut shown) = (Vec::new(), String::new());
    for (of, types) in &crates {
        for (name, methods) in types {
            // Types of the same name are not told apart.
            let is_one = declared.get(&(of.clone(), name.clone())) == Some(&1);
            let files = in_circles(methods);
            if is_one && !files.is_empty() {
                shown += &format!("\n{of} {name}: {files:?}");
                found.push((of.as_str(), name.as_str(), files.len()));
            }
        }
    }
    assert_eq!(found, KNOWN, "files in circles of calls, and those that are known:{shown}");
}

#[test]
fn a_circle_is_found_and_a_line_is_not() {
    let of = |files: &[(&str, &str)]| -> Methods {
        let placed = files.iter().flat_map(|(file, block)| {
            methods(block).into_iter().map(|(name, body)| (name, ((*file).to_owned(), body)))
        });
        placed.collect()
    };
    let line = of(&[
        (
            "a",
            "    pub fn a(&self) {\n        self.b();\n        self.d();\n    }\n    fn d(&self) {\n        self.a();\n    }",
        ),
        ("b", "    fn b(&self) {\n        self\n            .c::<u8>();\n    }"),
        ("c", "    fn c() {\n    }"),
    ]);
    assert_eq!(in_circles(&line), BTreeSet::new(), "a circle in one file is one");
    let circle = of(&[
        ("a", "    fn a(&self) {\n        self.b();\n    }"),
        ("b", "    fn b() {\n        Self::c();\n    }"),
        ("c", "    fn c() {\n        self\n            .a()\n    }\n    fn d() {\n        self.a();\n    }"),
    ]);
    assert_eq!(in_circles(&circle), BTreeSet::from(["a", "b", "c"]));
    assert_eq!(type_of("impl<S: Into<u8>> Trait<S> for Thing<S> {"), Some("Thing"));
    assert_eq!(type_of("impl Thing {"), Some("Thing"));
    assert_eq!(blocks("impl A {\n    fn a() {}\n}\nfn b() {}\n"), [("A".to_owned(), "    fn a() {}\n".to_owned())]);
}
