//! Secrets are never shown unless requested, wherever they are and whatever is printed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::{Served, output, text};

const SECRET: &str = "s3cr3t-v4lue";
/// Concurrent runs.
const WORKERS: usize = 6;

/// A server that echoes all that it received, with secrets of its own, each under a telling name.
struct Echo {
    port: u16,
}

impl Echo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || serve(&stream));
            }
        });
        Self { port }
    }
}

fn serve(stream: &TcpStream) {
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok().is_none_or(|count| count == 0) {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let said = head.trim_end().replace('"', "'").replace("\r\n", " | ");
        let said =
            format!("{{\"access_token\": \"own-{SECRET}\", \"you\": \"{said}\"}}\n{}", String::from_utf8_lossy(&body));
        let own = format!("Set-Cookie: sid=own-{SECRET}; Path=/\r\nX-Access-Token: own-{SECRET}");
        let (status, more) = match head.split(' ').nth(1).unwrap_or_default() {
            path if path.starts_with("/on") => ("302 Found", format!("Location: /end?api_key=own-{SECRET}&x=1\r\n")),
            _ => ("200 OK", String::new()),
        };
        let response = format!(
            "HTTP/1.1 {status}\r\n{own}\r\n{more}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{said}",
            said.len()
        );
        if writer.write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

/// Texts that would reveal a secret.
fn forms() -> Vec<String> {
    let of = |user: &str| STANDARD.encode(format!("{user}:{SECRET}")).trim_end_matches('=').to_owned();
    vec![SECRET.to_owned(), SECRET.replace('-', "%2D"), of("me"), of("user")]
}

fn shows(said: &str) -> bool {
    forms().iter().any(|form| said.contains(form.as_str()))
}

/// Checks all items, some at a time; returns the errors.
fn each<T: Sync>(all: &[T], check: impl Fn(usize, &T) -> Vec<String> + Sync) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let index = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(one) = all.get(index)
                {
                    let found = check(index, one);
                    wrong.lock().expect("nobody panics with it").extend(found);
                }
            });
        }
    });
    wrong.into_inner().expect("nobody panics with it")
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("onrush-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a file");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Fields with a secret.
const FIELDS: &[&str] = &[
    "Authorization: Bearer VALUE",
    "Proxy-Authorization: Basic VALUE",
    "Cookie: a=b; session=VALUE",
    "token: VALUE",
    "X-Access-Token: VALUE",
    "Private-Token: VALUE",
    "PRIVATE-TOKEN: VALUE",
    "api_key: VALUE",
    "X-Api-Key: VALUE",
    "access_token: VALUE",
    "X-Auth-Token: VALUE",
    "X-CSRF-Token: VALUE",
    "X-Vault-Token: VALUE",
    "X-Amz-Security-Token: VALUE",
    "X-My-Secret: VALUE",
    "Referer: http://me:VALUE@h/",
    "X-Original-Url: /a?access_token=VALUE",
];

/// Queries with a secret.
const QUERIES: &[&str] = &[
    "access_token=VALUE",
    "a=b&api_key=VALUE&c=d",
    "token=VALUE",
    "X-Amz-Signature=VALUE",
    "user%5Bpassword%5D=VALUE",
];

/// Bodies with a secret.
const BODIES: &[&str] = &[
    "user=me&password=VALUE&x=y",
    "{\"user\": \"me\", \"password\": \"VALUE\"}",
    "{\"in\": {\"client_secret\": \"VALUE\", \"n\": 1}}",
    "{\"in\": \"{\\\"access_token\\\":\\\"VALUE\\\"}\"}",
    "<a><password>VALUE</password></a>",
];

/// Words of a curl command with a secret.
const CURL_WORDS: &[&[&str]] = &[
    &["-u", "me:VALUE"],
    &["--oauth2-bearer", "VALUE"],
    &["-b", "a=VALUE"],
    &["-F", "token=VALUE", "-F", "x=y"],
    &["-F", "password=VALUE;type=text/plain"],
    &["--data-urlencode", "access_token=VALUE"],
    &["--json", "{\"token\":\"VALUE\"}"],
    &["-H", "X-Access-Token: VALUE"],
    &["-e", "http://h/?token=VALUE"],
];

/// Ways for a secret into a load: words of a command line.
fn carriers(echo: &Echo, served: &Served, folder: &Folder) -> Vec<Vec<String>> {
    let http = format!("http://127.0.0.1:{}", echo.port);
    let (own, s) = (&served.url, SECRET);
    let (ws, grpc) = (own.replace("http://", "ws://"), own.replace("http://", "grpc://"));
    let proto = folder.file(
        "hello.proto",
        "syntax = \"proto3\"; package hello; service Greeter { rpc SayHello (Ask) returns (Told); }\nmessage Ask { string token = 1; } message Told { string message = 1; int64 number = 2; }",
    );
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut add = |words: &[&str]| all.push(words.iter().map(|word| (*word).to_owned()).collect());
    for field in FIELDS {
        let field = field.replace("VALUE", s);
        add(&["-H", &field, &format!("{http}/")]);
        if !field.starts_with("Proxy") && !field.starts_with("api_key") && !field.starts_with("access_token") {
            add(&["-H", &field, "--http2", &format!("{own}/echo"), "-d", "x"]);
        }
    }
    for query in QUERIES {
        let query = query.replace("VALUE", s);
        add(&[&format!("{http}/?{query}")]);
        add(&[&format!("{http}/on?{query}"), "-L"]);
        add(&["curl", "-G", &format!("{http}/"), "-d", &query]);
    }
    for body in BODIES {
        let body = body.replace("VALUE", s);
        add(&["-d", &body, &format!("{http}/")]);
        let file = folder.file(&format!("body-{}", body.len()), &body);
        add(&["-d", &format!("@{file}"), &format!("{http}/")]);
        add(&["-d", &body, "--http2", &format!("{own}/echo")]);
    }
    for words in CURL_WORDS {
        let words: Vec<String> = words.iter().map(|word| word.replace("VALUE", s)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        add(&[&["curl"], &words[..], &[&format!("{http}/")]].concat());
        let quoted = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let name = format!("command-{}", words.concat().replace(['/', ':', '"', '{', '}', '?'], "_"));
        add(&["-p", &folder.file(&name, &format!("curl {quoted} {http}/\n"))]);
    }
    add(&["curl", &format!("http://user:{s}@127.0.0.1:{}/", echo.port)]);
    add(&["curl", "-L", &format!("http://user:{s}@127.0.0.1:{}/on", echo.port)]);
    let jar = folder.file("jar.txt", &format!("127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t{s}\n"));
    add(&["curl", "-b", &jar, &format!("{http}/")]);
    let fields = folder.file("fields.txt", &format!("Authorization: Bearer {s}\n"));
    add(&["curl", "-H", &format!("@{fields}"), &format!("{http}/")]);
    let call = format!("{grpc}/hello.Greeter/SayHello");
    for field in ["authorization: Bearer VALUE", "x-token: VALUE", "private-token-bin: VALUE", "x-api-key: VALUE"] {
        add(&["-H", &field.replace("VALUE", s), &call, "-d", "{\"name\":\"x\"}"]);
    }
    add(&[&call, "--proto", &proto, "-d", &format!("{{\"token\":\"{s}\"}}")]);
    for field in ["Authorization: Bearer VALUE", "Cookie: a=VALUE", "X-Access-Token: VALUE"] {
        add(&["-H", &field.replace("VALUE", s), &format!("{ws}/"), "-d", "x"]);
    }
    add(&[&format!("{ws}/?access_token={s}"), "-d", "x"]);
    add(&[&format!("{ws}/"), "-d", &format!("{{\"token\":\"{s}\"}}")]);
    add(&[&format!("{ws}/"), "--ws-type", "binary", "-d", &format!("{{\"token\":\"{s}\"}}")]);
    all
}

/// Everything that a run prints or writes.
fn all_of(words: &[&str], files: &[&Path]) -> String {
    let ended = output(words);
    assert!(ended.status.code().is_some_and(|code| code <= 1), "{words:?}: {ended:?}");
    let mut said = text(&ended.stdout) + &text(&ended.stderr);
    for file in files {
        said += &std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let _ = std::fs::remove_file(file);
    }
    said
}

#[test]
fn no_view_of_a_load_shows_a_secret_unasked() {
    let (echo, served, folder) = (Echo::start(), Served::start(), Folder::new("hidden"));
    let carriers = carriers(&echo, &served, &folder);
    let wrong = each(&carriers, |index, carrier| {
        let carrier: Vec<&str> = carrier.iter().map(String::as_str).collect();
        let driver = ["uring", "poll"][index % 2];
        let language = ["en", "zh"][index / 2 % 2];
        let usual = ["--driver", driver, "--lang", language, "-c", "1", "-n", "2", "-t", "10s"];
        let [json, log, table] = ["json", "hlog", "hgrm"].map(|end| folder.0.join(format!("{index}.{end}")));
        let [json_name, log_name] = [&json, &log].map(|path| path.to_string_lossy().into_owned());
        let files = ["--json", &json_name, "--hdr", &log_name];
        let fails = ["--show-failures", "--expect-body", "nothing-like-it", "--expect-body", "/token=.*x/"];
        let mut wrong = Vec::new();
        let mut judge = |view: &str, said: &str, is_requested: bool| {
            if said.is_empty() || shows(said) != is_requested {
                wrong.push(format!("{carrier:?} by {view}:\n{said}"));
            }
        };
        let run = |more: &[&str], files: &[&Path]| all_of(&[&usual[..], more, &carrier[..]].concat(), files);
        let said = run(&[&files[..], &fails[..]].concat(), &[&json, &log, &table]);
        judge("text, JSON, HDR and failures", &said, false);
        judge("debug", &run(&["--debug"], &[]), false);
        judge("debug, and asked", &run(&["--debug", "--show-secrets"], &[]), true);
        wrong
    });
    // Each of them shown in the text, the JSON, the two files of HDR, among failures and by --debug.
    assert!(carriers.len() * 6 >= 500, "{} carriers", carriers.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Wrong command lines with a secret.
const MISTAKES: &[&[&str]] = &[
    &["http://user:VALUE@host:99999/"],
    &["http://user:pa VALUE@host:99999/"],
    &["http://user:VALUE@host/"],
    &["http://user:a/VALUE@host/"],
    &["http://user:a#VALUE@host:99999/"],
    &["http://host:99999/?access_token=VALUE"],
    &["http://ho st/?api_key=VALUE"],
    &["user:VALUE@host:99999"],
    &["http:/user:VALUE@host/"],
    &["ftp://user:VALUE@host/"],
    &["htp://host/?token=VALUE"],
    &["tcp://user:VALUE@host"],
    &["ws://user:VALUE@host/"],
    &["grpc://user:VALUE@host/a/B"],
    &["grpc://host/a/B?token=VALUE"],
    &["grpc://host/a?token=VALUE"],
    &["hold", "http://user:VALUE@host:99999/"],
    &["hold", "grpc://host/?token=VALUE"],
    &["grpc", "list", "grpc://user:VALUE@host:99999"],
    &["-H", "Authorization Bearer VALUE", "http://h/"],
    &["-H", "X-Access-Token=VALUE", "http://h/"],
    &["-H", "Private-Token VALUE", "http://h/"],
    &["-H", "Coo kie: VALUE", "http://h/"],
    &["-H", "Cookie: VALUE\u{1}", "http://h/"],
    &["-H", "api_key: VALUE\r\nX: y", "http://h/"],
    &["-H", "Authorization:", "VALUE", "http://h/"],
    &["http://h/", "-H", "Authorization:", "Bearer", "VALUE"],
    &["http://h/", "http://user:VALUE@h/"],
    &["http://h/", "--no-such-flag=x", "-H", "token: VALUE"],
    &["http://h/", "--access-token=VALUE"],
    &["--expect-header", "X-Access-Token VALUE", "http://h/"],
    &["--expect-header", "Authorization: /(VALUE/", "http://h/"],
    &["--expect-header", "Set-Cookie: /[VALUE/", "http://h/"],
    &["--expect-body", "/token=(VALUE/", "http://h/"],
    &["--expect-json", "$.token == VALUE", "http://h/"],
    &["--expect-json", "$.a[ == 'VALUE'", "-H", "token: VALUE", "http://h/"],
    &["-c", "http://user:VALUE@h/", "http://h/"],
    &["-n", "token: VALUE", "http://h/"],
    &["-z", "Authorization: Bearer VALUE", "http://h/"],
    &["-q", "access_token=VALUE", "http://h/"],
    &["-X", "Authorization: VALUE", "http://h/"],
    &["--expect-status", "token=VALUE", "http://h/"],
    &["--stages", "token=VALUE", "http://h/"],
    &["--connect-addresses", "http://user:VALUE@h/", "http://h/"],
    &["--resolve", "user:VALUE@h", "http://h/"],
    &["-d", "@/no/such/file?token=VALUE", "http://h/"],
    &["--driver", "token=VALUE", "http://h/"],
    &["--threads", "token=VALUE", "http://h/"],
    &["--threshold", "token=VALUE", "http://h/"],
    &["-p", "/no/such/file", "-H", "token: VALUE"],
    &["curl", "-u", "me:VALUE", "http://h/", "--no-such"],
    &["curl", "-u", "me:VALUE", "ftp://h/"],
    &["curl", "-uVALUE", "http://h/"],
    &["curl", "http://me:VALUE@h:0/"],
    &["curl", "http://me:VALUE@h/{a}"],
    &["curl", "http://me:a/VALUE@h/"],
    &["curl", "-H", "Cookie VALUE", "http://h/"],
    &["curl", "-m", "token=VALUE", "http://h/"],
    &["curl", "-F", "token-VALUE", "-H", "token: token-VALUE", "http://h/"],
    &["as", "wrk", "-t", "token=VALUE", "http://h/"],
    &["as", "wrk", "http://user:VALUE@h:99999/"],
    &["as", "hey", "-H", "Authorization VALUE", "http://h/"],
    &["as", "ab", "-C", "VALUE", "-A", "user:VALUE", "http://h:99999/"],
];

/// Wrong lines of a file of commands, with a secret.
const WRONG_LINES: &[&str] = &[
    "curl http://h/ -H 'Authorization Bearer VALUE'",
    "curl 'http://me:VALUE@h:0/'",
    "curl http://h/ -H 'X-Access-Token: VALUE' --no-such",
    "curl http://h/ -b 'a=VALUE' -m token=VALUE",
    "curl http://h/ -H 'X-Access-Token VALUE",
    "curl 'http://h/{a}?token=VALUE'",
    "wget 'http://me:VALUE@h/'",
    "curl 'http://h/ ?api_key=VALUE'",
];

#[test]
fn no_mistake_shows_a_secret() {
    let folder = Folder::new("mistakes-hidden");
    let s = SECRET;
    let mut words: Vec<Vec<String>> =
        MISTAKES.iter().map(|words| words.iter().map(|word| word.replace("VALUE", s)).collect()).collect();
    for (number, line) in WRONG_LINES.iter().enumerate() {
        let file = folder.file(&format!("{number}.txt"), &line.replace("VALUE", s));
        words.push(vec!["-p".to_owned(), file]);
    }
    let wrong = each(&words, |_, words| {
        let mut wrong = Vec::new();
        for language in ["en", "zh"] {
            let all: Vec<&str> = match words[0].as_str() {
                "as" => words.iter().map(String::as_str).collect(),
                "hold" | "grpc" => words.iter().map(String::as_str).chain(["--lang", language]).collect(),
                _ => ["--lang", language].into_iter().chain(words.iter().map(String::as_str)).collect(),
            };
            let ended = output(&all);
            let said = text(&ended.stdout) + &text(&ended.stderr);
            if said.is_empty() || ended.status.success() || shows(&said) {
                wrong.push(format!("{all:?}: {said}"));
            }
        }
        wrong
    });
    assert!(words.len() * 2 >= 100, "{} mistakes", words.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Views other than those of our own loads.
#[test]
fn no_other_command_shows_a_secret() {
    let echo = Echo::start();
    let url = format!("http://127.0.0.1:{}/?access_token={SECRET}", echo.port);
    let all: Vec<Vec<&str>> = vec![
        vec!["hold", "-c", "1", "-z", "1s", &url],
        vec!["hold", "-c", "1", "-z", "1s", "--output", "json", &url],
        vec!["as", "wrk", "-c", "1", "-t", "1", "-d", "1s", &url],
        vec!["as", "wrk2", "-c", "1", "-t", "1", "-R", "10", "-d", "1s", &url],
        vec!["as", "hey", "-c", "1", "-n", "2", &url],
        vec!["as", "ab", "-c", "1", "-n", "2", "-v", "2", "-A", "me:s3cr3t-v4lue", &url],
        vec!["as", "ab", "-c", "1", "-n", "2", "-w", &url],
        vec!["as", "oha", "-c", "1", "-n", "2", "--no-tui", &url],
        vec!["as", "webbench", "-c", "1", "-t", "1", &url],
        vec!["as", "go-stress-testing", "-c", "1", "-n", "2", "-H", "Authorization:s3cr3t-v4lue", "-u", &url],
        vec!["doctor", &url],
    ];
    let wrong = each(&all, |_, words| {
        let ended = output(words);
        let said = text(&ended.stdout) + &text(&ended.stderr);
        if said.is_empty() || shows(&said) { vec![format!("{words:?}: {said}")] } else { Vec::new() }
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
