//! Links between pages, and to their sections.

use std::path::Path;

use super::{Page, pages};

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

fn anchors(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a page");
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
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
