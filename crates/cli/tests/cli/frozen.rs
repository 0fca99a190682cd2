//! The text and exit code of commands that load nothing, byte by byte, in `tests/frozen/commands.txt`. A change that is
//! meant to change nothing leaves them as they are. `ONRUSH_FROZEN=1` writes the file.

use std::fmt::Write as _;
use std::path::Path;

use crate::{Folder, onrush};

/// Texts of more bytes stand in the file as a digest.
const SHOWN_BYTES: usize = 1_500;

const YAML: &str =
    "target: http://127.0.0.1:1\nscenarios:\n  one:\n    load: {users: 2, for: 1s}\n    steps:\n      - get: /\n";
const WRONG_YAML: &str = "target: ftp://127.0.0.1\nscenarios:\n  one:\n    load: {users: x, fro: 1s}\n    steps:\n      - gett: /\n\
      \x20     - get: /${nothing}\n        expect: {status: 99}\nthresholds:\n  - p99 < 1\n";

/// Commands whose texts and codes are the same on each machine.
const COMMANDS: [&str; 96] = [
    "-h",
    "--help",
    "run --help",
    "demo --help",
    "serve --help",
    "hold --help",
    "find-max --help",
    "sweep --help",
    "capacity --help",
    "doctor --help",
    "init --help",
    "report --help",
    "history --help",
    "compare --help",
    "web --help",
    "ctl --help",
    "check --help",
    "recover --help",
    "selftest --help",
    "grpc --help",
    "grpc list --help",
    "grpc describe --help",
    "as --help",
    "as wrk --help",
    "curl --help",
    "man",
    "man hold",
    "man nothing",
    "completions bash",
    "completions fish",
    "completions nothing",
    "nothing",
    "--nothing http://127.0.0.1:1/",
    "-c 0 http://127.0.0.1:1/",
    "-c x http://127.0.0.1:1/",
    "-c 50 -n 10 http://127.0.0.1:1/",
    "-n -1 http://127.0.0.1:1/",
    "-z 5 http://127.0.0.1:1/",
    "-z 5x http://127.0.0.1:1/",
    "-q 0 http://127.0.0.1:1/",
    "-q fast http://127.0.0.1:1/",
    "--stages 10 http://127.0.0.1:1/",
    "--stages 10:1s -q 5 http://127.0.0.1:1/",
    "--user-stages 10:1s -c 5 http://127.0.0.1:1/",
    "--rendezvous -q 5 http://127.0.0.1:1/",
    "--arrivals poisson http://127.0.0.1:1/",
    "--streams 4 --http1 http://127.0.0.1:1/",
    "--http2 ws://127.0.0.1:1/",
    "--until ; http://127.0.0.1:1/",
    "--ramp 1s -q 10 http://127.0.0.1:1/",
    "-H name http://127.0.0.1:1/",
    "-d @nothing http://127.0.0.1:1/",
    "-X -- http://127.0.0.1:1/",
    "--expect-status 99 http://127.0.0.1:1/",
    "--expect-json $..a=1 http://127.0.0.1:1/",
    "--threshold p99 http://127.0.0.1:1/",
    "--threshold p99(nothing)<1s http://127.0.0.1:1/",
    "--budget requests=0 http://127.0.0.1:1/",
    "--export nothing=1 http://127.0.0.1:1/",
    "--export csv=/nothing/a.csv http://127.0.0.1:1/",
    "--config nothing.toml http://127.0.0.1:1/",
    "--compare nothing http://127.0.0.1:1/",
    "--cacert nothing.pem https://127.0.0.1:1/",
    "--workers 0 http://127.0.0.1:1/",
    "ftp://127.0.0.1/",
    "http://",
    "http://a b/",
    "tcp://127.0.0.1",
    "grpc://127.0.0.1:1/",
    "grpc://127.0.0.1:1/hello.Greeter/Nothing --proto hello.proto",
    "-n 1 http://127.0.0.1:1/",
    "-n 1 -q 10 ws://127.0.0.1:1/",
    "hold -q 5 ws://127.0.0.1:1/",
    "hold grpc://127.0.0.1:1/",
    "find-max http://127.0.0.1:1/",
    "find-max --max 0 http://127.0.0.1:1/",
    "sweep http://127.0.0.1:1/",
    "sweep --vary nothing=1 http://127.0.0.1:1/",
    "capacity --page-views 30M --per-machine 69/s --response-bytes 20KiB",
    "capacity --users 100 --response 200ms --think 5s --json",
    "capacity --users x",
    "check one.yaml",
    "check wrong.yaml",
    "check nothing.yaml",
    "run wrong.yaml",
    "init http://127.0.0.1:1/a?b=1",
    "init curl -d a=b -H X-A:1 http://127.0.0.1:1/",
    "curl --nothing http://127.0.0.1:1/",
    "as nothing http://127.0.0.1:1/",
    "as ab -n 10 -c 20 http://127.0.0.1:1/",
    "as wrk -t4 http://127.0.0.1:1/",
    "grpc list --proto hello.proto",
    "grpc describe --proto hello.proto hello.Greeter",
    "history",
    "report nothing",
    "compare nothing other",
];

/// A line without the number of connections that were tried: in a load that ends by time it depends on the machine.
fn without_tries(line: &str) -> String {
    for (before, behind) in [("none of ", " connection"), ("没有测到任何数据：", " 次连接")] {
        let Some((head, rest)) = line.split_once(before) else { continue };
        let tail = rest.trim_start_matches(|one: char| one.is_ascii_digit() || one == ',');
        if tail.starts_with(behind) {
            return format!("{head}{before}N{tail}");
        }
    }
    line.to_owned()
}

/// The result of a command, as text.
fn result(command: &str, language: &str, folder: &Folder) -> String {
    let words: Vec<&str> = ["--lang", language].into_iter().chain(command.split(' ')).collect();
    let done = onrush(&words).current_dir(folder.path("")).env("XDG_DATA_HOME", folder.path("data")).output();
    let done = done.expect("it starts");
    let mut text = format!("$ onrush {}\n", words.join(" "));
    for (mark, bytes) in [("", &done.stdout), ("! ", &done.stderr)] {
        if bytes.len() > SHOWN_BYTES {
            let digest = sha1_smol::Sha1::from(bytes).digest();
            writeln!(text, "{mark}{} bytes, {digest}", bytes.len()).expect("text grows");
        } else {
            let shown = String::from_utf8_lossy(bytes).replace(&folder.path(""), "FOLDER/");
            shown.lines().for_each(|line| writeln!(text, "{mark}{}", without_tries(line)).expect("text grows"));
        }
    }
    writeln!(text, "exit {}\n", done.status.code().expect("no signal")).expect("text grows");
    text
}

#[test]
fn texts_and_exit_codes_are_as_they_were() {
    let folder = Folder::new("frozen");
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/proto/hello.proto");
    std::fs::copy(proto, folder.path("hello.proto")).expect("our own file");
    std::fs::write(folder.path("one.yaml"), YAML).expect("a file");
    std::fs::write(folder.path("wrong.yaml"), WRONG_YAML).expect("a file");
    let results = COMMANDS.iter().flat_map(|command| ["en", "zh"].map(|language| result(command, language, &folder)));
    let now: Vec<String> = results.collect();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen/commands.txt");
    if std::env::var_os("ONRUSH_FROZEN").is_some() {
        std::fs::write(&kept, now.concat()).expect("our own file");
    }
    let before = std::fs::read_to_string(&kept).expect("our own file");
    let changed: Vec<&str> = now.iter().filter(|text| !before.contains(*text)).map(String::as_str).collect();
    assert!(changed.is_empty(), "{} texts changed:\n{}", changed.len(), changed.concat());
    assert_eq!(now.concat(), before, "commands that are gone, or in another order");
}
