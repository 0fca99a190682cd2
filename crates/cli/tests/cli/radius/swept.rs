//! What sweeps and searches keep of their command lines shows no secret.

use super::packets::{ACCEPT, Packet};
use super::secrets::files_below;
use crate::datagrams::DatagramServer;
use crate::{Folder, onrush, text};

/// These stand in no report by chance.
const SECRET: &str = "sw~3pt";
const OTHER: &str = "sw~0ther";
const PASSWORD: &str = "wonder~sw~land";

#[test]
fn a_kept_command_line_shows_no_secret() {
    let server = DatagramServer::start(|bytes, peer| {
        peer.send(&Packet(bytes.to_vec()).response(ACCEPT, &[], SECRET));
    });
    let url = server.url("radius", "");
    let vary = format!("radius-secret={SECRET},{OTHER}");
    let own = ["-t", "200ms", "--radius-resend", "off", "--radius-user", "a", "--radius-password", PASSWORD, &url];
    let secret = ["--radius-secret", SECRET];
    for (name, words, more) in [
        ("constant", &["sweep", "-n", "2", "--vary", "c=1,2", "--no-abort-on-failures"][..], &secret[..]),
        ("varied", &["sweep", "-n", "2", "--vary", &vary, "--no-abort-on-failures"], &[]),
        ("searched", &["find-max", "--budget", "5s", "--trials", "2", "--start", "100"], &secret),
    ] {
        let folder = Folder::new(&format!("radius-swept-{name}"));
        let (html, json) = (folder.path("report.html"), folder.path("report.json"));
        let files = ["--html", &html, "--json", &json, "--output", "json"];
        let mut command = onrush(&[words, &own, more, &files].concat());
        let done = command.env("XDG_DATA_HOME", folder.path("data")).output().expect("it starts");
        assert!(matches!(done.status.code(), Some(0 | 1)), "{name}: {done:?}");
        let written = files_below(&folder.0);
        for file in [&html, &json] {
            let kept = written.iter().any(|(path, shown)| path == file && shown.contains("--radius-password"));
            assert!(kept, "{name}: the command line is in {file}: {done:?}");
        }
        let kept = written.iter().filter(|(path, _)| path.contains("/data/")).count();
        assert!(kept > 0, "{name}: it is kept");
        let said = [("stdout", &done.stdout), ("stderr", &done.stderr)];
        let said = said.map(|(stream, bytes)| (stream.to_owned(), text(bytes)));
        claims::as_one(|| {
            for (file, shown) in written.into_iter().chain(said) {
                for secret in [SECRET, OTHER, PASSWORD] {
                    assert!(!shown.contains(secret), "{name} {file} shows {secret}: {shown}");
                }
            }
        });
    }
}
