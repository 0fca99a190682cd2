//! A bus whose connections are secured, on both sides.

use super::authority::{Authority, GOOD};
use super::binary::{Served, onrush, text};
use super::bus::NatsServer;
use super::{Worker, of_workers, run, server_count, started};

/// Certificates in a folder that goes with the value.
struct Files(std::path::PathBuf);

impl Files {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("onrush-bus-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let authority = Authority::new();
        authority.sign(&folder, "server", "localhost", GOOD);
        authority.sign(&folder, "client", "client", GOOD);
        Self(folder)
    }

    fn of(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_bus_with_tls_on_both_sides() {
    let files = Files::new();
    let [ca, cert, key] = ["ca.pem", "server.pem", "server.key"].map(|name| files.of(name));
    let bus = NatsServer::start(&["--tls", "--tlsverify", "--tlscacert", &ca, "--tlscert", &cert, "--tlskey", &key]);
    let (cert, key, server) = (files.of("client.pem"), files.of("client.key"), Served::start());
    let host = format!("localhost:{}/tls", bus.port());
    let site = format!("tls://{host}?ca={ca}&cert={cert}&key={key}");
    let _workers = [Worker::joins(&site, "one"), Worker::joins(&site, "two")];
    let words = ["--rate", "200", "-z", "3s", "--cluster", &site, "--workers", "2"];
    let report = run(&[&words[..], &[&server.url("/delay/2")]].concat());
    assert_eq!((started(&report), server_count(&server)), (600, 600));
    assert_eq!((of_workers(&report, "undelivered"), of_workers(&report, "unknown")), (0, 0));

    let cases = [
        (format!("nats://{host}"), "no TLS with the bus"),
        (format!("tls://{host}"), "no TLS with the bus"),
        (format!("tls://{host}?ca={ca}"), "CertificateRequired"),
        (format!("tls://127.0.0.1:{}/tls?ca={ca}&cert={cert}&key={key}", bus.port()), "no TLS with the bus"),
        (format!("tls://{host}?ca=/nowhere/ca.pem"), "/nowhere/ca.pem: No such file"),
        (format!("tls://{host}?ca={key}"), "ca= there is no PEM certificate in it"),
        (format!("tls://{host}?key={key}"), "key= needs cert="),
    ];
    for (site, says) in cases {
        for language in ["en", "zh"] {
            let done = onrush(&["worker", "--join", &site]).args(["--lang", language]).output().expect("it starts");
            let said = text(&done.stderr);
            assert!(!done.status.success() && said.lines().count() <= 3, "{site}: {said}");
            let is_said = if language == "zh" { said.contains("总线") } else { said.contains(says) };
            assert!(is_said, "{site}: {said}");
        }
    }
    assert_eq!(server_count(&server), 600, "nobody else did anything");
}
