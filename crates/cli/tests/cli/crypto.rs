//! Keys of every kind that servers have, and what the crypto of this build cannot do.

use crate::binary::{Served, onrush, text};
use crate::openssl::{Folder, Server, succeeds};

/// Kinds of keys as openssl names them.
const KINDS: [(&str, &str); 7] = [
    ("rsa2048", "-newkey rsa:2048"),
    ("rsa3072", "-newkey rsa:3072"),
    ("rsa4096", "-newkey rsa:4096"),
    ("sha512", "-newkey rsa:2048 -sha512"),
    ("p256", "-newkey ec -pkeyopt ec_paramgen_curve:P-256"),
    ("p384", "-newkey ec -pkeyopt ec_paramgen_curve:P-384"),
    ("ed25519", "-newkey ed25519"),
];

fn certificate(folder: &Folder, name: &str, kind: &str) {
    folder.make(&format!(
        "req -x509 {kind} -nodes -keyout {name}.key -out {name}.pem -days 30 -subj /CN={name} -addext subjectAltName=IP:127.0.0.1"
    ));
}

/// Verified and not, in both versions of TLS; and shown by us to a server that asks for it.
#[test]
fn keys_of_every_kind_are_verified_and_shown() {
    let folder = Folder::new("kinds");
    for (name, kind) in KINDS {
        certificate(&folder, name, kind);
    }
    for (name, _) in KINDS {
        let (pem, key) = (format!("{name}.pem"), format!("{name}.key"));
        let path = |file: &str| folder.0.join(file).display().to_string();
        for version in ["-tls1_2", "-tls1_3"] {
            let server = Server::start(&folder, &format!("-www {version} -cert {pem} -key {key}"));
            succeeds(&server.url, &["--cacert", &path(&pem)]);
            succeeds(&server.url, &["-k"]);
            let server =
                Server::start(&folder, &format!("-www {version} -Verify 1 -CAfile {pem} -cert {pem} -key {key}"));
            succeeds(&server.url, &["-k", "--cert", &path(&pem), "--key", &path(&key)]);
        }
    }
}

#[test]
fn each_group_is_spoken() {
    let served = Served::with(&["--tls"]);
    let url = served.url.replace("http://", "https://");
    for group in ["X25519MLKEM768", "x25519", "secp256r1", "P-256", "secp384r1", "P-384"] {
        succeeds(&url, &["-k", "--tls-groups", group]);
    }
    for group in ["MLKEM768", "secp256r1mlkem768"] {
        for (language, says) in [("en_US.UTF-8", "packages do, and builds with"), ("zh_CN.UTF-8", "请用安装包")] {
            let args = ["-n", "1", "-k", "--tls-groups", group, &url];
            let done = onrush(&args).env("LANG", language).output().expect("the binary starts");
            let said = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{said}");
            assert!(said.contains(group) && said.contains(says) && said.contains("--features aws-lc"), "{said}");
        }
    }
}

/// The crypto ends the process on a CPU that it does not serve; we say so first. Builds for tests let it think so.
#[test]
fn a_cpu_that_is_too_old_is_named() {
    let served = Served::with(&["--tls"]);
    let url = served.url.replace("http://", "https://");
    for lacks in ["aes", "avx2", "adx"] {
        for args in [&["-n", "1", "-k", &url][..], &["serve", "--tls", "--listen", "127.0.0.1:0"]] {
            for (language, says) in [("en_US.UTF-8", "packages do, and builds with"), ("zh_CN.UTF-8", "请用安装包")]
            {
                let mut command = onrush(args);
                command.env("LANG", language).env(format!("GRAVIOLA_CPU_DISABLE_{lacks}"), "1");
                let done = command.output().expect("the binary starts");
                let said = text(&done.stderr);
                assert_eq!(done.status.code(), Some(2), "{args:?} without {lacks}: {said}");
                assert!(said.contains(says) && said.contains("--features aws-lc"), "{said}");
            }
        }
    }
    // What needs no crypto runs as ever.
    let plain = Served::start();
    let done = onrush(&["-n", "1", &plain.url("/")]).env("GRAVIOLA_CPU_DISABLE_adx", "1").output();
    assert!(done.expect("the binary starts").status.success());
}
