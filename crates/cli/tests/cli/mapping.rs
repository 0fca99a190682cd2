//! Responses to calls as independent servers and proxies send them: each ends with the status in the published texts of
//! gRPC (`PROTOCOL-HTTP2.md`, `http-grpc-status-mapping.md`, `statuscodes.md`, `compression.md`), with its cause.

mod damaged;

use serde_json::Value;

use crate::binary::{output, report, text};
use crate::raw::{DATA, END_STREAM, GOAWAY, RST_STREAM, Raw, block, fields, frame, message};
use damaged::{damaged, plain_messages, with_encoding, zipped, zipped_messages};

const GRPC: (&str, &str) = ("content-type", "application/grpc");
const HTML: (&str, &str) = ("content-type", "text/html");
/// `{"message": "hi"}`.
const REPLY: &[u8] = b"\x0a\x02hi";

type Response = Box<dyn Fn(u32) -> Vec<u8> + Send + Sync>;

/// The sent data, and its expected result: the status, the reason and the detail of the failure.
struct Case {
    name: String,
    response: Response,
    status: &'static str,
    cause: Option<(&'static str, &'static str)>,
}

fn case(
    name: impl Into<String>,
    status: &'static str,
    cause: impl Into<Option<(&'static str, &'static str)>>,
    response: impl Fn(u32) -> Vec<u8> + Send + Sync + 'static,
) -> Case {
    Case { name: name.into(), response: Box::new(response), status, cause: cause.into() }
}

fn proto() -> String {
    format!("{}/../target/proto/hello.proto", env!("CARGO_MANIFEST_DIR"))
}

fn call(server: &Raw, more: &[&str]) -> Value {
    let (url, proto) = (server.url("grpc", "/hello.Greeter/SayHello"), proto());
    let args =
        [&[url.as_str(), "--proto", &proto, "-d", "a", "-c", "1", "-t", "60s", "--output", "json"], more].concat();
    let done = output(&args);
    assert!(done.status.code().is_some_and(|code| code <= 1), "{args:?}: {}", text(&done.stderr));
    report(&done)
}

/// Each case, on both drivers, has its one status and its one cause.
fn check(cases: Vec<Case>, more: &[&str]) {
    let mut wrong = Vec::new();
    for Case { name, response, status, cause } in cases {
        let server = Raw::answering(response);
        for driver in ["uring", "poll"] {
            let seen = call(&server, &[&["-n", "2", "--driver", driver], more].concat());
            let statuses = &seen["grpc_statuses"];
            let failure = &seen["failures"][0];
            let found = failure["reason"].as_str().map(|reason| (reason, failure["detail"].as_str().unwrap_or("")));
            let beside = failure["grpc_status"].as_str();
            let is_as_published = statuses[status] == 2 && statuses.as_object().is_some_and(|all| all.len() == 1);
            let is_beside = cause.is_none() || beside == Some(status);
            if !is_as_published || found != cause || !is_beside {
                wrong.push(format!(
                    "{name}, {driver}: {statuses}, {found:?} beside {beside:?}; not {status}, {cause:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A head, a message, and trailers.
fn whole(stream: u32, http: &str, kind: (&str, &str), body: &[u8], trailers: &[(&str, &str)]) -> Vec<u8> {
    let head = fields(stream, 0, &[(":status", http), kind]);
    [head, frame(DATA, 0, stream, body), fields(stream, END_STREAM, trailers)].concat()
}

/// A head without a body.
fn only(stream: u32, http: &str, kind: (&str, &str), more: &[(&str, &str)]) -> Vec<u8> {
    fields(stream, END_STREAM, &[&[(":status", http), kind][..], more].concat())
}

const OF_HTTP: [(&str, &str, &str); 14] = [
    ("400", "INTERNAL", "400"),
    ("401", "UNAUTHENTICATED", "401"),
    ("403", "PERMISSION_DENIED", "403"),
    ("404", "UNIMPLEMENTED", "404"),
    ("405", "UNKNOWN", "other"),
    ("415", "UNKNOWN", "other"),
    ("429", "UNAVAILABLE", "429"),
    ("431", "INTERNAL", "431"),
    ("500", "UNKNOWN", "other"),
    ("501", "UNKNOWN", "other"),
    ("502", "UNAVAILABLE", "502"),
    ("503", "UNAVAILABLE", "503"),
    ("504", "UNAVAILABLE", "504"),
    ("302", "UNKNOWN", "other"),
];

#[test]
fn statuses_of_http_mean_what_is_published() {
    let mut cases = Vec::new();
    for (http, status, detail) in OF_HTTP {
        let cause = ("status", detail);
        cases.push(case(format!("{http} and HTML"), status, cause, move |stream| {
            whole(stream, http, HTML, b"<html>", &[("x-a", "b")])
        }));
        cases.push(case(format!("{http}, HTML, no trailers"), status, cause, move |stream| {
            only(stream, http, HTML, &[])
        }));
        cases.push(case(format!("{http} of gRPC without a status"), status, cause, move |stream| {
            whole(stream, http, GRPC, &message(0, REPLY), &[("x-a", "b")])
        }));
        // An explicit gRPC status wins, in trailers and without them.
        cases.push(case(format!("{http} with NOT_FOUND"), "NOT_FOUND", ("grpc-status", "NOT_FOUND"), move |stream| {
            only(stream, http, HTML, &[("grpc-status", "5")])
        }));
        cases.push(case(format!("{http} with OK"), "OK", None, move |stream| {
            whole(stream, http, GRPC, &message(0, REPLY), &[("grpc-status", "0")])
        }));
        cases.push(case(format!("{http}, HTML, with OK"), status, cause, move |stream| {
            whole(stream, http, HTML, b"<html>", &[("grpc-status", "0")])
        }));
    }
    check(cases, &[]);
}

#[test]
fn resets_mean_what_is_published() {
    let of_reset: [(u32, &str, &str); 16] = [
        (0, "INTERNAL", "NO_ERROR"),
        (1, "INTERNAL", "PROTOCOL_ERROR"),
        (2, "INTERNAL", "INTERNAL_ERROR"),
        (3, "INTERNAL", "FLOW_CONTROL_ERROR"),
        (4, "INTERNAL", "SETTINGS_TIMEOUT"),
        (5, "UNKNOWN", "STREAM_CLOSED"),
        (6, "INTERNAL", "FRAME_SIZE_ERROR"),
        (7, "UNAVAILABLE", "REFUSED_STREAM"),
        (8, "CANCELLED", "CANCEL"),
        (9, "INTERNAL", "COMPRESSION_ERROR"),
        (10, "INTERNAL", "CONNECT_ERROR"),
        (11, "RESOURCE_EXHAUSTED", "ENHANCE_YOUR_CALM"),
        (12, "PERMISSION_DENIED", "INADEQUATE_SECURITY"),
        (13, "UNKNOWN", "HTTP_1_1_REQUIRED"),
        (14, "UNKNOWN", "UNKNOWN"),
        (0xdead_beef, "UNKNOWN", "UNKNOWN"),
    ];
    let mut cases = Vec::new();
    for (code, status, name) in of_reset {
        let reset = move |stream| frame(RST_STREAM, 0, stream, &code.to_be_bytes());
        cases.push(case(format!("{code}"), status, ("stream-reset", name), reset));
        cases.push(case(format!("{code} behind a head"), status, ("stream-reset", name), move |stream| {
            [fields(stream, 0, &[(":status", "200"), GRPC]), reset(stream)].concat()
        }));
        cases.push(case(format!("{code} behind a message"), status, ("stream-reset", name), move |stream| {
            let head = fields(stream, 0, &[(":status", "200"), GRPC]);
            [head, frame(DATA, 0, stream, &message(0, REPLY)), reset(stream)].concat()
        }));
    }
    // A complete response is complete.
    cases.push(case("behind the trailers", "OK", None, |stream| {
        let whole = whole(stream, "200", GRPC, &message(0, REPLY), &[("grpc-status", "0")]);
        [whole, frame(RST_STREAM, 0, stream, &[0; 4])].concat()
    }));
    check(cases, &[]);
    // Refused calls, again and again; and a connection that breaks.
    let away = |_| frame(GOAWAY, 0, 0, &[0; 8]);
    let late = |stream| {
        let head = fields(stream, 0, &[(":status", "200"), GRPC]);
        [head, frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 2])].concat()
    };
    check(vec![case("goaway", "UNAVAILABLE", ("goaway", ""), away)], &[]);
    check(vec![case("goaway behind a head", "UNAVAILABLE", ("goaway", ""), late)], &[]);
}

#[test]
fn statuses_are_read_as_they_are_written() {
    let bad = [("protocol", "bad-grpc-status"), ("protocol", "no-grpc-status"), ("protocol", "content-type")];
    let mut cases = vec![
        case("none", "UNKNOWN", bad[1], |stream| whole(stream, "200", GRPC, &message(0, REPLY), &[("x-a", "b")])),
        case("no trailers", "UNKNOWN", bad[1], |stream| {
            let head = fields(stream, 0, &[(":status", "200"), GRPC]);
            [head, frame(DATA, END_STREAM, stream, &message(0, REPLY))].concat()
        }),
        case("in the head of more", "UNKNOWN", bad[1], |stream| {
            let head = fields(stream, 0, &[(":status", "200"), GRPC, ("grpc-status", "0")]);
            [head, frame(DATA, END_STREAM, stream, &message(0, REPLY))].concat()
        }),
        case("a head only", "UNKNOWN", bad[1], |stream| only(stream, "200", GRPC, &[])),
        case("HTML", "UNKNOWN", bad[2], |stream| whole(stream, "200", HTML, b"<html>", &[("x-a", "b")])),
        case("HTML with OK", "UNKNOWN", bad[2], |stream| {
            whole(stream, "200", HTML, b"<html>", &[("grpc-status", "0")])
        }),
        case("HTML with a status", "ABORTED", ("grpc-status", "ABORTED"), |stream| {
            only(stream, "200", HTML, &[("grpc-status", "10")])
        }),
        case("no type", "UNKNOWN", bad[2], |stream| only(stream, "200", ("x-a", "b"), &[])),
        case("gRPC-Web", "UNKNOWN", bad[2], |stream| {
            only(stream, "200", ("content-type", "application/grpc-web"), &[])
        }),
        case("JSON in gRPC", "OK", None, |stream| {
            let kind = ("content-type", "application/grpc+json;x=1");
            whole(stream, "200", kind, &message(0, REPLY), &[("grpc-status", "0")])
        }),
        case("beyond 16", "OTHER", ("grpc-status", "OTHER"), |stream| {
            only(stream, "200", GRPC, &[("grpc-status", "17")])
        }),
        case("behind an interim answer", "OK", None, |stream| {
            let early = fields(stream, 0, &[(":status", "103")]);
            [early, whole(stream, "200", GRPC, &message(0, REPLY), &[("grpc-status", "0")])].concat()
        }),
    ];
    for value in ["", "x", "-1", "01", "0x0", "OK", "5.0", "99999999999", " 0"] {
        cases.push(case(format!("'{value}'"), "UNKNOWN", bad[0], move |stream| {
            only(stream, "200", GRPC, &[("grpc-status", value)])
        }));
        cases.push(case(format!("'{value}' behind a message"), "UNKNOWN", bad[0], move |stream| {
            whole(stream, "200", GRPC, &message(0, REPLY), &[("grpc-status", value)])
        }));
    }
    const NAMES: [&str; 16] = [
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    // The plan and the metrics have lists of their own, being of one layer; this one checks both.
    assert_eq!(metrics::GRPC_STATUSES[1..=16], NAMES);
    for (number, name) in (1..).zip(NAMES) {
        let set = plan::StatusSet::parse_grpc(name).expect("a status");
        assert!((0..=16).all(|other| set.contains(other) == (other == number)), "{name}");
        cases.push(case(name, name, ("grpc-status", name), move |stream| {
            only(stream, "200", GRPC, &[("grpc-status", &number.to_string())])
        }));
    }
    check(cases, &[]);
}

/// However a message is encoded, it arrives; an invalid encoding stays as it is.
#[test]
fn texts_of_statuses_are_reported() {
    let cases = [
        ("plain", "plain"),
        ("a%20b", "a b"),
        ("%E4%B8%96%E7%95%8C", "世界"),
        ("%e4%b8%96", "世"),
        ("100%", "100%"),
        ("%zz%41", "%zzA"),
        ("%", "%"),
        ("%4", "%4"),
        ("%0A", " "),
        ("%ff%41", "\u{fffd}A"),
    ];
    for (written, reported) in cases {
        let server =
            Raw::answering(move |stream| only(stream, "200", GRPC, &[("grpc-status", "9"), ("grpc-message", written)]));
        let seen = call(&server, &["-n", "1"]);
        let remedy = seen["failures"][0]["remedy"].as_str().expect("a text");
        assert!(remedy.ends_with(&format!("; it said: {reported}")), "{written}: {remedy}");
    }
}

#[test]
fn messages_that_are_damaged_are_no_success() {
    check(plain_messages(), &[]);
    check(zipped_messages(), &["--grpc-encoding", "gzip"]);
}

/// An expected status is a success, also when HTTP or a reset implies it; a broken response never is.
#[test]
fn statuses_of_any_source_can_be_expected() {
    let expect = |names: &str, response: fn(u32) -> Vec<u8>| {
        let server = Raw::answering(response);
        let seen = call(&server, &["-n", "2", "--expect-status", names]);
        (seen["requests"]["succeeded"].as_u64(), seen["grpc_statuses"].to_string())
    };
    let good = |status: &str| (Some(2), format!("{{\"{status}\":2}}"));
    let bad = |status: &str| (Some(0), format!("{{\"{status}\":2}}"));
    assert_eq!(expect("UNAVAILABLE", |stream| only(stream, "503", HTML, &[])), good("UNAVAILABLE"));
    assert_eq!(expect("OK", |stream| only(stream, "503", HTML, &[])), bad("UNAVAILABLE"));
    assert_eq!(expect("CANCELLED", |stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])), good("CANCELLED"));
    assert_eq!(expect("OK", |stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])), bad("CANCELLED"));
    let broken = |stream| whole(stream, "200", GRPC, &message(2, b""), &[("grpc-status", "0")]);
    assert_eq!(expect("OK,INTERNAL", broken), bad("INTERNAL"));
}

/// Metadata before and after the messages can be checked.
#[test]
fn metadata_and_trailers_are_looked_at() {
    let server = Raw::answering(|stream| {
        let head = fields(stream, 0, &[(":status", "200"), GRPC, ("x-head", "one"), ("x-bin", "AQI")]);
        let trailers = [("grpc-status", "0"), ("x-trailer", "two"), ("x-twice", "a"), ("x-twice", "b")];
        [head, frame(DATA, 0, stream, &message(0, REPLY)), fields(stream, END_STREAM, &trailers)].concat()
    });
    let lone = Raw::answering(|stream| only(stream, "200", GRPC, &[("grpc-status", "5"), ("x-trailer", "two")]));
    let cases = [
        ("x-head", true),
        ("x-head: one", true),
        ("x-head: two", false),
        ("x-bin: AQI", true),
        ("x-trailer", true),
        ("X-Trailer: two", true),
        ("x-trailer: /^t.o$/", true),
        ("x-trailer: one", false),
        ("x-twice: b", true),
        ("grpc-status: 0", true),
        ("x-none", false),
    ];
    for driver in ["uring", "poll"] {
        for (check, holds) in cases {
            let seen = call(&server, &["-n", "2", "--driver", driver, "--expect-header", check]);
            assert_eq!(seen["requests"]["succeeded"], if holds { 2 } else { 0 }, "{check}: {seen:#}");
            assert_eq!(seen["grpc_statuses"]["OK"], 2, "the status is its own: {seen:#}");
            if !holds {
                assert_eq!(seen["failures"][0]["reason"], "check", "{check}: {seen:#}");
                assert_eq!(seen["failures"][0]["grpc_status"], Value::Null, "{check}");
            }
        }
        let more = ["-n", "2", "--driver", driver, "--expect-status", "NOT_FOUND", "--expect-header", "x-trailer: two"];
        assert_eq!(call(&lone, &more)["requests"]["succeeded"], 2);
    }
}

/// The first messages are all checked; later ones are sampled; once one is wrong, all that follow are checked.
#[test]
fn types_are_looked_at_in_long_runs() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let count = std::sync::Arc::new(AtomicU32::new(0));
    let counted = count.clone();
    // From the 3,001st on, all responses are of another type.
    let server = Raw::answering(move |stream| {
        let is_good = counted.fetch_add(1, Ordering::Relaxed) < 3_000;
        let body: &[u8] = if is_good { REPLY } else { b"\x08\x05" };
        whole(stream, "200", GRPC, &message(0, body), &[("grpc-status", "0")])
    });
    let seen = call(&server, &["-n", "6000"]);
    let failed = seen["requests"]["failed"].as_u64().expect("a number");
    // One of 16 is sampled until the first wrong one is found.
    assert!((2_984..=3_000).contains(&failed), "{failed} of 3000 were found");
    assert_eq!(seen["failures"][0]["detail"], "message-type");
}

/// Summary in both languages: the cause, the status, and its meaning.
#[test]
fn causes_are_reported_in_words() {
    let proto = proto();
    let page = |response: fn(u32) -> Vec<u8>, language: &str, more: &[&str]| {
        let server = Raw::answering(response);
        let url = server.url("grpc", "/hello.Greeter/SayHello");
        let args =
            [&[url.as_str(), "--proto", &proto, "-d", "a", "-n", "1", "-c", "1", "--lang", language], more].concat();
        text(&output(&args).stdout)
    };
    type Reported<'a> = (fn(u32) -> Vec<u8>, &'a str, &'a str, &'a [&'a str]);
    let cases: [Reported<'_>; 5] = [
        (
            |stream| only(stream, "503", HTML, &[]),
            "status (503), counted as UNAVAILABLE - the answer has this HTTP status and no grpc-status",
            "status (503)，计为 UNAVAILABLE",
            &[],
        ),
        (
            |stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, 11]),
            "stream-reset (ENHANCE_YOUR_CALM), counted as RESOURCE_EXHAUSTED",
            "stream-reset (ENHANCE_YOUR_CALM)，计为 RESOURCE_EXHAUSTED",
            &[],
        ),
        (
            |stream| with_encoding(stream, "gzip", &message(1, &damaged(8))),
            "protocol (message-unzip), counted as INTERNAL - a compressed message is damaged",
            "压缩的消息已损坏，无法解压",
            &["--grpc-encoding", "gzip"],
        ),
        (
            |stream| with_encoding(stream, "gzip", &message(1, &zipped(REPLY))),
            "offer gzip with --grpc-encoding gzip",
            "可用 --grpc-encoding gzip 表示接受 gzip",
            &[],
        ),
        (
            |stream| frame(DATA, 0, stream, &block(&[])),
            "protocol (headers), counted as INTERNAL",
            "protocol (headers)，计为 INTERNAL",
            &[],
        ),
    ];
    for (response, en, zh, more) in cases {
        for (language, says) in [("en", en), ("zh", zh)] {
            let page = page(response, language, more);
            assert!(page.contains(says), "{says}: {page}");
        }
    }
}
