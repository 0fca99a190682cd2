use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::*;

fn times() -> Value {
    json!({"count": 7, "min_ns": 1e6, "mean_ns": 2e6, "p50_ns": 2e6, "p90_ns": 3e6, "p95_ns": 4e6, "p99_ns": 5e6, "p99_9_ns": 6e6, "max_ns": 7e6})
}

/// A report whose texts try to inject markup.
fn report(steps: usize) -> Value {
    let step = |number: usize| json!({"name": format!("step {number} <script>alert(1)</script>"), "finished": 100_000, "failed": 3, "response_time": times()});
    let steps: Vec<Value> = (0..steps).map(step).collect();
    json!({
        "about": {"version": "0.1.0", "command": "onrush 'http://a/?<b>&\"c'", "began": "2026-01-31T00:00:00.000000Z", "plan": "GET /", "plan_zh": "GET /",
            "host": {"kernel": "Linux", "cpu": "a cpu", "cores": 2, "memory_bytes": 1024, "settings": {"nofile": "20000"}}},
        "target": {"url": "http://a/</title><img src=x onerror=alert(1)>", "address": "127.0.0.1:1"},
        "requests": {"started": 12_345, "succeeded": 12_300, "failed": 45, "aborted": 0, "iterations": {"completed": 1, "failed": 2, "aborted": 3}},
        "requests_per_s": 1234.5, "wall_s": 3600.0,
        "times": {"succeeded": {"response_time": times(), "service_time": times()}},
        "scenarios": [{"name": "main", "steps": steps, "transactions": []}],
        "failures": [{"reason": "status", "detail": null, "count": 45, "remedy": "look", "remedy_zh": "请查看"}],
        "thresholds": [{"threshold": "p99(response_time) < 100ms", "holds": false, "value": 5e6, "unit": "ns", "at_least": false}],
        "verdict": {"kind": "target", "tone": "bad", "title": "Thresholds not met", "title_zh": "阈值未达标", "is_unreliable": false, "text": "the target", "text_zh": "瓶颈在被测服务"},
        "notes": [{"kind": "refused", "text": "a note", "text_zh": "一条提示"}],
    })
}

/// An hour of seconds in as many points as charts have, with noise that does not compress well.
fn charts(points: usize, parts: usize) -> Value {
    let mut state = 88_172_645_463_325_252u64;
    let mut draw = move |most: f64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 99_999) as f64 / 99_999.0 * most
    };
    let mut line = |most: f64| -> Value {
        (0..points).map(|_| format!("{:.4e}", draw(most)).parse::<f64>().expect("a number")).collect()
    };
    let names = [
        "done_per_s",
        "done_low",
        "done_high",
        "failed_per_s",
        "p50_s",
        "p90_s",
        "p99_s",
        "p99_9_s",
        "p99_low",
        "p99_high",
        "users",
        "in_flight",
        "connections",
        "received_per_s",
        "sent_per_s",
        "lateness_p99_s",
        "cpu_cores",
    ];
    let series: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), line(1_000.0))).collect();
    let parts: Vec<Value> = (0..parts).map(|number| json!({"scenario": "main", "name": format!("step {number}"), "kind": "step", "per_s": line(100.0), "p99_s": line(1.0)})).collect();
    let failures = line(3.0);
    let heat: Vec<Value> = (0..points).map(|_| (0..35).map(|_| draw(500.0) as u64).collect()).collect();
    let at = |shift: f64| -> Value { (0..points).map(|point| point as f64 * 6.0 + shift).collect() };
    json!({
        "version": 1, "began_unix_ms": 1_780_000_000_000u64, "span_s": 3_600.0, "from_s": at(0.0), "to_s": at(6.0),
        "series": series, "failures": [{"reason": "status", "per_s": failures}], "parts": parts,
        "heat": {"edges_s": (0..36).map(|edge| 0.001 * 1.3f64.powi(edge)).collect::<Vec<f64>>(), "counts": heat},
        "spectrum": [{"measure": "response_time", "points": [[0.0, 0.001], [0.99, 0.1], [1.0, 0.2]]}],
        "marks": [{"at_s": 30.0, "kind": "stage", "en": "200/s", "zh": "200/s"}],
    })
}

fn data_of(html: &str) -> Value {
    let packed = html.split("id=\"data\">").nth(1).and_then(|rest| rest.split('<').next()).expect("data");
    let bytes = STANDARD.decode(packed).expect("base64");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzip");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn nothing_of_a_run_becomes_markup() {
    for language in [Language::En, Language::Zh] {
        let html = html_report(&report(3), &charts(20, 3), language);
        let outside = html.split("<script type=\"module\">").next().expect("a head");
        assert!(
            !outside.contains("<img") && !outside.contains("alert(1)</script>") && !outside.contains("?<b>"),
            "{language:?}"
        );
        assert!(outside.contains("step 0 &lt;script&gt;"));
    }
}

/// An instant stands in UTC, and the script finds it; what is none stays as it is.
#[test]
fn instants_are_marked() {
    let html = html_report(&report(1), &charts(5, 1), Language::En);
    let began = "<time datetime=\"2026-01-31T00:00:00Z\">2026-01-31 00:00:00 UTC</time>";
    assert_eq!(html.matches(began).count(), 2);
    let of = |utc: &str| Cell::Instant(utc.to_owned(), markup::TO_MILLIS).markup();
    let shown = "<time datetime=\"2026-01-31T00:00:00.123Z\">2026-01-31 00:00:00.123 UTC</time>";
    assert_eq!(of("2026-01-31T00:00:00.123456Z"), shown);
    assert_eq!((of("").as_str(), of("<b>").as_str()), ("", "&lt;b&gt;"));
}

/// The policy of the page allows its own style and script by their digests, and nothing else.
#[test]
fn the_policy_names_what_stands_in_the_page() {
    let html = html_report(&report(1), &charts(5, 1), Language::En);
    let between = |from: &str, to: &str| {
        html.split(from).nth(1).and_then(|rest| rest.split(to).next()).expect("there").to_owned()
    };
    for (from, to) in [("<style>", "</style>"), ("<script type=\"module\">", "</script>")] {
        assert!(html.contains(&format!("'sha256-{}'", digest(&between(from, to)))), "{from}");
    }
    assert!(html.contains("default-src 'none'"));
    let policy = between("Content-Security-Policy\" content=\"", "\"");
    assert!(policy.matches("'sha256-").count() == 2 && !policy.contains("inline"), "{policy}");
    assert!(!html.contains(" style=") && !html.contains("import { mount }") && !html.contains("https://"));
}

#[test]
fn an_hour_of_ten_steps_is_below_400_kb() {
    let (report, charts) = (report(10), charts(600, 10));
    let html = html_report(&report, &charts, Language::Zh);
    assert!(html.len() < 400_000, "{} bytes", html.len());
    let data = data_of(&html);
    assert_eq!(data["charts"][0]["series"][0]["y"], charts["series"]["done_per_s"]);
    assert_eq!((data["charts"][1]["limits"][0]["y"].clone(), data["span_s"].clone()), (json!(0.1), json!(3_600.0)));
    assert_eq!(data["heat"]["counts"].as_array().map(Vec::len), Some(600));
    let titles: Vec<&str> =
        data["charts"].as_array().expect("charts").iter().map(|one| one["id"].as_str().expect("an id")).collect();
    assert_eq!(titles, ["rate", "times", "users", "failures", "parts-times", "parts-rate", "bytes", "lateness", "cpu"]);
}

/// The figures of the page are those of the report, in both languages.
#[test]
fn tables_have_the_figures_of_the_report() {
    let html = |language| html_report(&report(2), &charts(5, 2), language);
    let (english, chinese) = (html(Language::En), html(Language::Zh));
    let p99 = crate::format::time(5e6);
    for shown in ["12,345", "12,300", "1,235", &p99, "1 / 2 / 3", "p99(response_time) &lt; 100ms", "✗"] {
        assert!(english.contains(shown) && chinese.contains(shown), "{shown}");
    }
    assert!(english.contains("the target") && english.contains("Thresholds not met") && english.contains("look"));
    assert!(chinese.contains("瓶颈在被测服务") && chinese.contains("阈值未达标") && chinese.contains("请查看"));
    assert!(chinese.contains("lang=\"zh-CN\""));
}

/// Parts missing in a report that was edited by hand are shown as missing.
#[test]
fn a_report_of_nothing_is_a_page_too() {
    let html = html_report(&json!({}), &json!({}), Language::En);
    assert!(html.contains("No verdict") && data_of(&html)["charts"] == json!([]));
}

/// Each worker is listed with its work, and so are undelivered starts; without workers neither is.
#[test]
fn workers_are_shown() {
    let worker = |name: &str, losses: u32| {
        json!({"name": name, "share": 0.25, "threads": 2, "started": 1_500, "failed": 3, "cpu_s": 0.5, "clock_error_s": 0.000_05,
            "start_delay_s": null, "loss_count": losses, "bus_was_full": losses > 0})
    };
    let of = |workers: Value, language| {
        let mut report = report(1);
        report["workers"] = workers;
        html_report(&report, &charts(2, 1), language)
    };
    let each = vec![worker("a <b>", 0), worker("b", 1)];
    let loads = json!({"undelivered": 1_234, "unaccounted": 56, "late_change_delta": -987, "stalled_s": 7.5,
        "change_delay_s": 2.5, "list": each});
    let page = of(loads.clone(), Language::En);
    for text in [
        "<h2>Workers</h2>",
        "a &lt;b&gt;",
        "25.00%",
        "was lost; the bus had no room",
        "1,234",
        "the load stood still for",
        "a change of the load reached workers late by up to",
        "starts fewer than planned, before the change came",
        "987",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let page = of(loads, Language::Zh);
    for text in
        ["<h2>工作进程</h2>", "曾失联；总线已满", "未执行的请求（到期时没有进程承担）", "调整到达前比计划少发起的请求"]
    {
        assert!(page.contains(text), "{text}");
    }
    let many: Vec<Value> = (0..300).map(|number| worker(&format!("w{number}"), 0)).collect();
    let page = of(json!({"unaccounted": 0, "unaccounted_responses": 7, "list": many}), Language::En);
    assert!(page.contains("And 44 more") && page.contains("w255") && !page.contains("w256"));
    assert!(page.contains("messages of which nobody knows") && !page.contains("connections of which nobody knows"));
    assert!(!of(Value::Null, Language::En).contains("Workers"));
}

/// The marks of the terminal are used here as well.
#[test]
fn times_have_their_marks() {
    let mut report = report(1);
    report["times"]["succeeded"]["response_time"]["unreliable"] = json!(["p99_9", "max"]);
    let incomplete = json!({"p50_ns": 2e6, "p99_ns": 8e9, "at_least": ["p99"], "unreliable": ["p99"]});
    report["times"]["succeeded"]["service_time"]["with_incomplete"] = incomplete;
    let page = html_report(&report, &charts(5, 1), Language::En);
    for part in ["6.00ms!", "7.00ms!", "≥ 8.00s!", "5.00ms<"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("5.00ms!"), "that is p99 of the response times");
}
