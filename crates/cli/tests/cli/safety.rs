//! No host is loaded by mistake, and a load ends when it should. The public address is the one for all hosts of a
//! network: no system connects to it, so nothing is sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Stdio;

use crate::hold::in_a_network;
use crate::usage::check;
use crate::{ChildGuard, Served, onrush, output, report, text};

const FAR: &str = "255.255.255.255";

#[test]
fn a_public_address_wants_consent() {
    let far = format!("http://{FAR}/");
    let connect_to = format!("::{FAR}:80");
    let resolve = format!("shop.test:80:{FAR}");
    let to = format!("{FAR}:80");
    let mapped = format!("http://[::ffff:{FAR}]/");
    let ws = format!("ws://{FAR}/");
    let tcp = format!("tcp://{FAR}:9");
    let grpc = format!("grpc://{FAR}:9/a.B/C");
    let cases: Vec<Vec<&str>> = vec![
        vec!["-n", "1", &far],
        vec!["-q", "101", "-c", "5", &far],
        vec!["-q", "5", "-c", "51", &far],
        vec!["--connect-to", &connect_to, "http://127.0.0.1/"],
        vec!["--resolve", &resolve, "http://shop.test/"],
        vec!["--connect-addresses", &to, "http://127.0.0.1/"],
        vec![&mapped],
        vec!["-k", "https://255.255.255.255/"],
        vec![&ws],
        vec!["-d", "x", "--no-response", &tcp],
        vec![&grpc],
        vec!["hold", "-c", "51", &ws],
        vec!["-c", "5", "curl", &far],
    ];
    for words in cases {
        check(&output(&words), 2, "if you may load it, add --allow-host");
        check(&onrush(&words).env("LANG", "zh_CN.UTF-8").output().expect("it starts"), 2, "请加上 --allow-host");
    }
    // Each with the code with which the tool refuses a command line.
    for (code, words) in [
        (1, vec!["as", "wrk", "-t1", "-c1", "-d1s", &far]),
        (22, vec!["as", "ab", "-n", "1", &far]),
        (1, vec!["as", "hey", "-n", "1", "-c", "1", &far]),
        (2, vec!["as", "oha", "-n", "1", &far]),
        (2, vec!["as", "webbench", "-t", "1", &far]),
        (2, vec!["as", "go-stress-testing", "-u", &far]),
    ] {
        let said = output(&words);
        assert_eq!(said.status.code(), Some(code), "{words:?}: {said:?}");
        assert!(text(&said.stderr).contains("--allow-host") && !said.status.success(), "{words:?}: {said:?}");
    }
    // With consent, or with a harmless load, the run is allowed, and finds the host unreachable.
    for words in [
        vec!["-n", "1", "--allow-host", FAR, &far],
        vec!["-q", "10", "-c", "5", "-z", "200ms", &far],
        vec!["hold", "-c", "2", "--hold", "100ms", "--allow-host", FAR, &ws],
        vec!["-n", "1", "--allow-host", "shop.test", "--resolve", &resolve, "http://shop.test/"],
    ] {
        let said = output(&words);
        assert_eq!(said.status.code(), Some(3), "{words:?}: {said:?}");
        assert!(!text(&said.stderr).contains("--allow-host"), "{said:?}");
    }
}

/// A load that a page may enlarge is no small one, whatever was requested of its target before.
#[test]
fn what_can_grow_wants_consent() {
    let run = in_a_network(
        "ip addr add 203.0.113.7/32 dev lo
         exec 3< <(exec $O serve --listen 203.0.113.7:8080 2> /dev/null); S=$!
         read -r -u 3 listens
         for way in '' '--web --web-listen 127.0.0.1:0'; do
           timeout 60 $O -q 10 -c 2 -z 300ms --quiet $way grpc://203.0.113.7:8080/hello.Greeter/SayHello
           echo the end: $?
         done
         kill $S",
    );
    let (out, err) = (text(&run.stdout), text(&run.stderr));
    let ends: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("the end: ")).collect();
    assert_eq!(ends, ["0", "2"], "{out} {err}");
    assert!(err.contains("--allow-host 203.0.113.7"), "{err}");
}

/// Files, however slow their load looks.
#[test]
fn files_of_scenarios_want_consent_too() {
    let path = std::env::temp_dir().join(format!("onrush-far-{}.yaml", std::process::id()));
    let file = path.to_str().expect("UTF-8").to_owned();
    let slow = "load: {rate: 10/s, for: 1s}, connections: 5";
    for (what, text) in [
        ("closed", "scenarios: {a: {load: {users: 1, for: 1s}, steps: [get: /]}}".to_owned()),
        ("repeated", format!("scenarios: {{a: {{{slow}, steps: [{{repeat: 20, steps: [get: /]}}]}}}}")),
        ("steps", format!("scenarios: {{a: {{{slow}, steps: [{}]}}}}", ["get: /"; 11].join(", "))),
        (
            "in parallel",
            format!("scenarios: {{a: {{{slow}, steps: [{{parallel: 6, steps: [{}]}}]}}}}", ["get: /"; 11].join(", ")),
        ),
        ("together", (0..11).map(|n| format!("{n}x: {{{slow}, steps: [get: /]}}")).collect::<Vec<_>>().join(", ")),
        ("before", format!("setup: [{{repeat: 101, steps: [get: /]}}]\nscenarios: {{a: {{{slow}, steps: [get: /]}}}}")),
        (
            "connections in parallel",
            format!(
                "scenarios: {{a: {{load: {{rate: 4/s, for: 1s}}, connections: 50, steps: [{{parallel: 20, steps: [{}]}}]}}}}",
                ["get: /"; 20].join(", ")
            ),
        ),
        (
            "after",
            format!("teardown: [{{repeat: 101, steps: [get: /]}}]\nscenarios: {{a: {{{slow}, steps: [get: /]}}}}"),
        ),
    ] {
        let text = if what == "together" { format!("scenarios: {{{text}}}") } else { text };
        std::fs::write(&path, format!("target: http://{FAR}\n{text}\n")).expect("a place for it");
        let said = output(&["run", &file]);
        assert_eq!(said.status.code(), Some(2), "{what}: {said:?}");
        // Consent is requested before anything is sent.
        assert!(said.stdout.is_empty(), "{what}: {said:?}");
        assert!(text_of(&said).contains(&format!("--allow-host {FAR}")), "{what}: {said:?}");
    }
    std::fs::write(&path, format!("target: http://{FAR}\nscenarios: {{a: {{{slow}, steps: [get: /]}}}}\n"))
        .expect("a place");
    let said = output(&["run", &file]);
    assert_eq!(said.status.code(), Some(3), "{said:?}");
    std::fs::remove_file(&path).expect("it is there");
}

fn text_of(said: &std::process::Output) -> String {
    text(&said.stderr).to_owned()
}

/// One host consents, for itself alone.
#[test]
fn one_place_speaks_for_no_other() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let near = listener.local_addr().expect("an address");
    let met = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&met);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let body = format!("onrush: allow 127.0.0.1\nonrush: allow {FAR}\n");
            let _ = stream.read(&mut [0; 1024]);
            let _ =
                stream.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    let (to, url) = (format!("{near},{FAR}:80"), format!("http://{near}/"));
    let given = format!("::{FAR}:80");
    for words in [
        vec!["-n", "60", "-c", "4", "--connect-addresses", &to, &url],
        vec!["-n", "2", "--allow-host", "127.0.0.1", "--connect-addresses", &to, &url],
        vec!["-n", "2", "--allow-host", "127.0.0.1", "--connect-to", &given, &url],
    ] {
        let said = output(&words);
        check(&said, 2, &format!("{FAR} is neither this machine"));
        check(&said, 2, &format!("--allow-host {FAR},"));
    }
    assert_eq!(met.load(std::sync::atomic::Ordering::Relaxed), 0, "nobody is asked for another, and nothing is loaded");
}

/// A redirect to another host is not followed.
#[test]
fn a_redirect_is_no_consent() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 1024];
            // A client that closes without a request gets no response.
            if stream.read(&mut head).is_ok_and(|count| count > 0) {
                let response = format!(
                    "HTTP/1.1 302 Found\r\nLocation: http://{FAR}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                );
                let _ = stream.write_all(response.as_bytes());
            }
        }
    });
    let words = ["-n", "3", "-c", "1", "-L", "--output", "json", &url];
    let seen = report(&output(&words));
    let failure = &seen["failures"][0];
    assert_eq!((&failure["reason"], &failure["count"]), (&"no-consent".into(), &3.into()), "{seen:#}");
    assert!(failure["remedy"].as_str().is_some_and(|text| text.contains("--allow-host")), "{failure:#}");
    let words = ["-n", "3", "-c", "1", "-L", "--quiet", &url];
    let page = onrush(&words).env("LANG", "zh_CN.UTF-8").output().expect("it starts");
    assert!(text(&page.stdout).contains(&format!("重定向指向 {FAR}")), "{page:?}");
}

#[test]
fn a_file_ends_a_load() {
    let served = Served::start();
    let path = std::env::temp_dir().join(format!("onrush-stop-{}", std::process::id()));
    let path = path.to_str().expect("UTF-8").to_owned();
    let (url, ws) = (served.url("/"), served.url("/").replace("http://", "ws://"));
    for words in [
        vec!["-q", "50", "-z", "1h", "--interval", "100ms", "--stop-file", &path, &url],
        vec!["hold", "-c", "2", "--hold", "1h", "--interval", "100ms", "--stop-file", &path, &ws],
    ] {
        let mut child = ChildGuard::start(onrush(&words).stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut lines = BufReader::new(child.0.stdout.take().expect("a pipe")).lines();
        // The table has begun.
        let begun = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("0.")));
        assert!(begun.is_some(), "{words:?}");
        std::fs::write(&path, "").expect("a place for it");
        let rest: Vec<String> = lines.map(|line| line.expect("UTF-8")).collect();
        let ended = child.output();
        assert_eq!(ended.status.code(), Some(130), "{words:?}: {ended:?} {rest:?}");
        assert!(text(&ended.stderr).contains("is there"), "{ended:?}");
        check(&output(&words), 2, "is there already");
        std::fs::remove_file(&path).expect("it is there");
    }
}
