//! TLS against independent servers, and independent clients against ours.

use std::process::Command;

use crate::authority::{Authority, GOOD};
use crate::binary::{Served, onrush, output, report, text};
use crate::nginx::Nginx;

const PAIR: &str = "ssl_certificate server.pem; ssl_certificate_key server.key;";

fn nginx(listens: &str, lines: &str, name: &str, years: (i32, i32)) -> Nginx {
    let authority = Authority::new();
    Nginx::with(listens, &format!("{PAIR} {lines}"), |folder| {
        authority.sign(folder, "server", name, years);
        authority.sign(folder, "client", "client", GOOD);
    })
}

impl Nginx {
    fn https(&self) -> String {
        format!("https://127.0.0.1:{}/", self.port)
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }
}

#[test]
fn what_nginx_counts_over_tls_is_what_we_count() {
    for (listens, flags, protocol) in
        [("ssl", &[][..], "HTTP/1.1"), ("ssl http2", &[], "HTTP/2"), ("ssl", &["--no-keepalive"], "short")]
    {
        let nginx = nginx(listens, "", "127.0.0.1", GOOD);
        let (url, ca) = (nginx.https(), nginx.file("ca.pem"));
        for driver in ["uring", "poll"] {
            let mut args =
                vec!["-n", "3000", "-c", "20", "--driver", driver, "--output", "json", "--cacert", &ca, &url];
            args.extend(flags);
            let done = output(&args);
            let seen = report(&done);
            assert_eq!(done.status.code(), Some(0), "{protocol} {driver}: {seen:#}");
            assert_eq!(seen["requests"]["succeeded"], 3_000, "{protocol} {driver}: {seen:#}");
            let handshakes = seen["connections"]["tls_handshakes"].as_u64();
            assert_eq!(handshakes, seen["connections"]["established"].as_u64());
            assert_eq!(handshakes, seen["times"]["tls_handshake"]["count"].as_u64());
            let resumed = seen["connections"]["tls_resumed"].as_u64().expect("a count");
            // New connections resume sessions of those before.
            assert_eq!(resumed > 2_000, protocol == "short", "{protocol}: {resumed} resumed");
        }
        assert_eq!(nginx.stop().lines, 6_000, "{protocol}");
    }
}

#[test]
fn sessions_are_not_taken_up_when_nobody_wants_that() {
    let nginx = nginx("ssl", "", "127.0.0.1", GOOD);
    let (url, ca) = (nginx.https(), nginx.file("ca.pem"));
    let args =
        ["-n", "50", "-c", "2", "--no-keepalive", "--no-tls-resumption", "--output", "json", "--cacert", &ca, &url];
    let seen = report(&output(&args));
    assert_eq!(seen["connections"]["tls_handshakes"], 50);
    assert_eq!(seen["connections"]["tls_resumed"], 0);
}

/// One line that names the certificate, its error, and the flag; in both languages.
#[test]
fn who_cannot_be_trusted_is_named() {
    let cases = [
        ("127.0.0.1", (2001, 2002), true, "expired", "has expired", "已过期"),
        (
            "elsewhere.example",
            GOOD,
            true,
            "wrong-name",
            "is not valid for the name '127.0.0.1'",
            "与名称 '127.0.0.1' 不符",
        ),
        ("127.0.0.1", GOOD, false, "unknown-issuer", "--cacert FILE", "--cacert FILE"),
        ("127.0.0.1", (2090, 2100), true, "not-yet-valid", "is not valid yet", "尚未生效"),
    ];
    for (name, years, is_known, detail, en, zh) in cases {
        let nginx = nginx("ssl", "", name, years);
        let (url, ca) = (nginx.https(), nginx.file("ca.pem"));
        let trust: &[&str] = if is_known { &["--cacert", &ca] } else { &["--cacert", "client.pem"] };
        let other = nginx.file("client.pem");
        let trust: Vec<&str> =
            trust.iter().map(|word| if *word == "client.pem" { other.as_str() } else { word }).collect();
        let args: Vec<&str> = ["-n", "5", url.as_str()].into_iter().chain(trust).collect();
        for (language, says) in [("en_US.UTF-8", en), ("zh_CN.UTF-8", zh)] {
            let refused = onrush(&args).env("LANG", language).output().expect("the binary starts");
            let complaint = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(3), "{detail}: {complaint}");
            assert!(complaint.contains(says) && complaint.contains(&format!("tls ({detail})")), "{complaint}");
            assert!(complaint.contains("server of these tests") && complaint.contains(name), "{complaint}");
            assert_eq!(complaint.lines().count(), 1, "{complaint}");
        }
        // Without verification the run succeeds.
        assert_eq!(
            report(&output(&["-n", "5", "-c", "1", "-k", "--output", "json", &url]))["requests"]["succeeded"],
            5
        );
    }
}

#[test]
fn another_name_can_be_requested_for() {
    let nginx = nginx("ssl", "", "elsewhere.example", GOOD);
    let (url, ca) = (nginx.https(), nginx.file("ca.pem"));
    let args = ["-n", "5", "-c", "1", "--sni", "elsewhere.example", "--cacert", &ca, "--output", "json", &url];
    assert_eq!(report(&output(&args))["requests"]["succeeded"], 5);
}

#[test]
fn both_sides_show_certificates() {
    let nginx = nginx("ssl", "ssl_client_certificate ca.pem; ssl_verify_client on;", "127.0.0.1", GOOD);
    let (url, ca) = (nginx.https(), nginx.file("ca.pem"));
    let (cert, key) = (nginx.file("client.pem"), nginx.file("client.key"));
    let known = ["-n", "100", "-c", "5", "--cacert", &ca, "--cert", &cert, "--key", &key, "--output", "json", &url];
    assert_eq!(report(&output(&known))["requests"]["succeeded"], 100);
    for (language, says) in
        [("en_US.UTF-8", "the server asked for a client certificate"), ("zh_CN.UTF-8", "服务端要求客户端证书")]
    {
        let bare = onrush(&["-n", "5", "-c", "1", "--cacert", &ca, "--quiet", &url]).env("LANG", language).output();
        let page = text(&bare.expect("the binary starts").stdout);
        assert!(page.contains(says) && page.contains("--cert FILE --key FILE"), "{page}");
    }
}

#[test]
fn what_does_not_go_together_is_said() {
    let plain = Nginx::start();
    let complaint = |args: &[&str]| text(&output(args).stderr);
    let port = plain.port;
    let said = complaint(&["-n", "1", "-k", &format!("https://127.0.0.1:{port}/")]);
    assert!(said.contains("does not speak TLS"), "{said}");
    let old = nginx("ssl", "ssl_protocols TLSv1.2;", "127.0.0.1", GOOD);
    let (url, ca) = (old.https(), old.file("ca.pem"));
    assert_eq!(
        report(&output(&["-n", "5", "-c", "1", "--cacert", &ca, "--output", "json", &url]))["requests"]["succeeded"],
        5
    );
    let said = complaint(&["-n", "1", "-k", "--tls-min", "1.3", &url]);
    assert!(said.contains("no TLS version, group or cipher in common"), "{said}");
    let said = complaint(&["-n", "1", "-k", "--http2", &url]);
    assert!(said.contains("ALPN") && said.contains("--http2"), "{said}");
    let key = old.file("client.key");
    for (args, says) in [
        (vec!["--cacert", key.as_str()], "--cacert: there is no PEM certificate in it"),
        (vec!["--cert", key.as_str()], "--cert: there is no PEM certificate in it"),
        (vec!["--cert", ca.as_str()], "--key (or --cert): there is no PEM private key in it"),
        (vec!["--cert", ca.as_str(), "--key", key.as_str()], "--cert and --key: "),
        (vec!["--tls-groups", "X448"], "'X448' is no key exchange group that is known; known are X25519MLKEM768"),
        (vec!["--sni", "a b"], "'a b' is no name that a certificate can have"),
        (vec!["--cacert", "/no/such/file"], "cannot read the file '/no/such/file' given to --cacert"),
    ] {
        let args: Vec<&str> = args.into_iter().chain([url.as_str()]).collect();
        let refused = output(&args);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(says) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn curl_understands_our_server() {
    for (flags, url, version) in [
        (&["--tls"][..], "https", "2"),
        (&["--tls"], "https --http1.1", "1.1"),
        (&[], "http --http2-prior-knowledge", "2"),
        (&[], "http", "1.1"),
    ] {
        let served = Served::with(flags);
        let (scheme, flag) = url.split_once(' ').unwrap_or((url, "-s"));
        assert!(served.url.starts_with(&format!("{scheme}://")), "{}", served.url);
        let curl = |path: &str, more: &[&str]| {
            let done = Command::new("curl")
                .args(["-sk", "--max-time", "10", flag, "-w", "|%{http_version}|%{http_code}"])
                .args(more)
                .arg(served.url(path))
                .output()
                .expect("curl is installed: `cargo xtask test` installs it, or: apt-get install curl");
            text(&done.stdout)
        };
        assert_eq!(curl("/", &[]), format!("Hello from the onrush demo\n|{version}|200"));
        assert_eq!(curl("/echo", &["-d", "a=b"]), format!("a=b|{version}|200"));
        assert_eq!(curl("/status/404", &[]), format!("404\n|{version}|404"));
        assert_eq!(curl("/delay/5", &[]), format!("|{version}|200"));
        let long = curl("/bytes/3000000", &["-o", "/dev/null", "-w", "%{size_download}"]);
        assert!(long.starts_with("3000000"), "{long}");
        let long = curl("/chunked/3000000", &["-o", "/dev/null", "-w", "%{size_download}"]);
        assert!(long.starts_with("3000000"), "{long}");
        assert_eq!(curl("/drip/3/5", &["-o", "/dev/null", "-w", "%{size_download}"]), "192");
    }
}

/// A redirect over TLS with HTTP/1.1 is followed, as one with HTTP/2 is.
#[test]
fn redirects_are_followed_over_tls() {
    let served = Served::with(&["--tls"]);
    for (driver, version) in [("uring", "--http1.1"), ("poll", "--http1.1"), ("uring", "--http2"), ("poll", "--http2")]
    {
        let words = ["--driver", driver, version, "-L", "-k", "-n", "30", "-c", "3", "--output", "json"];
        let ended = output(&[&words[..], &[served.url("/redirect/2").as_str()]].concat());
        let requests = &report(&ended)["requests"];
        assert_eq!(
            (
                requests["succeeded"].as_u64(),
                requests["redirects"].as_u64(),
                requests["iterations"]["completed"].as_u64()
            ),
            (Some(90), Some(60), Some(30)),
            "{driver} {version}: {ended:?}"
        );
    }
}
