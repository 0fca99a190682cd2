//! Keys of every kind that servers have, and the limits of this build's crypto.

use crate::binary::{Served, onrush, text};
use crate::openssl::{Folder, Server, fails, succeeds};

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

/// Verified and not, in both versions of TLS; and as client certificates for a server that requests one.
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

/// A kind of key that this build's crypto lacks is named, with the remedy, on either side.
#[test]
fn keys_of_p521_are_named() {
    let folder = Folder::new("p521");
    certificate(&folder, "large", "-newkey ec -pkeyopt ec_paramgen_curve:P-521");
    certificate(&folder, "small", "-newkey ec -pkeyopt ec_paramgen_curve:P-256");
    folder.make("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout leaf.key -out leaf.csr -subj /CN=leaf");
    folder.make("x509 -req -in leaf.csr -CA large.pem -CAkey large.key -CAcreateserial -out leaf.pem -days 30 -extfile leaf.cnf");
    let path = |file: &str| folder.0.join(file).display().to_string();
    let (authority, own) = (path("large.pem"), path("large.key"));
    for version in ["-tls1_2", "-tls1_3"] {
        let server = Server::start(&folder, &format!("-www {version} -cert large.pem -key large.key"));
        let says =
            ["tls (nothing-in-common)", "if its key is of P-521, use a package", "如果服务端密钥是 P-521，请用安装包"];
        fails(&server.url, &["--cacert", &authority], says);
        fails(&server.url, &["-k"], says);
        let server = Server::start(&folder, &format!("-www {version} -cert leaf.pem -key leaf.key"));
        let says = ["tls (unsupported-key)", "cannot verify, such as P-521", "（如 P-521）是此构建无法校验的类型"];
        fails(&server.url, &["--cacert", &authority], says);
        succeeds(&server.url, &["-k"]);
        let server = Server::start(&folder, &format!("-www {version} -Verify 1 -cert small.pem -key small.key"));
        let says = ["P-521", "which this build does not speak; packages do", "此构建不支持 P-521 的密钥；请用安装包"];
        fails(&server.url, &["-k", "--cert", &authority, "--key", &own], says);
    }
}

/// A server that accepts only its own names.
#[test]
fn a_name_that_a_server_does_not_serve_is_reported() {
    let folder = Folder::new("names");
    certificate(&folder, "one", "-newkey ec -pkeyopt ec_paramgen_curve:P-256");
    for version in ["-tls1_2", "-tls1_3"] {
        let words = format!(
            "-www {version} -cert one.pem -key one.key -servername here.example -servername_fatal -cert2 one.pem -key2 one.key"
        );
        let server = Server::start(&folder, &words);
        let says = ["tls (unknown-name)", "TLS alert unrecognized_name", "TLS 警报 unrecognized_name"];
        fails(&server.url, &["-k", "--sni", "there.example"], says);
        succeeds(&server.url, &["-k", "--sni", "here.example"]);
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

/// The crypto library aborts the process on an unsupported CPU; we report that first. Test builds can simulate it.
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
    // Commands without crypto run as usual.
    let plain = Served::start();
    let done = onrush(&["-n", "1", &plain.url("/")]).env("GRAVIOLA_CPU_DISABLE_adx", "1").output();
    assert!(done.expect("the binary starts").status.success());
}
