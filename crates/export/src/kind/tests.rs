use proptest::prelude::*;

use super::*;

fn place(text: &str) -> String {
    let export = Export::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    format!("{} {}", export.kind(), export.place())
}

#[test]
fn each_kind_has_its_place() {
    for (text, expected) in [
        ("prometheus=127.0.0.1:9464", "prometheus 127.0.0.1:9464"),
        ("prometheus=9464", "prometheus 127.0.0.1:9464"),
        ("prometheus=:0", "prometheus 127.0.0.1:0"),
        ("prometheus=[::1]:9464", "prometheus [::1]:9464"),
        ("prometheus=0.0.0.0:1", "prometheus 0.0.0.0:1"),
        ("prometheus=localhost:9464", "prometheus 127.0.0.1:9464"),
        ("remote-write=http://127.0.0.1:9090", "remote-write http://127.0.0.1:9090/api/v1/write"),
        ("remote-write=https://h.example/x?y", "remote-write https://h.example/x?y=***"),
        ("otlp=http://127.0.0.1:4318", "otlp http://127.0.0.1:4318/v1/metrics"),
        ("otlp=http://127.0.0.1:4318/own/path", "otlp http://127.0.0.1:4318/own/path"),
        ("influx=http://127.0.0.1:8086/?db=load", "influx http://127.0.0.1:8086/write?db=load"),
        ("influx=http://h/api/v2/write?org=o&bucket=b&precision=s", "influx http://h/api/v2/write?org=o&bucket=b"),
        ("statsd=127.0.0.1:8125", "statsd 127.0.0.1:8125"),
        ("dogstatsd=[::1]:8125", "dogstatsd [::1]:8125"),
        ("csv=a=b.csv", "csv a=b.csv"),
        ("junit=压测.xml", "junit 压测.xml"),
        ("github", "github $GITHUB_STEP_SUMMARY"),
    ] {
        assert_eq!(place(text), expected, "{text}");
    }
}

#[test]
fn mistakes_name_what_is_wrong() {
    let kind = |text: &str| Export::parse(text).expect_err(text);
    assert!(matches!(kind(""), ExportError::Kind { .. }));
    assert!(matches!(kind("graphite=x:1"), ExportError::Kind { .. }));
    assert!(matches!(kind("csv"), ExportError::NoPlace { kind: "csv", .. }));
    assert!(matches!(kind("csv= "), ExportError::NoPlace { .. }));
    assert!(matches!(kind("github=x"), ExportError::NeedlessPlace { .. }));
    for text in [
        "prometheus=host.example:9464",
        "prometheus=127.0.0.1",
        "prometheus=:99999",
        "statsd=h",
        "statsd=h:0",
        "statsd=a b:1",
        "statsd=:1",
        "statsd=[x]:1",
    ] {
        assert!(matches!(kind(text), ExportError::Address { .. }), "{text}");
    }
    for text in ["otlp=127.0.0.1:4318", "otlp=ftp://h/", "remote-write=http://", "influx=h?db=x"] {
        assert!(matches!(kind(text), ExportError::Url { .. }), "{text}");
    }
    assert!(matches!(kind("influx=http://h:8086"), ExportError::NoDatabase { .. }));
    assert!(matches!(kind("influx=http://h:8086/?db="), ExportError::NoDatabase { .. }));
    assert!(matches!(kind(&format!("csv={}", "x".repeat(EXPORT_BYTES_MAX))), ExportError::TooLong));
}

#[test]
fn no_secret_of_a_url_is_shown() {
    for text in [
        "remote-write=http://me:hunter2@127.0.0.1:9090/",
        "influx=http://127.0.0.1:8086/write?db=x&u=me&p=hunter2",
        "influx=http://:hunter2@127.0.0.1:8086/?org=o&bucket=b",
        "otlp=http://127.0.0.1:4318/v1/metrics?key=hunter2",
        "otlp=http://127.0.0.1:4318/v1/metrics#hunter2",
    ] {
        let export = Export::parse(text).expect("an export");
        let shown = format!("{} {export:?}", export.place());
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    for text in
        ["otlp=ftp://me:hunter2@h/", "influx=http://me:hunter2@h/", "statsd=me:hunter2@h:x", "http://me:hunter2@h/=x"]
    {
        let error = Export::parse(text).expect_err("no export");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[test]
fn one_place_is_for_one_export() {
    let twice = |one: &str, other: &str| {
        let [one, other] = [one, other].map(|text| Export::parse(text).expect("an export"));
        one.is_twice(&other)
    };
    assert!(twice("csv=x", "junit=x"));
    assert!(twice("github", "github"));
    assert!(twice("prometheus=:1", "prometheus=127.0.0.1:1"));
    assert!(!twice("prometheus=:0", "prometheus=:0"));
    assert!(!twice("csv=x", "csv=y"));
    assert!(!twice("statsd=h:1", "dogstatsd=h:1"));
}

proptest! {
    #[test]
    fn any_words_are_an_export_or_a_mistake(kind in proptest::sample::select(KINDS.to_vec()), text in "\\PC{0,40}") {
        for words in [text.clone(), format!("{kind}={text}"), format!("{kind}=http://{text}")] {
            match Export::parse(&words) {
                Ok(export) => prop_assert!(KINDS.contains(&export.kind()) && !export.place().is_empty()),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}
