//! Our parsing of certificates compared with that of `openssl x509`.

use std::collections::BTreeSet;
use std::process::Command;

use wire::certificate::Certificate;

use crate::openssl::Folder;

/// Kinds of keys, with their bits for RSA.
const KEYS: [(&str, Option<usize>); 6] = [
    ("rsa:1024", Some(1_024)),
    ("rsa:1536", Some(1_536)),
    ("rsa:2048", Some(2_048)),
    ("ec -pkeyopt ec_paramgen_curve:P-256", None),
    ("ec -pkeyopt ec_paramgen_curve:P-384", None),
    ("ed25519", None),
];
const SUBJECTS: [&str; 7] = [
    "/CN=example.org",
    "/C=CN/ST=Zhejiang/L=Hangzhou/O=Example/OU=Load/CN=example.org",
    "/O=示例公司/CN=例子.测试",
    "/CN=a+OU=b/O=c",
    "/CN=with, comma/O=quoted \"word\" = sign",
    "/emailAddress=a@example.org/DC=org/DC=example/UID=u1",
    "/serialNumber=12/title=t/GN=given/SN=sur/street=s/postalCode=1/1.2.3.4=own",
];
const NAMES: [&str; 5] = [
    "",
    "DNS:example.org",
    "DNS:example.org,DNS:*.example.org,IP:127.0.0.1,IP:::1,IP:2001:db8::7",
    "email:a@example.org,URI:https://example.org/,RID:1.2.3.4,DNS:last.example.org",
    "IP:10.0.0.1",
];
/// The number of certificates.
const ROUNDS: usize = 14;
/// Days of validity: with two-digit years, with four-digit years, and past.
const DAYS: [&str; 3] = ["30", "20000", "-1"];

/// The output of an openssl command, without its key before `=` or its heading.
fn reported(folder: &Folder, words: &str) -> String {
    let done = Command::new("openssl").args(words.split(' ')).current_dir(&folder.0).output().expect("openssl");
    assert!(done.status.success(), "{words}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
}

/// The names of hosts and addresses, in our notation.
fn names_of(text: &str) -> BTreeSet<String> {
    let parts = text.lines().skip(1).flat_map(|line| line.trim().split(", "));
    let names = parts.filter_map(|part| match part.split_once(':')? {
        ("DNS", name) => Some(name.to_owned()),
        ("IP Address", address) => {
            // It writes all eight groups of an IPv6 address.
            let parsed = address.parse::<std::net::IpAddr>();
            Some(parsed.map_or_else(|error| panic!("{address}: {error}"), |address| address.to_string()))
        }
        _ => None,
    });
    names.collect()
}

/// Translates the kinds that openssl calls by other names.
fn ours(line: &str) -> String {
    [
        ("emailAddress=", "Email="),
        ("UID=", "uid="),
        ("GN=", "givenName="),
        ("SN=", "surname="),
        ("street=", "streetAddress="),
    ]
    .iter()
    .fold(line.to_owned(), |line, (theirs, ours)| line.replace(theirs, ours))
}

#[test]
fn certificates_say_what_openssl_reads_in_them() {
    let folder = Folder::new("certificates");
    // The numbers of keys, subjects, names and times have little in common, so each is combined with several of the
    // others.
    for round in 0..ROUNDS {
        let ((key, bits), subject) = (KEYS[round % KEYS.len()], SUBJECTS[round % SUBJECTS.len()]);
        let extensions = match NAMES[round % NAMES.len()] {
            "" => "basicConstraints=critical,CA:TRUE\n".to_owned(),
            names => format!("keyUsage=critical,digitalSignature\nsubjectAltName={names}\n"),
        };
        std::fs::write(folder.0.join("names.cnf"), extensions).expect("a file");
        make(&folder, &format!("req -new -utf8 -newkey {key} -nodes -keyout key.pem -out request.pem"), subject);
        let days = DAYS[round % DAYS.len()];
        folder.make(&format!("x509 -req -in request.pem -signkey key.pem -days {days} -extfile names.cnf -out c.pem"));
        folder.make("x509 -in c.pem -outform DER -out c.der");
        compare(&folder, bits);
    }
}

/// A command whose last word may have spaces.
fn make(folder: &Folder, words: &str, subject: &str) {
    let words = words.split(' ').chain(["-multivalue-rdn", "-subj", subject]);
    let made = Command::new("openssl").args(words).current_dir(&folder.0).output().expect("openssl");
    assert!(made.status.success(), "{subject}: {}", String::from_utf8_lossy(&made.stderr));
}

fn compare(folder: &Folder, bits: Option<usize>) {
    let der = std::fs::read(folder.0.join("c.der")).expect("a file");
    let read = Certificate::read(&der).expect("a certificate");
    let line = |what: &str| {
        let reported =
            reported(folder, &format!("x509 -in c.pem -noout {what} -nameopt utf8,sep_comma_plus_space,sname"));
        reported.split_once('=').expect("a key and a value").1.to_owned()
    };
    assert_eq!(read.subject.to_string(), ours(&line("-subject")));
    assert_eq!(read.issuer.to_string(), ours(&line("-issuer")));
    assert!(read.is_self_signed());
    for (ours, what) in [(read.not_before, "-startdate"), (read.not_after, "-enddate")] {
        assert_eq!(ours.to_string(), line(what).replace("GMT", "+00:00"));
        let seconds = Command::new("date").args(["-u", "-d", &line(what), "+%s"]).output().expect("date");
        assert_eq!(ours.unix_seconds().to_string(), String::from_utf8_lossy(&seconds.stdout).trim());
    }
    assert_eq!(read.rsa_bits, bits);
    assert_eq!(
        read.names().collect::<BTreeSet<_>>(),
        names_of(&reported(folder, "x509 -in c.pem -noout -ext subjectAltName"))
    );
}
