//! Tests of the values of files.

use std::time::Duration;

use plan::{
    Arrivals, ExtractFrom, Filling, Function, OnFailure, PatternPart, RateStage, SlotContext, Think, UserShape,
    UserStage, Which,
};

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn load(text: &str) -> Load {
    good(&format!("target: http://a\nscenarios: {{a: {{load: {text}, steps: [{{get: /}}]}}}}\n"))
        .scenarios
        .remove(0)
        .load
}

fn request(step: &Step) -> &Request {
    match &step.action {
        Action::Request(request) => request,
        action => panic!("{action:?}"),
    }
}

#[test]
fn the_shop_means_what_its_page_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("files/shop.yaml");
    let file = read(&path).expect("a right file").file;
    assert_eq!(file.name.as_deref(), Some("shop"));
    assert_eq!((file.vars.len(), file.data.len(), file.scenarios.len(), file.thresholds.len()), (1, 2, 2, 3));
    assert_eq!(
        (file.data[0].pick, file.data[0].share, file.data[0].at_end),
        (RowPick::Next, RowShare::Split, AtEnd::Again)
    );
    assert_eq!((file.data[1].pick, file.data[1].format), (RowPick::Random, DataFormat::JsonLines));
    assert_eq!(file.data[0].columns, Some(vec!["name".to_owned(), "pass".to_owned()]));
    assert!(file.defaults.keeps_cookies() && file.defaults.flags.request.timeout == Some(secs(10)));
    assert_eq!((file.run.warmup, file.run.grace, file.run.seed), (Some(secs(30)), Some(secs(10)), Some(7)));
    assert_eq!(file.thresholds[2].of.as_ref().map(|name| name.text.as_str()), Some("buy"));
    assert_eq!(file.thresholds[1].threshold.abort_after, Some(secs(30)));
    let buyers = &file.scenarios[0];
    assert_eq!((buyers.every, buyers.start.len(), buyers.steps.len()), (Some(secs(30)), 2, 1));
    let Action::Transaction { with_think: false, steps } = &buyers.steps[0].action else { panic!("a transaction") };
    assert_eq!((buyers.steps[0].name.as_str(), steps.len()), ("buy", 6));
    let Action::Loop(repeat) = &steps[0].action else { panic!("a repetition") };
    assert_eq!(repeat.rounds, Rounds::Count { least: 1, most: 5 });
    let rounds = &repeat.steps;
    assert_eq!(rounds[0].name, "/items/{id}");
    let takes = &request(&rounds[0]).take;
    let from: Vec<&ExtractFrom> = takes.iter().map(|take| &take.from).collect();
    let (json, regex) = (ExtractFrom::Json("$.price".to_owned()), ExtractFrom::Regex("href=\"([^\"]+)\"".to_owned()));
    assert_eq!(from, [&json, &regex, &ExtractFrom::Header("ETag".to_owned())]);
    assert!(
        matches!(rounds[1].action, Action::Think(Think::Uniform(least, most)) if (least, most) == (secs(1), secs(3)))
    );
    let Action::Choose(choices) = &steps[1].action else { panic!("a choice") };
    assert_eq!(choices.iter().map(|choice| choice.weight).collect::<Vec<_>>(), [70, 30]);
    assert!(matches!(&steps[2].action, Action::If { condition, .. } if condition.text == "price < 100"));
    let Action::Loop(until) = &steps[3].action else { panic!("a loop") };
    assert!(matches!(&until.rounds, Rounds::Condition { is_until: true, most: Some(10), within: None, .. }));
    assert!(matches!(&steps[4].action, Action::Parallel { most: 6, steps } if steps.len() == 2));
    assert!(matches!(&steps[5].action, Action::Barrier(meet) if (meet.users, meet.within) == (100, Some(secs(5)))));
    let feed = &file.scenarios[1];
    assert_eq!((feed.begin, feed.connections), (secs(30), Some(1_000)));
    assert!(matches!(&feed.steps[0].action, Action::Call(call) if call.messages.len() == 1));
    assert!(
        matches!(&feed.steps[1].action, Action::Messaging(messaging) if messaging.steps.len() == 2 && messaging.responses.is_none())
    );
}

#[test]
fn loads_are_those_of_the_flags() {
    let users = |count, shape| Amount::Users { count, shape };
    let stage = |from, to, span| UserStage { from, to, span };
    for (text, amount, duration, iterations) in [
        ("{users: 5, for: 10s}", users(5, UserShape::AtOnce), Some(secs(10)), None),
        ("{users: 1_000, iterations: 10k}", users(1_000, UserShape::AtOnce), None, Some(Iterations::Together(10_000))),
        ("{users: 5, iterations_per_user: 3}", users(5, UserShape::AtOnce), None, Some(Iterations::Each(3))),
        ("{users: 5, for: 1m, ramp: 10s}", users(5, UserShape::Ramp(secs(10))), Some(MINUTE), None),
        ("{users: 5, for: 1m, rendezvous: true}", users(5, UserShape::Rendezvous), Some(MINUTE), None),
        ("{iterations: 7}", users(1, UserShape::AtOnce), None, Some(Iterations::Together(7))),
        (
            "{users: [\"200:1m\", \"0:30s\"]}",
            users(200, UserShape::Stages(vec![stage(0, 200, MINUTE), stage(200, 0, secs(30))])),
            Some(secs(90)),
            None,
        ),
        (
            "{users: \"200:0s,200:1m\"}",
            users(200, UserShape::Stages(vec![stage(0, 200, Duration::ZERO), stage(200, 200, MINUTE)])),
            Some(MINUTE),
            None,
        ),
    ] {
        assert_eq!(load(text), Load { amount, duration, iterations }, "{text}");
    }
    let per_second = plan::RATE_UNIT;
    for (text, stages, arrivals, duration) in [
        ("{rate: 500/s, for: 1m}", vec![(500, 500, 60)], Arrivals::Even, 60),
        ("{rate: 5, for: 1m, arrivals: poisson}", vec![(5, 5, 60)], Arrivals::Poisson { seed: 1 }, 60),
        ("{rate: [\"500:1m\", \"100:30s\"]}", vec![(0, 500, 60), (500, 100, 30)], Arrivals::Even, 90),
        ("{rate: \"10:0s,10:30s\"}", vec![(0, 10, 0), (10, 10, 30)], Arrivals::Even, 30),
    ] {
        let load = load(text);
        let Amount::Rate { stages: read, arrivals: spaced, .. } = &load.amount else { panic!("{text}") };
        let stage = |(from, to, span): &(u64, u64, u64)| RateStage {
            from: from * per_second,
            to: to * per_second,
            span: secs(*span),
        };
        assert_eq!(read, &stages.iter().map(stage).collect::<Vec<_>>(), "{text}");
        assert_eq!((*spaced, load.duration), (arrivals, Some(secs(duration))), "{text}");
    }
}

#[test]
fn slots_know_their_place_in_the_file() {
    let text = with_steps(
        "\n      - get: \"/items/${ users.name }?q=${uuid}\"\n      - {post: /, body: 'a ${1 + 2} b'}\n      - post: /\n        body: |\n          ${env.HOME}",
    );
    let text = text.replacen("scenarios", "data: {users: users.csv}\nscenarios", 1);
    let steps = good(&text).scenarios.remove(0).steps;
    let slots: Vec<_> = request(&steps[0]).url.slots().collect();
    assert_eq!(slots.iter().map(|slot| &text[slot.at.clone()]).collect::<Vec<_>>(), ["users.name", "uuid"]);
    assert_eq!(slots.iter().map(|slot| slot.place).collect::<Vec<_>>(), [SlotContext::Path, SlotContext::Query]);
    // Nothing else has this name, so it is the function.
    assert_eq!(slots[1].filling, Filling::Call(Function::Uuid, Vec::new()));
    let body = |step: &Step| match &request(step).body {
        Some(Body::Text(text)) => text.clone(),
        body => panic!("{body:?}"),
    };
    let bodies: Vec<_> = steps[1..].iter().map(body).collect();
    assert_eq!(&text[bodies[0].slots().next().expect("a slot").at.clone()], "1 + 2");
    // A block scalar may differ from its value: then the whole of it is the position.
    assert!(text[bodies[1].slots().next().expect("a slot").at.clone()].contains("env.HOME"));
}

#[test]
fn a_variable_comes_before_a_function_of_its_name() {
    let steps = steps(
        "[{get: /, extract: {uuid: json $.id}}, {get: \"/${uuid}\"}, {get: \"/${uuid()}\"}, {get: \"/${name}\"}]",
    );
    let filling = |step: usize| request(&steps[step]).url.slots().next().expect("a slot").filling.clone();
    assert_eq!(filling(1), Filling::Name("uuid".to_owned()));
    assert_eq!(filling(2), Filling::Call(Function::Uuid, Vec::new()));
    assert_eq!(filling(3), Filling::Call(Function::Name, Vec::new()));
}

#[test]
fn values_of_json_keep_their_type() {
    let steps = steps(
        "[{post: /, json: {a: 5, b: \"5\", c: true, d: null, e: 1.50, f: [x], g: \"${uuid}\", h: \"<${uuid}>\", i: 12345678901234567890, j: ~, k: 1e3, l: .5, \"${uuid}\": 1}}]",
    );
    let Some(Body::Json(Json::Map(pairs))) = &request(&steps[0]).body else { panic!("a map") };
    let plain = |text: &str| Json::Text(plan::Pattern::plain(text));
    let of = |key: &str| {
        pairs.iter().find(|(name, _)| name.as_plain() == Some(key)).map(|(_, value)| value.clone()).expect(key)
    };
    let number = |text: &str| Json::Number(serde_json::from_str(text).expect("a number"));
    assert_eq!((of("a"), of("b"), of("c"), of("d")), (number("5"), plain("5"), Json::Bool(true), Json::Null));
    assert_eq!(
        (of("e"), of("f"), of("i")),
        (number("1.5"), Json::List(vec![plain("x")]), number("12345678901234567890"))
    );
    assert_eq!((of("j"), of("k"), of("l")), (Json::Null, number("1e3"), number("0.5")));
    let place = |key: &str| of(key).as_text().and_then(|text| text.slots().next().map(|slot| slot.place));
    assert_eq!((place("g"), place("h")), (Some(SlotContext::JsonValue), Some(SlotContext::JsonString)));
    assert!(matches!(pairs.last().expect("a pair").0.parts[..], [PatternPart::Slot(_)]));
}

#[test]
fn steps_have_the_name_of_what_they_do() {
    let named = steps(
        "[{get: /a}, {post: \"/b/${uuid}/c\", name: c}, {post: \"/b/${uuid}/c\"}, {request: PURGE /x}, {transaction: pay, steps: [{get: /}]}, {think: 1s}]",
    );
    let names: Vec<&str> = named.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["GET /a", "c", "POST /b/{uuid}/c", "PURGE /x", "pay", "think"]);
    assert_eq!(request(&named[3]).method, "PURGE");
}

#[test]
fn think_times_failures_and_takes() {
    let all = steps(
        "[{think: 500ms}, {think: 1s - 3s}, {think: exponential(2s)}, {think: \"normal(2s,0.5s)\"}, {think: \"lognormal(2s, 0.4)\"}, {get: /}]",
    );
    let thinks: Vec<Think> = all[..5]
        .iter()
        .map(|step| if let Action::Think(think) = step.action { think } else { panic!("{step:?}") })
        .collect();
    let half = Duration::from_millis(500);
    assert_eq!(
        thinks,
        [
            Think::Fixed(half),
            Think::Uniform(secs(1), secs(3)),
            Think::Exponential(secs(2)),
            Think::Normal(secs(2), half),
            Think::LogNormal(secs(2), 0.4)
        ]
    );
    let all = steps(
        "[{get: /, on_failure: retry 3}, {get: /, on_failure: continue}, {get: /, on_failure: stop_user}, {get: /, on_failure: next_iteration}, {get: /}]",
    );
    let failures: Vec<_> = all
        .iter()
        .map(|step| step.on_failure.as_ref().map(|after| (after.retry.as_ref().map(|retry| retry.most), after.then)))
        .collect();
    assert_eq!(
        failures,
        [
            Some((Some(3), OnFailure::Next)),
            Some((None, OnFailure::GoOn)),
            Some((None, OnFailure::Stop)),
            Some((None, OnFailure::Next)),
            None
        ]
    );
    let all = steps(
        "[{get: /, extract: {a: 'css input[name=csrf] @value', b: 'css a[href=\"x@y\"]', c: {json: $.x, which: 3}, d: {regex: x, which: random, default: 5}}}]",
    );
    let takes = &request(&all[0]).take;
    let css = |selector: &str, attribute: Option<&str>| ExtractFrom::Css {
        selector: selector.to_owned(),
        attribute: attribute.map(str::to_owned),
    };
    assert_eq!(
        (&takes[0].from, &takes[1].from),
        (&css("input[name=csrf]", Some("value")), &css("a[href=\"x@y\"]", None))
    );
    assert_eq!((takes[2].which, takes[3].which), (Which::Nth(3), Which::Random));
    assert_eq!(takes[3].default, Some(Json::Number(5.into())));
}

#[test]
fn anchors_and_merges_repeat_what_they_name() {
    let file = good(
        "target: http://a\nscenarios:\n  a: &usual\n    load: &load {users: 5, for: 10s}\n    steps: [{get: /}]\n  b: {load: *load, steps: [{get: /b}]}\n  c:\n    <<: *usual\n    start_after: 5s\n  d:\n    <<: [*usual]\n    steps: [{get: /d}]\n  e:\n    steps: [{get: /e}]\n    <<: *usual\n",
    );
    let seen: Vec<_> =
        file.scenarios.iter().map(|scenario| (scenario.steps[0].name.as_str(), &scenario.load)).collect();
    let load = &file.scenarios[0].load;
    assert_eq!(seen, [("GET /", load), ("GET /b", load), ("GET /", load), ("GET /d", load), ("GET /e", load)]);
}

#[test]
fn names_have_values_in_the_order_of_the_file() {
    let take = |name: &str| format!("{{get: /, extract: {{{name}: status}}}}");
    let a = take("a");
    for good_steps in [
        format!("[{a}, {{get: \"/${{a}}\"}}]"),
        format!("[{{choose: [{{weight: 1, steps: [{a}]}}, {{weight: 1, steps: []}}]}}, {{get: \"/${{a}}\"}}]"),
        format!("[{{until: a == 200, max_rounds: 3, steps: [{a}]}}]"),
        format!("[{{parallel: 2, steps: [{a}]}}, {{get: \"/${{a}}\"}}]"),
        format!("[{{transaction: t, steps: [{a}]}}, {{if: a > 3, then: [{{get: \"/${{a}}\"}}]}}]"),
        format!("[{a}, {{get: \"/${{base64(a)}}${{a + 1}}\"}}]"),
    ] {
        steps(&good_steps);
    }
    for wrong_steps in [
        format!("[{{get: \"/${{a}}\"}}, {a}]"),
        "[{get: \"/${a}\", extract: {a: status}}]".to_owned(),
        format!("[{{while: a == 200, max_rounds: 3, steps: [{a}]}}]"),
        format!("[{{shuffle: [{a}, {{get: \"/${{a}}\"}}]}}]"),
        format!("[{{choose: [{{weight: 1, steps: [{a}]}}, {{weight: 1, steps: [{{get: \"/${{a}}\"}}]}}]}}]"),
        format!("[{{get: \"/${{base64(a)}}\"}}, {a}]"),
        format!("[{{get: \"/${{a + 1}}\"}}, {a}]"),
        format!("[{{post: /, json: {{x: [\"${{a}}\"]}}}}, {a}]"),
    ] {
        let said = wrong(&with_steps(&wrong_steps));
        assert!(said.len() == 1 && said[0].contains("'a' has no value yet here"), "{wrong_steps}: {said:?}");
    }
}

#[test]
fn what_before_takes_is_for_all_and_what_a_scenario_takes_is_its_own() {
    let of = |steps: &str| {
        format!(
            "target: http://a\nsetup: [{{get: /, extract: {{all: status}}}}]\nscenarios:\n  a: {{load: {{users: 1, for: 1s}}, on_start: [{{get: /, extract: {{own: status}}}}], steps: [{{get: \"/${{all}}${{own}}\"}}], on_stop: [{{get: \"/${{own}}\"}}]}}\n  b: {{load: {{users: 1, for: 1s}}, steps: [{steps}]}}\nteardown: [{{get: \"/${{all}}\"}}]\n"
        )
    };
    good(&of("{get: \"/${all}\"}"));
    let said = wrong(&of("{get: \"/${own}\"}"));
    assert!(said.len() == 1 && said[0].contains("taken in scenario 'a'"), "{said:?}");
}

#[test]
fn at_most_a_hundred_mistakes_are_kept_and_the_others_counted() {
    let many = "{get: /, nobody: 1}, ".repeat(150);
    let mistakes =
        parse("many", &with_steps(&format!("[{}]", many.trim_end_matches(", "))), &folder()).expect_err("mistakes");
    assert_eq!((mistakes.all.len(), mistakes.more), (MISTAKES_MAX, 50));
}

#[test]
fn bounds_are_reported() {
    let large = format!("# {}\n", "x".repeat(FILE_BYTES_MAX));
    assert!(wrong(&large)[0].contains("more than 4194304 bytes"));
    let many = "{get: /}, ".repeat(10_001);
    assert!(wrong(&with_steps(&format!("[{many}]"))).iter().any(|said| said.contains("more than 10000 steps")));
    let text = format!("vars: {{x: &x \"{}\", y: [{}]}}\n", "x".repeat(1 << 20), "*x, ".repeat(100));
    assert!(wrong(&text).iter().any(|said| said.contains("more than 67108864 bytes")));
}

#[test]
fn files_that_cannot_be_read_are_reported() {
    let folder = std::env::temp_dir().join(format!("onrush-scenario-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let fault = |path: &Path| read(path).expect_err("a mistake").all.remove(0).fault;
    assert!(matches!(fault(&folder.join("nobody.yaml")), Problem::File { .. }));
    assert!(matches!(fault(&folder), Problem::File { .. }));
    let odd = folder.join("odd.yaml");
    std::fs::write(&odd, b"name: \xff\n").expect("a file");
    let mistakes = read(&odd).expect_err("a mistake");
    assert_eq!((mistakes.all[0].fault.clone(), mistakes.all[0].at.start), (Problem::NotUtf8, 6));
    std::fs::write(&odd, "target: http://a\ndata: {d: .}\n").expect("a file");
    std::fs::write(folder.join("empty.csv"), "\n").expect("a file");
    std::fs::write(&odd, "target: http://a\ndata: {d: empty.csv, e: {file: ., format: csv}}\nscenarios: {a: {load: {iterations: 1}, steps: [{get: /}]}}\n").expect("a file");
    let said = said(&read(&odd).expect_err("mistakes"));
    assert!(said[0].contains("has no rows") && said[1].contains("not a file"), "{said:?}");
    std::fs::remove_dir_all(&folder).expect("ours");
}

#[test]
fn large_files_are_read_in_time_that_grows_with_them() {
    // Each of them took minutes while a lookup was repeated for each of the others.
    let lines = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let vars = lines(9_000, &|number| format!("  variable_{number}: ${{variable_{}}}\n", number + 1));
    let ways = lines(9_000, &|_| "          - {weight: 1, steps: [{get: \"/${t1}\"}]}\n".to_owned());
    let takes = lines(900, &|number| format!("      - {{get: /, name: n{number}, extract: {{t{number}: status}}}}\n"));
    let limits = lines(50_000, &|number| format!("  - p99(response_time, m{number}) < 1s\n"));
    let unknown = lines(9_000, &|number| format!("      - get: /${{variabel_{number}}}${{vraiable_{number}}}\n"));
    let body = format!("      - {{post: /, body: \"{}\"}}\n", format!("${{uuid()}}{}", "x".repeat(80)).repeat(9_900));
    let text = format!(
        "target: http://a\nvars:\n{vars}  variable_9000: 1\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps:\n{takes}{body}      - choose:\n{ways}"
    );
    assert_eq!(good(&text).vars.len(), 9_001);
    let text = format!("{}{unknown}thresholds:\n{limits}", text.split("      - choose:").next().expect("steps"));
    let mistakes = parse("large", &text, &folder()).expect_err("mistakes");
    assert_eq!((mistakes.all.len(), mistakes.all.len() + mistakes.more), (MISTAKES_MAX, 68_000));
}
