//! A failure after a redirect is attributed to the host that failed, with the chain that led there.

use super::{DRIVERS, Script, debug, in_order, pieces};
use crate::{closed_port, output, report, text};

/// A server that redirects to where its path says: `/to/PORT`, `/via/PORT/PORT`, `/name/HOST`.
fn sender() -> Script {
    Script::start(|path, stream| {
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let to = match parts[..] {
            ["to", port] => format!("http://127.0.0.1:{port}/there?access_token=s3cr3tive"),
            ["via", other, port] => format!("http://localhost:{other}/to/{port}"),
            ["name", host] => format!("http://{host}/"),
            _ => String::new(),
        };
        let response = match parts[0] {
            "there" | "there?access_token=s3cr3tive" => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut".to_owned(),
            _ => format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        };
        pieces(stream, response.as_bytes(), 1_000);
    })
}

/// A path, the reason and the place of the failure, and the parts that are shown of the chain.
type Chain = (String, &'static str, String, Vec<String>);

#[test]
fn the_host_that_failed_is_named() {
    let (first, second) = (sender(), sender());
    let dead = closed_port();
    let one = format!("127.0.0.1:{}", first.port);
    let cases = failing_chains(first.port, second.port, dead);
    for driver in DRIVERS {
        for (path, reason, place, way) in &cases {
            let url = first.url(path);
            for (language, title) in
                [("en", "failed answers, the first 3 of 3"), ("zh", "失败的响应（3 个中的前 3 个）")]
            {
                let usual = ["-L", "-c", "1", "-n", "3", "--driver", driver, "--lang", language, "--show-failures"];
                let ended = output(&[&usual[..], &[&url]].concat());
                let (all, notes) = (text(&ended.stdout), text(&ended.stderr));
                let (summary, shown) = all.split_once(title).unwrap_or_else(|| panic!("{all}"));
                let line = summary
                    .lines()
                    .rfind(|line| line.contains(reason) && !line.contains("docs/why"))
                    .expect("a line of the failure");
                if *reason != "closed-early" {
                    assert!(line.contains(place.as_str()), "{line}");
                    assert!(notes.is_empty() || notes.contains(place.as_str()), "{notes}");
                }
                assert!(!line.contains(&one) && !notes.contains(&one), "the first is accused: {line} {notes}");
                assert_eq!(shown.matches(way[0].as_str()).count(), 3, "{shown}");
                in_order(shown, &way.iter().map(String::as_str).collect::<Vec<_>>());
            }
            let ended = output(&["-L", "-c", "1", "-n", "3", "--driver", driver, "--output", "json", &url]);
            let seen = report(&ended);
            assert_eq!(seen["failures"][0]["reason"], *reason, "{seen:#}");
            assert_eq!(seen["failures"][0]["places"], serde_json::json!([place]), "{seen:#}");
            assert!(!seen["failures"][0]["remedy"].as_str().expect("text").contains(&one), "{seen:#}");
            let all = debug(driver, "en", &["-L", &url]);
            in_order(
                &all,
                &["< HTTP/1.1 302 Found\n", "* succeeded\n", &format!("* to {place}\n"), "> GET /", "* failed: "],
            );
            let all = debug(driver, "zh", &["-L", &url]);
            in_order(&all, &["* 成功\n", &format!("* 发往 {place}\n"), "* 失败："]);
        }
    }
}

/// Chains of redirects from the first server, which end at the second one, at a dead port or at no host.
fn failing_chains(first: u16, second: u16, dead: u16) -> Vec<Chain> {
    let (one, other) = (format!("127.0.0.1:{}", first), format!("localhost:{}", second));
    let dead_place = format!("127.0.0.1:{dead}");
    let way = |from: &str, path: &str, to: &str| format!("  GET http://{from}{path} 302 -> {to}\n");
    let there = |port: u16| format!("http://127.0.0.1:{port}/there?access_token=***");
    vec![
        (
            format!("/to/{dead}"),
            "connect-refused",
            dead_place.clone(),
            vec![way(&one, &format!("/to/{dead}"), &there(dead)), format!("  GET {}\n", there(dead))],
        ),
        (
            format!("/via/{}/{dead}", second),
            "connect-refused",
            dead_place,
            vec![
                way(&one, &format!("/via/{}/{dead}", second), &format!("http://{other}/to/{dead}")),
                way(&other, &format!("/to/{dead}"), &there(dead)),
                format!("  GET {}\n", there(dead)),
            ],
        ),
        (
            "/name/no-such-host.invalid".to_owned(),
            "dns",
            "no-such-host.invalid:80".to_owned(),
            vec![
                way(&one, "/name/no-such-host.invalid", "http://no-such-host.invalid/"),
                "  GET http://no-such-host.invalid/\n".to_owned(),
            ],
        ),
        (
            format!("/to/{}", second),
            "closed-early",
            format!("127.0.0.1:{}", second),
            vec![
                way(&one, &format!("/to/{}", second), &there(second)),
                format!("  GET {}\n", there(second)),
                "< Content-Length: 9\n".to_owned(),
                "\ncut\n".to_owned(),
            ],
        ),
    ]
}

/// Several targets, of which one is dead: it is named, and the others are not.
#[test]
fn the_dead_one_of_several_targets_is_named() {
    let served = crate::Served::start();
    let dead = closed_port();
    let file = std::env::temp_dir().join(format!("onrush-dead-{}", std::process::id()));
    std::fs::write(&file, format!("curl {}\ncurl http://127.0.0.1:{dead}/\n", served.url("/"))).expect("a file");
    let path = file.to_string_lossy().into_owned();
    let place = format!("127.0.0.1:{dead}");
    for driver in DRIVERS {
        for language in ["en", "zh"] {
            let ended = output(&["-c", "1", "-n", "3", "--driver", driver, "--lang", language, "-p", &path]);
            let (all, notes) = (text(&ended.stdout), text(&ended.stderr));
            let line = all.lines().rfind(|line| line.contains("connect-refused")).expect("a line of the failure");
            let living = served.url.trim_start_matches("http://");
            assert!(line.contains(&place) && !line.contains(living), "{line}");
            assert!(notes.contains(&place) && !notes.contains(living), "{notes}");
        }
    }
    let _ = std::fs::remove_file(&file);
}
