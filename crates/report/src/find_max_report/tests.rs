use std::time::Duration;

use metrics::GoalMisses;
use search::{
    Bin, Class, Disturbance, Noise, Purpose, Ran, SearchEnd, SearchResult, Tally, Trial, TrialOrder, TrialOutcome,
    Unknown,
};

use super::*;
use crate::{Language, Screen};

fn trial(number: usize, at: f64, purpose: Purpose, class: Class, lost: u64) -> Trial {
    let span = Duration::from_secs(20);
    let order = TrialOrder { number, at, purpose, warmup: span / 8, span, span_max: span, bin: span / 40 };
    let mut tally = Tally::default();
    let lost = GoalMisses { lost, of: 20_000 };
    tally.push(Bin { lost: vec![lost], ..Bin::default() });
    let outcome = TrialOutcome {
        tally,
        measured: span,
        done_per_s: at,
        p50_ns: Some(4_000_000),
        p99_ns: Some(180_000_000),
        limit: if class == Class::Missed { "target" } else { "plan_kept" },
        ..TrialOutcome::default()
    };
    let is_above = lost.share() > 0.01;
    let began = Duration::from_secs(number as u64 * 23);
    let (recovered, not_recovered, is_piling_up) = (None, None, false);
    Trial { order, began, outcome, lost: vec![lost], class, is_above, is_piling_up, recovered, not_recovered }
}

fn found() -> SearchResult {
    SearchResult {
        lower: Some(12_400.0),
        upper: Some(12_900.0),
        is_confirmed: true,
        not_confirmed: None,
        own_limit: None,
        unknown: None,
        ran: Some(Ran { at: 12_400.0, span: Duration::from_secs(20), trials: 1, of: 2, is_met: false }),
        limit: "target",
        ended: SearchEnd::Width,
        noise: None,
        is_worse: false,
        stalls: None,
        slower: None,
        recovered: Some(Duration::from_millis(1_300)),
        not_recovered: None,
        law: None,
        met: Some(12_400.0),
        took: Duration::from_secs(512),
    }
}

fn value(found: &SearchResult, trials: &[Trial]) -> serde_json::Value {
    search_value(&SearchInput {
        found,
        trials,
        goals: &["p99(response_time) < 200ms".to_owned()],
        varied: Varied::Rate { is_request: true },
        target: "http://a/<b>",
        budget: Duration::from_secs(720),
        began_unix: Duration::from_secs(1_700_000_000),
        about: &About::default(),
        kept_as: None,
        is_running: false,
    })
}

fn trials() -> Vec<Trial> {
    vec![
        trial(1, 12_400.0, Purpose::Full, Class::Met, 20),
        trial(2, 12_400.0, Purpose::Confirm, Class::Met, 31),
        trial(3, 12_900.0, Purpose::Full, Class::Missed, 900),
    ]
}

#[test]
fn the_result_is_said_in_both_languages() {
    let value = value(&found(), &trials());
    let english = search_text(&value, Screen::plain(Language::En));
    assert_eq!(
        english,
        "lost: requests that missed a goal (too slow, or no answer; failures have a goal of their own)\n\
         \nMaximum       12,650/s ± 2.0 %: 12,400/s was held, 12,900/s was not\n\
         Goals         p99(response_time) < 200ms\n\
         Held          12,400/s: met in 2 of 2 trials, the longest 20s; p99 180.0ms\n\
         Not held      12,900/s: too much in 1 of 1 trial; p99 180.0ms\n\
         Limit         the target\n\
         Recovery      at most 1.30s after a trial until response times were as before\n\
         Search        3 trials in 8m32s; the bounds are close\n"
    );
    let chinese = search_text(&value, Screen::plain(Language::Zh));
    for part in ["12,650/s ± 2.0%：12,400/s 可以承受，12,900/s 不能", "瓶颈          被测服务", "上下界已足够接近"]
    {
        assert!(chinese.contains(part), "{chinese}");
    }
}

#[test]
fn what_a_reader_must_know_is_said() {
    let own = SearchResult {
        upper: None,
        own_limit: Some((20_000.0, Disturbance::Generator)),
        limit: "generator",
        ..found()
    };
    let noisy = SearchResult {
        noise: Some(Noise { missed_at: 500.0, met_at: 800.0 }),
        is_worse: true,
        not_confirmed: Some(12_600.0),
        ..found()
    };
    let nothing = SearchResult { lower: None, ran: None, ended: SearchEnd::Least, ..found() };
    let few = SearchResult { ended: SearchEnd::Trials, is_confirmed: false, ..found() };
    for (found, english, chinese) in [
        (&own, "20,000/s could not be tried: the limit was onrush on this machine", "瓶颈是本机上的 onrush"),
        (&own, "at least 12,400/s", "至少 12,400/s"),
        (&noisy, "the target is noisy: 500/s was too much", "被测服务不稳定：500/s"),
        (&noisy, "may have become slower", "可能变慢"),
        (&noisy, "12,600/s was met in short trials, but", "12,600/s 在短时间内达标"),
        (&nothing, "below 12,900/s", "低于 12,900/s"),
        (&few, "it made as many trials as it may; more --trials", "已用完允许的试压次数"),
        (&few, "no trial was left to hold the load for long", "没有剩余的试压次数"),
    ] {
        let value = value(found, &trials());
        for (language, says) in [(Language::En, english), (Language::Zh, chinese)] {
            let text = search_text(&value, Screen::plain(language));
            assert!(text.contains(says), "{says}: {text}");
            let page = search_html(&value, language);
            assert!(page.contains(says), "{says}: {page}");
        }
    }
}

/// Time ran out, or the user stopped it: the best load is reported with this restriction.
#[test]
fn what_ran_without_a_loss_is_said() {
    let span = Duration::from_millis(6_700);
    let ran = Some(Ran { at: 40_000.0, span, trials: 2, of: 5, is_met: false });
    let budget =
        SearchResult { lower: None, upper: None, is_confirmed: false, ended: SearchEnd::Budget, ran, ..found() };
    let below = SearchResult { lower: Some(20_000.0), upper: None, ..budget.clone() };
    let over = SearchResult { lower: Some(12_400.0), ran: found().ran, ..budget.clone() };
    let english = "40,000/s ran 6.7s without a loss; not confirmed: 2 of 5 trials";
    let chinese = "40,000/s 压测了 6.7s，没有不达标的请求；尚未确认：5 次试压中有 2 次";
    let above = SearchResult { upper: Some(50_000.0), ..budget.clone() };
    for (found, is_said) in [(&budget, true), (&below, true), (&above, true), (&over, false)] {
        let value = value(found, &trials());
        for (language, says) in [(Language::En, english), (Language::Zh, chinese)] {
            let text = search_text(&value, Screen::plain(language));
            assert_eq!(text.contains(says), is_said, "{text}");
            let page = search_html(&value, language);
            assert_eq!(page.contains(says), is_said, "{page}");
            assert!(!text.contains("nothing was found") && !text.contains("没有得到结果"), "{text}");
        }
    }
    let ran = &value(&budget, &trials())["ran"];
    assert_eq!(*ran, serde_json::json!({"at": 40_000.0, "span_s": 6.7, "trials": 2, "of": 5, "is_met": false}));
    // It is reported before the load that was too much, with whether it was enough to show that the goals were met.
    let ran = budget.ran.map(|ran| Ran { is_met: true, ..ran });
    let value = value(&SearchResult { ran, ..above }, &trials());
    for (language, says) in [
        (
            Language::En,
            "40,000/s ran 6.7s without a loss and met the goals; not confirmed: 2 of 5 trials; 50,000/s was too much",
        ),
        (Language::Zh, "40,000/s 压测了 6.7s，没有不达标的请求，达标；尚未确认：5 次试压中有 2 次；50,000/s 不达标"),
    ] {
        let text = search_text(&value, Screen::plain(language));
        assert_eq!(text.matches(says).count(), 1, "{text}");
        assert!(search_html(&value, language).contains(says));
    }
    assert_eq!(value["answer"], 40_000.0);
}

/// Nothing is lost yet, but it obviously would be.
#[test]
fn what_piles_up_is_said() {
    let piling = Trial { is_piling_up: true, is_above: true, ..trial(1, 300.0, Purpose::Full, Class::Missed, 0) };
    let value = value(&found(), &[piling]);
    for (language, says) in [(Language::En, "missed, requests pile up"), (Language::Zh, "未达标，请求不断积压")]
    {
        let row = search_row(&value["trials"][0], &Screen::plain(language));
        assert!(row.trim_end().ends_with(says), "{row}");
        assert!(search_html(&value, language).contains(says));
    }
}

/// Stalls of the generator are neither the target's failures nor its limit.
#[test]
fn what_our_stalls_unreliable_is_said_to_be_unknown() {
    let mut unreliable = trial(4, 14_000.0, Purpose::Full, Class::Missed, 900);
    (unreliable.outcome.fault, unreliable.outcome.limit) = (Some(Disturbance::Stalls), Disturbance::Stalls.limit());
    let unknown = Some(Unknown { at: 14_000.0, trials: 3, stall: Duration::from_millis(70) });
    let found = SearchResult { upper: None, limit: "generator", ended: SearchEnd::Stalls, unknown, ..found() };
    let all: Vec<Trial> = trials().into_iter().take(2).chain([unreliable]).collect();
    let value = value(&found, &all);
    for (language, says, row) in [
        (
            Language::En,
            "whether 14,000/s is held is not known: what was lost in 3 trials",
            "unknown (onrush itself stood still)",
        ),
        (Language::Zh, "14,000/s 是否可以承受尚不清楚：3 次试压中不达标的请求", "未知（onrush 自身卡顿）"),
    ] {
        let screen = Screen::plain(language);
        let text = search_text(&value, screen);
        assert!(text.contains(says) && text.contains("70.0ms"), "{text}");
        let last = search_row(&value["trials"][2], &screen);
        assert!(last.trim_end().ends_with(row), "{last}");
        assert!(search_html(&value, language).contains(says));
    }
    assert_eq!((&value["trials"][2]["class"], &value["trials"][2]["fault"]), (&"discarded".into(), &"stalls".into()));
}

/// Uncommon words of the table are explained.
#[test]
fn words_of_the_table_are_explained() {
    let open = trial(4, 12_600.0, Purpose::Full, Class::Undecided, 190);
    let all: Vec<Trial> = trials().into_iter().chain([open]).collect();
    for (trials, has_open) in [(trials(), false), (all, true)] {
        let value = value(&found(), &trials);
        for (language, lost, open) in [(Language::En, "lost: ", "; open: "), (Language::Zh, "不达标：", "；未定：")]
        {
            let text = search_text(&value, Screen::plain(language));
            let first = text.lines().next().unwrap_or_default();
            assert!(first.starts_with(lost) && first.contains(open) == has_open, "{first}");
            assert!(search_html(&value, language).contains(first), "the page has it too");
        }
        assert!(value["words"]["open"].as_str().is_some_and(|open| open.starts_with("too few requests")));
        assert!(value["words"]["lost"].is_string());
    }
}

#[test]
fn a_page_needs_no_script_and_escapes_what_came() {
    let value = value(&found(), &trials());
    let page = search_html(&value, Language::En);
    assert!(page.contains("http://a/&lt;b&gt;") && !page.contains("<b>") && !page.contains("<script"));
    // A small and a large point for each trial, and the two bounds.
    assert_eq!(page.matches("<circle").count(), 6);
    assert!(page.contains("class=\"held\"") && page.contains("class=\"lost\""));
    assert_eq!(part_of_page(&value, Language::En).matches("<circle").count(), 6);
}

#[test]
fn rows_have_their_columns() {
    let value = value(&found(), &trials());
    let screen = Screen::plain(Language::En);
    let row = search_row(&value["trials"][2], &screen);
    assert_eq!(search_head(&value, &screen).find("lost"), row.find("4.50%").map(|at| at + 1), "{row}");
    assert!(row.trim_end().ends_with("missed"), "{row}");
}
