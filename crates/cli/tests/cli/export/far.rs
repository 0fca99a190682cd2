//! Far ends that hang, refuse, are slow or say no: the run does not feel them, and what did not arrive is told.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use super::otlp::{read_request, receiver};
use super::{answered, exported, said};
use crate::{Served, closed_port, onrush, output, report};

/// Takes connections and never answers; gives the port.
fn hanging() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let _kept: Vec<_> = listener.incoming().flatten().collect();
    });
    port
}

/// Answers each request after a second.
fn slow() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = BufReader::new(stream);
            while read_request(&mut stream).is_some() {
                std::thread::sleep(Duration::from_secs(1));
                if stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n").is_err() {
                    break;
                }
            }
        }
    });
    port
}

#[test]
fn no_far_end_disturbs_the_run() {
    let served = Served::start();
    let (no, _heard) = receiver("HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nnot today");
    let (busy, _heard_too) = receiver("HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n");
    let places = [
        format!("otlp=http://127.0.0.1:{}/hangs", hanging()),
        format!("remote-write=http://127.0.0.1:{}/refuses", closed_port()),
        format!("influx=http://127.0.0.1:{}/write?db=slow", slow()),
        format!("otlp=http://127.0.0.1:{no}/no"),
        format!("remote-write=http://127.0.0.1:{busy}/busy"),
        format!("statsd=127.0.0.1:{}", closed_port()),
    ];
    let mut words = vec!["-q", "500", "-z", "3s", "--max-lateness", "100ms", "--interval", "100ms", "-o", "json"];
    places.iter().for_each(|place| words.extend(["--export", place]));
    let (url, began) = (served.url("/"), Instant::now());
    words.push(&url);
    let ran = output(&words);
    let took = began.elapsed();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    // What is left has 5 s.
    assert!(took < Duration::from_secs(10), "{took:?}");
    let report = report(&ran);
    let requests = &report["requests"];
    assert_eq!((&requests["succeeded"], &requests["dropped"]), (&1_500.into(), &0.into()));
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

/// A server that is there only after a while: what waited for it arrives, with sums that are right.
#[test]
fn a_far_end_that_comes_back_gets_everything() {
    let (served, port) = (Served::start(), closed_port());
    let server = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1_200));
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port");
        let (mut text, give_up) = (String::new(), Instant::now() + Duration::from_secs(20));
        while !text.contains("total_succeeded=1000i") && Instant::now() < give_up {
            let Ok((stream, _)) = listener.accept() else { continue };
            let mut stream = BufReader::new(stream);
            while let Some((_, body)) = read_request(&mut stream) {
                text.push_str(&String::from_utf8(body).expect("UTF-8"));
                stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("it reads");
            }
        }
        text
    });
    let place = format!("influx=http://127.0.0.1:{port}/?db=x");
    let ran =
        output(&["-q", "500", "-z", "2s", "--interval", "100ms", "-o", "json", "--export", &place, &served.url("/")]);
    let report = report(&ran);
    let export = exported(&report, "influx");
    assert_eq!((&export["left_out"], &export["error"]), (&0.into(), &serde_json::Value::Null), "{export}");
    let text = server.join().expect("the server ends");
    let added: u64 = text
        .lines()
        .filter(|line| line.starts_with("onrush_steps"))
        .filter_map(|line| {
            line.split(' ').find_map(|part| part.strip_prefix("succeeded="))?.split_once('i')?.0.parse::<u64>().ok()
        })
        .sum();
    assert_eq!(added, 1_000);
}

#[test]
fn a_token_comes_from_the_environment_and_is_not_shown() {
    let served = Served::start();
    let (port, heard) = receiver("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
    let place = format!("influx=http://127.0.0.1:{port}/?org=o&bucket=b");
    let mut command = onrush(&["-n", "5", "-o", "json", "--export", &place, &served.url("/")]);
    let ran = command.env("ONRUSH_EXPORT_TOKEN", "hunter2").output().expect("it starts");
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let (head, _) = heard.recv().expect("a request");
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
    let run = |trusted: &str| {
        let mut command = onrush(&["-n", "5", "-o", "json", "--export", &place, &served.url("/")]);
        command.env("SSL_CERT_FILE", trusted).env_remove("SSL_CERT_DIR").output().expect("it starts")
    };
    let export = exported(&report(&run(&cert_path)), "remote-write").clone();
    assert_eq!((&export["left_out"], &export["error"]), (&0.into(), &serde_json::Value::Null), "{export}");
    let export = exported(&report(&run("/dev/null")), "remote-write").clone();
    assert!(export["error"].as_str().is_some_and(|error| error.contains("certificate")), "{export}");
    [cert, key].iter().for_each(|file| std::fs::remove_file(file).expect("the file goes"));
}

/// A far end that hangs keeps nobody from leaving: what was measured is written when Ctrl-C comes twice, and one at the end is enough.
#[test]
fn ctrl_c_ends_every_wait() {
    let (served, far) = (Served::start(), format!("otlp=http://127.0.0.1:{}", hanging()));
    let file =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("export-{}-stopped.json", std::process::id()));
    for (load, signals, expected) in [(["-z", "60s"], 2, 130), (["-n", "10"], 1, 0)] {
        let path = file.display().to_string();
        let (url, words) =
            (served.url("/"), ["-q", "50", "--json", &path, "--export", &far, "--export", "prometheus=:0"]);
        let mut command = onrush(&[&words[..], &load, &[&url]].concat());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = command.spawn().expect("it starts");
        // The short load is over by then, and waits for its exports.
        std::thread::sleep(Duration::from_millis(1_500));
        let began = Instant::now();
        for _ in 0..signals {
            crate::signal(&child, "-INT");
            std::thread::sleep(Duration::from_millis(300));
        }
        let ran = child.wait_with_output().expect("it ends");
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        assert_eq!(ran.status.code(), Some(expected), "{ran:?}");
        let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).expect("the report"))
            .unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert!(exported(&report, "otlp")["left_out"].as_u64() > Some(0), "{ran:?}");
        std::fs::remove_file(&file).expect("the file goes");
    }
}
