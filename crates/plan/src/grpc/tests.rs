use crate::{Call, Flags, PlanError, Schema};

const ZOO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/peers/grpc/proto/zoo.proto");
const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/proto/hello.proto");

fn schema(path: &str) -> Schema {
    Schema::from_protos(&[path.to_owned()], &[]).expect("a good file")
}

fn call(schema: &Schema, path: &str, data: Option<&str>) -> Result<Call, PlanError> {
    let flags = Flags {
        url: Some(format!("grpc://a:1{path}")),
        data: data.map(str::to_owned),
        user_agent: "test".to_owned(),
        ..Flags::default()
    };
    let plan = flags.plan_with(Some(schema))?;
    Ok(plan.scenarios[0].steps[0].call.clone().expect("a call"))
}

#[test]
fn texts_become_messages() {
    let schema = schema(HELLO);
    let a = b"\x0a\x01a".to_vec();
    let cases = [
        ("SayHello", None, vec![vec![]]),
        ("SayHello", Some(""), vec![vec![]]),
        ("SayHello", Some(" {} "), vec![vec![]]),
        ("SayHello", Some(r#"{"name":"a"}"#), vec![a.clone()]),
        ("SayHello", Some("a"), vec![a.clone()]),
        ("SayHello", Some("1"), vec![b"\x0a\x011".to_vec()]),
        ("SayHello", Some("a b"), vec![b"\x0a\x03a b".to_vec()]),
        ("SayHello", Some("1 x"), vec![b"\x0a\x031 x".to_vec()]),
        ("GreetAll", None, vec![vec![]]),
        ("GreetAll", Some(""), vec![]),
        ("GreetAll", Some("[]"), vec![]),
        ("GreetAll", Some(r#"[{"name":"a"},{}]"#), vec![a.clone(), vec![]]),
        ("GreetAll", Some("{\"name\":\"a\"}\n{\"name\":\"a\"}"), vec![a.clone(), a.clone()]),
        ("Chat", Some("a"), vec![a.clone()]),
        ("Chat", Some(r#"{"name":"a"}{}"#), vec![a, vec![]]),
    ];
    for (method, data, expected) in cases {
        let path = format!("/hello.Greeter/{method}");
        assert_eq!(call(&schema, &path, data).map(|call| call.messages), Ok(expected), "{method} {data:?}");
    }
}

#[test]
fn lists_are_messages_where_they_are_meant() {
    let schema = schema(ZOO);
    let one = call(&schema, "/zoo.Mirror/Only", Some("[1, [2]]")).expect("a value");
    assert_eq!(one.messages.len(), 1);
}

#[test]
fn places_are_those_of_the_whole_text() {
    let schema = schema(HELLO);
    let cases = [
        ("SayHello", r#"{"name":5}"#, 1, 9),
        ("SayHello", "{\n\"nam\": 1}", 2, 5),
        ("SayHello", r#"{"name":"#, 1, 8),
        ("Chat", "{}\n  {\"name\":5}", 2, 11),
        ("Chat", "[{},\n {\"name\":5}]", 2, 10),
        ("Chat", "[{}", 1, 3),
        ("Chat", "[{}] {}", 1, 6),
        ("Chat", "{}\nx", 2, 1),
    ];
    for (method, data, line, column) in cases {
        match call(&schema, &format!("/hello.Greeter/{method}"), Some(data)) {
            Err(PlanError::Json { line: l, column: c, message, .. }) => {
                assert_eq!((l, c, &*message), (line, column, "hello.HelloRequest"), "{data}");
            }
            other => panic!("{data}: {other:?}"),
        }
    }
    assert!(matches!(
        call(&schema, "/hello.Greeter/SayHello", Some("{}{}")),
        Err(PlanError::OneMessage { given: 2, .. })
    ));
}

#[test]
fn headers_are_complete() {
    let flags = Flags {
        url: Some("grpc://a/hello.Greeter/SayHello".to_owned()),
        headers: vec!["X-A: 1".to_owned(), "User-Agent:".to_owned(), "grpc-timeout:".to_owned()],
        timeout: Some("3s".to_owned()),
        grpc_encoding: Some("gzip".to_owned()),
        protos: vec![HELLO.to_owned()],
        user_agent: "test".to_owned(),
        ..Flags::default()
    };
    let lines = |flags: &Flags| -> Vec<String> {
        let plan = flags.plan().expect("a good plan");
        let headers = &plan.scenarios[0].steps[0].request.headers;
        headers.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value))).collect()
    };
    let usual = ["host: a:80", "te: trailers", "content-type: application/grpc", "grpc-encoding: gzip"];
    let more = ["grpc-accept-encoding: identity,gzip", "X-A: 1"];
    assert_eq!(lines(&flags), [&usual[..], &more[..]].concat());
    let reported = Flags { headers: Vec::new(), grpc_encoding: None, ..flags };
    assert!(lines(&reported).contains(&"grpc-timeout: 3S".to_owned()));
}

#[test]
fn the_habit_of_go_stress_testing_needs_no_file() {
    for url in ["grpc://a:1", "grpc://a:1/"] {
        let flags = Flags { url: Some(url.to_owned()), data: Some("world".to_owned()), ..Flags::default() };
        assert_eq!(flags.draft().expect("good values").reflection(), Ok(None));
        let plan = flags.plan().expect("a good plan");
        let step = &plan.scenarios[0].steps[0];
        assert_eq!(step.request.path, "/ApiServer/HelloWorld");
        assert_eq!(step.call.as_ref().expect("a call").messages, [b"\x0a\x05world"]);
    }
}

#[test]
fn what_is_to_be_requested_is_known_beforehand() {
    let flags = |url: &str| Flags { url: Some(url.to_owned()), ..Flags::default() };
    let requested = flags("grpcs://a:1/x.Y/Z")
        .draft()
        .expect("good values")
        .reflection()
        .expect("good flags")
        .expect("something to ask");
    assert_eq!(requested.symbol.as_deref(), Some("x.Y"));
    assert!(requested.target.tls.is_some());
    for (given, seconds) in [(None, 30), (Some("10ms"), 5), (Some("60s"), 60)] {
        let timed = Flags { timeout: given.map(str::to_owned), ..flags("grpc://a:1/x.Y/Z") };
        let requested =
            timed.draft().expect("good values").reflection().expect("good flags").expect("something to ask");
        assert_eq!(requested.timeout.as_secs(), seconds, "{given:?}");
    }
    assert_eq!(flags("http://a/").draft().expect("good values").reflection(), Ok(None));
    for bad in ["grpc://a/x", "grpc://a/x/", "grpc://a//x", "grpc://a/x/y/z", "grpc://a/x/y?z", "grpc://a/?x"] {
        assert!(
            matches!(flags(bad).draft().expect("good values").reflection(), Err(PlanError::GrpcPath { .. })),
            "{bad}"
        );
    }
    assert!(matches!(flags("grpc://a/x.Y/Z").plan(), Err(PlanError::NoSchema { .. })));
}

#[test]
fn imports_that_are_missing_are_named() {
    let all = schema(ZOO);
    let bytes: Vec<Vec<u8>> = all.pool.files().map(|file| file.encode_to_vec()).collect();
    assert_eq!(crate::missing_imports(&bytes), Ok(vec![]));
    let zoo: Vec<Vec<u8>> =
        all.pool.files().filter(|file| file.name().ends_with("zoo.proto")).map(|file| file.encode_to_vec()).collect();
    assert_eq!(crate::missing_imports(&zoo), Ok(vec!["zoo/kinds.proto".to_owned()]));
    assert!(matches!(Schema::from_files(&zoo), Err(PlanError::Described { .. })));
    assert!(Schema::from_files(&bytes).is_ok());
}

/// However the path of a file is written, imports and the command line refer to the same file.
#[test]
fn a_file_is_found_by_any_of_its_paths() {
    let root = std::env::temp_dir().join(format!("onrush-protos-{}", std::process::id()));
    let folder = root.join("deep/er");
    std::fs::create_dir_all(&folder).expect("room");
    let write = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("room");
    let head = "syntax = \"proto3\";\n";
    let service =
        |name: &str| format!("{head}service {name} {{ rpc Go(M) returns (M); }}\nmessage M {{ string a = 1; }}\n");
    write("one.proto", &service("One"));
    write("marked.proto", &format!("\u{feff}{}", service("Marked")));
    write(
        "deep/er/two.proto",
        &format!("\u{feff}{head}import \"three.proto\";\nservice Two {{ rpc Go(N) returns (N); }}\n"),
    );
    write("deep/er/three.proto", &format!("\u{feff}{head}message N {{ string a = 1; }}\n"));
    write("deep/one.proto", &service("Other"));
    let linked = root.join("link");
    std::os::unix::fs::symlink(&folder, &linked).expect("a link");
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let read = |path: &str, imports: &[String]| {
        Schema::from_protos(&[path.replace("ROOT", &text(&root))], imports).map(|schema| schema.services())
    };
    for (path, service) in [
        ("ROOT/one.proto", "One"),
        ("ROOT/./one.proto", "One"),
        ("ROOT/deep/../one.proto", "One"),
        ("ROOT/marked.proto", "Marked"),
        ("ROOT/deep/one.proto", "Other"),
        ("ROOT/deep/er/two.proto", "Two"),
        ("ROOT/link/two.proto", "Two"),
    ] {
        assert_eq!(read(path, &[]).as_deref(), Ok(&[service.to_owned()][..]), "{path}");
        assert_eq!(read(path, &[text(&root)]).map(|all| all.len()), Ok(1), "{path}");
    }
    // In the folder of the process, too: `.` is searched first.
    let own = format!("shadow-{}.proto", std::process::id());
    std::fs::write(&own, service("Own")).expect("room");
    let whole = text(&std::env::current_dir().expect("a folder").join(&own));
    let seen = [read(&whole, &[]), read(&own, &[]), read(&format!("./{own}"), &[])];
    std::fs::remove_file(&own).expect("it was there");
    for seen in seen {
        assert_eq!(seen.as_deref(), Ok(&["Own".to_owned()][..]));
    }
    // Another file of the same name that imports find first.
    write("deep/er/one.proto", &service("Third"));
    let reported = read("ROOT/one.proto", &[text(&folder), text(&root)]);
    assert!(matches!(&reported, Err(PlanError::Proto { reason }) if reason.contains("is hidden by")), "{reported:?}");
    std::fs::remove_dir_all(&root).expect("it was there");
}
