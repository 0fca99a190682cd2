//! All views of a load.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use driver::sim::Faults;
use export::{Environment, Export, Exports};
use figures::{Charts, Interval, LiveTotals, ScenarioPart};
use report::{About, HdrLog, IntervalTable, Json, Language, Screen};
use selftest::SimulatedWorld;

use super::loads::Load;
use crate::shown::run;

/// The names of the views, in the order of [`Views::texts`].
pub(crate) const NAMES: [&str; 12] = [
    "begin.txt",
    "table.txt",
    "summary.txt",
    "zh.txt",
    "report.json",
    "charts.json",
    "live.json",
    "report.html",
    "times.hgrm",
    "times.hlog",
    "figures.csv",
    "prometheus.txt",
];

/// The instant at which each load begins, since the Unix epoch.
const BEGAN: Duration = Duration::from_secs(1_800_000_000);

/// Everything that a load shows and writes.
pub(crate) struct Views(Vec<String>);

/// Files of one load.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays is no error of a view.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Views {
    /// Runs a load in a world with this seed, and takes all views of it.
    pub(crate) fn new(load: &Load, seed: u64, faults: Faults) -> Self {
        let plan = &load.plan;
        let folder = Folder(std::env::temp_dir().join(format!("onrush-frozen-{}-{seed}", std::process::id())));
        std::fs::create_dir_all(&folder.0).expect("a folder");
        let csv = folder.0.join("figures.csv");
        let kinds = [format!("csv={}", csv.display()), "prometheus=127.0.0.1:0".to_owned()];
        let kinds = kinds.map(|kind| Export::parse(&kind).expect("an export"));
        let environment = Environment { token: None, step_summary: None };
        // Each by itself: the end of a file is waited for, and that of a page, until its last reader, is not.
        let begin = |kind: &Export| Exports::begin(std::slice::from_ref(kind), &ScenarioPart::none(plan), &environment);
        let [mut file, mut page] = [&kinds[0], &kinds[1]].map(|kind| begin(kind).expect("exports"));

        let screen = Screen::plain(Language::En);
        let about = About { version: "0".to_owned(), command: "onrush".to_owned(), ..About::default() };
        let (mut json, mut hdr, mut charts) = (Json::about(about), HdrLog::default(), Charts::new(plan));
        let (mut table, mut rows) = (IntervalTable::new(screen).for_plan(plan), String::new());
        let (mut times, mut live) = (String::new(), String::new());
        let mut world = SimulatedWorld::new(seed, faults);
        let result = world.run_and_probe(plan, load.threads, &load.happens, |reported| {
            // The CPU time is that of the machine on which the simulation runs.
            let mut interval = Interval::new(reported, plan);
            interval.added.cpu_ns = 0;
            let interval = Arc::new(interval);
            file.interval(&interval);
            page.interval(&interval);
            json.interval(&interval);
            charts.interval(&interval);
            rows.push_str(&table.next(&*interval));
            times.push_str(&hdr.interval(&interval, BEGAN + interval.to.as_duration()));
            live = format!("{:#}\n", report::live_value(&interval, &LiveTotals::new(reported, plan), &[]));
        });
        let run = run(plan, result.expect("a world that works"), load.thresholds);
        let scraped = scraped(page.pages().next().expect("a page"));
        page.finish(&run, "", &|| true);
        let deliveries = file.finish(&run, "", &|| false);
        assert!(deliveries.iter().all(|delivery| delivery.left_out == 0), "all intervals were exported");
        let (value, charts) = (json.value(&run), report::charts_value(&charts, &run));
        let summary = |language| report::summary(&run, Screen::plain(language));
        Self(vec![
            report::begins(plan, SimulatedWorld::address(), &screen),
            rows,
            summary(Language::En),
            summary(Language::Zh),
            format!("{value:#}\n"),
            format!("{charts:#}\n"),
            live,
            report::html_report(&value, &charts, Language::En),
            report::hdr_text(&run),
            times,
            std::fs::read_to_string(csv).expect("a file"),
            scraped,
        ])
    }

    /// The views with their names.
    pub(crate) fn texts(self) -> impl Iterator<Item = (&'static str, String)> {
        NAMES.into_iter().zip(self.0)
    }
}

/// What Prometheus reads from a page.
fn scraped(page: std::net::SocketAddr) -> String {
    let mut stream = TcpStream::connect(page).expect("it listens");
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text");
    text.split_once("\r\n\r\n").expect("a body").1.to_owned()
}
