//! The pages that are tested, and what each of them needs.

use std::process::Stdio;

use ::report::{Language, search_html};
use serde_json::json;
use web::{Offer, Site};

use crate::driven::{Driven, Page};
use crate::given::{ALL, searched};
use crate::paged::{Paged, TOKEN};
use crate::{Folder, Served, onrush, output, report, text};

/// Two written reports, each kind in one language: nothing in the console, nothing fetched, accessible, on any screen
/// and on paper.
pub(crate) fn a_browser_shows_the_page(driven: &mut Driven) -> Result<(), String> {
    let (served, folder) = (Served::start(), Folder::new("kept-browser"));
    let rest = "scenarios:\n  see:\n    load: {rate: [\"50:1s\", \"100:1s\"]}\n    steps: [{get: /delay/uniform/2-20, name: look}, {get: /status/404, name: miss, on_failure: continue}]\n  pay:\n    load: {users: 4, for: 2s}\n    steps: [{transaction: order, steps: [{get: /delay/5}]}]\nthresholds: [\"p99(response_time) < 50ms\"]\n";
    let plan = folder.plan("plan", &served, rest);
    let (load, held) = (folder.path("load.html"), folder.path("held.html"));
    let ws = served.url("/ws").replace("http://", "ws://");
    let of_load = ["run", &plan, "--html", &load, "--lang", "en"];
    let of_held = ["hold", "-c", "30", "--hold", "2s", "--every", "100ms", "--html", &held, "--lang", "zh", &ws];
    // Each takes two seconds; they may do so together, since none of their figures is checked.
    let begun = [&of_load[..], &of_held].map(|words| {
        let mut command = onrush(words);
        command.args(["--interval", "100ms", "-o", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    });
    for child in begun {
        let done = child.wait_with_output().expect("it ends");
        assert!(done.status.code().is_some_and(|code| code < 2), "{}", text(&done.stderr));
        // There is something to draw.
        let reported = report(&done);
        assert!(reported["intervals"].as_array().is_some_and(|rows| rows.len() > 5), "{reported:#}");
    }
    for file in [load, held] {
        let name = "kept::a_browser_shows_the_page";
        let page = Page { name, script: "report", out: folder.path("out"), given: json!({"file": file}) };
        driven.shows(&page, |what| panic!("nothing can be had: {what}")).map_err(|why| format!("{file}:\n{why}"))?;
    }
    Ok(())
}

/// A search while it goes on, and its saved pages, accessible.
///
/// The search is a given one, which is reported to its page as real searches are; that real ones do so is tested in
/// `search::a_page_shows_the_search`.
pub(crate) fn a_browser_shows_searches_and_sweeps(driven: &mut Driven) -> Result<(), String> {
    let (served, folder) = (Served::start(), Folder::new("searched-browser"));
    let max = folder.file("max.html", search_html(&searched(ALL), Language::En));
    let (sweep, url) = (folder.path("sweep.html"), served.url("/queue/2/1"));
    let vary = ["--vary", "connections=1,2", "--vary", "keepalive=on,off", "--repeat", "1", "-n", "20"];
    let done = output(&[&["sweep", "--no-save", "--lang", "zh", "--html", &sweep, &url], &vary[..]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));

    let site = Site::start(([127, 0, 0, 1], 0).into(), TOKEN, Offer::default()).expect("a port");
    site.hub().search(searched(ALL - 1));
    let link = format!("http://{}/#token={TOKEN}", site.address());
    let page = Page {
        name: "search::a_browser_shows_searches_and_sweeps",
        script: "search",
        out: folder.path("out"),
        given: json!({"link": link, "trials": ALL - 1, "files": [max, sweep]}),
    };
    driven.shows(&page, |_| site.hub().search(searched(ALL)))
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
