use super::*;
use crate::root;

const PAGE: &str = ".TH ONRUSH 1\n.SH \"COMMANDS\"\n.TP\n\\fBhold\\fR\nmany \\fBbold\\fR words\n.TP\n\\fBgrpc list\\fR\nasks\n.TP\n\\fBtwo\\-words\\fR\n.SH \"OPTIONS\"\n\\fB\\-q\\fR\n";

/// A fake binary that prints its arguments.
fn answered(words: &[&str]) -> Result<Vec<u8>, Failure> {
    Ok(match words {
        ["man", "--lang", "en"] => PAGE.into(),
        words => words.join(" ").into_bytes(),
    })
}

fn content() -> Content {
    Content::gather(&root(), &root().join("LICENSE"), &answered, "others".to_owned()).expect("the tree is whole")
}

#[test]
fn commands_are_those_of_the_page() {
    assert_eq!(commands_of(PAGE), ["hold", "grpc list", "two-words"]);
    assert!(manual(&|_| Ok(Vec::new())).is_err(), "a page without commands passes");
}

#[test]
fn an_archive_has_what_people_look_for() {
    let files = content().in_archive();
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path} is missing"));
        String::from_utf8_lossy(&file.bytes).into_owned()
    };
    for (path, said) in [
        ("completions/onrush.bash", "completions bash"),
        ("completions/_onrush", "completions zsh"),
        ("completions/onrush.fish", "completions fish"),
        ("completions/onrush.elv", "completions elvish"),
        ("completions/_onrush.ps1", "completions powershell"),
        ("man/man1/onrush-hold.1", "man --lang en hold"),
        ("man/man1/onrush-grpc-list.1", "man --lang en grpc list"),
        ("man/man1/onrush-two-words.1", "man --lang en two-words"),
        ("man/zh_CN/man1/onrush.1", "man --lang zh"),
        ("man/zh_CN/man1/onrush-hold.1", "man --lang zh hold"),
        ("THIRD-PARTY.txt", "others"),
    ] {
        assert_eq!(text(path), said, "{path}");
    }
    assert!(text("LICENSE").contains("Apache License") && text("README.md").starts_with("# onrush"));
    let programs: Vec<&str> = files.iter().filter(|file| file.is_program).map(|file| file.path.as_str()).collect();
    assert_eq!(programs, ["onrush"]);
}

#[test]
fn links_of_the_pages_lead_somewhere_in_the_archive_and_in_the_package() {
    let plain = |bytes: &[u8]| Ok(bytes.to_vec());
    let debian: Vec<File> = content().in_debian(&plain).expect("no compression");
    let beside = |path: &str| path.strip_prefix("usr/share/doc/onrush/").map(str::to_owned);
    let debian: Vec<String> = debian.iter().filter_map(|file| beside(&file.path)).collect();
    let archive: Vec<File> = content().in_archive();
    let names: Vec<String> = archive.iter().map(|file| file.path.clone()).collect();
    let mut number = 0;
    for page in archive.iter().filter(|file| file.path.starts_with("README")) {
        let text = String::from_utf8_lossy(&page.bytes);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.starts_with("https://") {
                continue;
            }
            number += 1;
            assert!(names.iter().any(|name| name == file), "{}: {link} is not in the archive", page.path);
            let moved = ["LICENSE", "CHANGELOG.md"].contains(&file);
            assert!(moved || debian.iter().any(|name| name == file), "{}: {link} is not in the package", page.path);
        }
    }
    assert!(number > 30, "only {number} links");
}

#[test]
fn debian_finds_each_file_where_it_looks() {
    let marked = |bytes: &[u8]| Ok([b"gz ", bytes].concat());
    let files = content().in_debian(&marked).expect("a compression of our own");
    let find = |path: &str| files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path} is missing"));
    assert!(find("usr/bin/onrush").is_program);
    for path in [
        "usr/share/bash-completion/completions/onrush",
        "usr/share/zsh/vendor-completions/_onrush",
        "usr/share/fish/vendor_completions.d/onrush.fish",
        "usr/share/doc/onrush/README.md",
        "usr/share/doc/onrush/README.zh.md",
        "usr/share/doc/onrush/THIRD-PARTY.txt",
        "usr/share/doc/onrush/docs/course.md",
    ] {
        assert!(!find(path).is_program, "{path}");
    }
    assert_eq!(find("usr/share/man/man1/onrush-hold.1.gz").bytes, b"gz man --lang en hold");
    assert_eq!(find("usr/share/man/zh_CN/man1/onrush-grpc-list.1.gz").bytes, b"gz man --lang zh grpc list");
    assert!(find("usr/share/doc/onrush/changelog.gz").bytes.starts_with(b"gz # Changelog"));
    assert!(!files.iter().any(|file| file.path.ends_with("LICENSE")), "Debian keeps the licence once for all");
    let pages = files.iter().filter(|file| file.path.starts_with("usr/share/man/")).count();
    assert_eq!(pages, 8, "onrush and three commands in two languages");
}
