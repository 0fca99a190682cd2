use search::{Grid, Vary};

use super::*;
use crate::{Language, Screen};

fn run(place: usize, rate: f64, p99_ns: u64, is_unreliable: bool) -> SweptRun {
    SweptRun {
        place,
        round: 1,
        rate,
        p50_ns: Some(p99_ns / 2),
        p99_ns: Some(p99_ns),
        is_affected: [false, p99_ns == 9_000_000],
        failed_share: 0.0,
        limit: if is_unreliable { "generator" } else { "unknown" },
        is_unreliable,
        kept_as: None,
    }
}

fn value(runs: &[SweptRun], best_by: BestBy) -> Value {
    let vary = ["connections=1,8", "keepalive=on,off"].map(|text| Vary::parse(text).expect("it varies"));
    sweep_value(&SweepInput {
        grid: &Grid::new(vary.to_vec(), 1).expect("a grid"),
        runs,
        is_hold: false,
        best_by,
        target: "http://a/<b>",
        seed: None,
        began_unix: Duration::from_secs(1_700_000_000),
        took: Some(Duration::from_secs(12)),
        was_stopped: false,
        about: &About::default(),
        kept_as: None,
    })
}

fn runs() -> Vec<SweptRun> {
    vec![
        run(3, 900.0, 9_000_000, false),
        run(0, 500.0, 2_000_000, false),
        run(2, 4_000.0, 3_000_000, true),
        run(1, 300.0, 4_000_000, false),
        run(0, 520.0, 2_200_000, false),
        run(0, 510.0, 2_100_000, false),
    ]
}

#[test]
fn cells_have_medians_and_the_best_was_not_unreliable() {
    let by_rate = value(&runs(), BestBy::Rate);
    assert_eq!(by_rate["cells"][0]["rate"], json!({"median": 510.0, "least": 500.0, "most": 520.0}));
    assert_eq!(by_rate["best"], json!({"connections": "8", "keepalive": "off"}), "the fastest one was unreliable");
    assert_eq!(value(&runs(), BestBy::P99)["best"], json!({"connections": "1", "keepalive": "on"}));
    assert_eq!(value(&runs()[2..3], BestBy::Rate)["best"], Value::Null);
}

#[test]
fn a_table_and_a_grid() {
    let text = sweep_text(&value(&runs(), BestBy::P99), Screen::plain(Language::En));
    assert_eq!(
        text,
        "\nconnections  keepalive   requests/s      least to most        p50        p99     failed  limit\n\
         1            on                 510          500 - 520     1.05ms     2.10ms      0.00%  unknown  <- best\n\
         1            off                300          300 - 300     2.00ms     4.00ms      0.00%  unknown\n\
         8            on               4,000      4,000 - 4,000     1.50ms     3.00ms      0.00%  onrush on this machine !1\n\
         8            off                900          900 - 900     4.50ms    9.00ms!      0.00%  unknown\n\
         \nrequests/s, median:\n\
         connections \\ keepalive          on        off\n\
         1                               510        300\n\
         8                             4,000        900\n\
         \nBest by p99: connections=1, keepalive=on (not clearly: others come near it)\n\
         !N: in N runs onrush or this machine was the bottleneck; these say nothing of the target\n\
         ! behind a time: stalls of onrush itself may have made it\n\
         6 of 4 runs in 12s\n"
    );
    let chinese = sweep_text(&value(&runs(), BestBy::P99), Screen::plain(Language::Zh));
    assert!(chinese.contains("按p99最佳") && chinese.contains("QPS"), "{chinese}");
}

#[test]
fn a_page_has_heat_maps_and_no_script() {
    for language in [Language::En, Language::Zh] {
        let page = sweep_html(&value(&runs(), BestBy::Rate), language);
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>") && !page.contains("<script"));
        // Rates and percentiles of four cells each.
        assert_eq!(page.matches("<rect").count(), 8);
        assert_eq!(page.matches(" unreliable\"").count(), 2);
    }
}

/// A pool of 200/s, whatever the queue, and a row that was quicker than the best.
#[test]
fn a_plateau_and_what_was_left_out_are_reported() {
    let of = |is_unreliable: bool, is_hold: bool| {
        let vary = Vary::parse("connections=4,16,100").expect("it varies");
        let runs =
            [run(0, 120.0, 1_000_000, is_unreliable), run(1, 199.0, 2_000_000, false), run(2, 200.0, 3_000_000, false)];
        sweep_value(&SweepInput {
            grid: &Grid::new(vec![vary], 1).expect("a grid"),
            runs: &runs,
            is_hold,
            best_by: BestBy::P99,
            target: "http://a/",
            seed: None,
            began_unix: Duration::ZERO,
            took: None,
            was_stopped: false,
            about: &About::default(),
            kept_as: None,
        })
    };
    let value = of(true, false);
    assert_eq!(value["plateau"], json!({"from": {"connections": "16"}, "least": 199.0, "most": 200.0}));
    assert_eq!(value["left_out"], json!([{"place": 0, "values": {"connections": "4"}}]));
    assert_eq!(of(false, false)["left_out"], json!([]));
    assert_eq!(of(false, true)["plateau"], Value::Null, "connections that are held have no rate");
    for (language, plateau, out) in [
        (
            Language::En,
            "From connections=16 on more connections give the same rate: 199 - 200/s",
            "Left out of it, though they look better by p99: connections=4; onrush was the limit there, or stalled",
        ),
        (
            Language::Zh,
            "从 connections=16 起，继续增加 connections 速率不变：199 - 200/s",
            "看似更好，但未参与评选：connections=4；",
        ),
    ] {
        for shown in [sweep_text(&value, Screen::plain(language)), sweep_html(&value, language)] {
            assert!(shown.contains(plateau) && shown.contains(out), "{shown}");
        }
    }
}
