//! Replies, pushes and failures.

use super::super::connection::PUSH_BYTES_MAX;
use super::super::resp::{BULK_BYTES_MAX, DEPTH_MAX, ELEMENTS_MAX, LINE_BYTES_MAX};
use super::*;

const REPLY: &str = "Custom(0)";
const TOO_LARGE: &str = "Custom(3)";

fn get() -> (Box<dyn Request>, Vec<u8>) {
    prepared(&endpoint("", None, "/"), &[&["GET", "k"]], 2)
}

/// One reply, all of it, is the response, also between others.
fn check_reply(reply: &str, status: &str) {
    let shown = reply.as_bytes().escape_ascii().to_string();
    check(&get(), 2, format!("{reply}{reply}").as_bytes(), &[&shown, status, &shown, status]);
}

#[test]
fn replies_of_each_type_end_where_they_end() {
    for reply in [
        "+OK\r\n",
        "+\r\n",
        ":-12\r\n",
        "$5\r\na\r\nb\n\r\n",
        "$0\r\n\r\n",
        "$-1\r\n",
        "*-1\r\n",
        "*0\r\n",
        "*2\r\n*1\r\n$1\r\nx\r\n*0\r\n",
        "_\r\n",
        "#t\r\n",
        ",1.5e3\r\n",
        ",-inf\r\n",
        ",nan\r\n",
        "(-3492890328409238509324850943850943825024385\r\n",
        "=7\r\ntxt:abc\r\n",
        "%2\r\n+a\r\n:1\r\n+b\r\n%0\r\n",
        "~2\r\n:1\r\n~0\r\n",
        "|1\r\n+ttl\r\n*1\r\n:3\r\n+value\r\n",
        "*2\r\n|1\r\n+a\r\n+b\r\n:1\r\n|0\r\n:2\r\n",
        "*2\r\n-ERR inside\r\n!5\r\nERR x\r\n",
    ] {
        check_reply(reply, "OK true");
    }
}

#[test]
fn the_first_word_of_an_error_is_the_status() {
    for (reply, status) in [
        ("-WRONGTYPE Operation against\r\n", "WRONGTYPE false"),
        ("-ERR\r\n", "ERR false"),
        ("-MOVED 3999 127.0.0.1:6381\r\n", "MOVED false"),
        ("!21\r\nSYNTAX invalid syntax\r\n", "SYNTAX false"),
        ("!0\r\n\r\n", "ERROR false"),
        ("-\r\n", "ERROR false"),
        ("- ERR\r\n", "ERROR false"),
        ("-\u{e9}t\u{e9}\r\n", "ERROR false"),
        ("-ABCDEFGHIJKLMNOPQRSTUVWXYZ_-45678 x\r\n", "ERROR false"),
        ("-ABCDEFGHIJKLMNOPQRSTUVWXYZ_-4567 x\r\n", "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-4567 false"),
        ("|1\r\n+a\r\n-ERR no\r\n-NOSCRIPT no\r\n", "NOSCRIPT false"),
    ] {
        check_reply(reply, status);
    }
}

#[test]
fn a_pipeline_is_one_response() {
    let step = prepared(&endpoint("", None, "/"), &[&["SET", "a", "1"], &["LPUSH", "a", "1"], &["GET", "b"]], 2);
    let first = "+OK\r\n-WRONGTYPE no\r\n-ERR later\r\n";
    let second = "+OK\r\n:1\r\n$-1\r\n";
    let shown = [first, second].map(|bytes| bytes.as_bytes().escape_ascii().to_string());
    let expected = [shown[0].as_str(), "WRONGTYPE false", &shown[1], "OK true"];
    check(&step, 2, format!("{first}{second}").as_bytes(), &expected);
}

#[test]
fn pushes_are_messages_wherever_they_come() {
    let step = prepared(&endpoint("", None, "/"), &[&["PING"], &["PING"]], 2);
    let push = ">2\r\n+invalidate\r\n*1\r\n$3\r\nabc\r\n";
    let message = format!("message {} false {}", push.as_bytes().escape_ascii(), push.len());
    let bytes = format!("{push}+A\r\n{push}{push}+B\r\n>0\r\n");
    let expected = [&message, "+A\\r\\n", &message, &message, "+B\\r\\n", "OK true", "message >0\\r\\n false 4"];
    check(&step, 1, bytes.as_bytes(), &expected);
}

#[test]
fn a_large_push_is_cut() {
    let content = "x".repeat(PUSH_BYTES_MAX + 10);
    let push = format!(">1\r\n${}\r\n{content}\r\n", content.len());
    let events = events_of(&get(), 1, &[push.as_bytes(), b"+OK\r\n"]);
    assert!(events[0].starts_with("message >1\\r\\n$65546\\r\\nxxx"));
    assert!(events[0].ends_with(&format!("x true {}", push.len())));
    assert_eq!(events[1..], ["+OK\\r\\n", "OK true"]);
}

#[test]
fn what_is_no_reply_is_a_failure() {
    for bytes in [
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "\r\n",
        "\0",
        "+OK\n",
        "+O\rK\r\n",
        ":\r\n",
        ":1.5\r\n",
        ":9223372036854775808\r\n",
        "$\r\n",
        "$-2\r\n",
        "$+1\r\n",
        "*-2\r\n",
        "%-1\r\n",
        ">-1\r\n",
        "!-1\r\n",
        "$?\r\n;4\r\nHell\r\n",
        "*?\r\n.\r\n",
        "$1x\r\n",
        "#maybe\r\n",
        ",one\r\n",
        "(\r\n",
        "(+-1\r\n",
        "_ \r\n",
        "=3\r\ntxt\r\n",
    ] {
        check(&get(), 1, bytes.as_bytes(), &[REPLY]);
    }
    check(&get(), 1, b"$1\r\nab\r\n", &["$1\\r\\na", REPLY]);
    check(&get(), 1, b"$1\r\na\rb", &["$1\\r\\na\\r", REPLY]);
    check(&get(), 1, b"*2\r\n:1\r\n>1\r\n:1\r\n", &["*2\\r\\n:1\\r\\n", REPLY]);
    check(&get(), 1, b"|1\r\n+a\r\n+b\r\n>0\r\n", &["|1\\r\\n+a\\r\\n+b\\r\\n", REPLY]);
}

#[test]
fn a_server_that_is_full_sends_no_reply() {
    for error in ["-ERR max number of clients reached\r\n", "-DENIED Redis is running in protected mode.\r\n"] {
        check(&get(), 1, error.as_bytes(), &["Custom(5)"]);
    }
}

#[test]
fn lengths_and_depth_have_bounds() {
    for bytes in [
        format!("${}\r\n", BULK_BYTES_MAX + 1),
        format!("!{}\r\n", u128::MAX),
        format!("*{}\r\n", ELEMENTS_MAX + 1),
        format!("%{}\r\n", "9".repeat(100)),
    ] {
        check(&get(), 1, bytes.as_bytes(), &[TOO_LARGE]);
    }
    let deep = "*1\r\n".repeat(DEPTH_MAX);
    let shown = deep.as_bytes().escape_ascii().to_string();
    check(&get(), 1, format!("{deep}*1\r\n").as_bytes(), &[&shown, TOO_LARGE]);
    check(&get(), 1, format!("{deep}*0\r\n").as_bytes(), &[&format!("{shown}*0\\r\\n"), "OK true"]);
}

#[test]
fn lines_have_a_bound() {
    let longest = format!("+{}\r\n", "x".repeat(LINE_BYTES_MAX - 3));
    let longer = format!("+{}\r\n", "x".repeat(LINE_BYTES_MAX - 2));
    for pieces in [1, 7, 4_096, LINE_BYTES_MAX - 1, LINE_BYTES_MAX + 9] {
        let cut = |text: &str| events_of(&get(), 1, &text.as_bytes().chunks(pieces).collect::<Vec<_>>());
        assert_eq!(cut(&longest)[1..], ["OK true"], "pieces of {pieces}");
        assert_eq!(cut(&longer), [TOO_LARGE], "pieces of {pieces}");
    }
}

#[test]
fn announced_elements_need_no_memory() {
    let mut driven = Driven::new(&get(), 1);
    driven.handle(b"*1000000000\r\n");
    for _ in 0..1_000 {
        driven.handle(b"*1000000000\r\n");
        if driven.is_broken {
            break;
        }
    }
    assert_eq!(driven.into_events().last().map(String::as_str), Some(TOO_LARGE), "32 levels are the most");

    let mut driven = Driven::new(&get(), 1);
    driven.handle(format!("*1000000000\r\n{}", "-ERR x\r\n".repeat(10_000)).as_bytes());
    assert!(!driven.is_broken && driven.events.is_empty());
    assert_eq!(driven.connection.begun(), b"");
}

#[test]
fn an_error_of_many_words_has_one_status() {
    let error = format!("-ERR{}\r\n", " word".repeat(10_000));
    assert_eq!(events_of(&get(), 1, &[error.as_bytes()])[1..], ["ERR false"]);
}

#[test]
fn unsolicited_bytes_are_bodies_without_end() {
    check(&get(), 0, b"+OK\r\nwhat\r\n", &["+OK\\r\\nwhat\\r\\n"]);
    check(&get(), 1, b"+OK\r\n-ERR x\r\n>0\r\n", &["+OK\\r\\n", "OK true", "-ERR x\\r\\n>0\\r\\n"]);
    let mut driven = Driven::new(&get(), 0);
    assert_eq!((driven.connection.room(), driven.connection.is_used_up()), (1, false));
    driven.handle(b"+");
    assert_eq!((driven.connection.room(), driven.connection.is_used_up()), (0, true));
    assert!(!driven.connection.is_idle());
}

#[test]
fn an_idle_connection_parks_and_is_logged_in_when_it_resumes() {
    use wire::http1::Ending;

    let step = prepared(&endpoint("", Some("secret"), "/2"), &[&["PING"]], 3);
    let mut driven = Driven::new(&step, 1);
    let states = |driven: &mut Driven| {
        let connection = &mut driven.connection;
        (connection.room(), connection.is_idle(), connection.park().is_some(), connection.handle_end())
    };
    assert_eq!(states(&mut driven), (0, false, false, Ending::BeforeAnswer), "before the login");
    driven.handle(b"%0\r\n+OK\r\n");
    assert_eq!(driven.events, ["Ready"]);
    assert_eq!(states(&mut driven), (1, false, false, Ending::BeforeAnswer), "in an exchange");
    driven.handle(b"$");
    assert_eq!(states(&mut driven), (1, false, false, Ending::Early), "in a response");
    driven.handle(b"1\r\nx\r\n");
    assert_eq!(states(&mut driven), (1, true, true, Ending::BeforeAnswer), "after it");
    driven.handle(b">1\r\n");
    assert_eq!((driven.connection.is_idle(), driven.connection.park()), (false, None), "in a push");

    let mut resumed = step.0.resume(protocol::IdleState::default());
    let mut out = Vec::new();
    resumed.start(&mut out);
    assert_eq!((out.as_slice(), resumed.room(), resumed.is_idle()), (&b""[..], 1, true));
}
