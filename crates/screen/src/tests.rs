//! The screen on a test terminal: the display of synthetic runs, and the effects of keys.

use std::sync::Mutex;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use report::Language;
use serde_json::{Value, json};

use super::*;

/// A paused run, and the actions of keys.
struct Made {
    run: Value,
    charts: Value,
    acts: Mutex<Vec<Act>>,
    refused: Option<[String; 2]>,
}

impl Source for Made {
    fn run(&self) -> Value {
        self.run.clone()
    }

    fn charts(&self) -> Value {
        self.charts.clone()
    }

    fn act(&self, act: &Act) -> Result<(), [String; 2]> {
        self.acts.lock().expect("nobody panics with it").push(act.clone());
        self.refused.clone().map_or(Ok(()), Err)
    }
}

fn scenario(name: &str, kind: &str, now: f64) -> Value {
    json!({"name": name, "kind": kind, "now": now, "is_paused": false, "end_s": 10.0})
}

fn load(scenarios: &[Value]) -> Made {
    let times = json!({"p50_ns": 2_000_000, "p99_ns": 5_000_000, "max_ns": 9_000_000,
        "with_incomplete": {"p50_ns": 2_000_000, "p99_ns": 700_000_000, "at_least": ["p99"]}});
    let step = json!({"name": "GET /shop", "finished": 1_234, "failed": 5, "response_time": times});
    let run = json!({
        "state": "paused", "revision": 3, "now_s": 5.0,
        "plan": {"kind": "load", "target": "http://127.0.0.1:8080/", "requests": null,
            "scenarios": [{"text": "GET /, open model", "text_zh": "GET /，固定速率"}]},
        "scenarios": scenarios,
        "live": {"number": 5,
            "now": {"requests_per_s": 499.6, "failed_per_s": 2.0, "users": 7, "in_flight": 3, "response_time": times},
            "total": {"finished": 1_234, "failed": 5, "bytes_received": 2_048},
            "statuses": {"200": 1_229}, "failures": [{"reason": "status-500", "count": 5}],
            "thresholds": [{"threshold": "p99(response_time) < 100ms", "holds": false}],
            "workers": {"count": 3, "lost": 1, "list": []},
            "scenarios": [{"steps": [step], "transactions": []}]},
        "events": [{"at_s": 4.0, "text": "rate 500/s", "text_zh": "速率 500/s"}],
    });
    let charts = json!({"to_s": [1.0, 2.0, 3.0], "series": {"done_per_s": [400.0, 500.0, null], "p99_s": [0.005, 0.004, 0.7]},
        "heat": {"edges_s": [0.001, 0.00126, 0.00158], "counts": [[1, 3], [], [0, 4]]}});
    Made { run, charts, acts: Mutex::default(), refused: None }
}

fn known(source: &Made, language: Language) -> ScreenState {
    let mut known = ScreenState::new(ScreenStyle { language, has_colors: true });
    known.poll(source);
    known
}

fn drawn(known: &ScreenState, (columns, rows): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal that is none");
    terminal.draw(|frame| draw::all(frame, known)).expect("it draws");
    let buffer = terminal.backend().buffer().clone();
    let line = |row: u16| (0..columns).map(|column| buffer[(column, row)].symbol()).collect::<String>();
    (0..rows).map(|row| format!("{}\n", line(row).trim_end())).collect()
}

fn press(known: &mut ScreenState, source: &Made, key: char) -> Vec<Act> {
    keys::press(key as u8, known, source);
    std::mem::take(&mut *source.acts.lock().expect("nobody panics with it"))
}

#[test]
fn all_of_a_load_is_there_at_any_size() {
    let source = load(&[scenario("see", "rate", 500.0)]);
    for size in [(80, 24), (200, 60), (60, 16)] {
        let text = drawn(&known(&source, Language::En), size);
        for part in ["http://127.0.0.1:8080/", "paused", "50%", "0:05", "500 / 500", "5 2.00/s", "1,234", "q stop"] {
            assert!(text.contains(part), "{part} at {size:?}:\n{text}");
        }
    }
    let text = drawn(&known(&source, Language::En), (80, 24));
    // At least 700 ms.
    for part in [
        ">=700.0ms",
        "1.58ms 87.50%",
        "1,229  HTTP 200",
        "5  status-500",
        "3  workers, 1 of them lost",
        "crossed",
        "0:04 rate 500/s",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let text = drawn(&known(&source, Language::Zh), (80, 24)).replace(' ', "");
    for part in ["已暂停", "QPS", "3个工作进程，1个失联", "未达标", "速率500/s", "q停止"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // Nothing fits, and nothing panics.
    for size in [(39, 24), (80, 11), (1, 1), (0, 0), (40, 12), (400, 12)] {
        drawn(&known(&source, Language::Zh), size);
    }
}

#[test]
fn several_scenarios_are_shown_and_one_is_chosen() {
    let source = load(&[scenario("see", "users", 20.0), scenario("pay", "rate", 500.0)]);
    let mut known = known(&source, Language::En);
    assert!(drawn(&known, (80, 24)).contains(">see 20 users   pay 500/s"));
    keys::press(b'\t', &mut known, &source);
    assert!(drawn(&known, (80, 24)).contains(" see 20 users  >pay 500/s"));
    let Act::Change(change) = press(&mut known, &source, '+').remove(0) else { panic!("a change") };
    assert_eq!(change, json!({"revision": 3, "change": "rate", "to": "550/s", "scenario": "pay"}));
    press(&mut known, &source, 's');
    let text = drawn(&known, (80, 24));
    assert!(text.contains("GET /shop") && text.contains("9.00ms"), "{text}");
}

#[test]
fn connections_that_are_held_are_shown() {
    let row = json!({"open": 990, "connecting": 10, "lost": 2, "failed": 1, "response_time": {"p99_ns": 3_000_000}});
    let run = json!({"state": "running", "revision": 0, "now_s": 5.0, "scenarios": [], "events": [],
        "plan": {"kind": "hold", "target": "ws://127.0.0.1/", "connections": 1_000, "duration_s": 20.0, "scenarios": [], "text": "1,000 connections"},
        "live": {"number": 5, "hold": row}});
    let charts = json!({"to_s": [1.0, 2.0], "series": {"open": [500, 990], "p99_s": [null, 0.003]}});
    let mut source = Made { run, charts, acts: Mutex::default(), refused: None };
    let mut known = known(&source, Language::En);
    let text = drawn(&known, (80, 24));
    for part in ["1,000 connections", "25%", "990 / 1,000", "3.00ms", "connections", "q stop"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(press(&mut known, &source, '+').is_empty() && known.said.contains("no rate"), "{}", known.said);
    source.refused = Some(["it cannot pause".to_owned(), "不能暂停".to_owned()]);
    press(&mut known, &source, 'p');
    assert!(drawn(&known, (80, 24)).contains("it cannot pause"));
}

#[test]
fn keys_pause_and_end() {
    let mut source = load(&[scenario("see", "users", 1.0)]);
    let mut known = known(&source, Language::En);
    let pause = |change: &str| vec![Act::Change(json!({"revision": 3, "change": change}))];
    assert_eq!(press(&mut known, &source, 'p'), pause("pause"));
    source.run["scenarios"][0]["is_paused"] = true.into();
    known.poll(&source);
    assert_eq!(press(&mut known, &source, 'p'), pause("resume"));
    let users = |to: u64| json!({"revision": 3, "change": "users", "to": to, "scenario": "see"});
    assert_eq!(press(&mut known, &source, '+'), [Act::Change(users(2))]);
    assert_eq!(press(&mut known, &source, '-'), [Act::Change(users(1))]);
    assert_eq!(press(&mut known, &source, 'x'), []);
    assert_eq!(press(&mut known, &source, 'q'), [Act::Stop]);
    assert!(drawn(&known, (80, 24)).contains("q again"));
    keys::press(0x03, &mut known, &source);
    assert_eq!(source.acts.lock().expect("nobody panics with it").as_slice(), [Act::Abort]);
}
