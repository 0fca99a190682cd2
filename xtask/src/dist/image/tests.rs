use super::*;
use crate::root;

fn ours() -> Vec<Stage> {
    parse(&std::fs::read_to_string(root().join("Dockerfile")).expect("it is there")).expect("it is understood")
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("onrush-image-{name}-{}", std::process::id()));
    make_anew(&folder).expect("a folder of our own");
    folder
}

#[test]
fn our_image_is_small_and_has_no_rights() {
    let stages = ours();
    let [build, last] = stages.as_slice() else { panic!("two stages: {stages:?}") };
    assert_eq!(last.from, "scratch");
    let user = last.user.as_deref().expect("a user");
    assert!(
        user.split(':').all(|id| id.parse::<u32>().is_ok_and(|id| id > 0)),
        "{user}: an image without /etc/passwd knows numbers"
    );
    assert_eq!(last.entrypoint, ["/usr/bin/onrush"]);
    let copied = last.steps.iter().any(|step| matches!(step, Step::Copy { to, .. } if *to == last.entrypoint[0]));
    assert!(copied, "what it starts is not in it");
    let version = last.labels.iter().find(|(name, _)| name == "org.opencontainers.image.version");
    assert_eq!(version.map(|(_, value)| value.as_str()), Some(env!("CARGO_PKG_VERSION")));
    // The image of the build has the toolchain of the tree, so that no other is downloaded.
    let toolchain = std::fs::read_to_string(root().join("rust-toolchain.toml")).expect("it is there");
    let channel =
        toolchain.lines().find_map(|line| line.strip_prefix("channel = ")).expect("a channel").trim_matches('"');
    assert!(build.from.starts_with(&format!("rust:{channel}-")), "{} has another toolchain than {channel}", build.from);
    assert!(build.steps.contains(&Step::Environment("RUSTUP_TOOLCHAIN".to_owned(), channel.to_owned())));
}

#[test]
fn our_image_is_sent_what_the_build_reads() {
    let ignored = std::fs::read_to_string(root().join(".dockerignore")).expect("it is there");
    let ignored = ignored_names(&ignored).expect("plain paths");
    for needed in
        ["Cargo.toml", "Cargo.lock", "crates", "xtask", ".cargo", "README.md", "LICENSE", "docs", "CHANGELOG.md"]
    {
        assert!(!ignored.iter().any(|name| name == needed), "{needed} is not sent");
        assert!(root().join(needed).exists(), "{needed} is not there");
    }
    assert!(ignored.iter().any(|name| name == "target"), "gigabytes would be sent");
}

#[test]
fn lines_go_on_and_comments_are_nothing() {
    let text = "# a\nFROM rust:1 AS one\n\nRUN a \\\n  # between\n  && b\nFROM scratch\nLABEL a=\"b c\" \\\n  d=e f=\"\"\nCOPY --from=one /x /y z/\n";
    let stages = parse(text).expect("good");
    assert_eq!(stages[0].steps, [Step::Run("a && b".to_owned())]);
    let labels: Vec<(&str, &str)> =
        stages[1].labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(labels, [("a", "b c"), ("d", "e"), ("f", "")]);
    let sources = vec!["/x".to_owned(), "/y".to_owned()];
    assert_eq!(stages[1].steps, [Step::Copy { from: Some("one".to_owned()), sources, to: "z/".to_owned() }]);
}

#[test]
fn what_is_not_known_is_refused() {
    for (text, cause) in [
        ("", "no FROM"),
        ("RUN a", "before FROM"),
        ("FROM a as b", "not known"),
        ("FROM --platform=x a AS b c", "not known"),
        ("FROM a\nADD b c", "ADD is not known"),
        ("FROM a\nHEALTHCHECK NONE", "HEALTHCHECK is not known"),
        ("FROM a\nrun b", "run is not known"),
        ("FROM a\nCOPY b", "a source and a destination"),
        ("FROM a\nCOPY b c d", "needs a folder"),
        ("FROM a\nCOPY --chown=1 b c", "--chown=1 is not known"),
        ("FROM a\nCOPY --from=b c d", "names no earlier stage"),
        ("FROM a AS b\nCOPY --from=b c d", "names no earlier stage"),
        ("FROM a\nENTRYPOINT onrush", "needs a shell"),
        ("FROM a\nCMD --help", "needs a shell"),
        ("FROM a\nLABEL b", "no name=value"),
        ("FROM a\nENV b=\"c", "no closing quote"),
        ("FROM a\nUSER", "says nothing"),
    ] {
        let failure = parse(text).expect_err(text);
        assert!(failure.contains(cause), "{text:?}: {failure}");
    }
    assert!(ignored_names("a\n**/b").is_err() && ignored_names("!a").is_err());
    assert_eq!(ignored_names("# c\n/a/\n\nb/c\n"), Ok(vec!["a".to_owned(), "b/c".to_owned()]));
}

#[test]
fn steps_are_done() {
    let folder = folder("steps");
    let tree = folder.join("tree");
    for (path, text) in [("kept", "1"), ("target/big", "2"), ("sub/target/kept", "3"), (".dockerignore", "target\n")] {
        make(tree.join(path).parent().expect("a folder")).expect("it is made");
        std::fs::write(tree.join(path), text).expect("a file of our own");
    }
    let text = "FROM any:1 AS made\nENV WHAT=said\nWORKDIR /src\nCOPY . .\nRUN test ! -e target && cat kept sub/target/kept > out && echo $WHAT >> out
FROM scratch
COPY --from=made /src/out /bin/out
COPY --from=made /src/kept /etc/passwd /all/
";
    let root = build(&parse(text).expect("good"), &tree, &folder.join("work")).expect("it builds");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect(path);
    assert_eq!(read("bin/out"), "13said\n");
    assert_eq!(read("all/kept"), "1");
    assert_eq!(read("all/passwd"), std::fs::read_to_string("/etc/passwd").expect("each system has one"));
    assert_eq!(std::fs::read_dir(&root).expect("a root").count(), 2, "more than what was copied");
    for (text, cause) in [
        ("FROM scratch\nRUN a", "scratch has none"),
        ("FROM any\nRUN exit 3", "exit status: 3"),
        ("FROM any AS a\nFROM scratch\nCOPY --from=a /no/such/file /x", "/no/such/file"),
    ] {
        let failure = build(&parse(text).expect("good"), &tree, &folder.join("work")).expect_err(text);
        assert!(failure.contains(cause), "{failure}");
    }
    std::fs::remove_dir_all(folder).expect("the folder goes");
}
