//! The pages that are tried, and what each of them needs.

use serde_json::{Value, json};
use web::{Offer, Site};

use crate::driven::{Driven, Page};
use crate::paged::{Paged, TOKEN};
use crate::{Folder, Served, onrush, output, report, text};

/// Two reports that were written, each kind in one language: nothing in the console, nothing fetched, readable for all, on any screen and
/// on paper.
pub(crate) fn a_browser_shows_the_page(driven: &mut Driven) -> Result<(), String> {
    let (served, folder) = (Served::start(), Folder::new("kept-browser"));
    let rest = "scenarios:\n  see:\n    load: {rate: [\"50:1s\", \"100:1s\"]}\n    steps: [{get: /delay/uniform/2-20, name: look}, {get: /status/404, name: miss, on_failure: go on}]\n  pay:\n    load: {users: 4, for: 2s}\n    steps: [{transaction: order, steps: [{get: /delay/5}]}]\nthresholds: [\"p99(response_time) < 50ms\"]\n";
    let plan = folder.plan("plan", &served, rest);
    let (load, held) = (folder.path("load.html"), folder.path("held.html"));
    let ws = served.url("/ws").replace("http://", "ws://");
    let of_load = ["run", &plan, "--interval", "100ms", "--html", &load, "--lang", "en"];
    let of_held = ["hold", "-c", "30", "--hold", "2s", "--every", "100ms", "--interval", "100ms", "--lang", "zh"];
    let of_held = [&of_held[..], &["--html", &held, &ws]].concat();
    // Each takes two seconds, and they do not disturb what is looked at.
    let begun = [&of_load[..], &of_held].map(|words| {
        let mut command = onrush(words);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().expect("it starts")
    });
    for child in begun {
        let done = child.wait_with_output().expect("it ends");
        assert!(done.status.code().is_some_and(|code| code < 2), "{}", text(&done.stderr));
    }
    for file in [load, held] {
        let name = "kept::a_browser_shows_the_page";
        let page = Page { name, script: "report", out: folder.path("out"), given: json!({"file": file}) };
        driven.shows(&page, |what| panic!("nothing can be had: {what}")).map_err(|why| format!("{file}:\n{why}"))?;
    }
    Ok(())
}

/// A search while it goes on, and the pages that are kept, readable for all.
///
/// The search that goes on is a real one that was made before, told to the page trial by trial; `search::a_page_shows_the_search` looks
/// at what a search tells while it is made.
pub(crate) fn a_browser_shows_searches_and_sweeps(driven: &mut Driven) -> Result<(), String> {
    let (served, folder) = (Served::start(), Folder::new("searched-browser"));
    let (max, sweep) = (folder.path("max.html"), folder.path("sweep.html"));
    // Connections that are held are held however busy a machine is, so each trial is drawn.
    let ws = served.url("/ws").replace("http://", "ws://");
    let words =
        ["find-max", "--no-save", "--budget", "36s", "--from", "1", "--most", "4", "-o", "json", "--html", &max];
    let done = output(&[&words[..], &["hold", "--every", "20ms", &ws]].concat());
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let found = report(&done);
    let vary = ["--vary", "connections=1,2", "--vary", "keepalive=on,off", "--repeat", "1", "-n", "20"];
    let url = served.url("/queue/2/1");
    let swept = output(&[&["sweep", "--no-save", "--lang", "zh", "--html", &sweep, &url], &vary[..]].concat());
    assert_eq!(swept.status.code(), Some(0), "{swept:?}");

    let all = found["trials"].as_array().map_or(0, Vec::len);
    assert_eq!(all, 3, "1, 2 and 4 connections: {found:#}");
    let site = Site::start(([127, 0, 0, 1], 0).into(), TOKEN, Offer::default()).expect("a port");
    site.hub().search(until(&found, all - 1));
    let page = Page {
        name: "search::a_browser_shows_searches_and_sweeps",
        script: "search",
        out: folder.path("out"),
        given: json!({"link": format!("http://{}/#token={TOKEN}", site.address()), "trials": all - 1, "files": [max, sweep]}),
    };
    driven.shows(&page, |_| site.hub().search(found.clone()))
}

/// A search as it was when it had made so many trials.
fn until(found: &Value, trials: usize) -> Value {
    let mut value = found.clone();
    value["ended"] = "running".into();
    value["trials"].as_array_mut().expect("a list").truncate(trials);
    value
}

/// A load that a page starts, changes, pauses, resumes and stops.
pub(crate) fn a_browser_starts_changes_and_stops_a_load(driven: &mut Driven) -> Result<(), String> {
    let (served, folder) = (Served::start(), Folder::new("watched-browser"));
    let paged = Paged::start(&["web"]);
    let page = Page {
        name: "watched::a_browser_starts_changes_and_stops_a_load",
        script: "live",
        out: folder.path("out"),
        given: json!({"paged": {"host": paged.host, "link": paged.link}, "target": served.url("/")}),
    };
    driven.shows(&page, |what| panic!("nothing can be had: {what}"))
}
