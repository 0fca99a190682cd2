//! Deadlines on the command line, in files, in thresholds and over workers. The target delays each response by more, or
//! the deadline is an hour: no test depends on how fast a machine is.

use serde_json::Value;

use crate::{Folder, Served, output};

fn report(words: &[&str]) -> Value {
    let done = output(words);
    assert_eq!(done.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).expect("JSON")
}

#[test]
fn what_comes_later_is_missed_and_not_failed() {
    let served = Served::start();
    let url = served.url("/delay/30");
    for more in [&["--driver", "poll"][..], &["--driver", "uring"], &["--workers", "3"], &["--http2"]] {
        for (deadline, missed) in [("10ms", 60), ("1h", 0)] {
            let words = ["-n", "60", "-c", "6", "--deadline", deadline, "-o", "json", "--quiet", &url];
            let report = report(&[&words[..], more].concat());
            let requests = &report["requests"];
            assert_eq!((&requests["succeeded"], &requests["failed"]), (&60.into(), &0.into()), "{more:?}");
            assert_eq!((&requests["missed_deadline"], &requests["dropped"]), (&missed.into(), &0.into()), "{more:?}");
            assert_eq!(report["steps"][0]["missed_deadline"], missed);
            let goodput = report["goodput_per_s"].as_f64().expect("a number");
            assert_eq!(goodput == 0.0, missed == 60, "{more:?}: {goodput}");
        }
    }
    let without = report(&["-n", "3", "-c", "1", "-o", "json", "--quiet", &url]);
    assert_eq!((&without["goodput_per_s"], &without["plan"]["deadline_s"]), (&Value::Null, &Value::Null));
}

/// Two connections that serve 66 a second, and 400 starts a second: what waits for 100 ms is dropped before it is sent.
#[test]
fn what_cannot_be_sent_in_time_is_dropped() {
    let served = Served::start();
    let url = served.url("/delay/30");
    let words = ["-q", "400", "-n", "400", "-c", "2", "--deadline", "100ms", "-o", "json", "--quiet", &url];
    let report = report(&words);
    let number = |name: &str| report["requests"][name].as_u64().expect("a number");
    assert_eq!(number("succeeded") + number("dropped") + number("unfinished"), 400);
    assert!(number("dropped") > 200 && number("dropped") == number("dropped_by_deadline"), "{}", report["requests"]);
    assert_eq!(number("sent"), number("succeeded"));
}

#[test]
fn thresholds_judge_them_and_need_one() {
    let served = Served::start();
    let url = served.url("/delay/30");
    let run = |deadline: &str, threshold: &str| {
        let done = output(&["-n", "20", "-c", "2", "--deadline", deadline, "--threshold", threshold, "--quiet", &url]);
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let (code, text) = run("10ms", "missed_deadline / done < 50%");
    assert!(code == Some(1) && text.contains("100%, NOT MET"), "{code:?} {text}");
    let (code, text) = run("10ms", "in_deadline == 0");
    assert!(code == Some(0) && text.contains("Goodput"), "{code:?} {text}");
    assert_eq!(run("1h", "rate(in_deadline) > 0.1/s").0, Some(0));
    for (language, expected) in
        [("en", "no step has a deadline; give one with --deadline"), ("zh", "没有任何步骤设置了 deadline")]
    {
        let done = output(&["-n", "1", "--lang", language, "--threshold", "rate(in_deadline) > 1/s", &url]);
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code() == Some(2) && text.contains(expected), "{text}");
    }
}

#[test]
fn steps_and_transactions_of_a_file_have_their_own() {
    let (served, folder) = (Served::start(), Folder::new("deadlines"));
    let text = format!(
        "target: {}\nscenarios:\n  one:\n    load: {{users: 3, iterations: 30}}\n    steps:\n      - transaction: both\n        \
         deadline: 20ms\n        steps:\n          - {{get: /delay/30, deadline: 1h, name: late}}\n          \
         - {{get: /, deadline: 1h, name: soon}}\n      - {{get: /delay/30, deadline: 10ms, name: missed}}\nthresholds:\n  \
         - missed_deadline(missed) == 30\n  - in_deadline(late) == 30\n  - missed_deadline(both) / done(both) > 90%\n",
        served.url("")
    );
    let file = folder.path("own.yaml");
    std::fs::write(&file, text).expect("a place for it");
    for more in [&[][..], &["--workers", "3"]] {
        let report = report(&[&["run", &file, "-o", "json", "--quiet"], more].concat());
        let scenario = &report["scenarios"][0];
        let missed = |kind: &str, place: usize| scenario[kind][place]["missed_deadline"].as_u64();
        assert_eq!([0, 1, 2].map(|step| missed("steps", step)), [Some(0), Some(0), Some(30)], "{more:?}");
        assert_eq!((missed("transactions", 0), report["requests"]["missed_deadline"].as_u64()), (Some(30), Some(30)));
    }
    let done = output(&["run", &file, "--deadline", "1s"]);
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.code() == Some(2) && text.contains("--deadline"), "{text}");
}
