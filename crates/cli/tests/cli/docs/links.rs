//! Links between pages, and to their sections.

use std::path::Path;

use super::{Page, pages, root};

/// Every `](target)` outside of code.
fn links(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut all = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Text between backticks is code too.
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        all.extend(
            plain.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()),
        );
    }
    all
}

/// The anchor of a heading: small letters, hyphens for blanks, no marks.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(|each| each.is_alphanumeric() || " -_".contains(*each)).collect::<String>().replace(' ', "-")
}

/// The names of all places of a page that links may lead to: of its headings, and those given by `<a id="...">`.
fn anchors(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a page");
    let headings = text.lines().filter(|line| line.starts_with('#')).map(anchor);
    headings.chain(ids(&text)).collect()
}

/// The names that a page gives to places by itself, in their order.
fn ids(text: &str) -> Vec<String> {
    let tags = text.lines().filter_map(|line| line.strip_prefix("<a id=\"")?.strip_suffix("\"></a>"));
    tags.map(str::to_owned).collect()
}

/// The error of a link, if any.
fn wrong(page: &Page, link: &str) -> Option<String> {
    if link.starts_with("https://") {
        return None;
    }
    let (file, place) = link.split_once('#').map_or((link, None), |(file, place)| (file, Some(place)));
    let folder = page.path.parent().expect("a page is in a folder");
    let target = if file.is_empty() { page.path.clone() } else { folder.join(file) };
    if !target.exists() {
        return Some(format!("{}: {link} is not there", page.name()));
    }
    let is_found = place.is_none_or(|place| anchors(&target).iter().any(|known| known == place));
    (!is_found).then(|| format!("{}: {link} names no heading", page.name()))
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrongs = Vec::new();
    let mut number = 0;
    for page in pages() {
        let all = links(&page.text);
        number += all.len();
        wrongs.extend(all.iter().filter_map(|link| wrong(&page, link)));
    }
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
    assert!(number > 80, "only {number} links were found");
}

#[test]
fn wrong_links_are_found() {
    let page = pages().into_iter().find(|page| page.name() == "README.md").expect("a README");
    assert!(wrong(&page, "docs/no-such.md").is_some() && wrong(&page, "docs/reference.md#no-such").is_some());
    assert_eq!(wrong(&page, "docs/reference.md#onrush-hold"), None);
    assert_eq!(links("a [b](c.md) `[d](e)` [f](g#h)"), ["c.md", "g#h"]);
}

#[test]
fn each_page_has_its_other_language() {
    let pages = pages();
    let names: Vec<String> = pages.iter().map(Page::name).collect();
    for page in pages.iter().filter(|page| page.name().starts_with("docs/") || page.name().starts_with("README")) {
        let other = match page.name().strip_suffix(".zh.md") {
            Some(name) => format!("{name}.md"),
            None => page.name().replace(".md", ".zh.md"),
        };
        assert!(names.contains(&other), "{} has no {other}", page.name());
        let file = other.rsplit('/').next().unwrap_or_default();
        assert!(page.text.lines().take(8).any(|line| line.contains(file)), "{} does not lead to {other}", page.name());
    }
}

/// Pages that both languages have, by their names without the end.
fn in_both(pages: &[Page]) -> impl Iterator<Item = (&Page, &Page)> {
    pages.iter().filter_map(|chinese| {
        let name = chinese.name().strip_suffix(".zh.md").map(|name| format!("{name}.md"))?;
        Some((pages.iter().find(|page| page.name() == name)?, chinese))
    })
}

/// Messages and other pages name them, so both languages have the same.
#[test]
fn both_languages_have_the_same_ids() {
    let pages = pages();
    let with_ids: Vec<_> = in_both(&pages).filter(|(english, _)| !ids(&english.text).is_empty()).collect();
    let names: Vec<String> = with_ids.iter().map(|(english, _)| english.name()).collect();
    assert!(["docs/index.md", "docs/why.md"].iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
    for (english, chinese) in with_ids {
        assert_eq!(ids(&english.text), ids(&chinese.text), "{}", chinese.name());
    }
}

#[test]
fn the_index_leads_to_every_page() {
    let pages = pages();
    for (index, is_of_it) in [("docs/index.md", false), ("docs/index.zh.md", true)] {
        let index = pages.iter().find(|page| page.name() == index).expect("an index");
        let known = links(&index.text);
        let mut number = 0;
        for page in pages.iter().filter(|page| page.name().ends_with(".zh.md") == is_of_it) {
            let name = page.name();
            let Some(file) = name.strip_prefix("docs/").filter(|file| !file.starts_with("index.")) else { continue };
            assert!(known.iter().any(|link| link == file), "{} does not lead to {file}", index.name());
            number += 1;
        }
        assert!(number > 20, "only {number} pages were found");
    }
}

/// The first line of a page after its title and its other language.
fn first_line(page: &Page) -> &str {
    let lines = page.text.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '[']));
    lines.into_iter().next().unwrap_or_default()
}

/// But for the pages that are made of the tables.
#[test]
fn each_page_says_for_whom_it_is() {
    let is_made = |name: &str| name.starts_with("docs/reference.") || name.starts_with("docs/scenario-keys.");
    let pages = pages();
    let written = pages.iter().filter(|page| page.name().starts_with("docs/") && !is_made(&page.name()));
    for page in written {
        let begins: &[&str] = if page.name().ends_with(".zh.md") { &["适合", "写给"] } else { &["For "] };
        let first = first_line(page);
        assert!(begins.iter().any(|begin| first.starts_with(begin)), "{}: {first}", page.name());
    }
}

/// Files and folders that a page for developers names between backticks, from the root on.
fn paths(text: &str) -> Vec<&str> {
    let rooms = ["crates/", "xtask/", "bench/", "fuzz/"];
    let code = text.lines().filter(|line| !line.starts_with("```")).flat_map(|line| line.split('`').skip(1).step_by(2));
    code.filter(|word| rooms.iter().any(|room| word.starts_with(room)) && !word.contains(['*', ' '])).collect()
}

/// A file that is moved is found at its new place on the map.
#[test]
fn the_map_names_files_that_are_there() {
    for (name, least) in [("ARCHITECTURE.md", 40), ("CONTRIBUTING.md", 20)] {
        let page = pages().into_iter().find(|page| page.name() == name).expect("a page");
        let paths = paths(&page.text);
        assert!(paths.len() >= least, "{name} names only {} files", paths.len());
        // What fuzzing finds is there only after it.
        for path in paths.into_iter().filter(|path| *path != "fuzz/corpus") {
            assert!(root().join(path).exists(), "{name}: {path} is not there");
        }
    }
    assert_eq!(paths("see `crates/a/b.rs` and `a b`, `crates/x/*.rs`"), ["crates/a/b.rs"]);
}
