//! Completions in their shells, and manual pages in `man`.

use std::process::{Command, Output};

use crate::{output, side_by_side, text};

/// Runs a program of these tests, which `cargo xtask test` installs.
fn run(program: &str, words: &[&str]) -> Output {
    let run = Command::new(program).args(words).env("LC_ALL", "C.UTF-8").env("TERM", "xterm").output();
    run.unwrap_or_else(|error| panic!("{program}: {error}; it is installed by: cargo xtask test"))
}

fn script(shell: &str) -> std::path::PathBuf {
    let made = output(&["completions", shell]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let path = std::env::temp_dir().join(format!("onrush-completions-{}-{shell}", std::process::id()));
    std::fs::write(&path, made.stdout).expect("a file of our own");
    path
}

/// A partial line, and the required completions of its last word.
const CASES: [(&str, &[&str]); 9] = [
    ("onrush --conn", &["--connections", "--connect-timeout", "--connect-to"]),
    ("onrush --thresh", &["--threshold"]),
    ("onrush ho", &["hold"]),
    ("onrush hold --rec", &["--receive-only", "--reconnect"]),
    ("onrush serve --acc", &["--accept-delay"]),
    ("onrush as w", &["wrk", "wrk2", "webbench"]),
    ("onrush as go", &["go-stress-testing"]),
    ("onrush cur", &["curl"]),
    ("onrush grpc des", &["describe"]),
];

#[test]
fn bash_completes() {
    let path = script("bash");
    for (line, offered) in CASES {
        let words: Vec<&str> = line.split(' ').collect();
        let ask = format!(
            "source {}; COMP_WORDS=({line}); COMP_CWORD={}; _onrush onrush '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            path.display(),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        check("bash", line, offered, &run("bash", &["--norc", "-c", &ask]));
    }
    std::fs::remove_file(path).expect("the file goes");
}

#[test]
fn fish_completes() {
    let path = script("fish");
    for (line, offered) in CASES {
        let ask = format!("source {}; complete -C '{line}'", path.display());
        check("fish", line, offered, &run("fish", &["--no-config", "-c", &ask]));
    }
    std::fs::remove_file(path).expect("the file goes");
}

/// A zsh in a terminal of its own: completions are shown there when they are requested.
#[test]
fn zsh_completes() {
    let path = script("zsh");
    let folder = std::env::temp_dir().join(format!("onrush-zsh-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of our own");
    std::fs::copy(&path, folder.join("_onrush")).expect("a copy");
    let ask = folder.join("ask");
    std::fs::write(&ask, ASK).expect("a file of our own");
    side_by_side(&CASES, |&(line, offered)| {
        // A limit for one that hangs.
        let words = ["120", "zsh", "-f", ask.to_str().expect("a plain path"), folder.to_str().expect("one too"), line];
        check("zsh", line, offered, &run("timeout", &[&words, offered].concat()));
    });
    std::fs::remove_dir_all(folder).expect("the folder goes");
    std::fs::remove_file(path).expect("the file goes");
}

/// Types a line in an interactive zsh, requests its completions, and prints what the terminal showed until all of them
/// were there. The word that is awaited first is typed in two parts, so that its echo is not taken for it.
const ASK: &str = r#"
zmodload zsh/zpty
zpty shell "zsh -f -i"
zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; stty columns 300 rows 100"
zpty -w shell "LISTMAX=1000; bindkey '^X' list-choices; echo REA''DY"
zpty -r shell out '*READY*'
zpty -w -n shell "$2"$'\x18'
all=
for word in ${@:3}; do
  [[ $all == *$word* ]] || { zpty -r shell out "*$word*"; all=$all$out }
done
zpty -r -t shell out
print -r -- $all$out
zpty -d shell
"#;

fn check(shell: &str, line: &str, offered: &[&str], ran: &Output) {
    let said = text(&ran.stdout);
    let said = said.replace('\u{1b}', " ");
    let is_end = |each: char| each.is_whitespace() || each.is_control();
    let words: Vec<&str> = said.split(is_end).map(|word| word.trim_start_matches("[J")).collect();
    for word in offered {
        assert!(words.contains(word), "{shell}: {line} does not offer {word}: {said} {}", text(&ran.stderr));
    }
}

/// `groff` reports no warning, and every flag of the help is on the page.
#[test]
fn manual_pages_are_shown_without_complaints() {
    let commands = [
        "onrush",
        "run",
        "demo",
        "serve",
        "hold",
        "doctor",
        "init",
        "check",
        "selftest",
        "grpc",
        "grpc list",
        "as",
        "curl",
        "man",
    ];
    for command in commands {
        for language in ["en", "zh"] {
            let page = output(&["man", command, "--lang", language]);
            assert_eq!((page.status.code(), text(&page.stderr)), (Some(0), String::new()), "{command}");
            let path = std::env::temp_dir().join(format!("onrush-{}-{language}.1", std::process::id()));
            std::fs::write(&path, &page.stdout).expect("a file of our own");
            let file = path.to_str().expect("a plain path");
            let shown = run("groff", &["-man", "-Tutf8", "-ww", "-K", "utf8", "-P-c", "-rLL=80n", file]);
            assert_eq!(text(&shown.stderr), "", "{command} {language}");
            std::fs::remove_file(path).expect("the file goes");
        }
    }
    let shown = output(&["man", "no-such"]);
    assert_eq!(shown.status.code(), Some(2));
    assert!(text(&shown.stderr).contains("there is no command 'no-such'"), "{shown:?}");
}
