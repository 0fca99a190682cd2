//! A bus with TLS on both sides.

use super::authority::{Authority, GOOD};
use super::binary::{Served, onrush, text};
use super::bus::NatsServer;
use super::folder::Folder;
use super::{Worker, of_workers, run, server_count, started};

/// Certificates of a server and of a client.
pub(crate) fn certificates(test: &str) -> Folder {
    let folder = Folder::new(test);
    let authority = Authority::new();
    authority.sign(&folder.0, "server", "localhost", GOOD);
    authority.sign(&folder.0, "client", "client", GOOD);
    folder
}

#[test]
fn a_bus_with_tls_on_both_sides() {
    let files = certificates("bus-tls");
    let [ca, cert, key] = ["ca.pem", "server.pem", "server.key"].map(|name| files.path(name));
    let bus = NatsServer::start(&["--tls", "--tlsverify", "--tlscacert", &ca, "--tlscert", &cert, "--tlskey", &key]);
    let (cert, key, server) = (files.path("client.pem"), files.path("client.key"), Served::start());
    let host = format!("localhost:{}/tls", bus.port());
    let site = format!("tls://{host}?ca={ca}&cert={cert}&key={key}");
    let _workers = [Worker::joins(&site, "one"), Worker::joins(&site, "two")];
    let words = ["--rate", "200", "-z", "3s", "--cluster", &site, "--workers", "2"];
    let report = run(&[&words[..], &[&server.url("/delay/2")]].concat());
    assert_eq!((started(&report), server_count(&server)), (600, 600));
    assert_eq!((of_workers(&report, "undelivered"), of_workers(&report, "unaccounted")), (0, 0));

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
