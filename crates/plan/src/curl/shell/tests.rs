use super::*;

fn words(text: &str) -> Vec<Vec<String>> {
    let text_of = |word: &Word| String::from_utf8_lossy(&word.bytes).into_owned();
    commands(text.as_bytes()).expect("commands").iter().map(|words| words.iter().map(text_of).collect()).collect()
}

#[test]
fn bash_as_browsers_copy_it() {
    assert_eq!(
        words(
            "curl 'http://h/?a=1&b=2' \\\n  -H 'accept: */*' \\\r\n  --data-raw $'it\\'s\\u0021 \\x41\\n\\101' --compressed\n"
        ),
        [["curl", "http://h/?a=1&b=2", "-H", "accept: */*", "--data-raw", "it's! A\nA", "--compressed"]]
    );
    assert_eq!(words("curl \"a\\\"b\\$c\\d\" e\\ f'g'\"h\""), [["curl", "a\"b$c\\d", "e fgh"]]);
    assert_eq!(words("curl $'\\ud83d\\ude00' '' \"\""), [["curl", "😀", "", ""]]);
    assert_eq!(
        words("# one\ncurl a # two\n\ncurl b; curl c#d && curl e | jq . | less\ncurl f > /dev/null 2>&1\n").concat(),
        ["curl", "a", "curl", "b", "curl", "c#d", "curl", "e", "curl", "f"]
    );
    assert_eq!(words("curl a\\\nb 'c\nd'"), [["curl", "ab", "c\nd"]]);
    assert_eq!(words("curl 'a$b' \"5$ $\""), [["curl", "a$b", "5$ $"]]);
}

#[test]
fn the_command_prompt() {
    assert_eq!(
        words(
            "curl ^\"http://h/?a=1^&b=^%^20^\" ^\r\n  -H ^\"accept: */*^\" ^\n  --data-raw ^\"^{^\\^\"a^\\^\":1^}^\"\r\n"
        ),
        [["curl", "http://h/?a=1&b=%20", "-H", "accept: */*", "--data-raw", "{\"a\":1}"]]
    );
    assert_eq!(
        words(
            "curl \"http://h/?a=1^&b=2\" ^\n -H \"x: \"\"q\"\"\" --data-raw \"{\\\"a\\\":1}\" -k\ncurl \"b\" ^\n -d c\\\\d"
        ),
        [
            vec!["curl", "http://h/?a=1&b=2", "-H", "x: \"q\"", "--data-raw", "{\"a\":1}", "-k"],
            vec!["curl", "b", "-d", "c\\\\d"]
        ]
    );
    assert_eq!(words("curl ^\"h^\" --data-raw ^\"a^\n\nb^\""), [["curl", "h", "--data-raw", "a\nb"]]);
}

#[test]
fn what_chrome_copies_for_the_command_prompt_is_what_it_sent() {
    for (copied, meant) in [
        (r#"^"{^\^"a^\^":^\^"x^\^\ny^\^"}^""#, r#"{"a":"x\ny"}"#),
        (r#"^"C:^\^\dir^\^\file^""#, r"C:\dir\file"),
        (r#"^"^\^\^\^"^""#, r#"\""#),
        (r#"^"ends^\^\^""#, r"ends\"),
        (r#"^"^\^\u00e9^\^\t^""#, r"\u00e9\t"),
        (r#"^"^\^\^\^\n^""#, r"\\n"),
        (r#"^"a^%^20b^%^C3^""#, "a%20b%C3"),
        (r#""a^%^20b""#, "a%20b"),
        (r#"^"^^^&^|^<^>^!^@^#^$^""#, "^&|<>!@#$"),
        (r#"^"x'y`z^""#, "x'y`z"),
        (r#""{^\^"a^\^":^\^"^\^\n^\^"}""#, r#"{"a":"\n"}"#),
        ("^\"a^\n\nb^\"", "a\nb"),
        ("^\"a^\r\n\r\nb^\"", "a\nb"),
    ] {
        let text = format!("curl ^\"http://h/^\" ^\n  --data-raw {copied}");
        assert_eq!(words(&text), [["curl", "http://h/", "--data-raw", meant]], "{copied}");
    }
    // A command written by hand gets what Windows makes of it.
    assert_eq!(
        words(r#"curl.exe "http://h/" -d "a\\n" -d \\b"#),
        [["curl.exe", "http://h/", "-d", r"a\\n", "-d", r"\\b"]]
    );
}

#[test]
fn what_a_shell_would_have_to_do_is_refused() {
    for (text, line, part) in [
        ("curl 'a", 1, "'"),
        ("curl a\ncurl \"b\n\n", 2, "\""),
        ("curl $'b", 1, "$'"),
        ("\n\ncurl $HOST/a", 3, "$HOST"),
        ("curl \"${A}x\"", 1, "${A}"),
        ("curl `date`", 1, "`date"),
        ("curl \"$(date)\"", 1, "$("),
        ("(curl a)", 1, "("),
        ("curl < a", 1, "<"),
        ("curl ^\"a ^\n b", 1, "\""),
    ] {
        let error = commands(text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(&format!("line {line}")) && error.contains(part), "{text}: {error}");
    }
}
