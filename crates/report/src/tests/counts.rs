//! One of a thing is one: `1 request`, never `1 requests`.

use super::*;

const SCREEN: Screen = Screen { language: Language::En, room: None, is_colorful: false, is_full: true };

/// Words that end so and stand for one; two are names of failures.
const SINGULAR: [&str; 18] = [
    "status", "tls", "was", "is", "has", "this", "its", "us", "ms", "ns", "access", "address", "process", "class",
    "starts", "needs", "shows", "times",
];

/// What stands behind a single 1 and is said of several.
fn singular(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(3).chain(words.len().checked_sub(2).map(|last| &words[last..])).find_map(|three| {
        let is_one = three[0].trim_start_matches(['(', '[']) == "1";
        // What is abbreviated tells nothing of how many: 1 TLS handshakes.
        let noun = if three[1].chars().all(|each| each.is_ascii_uppercase()) { three.get(2)? } else { &three[1] };
        let noun = noun.trim_end_matches([',', '.', ';', ')', ']', ':']);
        let is_plural = noun.len() > 2 && noun.ends_with('s') && noun.chars().all(|each| each.is_ascii_lowercase());
        // The name of a failure stands before its cause: 1 dns - ...
        let is_name = three.get(2) == Some(&"-");
        (is_one && is_plural && !is_name && !SINGULAR.contains(&noun)).then(|| three.join(" "))
    })
}

#[test]
fn several_are_reported_from_one() {
    for (text, wrong) in [
        ("1 requests were sent", Some("1 requests were")),
        ("and (1 users, 2 s)", Some("(1 users, 2")),
        ("1 TLS handshakes", Some("1 TLS handshakes")),
        ("sent 1 connections", Some("1 connections")),
        ("1 request was sent", None),
        ("11 requests, 1.1 requests", None),
        ("1 s", None),
        ("1 dns - the name is unknown", None),
        ("thread 1 was late", None),
        ("1,001 requests", None),
        ("1", None),
        ("", None),
    ] {
        assert_eq!(singular(text).as_deref(), wrong, "{text}");
    }
}

/// Loads of one user and one request, however they end.
#[test]
fn one_of_a_thing_is_reported_as_one() {
    let some = |text: &str| Some(text.to_owned());
    let one = Flags { url: some("http://127.0.0.1:8080/"), connections: some("1"), ..Flags::default() };
    let plans = [
        Flags { requests: some("1"), ..one.clone() },
        Flags { ramp: some("1s"), ..one.clone() },
        Flags { rendezvous: true, ..one.clone() },
        Flags { rate: some("10/s"), ..one },
    ];
    let mut wrong = std::collections::BTreeSet::new();
    for plan in plans {
        let plan = plan.plan().expect("a good plan");
        for failure in std::iter::once(None).chain(Failure::all().map(Some)) {
            let failures: Vec<(Failure, u64)> = failure.into_iter().map(|failure| (failure, 1)).collect();
            for successes in [0, 1] {
                let run = run(&plan, result(seen(successes, &failures)));
                for text in [summary(&run, SCREEN), nothing_measured(&run, Language::En)] {
                    wrong.extend(singular(&text).map(|said| format!("{failure:?}: {said}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_screen_tells_one_as_several() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("screens");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("the folder is there").flatten() {
        if file.file_name().to_string_lossy().starts_with("en-") {
            let text = std::fs::read_to_string(file.path()).expect("a screen");
            assert_eq!(singular(&text), None, "{}", file.path().display());
            seen += 1;
        }
    }
    assert!(seen >= 3, "{seen}");
}
