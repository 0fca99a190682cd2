//! gRPC against a server on grpc-go (`tests/peers/grpc`), and grpcurl against ours.

mod json_cases;
mod mistake_cases;
mod peer;

use std::io::Write;
use std::process::{Command, Stdio};

use crate::authority::{Authority, GOOD};
use crate::binary::{Served, onrush, output, text};
use crate::{closed_port, usage};
use json_cases::{REFUSED, UNDERSTOOD};
use mistake_cases::MISTAKES;
use peer::{Peer, folder, peer_protos, proto, run, tool};

#[test]
fn what_grpc_go_counts_is_what_we_count() {
    let peer = Peer::start(&[]);
    let mut before = 0;
    for driver in ["uring", "poll"] {
        let seen = run(&[
            &peer.url("/hello.Greeter/SayHello"),
            "-d",
            "{\"name\":\"world\"}",
            "-c",
            "10",
            "--streams",
            "10",
            "-n",
            "4000",
            "--driver",
            driver,
        ]);
        assert_eq!(seen["requests"]["succeeded"], 4_000, "{seen:#}");
        assert_eq!(seen["grpc_statuses"]["OK"], 4_000, "{seen:#}");
        assert_eq!(seen["messages"]["sent"], 4_000);
        assert_eq!(seen["messages"]["received"], 4_000);
        assert_eq!(peer.calls() - before, 4_000);
        before = peer.calls();
    }
    assert!(peer.messages().iter().all(|line| line == "0a05776f726c64 {\"name\":\"world\"}"));
}

#[test]
fn streams_of_each_kind() {
    let peer = Peer::start(&[]);
    let served = Served::start();
    let own = served.url.replace("http://", "grpc://");
    let three = r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#;
    // Path, data, messages sent and received in each call, those that are timed, and the gaps.
    let cases = [
        ("/hello.Greeter/SayHello", r#"{"name":"a"}"#, 1, 1, 0, 0),
        ("/hello.Greeter/SayHellos", r#"{"name":"a","replies":5}"#, 1, 5, 1, 4),
        ("/hello.Greeter/GreetAll", three, 3, 1, 1, 0),
        ("/hello.Greeter/GreetAll", "{\"name\":\"a\"}\n{\"name\":\"b\"}\n", 2, 1, 1, 0),
        ("/hello.Greeter/Chat", three, 3, 3, 3, 0),
        ("/hello.Greeter/Chat", "[]", 0, 0, 0, 0),
    ];
    for (path, data, sent, received, timed, gaps) in cases {
        for url in [peer.url(path), format!("{own}{path}")] {
            for more in [&[][..], &["--message-interval", "5ms"], &["--grpc-encoding", "gzip"]] {
                if more.first() == Some(&"--message-interval") && sent < 2 {
                    continue;
                }
                let seen = run(&[&[&url, "-d", data, "-c", "4", "--streams", "3", "-n", "60"], more].concat());
                let what = format!("{url} {data} {more:?}: {seen:#}");
                assert_eq!(seen["requests"]["succeeded"], 60, "{what}");
                assert_eq!(seen["messages"]["sent"], 60 * sent, "{what}");
                assert_eq!(seen["messages"]["received"], 60 * received, "{what}");
                assert_eq!(seen["times"]["message"]["count"], 60 * timed, "{what}");
                assert_eq!(seen["times"]["message_gap"]["count"], 60 * gaps, "{what}");
            }
        }
    }
}

/// Messages keep their intervals, and each response is timed against its own message. All of it is measured by the
/// engine's own clock, so no machine is too slow for it.
#[test]
fn messages_have_times_of_their_own() {
    let served = Served::start();
    let url = format!("{}/hello.Greeter/Chat", served.url.replace("http://", "grpc://"));
    let ms = |value: &serde_json::Value| value.as_f64().expect("a time") / 1e6;
    // The third is sent 200 ms after the first, or later, and has its response after 20 ms.
    let data = r#"{"name":"a"} {"name":"b"} {"name":"c","delayMs":20}"#;
    let seen = run(&[&url, "-d", data, "--message-interval", "100ms", "-c", "2", "-n", "4"]);
    let whole = &seen["times"]["succeeded"]["service_time"];
    assert!(ms(&whole["min_ns"]) >= 220.0, "{whole:#}");
    // The first response delays the others, so that all three come together: each took 100 ms less than the one before,
    // or even less. Together they are at least 300 ms less than three whole calls.
    let data = r#"{"name":"a","delayMs":300} {"name":"b"} {"name":"c"}"#;
    let seen = run(&[&url, "-d", data, "--message-interval", "100ms", "-c", "3", "-n", "3"]);
    let (message, whole) = (&seen["times"]["message"], &seen["times"]["succeeded"]["service_time"]);
    assert_eq!((&message["count"], &whole["count"]), (&9.into(), &3.into()));
    assert!(ms(&message["max_ns"]) >= 300.0, "{message:#}");
    assert!(ms(&message["mean_ns"]) + 100.0 <= ms(&whole["mean_ns"]), "{message:#} {whole:#}");
    // Four responses, 50 ms from one to the next: the time of the first and the gaps are the time from the message to
    // the last.
    let url = format!("{}/hello.Greeter/SayHellos", served.url.replace("http://", "grpc://"));
    let seen = run(&[&url, "-d", r#"{"name":"a","replies":4,"gapMs":50}"#, "-c", "1", "-n", "3"]);
    let (gap, message) = (&seen["times"]["message_gap"], &seen["times"]["message"]);
    assert_eq!((&gap["count"], &message["count"]), (&9.into(), &3.into()));
    let (all, whole) =
        (9.0 * ms(&gap["mean_ns"]) + 3.0 * ms(&message["mean_ns"]), &seen["times"]["succeeded"]["service_time"]);
    assert!(
        all >= 3.0 * 150.0 && all <= 3.0 * ms(&whole["mean_ns"]) * 1.000_001,
        "{all} {gap:#} {message:#} {whole:#}"
    );
}

/// Messages without a response in time are in the percentiles.
#[test]
fn messages_without_an_response_are_in_their_percentiles() {
    let served = Served::start();
    let url = format!("{}/hello.Greeter/Chat", served.url.replace("http://", "grpc://"));
    let data = r#"[{"name":"a"},{"name":"b","delayMs":60000},{"name":"c"}]"#;
    let args = ["-d", data, "-t", "2s", "-n", "4", "-c", "2", "--threshold", "p90(message) < 100ms"];
    let seen = run(&[&[url.as_str()], &args[..]].concat());
    assert_eq!((&seen["messages"]["sent"], &seen["messages"]["received"]), (&12.into(), &4.into()), "{seen:#}");
    let message = &seen["times"]["message"]["with_incomplete"];
    assert!(message["p50_ns"].as_u64() >= Some(2_000_000_000), "{message:#}");
    assert!(message["at_least"].as_array().is_some_and(|names| names.iter().any(|name| name == "p90")), "{message:#}");
    assert_eq!(seen["thresholds"][0]["holds"], false);
}

/// A single response to all messages is timed from the last of them.
#[test]
fn the_only_response_is_for_all_messages() {
    let served = Served::start();
    let url = format!("{}/hello.Greeter/GreetAll", served.url.replace("http://", "grpc://"));
    let seen = run(&[&url, "-d", "{}{}{}", "--message-interval", "100ms", "-n", "4", "-c", "2"]);
    let message = &seen["times"]["message"];
    assert_eq!(message["count"], 4);
    // It is timed from the last message on, which was sent 200 ms after the first, or later.
    let most = |times: &serde_json::Value| times["max_ns"].as_u64().expect("a number");
    let service = &seen["times"]["succeeded"]["service_time"];
    assert!(most(message) + 200_000_000 <= most(service), "{message:#} {service:#}");
}

/// Large and many: flow control windows and slow readers lose no response.
#[test]
fn long_streams_and_large_messages() {
    let (peer, served) = (Peer::start(&[]), Served::start());
    let folder = folder();
    let file = |name: &str, content: String| {
        std::fs::write(folder.join(name), content).expect("a file");
        format!("@{}", folder.join(name).display())
    };
    let long = "x".repeat(1_000);
    let many = file("many", format!("{{\"name\":\"{long}\"}}\n").repeat(2_000));
    let large = file("large", format!("{{\"name\":\"{}\"}}", "y".repeat(1_500_000)));
    for url in [peer.url(""), served.url.replace("http://", "grpc://")] {
        let cases = [
            ("SayHellos", r#"{"name":"x","replies":20000}"#, 1, 20_000),
            ("Chat", many.as_str(), 2_000, 2_000),
            ("GreetAll", many.as_str(), 2_000, 1),
            ("SayHello", large.as_str(), 1, 1),
        ];
        for (method, data, sent, received) in cases {
            let path = format!("{url}/hello.Greeter/{method}");
            let seen = run(&[&path, "-d", data, "-n", "3", "-c", "1", "--streams", "3", "-t", "60s"]);
            assert_eq!(seen["requests"]["succeeded"], 3, "{path}: {seen:#}");
            assert_eq!(seen["messages"]["sent"], 3 * sent, "{path}");
            assert_eq!(seen["messages"]["received"], 3 * received, "{path}");
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn statuses_and_deadlines_have_names() {
    let peer = Peer::start(&[]);
    let served = Served::start();
    for url in [peer.url(""), served.url.replace("http://", "grpc://")] {
        let url = format!("{url}/hello.Greeter/SayHello");
        let seen = run(&[&url, "-d", r#"{"name":"a","status":14}"#, "-n", "20", "-c", "2"]);
        assert_eq!(seen["failures"][0]["reason"], "grpc-status", "{seen:#}");
        assert_eq!(seen["failures"][0]["detail"], "UNAVAILABLE");
        assert_eq!(seen["failures"][0]["count"], 20);
        let remedy = seen["failures"][0]["remedy"].as_str().expect("a text");
        assert!(remedy.contains("as asked for"), "{remedy}");
        assert_eq!(seen["times"]["failed_answered"]["response_time"]["count"], 20);
        // The user defines success.
        let requested = ["-d", r#"{"name":"a","status":5}"#, "-n", "20", "-c", "2", "--expect-status", "ok,NOT_FOUND"];
        let seen = run(&[&[url.as_str()], &requested[..]].concat());
        assert_eq!(seen["requests"]["succeeded"], 20, "{seen:#}");
        let late = ["-d", r#"{"name":"a","delayMs":3000}"#, "-n", "6", "-c", "2", "-t", "100ms"];
        let seen = run(&[&[url.as_str()], &late[..]].concat());
        assert_eq!(seen["failures"][0]["reason"], "timeout", "{seen:#}");
        assert_eq!(seen["failures"][0]["count"], 6);
        // With that expectation every call succeeds.
        let seen = run(&[&[url.as_str()], &late[..], &["--expect-status", "DEADLINE_EXCEEDED"]].concat());
        assert_eq!(seen["requests"]["succeeded"], 6, "{seen:#}");
        assert_eq!(seen["grpc_statuses"]["DEADLINE_EXCEEDED"], 6, "{seen:#}");
        // The target has a shorter deadline than we.
        let reported = ["-d", r#"{"name":"a","delayMs":3000}"#, "-n", "2", "-c", "2", "-H", "grpc-timeout: 50m"];
        let seen = run(&[&[url.as_str()], &reported[..]].concat());
        let reason = (seen["failures"][0]["reason"].clone(), seen["failures"][0]["detail"].clone());
        let names = [("grpc-status", "DEADLINE_EXCEEDED"), ("stream-reset", "CANCEL")];
        assert!(names.iter().any(|(name, detail)| reason.0 == *name && reason.1 == *detail), "{seen:#}");
        let seen = run(&[&url, "-d", "a", "-n", "2", "-c", "2", "--expect-body", "Hello a"]);
        assert_eq!(seen["requests"]["succeeded"], 2, "{seen:#}");
        let zipped = ["-d", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "-n", "2", "-c", "2", "--grpc-encoding", "gzip"];
        let seen = run(&[&[url.as_str(), "--expect-body", "Hello aaaaaaaaaaaaaaaaaaaaaaaaaaaa"], &zipped[..]].concat());
        assert_eq!(seen["requests"]["succeeded"], 2, "{seen:#}");
    }
}

#[test]
fn metadata_arrives() {
    let peer = Peer::start(&[]);
    let url = peer.url("/hello.Greeter/SayHello");
    let seen = run(&[
        &url,
        "-H",
        "X-Mirror: yes",
        "-H",
        "x-a: 1",
        "-H",
        "x-a: 2",
        "-t",
        "9s",
        "-d",
        "a",
        "-n",
        "1",
        "-c",
        "1",
    ]);
    let remedy = seen["failures"][0]["remedy"].as_str().expect("a text");
    assert!(remedy.contains("x-a=1,2 x-mirror=yes deadline 9s"), "{remedy}");
    let seen = run(&[&url, "-H", "X-Mirror: yes", "-d", "a", "-n", "1", "-c", "1"]);
    assert!(seen["failures"][0]["remedy"].as_str().is_some_and(|text| text.contains("deadline none")), "{seen:#}");
}

#[test]
fn calls_over_tls() {
    let (folder, authority) = (folder(), Authority::new());
    authority.sign(&folder, "server", "127.0.0.1", GOOD);
    let file = |name: &str| folder.join(name).display().to_string();
    let (cert, key, ca) = (file("server.pem"), file("server.key"), file("ca.pem"));
    let peer = Peer::with(&["-cert", &cert, "-key", &key], folder.clone());
    let url = format!("grpcs://{}/hello.Greeter/SayHello", peer.address);
    let seen = run(&[&url, "--cacert", &ca, "-d", "a", "-n", "200", "-c", "4", "--streams", "5"]);
    assert_eq!(seen["requests"]["succeeded"], 200, "{seen:#}");
    assert_eq!(seen["connections"]["tls_handshakes"], 4);
    assert_eq!(peer.calls(), 200);
    // Reflection follows the same rules.
    for (language, says) in [("en", "is not signed by a trusted CA"), ("zh", "签发者不受信任")] {
        let done = output(&[&url, "-d", "a", "--lang", language]);
        let complaint = text(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{complaint}");
        assert!(complaint.contains(says) && complaint.contains("server of these tests"), "{complaint}");
    }
    let plain = output(&[&peer.url("/hello.Greeter/SayHello"), "-d", "a"]);
    assert_eq!(plain.status.code(), Some(3));
    // The server closes, or resets: either way the remedy is named.
    assert!(text(&plain.stderr).contains("grpcs://"), "{}", text(&plain.stderr));
    let served = Served::with(&["--tls"]);
    let url = format!("{}/hello.Greeter/Chat", served.url.replace("https://", "grpcs://"));
    let seen = run(&[&url, "-k", "-d", "a", "-n", "50", "-c", "2"]);
    assert_eq!(seen["requests"]["succeeded"], 50, "{seen:#}");
}

#[test]
fn services_are_described() {
    let served = Served::start();
    let own = served.url.replace("http://", "grpc://");
    let page = |args: &[&str]| {
        let done = output(&[&["grpc"], args].concat());
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", text(&done.stderr));
        text(&done.stdout)
    };
    let (new, old) = (Peer::start(&[]), Peer::start(&["-only-alpha"]));
    for peer in [&new, &old] {
        let names = page(&["list", &peer.url("")]);
        assert_eq!(names, "ApiServer\nhello.Greeter\nzoo.Mirror\n", "without the scheme too");
        assert_eq!(page(&["list", &peer.address]), names);
        let methods = page(&["list", &peer.url(""), "zoo.Mirror"]);
        assert_eq!(methods, "zoo.Mirror/Show\nzoo.Mirror/ShowAll\nzoo.Mirror/Only\n");
        assert_eq!(page(&["list", &peer.url("/zoo.Mirror")]), methods);
        let seen = run(&[&peer.url("/zoo.Mirror/Show"), "-d", r#"{"kind":"BIRD"}"#, "-n", "3", "-c", "1"]);
        assert_eq!(seen["requests"]["succeeded"], 3, "{seen:#}");
    }
    let animal = page(&["describe", &new.url(""), "zoo.Animal"]);
    for line in
        ["  map<string, int64> ages = 5;", "  oneof food {", "    zoo.Place meadow = 9;", "  optional int32 legs = 25;"]
    {
        assert!(animal.contains(line), "{line}: {animal}");
    }
    assert!(page(&["describe", &new.url(""), "zoo.Kind"]).contains("  OLD_FISH = -7;"));
    let method = page(&["describe", &own, "hello.Greeter/SayHello"]);
    assert!(method.starts_with("rpc SayHello(hello.HelloRequest) returns (hello.HelloReply);"), "{method}");
    let sample = method.lines().last().and_then(|line| line.strip_prefix("-d '")?.strip_suffix('\''));
    // The proposed message can be sent.
    let seen = run(&[&format!("{own}/hello.Greeter/SayHello"), "-d", sample.expect("a -d"), "-n", "1", "-c", "1"]);
    assert_eq!(seen["requests"]["succeeded"], 1);
    assert!(page(&["list", &own]).contains("grpc.reflection.v1.ServerReflection\n"));
    assert!(page(&["describe", &own]).contains("service Greeter {"));
    let file = proto("target/proto/hello.proto");
    assert_eq!(page(&["list", "--proto", &file]), "hello.Greeter\n");
    assert_eq!(page(&["describe", "--proto", &file, "hello.HelloReply"]).lines().count(), 4);
}

/// Files instead of reflection.
#[test]
fn files_describe_messages() {
    let peer = Peer::start(&["-no-reflection"]);
    let (animals, url) = (proto("cli/tests/peers/grpc/proto/zoo.proto"), peer.url("/zoo.Mirror/Show"));
    let set = peer.folder.join("set").display().to_string();
    let written = Command::new(tool("grpcurl"))
        .args(["-import-path", &proto("cli/tests/peers/grpc/proto"), "-proto", "zoo.proto", "-protoset-out", &set])
        .args(["describe", "zoo.Mirror"])
        .output()
        .expect("grpcurl starts");
    assert!(written.status.success(), "{}", text(&written.stderr));
    let imports = proto("cli/tests/peers/grpc/proto");
    let sources =
        [vec!["--proto", &animals], vec!["--proto", "zoo.proto", "--import-path", &imports], vec!["--protoset", &set]];
    for source in sources {
        let seen = run(&[&[url.as_str(), "-d", r#"{"ages":{"x":"5"}}"#, "-n", "2", "-c", "1"], &source[..]].concat());
        assert_eq!(seen["requests"]["succeeded"], 2, "{source:?}: {seen:#}");
    }
    assert_eq!(peer.messages(), vec![r#"2a050a01781005 {"ages":{"x":"5"}}"#; 6]);
}

/// The notation of go-stress-testing.
#[test]
fn a_word_is_a_message() {
    let peer = Peer::start(&[]);
    for url in [peer.url(""), peer.url("/"), peer.url("/ApiServer/HelloWorld"), peer.url("/hello.Greeter/SayHello")] {
        let seen = run(&[&url, "-d", "world", "-n", "4", "-c", "2"]);
        assert_eq!(seen["requests"]["succeeded"], 4, "{url}: {seen:#}");
    }
    let messages = peer.messages();
    assert_eq!(messages.len(), 16);
    assert!(messages.iter().all(|line| line.starts_with("0a05776f726c64 ")), "{messages:#?}");
    // There, no description is needed.
    let silent = Peer::start(&["-no-reflection"]);
    assert_eq!(run(&[&silent.url(""), "-d", "世界", "-n", "4", "-c", "2"])["requests"]["succeeded"], 4);
}

/// JSON becomes what grpc-go makes of the same JSON.
#[test]
fn json_is_understood_as_by_others() {
    let lines: String = UNDERSTOOD.iter().chain(REFUSED).map(|case| format!("{case}\n")).collect();
    let mut judge = Command::new(tool("grpcpeer"))
        .args(["json", "-proto", &peer_protos(), "-message", "zoo.Animal"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the peer starts");
    judge.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("it reads");
    let judged = text(&judge.wait_with_output().expect("it ends").stdout);
    let judged: Vec<&str> = judged.lines().collect();
    assert_eq!(judged.len(), UNDERSTOOD.len() + REFUSED.len());
    let peer = Peer::start(&[]);
    let url = peer.url("/zoo.Mirror/ShowAll");
    let (mut differ, mut expected) = (Vec::new(), Vec::new());
    for (case, said) in UNDERSTOOD.iter().zip(&judged) {
        let done = output(&[&url, "-d", case, "-n", "1", "-c", "1", "--quiet"]);
        match (said.starts_with("error"), done.status.code()) {
            (false, Some(0)) => expected.push((*case, *said)),
            (true, Some(2)) => {}
            (is_error, code) => differ.push(format!("{case}: {said}, {is_error}, {code:?}: {}", text(&done.stderr))),
        }
    }
    for (case, said) in REFUSED.iter().zip(&judged[UNDERSTOOD.len()..]) {
        let code = output(&[&url, "-d", case, "-n", "1", "-c", "1", "--quiet"]).status.code();
        if !said.starts_with("error") || code != Some(2) {
            differ.push(format!("{case}: {said}, {code:?}"));
        }
    }
    let messages = peer.messages();
    for ((case, said), got) in expected.iter().zip(&messages) {
        if said != got {
            differ.push(format!("{case}: grpc-go makes {said}, and got {got}"));
        }
    }
    assert_eq!((messages.len(), differ), (expected.len(), Vec::<String>::new()));
    // All of them as one stream, in an array and in lines.
    let good: Vec<&str> = expected.iter().map(|(case, _)| *case).collect();
    for data in [format!("[{}]", good.join(",\n")), good.join("\n")] {
        let before = peer.messages().len();
        let file = peer.folder.join("data");
        std::fs::write(&file, data).expect("a file");
        let seen = run(&[&url, "-d", &format!("@{}", file.display()), "-n", "1", "-c", "1"]);
        assert_eq!(seen["messages"]["received"], good.len(), "{seen:#}");
        let said: Vec<&str> = expected.iter().map(|(_, said)| *said).collect();
        assert_eq!(peer.messages()[before..], said);
    }
}

#[test]
fn grpcurl_understands_our_server() {
    let (plain, secure) = (Served::start(), Served::with(&["--tls"]));
    for (served, flag) in [(&plain, "-plaintext"), (&secure, "-insecure")] {
        let address = served.url.split_once("://").expect("a scheme").1;
        let ask = |args: &[&str]| {
            let done = Command::new(tool("grpcurl")).arg(flag).args(args).output().expect("grpcurl starts");
            text(&done.stdout) + &text(&done.stderr)
        };
        let services = ask(&[address, "list"]);
        assert!(services.contains("hello.Greeter") && services.contains("ApiServer"), "{services}");
        assert!(ask(&[address, "describe", "hello.HelloRequest"]).contains("uint32 delay_ms = 2;"));
        let call = |data: &str, method: &str| ask(&["-d", data, address, &format!("hello.Greeter/{method}")]);
        assert!(call(r#"{"name":"you"}"#, "SayHello").contains("Hello you"));
        assert_eq!(call(r#"{"name":"x","replies":300}"#, "SayHellos").matches("Hello x").count(), 300);
        assert!(call(r#"{"name":"a"}{"name":"b"}"#, "GreetAll").contains("Hello a, b"));
        let chat = call(r#"{"name":"a","delay_ms":30}{"name":"b"}"#, "Chat");
        assert!(chat.find("Hello a").is_some_and(|at| chat.find("Hello b") > Some(at)), "{chat}");
        for (status, name) in [(5, "NotFound"), (16, "Unauthenticated")] {
            let data = format!("{{\"name\":\"a\",\"status\":{status}}}");
            for method in ["SayHello", "SayHellos", "GreetAll", "Chat"] {
                let said = call(&data, method);
                assert!(said.contains(&format!("Code: {name}")) && said.contains("as asked for"), "{method}: {said}");
            }
        }
        let late = ask(&["-max-time", "3", "-d", r#"{"delay_ms":60000}"#, address, "hello.Greeter/SayHello"]);
        assert!(late.contains("DeadlineExceeded"), "{late}");
        let import = proto("target/proto");
        let no_such = ask(&["-import-path", &import, "-proto", "hello.proto", address, "hello.Greeter/NoSuch"]);
        assert!(no_such.contains("does not include a method"), "{no_such}");
        assert!(ask(&[address, "describe", "no.Such"]).contains("not found"));
    }
}

/// One line with place, cause and remedy; in both languages.
#[test]
fn mistakes_are_named() {
    let (peer, silent) = (Peer::start(&[]), Peer::start(&["-no-reflection"]));
    let served = Served::start();
    let write = |name: &str, content: &str| {
        let path = peer.folder.join(name);
        std::fs::write(&path, content).expect("a file");
        path.display().to_string()
    };
    let broken = write("broken.proto", "syntax = \"proto3\";\nmessage A {\n  string a = ;\n}\n");
    let edition = write("edition.proto", "// new\nedition = \"2023\";\nmessage A { string a = 1; }\n");
    let lonely = write("lonely.proto", "syntax = \"proto3\";\nimport \"nowhere/at/all.proto\";\n");
    let noise = write("noise", "\u{1}\u{2}this is no set");
    let lines = write("lines", "{\"name\":\"a\"}\n{\"name\":5}\n");
    let greeter = |method: &str| peer.url(&format!("/hello.Greeter/{method}"));
    let words = [
        ("SAY", greeter("SayHello")),
        ("CHAT", greeter("Chat")),
        ("REFUSED", format!("grpc://127.0.0.1:{}/a.B/C", closed_port())),
        ("LINES", format!("@{lines}")),
        ("ZOO", peer.url("/zoo.Mirror/Show")),
        ("SILENT", silent.url("/hello.Greeter/SayHello")),
        ("NO_METHOD", greeter("SayGoodbye")),
        ("SERVICE", peer.url("/hello.Greeter")),
        ("UNKNOWN", peer.url("/no.Such/Method")),
        ("OWN_UNKNOWN", format!("{}/no.Such/Method", served.url.replace("http://", "grpc://"))),
        ("BROKEN", broken),
        ("EDITION", edition),
        ("LONELY", lonely),
        ("NOISE", noise),
        ("HELLO", proto("target/proto/hello.proto")),
        ("ADDRESS", peer.address.clone()),
    ];
    let web = Served::start();
    let replaced =
        |word: &&'static str| words.iter().find(|(name, _)| name == word).map_or(*word, |(_, real)| real.as_str());
    for (line, code, en, zh) in MISTAKES {
        let args: Vec<&str> = line.iter().map(replaced).collect();
        for (language, says) in [("en", en), ("zh", zh)] {
            let done = onrush(&args).args(["--lang", language]).output().expect("the binary starts");
            usage::check(&done, *code, says);
        }
    }
    drop(web);
}

/// A server with HTTP/2 but without gRPC.
#[test]
fn an_response_of_another_kind_is_named() {
    let nginx = crate::nginx::Nginx::with("http2", "", |_| {});
    let url = format!("grpc://127.0.0.1:{}/hello.Greeter/SayHello", nginx.port);
    let done = output(&[&url, "-d", "a"]);
    assert_eq!(done.status.code(), Some(3));
    assert!(text(&done.stderr).contains("gave no answer of gRPC"), "{}", text(&done.stderr));
    let file = proto("target/proto/hello.proto");
    let seen = run(&[&url, "-d", "a", "--proto", &file, "-n", "5", "-c", "1"]);
    assert_eq!(seen["failures"][0]["reason"], "protocol", "{seen:#}");
    assert_eq!(seen["failures"][0]["detail"], "content-type", "{seen:#}");
    assert_eq!(seen["statuses"]["200"], 5, "{seen:#}");
}
