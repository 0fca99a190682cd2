//! Tests of steps that change cookies, and of extractions from URLs and from variables.

use plan::{AssignedTo, ExtractFrom, Node};

use super::*;

#[test]
fn cookies_are_set_for_the_host_of_the_target() {
    let plan = super::slots::lowered(&with_steps(
        "[{get: /}, {cookies: {set: {lang: de, who: \"a${uuid()}\"}, clear: true}}]",
    ));
    let Some(Node::Set(all)) = plan.scenarios[0].program.nodes.get(1) else { panic!("{plan:?}") };
    let home = AssignedTo::Cookie { host: "127.0.0.1".to_owned(), is_tls: false };
    let to: Vec<_> = all.iter().map(|one| (&*one.name, one.to.clone())).collect();
    assert_eq!(to, [("cookies", AssignedTo::NoCookies), ("lang", home.clone()), ("who", home)]);
}

#[test]
fn what_changes_no_cookie_is_refused() {
    for (step, fault) in [
        ("{cookies: {clear: false}}", "this step changes no cookie"),
        ("{cookies: {set: {\"a b\": 1}}}", "'a b' cannot be the name of a cookie"),
        ("{cookies: {set: {\"a=b\": 1}}}", "'a=b' cannot be the name of a cookie"),
        ("{cookies: {sets: {a: 1}}}", "did you mean 'set'?"),
        ("{parallel: 2, steps: [{cookies: {clear: true}}, {get: /}]}", "cookies"),
    ] {
        let said = wrong(&with_steps(&format!("[{{get: /}}, {step}]")));
        assert!(said[0].contains(fault), "{step}: {said:?}");
    }
    let off = format!("defaults: {{cookies: false}}\n{}", with_steps("[{get: /}, {cookies: {clear: true}}]"));
    assert!(wrong(&off)[0].starts_with("6:24: cookies are off here"));
}

#[test]
fn urls_and_variables_are_sources() {
    let steps = steps(
        "[{get: /, extract: {to: url, code: 'url /code=([^&]+)/', all: {url: true}, id: {url: /a(b)/, default: 1}, part: {from: to, regex: 'q=(.)'}}}]",
    );
    let takes = steps[0].takes();
    let url = |pattern: Option<&str>| ExtractFrom::Url(pattern.map(str::to_owned));
    let from: Vec<_> = takes[..4].iter().map(|take| take.from.clone()).collect();
    assert_eq!(from, [url(None), url(Some("code=([^&]+)")), url(None), url(Some("a(b)"))]);
    assert_eq!(takes[4].of.as_ref().map(|of| of.text.as_str()), Some("to"));
    for (takes, fault) in [
        ("{a: {from: b, regex: x}}", "nothing is called 'b'"),
        ("{a: {from: b, regex: x}, b: body}", "'b' has no value yet here"),
        ("{b: body, a: {from: b, header: X}}", "'header'"),
        ("{a: url x}", "what to take"),
        ("{a: {url: x}}", "what to take"),
        ("{a: 'url /(/'}", "is not a regular expression"),
        ("{b: body, a: {from: b}}", "json"),
    ] {
        let said = wrong(&with_steps(&format!("[{{get: /, extract: {takes}}}]")));
        assert!(said[0].contains(fault), "{takes}: {said:?}");
    }
}
