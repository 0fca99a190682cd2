//! Names from a file: each comes once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::messages::Query;
use crate::Folder;
use crate::datagrams::{DatagramServer, datagrams};
use crate::loads::{load, number};

/// The names that came, and how often.
type Counts = Arc<Mutex<BTreeMap<String, u64>>>;

fn counting() -> (DatagramServer, Counts) {
    let counts = Counts::default();
    let own = counts.clone();
    let server = DatagramServer::start(move |bytes, peer| {
        let query = Query::read(bytes);
        *own.lock().expect("it lives").entry(query.name()).or_default() += 1;
        peer.send(&query.response());
    });
    (server, counts)
}

#[test]
fn each_name_of_a_file_comes_once() {
    let count = if claims::seeds::is_long() { 1_000_000 } else { 10_000 };
    let folder = Folder::new("dns-names");
    let name = |number: u32| format!("host-{number}.{}.many.test", number % 97);
    let rows: String = (0..count).map(|number| format!("{number},{}\n", name(number))).collect();
    folder.file("names.csv", format!("id,name\n{rows}"));
    for (driver, more) in [("uring", &[][..]), ("poll", &["--threads", "2"]), ("uring", &["--workers", "3"])] {
        let (server, counts) = counting();
        let file = folder.file(
            "names.yaml",
            format!(
                "target: {}\ndata:\n  names: {{file: names.csv, sharing: unique}}\nscenarios:\n  users:\n    \
                 load: {{users: 9, iterations: {count}}}\n    steps:\n      - dns: \"${{names.name}}\"\n",
                server.url("dns", "")
            ),
        );
        let (seen, code) = load(&[&["run", &file, "-t", "1h", "--driver", driver], more].concat());
        let what = format!("{driver} {more:?}");
        assert_eq!(code, Some(0), "{what}: {seen:#}");
        assert_eq!(number(&seen, "/requests/succeeded"), u64::from(count), "{what}: {seen:#}");
        assert_eq!(datagrams(&seen), [], "{what}: {seen:#}");
        let counts = counts.lock().expect("it lives");
        let expected: BTreeMap<String, u64> = (0..count).map(|number| (name(number), 1)).collect();
        assert!(
            *counts == expected,
            "{what}: {} names, {} of them once",
            counts.len(),
            counts.values().filter(|one| **one == 1).count()
        );
    }
}
