use super::*;

fn read(text: &str) -> Vec<(usize, String, Vec<String>)> {
    let settings = parse_config(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    settings.into_iter().map(|setting| (setting.line, setting.name, setting.values)).collect()
}

fn value(text: &str) -> Vec<String> {
    let (line, name, values) = read(text).pop().expect("a line");
    assert_eq!(line, 1, "{text:?}");
    assert_eq!(name, "data", "{text:?}");
    values
}

#[test]
fn values_are_bare_quoted_or_lists() {
    for (text, meant) in [
        ("data = 5", vec!["5"]),
        ("data=5", vec!["5"]),
        ("  data\t=  a b c  ", vec!["a b c"]),
        ("data = a # a comment", vec!["a"]),
        ("data = http://127.0.0.1/#top", vec!["http://127.0.0.1/#top"]),
        ("data = a=b&c=d", vec!["a=b&c=d"]),
        ("data = X-A: it's", vec!["X-A: it's"]),
        ("data = \"\"", vec![""]),
        (r#"data = "a \"b\" \\ \n\t\r\u00e9" # c"#, vec!["a \"b\" \\ \n\t\r\u{e9}"]),
        (r"data = 'C:\temp # no comment'", vec![r"C:\temp # no comment"]),
        ("data = []", vec![]),
        (r#"data = ["A: 1, 2", 'B: ]', bare]"#, vec!["A: 1, 2", "B: ]", "bare"]),
        ("data = [a, b,] # both", vec!["a", "b"]),
        ("data = 压测", vec!["压测"]),
        ("\u{feff}data = 1\r\n", vec!["1"]),
    ] {
        assert_eq!(value(text), meant, "{text:?}");
    }
}

#[test]
fn lines_are_counted_and_underscores_are_hyphens() {
    let text = "# a load\n\nconnections = 100\nconnect_timeout = 1s\r\nhttp1.1 = true\nheader = a: 1\nheader = b: 2\n";
    let names: Vec<_> = read(text).into_iter().map(|(line, name, _)| (line, name)).collect();
    let meant = [(3, "connections"), (4, "connect-timeout"), (5, "http1.1"), (6, "header"), (7, "header")];
    assert_eq!(names, meant.map(|(line, name)| (line, name.to_owned())));
}

#[test]
fn mistakes_are_reported_with_their_line() {
    for (text, fault) in [
        ("connections", ConfigFault::NoPair),
        ("--connections = 5", ConfigFault::Name("--connections".to_owned())),
        ("_connections = 5", ConfigFault::Name("_connections".to_owned())),
        ("= 5", ConfigFault::Name(String::new())),
        ("my flag = 5", ConfigFault::Name("my flag".to_owned())),
        ("data =", ConfigFault::NoValue),
        ("data = # nothing", ConfigFault::NoValue),
        ("data = \"open", ConfigFault::Quote),
        ("data = \"open\\", ConfigFault::Quote),
        ("data = 'open", ConfigFault::Quote),
        (r#"data = "\x""#, ConfigFault::Escape),
        (r#"data = "\u12"#, ConfigFault::Escape),
        (r#"data = "\u+123""#, ConfigFault::Escape),
        (r#"data = "\ud800""#, ConfigFault::Escape),
        ("data = [a", ConfigFault::List),
        ("data = [a,", ConfigFault::List),
        ("data = ['a' 'b']", ConfigFault::List),
        ("data = [", ConfigFault::NoValue),
        ("data = [,]", ConfigFault::NoValue),
        ("data = [a] b", ConfigFault::Rest),
        ("data = \"a\" b", ConfigFault::Rest),
        ("[run]", ConfigFault::Section),
    ] {
        let text = format!("# first\nurl = :80\n{text}\n");
        assert_eq!(parse_config(&text), Err(ConfigError { line: 3, fault }), "{text:?}");
    }
    let missing = read_config(Path::new("/no/such/file")).expect_err("it is not there");
    assert!(matches!(missing, ConfigError { line: 0, fault: ConfigFault::File(_) }), "{missing:?}");
}
