//! Bodies of many bytes: they are in memory once, for all senders and connections.

use std::path::PathBuf;

use crate::binary::Served;
use crate::hostile::Held;

const MIB: u64 = 1024 * 1024;
const BODY_MIB: u64 = 64;
/// Beside the one copy, pieces on their way to the kernel, and what a reader asks for ahead.
const MOST_MIB: u64 = BODY_MIB + BODY_MIB / 2;

/// A folder with a large file and a small one; it goes with the value.
struct Files(PathBuf);

impl Files {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("onrush-large-bodies-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let files = Self(folder);
        std::fs::write(files.path("large"), vec![b'x'; (BODY_MIB * MIB) as usize]).expect("it is written");
        std::fs::write(files.path("small"), b"x").expect("it is written");
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The most memory, in KiB, of a load in which each of three connections sends a body.
fn peak_kib(words: &[&str]) -> u64 {
    let held = Held::run(words, &|| false);
    let kib = held.kib;
    let report = held.report();
    let [started, succeeded] = ["started", "succeeded"].map(|name| report["requests"][name].as_u64());
    assert!(started >= Some(3) && succeeded == started, "{words:?}: {}", report["failures"]);
    kib
}

/// What is measured of a way: how much more memory a large file takes than a small one.
fn grown_kib(files: &Files, words: impl Fn(&str) -> Vec<String>) -> (Vec<String>, u64) {
    let of = |name: &str| {
        let words = words(&files.path(name));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        peak_kib(&words)
    };
    (words("FILE"), of("large").saturating_sub(of("small")))
}

/// A load of three connections, each with one request.
fn words(text: &str) -> Vec<String> {
    format!("-c 3 -n 3 --threads 2 {text}").split(' ').map(str::to_owned).collect()
}

#[test]
fn a_body_from_a_file_is_in_memory_once() {
    let files = Files::new();
    let http = Served::start();
    let https = Served::with(&["--tls"]);
    let mut ways = Vec::new();
    for driver in ["poll", "uring"] {
        for url in [&http, &https] {
            let url = url.url("/");
            ways.push(grown_kib(&files, |file| words(&format!("--driver {driver} -k -d @{file} {url}"))));
            ways.push(grown_kib(&files, |file| words(&format!("--driver {driver} -k --http2 -d @{file} {url}"))));
        }
        let url = http.url("/");
        ways.push(grown_kib(&files, |file| {
            let scenario = files.path("load.yaml");
            let load = "load: {users: 3, iterations: 3}";
            // Two steps have the same file.
            let step = format!("      - post: {url}\n        body: {{file: {file}}}\n");
            let text = format!("scenarios:\n  s:\n    {load}\n    steps:\n{step}{step}");
            std::fs::write(&scenario, text).expect("it is written");
            ["run", "--no-save", "--threads", "2", "--driver", driver, &scenario].map(str::to_owned).to_vec()
        }));
        let url = http.url("/bytes/1");
        for curl in ["-F a=@", "--data-binary @", "-d @", "-H Transfer-Encoding:chunked --data-binary @", "-T "] {
            ways.push(grown_kib(&files, |file| words(&format!("--driver {driver} curl -X POST {url} {curl}{file}"))));
        }
    }
    for (words, kib) in ways {
        assert!(kib < MOST_MIB * 1024, "{words:?}: {kib} KiB more for a file of {BODY_MIB} MiB");
        assert!(kib > BODY_MIB * 1024 / 2, "{words:?}: {kib} KiB more: it is not in memory at all?");
    }
}
