//! Receivers that hang, refuse, are slow or report errors: the run is not affected, and missing data is reported.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};

use super::otlp::{read_request, receiver};
use super::{answered, exported, said};
use crate::seen::wait_for;
use crate::{Served, closed_port, line_with, next_of, onrush, output, report, signal};

/// A server that responds to this many requests and none after them. Returns the port, and a channel with each request.
fn hangs_after(responses: usize) -> (u16, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (notify, requested) = channel();
    std::thread::spawn(move || {
        let (mut left, mut kept) = (responses, Vec::new());
        for stream in listener.incoming().flatten() {
            let mut stream = BufReader::new(stream);
            while read_request(&mut stream).is_some() {
                // The test may be over.
                let _ = notify.send(());
                if left == 0 || stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n").is_err() {
                    break;
                }
                left -= 1;
            }
            // The connection stays open, without a response.
            kept.push(stream);
        }
    });
    (port, requested)
}

#[test]
fn no_far_end_disturbs_the_run() {
    let served = Served::start();
    let (no, _received) = receiver("HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nnot today");
    let (busy, _received_too) = receiver("HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n");
    let ((hangs, _requested), (slow, _requested_too)) = (hangs_after(0), hangs_after(2));
    let places = [
        format!("otlp=http://127.0.0.1:{hangs}/hangs"),
        format!("remote-write=http://127.0.0.1:{}/refuses", closed_port()),
        format!("influx=http://127.0.0.1:{slow}/write?db=slow"),
        format!("otlp=http://127.0.0.1:{no}/no"),
        format!("remote-write=http://127.0.0.1:{busy}/busy"),
        format!("statsd=127.0.0.1:{}", closed_port()),
    ];
    let load = ["-q", "5000", "-n", "1500", "-t", "1h", "--interval", "100ms"];
    let mut words = [&load[..], &["--export-wait", "1500ms", "-o", "json"]].concat();
    places.iter().for_each(|place| words.extend(["--export", place]));
    let url = served.url("/");
    words.push(&url);
    // Only the end of the exports is awaited, which has a time limit: that it ends is the proof.
    let ran = output(&words);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let report = report(&ran);
    // A start may have any lateness here, and each was made.
    let counts = ["started", "succeeded", "dropped"].map(|name| report["requests"][name].as_u64());
    assert_eq!(counts, [Some(1_500), Some(1_500), Some(0)], "{}", report["requests"]);
    assert_eq!(answered(&served), 1_500);
    let exports = report["exports"].as_array().expect("a list");
    let intervals = report["intervals"].as_array().expect("a list").len() as u64;
    let said = said(&ran);
    for (place, error) in [
        ("/hangs", "no answer in time"),
        ("/refuses", "refused"),
        ("/no", "HTTP 400: not today"),
        ("/busy", "HTTP 503"),
    ] {
        let export = exports.iter().find(|one| one["where"].as_str().is_some_and(|it| it.ends_with(place)));
        let export = export.unwrap_or_else(|| panic!("{exports:?}"));
        assert_eq!((&export["delivered"], &export["left_out"]), (&0.into(), &intervals.into()), "{export}");
        assert!(export["error"].as_str().is_some_and(|text| text.contains(error)), "{export}");
        assert!(said.lines().any(|line| line.contains(place) && line.contains("did not arrive")), "{said}");
    }
    let slow = exported(&report, "influx");
    let (arrived, lost) = (slow["delivered"].as_u64().expect("a count"), slow["left_out"].as_u64().expect("a count"));
    assert!(arrived > 0 && arrived + lost == intervals, "{slow} of {intervals}");
    let udp = exported(&report, "statsd");
    assert!(udp["left_out"].as_u64() > Some(0), "{udp}");
}

/// A server that starts later: the queued data arrives, with correct sums.
#[test]
fn a_far_end_that_comes_back_gets_everything() {
    let (served, port) = (Served::start(), closed_port());
    let place = format!("influx=http://127.0.0.1:{port}/?db=x");
    let words = ["-q", "1000", "-n", "1000", "--interval", "100ms", "-o", "json", "--export-wait", "1h"];
    let child = onrush(&[&words[..], &["--export", &place, &served.url("/")]].concat()).stdout(Stdio::piped()).spawn();
    let child = child.expect("it starts");
    wait_for("half of the load is over", || answered(&served) >= 500);
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port");
    let server = std::thread::spawn(move || {
        let mut text = String::new();
        while !text.contains("total_succeeded=1000i") {
            let Ok((stream, _)) = listener.accept() else { continue };
            let mut stream = BufReader::new(stream);
            while let Some((_, body)) = read_request(&mut stream) {
                text.push_str(&String::from_utf8(body).expect("UTF-8"));
                stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("it reads");
            }
        }
        text
    });
    let ran = child.wait_with_output().expect("it ends");
    let report = report(&ran);
    let export = exported(&report, "influx");
    assert_eq!((&export["left_out"], &export["error"]), (&0.into(), &serde_json::Value::Null), "{export}");
    let text = server.join().expect("the server ends");
    // What was sent again because its answer came too late has the same instant, and replaces what was there.
    let points: BTreeSet<&str> = text.lines().filter(|line| line.starts_with("onrush_steps")).collect();
    let added: u64 = points
        .into_iter()
        .filter_map(|line| {
            line.split(' ').find_map(|part| part.strip_prefix("succeeded="))?.split_once('i')?.0.parse::<u64>().ok()
        })
        .sum();
    assert_eq!(added, 1_000);
}

#[test]
fn a_token_comes_from_the_environment_and_is_not_shown() {
    let served = Served::start();
    let (port, received) = receiver("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    let place = format!("influx=http://127.0.0.1:{port}/?org=o&bucket=b");
    let mut command = onrush(&["-n", "5", "-o", "json", "--export", &place, &served.url("/")]);
    let ran = command.env("ONRUSH_EXPORT_TOKEN", "hunter2").output().expect("it starts");
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let (head, _) = received.recv().expect("a request");
    assert!(head.starts_with("POST /api/v2/write?org=o&bucket=b HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("Token hunter2"), "{head}");
    let whole = format!("{ran:?}");
    assert!(!whole.contains("no flag"), "{whole}");
    assert!(!whole.contains("hunter2") && whole.contains("HTTP 401"), "{whole}");
}

/// A server with a certificate of its own: it is trusted where the system trusts it, and named where it does not.
#[test]
fn https_trusts_what_the_system_trusts() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [cert, key] = ["cert", "key"].map(|name| folder.join(format!("export-{}-{name}.pem", std::process::id())));
    std::fs::write(&cert, made.cert.pem()).expect("a file");
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
    let (cert_path, key_path) = (cert.display().to_string(), key.display().to_string());
    let (served, far) = (Served::start(), Served::with(&["--tls", "--cert", &cert_path, "--key", &key_path]));
    let place = format!("remote-write={}", far.url("/echo").replace("127.0.0.1", "localhost"));
    let run = |trusted: &str, wait: &str| {
        let words = ["-n", "5", "-o", "json", "--export", &place, "--export-wait", wait, &served.url("/")];
        let mut command = onrush(&words);
        command.env("SSL_CERT_FILE", trusted).env_remove("SSL_CERT_DIR").output().expect("it starts")
    };
    let export = exported(&report(&run(&cert_path, "1h")), "remote-write").clone();
    assert_eq!((&export["left_out"], &export["error"]), (&0.into(), &serde_json::Value::Null), "{export}");
    let export = exported(&report(&run("/dev/null", "3s")), "remote-write").clone();
    assert!(export["error"].as_str().is_some_and(|error| error.contains("certificate")), "{export}");
    [cert, key].iter().for_each(|file| std::fs::remove_file(file).expect("the file goes"));
}

/// A receiver that hangs delays no exit: results are written when Ctrl-C comes twice, and one at the end is enough.
#[test]
fn ctrl_c_ends_every_wait() {
    let served = Served::start();
    let file =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("export-{}-stopped.json", std::process::id()));
    let path = file.display().to_string();
    for (load, is_in_load, expected) in [(["-z", "1h"], true, 130), (["-n", "10"], false, 0)] {
        let (port, requested) = hangs_after(0);
        let far = format!("otlp=http://127.0.0.1:{port}");
        let words = ["-q", "50", "--interval", "100ms", "--json", &path, "--export-wait", "1h"];
        let url = served.url("/");
        let exports = ["--export", &far, "--export", "prometheus=:0", &url];
        let mut command = onrush(&[&words[..], &load, &exports].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        next_of(&requested, "the far end is asked");
        if is_in_load {
            signal(&child, "-INT");
            line_with(&mut said, "Ctrl-C again");
        }
        // Both would stay for an hour.
        line_with(&mut said, "the final figures can be read for up to 3600s");
        signal(&child, "-INT");
        let ran = child.wait_with_output().expect("it ends");
        assert_eq!(ran.status.code(), Some(expected), "{ran:?}");
        let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).expect("the report"))
            .unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert!(exported(&report, "otlp")["left_out"].as_u64() > Some(0), "{ran:?}");
        std::fs::remove_file(&file).expect("the file goes");
    }
}
