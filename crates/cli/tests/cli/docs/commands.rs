//! Every command of README and docs is run, with smaller numbers: a load of a minute becomes one of a moment.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use super::{Page, pages, root};
use crate::seen::stats;
use crate::{Served, side_by_side};

/// Commands that are not run here: they build or install, have a test of their own, or need a machine of their own.
const NOT_RUN: [&str; 8] = [
    // Builds and tests of the project itself.
    "cargo ",
    "ONRUSH_INSTALL=no cargo ",
    "git clone ",
    // `cargo xtask dist --check` does the steps of the image, and installs the package in a root of its own.
    "docker ",
    "sudo apt install ./target/dist/",
    "onrush selftest",
    "onrush hold -c 1000000 --source-ip",
    "onrush doctor",
];

/// The commands of a page, without comments and with continued lines joined.
fn commands(page: &Page) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut is_console = false;
    for line in page.text.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            all.push(without_comment(command));
        }
    }
    all
}

fn without_comment(command: &str) -> String {
    command.split("  #").next().unwrap_or_default().trim().to_owned()
}

#[test]
fn both_languages_have_the_same_commands() {
    let pages = pages();
    let mut number = 0;
    for page in pages.iter().filter(|page| page.name().ends_with(".zh.md")) {
        let english = page.name().replace(".zh.md", ".md");
        let english = pages.iter().find(|page| page.name() == english).expect("each page has both");
        // A Chinese page may show Chinese output.
        let chinese: Vec<String> = commands(page).iter().map(|command| command.replace(" --lang zh", "")).collect();
        assert_eq!(chinese, commands(english), "{}", page.name());
        number += commands(page).len();
    }
    assert!(number > 60, "only {number} commands were found");
}

/// Two servers of one page listen on different ports: a user who types a page from top to bottom has both.
#[test]
fn servers_of_a_page_run_side_by_side() {
    let mut servers = 0;
    for page in pages() {
        let mut taken: Vec<(String, String)> = Vec::new();
        for command in commands(&page).into_iter().filter(|command| command.starts_with("onrush serve")) {
            let words = words(&command);
            let behind = |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
            let listen = behind("--listen").map_or("8080", |at| at.rsplit(':').next().unwrap_or_default());
            for port in [Some(listen), behind("--tcp").map(String::as_str)].into_iter().flatten() {
                let other = taken.iter().find(|(known, other)| known == port && *other != command);
                assert_eq!(other, None, "{}: {command}", page.name());
                taken.push((port.to_owned(), command.clone()));
            }
            servers += 1;
        }
    }
    assert!(servers > 10, "only {servers} servers were found");
}

/// The words of a command line, as a shell reads them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for each in command.chars() {
        match (quote, each) {
            (Some(open), _) if each == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(each);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(each),
        }
    }
    words.extend(word);
    words
}

/// How many requests a load makes that a page ends by time.
const REQUESTS: &str = "20";

/// How long a load by time lasts: longer than a stop of this machine, in which it starts nothing.
const LASTING: &str = "600ms";

/// A value reduced for a test.
fn small(flag: &str, value: &str) -> String {
    let capped = |most: u64| value.parse::<u64>().map_or(value.to_owned(), |number| number.min(most).to_string());
    match flag {
        "-z" => LASTING.to_owned(),
        "--hold" => "200ms".to_owned(),
        "--every" => "100ms".to_owned(),
        "--budget" if !value.contains('=') => "5s".to_owned(),
        "--max" => capped(200),
        "--warmup" => "50ms".to_owned(),
        "-c" => capped(20),
        // A time in the place of a count.
        "-n" if value.parse::<u64>().is_err() => REQUESTS.to_owned(),
        "-n" => capped(500),
        "--streams" => capped(10),
        "-q" => {
            if value.contains('/') {
                "100".to_owned()
            } else {
                capped(500)
            }
        }
        "--stages" => value
            .split(',')
            .map(|stage| format!("{}:100ms", stage.split(':').next().unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(","),
        _ => value.to_owned(),
    }
}

/// The reduced command.
fn made_small(words: &[String], servers: &Servers) -> Vec<String> {
    let mut made: Vec<String> = Vec::new();
    let is_tool = words.first().is_some_and(|word| word == "as");
    for word in words {
        let flag = made.last().cloned().unwrap_or_default();
        // A load ends by count, however slow this machine is.
        if word == "-z" && !is_tool && words[0] != "sweep" {
            made.push("-n".to_owned());
            continue;
        }
        let value = if is_tool { servers.at(word) } else { servers.at(&small(&flag, word)) };
        made.push(value);
    }
    // A command without a time would take the default one.
    let has = |made: &[String], flags: &[&str]| made.iter().any(|word| flags.contains(&word.as_str()));
    match words[0].as_str() {
        "grpc" | "as" | "demo" | "man" | "completions" | "check" | "init" | "report" | "history" | "compare" => {}
        // A file has its own duration.
        "run" if words.iter().any(|word| word.ends_with(".yaml")) => {}
        "capacity" => {}
        // The least that it takes.
        "find-max" if has(&made, &["--budget"]) => {}
        "find-max" => made.splice(1..1, ["--budget", "5s"].map(str::to_owned)).for_each(drop),
        "sweep" => {
            made.splice(1..1, ["--repeat", "1"].map(str::to_owned)).for_each(drop);
            if !has(&made, &["-z", "-n", "--hold"]) {
                made.push("-z".to_owned());
                made.push(LASTING.to_owned());
            }
        }
        "hold" if has(&made, &["--hold"]) => {}
        "hold" => made.splice(1..1, ["--hold", "200ms"].map(str::to_owned)).for_each(drop),
        _ if has(&made, &["-n", "--requests-each", "--stages", "--version", "--debug"]) => {}
        _ => made.splice(0..0, ["-n", REQUESTS].map(str::to_owned)).for_each(drop),
    }
    if is_tool {
        made.iter_mut().for_each(|word| *word = word.replace("-d5s", "-d1s").replace("-d30s", "-d1s"));
    }
    made
}

/// The servers that the pages mention, each on a free port.
struct Servers {
    plain: Served,
    tls: Served,
    redis: Served,
    dns: Served,
    radius: Served,
    _tcp: Served,
    tcp_port: String,
}

impl Servers {
    fn start() -> Self {
        let tcp_port = crate::closed_port().to_string();
        let tcp = Served::with(&["--tcp", &tcp_port]);
        let [redis, dns, radius] = ["redis", "dns", "radius"].map(|name| Served::with(&["--protocol", name]));
        Self { plain: Served::start(), tls: Served::with(&["--tls"]), redis, dns, radius, _tcp: tcp, tcp_port }
    }

    /// A word with the address of our own servers.
    fn at(&self, word: &str) -> String {
        let host =
            |served: &Served| served.url("").split("://").nth(1).unwrap_or_default().trim_end_matches('/').to_owned();
        word.replace("127.0.0.1:8080", &host(&self.plain))
            .replace("127.0.0.1:8443", &host(&self.tls))
            .replace("127.0.0.1:6380", &host(&self.redis))
            .replace("127.0.0.1:5354", &host(&self.dns))
            .replace("127.0.0.1:1812", &host(&self.radius))
            .replace("127.0.0.1:9000", &format!("127.0.0.1:{}", self.tcp_port))
    }
}

/// Files that commands name.
fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("onrush-docs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of our own");
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let files = [
        ("cert.pem", made.cert.pem()),
        ("key.pem", made.signing_key.serialize_pem()),
        ("cart.json", r#"{"name": "world"}"#.to_owned()),
        ("order.json", r#"{"id": 1}"#.to_owned()),
        ("commands.txt", "curl 'http://127.0.0.1:8080/'\ncurl 'http://127.0.0.1:8080/echo' -d a=b\n".to_owned()),
        ("hello.proto", std::fs::read_to_string(root().join("crates/target/proto/hello.proto")).expect("our own")),
    ];
    files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).expect("a file of our own"));
    let rows = [
        ("words.csv", "w\nlamp\nred chair\n"),
        ("names.csv", "name,type\nwww.example.org,A\nexample.org,MX\nnx1.example.org,AAAA\n"),
        ("users.csv", "name,password\nalice,secret\nbob,secret\nreject1,guess\n"),
    ];
    rows.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).expect("a file of our own"));
    folder
}

/// How files begin that a page shows: the kind of the block, and a comment that names the file.
const FILES: [&str; 3] = ["```yaml\n# ", "```toml\n# ", "```text\n# "];

/// Files that a page shows: scenarios, flags, lists of URLs.
fn write_files(page: &Page, servers: &Servers, folder: &Path) {
    for block in FILES.iter().flat_map(|begin| page.text.split(begin).skip(1)) {
        let (name, rest) = block.split_once('\n').expect("a name");
        let text = rest.split("```").next().expect("a file");
        let brief = servers.at(text).replace("for: 5s", "iterations: 20");
        std::fs::write(folder.join(name), brief).expect("a file of our own");
    }
}

/// A server that a page starts: it prints where it listens, and ends.
fn serves(words: &[String], folder: &Path) -> Result<(), String> {
    let mut words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "&").collect();
    match words.iter().position(|word| *word == "--listen") {
        Some(place) => words[place + 1] = "127.0.0.1:0",
        None => words.extend(["--listen", "127.0.0.1:0"]),
    }
    if let Some(place) = words.iter().position(|word| *word == "--tcp") {
        words[place + 1] = "0";
    }
    let mut child: Child = onrush(&words, folder).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let mut line = String::new();
    let read = BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line);
    let _ = child.kill();
    let _ = child.wait();
    (read.is_ok() && line.starts_with("listening on")).then_some(()).ok_or(format!("it does not listen: {line}"))
}

fn onrush(words: &[&str], folder: &Path) -> Command {
    let mut command = crate::onrush(words);
    command.current_dir(folder).env("XDG_DATA_HOME", folder);
    command
}

/// Runs a command; returns the error, if any.
fn run(command: &str, servers: &Servers, folder: &Path) -> Result<(), String> {
    let line = command.strip_prefix("onrush ").ok_or("what is this?")?;
    // Within quotes they are no shell operators.
    let is_outside = |at: &usize| line[..*at].matches('\'').count() % 2 == 0;
    let end =
        [" > ", " | "].iter().flat_map(|sign| line.match_indices(sign)).map(|(at, _)| at).filter(is_outside).min();
    let line = &line[..end.unwrap_or(line.len())];
    let words = words(line);
    if words.first().is_some_and(|word| word == "serve") {
        return serves(&words, folder);
    }
    let made = made_small(&words, servers);
    let made: Vec<&str> = made.iter().map(String::as_str).collect();
    let done = onrush(&made, folder).output().map_err(|error| error.to_string())?;
    // Thresholds and checks may fail, and held connections always have a verdict: the command was understood, and that
    // is what counts here.
    let is_judged = made[0] == "hold"
        || made.iter().any(|word| {
            ["--threshold", "--strict", "--fail-if"].contains(word)
                || word.starts_with("--expect")
                || word.ends_with(".yaml")
                || *word == "find-max"
        });
    // An intended failure, and one that a frozen server causes, is described by the page.
    let shown = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    match done.status.code() {
        Some(0) => Ok(()),
        Some(1) if is_judged => Ok(()),
        code => Err(format!("{made:?} ends with {code:?}: {shown}")),
    }
}

#[test]
fn every_command_runs() {
    let (servers, folder) = (Servers::start(), folder());
    let mut wrongs = Vec::new();
    let (mut done, mut long): (Vec<String>, Vec<(String, String)>) = (Vec::new(), Vec::new());
    let text = std::fs::read_to_string(folder.join("commands.txt")).expect("our own");
    std::fs::write(folder.join("commands.txt"), servers.at(&text)).expect("our own");
    for page in pages().iter().filter(|page| !page.name().ends_with(".zh.md")) {
        write_files(page, &servers, &folder);
        for command in commands(page) {
            if NOT_RUN.iter().any(|begin| command.starts_with(begin)) || done.contains(&command) {
                continue;
            }
            done.push(command.clone());
            if ["onrush find-max", "onrush sweep"].iter().any(|begin| command.starts_with(begin)) {
                long.push((page.name(), command));
                continue;
            }
            if let Err(wrong) = run(&command, &servers, &folder) {
                wrongs.push(format!("{}: {command}\n    {wrong}", page.name()));
            }
            // A freeze that a command caused is over before the next one: the server responds again.
            stats(&servers.plain);
        }
    }
    // Slow commands run concurrently.
    let found = Mutex::new(wrongs);
    side_by_side(&long, |(page, command)| {
        if let Err(wrong) = run(command, &servers, &folder) {
            found.lock().expect("nobody panics with it").push(format!("{page}: {command}\n    {wrong}"));
        }
    });
    let wrongs = found.into_inner().expect("nobody panics with it");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
    assert!(done.len() > 40, "only {} commands were run", done.len());
}

#[test]
fn words_are_read_as_a_shell_reads_them() {
    assert_eq!(words("a 'b c' \"d\" e'f'  g ''"), ["a", "b c", "d", "ef", "g", ""]);
    assert_eq!(
        [small("-z", "1h"), small("-c", "100000"), small("--stages", "5:1m,7:1h")],
        [LASTING, "20", "5:100ms,7:100ms"]
    );
}
