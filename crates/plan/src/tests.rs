use super::*;

fn flags(url: &str) -> Flags {
    Flags { url: Some(url.to_owned()), user_agent: "onrush/test".to_owned(), ..Flags::default() }
}

fn request(flags: &Flags) -> Request {
    flags.plan().expect("a good plan").scenarios[0].steps[0].request.clone()
}

fn header_lines(request: &Request) -> Vec<String> {
    let line = |(name, value): &(String, Vec<u8>)| format!("{name}: {}", String::from_utf8_lossy(value));
    request.headers.iter().map(line).collect()
}

#[test]
fn a_url_is_enough() {
    let plan = flags("localhost:8080/a?b=c#d").plan().expect("a good plan");
    let scenario = &plan.scenarios[0];
    assert_eq!((scenario.target().host.as_str(), scenario.target().port), ("localhost", 8080));
    assert_eq!(
        scenario.load,
        Load::Closed { users: 50, shape: UserShape::AtOnce, requests: None, duration: Some(Duration::from_secs(10)) }
    );
    let request = &scenario.steps[0].request;
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/a?b=c"));
    assert_eq!(header_lines(request), ["Host: localhost:8080", "User-Agent: onrush/test", "Accept: */*"]);
    assert_eq!(scenario.steps[0].needs(), ResponseNeeds { body_bytes_max: 0, head: false });
}

#[test]
fn urls_in_many_forms() {
    let host_of = |url: &str| {
        let plan = flags(url).plan().expect("a good plan");
        (plan.scenarios[0].target().host.clone(), plan.scenarios[0].target().port)
    };
    assert_eq!(host_of("HTTP://Example.COM"), ("example.com".to_owned(), 80));
    assert_eq!(host_of("http://[::1]:81/"), ("::1".to_owned(), 81));
    assert_eq!(host_of("http://例子.测试/"), ("xn--fsqu00a.xn--0zwm56d".to_owned(), 80));
    assert_eq!(request(&flags("http://a/压测?名=值")).path, "/%E5%8E%8B%E6%B5%8B?%E5%90%8D=%E5%80%BC");
    assert_eq!(header_lines(&request(&flags("http://a:80/")))[0], "Host: a");
    assert_eq!(request(&flags("127.0.0.1:81/?u=http://x")).path, "/?u=http://x");
}

#[test]
fn a_request_count_needs_no_duration() {
    let counted = Flags { requests: Some("7".to_owned()), ..flags("a") };
    assert_eq!(
        counted.plan().expect("a good plan").scenarios[0].load,
        Load::Closed { users: 50, shape: UserShape::AtOnce, requests: Some(7), duration: None }
    );
}

#[test]
fn headers_keep_their_order_and_stand_in_for_the_defaults() {
    let headers = ["X-A: 1", "host: other", "X-A: 2", "X-Empty;", "Accept:", "X-Tab:\tv "].map(str::to_owned);
    let with_headers = Flags { headers: headers.to_vec(), ..flags("http://a/") };
    assert_eq!(
        header_lines(&request(&with_headers)),
        ["User-Agent: onrush/test", "X-A: 1", "host: other", "X-A: 2", "X-Empty: ", "X-Tab: v"]
    );
}

#[test]
fn what_is_spoken() {
    let yes = || Flags { ..flags("https://a/") };
    let cases = [
        (flags("http://a/"), Protocol::Http1, 80, None),
        (Flags { http2: true, ..flags("http://a/") }, Protocol::Http2, 80, None),
        (yes(), Protocol::Negotiated, 443, Some("h2 http/1.1")),
        (Flags { http11: true, ..yes() }, Protocol::Http1, 443, Some("http/1.1")),
        (Flags { http10: true, ..yes() }, Protocol::Http1, 443, Some("")),
        (Flags { http2: true, ..yes() }, Protocol::Http2, 443, Some("h2")),
        (Flags { streams: Some("4".to_owned()), ..yes() }, Protocol::Http2, 443, Some("h2")),
        (Flags { streams: Some("1".to_owned()), ..yes() }, Protocol::Negotiated, 443, Some("h2 http/1.1")),
        (Flags { alpn: Some("x, y".to_owned()), ..yes() }, Protocol::Negotiated, 443, Some("x y")),
    ];
    for (flags, protocol, port, alpn) in cases {
        let target = flags.plan().expect("a good plan").scenarios.remove(0).targets.remove(0);
        assert_eq!((target.protocol, target.port), (protocol, port), "{flags:?}");
        let offered = target.tls.map(|tls| tls.alpn.join(" "));
        assert_eq!(offered.as_deref(), alpn, "{flags:?}");
    }
    let plan = Flags { streams: Some("4".to_owned()), connections: Some("5".to_owned()), ..yes() }.plan();
    assert_eq!(plan.expect("a good plan").scenarios[0].users(), 20);
}

#[test]
fn data_makes_a_post() {
    let posted = Flags { data: Some("a=b".to_owned()), ..flags("http://a/") };
    let request = request(&posted);
    assert_eq!((request.method.as_str(), &*request.body), ("POST", &b"a=b"[..]));
    assert!(!request.is_idempotent());
    assert_eq!(
        header_lines(&request)[3..],
        ["Content-Type: application/x-www-form-urlencoded".to_owned(), "Content-Length: 3".to_owned()]
    );
}

#[test]
fn data_of_a_file_is_binary_safe() {
    let path = std::env::temp_dir().join(format!("onrush-data-{}", std::process::id()));
    std::fs::write(&path, b"\0\r\n\xff@").expect("a file");
    let posted = Flags { data: Some(format!("@{}", path.display())), ..flags("http://a/") };
    assert_eq!(&*request(&posted).body, b"\0\r\n\xff@");
    std::fs::remove_file(&path).expect("the file goes");
}

#[test]
fn connection_says_what_is_meant() {
    let line = |no_keepalive, http10| {
        header_lines(&request(&Flags { no_keepalive, http10, ..flags("http://a/") })).get(3).cloned()
    };
    assert_eq!(line(false, false), None);
    assert_eq!(line(true, false).as_deref(), Some("Connection: close"));
    assert_eq!(line(false, true).as_deref(), Some("Connection: keep-alive"));
    assert_eq!(line(true, true).as_deref(), Some("Connection: close"));
}

/// As curl: the user information of a URL is sent as Basic, a flag takes precedence, and the URL is shown without it.
#[test]
fn who_a_url_names_is_sent_as_basic() {
    let basic = |flags: &Flags| {
        let request = request(flags);
        let value = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        value.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
    };
    for (url, wanted) in [
        ("http://me:pw@a/x", "Basic bWU6cHc="),
        ("me:pw@a:8080/x", "Basic bWU6cHc="),
        ("http://me@a/", "Basic bWU6"),
        // `m:e` and `p@w`.
        ("http://m%3Ae:p%40w@a/", "Basic bTplOnBAdw=="),
        ("http://me:p@w@a/", "Basic bWU6cEB3"),
        ("ws://me:pw@a/", "Basic bWU6cHc="),
    ] {
        assert_eq!(basic(&flags(url)).as_deref(), Some(wanted), "{url}");
        let plan = flags(url).plan().expect(url);
        assert!(!plan.scenarios[0].target().url.contains("me"), "{url}");
    }
    let both = Flags { user: Some("he:x".to_owned()), ..flags("http://me:pw@a/") };
    assert_eq!(basic(&both).as_deref(), Some("Basic aGU6eA=="));
    assert_eq!(basic(&flags("http://a/x?mail=me@b")), None);
}

#[test]
fn each_mistake_is_named() {
    let some = |text: &str| Some(text.to_owned());
    let cases: Vec<(Flags, &str)> = vec![
        (Flags::default(), "no URL"),
        (flags("htp://x"), "unknown scheme 'htp'"),
        (Flags { alpn: some("h2"), ..flags("a") }, "--alpn needs an https://, wss:// or grpcs:// URL"),
        (flags("tcp://h"), "'tcp://h' is not a TCP address"),
        (flags("tcp://h:1/path"), "is not a TCP address"),
        (flags("tcp://h:1"), "nothing to send"),
        (Flags { data: some("x"), ..flags("tcp://h:1") }, "nothing says where an answer ends"),
        (Flags { data: some("x"), until: some(""), ..flags("tcp://h:1") }, "--until wants 1 to 64 bytes"),
        (Flags { data: some("x"), until: some("\\q"), ..flags("tcp://h:1") }, "--until wants"),
        (Flags { data: some("hex:0"), no_response: true, ..flags("tcp://h:1") }, "pairs of hexadecimal digits"),
        (
            Flags { data: some("x"), until: some("a"), no_response: true, ..flags("tcp://h:1") },
            "cannot be given together",
        ),
        (Flags { data: some("x"), data_bytes: some("3"), ..flags("ws://h") }, "-d and --data-bytes cannot"),
        (Flags { seed: some("3"), ..flags("ws://h") }, "--seed needs --data-bytes"),
        (Flags { length_prefix: some("3"), data: some("x"), ..flags("tcp://h:1") }, "--length-prefix wants one of"),
        (Flags { until: some("a"), ..flags("ws://h") }, "says itself where it ends"),
        (Flags { until: some("a"), ..flags("http://h") }, "--until needs a ws://, wss:// or tcp:// URL"),
        (Flags { ws_deflate: true, data: some("x"), ..flags("tcp://h:1") }, "--ws-deflate needs a ws:// or wss:// URL"),
        (Flags { ws_type: some("text"), ..flags("ws://h") }, "--ws-type needs a message"),
        (Flags { ws_type: some("text"), data: some("hex:ff"), ..flags("ws://h") }, "wants UTF-8"),
        (Flags { method: some("PUT"), ..flags("ws://h") }, "-X and ws:// cannot be given together"),
        (Flags { headers: vec!["Upgrade: x".to_owned()], ..flags("ws://h") }, "belongs to the handshake"),
        (Flags { source_ip: some("10.0.0"), ..flags("a") }, "--source-ip wants addresses"),
        (Flags { to: some("8080"), ..flags("a") }, "--connect-addresses wants places"),
        (Flags { alpn: Some(",".to_owned()), ..flags("https://a") }, "--alpn wants one of"),
        (flags("http://"), "not a URL"),
        (flags("http://a:99999/"), "not a URL"),
        (flags("http://a:0/"), "port 0"),
        (Flags { data: some("x"), no_response: true, ..flags("tcp://me:secret@a:1") }, "name or password"),
        (Flags { connections: some("0"), ..flags("a") }, "-c wants a whole number from 1"),
        (Flags { connections: some("many"), ..flags("a") }, "not 'many'"),
        (Flags { requests: some("-5"), ..flags("a") }, "-n wants a whole number from 1"),
        (Flags { requests: some("99999999999999999999"), ..flags("a") }, "-n wants"),
        (Flags { duration: some("soon"), ..flags("a") }, "-z wants a time"),
        (Flags { duration: some("0s"), ..flags("a") }, "-z wants at least 1ms"),
        (Flags { interval: some("1ms"), ..flags("a") }, "--interval wants at least 100ms"),
        (Flags { headers: vec!["Nonsense".to_owned()], ..flags("a") }, "'Nonsense' has no colon"),
        (Flags { headers: vec![": v".to_owned()], ..flags("a") }, "no valid name"),
        (Flags { headers: vec!["A b: v".to_owned()], ..flags("a") }, "no valid name"),
        (Flags { headers: vec!["A: v\r\nB: w".to_owned()], ..flags("a") }, "line end"),
        (Flags { headers: vec!["Content-Length: 5".to_owned()], ..flags("a") }, "contradict"),
        (Flags { method: some("GE T"), ..flags("a") }, "'GE T' is not a method"),
        (Flags { method: some(""), ..flags("a") }, "is not a method"),
        (Flags { data: some("@/no/such/file"), ..flags("a") }, "cannot read the file '/no/such/file'"),
        (Flags { data: some("@/"), ..flags("a") }, "cannot read the file"),
        (Flags { expect_status: some("2xx"), ..flags("a") }, "--expect-status wants"),
        (Flags { expect_status: some("300-200"), ..flags("a") }, "--expect-status wants"),
        (Flags { expect_status: some(""), ..flags("a") }, "--expect-status wants"),
    ];
    for (flags, says) in cases {
        let error = flags.plan().expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
        assert!(!error.contains("secret") && !error.contains('\n'), "{error:?}");
    }
}

#[test]
fn durations_as_people_write_them() {
    let millis = |text: &str| parse_duration("-z", text).map(|span| span.as_millis()).ok();
    let good = [
        ("10s", 10_000),
        ("2m", 120_000),
        ("500ms", 500),
        ("1h30m", 5_400_000),
        ("1.5s", 1_500),
        ("3", 3_000),
        ("0.1", 100),
        ("10 s", 10_000),
        ("10sec", 10_000),
        ("5min", 300_000),
        ("1h 30m", 5_400_000),
        ("2 hours", 7_200_000),
        ("1 Day", 86_400_000),
        ("250 msec", 250),
        ("1_000ms", 1_000),
        ("500000µs", 500),
    ];
    for (text, expect) in good {
        assert_eq!(millis(text), Some(expect), "{text}");
    }
    for text in
        ["", "s", "-1s", "1x", "1m30", "1..2s", ".5s", "1e3s", "99999999999999d", "10 5", "10 s 5", "s10", "1_s", "∞"]
    {
        assert_eq!(millis(text), None, "{text}");
    }
}

#[test]
fn statuses_as_people_write_them() {
    let set = StatusSet::parse("200, 300-399").expect("a good set");
    let hits: Vec<u16> = (100..=999).filter(|&status| set.contains(status)).collect();
    assert_eq!((hits[0], hits.len(), hits[100]), (200, 101, 399));
    assert!(StatusSet::default().contains(399) && !StatusSet::default().contains(400));
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in ".{0,40}") {
        let _ = parse_duration("-z", &text);
        let _ = parse_count("-n", &text, 0, u64::MAX);
        let _ = StatusSet::parse(&text);
        let _ = Flags { headers: vec![text.clone()], expect_body: vec![text.clone()], ..flags(&text) }.plan();
    }
}

fn open_load(flags: &Flags) -> Load {
    flags.plan().expect("a good plan").scenarios[0].load.clone()
}

#[test]
fn rates_are_exact() {
    let cases = [
        ("5000", 5_000 * 3_600_000),
        ("5_000/s", 5_000 * 3_600_000),
        ("2.5", 9_000_000),
        ("0.001/h", 1),
        ("100/m", 6_000_000),
        ("1000/h", 1_000_000),
        ("100000000", RATE_MAX * 3_600_000),
        ("1e3", 1_000 * 3_600_000),
        ("5k", 5_000 * 3_600_000),
        ("1.5k/s", 1_500 * 3_600_000),
        ("2M", 2_000_000 * 3_600_000),
        ("1,000", 1_000 * 3_600_000),
        ("100rps", 100 * 3_600_000),
        ("100 RPS", 100 * 3_600_000),
        ("100/sec", 100 * 3_600_000),
        ("60rpm", 3_600_000),
        ("60/min", 3_600_000),
        ("1k/hour", 1_000_000),
    ];
    for (text, thousandths_per_hour) in cases {
        assert_eq!(parse_rate("-q", text), Ok(thousandths_per_hour), "{text}");
    }
    for text in [
        "",
        "0",
        "-5",
        "5/x",
        "1e",
        "e3",
        "1k5",
        "1,00",
        "1,0000",
        ",100",
        "1__",
        "5 k k",
        "1.0001",
        "/s",
        "5/",
        ".5",
        "100000001",
        "99999999999999999999",
        "5/s/s",
        "１",
    ] {
        assert!(parse_rate("-q", text).is_err(), "{text}");
    }
}

#[test]
fn stages_go_on_from_the_one_before() {
    let span = Duration::from_secs;
    let rate = |per_second: u64| per_second * 3_600_000;
    assert_eq!(
        parse_stages("0:30s, 1000:1m,1000:2m,50/m:0s"),
        Ok(vec![
            RateStage { from: 0, to: 0, span: span(30) },
            RateStage { from: 0, to: rate(1_000), span: span(60) },
            RateStage { from: rate(1_000), to: rate(1_000), span: span(120) },
            RateStage { from: rate(1_000), to: 3_000_000, span: span(0) },
        ])
    );
    let fault = |text: &str| match parse_stages(text) {
        Err(PlanError::Stage { number, reason, .. }) => (number, reason),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault("5:1s,7"), (2, StageFault::NoColon));
    assert_eq!(fault("x:1s"), (1, StageFault::Target));
    assert_eq!(fault("5:1s,5:soon"), (2, StageFault::Time));
    assert_eq!(fault(""), (1, StageFault::NoColon));
    assert_eq!(fault(&"5:1s,".repeat(STAGES_MAX + 1)), (STAGES_MAX + 1, StageFault::TooMany));
}

#[test]
fn a_closed_load_of_each_shape() {
    let some = |text: &str| Some(text.to_owned());
    let load = |flags: Flags| flags.plan().expect("a good plan").scenarios[0].load.clone();
    let shape = |flags: Flags| match load(flags) {
        Load::Closed { users, shape, duration, .. } => (users, shape, duration.map(|span| span.as_secs())),
        open => panic!("{open:?}"),
    };
    let secs = Duration::from_secs;
    assert_eq!(shape(flags("a")), (50, UserShape::AtOnce, Some(10)));
    let ramp = Flags { ramp: some("20/s"), connections: some("100"), ..flags("a") };
    assert_eq!(shape(ramp), (100, UserShape::Ramp(secs(5)), Some(10)));
    for (text, span) in
        [("5s", secs(5)), ("1m", secs(60)), ("100ms", Duration::from_millis(100)), ("20", secs(5)), ("100/m", secs(60))]
    {
        let ramp = Flags { ramp: some(text), connections: some("100"), ..flags("a") };
        assert_eq!(shape(ramp), (100, UserShape::Ramp(span), Some(10)), "{text}");
    }
    let round = Flags { rendezvous: true, requests: some("7"), ..flags("a") };
    assert_eq!(shape(round), (50, UserShape::Rendezvous, None));
    let stages = Flags { user_stages: some("10:0s,10:5s,40:1m"), ..flags("a") };
    let stage = |from, to, span| UserStage { from, to, span: secs(span) };
    let expect = UserShape::Stages(vec![stage(0, 10, 0), stage(10, 10, 5), stage(10, 40, 60)]);
    assert_eq!(shape(stages.clone()), (40, expect, Some(65)));
    assert!(Flags { warmup: some("3s"), ..stages.clone() }.plan().is_ok());

    let refused = [
        (Flags { connections: some("5"), ..stages.clone() }, "how many users"),
        (Flags { duration: some("5s"), ..stages.clone() }, "how long the load lasts"),
        (Flags { rate: some("5"), ..stages.clone() }, "how many users"),
        (Flags { user_stages: some("10:5s"), warmup: some("1s"), ..stages.clone() }, "begins with nothing"),
        (Flags { stages: some("10:5s"), warmup: some("1s"), ..flags("a") }, "begins with nothing"),
        (Flags { user_stages: some("0:5s"), ..stages.clone() }, "makes no start"),
        (Flags { user_stages: some("5.5:5s"), ..stages.clone() }, "no number of users"),
        (Flags { stages: some("5:5s"), ..stages.clone() }, "--stages and --user-stages"),
        (Flags { arrivals: some("poisson"), ..stages }, "--arrivals needs a rate"),
        (Flags { ramp: some("5"), rate: some("5"), ..flags("a") }, "--ramp and -q"),
        (Flags { ramp: some("5"), rendezvous: true, ..flags("a") }, "--rendezvous and --ramp"),
        (Flags { rendezvous: true, rate: some("5"), ..flags("a") }, "--rendezvous and -q"),
        (Flags { ramp: some("0"), ..flags("a") }, "--ramp wants a rate"),
        (Flags { ramp: some("0s"), ..flags("a") }, "--ramp wants at least 1ms"),
        (Flags { ramp: some("10 cats"), ..flags("a") }, "--ramp wants a rate"),
        (Flags { warmup: some("soon"), ..flags("a") }, "--warmup wants a time"),
    ];
    for (flags, says) in refused {
        let error = flags.plan().expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
    }
}

#[test]
fn an_open_load_of_each_kind() {
    let rate = Flags { rate: Some("1000".to_owned()), ..flags("a") };
    let stage = |span| vec![RateStage { from: 3_600_000_000, to: 3_600_000_000, span }];
    let (even, up_to) = (Arrivals::Even, ConnectionCount::UpTo(OPEN_CONNECTIONS_MAX));
    let max_lateness = Duration::from_secs(30);
    assert_eq!(
        open_load(&rate),
        Load::Open {
            stages: stage(Duration::from_secs(10)),
            arrivals: even,
            requests: None,
            connections: up_to,
            max_lateness
        }
    );
    let counted = Flags { requests: Some("250".to_owned()), connections: Some("4".to_owned()), ..rate.clone() };
    assert_eq!(
        open_load(&counted),
        Load::Open {
            stages: stage(Duration::from_millis(250)),
            arrivals: even,
            requests: Some(250),
            connections: ConnectionCount::UpTo(4),
            max_lateness
        }
    );
    // They are opened before they are needed where that is requested, and their number is given.
    let early = Flags { preconnect: true, ..counted };
    assert!(matches!(open_load(&early), Load::Open { connections: ConnectionCount::Exactly(4), .. }));
    let refused = [Flags { connections: None, ..early.clone() }, Flags { rate: None, ..early }];
    for (flags, says) in refused.iter().zip(["--preconnect needs -c", "--preconnect needs a rate"]) {
        let error = flags.plan().expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
    }
    let patient = Flags { timeout: Some("7s".to_owned()), ..rate };
    assert!(matches!(open_load(&patient), Load::Open { max_lateness, .. } if max_lateness == Duration::from_secs(7)));
}

#[test]
fn messages_are_what_was_meant() {
    use crate::{HoldFlags, HoldWork, MessageKind, ResponseEnd};
    let some = |text: &str| Some(text.to_owned());
    let messaging =
        |flags: Flags| flags.plan().expect("a plan").scenarios[0].steps[0].messaging.clone().expect("messaging");
    let message =
        |flags: Flags| messaging(flags).message.map(|message| (message.kind, message.bytes)).expect("a message");
    assert_eq!(message(flags("ws://h/x")), (MessageKind::Ping, Vec::new()));
    assert_eq!(message(Flags { data: some("hi"), ..flags("ws://h") }), (MessageKind::Text, b"hi".to_vec()));
    assert_eq!(message(Flags { data: some("hex:68 69"), ..flags("ws://h") }), (MessageKind::Binary, b"hi".to_vec()));
    let random = |seed: Option<String>| message(Flags { data_bytes: some("100"), seed, ..flags("ws://h") }).1;
    assert_eq!(random(None).len(), 100);
    assert_eq!(random(None), random(some("1")));
    assert_ne!(random(some("2")), random(some("1")));
    let end = |flags: Flags| messaging(Flags { data: some("x"), ..flags }).response;
    assert_eq!(end(Flags { until: some("\\r\\n\\x00"), ..flags("tcp://h:1") }), ResponseEnd::Until(b"\r\n\0".to_vec()));
    assert_eq!(end(Flags { read_bytes: some("7"), ..flags("tcp://h:1") }), ResponseEnd::Bytes(7));
    let prefix = ResponseEnd::LengthPrefix { width: 4, is_little_endian: true };
    assert_eq!(end(Flags { length_prefix: some("4le"), ..flags("tcp://h:1") }), prefix);
    assert_eq!(end(Flags { no_response: true, ..flags("ws://h") }), ResponseEnd::None);
    let hold = |url: &str, every: Option<&str>| {
        HoldFlags { common: flags(url), every: every.map(str::to_owned), ..HoldFlags::default() }.plan()
    };
    assert_eq!(
        hold("ws://h", None).expect("a plan").step.messaging.expect("messaging").message,
        None,
        "nothing is to be said"
    );
    let every = hold("ws://h", Some("2s")).expect("a plan");
    assert_eq!(every.work, HoldWork::Every(Duration::from_secs(2)));
    assert_eq!(
        every.step.messaging.and_then(|messaging| messaging.message).map(|message| message.kind),
        Some(MessageKind::Ping)
    );
    let pause = HoldWork::Pause { least: Duration::from_millis(100), most: Duration::from_secs(1) };
    assert_eq!(hold("http://h", Some("100ms-1s")).expect("a plan").work, pause);
    for (url, every, says) in [
        ("grpc://h:1", None, "shares connections by HTTP/2"),
        ("tcp://h:1", Some("1s"), "nothing to send"),
        ("ws://h", Some("1s-100ms"), "--every wants a time"),
        ("ws://h", Some("0s"), "--every wants at least 1ms"),
    ] {
        let error = hold(url, every).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn counts_as_people_write_them() {
    let most = u64::MAX >> 1;
    for (text, number) in [
        ("1000", 1_000),
        ("1_000", 1_000),
        ("1,000", 1_000),
        ("1,000,000", 1_000_000),
        ("1k", 1_000),
        ("5K", 5_000),
        ("2M", 2_000_000),
        ("1.5k", 1_500),
        ("0.002M", 2_000),
        ("1e3", 1_000),
        ("1.25e2", 125),
        ("1G", 1_000_000_000),
        (" 7 ", 7),
        ("9223372036854775807", most),
    ] {
        assert_eq!(parse_count("-n", text, 1, most), Ok(number), "{text}");
    }
    for text in [
        "", "0", "-1", "1.5", "1.0005k", "k", "1kk", "1,00", "1,000,00", "1 000", "1e-3", "1e999", "0x10", "١", "9e18k",
    ] {
        assert!(parse_count("-n", text, 1, most).is_err(), "{text}");
    }
}
