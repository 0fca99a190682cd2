//! Modules of a crate use each other in one direction: no cycles except those of a parent and its children, and no file
//! that is too long to keep an overview.
//!
//! It reads text: paths that begin with `crate`, `self` or `super`, and names that a module re-exports with `pub use`.
//! Methods that siblings call on a type of their parent leave no path, so such cycles are not found.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum lines of a file in `crates/*/src`.
const LINES_MAX: usize = 500;

/// Files that are still longer. The list may only shrink: split a file, and remove it here.
const LONGER: [(&str, usize); 0] = [];

/// Known cycles. The list may only shrink.
const KNOWN: [&str; 0] = [];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

fn files_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            files_in(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            found.push(entry);
        }
    }
    found.sort();
}

fn crates() -> Vec<PathBuf> {
    let mut crates: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("an entry").path().join("src"))
        .filter(|source| source.is_dir())
        .collect();
    crates.sort();
    crates
}

/// A module, by the names that lead to it from the root of its crate.
type Module = Vec<String>;

fn module_of(file: &Path, source: &Path) -> Module {
    let path = file.strip_prefix(source).expect("a file of the crate").with_extension("");
    let names: Module = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names == ["lib"] || names == ["main"] { Module::new() } else { names }
}

/// The text without comments, strings and the `#[cfg(test)]` part at the end of a file.
fn code_of(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(line));
    let mut code = String::new();
    for line in lines {
        for (number, part) in line.split('"').enumerate() {
            code.push_str(if number % 2 == 0 { part } else { "" });
        }
        code.push('\n');
    }
    code
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The paths that begin with `crate`, `self` or `super`, each name of a list separately.
fn paths_of(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            // `$crate::`, `super::super::`, and names that end the same way.
            if !before.is_some_and(|character| is_word(character) || character == ':' || character == '$') {
                read_path(&code[at..], Vec::new(), &mut paths);
            }
        }
    }
    paths
}

/// Parses one path, with its lists; returns its length in bytes.
fn read_path(text: &str, mut so_far: Vec<String>, paths: &mut Vec<Vec<String>>) -> usize {
    let mut at = 0;
    loop {
        let word: String = text[at..].chars().take_while(|character| is_word(*character)).collect();
        at += word.len();
        if !word.is_empty() {
            so_far.push(word);
        }
        let rest = &text[at..];
        if let Some(list) = rest.strip_prefix("::{").or_else(|| rest.strip_prefix('{').filter(|_| so_far.is_empty())) {
            let mut inside = rest.len() - list.len();
            loop {
                inside += rest[inside..].len() - rest[inside..].trim_start().len();
                if rest[inside..].is_empty() || rest[inside..].starts_with('}') {
                    return at + inside + 1;
                }
                let read = read_path(&rest[inside..], so_far.clone(), paths);
                inside += read;
                let skipped = rest[inside..].find([',', '}']).unwrap_or(rest.len() - inside);
                inside += skipped;
                if rest[inside..].starts_with(',') {
                    inside += 1;
                }
            }
        }
        if !rest.starts_with("::") {
            paths.push(so_far);
            return at;
        }
        at += 2;
    }
}

/// The module that a path refers to, as far as its names are modules.
fn target_of(path: &[String], from: &Module, modules: &BTreeSet<Module>) -> (Module, usize) {
    let (mut to, mut used) = match path.first().map(String::as_str) {
        Some("self") => (from.clone(), 1),
        Some("super") => {
            let ups = path.iter().take_while(|name| *name == "super").count();
            (from[..from.len().saturating_sub(ups)].to_vec(), ups)
        }
        _ => (Module::new(), 1),
    };
    while let Some(name) = path.get(used) {
        let next: Module = to.iter().cloned().chain([name.clone()]).collect();
        if !modules.contains(&next) {
            break;
        }
        (to, used) = (next, used + 1);
    }
    (to, used)
}

fn is_family(one: &Module, other: &Module) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// The names of modules that exist only for tests.
fn modules_for_tests(files: &[PathBuf]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a source");
        for declared in text.split("#[cfg(test)]\n").skip(1) {
            let line = declared.lines().next().unwrap_or("");
            let name =
                line.trim_start_matches("pub(crate) ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
            names.extend(name.map(str::to_owned));
        }
    }
    names
}

/// The modules that each one uses, except its parents and children.
fn uses_of(source: &Path) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut files = Vec::new();
    files_in(source, &mut files);
    let for_tests = modules_for_tests(&files);
    files.retain(|file| !module_of(file, source).iter().any(|name| for_tests.contains(name)));
    let codes: Vec<(Module, String)> = files
        .iter()
        .map(|file| (module_of(file, source), code_of(&std::fs::read_to_string(file).expect("a source"))))
        .collect();
    let modules: BTreeSet<Module> = codes.iter().map(|(module, _)| module.clone()).collect();
    // Re-exported names, and their origins.
    let mut passed: BTreeMap<(Module, String), Module> = BTreeMap::new();
    for (module, code) in &codes {
        for statement in code.split("pub use ").chain(code.split("pub(crate) use ")).skip(1) {
            let statement = statement.split(';').next().unwrap_or("");
            let mut paths = Vec::new();
            read_path(&format!("self::{statement}"), Vec::new(), &mut paths);
            for path in paths {
                let (to, used) = target_of(&path, module, &modules);
                if let Some(name) = path.get(used) {
                    passed.insert((module.clone(), name.clone()), to);
                }
            }
        }
    }
    let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, code) in &codes {
        for path in paths_of(code) {
            let (mut to, used) = target_of(&path, module, &modules);
            if let Some(other) = path.get(used).and_then(|name| passed.get(&(to.clone(), name.clone()))) {
                to.clone_from(other);
            }
            if !is_family(module, &to) {
                uses.entry(module.clone()).or_default().insert(to);
            }
        }
    }
    uses
}

/// Pairs of modules that use each other, directly or indirectly.
fn circles(uses: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    let reach = |from: &Module| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = todo.pop() {
            for next in uses.get(&module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    todo.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> = uses.keys().map(|module| (module, reach(module))).collect();
    let mut found = Vec::new();
    for (module, others) in uses {
        for other in others {
            let is_back = reached.get(other).is_some_and(|back| back.contains(module));
            if is_back {
                found.push(format!("{} -> {}", module.join("::"), other.join("::")));
            }
        }
    }
    found
}

#[test]
fn modules_use_each_other_in_one_direction() {
    let found: Vec<String> = crates()
        .iter()
        .flat_map(|source| {
            let name = source.parent().and_then(Path::file_name).expect("a crate").to_string_lossy().into_owned();
            circles(&uses_of(source)).into_iter().map(move |step| format!("{name}: {step}"))
        })
        .collect();
    let known: BTreeSet<&str> = KNOWN.into_iter().collect();
    let new: Vec<&String> = found.iter().filter(|step| !known.contains(step.as_str())).collect();
    let gone: Vec<&&str> = known.iter().filter(|step| !found.iter().any(|one| one == **step)).collect();
    assert!(new.is_empty(), "circles between modules; move what both need to a module below them: {new:#?}");
    assert!(gone.is_empty(), "these are no circles any more, take them out of the list: {gone:#?}");
}

#[test]
fn a_circle_is_seen() {
    let module = |text: &str| -> Module { text.split("::").map(str::to_owned).collect() };
    let uses = |steps: &[(&str, &str)]| {
        let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (from, to) in steps {
            uses.entry(module(from)).or_default().insert(module(to));
        }
        uses
    };
    assert_eq!(circles(&uses(&[("a", "b"), ("b", "c"), ("a", "c")])), Vec::<String>::new());
    assert_eq!(circles(&uses(&[("a", "b"), ("b", "c::d"), ("c::d", "a")])).len(), 3);
    let code = code_of("use crate::a::{B, c::{D, E}};\nfn f() { super::g::h(); } // crate::no\nlet s = \"crate::no\";");
    let words = |path: Vec<String>| path.join("::");
    let paths: Vec<String> = paths_of(&code).into_iter().map(words).collect();
    assert_eq!(paths, ["crate::a::B", "crate::a::c::D", "crate::a::c::E", "super::g::h"]);
}

#[test]
fn files_are_not_longer_than_one_can_hold_in_mind() {
    let mut files = Vec::new();
    crates().iter().for_each(|source| files_in(source, &mut files));
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(root()).expect("a file of ours").to_string_lossy().into_owned();
        let lines = std::fs::read_to_string(&file).expect("a source").lines().count();
        let most = LONGER.iter().find(|(known, _)| *known == name).map_or(LINES_MAX, |(_, most)| *most);
        if lines > most {
            wrong.push(format!("{name} has {lines} lines, at most {most}: cut it at its seam"));
        } else if most > LINES_MAX && lines <= LINES_MAX {
            wrong.push(format!("{name} is short enough now: take it out of the list"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Functions that are nothing but a table, and longer than `clippy.toml` allows. The number may only shrink.
const TABLES_MAX: usize = 10;

#[test]
fn few_functions_are_tables() {
    let mut files = Vec::new();
    files_in(&root().join("crates"), &mut files);
    let is_table = |line: &&str| line.contains("#[expect(clippy::too_many_lines");
    let count = |file: &PathBuf| std::fs::read_to_string(file).expect("a source").lines().filter(is_table).count();
    let tables: usize = files.iter().map(count).sum();
    assert!(tables <= TABLES_MAX, "{tables} functions are excepted, at most {TABLES_MAX} may be: cut one at its seam");
    let folders = crates().into_iter().filter_map(|source| source.parent().map(Path::to_owned));
    let own: Vec<PathBuf> = folders.filter(|folder| folder.join("clippy.toml").exists()).collect();
    assert!(own.is_empty(), "the bounds of `clippy.toml` hold for all crates: {own:?}");
}
