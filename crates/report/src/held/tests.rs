use std::sync::Arc;

use engine::{HoldResult, MemoryUse};
use figures::{HeldInput, HostFacts};
use metrics::{Distribution, HeldCounter, HeldCounts, HeldNow};
use pacing::Nanos;
use plan::{Flags, Hold, HoldFlags};
use serde_json::Value;

use super::*;

const MILLI: u64 = 1_000_000;

pub(crate) fn plan() -> Hold {
    let flag = |text: &str| Some(text.to_owned());
    let common = Flags { url: flag("ws://127.0.0.1:8080/"), connections: flag("100"), ..Flags::default() };
    HoldFlags { common, every: flag("1s"), ..HoldFlags::default() }.plan().expect("a good plan")
}

/// A loop with this many clock reads, of which this many were late by this time.
fn lag(looks: u64, late: u64, late_ns: u64) -> Distribution {
    let mut lag = Distribution::default();
    (0..looks - late).for_each(|_| lag.record(60_000));
    (0..late).for_each(|_| lag.record(late_ns));
    lag
}

/// Ten seconds without any problem, on two threads.
pub(crate) fn good() -> HoldResult {
    let now = HeldNow { open: 100, ..HeldNow::default() };
    let mut total = metrics::Held::default();
    let counts = &mut total.counts;
    (counts[HeldCounter::Tried], counts[HeldCounter::Established], counts[HeldCounter::Closed]) = (100, 100, 100);
    (counts[HeldCounter::Due], counts[HeldCounter::Sent], counts[HeldCounter::Answered]) = (1_000, 1_000, 1_000);
    HoldResult {
        names: Vec::new(),
        total,
        wall: Nanos::from_millis(10_000),
        opened_after: Some(Nanos::from_millis(10)),
        when_opened: now,
        when_closing: now,
        closing_after: Some(Nanos::from_millis(10_000)),
        steady: Vec::new(),
        most_open: 100,
        memory: MemoryUse::default(),
        stopped_opening: None,
        places: (1, 1),
        threads: 2,
        cpu: host::CpuTime::default(),
        driver: driver::DriverSelection { kind: driver::Kind::Poll, was_requested: true, refusal: None },
        refused: None,
        lacked_certificate: false,
        was_stopped: false,
        lags: vec![lag(200, 0, 0), lag(200, 0, 0)],
        workers_summary: None,
    }
}

/// The row of messages and the verdict have one count: messages of lost connections were due, too.
#[test]
fn messages_that_were_due_are_one_number() {
    for (due, missed, shown) in [(42, 78, "120"), (1_000, 5, "1,005"), (0, 7, "7"), (9, 0, "9")] {
        let mut result = good();
        let counts = &mut result.total.counts;
        (counts[HeldCounter::Due], counts[HeldCounter::Sent], counts[HeldCounter::Answered]) = (due, due, due);
        counts[HeldCounter::Missed] = missed;
        let (verdicts, pages, _) = reported(&result);
        for ((verdict, page), words) in
            verdicts.iter().zip(&pages).zip([[" due, ", "of ", " due"], ["应发 ", "应发 ", " 条"]])
        {
            let row =
                page.lines().find(|line| line.starts_with("Messages ") || line.starts_with("消息 ")).expect("a row");
            let is_first = words[0] == " due, ";
            let reported = if is_first { format!("{shown} due, ") } else { format!("应发 {shown}，") };
            assert!(row.contains(&reported), "{row}");
            assert!(missed == 0 || verdict.contains(&format!("{}{shown}{}", words[1], words[2])), "{verdict}");
        }
    }
}

/// The verdicts in English and in Chinese, the page and the JSON.
fn reported(result: &HoldResult) -> ([String; 2], [String; 2], Value) {
    let plan = plan();
    let address = "127.0.0.1:8080".parse().expect("an address");
    let (plan, result) = (Arc::new(plan), result.clone());
    let held = Held::of(HeldInput { plan, address, lookup: None, result, host: HostFacts::default() });
    let languages = [Language::En, Language::Zh];
    let json = crate::Json::default().hold_value(&held);
    let verdicts = languages.map(|language| verdicts(&held, language).join("\n"));
    (verdicts, languages.map(|language| hold_summary(&held, Screen::plain(language))), json)
}

#[test]
fn what_went_well_is_kept() {
    let ([en, zh], pages, json) = reported(&good());
    assert_eq!(en, "kept: all 100 connections were open, none was lost, and every message was answered");
    assert_eq!(zh, "达标：100 个连接全部建立，无一断开，消息全部得到响应");
    assert_eq!((&json["verdict"]["is_kept"], &json["verdict"]["is_unreliable"]), (&true.into(), &false.into()));
    assert_eq!(json["generator"]["late_thread"], Value::Null);
    assert!(!pages[0].contains("UNRELIABLE") && !pages[1].contains("结果不可靠"));
}

#[test]
fn what_was_stopped_is_not_kept() {
    let mut stopped = good();
    stopped.was_stopped = true;
    let ([en, zh], _, json) = reported(&stopped);
    assert_eq!(
        en,
        "stopped before the end of the plan; until then all 100 connections were open, none was lost, and every message was answered"
    );
    assert_eq!(zh, "压测提前停止；在此之前，100 个连接全部建立，无一断开，消息全部得到响应");
    assert_eq!(json["verdict"]["is_kept"], false);
    stopped.most_open = 57;
    let ([en, _], ..) = reported(&stopped);
    assert_eq!(
        en,
        "stopped before the end of the plan; until then not all connections were open at one time: 57 of 100"
    );
}

#[test]
fn messages_that_were_not_sent_or_answered_are_counted() {
    type Change = fn(&mut HeldCounts);
    let cases: [(Change, &str, &str); 5] = [
        (
            |counts| {
                (counts[HeldCounter::Sent], counts[HeldCounter::Answered], counts[HeldCounter::Unsent]) = (997, 997, 3)
            },
            "not every message was answered correctly: of 1,000 due, 3 never sent",
            "并非每条消息都得到正确响应：应发 1,000 条，其中 3 条未能发出",
        ),
        (
            |counts| (counts[HeldCounter::Answered], counts[HeldCounter::Unanswered]) = (998, 2),
            "not every message was answered correctly: of 1,000 due, 2 not answered",
            "并非每条消息都得到正确响应：应发 1,000 条，其中 2 条未得到响应",
        ),
        // Their outcome is unknown.
        (
            |counts| counts[HeldCounter::Answered] = 999,
            "not every message was answered correctly: of 1,000 due, 1 not answered",
            "并非每条消息都得到正确响应：应发 1,000 条，其中 1 条未得到响应",
        ),
        (
            |counts| counts[HeldCounter::Refused] = 4,
            "not every message was answered correctly: of 1,000 due, 4 refused by the check",
            "并非每条消息都得到正确响应：应发 1,000 条，其中 4 条断言失败",
        ),
        (
            |counts| {
                (
                    counts[HeldCounter::Sent],
                    counts[HeldCounter::Answered],
                    counts[HeldCounter::Unsent],
                    counts[HeldCounter::Missed],
                ) = (999, 999, 1, 5)
            },
            "not every message was answered correctly: of 1,005 due, 1 never sent, 5 due on lost connections",
            "并非每条消息都得到正确响应：应发 1,005 条，其中 1 条未能发出，5 条因连接断开未发",
        ),
    ];
    for (change, en, zh) in cases {
        let mut result = good();
        change(&mut result.total.counts);
        let (verdicts, pages, json) = reported(&result);
        assert_eq!(verdicts, [en, zh]);
        assert!(pages[0].contains(en) && pages[1].contains(zh), "{pages:?}");
        assert_eq!(json["verdict"]["is_kept"], false, "{en}");
    }
}

#[test]
fn a_generator_that_was_late_is_named() {
    // One thread of two stalled for two of sixty seconds.
    let mut result = good();
    result.lags = vec![lag(1_200, 0, 0), lag(1_200, 40, 2_000 * MILLI)];
    let ([en, zh], pages, json) = reported(&result);
    assert!(
        en.starts_with("the generator was late: the loop of thread 1 was more than 20 ms late for 3.3% of its"),
        "{en}"
    );
    assert!(zh.starts_with("压测机滞后：线程 1 有 3.3% 的时间滞后超过 20 ms（p99 2.00s，最长 2.00s）"), "{zh}");
    assert!(pages[0].contains("UNRELIABLE: these figures") && pages[1].contains("结果不可靠"), "{pages:?}");
    assert_eq!((&json["verdict"]["is_unreliable"], &json["generator"]["late_thread"]), (&true.into(), &1.into()));
    assert_eq!(json["generator"]["loops"][1]["lag_max_ns"], 2_000 * MILLI);
    // Each hundredth clock read of a thread may be late, and no more.
    result.lags[1] = lag(1_200, 12, 2_000 * MILLI);
    assert!(!result.is_unreliable());
    result.lags[1] = lag(1_200, 13, 21 * MILLI);
    assert!(result.is_unreliable());
    result.lags[1] = lag(1_200, 13, 19 * MILLI);
    assert!(!result.is_unreliable());
    // The loops were not late when they read the clock, but messages were.
    (result.total.counts[HeldCounter::Due], result.total.counts[HeldCounter::Late]) = (1_000, 11);
    let ([en, zh], pages, json) = reported(&result);
    assert!(en.starts_with("the generator was late: 11 of 1,000 messages were sent late; give it more"), "{en}");
    assert!(zh.starts_with("压测机滞后：1,000 条消息中有 11 条发送过晚；请"), "{zh}");
    assert!(pages[0].contains("1,000 answered, 11 sent late by the generator"), "{pages:?}");
    assert!(pages[1].contains("11 条因压测机滞后而发送过晚"), "{pages:?}");
    assert_eq!((&json["verdict"]["is_unreliable"], &json["messages"]["late"]), (&true.into(), &11.into()));
}

/// A second of opening before four of holding: the rate is of those, and what is asked for is that of all connections.
#[test]
fn rates_are_of_the_time_in_which_all_are_held() {
    let counted = |answered: u64, bytes: u64| {
        let mut counters = HeldCounts::default().counters;
        counters[HeldCounter::Answered] = answered;
        (counters[HeldCounter::BytesReceived], counters[HeldCounter::BytesQueued]) = (bytes, 2 * bytes);
        counters
    };
    let windows = |all: &[(u64, u64, u64)]| -> Vec<_> {
        let one = |&(answered, bytes, seconds)| (counted(answered, bytes), Nanos::from_millis(1_000 * seconds));
        all.iter().map(one).collect()
    };
    let row = |result: &HoldResult, label: &str| {
        let (_, pages, _) = reported(result);
        let page = &pages[0];
        page.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("{label}: {page}")).to_owned()
    };
    // 100 connections, each a message a second; what was answered in the ten seconds of all is no matter of the rate.
    for (steady, achieved, received, sent) in [
        (windows(&[(400, 4_096, 4)]), "100", "1.00KiB", "2.00KiB"),
        (windows(&[(200, 4_096, 4), (200, 4_096, 4)]), "100", "2.00KiB", "4.00KiB"),
        (windows(&[(160, 2_048, 4), (120, 1_024, 2)]), "100", "1.00KiB", "2.00KiB"),
        (windows(&[(200, 4_096, 4)]), "50.00", "1.00KiB", "2.00KiB"),
        (windows(&[(0, 0, 4)]), "0.00", "0B", "0B"),
    ] {
        let result = HoldResult { steady, ..good() };
        let messages = row(&result, "Messages/s");
        assert!(messages.ends_with(&format!("100 requested, {achieved} achieved")), "{messages}");
        for (label, rate) in [("Received", received), ("Sent", sent)] {
            let said = row(&result, label);
            assert!(said.ends_with(&format!("({rate}/s)")), "{said}");
        }
    }
    // Too short for a whole interval: what was done of what was due, on the connections that there were.
    for (due, answered, most, achieved) in
        [(60, 60, 100, "100"), (60, 30, 100, "50.00"), (60, 60, 50, "50.00"), (0, 0, 0, "0.00")]
    {
        let mut result = HoldResult { most_open: most, ..good() };
        let counts = &mut result.total.counts;
        (counts[HeldCounter::Due], counts[HeldCounter::Sent], counts[HeldCounter::Answered]) = (due, due, answered);
        let messages = row(&result, "Messages/s");
        assert!(messages.ends_with(&format!("100 requested, {achieved} achieved")), "{messages}");
    }
}
