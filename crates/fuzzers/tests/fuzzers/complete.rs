//! A fuzzer is complete: a function, a test, seeds, a target of libFuzzer and its entry in that manifest.

use std::collections::BTreeSet;

use crate::{FUZZERS, root, seeds};

/// The names in a folder, without their extension; those with another extension are left out.
fn names_in(folder: &str, ending: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
}

#[test]
fn every_fuzzer_is_whole() {
    let tested: BTreeSet<String> = FUZZERS.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(tested.len(), FUZZERS.len(), "a name stands there twice");

    let mut functions = names_in("crates/fuzzers/src", ".rs");
    functions.remove("lib");
    assert_eq!(functions, tested, "functions and their tests");
    assert_eq!(names_in("fuzz/fuzz_targets", ".rs"), tested, "targets of libFuzzer and tests");
    assert_eq!(names_in("fuzz/seeds", ""), tested, "folders of seeds and tests");

    let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).expect("a manifest");
    let paths = manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""));
    assert_eq!(paths.map(str::to_owned).collect::<BTreeSet<_>>(), tested, "entries of fuzz/Cargo.toml and tests");
    for name in FUZZERS {
        assert!(!seeds(name).is_empty(), "fuzz/seeds/{name} is empty");
        assert!(manifest.contains(&format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n")), "{name}");
    }
}

#[test]
fn libfuzzer_calls_the_same_functions() {
    for name in FUZZERS {
        let target = std::fs::read_to_string(root().join(format!("fuzz/fuzz_targets/{name}.rs"))).expect("a target");
        let expected = format!(
            "//! `fuzzers::{name}`, for libFuzzer.\n#![no_main]\n\n\
             libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzers::{name}(input));\n"
        );
        assert_eq!(target, expected);
    }
}
