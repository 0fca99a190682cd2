//! HTTP/2 against independent servers, and independent clients against ours.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::binary::{Served, output, report, text};
use crate::nginx::Nginx;
use crate::{ChildGuard, closed_port, listens};

/// Each response once, also when the server sends GOAWAY in the middle, again and again.
#[test]
fn what_nginx_counts_on_streams_is_what_we_count() {
    for (limit, requests) in [("1000000", "4000"), ("100", "3000")] {
        let nginx = Nginx::with("http2", &format!("keepalive_requests {limit};"), |_| {});
        let url = format!("{}/", nginx.url);
        for driver in ["uring", "poll"] {
            let done = output(&[
                "--http2",
                "-n",
                requests,
                "-c",
                "20",
                "--streams",
                "50",
                "--driver",
                driver,
                "--output",
                "json",
                &url,
            ]);
            let seen = report(&done);
            assert_eq!(done.status.code(), Some(0), "{seen:#}");
            assert_eq!(seen["requests"]["succeeded"].to_string(), requests, "{seen:#}");
            assert_eq!(seen["requests"]["failed"], 0, "{seen:#}");
            // Twenty connections carry 2,000 of them at most.
            let sent_away = seen["connections"]["established"].as_u64() > Some(20);
            assert_eq!(sent_away, limit == "100", "{seen:#}");
        }
        let log = nginx.stop();
        assert_eq!(
            log.lines,
            2 * requests.parse::<u64>().expect("a number"),
            "none lost and none twice, at most {limit} on a connection"
        );
    }
}

/// A step that ends its connection ends no connection of others.
#[test]
fn steps_that_end_their_connections_leave_those_of_others() {
    let served = Served::with(&[]);
    let url = served.url("/");
    let commands = format!("curl -0 '{url}'\ncurl --http2-prior-knowledge '{url}'\n");
    let file = std::env::temp_dir().join(format!("onrush-mixed-{}", std::process::id()));
    std::fs::write(&file, commands).expect("a file");
    for driver in ["uring", "poll"] {
        let path = file.to_string_lossy();
        let seen = report(&output(&["--curl", &path, "-c", "1", "-n", "20", "--driver", driver, "--output", "json"]));
        assert_eq!((&seen["requests"]["succeeded"], &seen["requests"]["failed"]), (&40.into(), &0.into()), "{seen:#}");
        // One for each of HTTP/1.0, and one for all of HTTP/2.
        assert_eq!(seen["connections"]["established"], 21, "{seen:#}");
    }
    std::fs::remove_file(&file).expect("the file is ours");
}

#[test]
fn streams_need_http2() {
    let nginx = Nginx::start();
    let done = output(&["--http2", "-n", "1", "-c", "1", "--quiet", &format!("{}/", nginx.url)]);
    let page = text(&done.stdout) + &text(&done.stderr);
    assert!(page.contains("what the server sends first is not HTTP/2"), "{page}");
}

#[test]
fn nghttpd_responses_us() {
    let port = closed_port();
    let folder = std::env::temp_dir().join(format!("onrush-nghttpd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("file"), vec![b'x'; 200_000]).expect("a file");
    // In Debian it is in a folder for the administrator.
    let program = if std::path::Path::new("/usr/sbin/nghttpd").exists() { "/usr/sbin/nghttpd" } else { "nghttpd" };
    let server = Command::new(program)
        .args(["--no-tls", "-d", &folder.display().to_string(), &port.to_string()])
        .stdout(Stdio::null())
        .spawn()
        .expect("nghttpd is installed: `cargo xtask test` installs it, or: apt-get install nghttp2-server");
    let mut server = ChildGuard(server);
    listens(&mut server.0, port);
    let url = format!("http://127.0.0.1:{port}/file");
    let seen = report(&output(&["--http2", "-n", "300", "-c", "3", "--streams", "10", "--output", "json", &url]));
    assert_eq!(seen["requests"]["succeeded"], 300, "{seen:#}");
    assert_eq!(seen["bytes"]["bodies"], 300 * 200_000);
    // A body that is larger than the windows is uploaded.
    let data = format!("@{}", folder.join("file").display());
    let seen = report(&output(&["--http2", "-n", "20", "-c", "2", "-d", &data, "--output", "json", &url]));
    assert_eq!(seen["requests"]["responses"], 20, "{seen:#}");
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn h2load_understands_our_server() {
    for (flags, path, bytes) in [(&[][..], "/", 27), (&["--tls"], "/", 27), (&[], "/bytes/100000", 100_000)] {
        let served = Served::with(flags);
        let done = Command::new("h2load")
            .args(["-n", "2000", "-c", "10", "-m", "20", &served.url(path)])
            .output()
            .expect("h2load is installed: `cargo xtask test` installs it, or: apt-get install nghttp2-client");
        let page = text(&done.stdout);
        assert!(page.contains("2000 done, 2000 succeeded, 0 failed, 0 errored"), "{page}");
        assert!(page.contains(&format!("({}) data", 2_000 * bytes)), "{page}");
    }
}

/// The client cases of h2spec, which `cargo xtask test` installs into `target/tools`.
#[test]
fn h2specd_is_content() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let h2specd = root.join("target/tools/h2specd");
    assert!(h2specd.exists(), "h2specd is missing; `cargo xtask test` installs it with go");
    let folder = std::env::temp_dir().join(format!("onrush-h2specd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = folder.join("client.sh");
    let binary = env!("CARGO_BIN_EXE_onrush");
    // One request on one connection, which stays a while: each connection that comes runs the case anew.
    let flags = "--http2 -q 5/s -z 200ms -c 1 -t 1s --grace 1s --quiet";
    let line = format!("#!/bin/sh\nexec '{binary}' {flags} \"$@\" >/dev/null 2>&1\n");
    std::fs::write(&script, line).expect("a file");
    let made = Command::new("chmod").arg("+x").arg(&script).status();
    assert!(made.is_ok_and(|status| status.success()));
    // The timeout of a case for an expected event, in seconds.
    let patience = "60";
    let done = Command::new(&h2specd)
        .args(["-e", &script.display().to_string(), "-p", &closed_port().to_string(), "-f", &free_ports().to_string()])
        .args(["-o", patience])
        .output()
        .expect("h2specd starts");
    let page = String::from_utf8_lossy(&done.stdout);
    let failed: Vec<&str> = page.lines().filter(|line| line.contains('×') || line.contains("Actual")).collect();
    // A connection that is closed with unread bytes is reset, which may overtake the GOAWAY: it is closed all the same.
    let is_closed = |case: &[&str]| case[0].contains('×') && case[1].contains("connection reset by peer");
    let are_closed = failed.len().is_multiple_of(2) && failed.chunks_exact(2).all(is_closed);
    assert!(page.contains("57 tests, ") && are_closed, "{failed:#?}, {} lines", page.lines().count());
    let _ = std::fs::remove_dir_all(&folder);
}

/// The first of as many free ports as there are cases, below those that connections get by chance.
fn free_ports() -> u16 {
    const CASES: u16 = 57;
    let is_free = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    loop {
        let first = closed_port();
        if (first..=first + CASES).all(is_free) {
            return first;
        }
    }
}
