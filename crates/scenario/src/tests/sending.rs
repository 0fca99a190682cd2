//! Credentials, and fields of the query.

use super::slots::lowered;
use super::*;

/// The path of the one step, and the value of its header `Authorization`, with slots as they are written.
fn sent(head: &str, step: &str) -> (String, Option<String>) {
    let text = format!(
        "target: http://127.0.0.1\nvars: {{id: anna, key: k, o: {{a: 1}}}}\n{head}scenarios:\n  a:\n    load: {{users: 1, iterations: 1}}\n    on_start: [{{get: /, extract: {{t: header X}}}}]\n    steps: [{step}]\n"
    );
    let step = lowered(&text).scenarios.remove(0).steps.pop().expect("a step");
    let field = step.request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    (step.request.path.clone(), field.map(|(_, value)| String::from_utf8_lossy(value).into_owned()))
}

#[test]
fn fields_are_added_to_the_query() {
    for (step, expect) in [
        ("{get: /a, query: {q: x, page: 2}}", "/a?q=x&page=2"),
        ("{get: /a?b=1, query: {q: x}}", "/a?b=1&q=x"),
        ("{get: /a?, query: {q: x}}", "/a?q=x"),
        ("{get: \"/a?b=1&\", query: {q: x}}", "/a?b=1&q=x"),
        ("{get: \"/a#top\", query: {q: x}}", "/a?q=x"),
        (
            "{get: /a, query: {tags: [a, b], none: null, empty: \"\", last: [c, null]}}",
            "/a?tags=a&tags=b&empty=&last=c",
        ),
        ("{get: /a, query: {\"a b\": \"c&d=e/é\"}}", "/a?a+b=c%26d%3De%2F%C3%A9"),
        ("{get: /a, query: {q: \"x ${t}\"}}", "/a?q=x+${t}"),
        ("{get: \"/a/${t}\", query: {q: \"${t}\", on: true}}", "/a/${t}?q=${t}&on=true"),
        ("{request: PROPFIND /a, query: {q: x}}", "/a?q=x"),
        ("{get: /a, query: {}}", "/a"),
        ("{websocket: \"ws://127.0.0.1/chat\", query: {room: 7}}", "/chat?room=7"),
    ] {
        assert_eq!(sent("", step).0, expect, "{step}");
    }
    let named = steps("[{get: /a, query: {q: x}}]");
    assert_eq!(named[0].name, "GET /a");
}

#[test]
fn a_field_is_escaped_also_where_a_slot_is_the_whole_url() {
    let (path, _) = sent("", "{get: \"${t}\", query: {q: \"${t}\"}}");
    assert_eq!(path, "${t}?q=${t}");
    let text = "target: http://127.0.0.1\nscenarios:\n  a:\n    load: {users: 1, iterations: 1}\n    on_start: [{get: /, extract: {t: header X}}]\n    steps: [{get: \"${t}\", query: {q: \"${t}\"}}]\n";
    let step = lowered(text).scenarios.remove(0).steps.pop().expect("a step");
    let debug = format!("{:?}", step.dynamic_parts.expect("slots").path);
    assert!(debug.contains("Origin") && debug.contains("Form"), "{debug}");
}

#[test]
fn credentials_become_a_header() {
    let shown = |text: &str| Some(text.to_owned());
    for (head, step, expect) in [
        ("", "{get: /, auth: {basic: \"anna:secret\"}}", shown("Basic YW5uYTpzZWNyZXQ=")),
        ("", "{get: /, auth: {bearer: abc}}", shown("Bearer abc")),
        ("", "{get: /, auth: {bearer: \"${t}\"}}", shown("Bearer ${t}")),
        ("", "{get: /, auth: {basic: \"${id}:${t}\"}}", shown("Basic ${base64(id, ':', t)}")),
        ("defaults: {auth: {bearer: abc}}\n", "{get: /}", shown("Bearer abc")),
        ("defaults: {auth: {bearer: abc}}\n", "{get: /, headers: {Authorization: null}}", None),
        ("defaults: {auth: {bearer: abc}}\n", "{get: /, auth: {bearer: def}}", shown("Bearer def")),
        ("defaults: {auth: {bearer: abc}}\n", "{get: /, headers: {authorization: own}}", shown("own")),
        ("defaults: {headers: {Authorization: own}}\n", "{get: /, auth: {bearer: def}}", shown("Bearer def")),
        ("", "{websocket: \"ws://127.0.0.1/chat\", auth: {bearer: abc}}", shown("Bearer abc")),
    ] {
        assert_eq!(sent(head, step).1, expect, "{head}{step}");
    }
}

#[test]
fn wrong_credentials_and_queries_are_refused() {
    for (step, expect) in [
        ("{get: /, auth: {basic: anna}}", "a user with a password, or a token belongs here, not 'anna'"),
        ("{get: /, auth: {basic: \"${a}${b}\"}}", "a user with a password, or a token belongs here"),
        ("{get: /, auth: {bearer: \"\"}}", "a user with a password, or a token belongs here"),
        ("{get: /, auth: {}}", "the credentials needs 'basic'"),
        ("{get: /, auth: anna:secret}", "a map belongs here, not 'anna:secret'"),
        ("{get: /, auth: {basic: \"a:b\", bearer: c}}", "'basic' and 'bearer' do not go together"),
        ("{get: /, auth: {bearer: \"a\\r\\nb\"}}", "line end"),
        ("{get: /, auth: {token: a}}", "'token' is no key of the credentials"),
        (
            "{get: /, auth: {bearer: a}, headers: {Authorization: b}}",
            "'headers: Authorization' and 'auth' do not go together",
        ),
        ("{get: /, auth: {basic: \"${nobody}:x\"}}", "nothing is called 'nobody'"),
        ("{get: /, query: {q: {a: 1}}}", "text, or a list of texts belongs here, not a map"),
        ("{get: /, query: q=1}", "a map belongs here, not 'q=1'"),
        ("{get: /, query: {q: [[a]]}}", "text belongs here, not a list"),
        ("{get: /, query: {q: \"${nobody}\"}}", "nothing is called 'nobody'"),
        ("{grpc: \"grpc://127.0.0.1/a.B/C\", query: {q: 1}}", "'query' is no key of a grpc step"),
    ] {
        let said = wrong(&with_steps(&format!("[{step}]")));
        assert!(said.iter().any(|one| one.contains(expect)), "{step} {expect}: {said:#?}");
    }
}

#[test]
fn columns_have_types_and_separators_are_found() {
    let read = |set: &str, load: &str| {
        format!(
            "target: http://127.0.0.1\ndata: {{d: {set}}}\nscenarios:\n  a:\n    load: {load}\n    steps: [{{get: \"/${{d.a}}\"}}]\n"
        )
    };
    let users = "{users: 1, for: 1s}";
    let file = good(&read("{file: semicolons.csv, columns: {a: number, b: text}, order: by_user}", users));
    let set = &file.data[0];
    assert_eq!((set.separator, set.pick, set.is_headless), (b';', RowPick::ByUser, false));
    assert_eq!((set.columns.clone(), set.numbers.clone()), (Some(vec!["a".into(), "b".into()]), vec!["a".into()]));
    let file = good(&read("{file: headless.csv, columns: {a: text, n: number}, header: false}", users));
    assert_eq!((file.data[0].is_headless, file.data[0].numbers.clone()), (true, vec!["n".to_owned()]));
    for (set, load, expect) in [
        ("{file: semicolons.csv, columns: {a: digits}}", users, "'digits' is none of text, number"),
        ("{file: semicolons.csv, columns: {c: number}}", users, "'d' has no column 'c'; it has: a, b"),
        ("{file: semicolons.csv, header: false}", users, "'header' needs 'columns' beside it"),
        (
            "{file: semicolons.csv, columns: [a, b], header: true}",
            users,
            "'header: true' and 'columns' do not go together",
        ),
        ("{file: rows.json, header: false}", users, "'header' and 'format' do not go together"),
        (
            "{file: semicolons.csv, order: by_user, sharing: copy}",
            users,
            "'sharing' and 'order: by_user' do not go together",
        ),
        ("{file: semicolons.csv, order: by_user}", "{rate: 5/s, for: 1s}", "'d' has 'order: by_user', and the users"),
        ("{file: semicolons.csv, order: by_usr}", users, "did you mean 'by_user'?"),
    ] {
        let said = wrong(&read(set, load));
        assert!(said.iter().any(|one| one.contains(expect)), "{set} {expect}: {said:#?}");
    }
}
