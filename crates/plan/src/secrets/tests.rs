use base64::Engine as _;

use super::*;

/// Names whose values are secrets.
const SECRET_NAMES: [&str; 48] = [
    "Authorization",
    "authorization",
    "Proxy-Authorization",
    "X-Authorization",
    "Cookie",
    "cookie2",
    "Set-Cookie",
    "token",
    "Token",
    "X-Access-Token",
    "Private-Token",
    "PRIVATE-TOKEN",
    "api_key",
    "apikey",
    "apiKey",
    "X-Api-Key",
    "access_token",
    "accessToken",
    "refresh_token",
    "id_token",
    "csrf_token",
    "csrfmiddlewaretoken",
    "X-CSRF-Token",
    "X-Auth-Token",
    "X-Vault-Token",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "client_secret",
    "clientSecret",
    "password",
    "user[password]",
    "user%5Bpassword%5D",
    "new_password",
    "passwd",
    "pwd",
    "X-Goog-Signature",
    "sig",
    "auth",
    "jwt",
    "PHPSESSID",
    "JSESSIONID",
    "session_id",
    "Ocp-Apim-Subscription-Key",
    "aws_secret_access_key",
    "private_key",
    "x-token-bin",
    "credentials",
    " token ",
];

/// Names whose values are none, though some resemble the others.
const OPEN_NAMES: [&str; 22] = [
    "",
    "Accept",
    "Host",
    "Content-Type",
    "X-Request-Id",
    "author",
    "authority",
    ":authority",
    "token_type",
    "max_tokens",
    "key",
    "Idempotency-Key",
    "Sec-WebSocket-Key",
    "page",
    "sort",
    "password_hint_shown",
    "session",
    "cookie_banner",
    "signal",
    "design",
    "ETag",
    "x-tokenizer",
];

#[test]
fn names_reveal_secrets() {
    for name in SECRET_NAMES {
        assert!(is_secret_field(name), "{name}");
    }
    let long = "token".repeat(100);
    for name in OPEN_NAMES.into_iter().chain([long.as_str()]) {
        assert!(!is_secret_field(name), "{name}");
    }
}

#[test]
fn texts_lose_their_secrets() {
    for (text, without) in [
        ("GET /a?access_token=s3 HTTP/1.1", "GET /a?access_token=*** HTTP/1.1"),
        ("/a?b=1&api_key=s3&c=2#token=s4", "/a?b=1&api_key=***&c=2#token=***"),
        ("/a?api%5Fkey=s3&c=2", "/a?api%5Fkey=***&c=2"),
        ("user=me&password=s3&x=y", "user=me&password=***&x=y"),
        ("user%5Bpassword%5D=s3&x=y", "user%5Bpassword%5D=***&x=y"),
        ("user[password]=s3", "user[password]=***"),
        (r#"{"token": "s3", "a": 1}"#, r#"{"token": "***", "a": 1}"#),
        (r#"{"token":"s\"3","a":1}"#, r#"{"token":"***","a":1}"#),
        (r#"{"token" : 12345, "a": 1}"#, r#"{"token" : ***, "a": 1}"#),
        ("{\"token\":\n  \"s3\"}", "{\"token\":\n  \"***\"}"),
        (r#"{"token": null, "password": true}"#, r#"{"token": null, "password": true}"#),
        (r#"{"token": "s3"#, r#"{"token": "***"#),
        (r#"{"credentials": {"user": "me", "x": [1]}, "a": 1}"#, r#"{"credentials": ***, "a": 1}"#),
        (r#"{"cookies": ["a", "b"], "a": 1}"#, r#"{"cookies": ***, "a": 1}"#),
        (r#"{"cookies": ["a", "b"#, r#"{"cookies": ***"#),
        (r#"{"in": "{\"token\":\"s3\",\"a\":1}"}"#, r#"{"in": "{\"token\":\"***\",\"a\":1}"}"#),
        (r#"{"in": "{\"token\":\"s3"#, r#"{"in": "{\"token\":\"***"#),
        (r#"{"headers": {"Authorization": "Bearer s3"}}"#, r#"{"headers": {"Authorization": "***"}}"#),
        ("Authorization: Bearer s3\r\nAccept: x", "Authorization: ***\r\nAccept: x"),
        ("token: 's3'", "token: '***'"),
        ("-H 'Cookie: a=b; c=d' http://h/", "-H 'Cookie: ***' http://h/"),
        ("$.token == 's3'", "$.token == '***'"),
        ("$.data['access_token'] != \"s3\"", "$.data['access_token'] != \"***\""),
        ("$.token==12", "$.token==***"),
        ("http://me:s3@h/x?y=1", "http://***@h/x?y=1"),
        ("see https://me@h:1/, and ws://a:b@c", "see https://***@h:1/, and ws://***@c"),
        ("http://h/users/@me", "http://h/users/@me"),
        ("<password>s3</password><a>b</a>", "<password>***</password><a>b</a>"),
        (r#"<input name="csrf_token" value="s3">"#, r#"<input name="csrf_token" value="***">"#),
        (
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\ns3\r\n--b--\r\n",
            "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n***\n--b--\r\n",
        ),
        (
            "--b\r\nContent-Disposition: form-data; name=\"token\"; filename=\"a\"\r\nContent-Type: x/y\r\n\r\ns3",
            "--b\r\nContent-Disposition: form-data; name=\"token\"; filename=\"a\"\r\nContent-Type: x/y\r\n\r\n***",
        ),
        ("authorization=Bearer s3 x", "authorization=*** x"),
        ("the token is bad; name it", "the token is bad; name it"),
        ("token=", "token="),
        ("token", "token"),
        ("中文 token=s3 中文", "中文 token=*** 中文"),
        ("密码 password: 中文", "密码 password: ***"),
        ("a=1&b=2", "a=1&b=2"),
        ("", ""),
    ] {
        assert_eq!(masked(text), without, "{text}");
        // A text that is truncated anywhere shows nothing more.
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let said = masked(&text[..cut]);
            assert!(!said.contains("s3"), "{} gives {said}", &text[..cut]);
        }
        assert_eq!(masked(&masked(text)), masked(text), "twice: {text}");
    }
}

#[test]
fn urls_with_mistakes_lose_their_passwords() {
    for url in [
        "http://user:s3@h/",
        "http://user:s3@h:99999/",
        "http://user:pa s3@h:99999/",
        "http://user:s/3s3@h/",
        "http://user:s#s3@h/",
        "http://user:s?s3@h/",
        "http://user:9s3/x@h/",
        "http://user:s3@x@h/",
        "user:s3@h:99999",
        "user:s3@h",
        "http:/user:s3@h/",
        "http:user:s3@h/",
        "http//user:s3@h/",
        "http:\\\\user:s3@h/",
        "htp://user:s3@h/",
        "ht tp://user:s3@h/",
        "://user:s3@h/",
        "tcp://user:s3@h",
        "http://[::1]:x:s3@h/",
        "http://h:99999/?token=s3",
        "http://h /#access_token=s3",
        "http://user:s3@h /?api_key=s3",
    ] {
        let said = masked_url(url);
        assert!(!said.contains("s3") && said.contains("***"), "{url} gives {said}");
    }
    for url in ["http://h/", "http://[::1]:80/a@b", "http://h:80/users/@me", "h:80/x?y=z", "", "://"] {
        assert_eq!(masked_url(url), url);
    }
}

#[test]
fn headers_with_mistakes_lose_their_values() {
    for header in [
        "Authorization: Bearer s3",
        "Authorization Bearer s3",
        "Authorization=s3",
        "Authorization;s3: x",
        "Cookie s3",
        "X-Access-Token s3",
        "Private-Token=s3",
        "api_key s3",
        "token s3",
        "token: s3",
        "My-Token-Here s3",
    ] {
        assert!(!masked_header(header).contains("s3") && masked_header(header).ends_with("***"), "{header}");
    }
    assert_eq!(masked_header("X-Token: s3"), "X-Token: ***");
    assert_eq!(masked_header("Accept: a"), "Accept: a");
    assert_eq!(masked_header("Referer: http://a:s3@h/"), "Referer: http://***@h/");
}

#[test]
fn values_that_are_known_are_hidden_anywhere() {
    for words in [
        &["-H", "Authorization: Bearer secret3"][..],
        &["-H", "X-Access-Token: secret3"],
        &["-H", "X-Access-Token secret3"],
        &["-H", "Authorization:", "secret3"],
        &["-H", "Authorization:", "Bearer", "secret3"],
        &["-H", "Cookie: a=secret3; b=c"],
        &["--cookie", "a=secret3"],
        &["-bsession=secret3"],
        &["-u", "me:secret3"],
        &["-ume:secret3"],
        &["--user=me:secret3"],
        &["-H", "Authorization: Basic bWU6c2VjcmV0Mw=="],
        &["http://me:secret3@h/"],
        &["http://me:secret%33@h/"],
        &["http://h/?api_key=secret3&x=y"],
        &["-d", "{\"password\": \"secret3\"}"],
        &["-d", "password=secret3"],
        &["--oauth2-bearer", "secret3"],
    ] {
        let said = SecretValues::from_words(words.iter().copied()).hide("it said: secret3!");
        assert_eq!(said, "it said: ***!", "{words:?}");
    }
    let known = SecretValues::from_words(["-u", "me:secret3"]);
    assert_eq!(known.hide("Basic bWU6c2VjcmV0Mw=="), "Basic ***");
    // A URL is recognized after a field that is left out, and after flags of other tools.
    for words in
        [&["-H", "Cookie:", "http://h:99999/"][..], &["-u", "http://h:99999/"], &["-H", "Authorization:", "--timeout"]]
    {
        let said = words.join(" ");
        assert_eq!(SecretValues::from_words(words.iter().copied()).hide(&said), said);
    }
    // A short value is no more than a word, and a value that is no secret stays.
    let known =
        SecretValues::from_words(["-H", "Cookie: a=1", "-H", "Accept: application/json", "http://h/?page=secret3"]);
    assert_eq!(known.hide("1 secret3 application/json"), "1 secret3 application/json");
}

/// In a query or a form some names are secret that elsewhere have other meanings.
#[test]
fn names_of_queries_reveal_secrets() {
    for (text, meant) in [
        ("https://h/f?code=abcdefgh==&x=1", "https://h/f?code=***&x=1"),
        ("/f?x=1&key=AIzaSy123", "/f?x=1&key=***"),
        ("GET /cb?session=s1&sas=t0 HTTP/1.1", "GET /cb?session=***&sas=*** HTTP/1.1"),
        ("Code=one&grant=two", "Code=***&grant=two"),
        ("{\"code\": 200, \"key\": \"id\"}", "{\"code\": 200, \"key\": \"id\"}"),
        ("code=500", "code=500"),
        ("code: 500, key: name", "code: 500, key: name"),
        ("?zipcode=1&monkey=2&keys=3&sessions=4", "?zipcode=1&monkey=2&keys=3&sessions=4"),
    ] {
        assert_eq!(masked(text), meant);
    }
}

/// A value is hidden in all its base64 encodings.
#[test]
fn values_in_base64_are_hidden() {
    // One of each length modulo three, and one whose base64 contains + and /.
    for value in ["tokentokenXYZ1", "tokentokenXYZ", "tokentokenXYZ12", "??>>~~??>>~~x"] {
        let known = SecretValues::from_values([value]);
        let standard = base64::engine::general_purpose::STANDARD.encode(value);
        let safe = base64::engine::general_purpose::URL_SAFE.encode(value);
        for form in [&standard, &safe] {
            let bare = form.trim_end_matches('=').to_owned();
            let percent = |form: &str| form.replace('=', "%3D").replace('+', "%2B").replace('/', "%2F");
            let all = [form.clone(), bare.clone(), percent(form), percent(&bare)];
            let lower = all.clone().map(|form| form.replace("%3D", "%3d").replace("%2B", "%2b").replace("%2F", "%2f"));
            for written in all.iter().chain(&lower) {
                let hidden = known.hide(&format!("/x?b={written}&c=1"));
                assert_eq!(hidden, "/x?b=***&c=1", "{value}: {written}");
            }
        }
    }
}
