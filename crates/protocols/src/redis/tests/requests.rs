//! Requests, logins, mistakes, and replies as JSON.

use serde_json::Value;

use super::*;

#[test]
fn commands_are_arrays_of_bulk_strings() {
    let (step, bytes) = prepared(&endpoint("", None, "/"), &[&["set", "k", "a\r\nb", ""]], 2);
    assert_eq!(bytes, b"*4\r\n$3\r\nset\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n$0\r\n\r\n");
    assert_eq!((step.name(), step.messages()), ("SET".to_owned(), 1));
    let (step, bytes) = prepared(&endpoint("", None, "/"), &[&["GET", "k"], &["PING"], &["PING"]], 2);
    assert_eq!(bytes, b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
    assert_eq!((step.name(), step.messages()), ("GET +2".to_owned(), 3));
    let (_, bytes) = prepared(&endpoint("", None, "/"), &[&["ECHO", &"x".repeat(12_345)]], 2);
    assert!(bytes.starts_with(b"*2\r\n$4\r\nECHO\r\n$12345\r\nxxx"));
}

#[test]
fn names_are_short_and_of_one_line() {
    let name = |first: &str| prepared(&endpoint("", None, "/"), &[&[first], &["PING"]], 2).0.name();
    assert_eq!(name("a\nb"), "A?B +1");
    assert_eq!(name(&"x".repeat(99)), format!("{} +1", "X".repeat(37)));
    assert!(name(&"\u{4e2d}".repeat(99)).len() <= 40);
}

#[test]
fn a_connection_begins_as_its_url_says() {
    for (user, password, path, resp, sent) in [
        ("", None, "/", 2, ""),
        ("", None, "", 3, "HELLO 3"),
        ("", Some("p w"), "/", 2, "AUTH p_w"),
        ("me", Some("pw"), "/", 2, "AUTH me pw"),
        ("me", Some(""), "/0", 2, "AUTH me ~ SELECT 0"),
        ("", Some("pw"), "/", 3, "HELLO 3 AUTH default pw"),
        ("me", Some("pw"), "/65535", 3, "HELLO 3 AUTH me pw SELECT 65535"),
        ("", Some("pw"), "/007", 2, "AUTH pw SELECT 7"),
    ] {
        let step = prepared(&endpoint(user, password, path), &[&["PING"]], resp);
        let driven = Driven::new(&step, 0);
        let text =
            String::from_utf8(driven.sent.clone()).expect("text").replace(' ', "_").replace("\r\n\r\n", "\r\n~\r\n");
        let words = text.split("\r\n").filter(|word| !word.starts_with(['*', '$']) && !word.is_empty());
        assert_eq!(words.collect::<Vec<_>>().join(" "), sent);
        assert_eq!(driven.connection.room(), usize::from(sent.is_empty()), "{sent}");
    }
}

#[test]
fn exchanges_begin_when_all_opening_commands_have_replies() {
    let step = prepared(&endpoint("me", Some("pw"), "/1"), &[&["PING"]], 3);
    let bytes = b"%1\r\n+proto\r\n:3\r\n>1\r\n+early\r\n+OK\r\n+PONG\r\n";
    check(&step, 1, bytes, &["Ready", "+PONG\\r\\n", "OK true"]);
}

#[test]
fn refused_opening_commands_are_failures() {
    let of = |fault: &str| {
        let number: usize = fault
            .strip_prefix("Custom(")
            .and_then(|rest| rest.strip_suffix(')'))
            .expect("one of ours")
            .parse()
            .expect("a number");
        PROTOCOL.about().failures[number].name
    };
    for (password, path, resp, reply, failure) in [
        (Some("pw"), "/", 2, "-WRONGPASS no\r\n", "redis-login"),
        (Some("pw"), "/", 2, "-ERR invalid password\r\n", "redis-login"),
        (Some("pw"), "/1", 2, "+OK\r\n-ERR DB index is out of range\r\n", "redis-database"),
        (None, "/1", 2, "-NOAUTH Authentication required.\r\n", "redis-login"),
        (Some("pw"), "/", 3, "-WRONGPASS no\r\n", "redis-login"),
        (None, "/", 3, "-NOAUTH HELLO must be\r\n", "redis-login"),
        (None, "/", 3, "-NOPROTO unsupported\r\n", "redis-version"),
        (None, "/", 3, "-ERR unknown command `HELLO`\r\n", "redis-version"),
        (None, "/", 3, "what\r\n", "redis-reply"),
        (Some("pw"), "/", 2, "-ERR max number of clients reached\r\n", "redis-refused"),
        (None, "/1", 2, "-ERR max number of clients reached\r\n", "redis-refused"),
        (None, "/", 3, "-DENIED Redis is running in protected mode\r\n", "redis-refused"),
    ] {
        let step = prepared(&endpoint("", password, path), &[&["PING"]], resp);
        let events = events_of(&step, 1, &[reply.as_bytes()]);
        assert_eq!(events.iter().map(|event| of(event)).collect::<Vec<_>>(), [failure], "{reply}");
        check(&step, 1, reply.as_bytes(), &[&events[0]]);
    }
}

#[test]
fn mistakes_have_a_key_a_cause_and_a_remedy_in_both_languages() {
    let plain = endpoint("", None, "/");
    let many: Vec<&[&str]> = vec![&["PING"]; 10_001];
    for (endpoint, commands, key, part) in [
        (&plain, &[][..], Some("command"), "empty"),
        (&plain, &[&["PING"][..], &[]], Some("command"), "empty"),
        (&plain, &[&[""]], Some("command"), "empty"),
        (&plain, &many, Some("command"), "10000"),
        (&plain, &[&["subscribe", "a"]], Some("command"), "SUBSCRIBE"),
        (&plain, &[&["PSUBSCRIBE", "a"]], Some("command"), "leave it out"),
        (&plain, &[&["SSUBSCRIBE", "a"]], Some("command"), "leave it out"),
        (&plain, &[&["UNSUBSCRIBE"]], Some("command"), "leave it out"),
        (&plain, &[&["Monitor"]], Some("command"), "leave it out"),
        (&plain, &[&["SYNC"]], Some("command"), "leave it out"),
        (&plain, &[&["PSYNC", "?", "-1"]], Some("command"), "leave it out"),
        (&plain, &[&["PING"], &["QUIT"]], Some("command"), "leave it out"),
        (&plain, &[&["RESET"]], Some("command"), "leave it out"),
        (&plain, &[&["HELLO", "3"]], Some("command"), "resp: 3"),
        (&plain, &[&["client", "reply", "OFF"]], Some("command"), "REPLY"),
        (&endpoint("", None, "/65536"), &[&["PING"]], None, "65535"),
        (&endpoint("", None, "/+1"), &[&["PING"]], None, "'+1'"),
        (&endpoint("", None, "/0?db=1"), &[&["PING"]], None, "database"),
        (&endpoint("", None, "/0/"), &[&["PING"]], None, "database"),
        (&endpoint("me", None, "/"), &[&["PING"]], None, "redis://user:password@host"),
    ] {
        let (request, _) = fields(commands, 2);
        let mistake = PROTOCOL.prepare(endpoint, &StepFields::new(&request)).map(|_| ()).expect_err(part);
        assert_eq!(mistake.key, key, "{}", mistake.en);
        assert!(mistake.en.contains(part), "{}", mistake.en);
        assert!(!mistake.zh.is_ascii());
    }
    let nothing = CustomRequest::default();
    let mistake = PROTOCOL.prepare(&plain, &StepFields::new(&nothing)).map(|_| ()).expect_err("no command");
    assert_eq!(mistake.key, Some("command"));
    for command in [&["CLIENT", "SETNAME", "reply"][..], &["GET", "QUIT"], &["PUBLISH", "a", "b"]] {
        assert!(PROTOCOL.prepare(&plain, &StepFields::new(&fields(&[command], 2).0)).is_ok());
    }
}

#[test]
fn a_first_word_that_differs_is_not_refused() {
    let (mut request, _) = fields(&[&["${verb}", "k"]], 2);
    request.texts[0].is_constant = false;
    let step = PROTOCOL.prepare(&endpoint("", None, "/"), &StepFields::new(&request)).expect("a valid step");
    let mut bytes = Vec::new();
    step.write(&Texts::new(&[b"get".to_vec(), b"a".to_vec()]), &mut bytes);
    assert_eq!((step.name().as_str(), bytes.as_slice()), ("${VERB}", &b"*2\r\n$3\r\nget\r\n$1\r\na\r\n"[..]));
}

#[test]
fn failures_belong_to_the_protocol() {
    for failure in PROTOCOL.about().failures {
        assert!(failure.name.starts_with("redis-"));
        assert!(!failure.cause.zh.is_ascii() && !failure.remedy.zh.is_ascii(), "{}", failure.name);
    }
}

fn view(response: &[u8]) -> Value {
    let (step, _) = prepared(&endpoint("", None, "/"), &[&["PING"]], 2);
    let mut json = b"before".to_vec();
    step.view(response, &mut json);
    let text = String::from_utf8(json).expect("UTF-8");
    let text = text.strip_prefix("before").expect("it is appended");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn replies_are_shown_as_json() {
    for (reply, json) in [
        ("", "[]"),
        ("+OK\r\n", r#"["OK"]"#),
        ("$6\r\na\"\\\n\t\u{1}\r\n", r#"["a\"\\\n\t\u0001"]"#),
        (":+07\r\n:-3\r\n", "[7,-3]"),
        ("-ERR \"x\"\r\n!5\r\nERR y\r\n", r#"[{"error":"ERR \"x\""},{"error":"ERR y"}]"#),
        ("$-1\r\n*-1\r\n_\r\n", "[null,null,null]"),
        ("*2\r\n*0\r\n~2\r\n:1\r\n:2\r\n", "[[[],[1,2]]]"),
        (",1.5\r\n,-0.25\r\n,10\r\n,inf\r\n,nan\r\n", r#"[1.5,-0.25,10,"inf","nan"]"#),
        ("#t\r\n#f\r\n", "[true,false]"),
        ("(123456789012345678901\r\n", r#"["123456789012345678901"]"#),
        ("=7\r\ntxt:a:b\r\n", r#"["a:b"]"#),
        ("%2\r\n+a\r\n:1\r\n:2\r\n*0\r\n", r#"[{"a":1,"2":[]}]"#),
        ("%2\r\n%1\r\n+a\r\n+b\r\n_\r\n_\r\n#t\r\n", r#"[{"[...]":null,"null":true}]"#),
        ("|1\r\n+ttl\r\n:3\r\n+v\r\n", r#"["v"]"#),
        ("*1\r\n|1\r\n+a\r\n%1\r\n+b\r\n+c\r\n+v\r\n", r#"[["v"]]"#),
        ("+a\r\n>1\r\n+p\r\n+b\r\n", r#"["a","b"]"#),
        (">1\r\n+p\r\n+b\r\n", r#"["b"]"#),
        ("+a\r\n*2\r\n+b\r\n", r#"["a"]"#),
        ("+a\r\nwhat\r\n+b\r\n", r#"["a"]"#),
    ] {
        let expected: Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(view(reply.as_bytes()), expected, "{reply}");
        for at in 0..reply.len() {
            let cut = view(&reply.as_bytes()[..at]);
            assert!(cut.as_array().is_some_and(|cut| expected.as_array().is_some_and(|all| all.starts_with(cut))));
        }
    }
    assert_eq!(view(b"$3\r\n\xff\xfea\r\n"), serde_json::json!(["\u{fffd}\u{fffd}a"]));
}

#[test]
fn hostile_replies_are_shown_as_json() {
    for reply in [
        "*1\r\n".repeat(100_000),
        "|1\r\n".repeat(100_000),
        "|0\r\n".repeat(100_000),
        format!("{}+x\r\n", "|1\r\n+a\r\n+b\r\n".repeat(100_000)),
        format!("{}+x\r\n", "%1\r\n".repeat(31)),
        "*1000000000\r\n:1\r\n".to_owned(),
        "$536870912\r\nx".to_owned(),
        "$-5\r\n".to_owned(),
    ] {
        assert!(view(reply.as_bytes()).as_array().is_some_and(|shown| shown.len() <= 1));
    }
    // Keys of keys of keys, all of them whole: their text must not double with each level.
    let keys = (0..31).fold("+k\r\n".to_owned(), |key, _| format!("%1\r\n{key}+v\r\n"));
    assert_eq!(view(keys.as_bytes()), serde_json::json!([{"[...]": "v"}]));
}
