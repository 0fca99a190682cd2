use figures::{Interval, Kernel, Watch};
use metrics::{Counter, Failure, Measure, Outcome, SeriesId, Snapshot};
use pacing::Nanos;
use plan::Flags;

use super::*;

/// An interval with these failed connections, and this many that took three seconds.
fn seen(failures: &[(Failure, u64)], slow: u64) -> Snapshot {
    let mut seen = Snapshot::default();
    for &(failure, count) in failures {
        for _ in 0..count {
            seen.outcome(SeriesId::step(0), Outcome::Failed(failure)).record(Measure::Response, 2_000_000_000);
        }
    }
    (0..slow).for_each(|_| seen.connect.record(3_000_000_000));
    seen.counts[Counter::ConnectionsEstablished] = 100;
    seen
}

#[test]
fn notes_carry_the_figures_of_the_whole_run() {
    let mut watch = Watch::new("192.0.2.1:80".parse().expect("an address"), false, &Kernel::default());
    let flags = Flags { url: Some("http://192.0.2.1/".to_owned()), ..Flags::default() };
    let plan = flags.plan().expect("a good plan");
    let mut total = Snapshot::default();
    total.counts[Counter::ConnectionsEstablished] = 100;
    let mut notify = |seen: &Snapshot| {
        let part = engine::ScenarioInterval { paused: Nanos::ZERO, seen, added: seen, total: &total };
        let interval = Interval::new(
            &engine::Interval {
                number: 1,
                from: Nanos::ZERO,
                to: Nanos::from_millis(1_000),
                paused: Nanos::ZERO,
                late_shards: 0,
                is_update: false,
                seen,
                added: seen,
                total: &total,
                scenarios: vec![part],
            },
            &plan,
        );
        let wants = watch.wants(&interval);
        let kernel = Kernel { descriptors_max: wants.descriptors.then_some(1_024), ..Kernel::default() };
        let notes = watch.interval(&interval, &kernel);
        notes.iter().map(|note| (note.kind(), note_text(note, Language::En))).collect::<Vec<_>>()
    };
    let first = notify(&seen(&[(Failure::ConnectTimeout, 5), (Failure::ConnectRefused, 2)], 1));
    assert_eq!(first.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["refused", "accept-queue"]);
    assert!(first[1].1.contains("1 took more than 1 s and 5 were not established in time"), "{first:?}");
    let mut later = seen(&[(Failure::ConnectTimeout, 28), (Failure::ConnectRefused, 5), (Failure::NoDescriptor, 4)], 6);
    (later.counts[Counter::CutOff], later.gauges.connections_open) = (2, 1_000);
    assert_eq!(notify(&later).iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["descriptors"]);
    (later.counts[Counter::CutOff], later.gauges.connections_open) = (3, 1_000);
    assert_eq!(notify(&later), [], "each kind is told once");
    assert_eq!(notify(&later).iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), ["server-limit"]);
    later.counts[Counter::CutOff] = 7;
    assert_eq!(notify(&later), [], "each kind is told once");
    let notes = watch.take_notes(&Kernel::default());
    let kinds: Vec<&str> = notes.iter().map(figures::Note::kind).collect();
    assert_eq!(kinds, ["refused", "accept-queue", "descriptors", "server-limit"]);
    for (note, en, zh) in [
        (&notes[0], "refused 22 new connections", "拒绝了 22 个新连接"),
        (&notes[1], "25 took more than 1 s and 117 were not established", "有 25 个用了 1 秒以上，117 个未能按时建立"),
        (&notes[2], "and 16 connections got none", "16 个连接因此失败"),
        (&notes[3], "dropped 15 new connections", "断开了 15 个新连接，而另外 1,000 个"),
    ] {
        assert!(note_text(note, Language::En).contains(en), "{note:?}");
        assert!(note_text(note, Language::Zh).contains(zh), "{note:?}");
    }
    assert_eq!(watch.take_notes(&Kernel::default()), []);
}

/// Notes about users that left have their figure and the remedy.
#[test]
fn notes_say_how_many_users_left_and_why() {
    for (note, kind, en, zh) in [
        (
            Note::UsersLeft { left: 8, of: Some(1_000) },
            "users-left",
            "8 of 1,000 users left",
            "1,000 个用户中有 8 个因步骤失败而退出",
        ),
        (Note::UsersLeft { left: 4_321, of: None }, "users-left", "4,321 times a user left", "退出共 4,321 次"),
        (
            Note::UsersWithoutStop { users: 7, of: Some(50) },
            "users-without-stop",
            "on_stop was not done for 7 of 50 users",
            "7 / 50 个用户没有执行 on_stop",
        ),
    ] {
        assert_eq!(note.kind(), kind);
        for (language, part) in [(Language::En, en), (Language::Zh, zh)] {
            let text = note_text(&note, language);
            assert!(text.contains(part), "{text}");
            let remedy = if kind == "users-left" { "on_failure: next_iteration" } else { "requests=" };
            assert!(text.contains(remedy), "{text}");
            assert_eq!(note_so_far(&note, language), text);
        }
    }
}
