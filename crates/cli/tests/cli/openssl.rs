//! TLS against `openssl s_server`: closing, and unusual certificates and requirements.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use wire::tls::{ServerConfig, ServerSettings};

use crate::binary::{onrush, output, report, text};
use crate::seen::wait_for;
use crate::{ChildGuard, closed_port, listens};

/// A folder for certificates; it is removed with the value.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("onrush-openssl-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("leaf.cnf"), "subjectAltName=IP:127.0.0.1\n").expect("a file");
        std::fs::write(folder.join("ca.cnf"), "basicConstraints=critical,CA:TRUE\n").expect("a file");
        Self(folder)
    }

    /// Runs a command of openssl here.
    pub(crate) fn make(&self, words: &str) {
        let made = Command::new("openssl").args(words.split(' ')).current_dir(&self.0).output();
        let made = made.expect("openssl is installed: `cargo xtask test` installs it, or: apt-get install openssl");
        assert!(made.status.success(), "openssl {words}: {}", String::from_utf8_lossy(&made.stderr));
    }

    fn authority(&self, name: &str, bits: u32) {
        self.make(&format!(
            "req -x509 -newkey rsa:{bits} -nodes -keyout {name}.key -out {name}.pem -days 30 -subj /CN={name}"
        ));
    }

    /// A certificate of a name, signed by another.
    fn sign(&self, name: &str, by: &str, bits: u32, kind: &str) {
        self.make(&format!("req -newkey rsa:{bits} -nodes -keyout {name}.key -out {name}.csr -subj /CN={name}"));
        self.make(&format!(
            "x509 -req -in {name}.csr -CA {by}.pem -CAkey {by}.key -CAcreateserial -out {name}.pem -days 30 -extfile {kind}.cnf"
        ));
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("a file")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// `openssl s_server`; it ends with the value.
pub(crate) struct Server {
    child: ChildGuard,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(folder: &Folder, words: &str) -> Self {
        let port = closed_port();
        // The test of its keys is ours, so it may have weak ones.
        let mut command = Command::new("openssl");
        command
            .args(["s_server", "-accept", &format!("127.0.0.1:{port}"), "-cipher", "DEFAULT@SECLEVEL=0"])
            .args(words.split_whitespace())
            .current_dir(&folder.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = ChildGuard::start(&mut command);
        listens(&mut child.0, port);
        Self { child, url: format!("https://127.0.0.1:{port}/") }
    }
}

fn on_both(mut check: impl FnMut(&str)) {
    ["uring", "poll"].into_iter().for_each(&mut check);
}

pub(crate) fn succeeds(url: &str, words: &[&str]) {
    on_both(|driver| {
        let common = ["-n", "4", "-c", "1", "--driver", driver, "--output", "json", url];
        let seen = report(&output(&[words, &common].concat()));
        assert_eq!(seen["requests"]["succeeded"], 4, "{words:?}: {seen:#}");
    });
}

pub(crate) fn fails(url: &str, words: &[&str], says: [&str; 3]) {
    on_both(|driver| {
        for (language, text_of_it) in [("en_US.UTF-8", says[1]), ("zh_CN.UTF-8", says[2])] {
            let args = [words, &["-n", "2", "-c", "1", "--driver", driver, url]].concat();
            let done = onrush(&args).env("LANG", language).output().expect("the binary starts");
            let page = text(&done.stdout) + &text(&done.stderr);
            assert!(page.contains(says[0]) && page.contains(text_of_it), "{words:?} {says:?}: {page}");
        }
    });
}

/// It serves one connection after the other, and ends each with a close_notify that requires a reply: a client that
/// leaves without one delays the next. That each is answered is counted below.
#[test]
fn who_serves_one_after_the_other_is_not_kept_waiting() {
    let folder = Folder::new("www");
    folder.make(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -out c.pem -days 30 -subj /CN=x",
    );
    let server = Server::start(&folder, "-www -key k.pem -cert c.pem");
    on_both(|driver| {
        let args = ["-k", "-n", "80", "-c", "4", "--driver", driver, "--output", "json", &server.url];
        let seen = report(&output(&args));
        assert_eq!(seen["requests"]["succeeded"], 80, "{seen:#}");
        assert_eq!(seen["connections"]["tls_handshakes"], 80);
    });
}

/// A TLS server that ends each connection in one way, and records whether its close_notify was answered before the end.
struct Polite {
    port: u16,
    seen: Arc<Mutex<Vec<bool>>>,
}

#[derive(Clone, Copy)]
enum Way {
    /// After a response that has a length, with a connection that ends or stays.
    Answered(&'static str),
    /// After a response that ends with the connection.
    Endless,
    /// After a request, without a response.
    Silent,
}

impl Polite {
    fn start(way: Way) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let key = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
        let settings = ServerSettings {
            certificates: key.cert.pem().into_bytes(),
            key: key.signing_key.serialize_pem().into_bytes(),
            alpn: Vec::new(),
            clients: None,
        };
        let config = ServerConfig::new(&settings).expect("settings");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = seen.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, noted) = (config.clone(), noted.clone());
                std::thread::spawn(move || {
                    let is_answered = end_politely(stream, &config, way);
                    noted.lock().expect("nobody panics with it").extend(is_answered);
                });
            }
        });
        Self { port, seen }
    }

    /// The results of all connections, when all of them have ended.
    fn answered(&self, count: usize) -> Vec<bool> {
        wait_for("all connections have ended", || self.seen.lock().expect("nobody panics with it").len() >= count);
        std::mem::take(&mut *self.seen.lock().expect("nobody panics with it"))
    }
}

/// Whether the close_notify was answered; `None` for a connection without a request.
fn end_politely(mut stream: TcpStream, config: &ServerConfig, way: Way) -> Option<bool> {
    let mut session = config.session().expect("a session");
    let (mut plain, mut out, mut bytes) = (Vec::new(), Vec::new(), [0; 16 * 1024]);
    while !plain.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut bytes).ok().filter(|count| *count > 0)?;
        session.feed(&mut bytes[..count], &mut plain, &mut out).ok()?;
        stream.write_all(&std::mem::take(&mut out)).ok()?;
    }
    let response = match way {
        Way::Answered(stays) => format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: {stays}\r\n\r\nok"),
        Way::Endless => "HTTP/1.1 200 OK\r\n\r\nok".to_owned(),
        Way::Silent => String::new(),
    };
    session.seal(response.as_bytes(), &mut out).ok()?;
    session.close(&mut out).ok()?;
    stream.write_all(&out).ok()?;
    // Its own side stays open: the reply must come by itself, and the end of the stream after it.
    loop {
        match stream.read(&mut bytes) {
            Ok(0) | Err(_) => return Some(session.is_closed_by_peer()),
            Ok(count) => session.feed(&mut bytes[..count], &mut plain, &mut Vec::new()).ok()?,
        }
    }
}

#[test]
fn a_close_notify_is_answered() {
    for (name, way, succeeded) in [
        ("close", Way::Answered("close"), 12),
        ("keep-alive", Way::Answered("keep-alive"), 12),
        ("endless", Way::Endless, 12),
        ("silent", Way::Silent, 0),
    ] {
        let server = Polite::start(way);
        let url = format!("https://127.0.0.1:{}/", server.port);
        on_both(|driver| {
            let args = ["-k", "-n", "12", "-c", "3", "--driver", driver, "--output", "json", &url];
            let seen = report(&output(&args));
            assert_eq!(seen["requests"]["succeeded"], succeeded, "{driver}: {seen:#}");
            if succeeded == 0 {
                assert_eq!(seen["failures"][0]["reason"], "closed-early", "{seen:#}");
            }
            assert_eq!(server.answered(12), [true; 12], "{name} {driver}");
        });
    }
}

#[test]
fn weak_keys_are_named() {
    let folder = Folder::new("weak");
    folder.make("req -x509 -newkey rsa:1024 -nodes -keyout self.key -out self.pem -days 30 -subj /CN=self -addext subjectAltName=IP:127.0.0.1");
    folder.authority("weak-ca", 1_024);
    folder.authority("good-ca", 2_048);
    folder.sign("strong", "weak-ca", 2_048, "leaf");
    folder.sign("weak", "good-ca", 1_024, "leaf");
    folder.sign("strong-of-good", "good-ca", 2_048, "leaf");
    let small = ["tls (weak-key)", "has an RSA key of 1024 bits", "RSA 密钥只有 1024 位"];
    let signed = ["tls (weak-key)", "signed with an RSA key of fewer than 2048 bits", "由不足 2048 位的 RSA 密钥签发"];
    for version in ["-tls1_2", "-tls1_3"] {
        for (name, ca, says) in [
            ("self", "self", Some(small)),
            ("weak", "good-ca", Some(small)),
            ("strong", "weak-ca", Some(signed)),
            ("strong-of-good", "good-ca", None),
        ] {
            let server = Server::start(&folder, &format!("-www {version} -key {name}.key -cert {name}.pem"));
            // A client that trusts any certificate succeeds, whatever the key.
            succeeds(&server.url, &["-k"]);
            let ca = folder.path(&format!("{ca}.pem"));
            match says {
                Some(says) => fails(&server.url, &["--cacert", &ca], says),
                None => succeeds(&server.url, &["--cacert", &ca]),
            }
            let unconsented_host = ["tls (unknown-issuer)", "is not signed by a trusted CA", "签发者不受信任"];
            fails(&server.url, &[], unconsented_host);
        }
    }
}

#[test]
fn long_chains_and_large_ones_are_named() {
    const LONGEST: usize = 9;
    let folder = Folder::new("chain");
    folder.authority("ca0", 2_048);
    (1..LONGEST).for_each(|number| folder.sign(&format!("ca{number}"), &format!("ca{}", number - 1), 2_048, "ca"));
    let root = folder.path("ca0.pem");
    for intermediates in [1, 6, 7, 8] {
        folder.sign("leaf", &format!("ca{intermediates}"), 2_048, "leaf");
        let chain: String = (1..=intermediates).rev().map(|number| folder.read(&format!("ca{number}.pem"))).collect();
        std::fs::write(folder.0.join("chain.pem"), chain).expect("a file");
        let server = Server::start(&folder, "-www -key leaf.key -cert leaf.pem -cert_chain chain.pem");
        succeeds(&server.url, &["-k"]);
        if intermediates <= 6 {
            succeeds(&server.url, &["--cacert", &root]);
            continue;
        }
        let says =
            ["tls (chain-too-long)", "a chain of more than 6 intermediate certificates", "证书链超过 6 个中间证书"];
        fails(&server.url, &["--cacert", &root], says);
        // The named remedy works.
        succeeds(&server.url, &["--cacert", &folder.path("ca2.pem")]);
    }
    for (certificates, is_taken) in [(60, true), (150, false)] {
        std::fs::write(folder.0.join("chain.pem"), folder.read("ca1.pem").repeat(certificates)).expect("a file");
        for version in ["-tls1_2", "-tls1_3"] {
            let words = format!("-www {version} -key leaf.key -cert leaf.pem -cert_chain chain.pem");
            let server = Server::start(&folder, &words);
            if is_taken {
                succeeds(&server.url, &["-k"]);
            } else {
                let says = ["tls (too-large)", "more than 64 KiB of certificates", "证书超过 64 KiB 的上限"];
                fails(&server.url, &["-k"], says);
            }
        }
    }
}

#[test]
fn a_certificate_of_ours_that_is_demanded_is_named() {
    let folder = Folder::new("mutual");
    folder.authority("ca", 2_048);
    folder.authority("other-ca", 2_048);
    folder.sign("server", "ca", 2_048, "leaf");
    folder.sign("client", "ca", 2_048, "leaf");
    folder.sign("stranger", "other-ca", 2_048, "leaf");
    for version in ["-tls1_2", "-tls1_3"] {
        let words =
            format!("-www {version} -key server.key -cert server.pem -Verify 3 -verify_return_error -CAfile ca.pem");
        let server = Server::start(&folder, &words);
        let with = |name: &str| [folder.path(&format!("{name}.pem")), folder.path(&format!("{name}.key"))];
        let [cert, key] = with("client");
        succeeds(&server.url, &["-k", "--cert", &cert, "--key", &key]);
        let none = [
            "tls (client-certificate)",
            "the server asked for a client certificate, but none was given",
            "服务端要求客户端证书，但没有给出",
        ];
        fails(&server.url, &["-k"], none);
        let [cert, key] = with("stranger");
        let wrong = ["tls (client-certificate)", "does not accept ours", "不接受所给的证书"];
        fails(&server.url, &["-k", "--cert", &cert, "--key", &key], wrong);
    }
}

/// A server may demand a new handshake in the middle of a session, as some do to request a certificate.
#[test]
fn renegotiation_that_is_demanded_is_named() {
    let folder = Folder::new("again");
    folder.authority("ca", 2_048);
    for command in ["r", "R"] {
        on_both(|driver| {
            let mut server = Server::start(&folder, "-tls1_2 -legacy_renegotiation -key ca.key -cert ca.pem");
            let args = ["-k", "-n", "1", "-c", "1", "-t", "1h", "--driver", driver, "--output", "json", &server.url];
            let child = ChildGuard::start(onrush(&args).stdout(Stdio::piped()));
            let received = BufReader::new(server.child.0.stdout.take().expect("a pipe"));
            // It sends no response by itself: the request is there when it has come.
            assert!(received.lines().map_while(Result::ok).any(|line| line.contains("GET / HTTP/1.1")));
            let mut commands = server.child.0.stdin.take().expect("a pipe");
            // In one piece: separate input is no command, and goes to the client.
            commands.write_all(format!("{command}\n").as_bytes()).expect("it listens");
            let seen = report(&child.output());
            let failure = &seen["failures"][0];
            assert_eq!((&failure["reason"], &failure["detail"]), (&"tls".into(), &"renegotiation".into()), "{seen:#}");
            let remedy = failure["remedy"].as_str().expect("a text");
            assert!(remedy.contains("a new handshake within a TLS 1.2 session"), "{remedy}");
        });
    }
}
