//! The report of a target that stalls for a second, and of a generator that does.

use report::Language;
use selftest::Happens;

use crate::shown::{Shown, ms, plan};

/// A stall of the target for the second from 700 ms on.
fn frozen() -> Happens {
    Happens { target_stalls: vec![(ms(700), ms(1_700))], ..Happens::default() }
}

/// The text that follows `text` in `shown`.
#[track_caller]
fn behind<'a>(shown: &'a str, text: &str) -> &'a str {
    shown.split_once(text).unwrap_or_else(|| panic!("no '{text}' in {shown}")).1
}

/// The closed load shows the freeze only in its maximum, and the summary reports the hidden part; the open load shows
/// the waiting time.
#[test]
fn the_words_notify_what_a_freeze_does() {
    let closed = Shown::new(&plan("/delay/5", &[("-c", "10"), ("-z", "3s")]), &[], &frozen());
    let [english, chinese] = [Language::En, Language::Zh].map(|language| closed.summary(language));
    let hidden = behind(&english, "a closed load starts nothing while its users wait: the slowest answer took ");
    assert!(hidden.starts_with("1.00s, and up to 1,3"), "{english}");
    assert!(behind(&chinese, "最慢的响应用了 ").starts_with("1.00s"), "{chinese}");
    assert_eq!((closed.limit(), &closed.report["verdict"]["evidence"]), ("target", &"stalled".into()));
    let said = "the target stalled: no response on any connection from 0.7s to 1.7s, then responses again";
    assert!(closed.words().starts_with(said), "{}", closed.words());
    assert!(!english.contains("UNRELIABLE") && !chinese.contains("结果不可靠"), "{english}");

    // 3,000 starts, a third of them in the freeze: 99 of 100 waited for less than 0.97 s.
    let open = Shown::new(&plan("/", &[("-q", "1000"), ("-c", "10"), ("-z", "3s")]), &[], &frozen());
    let [english, chinese] = [Language::En, Language::Zh].map(|language| open.summary(language));
    assert!(behind(&english, "Their p99 differ by ").starts_with("97"), "{english}");
    assert!(behind(&chinese, "两者 p99 相差 ").starts_with("97"), "{chinese}");
    assert!(!english.contains("UNRELIABLE") && !chinese.contains("结果不可靠"), "{english}");
}

/// All threads stall for one second of three.
#[test]
fn the_generator_accuses_itself() {
    let stalled = Happens { generator_stalls: vec![(ms(700), ms(1_700))], ..Happens::default() };
    for load in [&[("-c", "10"), ("-z", "3s")][..], &[("-q", "1000"), ("-c", "10"), ("-z", "3s")]] {
        let shown = Shown::new(&plan("/delay/5", load), &[], &stalled);
        assert_eq!((shown.limit(), &shown.report["verdict"]["is_unreliable"]), ("generator", &true.into()));
        let english = shown.summary(Language::En);
        let begins = "the generator was the limit: thread 0 stood still for 1.00s of 3.00s (another program had its core, or it was";
        assert!(english.contains(begins) && english.contains("UNRELIABLE"), "{english}");
        let chinese = shown.summary(Language::Zh);
        assert!(
            chinese.contains("瓶颈在压测机：线程 0 在 3.00s 中卡顿了 1.00s（") && chinese.contains("结果不可靠"),
            "{chinese}"
        );
        // One second of three, according to the ticks of the thread.
        let stood_still = shown.number("/generator/shards/0/stalled_s");
        assert!((0.99..=1.0).contains(&stood_still), "{stood_still}");
    }
}

/// A closed load whose thread has a core for half of the time, and each time loses it for longer than responses take:
/// half of the measured time is ours.
#[test]
fn a_thread_that_shares_its_core_is_no_limit_of_the_users() {
    for (path, away) in [("/", 10), ("/delay/5", 40)] {
        let slices = 0..3_000 / (2 * away);
        let taken = slices.map(|slice| (ms(2 * away * slice), ms(2 * away * slice + away)));
        let shared = Happens { generator_stalls: taken.collect(), ..Happens::default() };
        let load = plan(path, &[("-c", "10"), ("-z", "3s")]);
        let shown = Shown::new(&load, &[], &shared);
        assert_eq!((shown.limit(), &shown.report["verdict"]["is_unreliable"]), ("generator", &true.into()), "{path}");
        // With the whole core, the bottleneck is the number of users.
        assert_eq!(Shown::new(&load, &[], &Happens::default()).limit(), "below", "{path}");
    }
}

/// Stalls of either side, of the same length: ours makes a result unreliable, and that of a target is reported as its
/// own.
#[test]
fn a_stall_of_the_target_is_none_of_ours() {
    let load = plan("/delay/5", &[("-q", "200"), ("-c", "20"), ("-z", "3s")]);
    let stall = vec![(ms(500), ms(1_500))];
    let theirs = Happens { target_stalls: stall.clone(), ..Happens::default() };
    let ours = Happens { generator_stalls: stall, ..Happens::default() };
    let limits = [theirs, ours].map(|happens| Shown::new(&load, &[], &happens).limit().to_owned());
    assert_eq!(limits, ["target", "generator"]);
}

/// A load that reaches its rate, with times that include 30 ms of our own stalls from p99 on: text and JSON report them
/// as unreliable. If only times above p99 include them, neither does.
#[test]
fn times_that_include_stalls_of_ours_are_unreliable() {
    let load = plan("/delay/50", &[("-c", "10"), ("-z", "8s")]);
    let of = |stalls: &[u64]| {
        let generator_stalls = stalls.iter().map(|at| (ms(*at), ms(*at + 30))).collect();
        Shown::new(&load, &[], &Happens { generator_stalls, ..Happens::default() })
    };
    for (stalls, is_unreliable) in [(&[1_000, 2_000, 3_000, 4_000, 5_000, 6_000][..], true), (&[1_000], false)] {
        let shown = of(stalls);
        assert_eq!((shown.limit(), &shown.report["verdict"]["is_unreliable"]), ("below", &is_unreliable.into()));
        let [english, chinese] = [Language::En, Language::Zh].map(|language| shown.summary(language));
        assert_eq!(english.contains("; so this result is unreliable"), is_unreliable, "{english}");
        assert_eq!(chinese.contains("；因此本次结果不可靠"), is_unreliable, "{chinese}");
        assert!(english.contains("of this machine") && !english.contains("UNRELIABLE"), "{english}");
    }
}
