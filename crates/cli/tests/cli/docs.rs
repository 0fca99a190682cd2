//! README and docs: links are valid, both languages have the same commands, and every command runs.

mod commands;
mod links;

use std::path::{Path, PathBuf};

/// The root folder of the project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project is there")
}

/// A page, by its path from the root.
struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    fn name(&self) -> String {
        self.path.strip_prefix(root()).expect("it is in the project").display().to_string()
    }
}

/// Every page for users.
fn pages() -> Vec<Page> {
    let folders = [root(), root().join("docs")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder")).flatten();
    let mut paths: Vec<PathBuf> =
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    paths.sort();
    let pages: Vec<Page> =
        paths.into_iter().map(|path| Page { text: std::fs::read_to_string(&path).expect("UTF-8"), path }).collect();
    assert!(pages.len() > 20, "most pages are missing");
    pages
}

#[test]
fn pages_are_short() {
    for page in pages() {
        let name = page.name();
        let is_made = ["docs/reference.", "docs/scenario-keys."].iter().any(|begin| name.starts_with(begin));
        let most = match name.as_str() {
            "README.md" | "README.zh.md" => 120,
            "ARCHITECTURE.md" => 150,
            name if name.starts_with("docs/") && !is_made => 200,
            _ => continue,
        };
        let lines = page.text.lines().count();
        assert!(lines <= most, "{name} has {lines} lines, at most {most} are allowed");
    }
}
