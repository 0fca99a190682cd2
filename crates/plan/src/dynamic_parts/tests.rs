use proptest::prelude::*;

use super::*;
use crate::{Flags, Names, Pattern, TextContext, Value};

struct Two([Value; 2]);

impl Names for Two {
    fn variable(&mut self, name: &str) -> Option<u32> {
        ["one", "two"].iter().position(|known| *known == name).map(|place| place as u32)
    }

    fn column(&mut self, _: &str, _: &str) -> Option<u32> {
        None
    }

    fn environment(&mut self, _: &str) -> Option<String> {
        None
    }

    fn counter(&mut self, _: &str) -> u32 {
        0
    }

    fn expression(&mut self, _: &str) -> Option<u32> {
        None
    }
}

impl Scope for Two {
    fn variable(&self, number: u32) -> &Value {
        &self.0[number as usize]
    }

    fn column(&mut self, _: u32) -> Option<Value> {
        None
    }

    fn draw(&mut self, _: u64) -> u64 {
        0
    }

    fn now_ns(&self) -> u128 {
        0
    }

    fn count(&mut self, _: u32) -> u64 {
        0
    }

    fn evaluate(&mut self, _: u32) -> Result<Value, String> {
        Err("nobody evaluates it".to_owned())
    }
}

fn rendering(text: &str, context: TextContext) -> Rendering {
    let names = &mut Two([Value::Null, Value::Null]);
    Rendering::new(&Pattern::parse(text, context).expect("a pattern"), names).expect("known names")
}

fn step() -> (Request, DynamicParts) {
    let headers = ["X-One: a", "Cookie: own=1", "X-Two: b"].map(str::to_owned).into();
    let url = Some("http://127.0.0.1/".to_owned());
    let flags = Flags { url, headers, data: Some("body".to_owned()), ..Flags::default() };
    let step = flags.plan().expect("a plan").scenarios.remove(0).steps.remove(0).request;
    let place = |name: &str| step.headers.iter().position(|(known, _)| known == name).expect("it is there");
    let dynamic_parts = DynamicParts {
        path: Some(rendering("/a/${one}?b=${two}", TextContext::Url)),
        headers: vec![
            (place("X-One"), rendering("${one}", TextContext::Header)),
            (place("X-Two"), rendering("<${two}>", TextContext::Header)),
        ],
        body: Some(rendering("x=${two}&y=${one}", TextContext::Form)),
        ..DynamicParts::default()
    };
    (step, dynamic_parts)
}

proptest! {
    /// Whatever request and cookies were in its place before.
    #[test]
    fn a_request_is_the_same_in_the_place_of_any_other(
        values in prop::collection::vec(("[ -~é]{0,40}", "[ -~]{0,40}", any::<bool>(), any::<bool>()), 1..6)
    ) {
        let (step, dynamic_parts) = step();
        let mut kept = step.clone();
        for (one, two, has_cookie, adds) in values {
            let mut scope = Two([Value::text(&one), Value::text(&two)]);
            let fresh = dynamic_parts.request(&step, &mut scope).expect("no line ends");
            dynamic_parts.remake(&step, &mut kept, &mut scope).expect("no line ends");
            prop_assert_eq!(&kept, &fresh);
            let length = kept.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            prop_assert_eq!(length.map(|(_, value)| value.clone()), Some(kept.body.len().to_string().into_bytes()));
            if has_cookie && let Some((_, value)) = kept.headers.iter_mut().find(|(name, _)| name == "Cookie") {
                value.extend_from_slice(b"; sid=1");
            }
            if adds {
                kept.headers.push(("Cookie".to_owned(), b"sid=2".to_vec()));
            }
        }
    }
}

#[test]
fn what_cannot_stand_there_is_reported_and_the_next_is_whole() {
    let (step, dynamic_parts) = step();
    let mut kept = step.clone();
    let mut broken = Two([Value::text("a\r\nb"), Value::Null]);
    assert_eq!(dynamic_parts.remake(&step, &mut kept, &mut broken), Err(NotFilled::LineEnd));
    let mut whole = Two([Value::text("a"), Value::Int(7)]);
    let mut kept = step.clone();
    dynamic_parts.remake(&step, &mut kept, &mut whole).expect("it is whole");
    assert_eq!((kept.path.as_str(), &*kept.body), ("/a/a?b=7", &b"x=7&y=a"[..]));
}

/// An extracted link leads to its own host, or is an error.
#[test]
fn what_was_taken_leads_to_this_target_alone() {
    let headers = [("Host".to_owned(), b"shop.test:81".to_vec())];
    for (given, expect) in [
        ("/a", Some("/a")),
        ("/a//b?c", Some("/a//b?c")),
        ("/a?b#c", Some("/a?b")),
        ("/#a/b?c#d", Some("/")),
        ("#a", None),
        ("ws://shop.test:81/a#b", Some("/a")),
        ("http://shop.test:81/a?b#c", Some("/a?b")),
        ("HTTP://SHOP.test:81", Some("/")),
        ("https://shop.test:81?x", Some("/?x")),
        ("//shop.test:81/x", Some("/x")),
        ("http://192.0.2.7:8000/", None),
        ("//192.0.2.7/", None),
        ("http://shop.test/", None),
        ("http://shop.test:81.evil/", None),
        ("http://shop.test:81@evil/", None),
        ("javascript:void(0)", None),
        ("items/5", None),
        ("", None),
    ] {
        let seen = super::rendered_target(given.to_owned(), (&headers, None)).ok();
        assert_eq!(seen.as_deref(), expect, "{given}");
    }
    // With an origin, scheme and port count, and no field has a say.
    let origin = UrlOrigin::from_url("http://shop.test/").expect("an origin");
    for (given, expect) in [
        ("http://shop.test/a", Ok("/a")),
        ("http://SHOP.test:80?x", Ok("/?x")),
        ("//shop.test/a#b", Ok("/a")),
        ("ws://shop.test/a", Ok("/a")),
        ("/a", Ok("/a")),
        ("https://shop.test/a", Err("https://shop.test/a")),
        ("http://shop.test:81/a", Err("http://shop.test:81/a")),
        ("//other.test/a", Err("http://other.test/a")),
        ("a", Err("a")),
    ] {
        let seen = super::rendered_target(given.to_owned(), (&headers, Some(&origin)));
        let expect = expect.map(str::to_owned).map_err(|given| NotFilled::Elsewhere { given: given.to_owned() });
        assert_eq!(seen, expect, "{given}");
    }
    for (text, expect) in [("/a/${one}", true), ("${one}", false), ("${one}/x", false)] {
        assert_eq!(rendering(text, TextContext::Url).begins_with_text(), expect, "{text}");
    }
}

#[test]
fn a_query_is_joined_to_that_of_an_extracted_url() {
    let flags = Flags { url: Some("http://127.0.0.1/".to_owned()), ..Flags::default() };
    let step = flags.plan().expect("a plan").scenarios[0].steps[0].request.clone();
    let path = rendering("${one}?page=2&q=${two}", TextContext::Url);
    let parts = DynamicParts { path: Some(path), ..DynamicParts::default() };
    for (link, expect) in [("/a", "/a?page=2&q=x"), ("/a?b=1", "/a?b=1&page=2&q=x"), ("/a?", "/a?&page=2&q=x")] {
        let made = parts.request(&step, &mut Two([Value::text(link), Value::text("x")])).expect("a request");
        assert_eq!(made.path, expect);
    }
}

#[test]
fn the_file_is_that_of_the_path() {
    let names = &mut Two([Value::Null, Value::Null]);
    let pattern = Pattern::parse("${one}", TextContext::Text).expect("a pattern");
    let files = [("f/b", &b"\xff"[..]), ("f/a", b"one")].map(|(path, bytes)| (path.into(), bytes.to_vec().into()));
    let file = Rendering::of_file(&pattern, files.to_vec(), names).expect("known names");
    let filled = |path: &str| {
        let mut out = b"<".to_vec();
        file.fill(&mut Two([Value::text(path), Value::Null]), &mut out).map(|()| out)
    };
    assert_eq!((filled("f/a"), filled("f/b")), (Ok(b"<one".to_vec()), Ok(b"<\xff".to_vec())));
    assert_eq!(filled("f/c"), Err(NotFilled::NoFile { path: "f/c".to_owned() }));
}
