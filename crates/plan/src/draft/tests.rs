use std::time::Duration;

use super::*;
use crate::{Arrivals, Flags, Header, RateStage, StatusSet, TextCheck, UserStage, Version};

fn address(text: &str) -> Option<Address> {
    Some(Address::parse(text).expect("a URL"))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// A draft of values and one of typed texts make the same plan.
#[test]
fn values_and_texts_make_the_same_plan() {
    let draft = Draft {
        url: address("http://h:81/a"),
        load: Load {
            connections: Some(7),
            rate: Some(1_000 * 3_600_000),
            duration: Some(Duration::from_secs(90)),
            max_lateness: Some(Duration::from_millis(20)),
            ..Load::default()
        },
        request: Request {
            headers: vec![Header::new("X-A", "1"), Header::without("Accept")],
            body: Some(Body::Bytes(b"abc".to_vec().into())),
            timeout: Some(Duration::from_secs(3)),
            ..Request::default()
        },
        responses: ResponseChecks {
            status: Some(StatusSet::one(204)),
            bodies: vec![TextCheck::parse("--expect-body", "ok").expect("a check")],
            ..ResponseChecks::default()
        },
        connection: Connection { version: Some(Version::Http2), streams: Some(4), ..Connection::default() },
        grace: Some(Duration::ZERO),
        ..Draft::default()
    };
    let flags = Flags {
        url: some("h:81/a"),
        connections: some("7"),
        rate: some("1000"),
        duration: some("1m30s"),
        max_lateness: some("20ms"),
        headers: vec!["X-A: 1".to_owned(), "Accept:".to_owned()],
        data: some("abc"),
        timeout: some("3s"),
        expect_status: some("204"),
        expect_body: vec!["ok".to_owned()],
        http2: true,
        streams: some("4"),
        grace: some("0s"),
        ..Flags::default()
    };
    assert_eq!(flags.draft(), Ok(draft.clone()));
    assert_eq!(draft.plan(), flags.plan());
}

/// The limits for typed texts apply to the values of a draft, too.
#[test]
fn bounds_hold_for_values_too() {
    let url = address("http://h/");
    let load = |load: Load| Draft { url: url.clone(), load, ..Draft::default() };
    let rate = |rate: u64| load(Load { rate: Some(rate), ..Load::default() });
    let second = Duration::from_secs(1);
    let cases: Vec<(Draft, &str)> = vec![
        (
            load(Load { connections: Some(0), ..Load::default() }),
            "-c wants a whole number from 1 to 10,000,000, not '0'",
        ),
        (load(Load { connections: Some(10_000_001), ..Load::default() }), "not '10000001'"),
        (load(Load { requests: Some(0), ..Load::default() }), "-n wants a whole number"),
        (load(Load { duration: Some(Duration::ZERO), ..Load::default() }), "-z wants at least 1ms, not '0s'"),
        (load(Load { duration: Some(Duration::MAX), ..Load::default() }), "-z wants a time"),
        (rate(0), "-q wants a rate"),
        (rate(u64::MAX), "at most 100,000,000 a second"),
        (load(Load { ramp: Some(Ramp::Rate(0)), ..Load::default() }), "--ramp wants a rate"),
        (
            load(Load { ramp: Some(Ramp::Over(Duration::ZERO)), ..Load::default() }),
            "--ramp wants at least 1ms, not '0s'",
        ),
        (load(Load { ramp: Some(Ramp::Over(Duration::MAX)), ..Load::default() }), "--ramp wants a time"),
        (load(Load { arrivals: Some(Arrivals::Even), ..Load::default() }), "--arrivals needs a rate"),
        (
            load(Load {
                stages: Some(Stages::Users(vec![UserStage { from: 1, to: 1, span: second }])),
                duration: Some(second),
                ..Load::default()
            }),
            "-z and --user-stages cannot be given together",
        ),
        (
            load(Load {
                stages: Some(Stages::Rate(vec![RateStage { from: 0, to: 0, span: second }])),
                ..Load::default()
            }),
            "--stages makes no start",
        ),
        (load(Load { shuffle: true, ..Load::default() }), "--shuffle needs"),
        (Draft { url: url.clone(), interval: Some(Duration::from_millis(99)), ..Draft::default() }, "at least 100ms"),
        (Draft { url: url.clone(), grace: Some(Duration::MAX), ..Draft::default() }, "--grace wants a time"),
        (
            Draft {
                url: url.clone(),
                request: Request { timeout: Some(Duration::ZERO), ..Request::default() },
                ..Draft::default()
            },
            "-t wants at least 1ms",
        ),
        (
            Draft {
                url: address("ws://h/"),
                request: Request { body: Some(Body::Random { count: 1 << 40, seed: 1 }), ..Request::default() },
                ..Draft::default()
            },
            "--data-bytes wants a whole number",
        ),
        (
            Draft {
                url: address("https://h/"),
                connection: Connection { streams: Some(10_001), ..Connection::default() },
                ..Draft::default()
            },
            "--streams wants a whole number from 1 to 10,000",
        ),
    ];
    for (draft, part) in cases {
        let error = draft.plan().expect_err(part).to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// A form is sent to the address as typed, whatever curl would make of it.
#[test]
fn a_form_goes_where_it_is_said() {
    for url in ["http://h/a[1-3]", "http://h/{a,b}", "http://h/?ids[]=1", "http://[::1]:81/x", "h:81/%5B"] {
        let flags = Flags {
            url: some(url),
            form: vec!["name=value".to_owned(), "other={x}".to_owned()],
            headers: vec!["X-Empty;".to_owned(), "X-Full: a;b".to_owned(), "Accept:".to_owned()],
            ..Flags::default()
        };
        let plan = flags.plan().unwrap_or_else(|error| panic!("{url}: {error}"));
        let plain = Flags { form: Vec::new(), ..flags.clone() }.plan().expect("a plan");
        let (step, bare) = (&plan.scenarios[0].steps[0], &plain.scenarios[0].steps[0]);
        assert_eq!((step.request.method.as_str(), &step.request.path), ("POST", &bare.request.path), "{url}");
        assert_eq!(plan.scenarios[0].target().host, plain.scenarios[0].target().host, "{url}");
        let value = |name: &str| {
            let mut known = step.request.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
            known.next().map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        assert_eq!(value("X-Full").as_deref(), Some("a;b"), "{url}");
        assert_eq!((value("X-Empty").as_deref(), value("Accept")), (Some(""), None), "{url}");
        let body = String::from_utf8_lossy(&step.request.body).into_owned();
        assert!(body.contains("name=\"other\"\r\n\r\n{x}\r\n"), "{url}: {body}");
    }
}
