//! The WebSocket cases of Autobahn, for both sides of our implementation: `onrush serve`, and an echo on the client's
//! session.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use wire::websocket::{self, Opening, Role, Scratch, Session, SessionEvent, Terms};

use crate::binary::Served;
use crate::{closed_port, listens};

/// Python with the cases (`cargo xtask test` installs it).
fn kosoku() -> PathBuf {
    let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/autobahn/bin/kosoku");
    assert!(program.exists(), "the cases of Autobahn are missing; `cargo xtask test` installs them");
    program
}

/// Large messages (9) and compression (12, 13) have tests of their own.
const LEFT_OUT: [&str; 3] = ["9.*", "12.*", "13.*"];
const BASE_CASES: usize = 247;

/// The cases under their time limit.
struct Limited(Child);

impl Drop for Limited {
    fn drop(&mut self) {
        // It may have ended by itself. `timeout` passes a SIGTERM on to its child, and cannot do so when it is killed.
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = Command::new("kill").arg(self.0.id().to_string()).status();
            let _ = self.0.wait();
        }
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("onrush-autobahn-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// The result of each case.
fn verdicts(folder: &Path) -> BTreeMap<String, (String, String)> {
    let index = std::fs::read_to_string(folder.join("index.json")).expect("a report");
    let report: Value = serde_json::from_str(&index).expect("JSON");
    let agents = report.as_object().expect("an object");
    let cases = agents.values().next().and_then(Value::as_object).expect("an agent");
    let word = |case: &Value, name: &str| case[name].as_str().unwrap_or_default().to_owned();
    cases.iter().map(|(id, case)| (id.clone(), (word(case, "behavior"), word(case, "behaviorClose")))).collect()
}

/// `endings`: how our side of each case ended.
fn all_pass(folder: &Path, count: usize, endings: &[String]) {
    let verdicts = verdicts(folder);
    assert_eq!(verdicts.len(), count);
    let passes = |word: &str| ["OK", "NON-STRICT", "INFORMATIONAL"].contains(&word);
    let fails = |(how, end): &(String, String)| !passes(how) || !passes(end);
    let failed: Vec<_> = verdicts.iter().filter(|(_, verdict)| fails(verdict)).collect();
    let unusual: Vec<_> = endings.iter().filter(|ending| !ending.ends_with("close Some(1000)")).collect();
    assert!(failed.is_empty(), "{failed:?} {unusual:?}");
    let _ = std::fs::remove_dir_all(folder);
}

fn run(words: &[&str], folder: &Path, cases: &[String]) -> Command {
    let mut command = Command::new("timeout");
    command.arg("600").arg(kosoku()).args(["-o", &folder.display().to_string()]).args(cases).args(words);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn without(names: &[&str]) -> Vec<String> {
    names.iter().flat_map(|name| ["-x".to_owned(), (*name).to_owned()]).collect()
}

/// Cases of compression: a small and a middle size of each kind of data and of window; all of them take half an hour.
fn compression_cases() -> Vec<String> {
    let ids = (1..=5).map(|kind| format!("12.{kind}")).chain((1..=7).map(|kind| format!("13.{kind}")));
    ids.flat_map(|id| [1, 4].map(|size| format!("{id}.{size}"))).flat_map(|id| ["-i".to_owned(), id]).collect()
}

fn server_passes(name: &str, cases: &[String], count: usize) {
    let served = Served::start();
    let folder = folder(name);
    let url = served.url.replace("http://", "ws://");
    let ended = run(&[&url], &folder, cases).status().expect("the cases start");
    assert!(ended.code().is_some(), "{ended}");
    all_pass(&folder, count, &[]);
}

#[test]
fn the_server_passes() {
    server_passes("server", &without(&LEFT_OUT), BASE_CASES);
}

#[test]
fn the_client_passes() {
    client_passes("client", &without(&LEFT_OUT), BASE_CASES);
}

#[test]
fn large_messages_pass_on_both_sides() {
    let cases = ["-i".to_owned(), "9.*".to_owned()];
    server_passes("server-large", &cases, 54);
    client_passes("client-large", &cases, 54);
}

#[test]
fn compressed_messages_pass_on_both_sides() {
    let cases = compression_cases();
    server_passes("server-deflate", &cases, 24);
    client_passes("client-deflate", &cases, 24);
}

fn client_passes(name: &str, cases: &[String], count: usize) {
    let (folder, endings) = client_in(name, cases, count);
    all_pass(&folder, count, &endings);
}

/// Runs the client's side in all cases; returns the path of the report, and how each case ended here.
fn client_in(name: &str, cases: &[String], count: usize) -> (PathBuf, Vec<String>) {
    let folder = folder(name);
    let port = closed_port();
    let address = format!("127.0.0.1:{port}");
    let server = run(&["-m", "fuzzingserver", &address], &folder, cases).spawn().expect("the cases start");
    let mut server = Limited(server);
    listens(&mut server.0, port);
    let run = |case| echo(&address, &format!("/runCase?case={case}&agent=onrush"));
    let endings = (1..=count).map(|case| format!("{case}: {}", run(case))).collect();
    echo(&address, "/updateReports?agent=onrush");
    let _ = server.0.wait();
    (folder, endings)
}

/// An echo on the client's session, until the server closes; returns how it ended.
fn echo(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
    let key = websocket::key_of(*b"sixteen bytes ok");
    let opening = Opening { host: address, target: path, protocols: &[], headers: &[], offers_deflate: true };
    let mut request = Vec::new();
    websocket::render_request(&opening, &key, &mut request);
    stream.write_all(&request).expect("it goes out");
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match reader.read_until(b'\n', &mut head) {
            Ok(0) => return "the end of the stream in the head".to_owned(),
            Ok(_) => {}
            // The report says whether the case had ended.
            Err(error) => return format!("no head could be read: {error}"),
        }
    }
    let (_, agreed) = websocket::read_response(&head, &key, &[], true).expect("an answer").expect("a whole one");
    let (role, most) = (Role::Client, 64 << 20);
    let terms = Terms { role, deflate: agreed.deflate, message_bytes_max: most, kept_bytes_max: most as usize };
    let (mut session, mut scratch) = (Session::new(terms), Scratch::default());
    let mut buffer = vec![0; 64 * 1024];
    let bits = agreed.deflate.map_or(websocket::WINDOW_BITS_MAX, |deflate| deflate.window_bits);
    let mut deflater = websocket::Deflater::with_window(bits);
    let mask = Some([0x12, 0xef, 0x34, 0xcd]);
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(0) => return "the end of the stream".to_owned(),
            Ok(count) => count,
            // The system does not restart a read with a time limit when the process was stopped for a moment.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return format!("no more could be read: {error}"),
        };
        let mut rest = &mut buffer[..count];
        let mut out = Vec::new();
        let mut over = None;
        loop {
            match session.handle(rest, &mut scratch, mask, &mut out) {
                Ok((_, SessionEvent::NeedMore)) => break,
                Err(fault) => {
                    over = Some(format!("{fault:?}"));
                    break;
                }
                Ok((taken, received)) => {
                    if let SessionEvent::Message { kind, bytes, .. } = &received {
                        match agreed.deflate.is_some() {
                            true => websocket::push_message(*kind, true, mask, &deflater.compress(bytes), &mut out),
                            false => websocket::push_message(*kind, false, mask, bytes, &mut out),
                        }
                    }
                    if let SessionEvent::Close { code, .. } = received {
                        over = Some(format!("close {code:?}"));
                    }
                    rest = &mut rest[taken..];
                }
            }
        }
        if let Err(error) = stream.write_all(&out) {
            return format!("no more could be written: {error}");
        }
        if let Some(how) = over {
            // The server closes first; later data from it does not matter.
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = reader.read_to_end(&mut Vec::new());
            return how;
        }
    }
}
