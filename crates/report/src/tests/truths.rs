//! The first lines of a summary claim no more than was measured, and name the right cause.

use super::*;

const SCREEN: Screen = Screen { language: Language::En, room: None, is_colorful: false, is_full: true };

fn open_plan() -> Plan {
    let flags = Flags {
        url: Some("http://127.0.0.1:8080/".to_owned()),
        rate: Some("100".to_owned()),
        duration: Some("2s".to_owned()),
        ..Flags::default()
    };
    flags.plan().expect("a good plan")
}

/// The summary of a load at 100/s with this snapshot.
fn shown(total: Snapshot, change: impl Fn(&mut RunResult)) -> [String; 2] {
    [Language::En, Language::Zh].map(|language| {
        let mut result = result(total.clone());
        (result.requested_per_s, result.verdict.limit) = (Some(100.0), Limit::PlanKept);
        (result.verdict.known, result.probes) = (Basis::Counts, Vec::new());
        change(&mut result);
        summary(&run(&open_plan(), result), Screen { language, ..SCREEN })
    })
}

fn line<'a>(text: &'a str, label: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no {label} in {text}"))
}

#[test]
fn the_verdict_says_whose_delays_it_tells() {
    let [en, zh] = shown(seen(200, &[]), |_| ());
    assert!(line(&en, "Verdict").contains("; of all requests lateness p99 70.0us, wait p99 0.00us"), "{en}");
    assert!(line(&zh, "结论").contains("；全部请求的调度延迟 p99 70.0us"), "{zh}");
}

/// A value that was not measured is not reported as zero, whatever the verdict.
#[test]
fn no_lateness_is_no_evidence() {
    for limit in [Limit::PlanKept, Limit::Target, Limit::Generator, Limit::Unknown] {
        let [en, zh] = shown(seen(0, &[(Failure::Timeout, 200)]), |result| {
            (result.verdict.limit, result.verdict.unanswered) = (limit, 200);
            (result.verdict.lateness_p99_ns, result.verdict.wait_p99_ns) = (None, None);
        });
        assert!(!line(&en, "Verdict").contains("lateness"), "{en}");
        assert!(!line(&zh, "结论").contains("调度延迟"), "{zh}");
    }
}

/// Users that pause kept the target idle: neither it nor their connections are failures_by_host.
#[test]
fn users_that_pause_are_named() {
    let held = PaceHeld { users: 50.0, iterations_per_s: 185.0, iteration_ns: 2.7e8, target_ns: 106_000.0 };
    let [en, zh] = shown(seen(200, &[]), |result| {
        (result.requested_per_s, result.verdict.known) = (None, Basis::PaceHeld(held));
    });
    let said = "the plan was kept: 50 users held their pace, 185 iterations/s; the target took 106.0us of the 270.0ms";
    assert!(line(&en, "Verdict").contains(said), "{en}");
    assert!(line(&zh, "结论").contains("计划已达成：50 个用户保持了自己的节奏，每秒 185 次迭代"), "{zh}");
    let [en, zh] = shown(seen(200, &[]), |result| {
        (result.verdict.limit, result.verdict.known) = (Limit::Connections, Basis::PaceHeld(held));
    });
    assert!(
        line(&en, "Verdict").contains("the users were too few: starts waited for one of 50 users, who pause"),
        "{en}"
    );
    assert!(line(&zh, "结论").contains("用户太少：请求等待 50 个用户之一，而他们处于思考时间"), "{zh}");
}

#[test]
fn a_server_that_goes_away_is_reported_with_one_figure() {
    let [en, zh] = [Language::En, Language::Zh].map(|language| {
        let mut result = result(seen(200, &[(Failure::ConnectRefused, 30)]));
        (result.requested_per_s, result.verdict.limit, result.verdict.unanswered) = (Some(100.0), Limit::Target, 30);
        result.verdict.known = Basis::Counts;
        let mut run = run(&open_plan(), result);
        run.notes.push(figures::Note::Refused { address: run.address, count: 30, places: Vec::new() });
        summary(&run, Screen { language, ..SCREEN })
    });
    assert!(line(&en, "Verdict").contains("the target stopped taking connections: 30 new ones were refused"), "{en}");
    assert!(line(&zh, "结论").contains("被测服务停止接受连接：有过响应之后又拒绝了 30 个新连接"), "{zh}");
}

#[test]
fn redirects_are_no_starts_of_the_plan() {
    let mut total = seen(600, &[]);
    total.counts[Counter::Redirects] = 400;
    let [en, zh] = shown(total.clone(), |_| ());
    assert!(line(&en, "Verdict").contains("the plan was kept: 200 starts at 100/s and 400 redirects"), "{en}");
    assert!(line(&en, "Requests/s").contains("300 completed with redirects; 100 started of 100 requested"), "{en}");
    assert!(line(&zh, "结论").contains("发起 200 个请求，另有 400 次重定向"), "{zh}");
    let [en, _] = shown(total, |result| (result.verdict.limit, result.verdict.unanswered) = (Limit::Target, 3));
    let verdict = line(&en, "Verdict");
    assert!(verdict.contains("300/s with redirects; 100/s of 100/s requested were started"), "{verdict}");
}

#[test]
fn a_minimum_that_nothing_reached_is_a_bound() {
    let waited = |successes| {
        let mut total = seen(successes, &[]);
        total.counts[Counter::Started] += 1;
        total.leave_unfinished(SeriesId::step(0), 500_000, None);
        shown(total, |_| ())
    };
    let min = |text: &str| {
        let row = text.lines().filter(|line| line.starts_with("Response time")).nth(1).expect("a row");
        row.split_whitespace().nth(2).expect("a minimum").to_owned()
    };
    for [en, _] in [waited(0), waited(20)] {
        assert_eq!(min(&en), ">=500.0us", "{en}");
    }
    let [en, _] = shown(seen(20, &[(Failure::Timeout, 2)]), |_| ());
    assert_eq!(min(&en), "1.00ms", "the least was answered: {en}");
}

#[test]
fn the_first_row_of_times_has_the_marks_of_the_table() {
    let mut total = seen(1_000, &[]);
    total.counts[Counter::StallAffectedResponses] = 20;
    for text in shown(total, |_| ()) {
        let row = text.lines().find(|line| line.contains("p50 ")).expect("a row of times");
        let marks: Vec<bool> =
            row.split("   ").filter(|part| part.contains('s')).map(|part| part.ends_with('!')).collect();
        assert_eq!(marks.iter().filter(|is_marked| **is_marked).count(), 2, "{text}");
        assert!(!row.contains("500ms!") && row.trim_end().ends_with('!'), "{text}");
    }
}

#[test]
fn a_stop_in_the_warm_up_measured_nothing() {
    let mut plan = open_plan();
    plan.warmup = Duration::from_secs(5);
    let mut stopped = result(seen(0, &[]));
    (stopped.was_stopped, stopped.started_for, stopped.requested_per_s) = (true, Nanos::ZERO, Some(0.0));
    (stopped.verdict.limit, stopped.verdict.known) = (Limit::Unknown, Basis::Nothing(Unknown::TooLittle));
    let run = run(&plan, stopped);
    let said = [Language::En, Language::Zh].map(|language| summary(&run, Screen { language, ..SCREEN }));
    assert!(line(&said[0], "Verdict").ends_with("nothing was measured: stopped in the warm-up"), "{}", said[0]);
    assert!(line(&said[1], "结论").contains("没有数据：在预热阶段就被停止"), "{}", said[1]);
    assert!(!said[0].contains("0.00 of 0.00"), "{}", said[0]);
}

/// A thread of a run of two seconds with these milliseconds on a core, waiting for one, and stalled.
fn thread(had: u64, waited: u64, stalled: u64) -> ThreadUsage {
    let ns = |milliseconds: u64| milliseconds * 1_000_000;
    ThreadUsage {
        cpu_ns: ns(had),
        run_delay_ns: ns(waited),
        stalled_ns: ns(stalled),
        span_ns: ns(2_000),
        ..ThreadUsage::default()
    }
}

/// A verdict against the generator names its figures: another program had the core, the thread was stopped, or nothing
/// of it is known.
#[test]
fn the_generator_says_by_which_figures_it_was_late() {
    let said = |busiest: ThreadUsage, stalled: Option<ThreadUsage>| {
        let [en, zh] = shown(seen(200, &[]), |result| {
            result.verdict.limit = Limit::Generator;
            result.verdict.busiest = Some((1, busiest.clone()));
            result.verdict.stalled = stalled.clone().map(|spent| (0, spent));
        });
        assert!(en.contains("UNRELIABLE") && zh.contains("结果不可靠"), "{en}{zh}");
        [line(&en, "Verdict").to_owned(), line(&zh, "结论").to_owned()]
    };
    let cases = [
        (
            // Half of a core of its own, and half of one that another program had.
            (thread(1_000, 960, 0), None),
            "the generator was the limit: thread 1 needed 98% of a core and got 50%, ",
            "瓶颈在压测机：线程 1 需要单核 CPU 的 98%，实际只分到 50%；",
        ),
        (
            (thread(200, 0, 1_000), Some(thread(200, 0, 1_000))),
            "the generator was the limit: thread 0 stood still for 1.00s of 2.00s (another program had its core, or it was",
            "瓶颈在压测机：线程 0 在 2.00s 中卡顿了 1.00s（",
        ),
        (
            (thread(200, 20, 0), None),
            "the generator was the limit: it was late although it had little to do, ",
            "瓶颈在压测机：负载不高却未能按时运行，",
        ),
        (
            // It stalled because it waited for its core.
            (thread(900, 1_000, 1_000), Some(thread(900, 1_000, 1_000))),
            "the generator was the limit: thread 1 needed 95% of a core and got 45%, ",
            "瓶颈在压测机：线程 1 需要单核 CPU 的 95%，实际只分到 45%；",
        ),
    ];
    for ((busiest, stalled), english, chinese) in cases {
        let [en, zh] = said(busiest, stalled);
        assert!(en.contains(english), "{en}");
        assert!(zh.contains(chinese), "{zh}");
    }
}
