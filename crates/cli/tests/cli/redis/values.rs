//! What is stored is what was sent, and what is read is what is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::server::Redis;
use super::{DRIVERS, load, number, scenario};
use crate::Folder;
use crate::raw::Raw;

/// The values of all keys that begin like this, by the rest of their names.
fn stored(server: &Redis, prefix: &str) -> BTreeMap<String, String> {
    let keys = server.cli(&["KEYS", &format!("{prefix}*")]);
    let keys: Vec<&str> = keys.lines().collect();
    assert!(!keys.is_empty(), "no {prefix}");
    let values = server.cli(&[&["MGET"], &keys[..]].concat());
    let values: Vec<&str> = values.lines().collect();
    assert_eq!(values.len(), keys.len());
    let names = keys.iter().map(|key| key.strip_prefix(prefix).expect("its prefix").to_owned());
    names.zip(values.into_iter().map(str::to_owned)).collect()
}

#[test]
fn values_of_users_are_stored_and_read() {
    const STEPS: &str = r#"
      - redis: [ECHO, "${uuid()}"]
        extract: {id: "json $[0]"}
      - redis: [SET, "set:${id}", "${id} is ${random(1,1000000)}"]
        expect: {json: '$[0] == "OK"'}
      - redis: [GET, "set:${id}"]
        expect: {status: OK, json: '$[0] != null'}
        extract: {got: "json $[0]"}
      - if: 'got.slice(0, 36) != id'
        then:
          - redis: [INCR, wrong]
      - redis: [[SET, "copy:${id}", "${got}"], [GET, "copy:${id}"], [SADD, all, "${id}"]]
        extract: {again: "json $[1]"}
      - if: 'again != got'
        then:
          - redis: [INCR, wrong]
"#;
    for (driver, workers) in [("uring", &[][..]), ("poll", &[]), ("uring", &["--workers", "3"])] {
        let (server, folder) = (Redis::start(), Folder::new("redis-values"));
        let steps = STEPS.trim_start_matches('\n');
        let file = folder.file("values.yaml", scenario(&server.url, "{users: 7, iterations: 200}", steps));
        let (seen, code) = load(&[&["run", &file, "--driver", driver], workers].concat());
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 800), "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/messages/received"), 1_200, "{driver}: {seen:#}");
        let (set, copies) = (stored(&server, "set:"), stored(&server, "copy:"));
        assert_eq!(set.len(), 200, "no two iterations draw the same");
        assert_eq!(set, copies, "{driver}");
        assert!(set.iter().all(|(id, value)| value.starts_with(&format!("{id} is "))), "{set:?}");
        let members: BTreeSet<String> = server.cli(&["SMEMBERS", "all"]).lines().map(str::to_owned).collect();
        assert_eq!(members, set.into_keys().collect(), "{driver}");
        assert_eq!((server.calls("incr"), server.cli(&["EXISTS", "wrong"])), (0, "0".to_owned()), "{driver}");
        assert_eq!((server.calls("set"), server.calls("echo")), (400, 200), "{driver}");
    }
}

/// Every byte of a text comes through: quotes, line ends, what looks like the protocol, other alphabets.
#[test]
fn texts_that_look_like_the_protocol_are_texts() {
    let (server, folder) = (Redis::start(), Folder::new("redis-texts"));
    let texts =
        ["", "$3\r\nabc\r\n", "*1\r\n", "a 'b' \"c\" \\ d", "压测\u{1F980}", " \t ", "-ERR no", "+OK\r\n", "${"];
    let mut steps = String::new();
    for (at, text) in texts.iter().enumerate() {
        let yaml = serde_json::to_string(&text.replace("${", "$${")).expect("JSON");
        writeln!(steps, "      - redis: [SET, \"t{at}\", {yaml}]").expect("room");
        writeln!(steps, "      - redis: [GET, \"t{at}\"]\n        extract: {{got: \"json $[0]\"}}").expect("room");
        writeln!(steps, "      - redis: [SET, \"copy{at}\", \"${{got}}\"]").expect("room");
    }
    let file = folder.file("texts.yaml", scenario(&server.url, "{users: 2, iterations: 4}", &steps));
    let (seen, code) = load(&["run", &file]);
    assert_eq!((code, number(&seen, "/requests/failed")), (Some(0), 0), "{seen:#}");
    for (at, text) in texts.iter().enumerate() {
        assert_eq!(server.cli(&["STRLEN", &format!("t{at}")]), text.len().to_string(), "{text:?}");
        let same = format!("return redis.call('GET','t{at}') == redis.call('GET','copy{at}') and 1 or 0");
        assert_eq!(server.cli(&["EVAL", &same, "0"]), "1", "{text:?}");
    }
}

#[test]
fn a_mebibyte_is_stored_and_read() {
    const LENGTH: usize = 1 << 20;
    let value: String = (0..LENGTH / 16).map(|at| format!("{at:015x}-")).collect();
    for driver in DRIVERS {
        let (server, folder) = (Redis::start(), Folder::new("redis-mebibyte"));
        let steps = [
            &format!("- redis: [SET, big, \"{value}\"]"),
            "- redis: [STRLEN, big]",
            &format!("  expect: {{json: '$[0] == {LENGTH}'}}"),
            "- redis: [GET, big]",
            "  extract: {got: 'json $[0]'}",
            "- redis: [SET, copy, \"${got}\"]",
            "- redis: [[GET, big], [GET, copy]]",
            "  expect: {json: '$[1] != null'}",
        ];
        let steps: String = steps.iter().map(|line| format!("      {line}\n")).collect();
        let file = folder.file("big.yaml", scenario(&server.url, "{users: 3, iterations: 12}", &steps));
        let (seen, code) = load(&["run", &file, "--driver", driver]);
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 60), "{driver}: {seen:#}");
        assert_eq!(server.cli(&["GET", "copy"]), value, "{driver}");
        // Three mebibytes are read in each iteration, and two are written.
        let bytes = |name: &str| number(&seen, &format!("/bytes/{name}"));
        assert!(bytes("received") >= 12 * 3 * LENGTH as u64, "{seen:#}");
        assert!(bytes("sent") >= 12 * 2 * LENGTH as u64, "{seen:#}");
    }
}

/// Each reply of a server that logs is in one histogram, once.
#[test]
fn response_times_are_as_many_as_replies() {
    let folder = Folder::new("redis-times");
    for driver in DRIVERS {
        let log: Arc<[AtomicU64; 2]> = Arc::default();
        let counts = log.clone();
        let server = Raw::start(move |mut stream, _| {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                // There is one request at a time on a connection, in one piece: it is short.
                let is_get = bytes[..count].windows(3).any(|three| three == b"GET");
                counts[usize::from(is_get)].fetch_add(1, Ordering::SeqCst);
                if stream.write_all(if is_get { b"$1\r\nv\r\n" } else { b"+OK\r\n" }).is_err() {
                    return;
                }
            }
        });
        let url = server.url("redis", "");
        let steps =
            "      - redis: [SET, k, v]\n      - redis: [GET, k]\n      - redis: [GET, k]\n        name: again\n";
        let file = folder.file("times.yaml", scenario(&url, "{users: 9, iterations: 300}", steps));
        let (seen, code) = load(&["run", &file, "--driver", driver]);
        assert_eq!(code, Some(0), "{driver}: {seen:#}");
        let logged = [0, 1].map(|at| log[at].load(Ordering::SeqCst));
        assert_eq!(logged, [300, 600], "{driver}: {seen:#}");
        for times in ["response_time", "service_time", "first_byte", "wait", "lateness"] {
            assert_eq!(number(&seen, &format!("/times/succeeded/{times}/count")), 900, "{driver} {times}: {seen:#}");
        }
        for (at, name) in ["redis SET", "redis GET", "again"].iter().enumerate() {
            assert_eq!(seen["steps"][at]["name"], *name, "{seen:#}");
            assert_eq!(number(&seen, &format!("/steps/{at}/response_time/count")), 300, "{name}: {seen:#}");
        }
        let intervals = seen["intervals"].as_array().expect("a list").iter();
        assert_eq!(intervals.map(|one| number(one, "/succeeded")).sum::<u64>(), 900, "{seen:#}");
    }
}
