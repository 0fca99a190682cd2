use std::time::Duration;

use plan::{Arrivals, UserShape};

use super::*;
use crate::{Opened, parse};

struct NoFiles;

impl crate::Files for NoFiles {
    fn head(&self, _: &std::path::Path, _: usize) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

fn opened(load: &str) -> Opened {
    let text = format!("target: http://a.test\nscenarios: {{one: {{load: {load}, steps: [get: /]}}}}\n");
    parse("test.yaml", &text, &NoFiles).expect("a good file")
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn given(load: &str, flags: &Flags) -> Result<(Load, Option<u64>), String> {
    let mut opened = opened(load);
    opened.give(flags, &[]).map_err(|error| error.to_string())?;
    let one = opened.file.scenarios.remove(0);
    Ok((one.load, one.connections))
}

fn users(count: u64, duration: Option<u64>, iterations: Option<Iterations>) -> Load {
    let amount = Amount::Users { count, shape: UserShape::AtOnce };
    Load { amount, duration: duration.map(Duration::from_secs), iterations }
}

#[test]
fn one_load_wins_over_another() {
    let of = Flags::default;
    let together = |count| Some(Iterations::Together(count));
    let closed = "{users: 5, for: 10s}";
    for (load, flags, expect) in [
        (closed, Flags { connections: some("7"), ..of() }, users(7, Some(10), None)),
        (closed, Flags { duration: some("3s"), ..of() }, users(5, Some(3), None)),
        (closed, Flags { requests: some("30"), ..of() }, users(5, None, together(30))),
        (closed, Flags { requests: some("30"), duration: some("3s"), ..of() }, users(5, Some(3), together(30))),
        ("{users: 5, iterations: 9}", Flags { duration: some("3s"), ..of() }, users(5, Some(3), None)),
        (
            "{users: 5, iterations_per_user: 9}",
            Flags { connections: some("2"), ..of() },
            users(2, None, Some(Iterations::Each(9))),
        ),
        ("{users: 5, iterations_per_user: 9}", Flags { requests: some("4"), ..of() }, users(5, None, together(4))),
        ("{users: [\"5:1s\", \"0:1s\"]}", Flags { connections: some("2"), ..of() }, users(2, Some(2), None)),
    ] {
        let (seen, connections) = given(load, &flags).unwrap_or_else(|error| panic!("{load} {flags:?}: {error}"));
        // A load that would end only by its count has no time.
        assert_eq!((seen, connections), (expect, None), "{load}");
    }
    let (seen, connections) =
        given(closed, &Flags { rate: some("100"), connections: some("9"), ..of() }).expect("good");
    let Amount::Rate { stages, arrivals, .. } = seen.amount else { panic!("a rate") };
    assert_eq!(
        (stages.len(), stages[0].span, arrivals, connections),
        (1, Duration::from_secs(10), Arrivals::Even, Some(9))
    );
    let rate = "{rate: 50/s, for: 10s, arrivals: poisson}";
    let (seen, _) = given(rate, &Flags { rate: some("100"), duration: some("2s"), ..of() }).expect("good");
    let Amount::Rate { stages, arrivals, .. } = seen.amount else { panic!("a rate") };
    assert_eq!((stages[0].from, stages[0].span), (100 * plan::RATE_UNIT, Duration::from_secs(2)));
    assert!(matches!(arrivals, Arrivals::Poisson { .. }));
    let (seen, _) = given(rate, &Flags { stages: some("5:1s,9:2s"), ..of() }).expect("good");
    let Amount::Rate { stages, .. } = seen.amount else { panic!("a rate") };
    assert_eq!(stages.len(), 2);
    let (seen, connections) = given(rate, &Flags { user_stages: some("5:1s,9:2s"), ..of() }).expect("good");
    assert!(matches!(seen.amount, Amount::Users { count: 9, shape: UserShape::Stages(_) }) && connections.is_none());
}

#[test]
fn what_steps_do_not_say_comes_from_flags() {
    let text = "target: http://a.test\ndefaults: {timeout: 9s, headers: {X-A: file, X-B: file}, location: true, http: 2}\n\
                run: {seed: 1, grace: 1s, allow_host: a}\nscenarios: {one: {load: {users: 1, for: 1s}, steps: [get: /]}}\n";
    let mut opened = parse("test.yaml", text, &NoFiles).expect("a good file");
    let flags = Flags {
        timeout: some("3s"),
        headers: vec!["x-a: flag".to_owned()],
        http11: true,
        insecure: true,
        seed: some("7"),
        grace: some("2s"),
        interval: some("500ms"),
        warmup: some("1s"),
        ignores_failures: true,
        budget: some("requests=5"),
        consents: vec!["b".to_owned()],
        expect_status: some("404"),
        ..Flags::default()
    };
    opened.give(&flags, &[]).expect("good flags");
    let (file, secs) = (&opened.file, Duration::from_secs);
    let draft = &file.defaults.flags;
    assert_eq!((draft.request.timeout, draft.responses.location), (Some(secs(3)), true));
    assert!(draft.connection.security.insecure && draft.responses.status.is_some());
    assert_eq!(draft.connection.version, Some(plan::Version::Http11));
    assert_eq!(file.defaults.headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["X-B"]);
    assert_eq!(draft.request.headers[0].name, "x-a");
    let run = &file.run;
    assert_eq!((run.seed, run.grace, run.warmup, run.ignores_failures), (Some(7), Some(secs(2)), Some(secs(1)), true));
    assert_eq!((run.interval, &run.consents[..]), (Some(secs(1) / 2), &["a".to_owned(), "b".to_owned()][..]));
    assert!(run.budget.is_some());
}

#[test]
fn what_cannot_stand_beside_a_file_is_reported() {
    let text = "target: http://a.test\nscenarios:\n  one: {load: {users: 1, for: 1s}, steps: [get: /]}\n  \
                two: {load: {users: 1, for: 1s}, steps: [get: /]}\n";
    let two = parse("test.yaml", text, &NoFiles).expect("a good file");
    let of = Flags::default;
    for (flags, only, expect) in [
        (Flags { connections: some("2"), ..of() }, "", Some("-c is the load of one scenario, and 2 of them run")),
        (Flags { connections: some("2"), ..of() }, "two", None),
        (Flags { rate: some("2"), ..of() }, "", Some("--only NAME: one, two")),
        (Flags { method: some("PUT"), ..of() }, "", Some("-X describes one request")),
        (Flags { data: some("x"), ..of() }, "", Some("-d describes one request")),
        (Flags { urls: some("x"), ..of() }, "", Some("--urls describes one request")),
        (Flags { timeout: some("soon"), ..of() }, "", Some("-t")),
        (Flags { seed: some("x"), ..of() }, "", Some("--seed wants a whole number")),
        (Flags { ramp: some("1s"), rendezvous: true, ..of() }, "one", Some("--rendezvous")),
    ] {
        let only: Vec<String> = [only].iter().filter(|name| !name.is_empty()).map(|&name| name.to_owned()).collect();
        let reported = two.clone().give(&flags, &only).map_err(|error| error.to_string());
        match (reported, expect) {
            (Ok(()), None) => {}
            (Err(error), Some(expect)) => assert!(error.contains(expect), "{error}"),
            (reported, _) => panic!("{flags:?}: {reported:?}"),
        }
    }
}
