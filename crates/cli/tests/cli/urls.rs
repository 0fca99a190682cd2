//! A file of URLs: each request takes the next line, and the target has our counts.

use std::io::Write;
use std::process::Stdio;

use crate::examples::by_path;
use crate::hold::in_a_network;
use crate::seen::stats;
use crate::usage::check;
use crate::{Served, onrush, output, report, text};

const LINES: &str = "# lines\n/bytes/10\n\nPOST /echo {\"a\": 1}\nHEAD /bytes/20\n/delay/0\n";

fn file(name: &str, text: &str) -> String {
    let path = std::env::temp_dir().join(format!("onrush-urls-{name}-{}.txt", std::process::id()));
    std::fs::write(&path, text).expect("a place for it");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn each_line_has_its_turn() {
    let path = file("turn", LINES);
    for driver in ["uring", "poll"] {
        let loads: [(&[&str], u64); 4] = [
            (&["-q", "400", "-n", "400", "--threads", "1"], 1),
            (&["-q", "400", "-n", "400", "--threads", "3"], 1),
            (&["-c", "1", "-n", "400"], 1),
            // Users go through all lines, each from its own position.
            (&["-c", "7", "-n", "400"], 7),
        ];
        for (load, off_by) in loads {
            let served = Served::start();
            let url = served.url("/");
            let words = [&["--urls", &path, "--driver", driver, "-o", "json"], load, &[url.as_str()]].concat();
            let seen = report(&output(&words));
            assert_eq!(
                (&seen["requests"]["started"], &seen["requests"]["failed"]),
                (&400.into(), &0.into()),
                "{words:?}"
            );
            if load[0] == "-q" {
                assert!((seen["requested_per_s"].as_f64().expect("a rate") - 400.0).abs() < 0.5, "{seen:#}");
            }
            let counts = by_path(&stats(&served));
            assert_eq!(counts.values().sum::<u64>(), 400, "{words:?}: {counts:?}");
            let steps = seen["steps"].as_array().expect("an array");
            assert_eq!(steps.len(), 4);
            for step in steps {
                let finished = step["finished"].as_u64().expect("a number");
                assert!(finished.abs_diff(100) <= off_by, "{words:?}: {step:#}");
            }
            assert_eq!(counts["/echo"], steps[1]["finished"].as_u64().expect("a number"), "{words:?}");
            assert_eq!(
                counts["/bytes"],
                steps[0]["finished"].as_u64().expect("a number") + steps[2]["finished"].as_u64().expect("a number")
            );
        }
    }
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn lines_are_drawn_and_come_from_standard_input() {
    let served = Served::start();
    let url = served.url("/");
    let words = ["--urls", "-", "--shuffle", "-c", "4", "-n", "400", "-o", "json", &url];
    let mut child = onrush(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(LINES.as_bytes()).expect("it reads");
    let seen = report(&child.wait_with_output().expect("it ends"));
    let finished = |step: usize| seen["steps"][step]["finished"].as_u64().expect("a number");
    assert_eq!((0..4).map(finished).sum::<u64>(), 400);
    // One of four, 400 times: seven deviations of a binomial around the mean.
    for step in 0..4 {
        assert!(finished(step).abs_diff(100) <= 61, "{seen:#}");
    }
}

/// Far more lines than have separate figures.
#[test]
fn many_lines_have_figures_within_bounds() {
    let served = Served::start();
    let text: String = (0..10_000).map(|number| format!("/bytes/1?{number}\n")).collect();
    let (path, url) = (file("many", &text), served.url("/"));
    let seen = report(&output(&["--urls", &path, "-c", "10", "-n", "20000", "-o", "json", &url]));
    assert_eq!((&seen["requests"]["started"], &seen["requests"]["failed"]), (&20_000.into(), &0.into()));
    let steps = seen["steps"].as_array().expect("an array");
    assert!(steps.len() < 10_000, "{}", steps.len());
    let finished = |step: &serde_json::Value| step["finished"].as_u64().expect("a number");
    assert_eq!(steps.iter().map(finished).sum::<u64>(), 20_000);
    let shown = output(&["--urls", &path, "--debug", "-q", "1", "-n", "1", &url]);
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn wrong_files_and_flags_are_reported() {
    let (good, bad) = (file("good", LINES), file("bad", "http://127.0.0.1:1/\nGET\n"));
    let url = "http://127.0.0.1:1/";
    for (words, en, zh) in [
        (vec!["--urls", &bad, url], "line 2: GET is followed by no URL", "GET 之后没有 URL"),
        (vec!["--urls", &good], "line 2: '/bytes/10' is a path", "'/bytes/10' 只是路径"),
        (vec!["--urls", "/nofile", url], "cannot read the file '/nofile' given to --urls", "/nofile"),
        (vec!["--urls", &good, "-X", "PUT", url], "each line of --urls says what is sent", "请写在 --urls 的各行中"),
        (vec!["--urls", &good, "-d", "x", url], "each line of --urls says what is sent", "请写在 --urls 的各行中"),
        (vec!["--urls", &good, "-p", &good, url], "--urls", "--urls"),
        (vec!["--urls", &good, "-F", "a=b", url], "--urls", "--urls"),
    ] {
        check(&output(&words), 2, en);
        check(&onrush(&words).env("LANG", "zh_CN.UTF-8").output().expect("it starts"), 2, zh);
    }
    [good, bad].into_iter().for_each(|path| std::fs::remove_file(path).expect("it is there"));
}

/// A link-local address belongs to an interface, which requests do not name.
#[test]
fn a_zone_leads_to_its_interface() {
    let run = in_a_network(
        "ip addr add fe80::5/64 dev lo scope link nodad
         exec 3< <(exec $O serve --listen [::]:8080 2> /dev/null); S=$!; read -r -u 3 LISTENS
         printf 'target: http://[fe80::5%%25lo]:8080\nscenarios:\n  s:\n    load: {users: 1, iterations_per_user: 5}\n    steps: [get: /]\n' > /tmp/zone-$$.yaml
         for driver in uring poll; do for url in 'http://[fe80::5%25lo]:8080/' 'ws://[fe80::5%lo]:8080/echo --data x'; do
             $O -n 5 -c 1 --driver $driver $url --no-save -o json | grep -m1 '\"succeeded\"'
         done; done
         $O run /tmp/zone-$$.yaml --no-save -o json | grep -m1 '\"succeeded\"'; rm /tmp/zone-$$.yaml
         $O -n 5 -c 1 --no-save -o json curl 'http://[fe80::5%25lo]:8080/' | grep -m1 '\"succeeded\"'
         $O -n 5 -c 1 --debug 'http://[fe80::5%25lo]:8080/' 2>&1 | grep -i '^. *host:'
         $O -n 5 'http://[fe80::5]:8080/'; $O -n 5 'http://[fe80::5%25nine]:8080/'
         kill $S",
    );
    let (out, err) = (text(&run.stdout), text(&run.stderr));
    assert_eq!(out.matches("\"succeeded\": 5").count(), 6, "{out}{err}");
    assert!(out.to_lowercase().contains("host: [fe80::5]:8080\n"), "{out}{err}");
    assert!(
        err.contains("fe80::5 is link-local, so its interface belongs to it: [fe80::5%25eth0]; see: ip link"),
        "{err}"
    );
    assert!(err.contains("this machine has no interface 'nine'; see: ip link"), "{err}");
}
