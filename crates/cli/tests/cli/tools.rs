//! The command lines of other tools: the real ones and ours against one server, or compared with a sample of the real
//! output.

mod known;

use std::collections::BTreeMap;
use std::process::Command;

use crate::examples::by_path;
use crate::nginx::Nginx;
use crate::seen::{stats, wait_for};
use crate::{Served, closed_port, onrush, text};
use known::{KNOWN, OF_README};

/// The path of a tool, if it is installed.
fn program(name: &str) -> Option<String> {
    let own = format!("{}/../../target/tools/{name}", env!("CARGO_MANIFEST_DIR"));
    let home = format!("{}/.cargo/bin/{name}", std::env::var("HOME").unwrap_or_default());
    [format!("/usr/bin/{name}"), own, home].into_iter().find(|path| std::path::Path::new(path).exists())
}

/// The stdout of a command, and its exit code.
#[expect(clippy::print_stderr, reason = "a test that fails shows why the command did")]
fn run(mut command: Command) -> (String, Option<i32>) {
    let ended = command.output().expect("it starts");
    eprintln!("{command:?}: {}\n{}", ended.status, text(&ended.stderr));
    (text(&ended.stdout), ended.status.code())
}

fn real(name: &str, words: &[&str]) -> (String, Option<i32>) {
    let path = program(name).unwrap_or_else(|| panic!("{name} is installed by: cargo xtask test"));
    let mut command = Command::new(path);
    command.args(words);
    run(command)
}

fn ours(name: &str, words: &[&str]) -> (String, Option<i32>) {
    run(onrush(&[&["as", name], words].concat()))
}

/// The shape of an output: numbers are replaced by `#`, and consecutive lines of one shape are merged.
fn shape(output: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in output.lines() {
        let mut shaped = String::new();
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_number = letter.is_ascii_digit();
            if !is_number {
                if letter != '■' && !(letter == ' ' && (shaped.ends_with(' ') || shaped.ends_with('│'))) {
                    shaped.push(letter);
                }
                continue;
            }
            while letters.next_if(|next| next.is_ascii_digit() || matches!(next, '.' | ',')).is_some() {}
            // A unit belongs to its number.
            for unit in ["us", "ms", "KiB", "MiB", "KB", "MB", "GB", "B", "sec", "s", "m", "k", "M", "K"] {
                let rest: String = letters.clone().take(unit.len() + 1).collect();
                let spaced: String = letters.clone().take(unit.len() + 2).collect();
                let ends = |text: &str| !text.chars().last().is_some_and(|last| last.is_alphanumeric());
                if rest.starts_with(unit) && (rest.len() == unit.len() || ends(&rest)) {
                    letters.nth(unit.len() - 1);
                    break;
                }
                if spaced.strip_prefix(' ').is_some_and(|text| text.starts_with(unit))
                    && (spaced.len() == unit.len() + 1 || ends(&spaced))
                {
                    letters.nth(unit.len());
                    break;
                }
            }
            shaped.push('#');
        }
        let shaped = shaped.trim_end().to_owned();
        if lines.last() != Some(&shaped) {
            lines.push(shaped);
        }
    }
    lines
}

/// A sample without its command line and its exit code line.
fn sample(name: &str) -> String {
    let path = format!("{}/tests/samples/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let all = std::fs::read_to_string(path).expect("a sample");
    let lines = all.lines().filter(|line| !line.starts_with("$ ") && !line.starts_with("[exit"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// `Name: value` of each line.
fn values(output: &str) -> BTreeMap<String, String> {
    let pairs = output.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

fn same(real: &str, ours: &str, names: &[&str]) {
    let (real, ours) = (values(real), values(ours));
    for name in names {
        assert!(real.contains_key(*name), "{name} in {real:?}");
        assert_eq!(real.get(*name), ours.get(*name), "{name}: {real:?} {ours:?}");
    }
}

/// Removes lines that only appear when figures scatter in some way.
fn steady(lines: Vec<String>) -> Vec<String> {
    let mut lines: Vec<String> = lines
        .into_iter()
        .filter(|line| !line.starts_with("WARNING: The") && !line.starts_with("ERROR: The"))
        .filter(|line| !line.contains("probably not that reliable") && !line.contains("are NOT reliable"))
        .collect();
    lines.dedup();
    lines
}

#[test]
fn ab_and_ours_agree() {
    let nginx = Nginx::start();
    let (url, limited) = (format!("{}/", nginx.url), format!("{}/limited", nginx.url));
    let body = nginx.folder.join("body");
    std::fs::write(&body, "a=1").expect("a file");
    let body = body.to_string_lossy().into_owned();
    for words in [
        vec!["-n", "500", "-c", "5", "-k", &url],
        vec!["-c", "7", "-n", "200", &url],
        vec!["-c", "7", "-n", "200", "-q", "-d", "-S", &url],
        vec!["-n", "160", "-kc4", &limited],
        vec!["-n", "100", "-c", "10", "-l", "-i", &url],
        vec![
            "-n",
            "30",
            "-c",
            "3",
            "-p",
            &body,
            "-T",
            "application/json",
            "-H",
            "X: y",
            "-C",
            "a=b",
            "-A",
            "u:p",
            &limited,
        ],
    ] {
        let (real, real_code) = real("ab", &words);
        let (ours, our_code) = ours("ab", &words);
        assert_eq!(steady(shape(&real)), steady(shape(&ours)), "{words:?}\n{real}\n{ours}");
        let mut names = vec![
            "Server Software",
            "Server Hostname",
            "Server Port",
            "Document Path",
            "Document Length",
            "Concurrency Level",
            "Complete requests",
            "Failed requests",
            "Total transferred",
            "HTML transferred",
        ];
        names.extend(words.iter().any(|word| word.starts_with("-k")).then_some("Keep-Alive requests"));
        names.extend(words.contains(&limited.as_str()).then_some("Non-2xx responses"));
        // Responses to HEAD have another length where the connection stays; all else is the same.
        same(&real, &ours, &names);
        assert_eq!(real_code, our_code, "{words:?}");
    }
    let folder = nginx.folder.clone();
    let [csv, plot] = ["e.csv", "g.tsv"].map(|name| folder.join(name).to_string_lossy().into_owned());
    for tool in [real, ours] {
        tool("ab", &["-n", "50", "-c", "5", "-e", &csv, "-g", &plot, &url]);
        let [csv, plot] = [&csv, &plot].map(|path| std::fs::read_to_string(path).expect("it was written"));
        assert_eq!(csv.lines().count(), 102, "{csv}");
        assert_eq!(shape(&csv)[..2], ["Percentage served,Time in ms", "#"], "{csv}");
        assert_eq!(plot.lines().count(), 51, "{plot}");
        assert_eq!(plot.lines().next(), Some("starttime\tseconds\tctime\tdtime\tttime\twait"));
        assert!(plot.lines().skip(1).all(|line| line.split('\t').count() == 6), "{plot}");
    }
}

#[test]
fn wrk_and_ours_agree() {
    // One second is the minimum, so all of them run concurrently.
    std::thread::scope(|scope| {
        for (path, words) in [
            ("/", vec!["-t2", "-c8", "-d1s", "--latency"]),
            ("/", vec!["-c", "7", "-t", "1", "-d", "1", "-H", "X: y"]),
            ("/limited", vec!["-t1", "-c5", "-d1s"]),
        ] {
            scope.spawn(move || wrk_and_ours_agree_on(path, &words));
        }
        scope.spawn(wrk_of_ours_says_what_the_server_logged);
        scope.spawn(|| {
            let ours = ours_of_sample("wrk", &["-t2", "-c50", "-d1s", "--latency"]);
            assert_eq!(shape(&sample("wrk")), shape(&ours));
        });
    });
}

fn wrk_and_ours_agree_on(path: &str, words: &[&str]) {
    let nginx = Nginx::start();
    let url = format!("{}{path}", nginx.url);
    let words = [words, &[&url]].concat();
    let ((real, real_code), (ours, our_code)) = std::thread::scope(|scope| {
        let real = scope.spawn(|| real("wrk", &words));
        let ours = ours("wrk", &words);
        (real.join().expect("it ends"), ours)
    });
    assert_eq!(shape(&real), shape(&ours), "{words:?}\n{real}\n{ours}");
    assert_eq!(real_code, our_code, "{words:?}");
    assert_eq!(real.lines().take(2).collect::<Vec<_>>(), ours.lines().take(2).collect::<Vec<_>>());
}

/// The counts match, except what was in flight at the end.
fn wrk_of_ours_says_what_the_server_logged() {
    let nginx = Nginx::start();
    let url = format!("{}/", nginx.url);
    let (ours, _) = ours("wrk", &["-t2", "-c8", "-d1s", &url]);
    let said: u64 = ours
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "))
        .expect("a line")
        .0
        .parse()
        .expect("a number");
    let log = nginx.stop();
    assert!(log.lines >= said && log.lines <= said + 8, "{} logged, {said} said", log.lines);
}

fn ours_of_sample(name: &str, words: &[&str]) -> String {
    let served = Served::start();
    let url = served.url("/");
    ours(name, &[words, &[url.as_str()]].concat()).0
}

#[test]
fn hey_and_ours_agree() {
    let nginx = Nginx::start();
    let url = format!("{}/", nginx.url);
    for (words, count) in [
        (vec!["-c", "7", "-n", "200", &url], 196),
        (vec!["-n", "60", "-c", "6", "-m", "POST", "-d", "x", "-disable-keepalive", &url], 60),
    ] {
        let (real, real_code) = real("hey", &words);
        let (ours, our_code) = ours("hey", &words);
        // The newer version, of which the sample is, writes two percent signs.
        assert_eq!(shape(&real.replace("% in", "%% in")), shape(&ours), "{words:?}\n{real}\n{ours}");
        same(&real, &ours, &["Total data", "Size/request"]);
        let status = format!("  [200]\t{count} responses");
        assert!(real.contains(&status) && ours.contains(&status), "{real}\n{ours}");
        assert_eq!(real_code, our_code);
    }
    let dead = format!("http://127.0.0.1:{}/", closed_port());
    let words = ["-n", "20", "-c", "2", dead.as_str()];
    let ((real, _), (ours, _)) = (real("hey", &words), ours("hey", &words));
    let errors =
        |output: &str| output.lines().filter(|line| line.contains("refused")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(errors(&real), errors(&ours), "{real}\n{ours}");
    assert_eq!(shape(&real), shape(&ours), "{real}\n{ours}");
    assert_eq!(shape(&sample("hey")), shape(&ours_of_sample("hey", &["-n", "2000", "-c", "20"])));
}

/// oha is built from its source, which takes minutes: `cargo xtask test --long` does so. Without it its sample is used.
#[test]
fn oha_and_ours_agree() {
    let nginx = Nginx::start();
    let url = format!("{}/", nginx.url);
    let words = ["--no-tui", "-n", "200", "-c", "7", url.as_str()];
    let (ours, code) = ours("oha", &words);
    let judge = match program("oha") {
        Some(_) => real("oha", &words).0,
        None => {
            assert!(!claims::seeds::is_long(), "oha is installed by: cargo xtask test --long");
            sample("oha")
        }
    };
    assert_eq!(shape(&judge), shape(&ours), "{judge}\n{ours}");
    assert_eq!(code, Some(0));
    assert!(ours.contains("  [200] 200 responses\n") && ours.contains("  Success rate:\t100.00%\n"), "{ours}");
    if program("oha").is_some() {
        same(&judge, &ours, &["Size/request", "Total data"]);
        let json = |output: String| serde_json::from_str::<serde_json::Value>(&output).expect("JSON");
        let words = ["--output-format", "json", "-n", "50", "-c", "5", url.as_str()];
        let [theirs, ours] = [real("oha", &words).0, self::ours("oha", &words).0].map(json);
        let keys =
            |value: &serde_json::Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&theirs), keys(&ours));
        for part in ["summary", "metrics", "details", "rps", "latencyPercentiles"] {
            assert_eq!(keys(&theirs[part]), keys(&ours[part]), "{part}");
        }
        for field in ["totalData", "sizePerRequest", "successRate"] {
            assert_eq!(theirs["summary"][field], ours["summary"][field], "{field}");
        }
        assert_eq!(theirs["statusCodeDistribution"], ours["statusCodeDistribution"]);
    }
}

#[test]
fn the_others_print_what_their_samples_show() {
    let served = Served::start();
    let (url, words) = (served.url("/"), ["-t1", "-c20", "-d1s", "-R2000", "--latency"]);
    let (ours_wrk2, code) = ours("wrk2", &[&words[..], &[url.as_str()]].concat());
    // It calibrates itself for ten seconds; ours needs no such line.
    let of_sample: Vec<String> =
        shape(&sample("wrk2")).into_iter().filter(|line| !line.contains("calibration")).collect();
    assert_eq!(of_sample, shape(&ours_wrk2), "{ours_wrk2}");
    assert_eq!(code, Some(0));
    // The server's count of responses, except those in flight at the end; a slow machine does not get to all of the
    // 2,000. The rate is that of all of them in their time.
    let sum = ours_wrk2.lines().find_map(|line| line.trim().split_once(" requests in ")).expect("a sum");
    let (count, time) = (sum.0, sum.1.split_once(',').expect("a time").0);
    let (count, answered): (u64, u64) = (count.parse().expect("a number"), crate::budget::answered(&served));
    assert!(count <= answered && answered <= count + 20 && answered <= 2_000, "{answered}: {ours_wrk2}");
    let seconds: f64 = time.strip_suffix('s').and_then(|time| time.parse().ok()).expect("seconds");
    let achieved: f64 = values(&ours_wrk2)["Requests/sec"].parse().expect("a number");
    assert!((achieved * seconds / count as f64 - 1.0).abs() < 0.01, "{ours_wrk2}");

    let (ours_webbench, code) = ours("webbench", &["-2", "-c", "20", "-t", "1", &url]);
    let all = sample("webbench");
    // The header is repeated for each child there.
    let last = all.rfind("\nRequest:").expect("a header");
    assert_eq!(shape(&all[last..]), shape(&ours_webbench), "{ours_webbench}");
    assert_eq!(code, Some(0));
    assert!(ours_webbench.contains(
        "\nRequest:\nGET / HTTP/1.1\r\nUser-Agent: WebBench 1.5\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n\n"
    ));

    let stress = |name: &str, words: &[&str], url: &str| {
        let (output, code) = ours("go-stress-testing", &[words, &["-u", url]].concat());
        assert_eq!(code, Some(0), "{output}");
        let sample = sample(name).lines().filter(|line| !line.starts_with("请求失败")).collect::<Vec<_>>().join("\n");
        assert_eq!(shape(sample.trim_end()), shape(output.trim_end()), "{output}");
        output
    };
    let output = stress("go-stress-testing-short", &["-c", "4", "-n", "500"], &url);
    assert!(output.contains("successNum: 2000 failureNum: 0\n") && output.contains("│  54,000│"), "{output}");
    let output = stress("go-stress-testing-keepalive", &["-c", "10", "-n", "1000", "-k"], &url);
    assert!(output.contains("successNum: 10000 failureNum: 0\n") && output.contains("│ 270,000│"), "{output}");
    let dead = format!("http://127.0.0.1:{}/", closed_port());
    let output = stress("go-stress-testing-refused", &["-c", "2", "-n", "3"], &dead);
    assert!(output.contains("successNum: 0 failureNum: 6\n") && output.contains("│509:6\n"), "{output}");
    let grpc = served.url("").replace("http://", "grpc://");
    let output = stress("go-stress-testing-grpc", &["-c", "20", "-n", "200", "-data", "world"], &grpc);
    assert!(output.contains("successNum: 4000 failureNum: 0\n") && output.contains("│200:4000\n"), "{output}");
    let (output, _) = ours("go-stress-testing", &["-c", "7", "-n", "200", "-k", "-u", &url]);
    assert!(output.contains("请求总数（并发数*请求数 -c * -n）: 1400 "), "{output}");
}

/// A message each second, numbered, and a response with the same number.
#[test]
fn go_stress_testing_speaks_websocket() {
    let served = Served::start();
    let url = |path: &str| served.url(path).replace("http://", "ws://");
    let (output, code) = ours("go-stress-testing", &["-c", "5", "-n", "2", "-u", &url("/acc")]);
    assert_eq!(code, Some(0));
    assert!(output.contains("successNum: 10 failureNum: 0\n") && output.contains("│200:10\n"), "{output}");
    // An echo has the number, and no `response` in it: all fail, none is lost.
    let (output, code) = ours("go-stress-testing", &["-c", "5", "-n", "2", "-u", &url("/echo")]);
    assert_eq!(code, Some(0));
    assert!(output.contains("successNum: 0 failureNum: 10\n") && output.contains("│510:10\n"), "{output}");
}

/// Every command in the popular documents of the tools; the program's name is ours, the address local.
#[test]
fn commands_that_people_know_run_unchanged() {
    let (served, secured) = (Served::start(), Served::with(&["--tls"]));
    let (http, host) = (served.url("/"), served.url.replace("http://", ""));
    let https = secured.url("/").replace("127.0.0.1", "localhost");
    let curl = std::env::temp_dir().join(format!("onrush-known-{}.txt", std::process::id()));
    std::fs::write(&curl, format!("curl '{http}' -H 'Connection: keep-alive' -H 'Cookie: a=b' --compressed\n"))
        .expect("a file");
    let curl = curl.to_string_lossy().into_owned();
    for (line, is_long) in KNOWN {
        let line = line.replace("SECURED", &https).replace("URL", &http).replace("HOST", &host).replace("FILE", &curl);
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = onrush(&[&["as"], &words[..]].concat());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let before = requested_of(&served);
        let child = command.spawn().expect("the binary starts");
        if *is_long {
            // The awaited load has begun. A WebSocket user sends once a second: that it is connected is enough.
            let least = if line.contains("ws://") { 10 } else { 400 };
            wait_for(&line, || requested_of(&served) >= before + least);
            crate::signal(&child, "-INT");
        }
        let ended = child.wait_with_output().expect("it ends");
        let (said, code) = (text(&ended.stdout), ended.status.code());
        assert!(matches!(code, Some(0 | 130)), "{line}: {code:?} {said} {}", text(&ended.stderr));
        let ends = ["Requests/sec:", "Complete requests:", "susceed", "结果 end", "succeeded", "成功"];
        assert!(ends.iter().any(|end| said.contains(end)), "{line}: {said} {}", text(&ended.stderr));
    }
    let _ = std::fs::remove_file(curl);
    // The long one of its README.
    let url = served.url("/echo");
    let words = OF_README.map(|word| if word == "URL" { url.as_str() } else { word });
    let ended = onrush(&words).output().expect("the binary starts");
    let said = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(said.contains("> POST /echo HTTP/1.1\n") && said.contains("\nadPlanQueryParam=%7B"), "{said}");
    assert!(said.contains("> cookie: ***\n") && !said.contains("JSESSIONID"), "{said}");
}

/// The server's requests and WebSocket connections.
fn requested_of(served: &Served) -> u64 {
    let seen = stats(served);
    let requests = by_path(&seen).into_values().sum::<u64>();
    requests + seen["long_connections"]["opened"].as_u64().unwrap_or(0)
}

#[test]
fn the_name_of_the_program_is_enough() {
    let served = Served::start();
    let folder = std::env::temp_dir().join(format!("onrush-names-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let link = folder.join("ab");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_onrush"), &link).expect("a link");
    let ended = Command::new(&link).args(["-n", "20", "-c", "2", &served.url("/")]).output().expect("it starts");
    assert!(text(&ended.stdout).contains("Complete requests:      20\n"), "{ended:?}");
    let native =
        onrush(&["as", "ab", "--native", "-n", "20", "-c", "2", &served.url("/")]).output().expect("it starts");
    assert!(text(&native.stdout).contains("20 started = 20 succeeded + 0 failed"), "{native:?}");
    let unknown = onrush(&["as", "siege", "x"]).output().expect("it starts");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("supported are wrk, wrk2, ab, hey, oha, webbench, go-stress-testing"));
    for (words, wanted) in [
        (&["as"][..], "onrush as TOOL [flags of the tool] URL"),
        (&["as", "--help"], "wrk, wrk2, ab, hey, oha, webbench, go-stress-testing"),
        (&["as", "ab", "--help"], "-n"),
        (&["as", "wrk", "-h"], " -L "),
    ] {
        let ended = onrush(words).output().expect("it starts");
        assert!(ended.status.success() && text(&ended.stdout).contains(wanted), "{words:?}: {ended:?}");
    }
    for (words, code) in [
        (vec!["wrk", "--bogus"], 1),
        (vec!["ab", "-n"], 22),
        (vec!["hey", "-bogus"], 2),
        (vec!["oha", "--bogus"], 2),
        (vec!["webbench", "--bogus"], 2),
        (vec!["go-stress-testing"], 2),
    ] {
        for language in ["C.UTF-8", "zh_CN.UTF-8"] {
            let ended = onrush(&[&["as"], &words[..]].concat()).env("LANG", language).output().expect("it starts");
            let said = text(&ended.stderr);
            assert_eq!((ended.status.code(), said.lines().count()), (Some(code), 1), "{words:?}: {said}");
            assert!(said.starts_with(&format!("onrush: as {}", words[0])), "{said}");
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// An aborted request at the end is no failed expectation: none was given.
#[test]
fn the_native_page_of_a_healthy_target_is_a_success() {
    let served = Served::start();
    let url = served.url("/delay/20");
    for tool in ["wrk", "wrk2"] {
        let mut words = vec!["as", tool, "--native", "-t1", "-c2", "-d1s"];
        words.extend(if tool == "wrk2" { &["-R50"][..] } else { &[] });
        words.push(&url);
        let done = crate::output(&words);
        assert_eq!(done.status.code(), Some(0), "{tool}: {done:?}");
    }
}
