//! Third-party licences of the binary: names, and the texts that must be distributed with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::{Build, FEATURES, said};
use crate::{Failure, cargo, root};

/// Beginnings of the names of licence files.
const BEGINNINGS: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// A linked library that is not a crate.
const GLIBC: &str = "glibc (LGPL-2.1-or-later), linked statically. Its source: https://sourceware.org/glibc/. The source of onrush and \
the command that\nlinks it (cargo xtask dist) are public, so that it can be linked with another glibc.\n";

/// The whole text.
pub(super) fn third_party(build: &Build) -> Result<String, Failure> {
    let words = ["metadata", "--format-version", "1", "--locked", "--features", FEATURES];
    let words = words.into_iter().chain(["--filter-platform", build.target.as_str()]).collect::<Vec<_>>();
    let text = said(cargo(&words).current_dir(root()))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut crates = Vec::new();
    for package in linked(&metadata) {
        let manifest = Path::new(text_of(&package["manifest_path"]));
        let folder = manifest.parent().ok_or("a manifest lies in no folder")?;
        crates.push(Crate {
            name: format!("{} {}", text_of(&package["name"]), text_of(&package["version"])),
            licence: text_of(&package["license"]).to_owned(),
            source: text_of(&package["repository"]).to_owned(),
            texts: texts(folder)?,
        });
    }
    Ok(written(&crates))
}

#[derive(Debug, Default)]
struct Crate {
    name: String,
    licence: String,
    source: String,
    texts: Vec<String>,
}

/// The third-party packages linked into the binary.
fn linked(metadata: &Value) -> Vec<&Value> {
    let list = |value: &'_ Value| value.as_array().map(Vec::as_slice).unwrap_or_default().to_vec();
    let packages: BTreeMap<&str, &Value> = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|package| (text_of(&package["id"]), package))
        .collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|node| (text_of(&node["id"]).to_owned(), node)).collect();
    let ours = packages.iter().find(|(_, package)| package["name"] == "onrush" && package["source"].is_null());
    let mut open: Vec<String> = ours.map(|(id, _)| (*id).to_owned()).into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let dependencies = nodes.get(&id).map(|node| list(&node["deps"])).unwrap_or_default();
        // Dev- and build-dependencies are not in the binary.
        let is_usual = |one: &Value| list(&one["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        open.extend(dependencies.iter().filter(|one| is_usual(one)).map(|one| text_of(&one["pkg"]).to_owned()));
    }
    let mut linked: Vec<&Value> = seen.iter().filter_map(|id| packages.get(id.as_str()).copied()).collect();
    linked.retain(|package| !package["source"].is_null());
    linked.sort_by_key(|package| (text_of(&package["name"]).to_owned(), text_of(&package["version"]).to_owned()));
    linked
}

/// The licence files at the top of a crate.
fn texts(folder: &Path) -> Result<Vec<String>, Failure> {
    let listed = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> = listed.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let is_licence = |path: &&std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        BEGINNINGS.iter().any(|begin| name.starts_with(begin))
    };
    let read = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim_end().to_owned())
    };
    paths.iter().filter(is_licence).map(read).collect()
}

/// A list of all crates, and each text once with its crates.
fn written(crates: &[Crate]) -> String {
    let mut text = "What others wrote and the binary of onrush holds.\n\n".to_owned();
    for one in crates {
        writeln!(text, "{} ({}) {}", one.name, one.licence, one.source).expect("text grows");
    }
    text.push_str(GLIBC);
    let mut by_text: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in crates {
        one.texts.iter().for_each(|licence| by_text.entry(licence).or_default().push(&one.name));
    }
    let mut groups: Vec<(Vec<&str>, &str)> = by_text.into_iter().map(|(licence, names)| (names, licence)).collect();
    groups.sort();
    for (names, licence) in groups {
        write!(text, "\n{}\n{}\n\n{licence}\n", "-".repeat(80), names.join(", ")).expect("text grows");
    }
    text
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_linked_is_named() {
        let package = |name: &str, source: Option<&str>| serde_json::json!({"id": name, "name": name, "version": "1", "source": source});
        let link = |name: &str, kind: Option<&str>| serde_json::json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = serde_json::json!({
            "packages": [package("onrush", None), package("wire", None), package("a", Some("r")), package("b", Some("r")),
                package("c", Some("r")), package("tests", Some("r")), package("builds", Some("r")), package("other", Some("r"))],
            "resolve": {"nodes": [
                {"id": "onrush", "deps": [link("wire", None), link("tests", Some("dev")), link("builds", Some("build"))]},
                {"id": "wire", "deps": [link("b", None), link("a", None)]},
                {"id": "a", "deps": [link("c", None), link("b", None)]},
                {"id": "builds", "deps": [link("other", None)]},
            ]},
        });
        let names: Vec<&str> = linked(&metadata).iter().map(|package| text_of(&package["name"])).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn a_text_that_many_share_stands_once() {
        let one = |name: &str, texts: &[&str]| Crate {
            name: name.to_owned(),
            licence: "MIT".to_owned(),
            source: "https://x".to_owned(),
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        };
        let text = written(&[one("a 1", &["share", "own"]), one("b 2", &["share"])]);
        assert_eq!(text.matches("\nshare\n").count(), 1);
        assert!(text.contains("a 1, b 2\n\nshare\n") && text.contains("a 1\n\nown\n"), "{text}");
        assert!(text.contains("b 2 (MIT) https://x\n") && text.contains("glibc (LGPL"), "{text}");
    }
}
