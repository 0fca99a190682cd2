//! All exports of a run, from before its first request until after its end.

use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use figures::{Held, HeldInterval, Interval, Run, ScenarioPart};

use crate::bounds::EXPORTS_MAX;
use crate::deadline::Deadline;
use crate::error::{DeliveryFault, ExportError};
use crate::file::OutputFile;
use crate::junit;
use crate::kind::Export;
use crate::queue::{Batch, END_WAIT_MAX, Queue};
use crate::scrape::{SCRAPE_WAIT_MAX, Scrape};
use crate::sinks::{Csv, Influx, Otlp, RemoteWrite, Statsd};
use crate::totals::Totals;

/// Environment variables that exports need, so that nothing here reads the environment.
#[derive(Clone, Default)]
pub struct Environment {
    /// `ONRUSH_EXPORT_TOKEN`: the token of InfluxDB.
    pub token: Option<String>,
    /// `GITHUB_STEP_SUMMARY`: the path of the step summary.
    pub step_summary: Option<String>,
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("step_summary", &self.step_summary).finish_non_exhaustive()
    }
}

/// The delivery result of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The kind of the export.
    pub kind: &'static str,
    /// The destination, without secrets.
    pub place: String,
    /// Intervals that were delivered; for a page, the number of reads; for what is written at the end, 1.
    pub delivered: u64,
    /// Intervals that were not delivered.
    pub left_out: u64,
    /// The last reason for a loss.
    pub fault: Option<DeliveryFault>,
    /// Whether the destination is a file.
    pub is_file: bool,
}

enum Endpoint {
    Page(Scrape),
    Queue(Queue),
    Junit(Option<OutputFile>),
    Github(String),
}

/// The exports that are active while a run goes on.
pub struct Exports {
    all: Vec<(Export, Endpoint)>,
    totals: Totals,
    /// The last instant that was reported.
    at_unix: Duration,
    /// The time limit of the end, where it is not the default.
    end_wait: Option<Duration>,
}

impl Exports {
    /// Opens files and addresses. `parts`: the scenarios and steps of the run.
    ///
    /// # Errors
    /// A file or an address cannot be opened, or two exports have one destination.
    pub fn begin(kinds: &[Export], parts: &[ScenarioPart], environment: &Environment) -> Result<Self, ExportError> {
        Self::begin_with(kinds, Totals::empty(parts), environment)
    }

    /// The same for a hold.
    ///
    /// # Errors
    /// As [`Exports::begin`].
    pub fn begin_held(kinds: &[Export], environment: &Environment) -> Result<Self, ExportError> {
        Self::begin_with(kinds, Totals::for_hold(), environment)
    }

    fn begin_with(kinds: &[Export], totals: Totals, environment: &Environment) -> Result<Self, ExportError> {
        if kinds.len() > EXPORTS_MAX {
            return Err(ExportError::TooMany);
        }
        for (number, kind) in kinds.iter().enumerate() {
            if kinds[..number].iter().any(|other| kind.is_twice(other)) {
                return Err(ExportError::Twice { place: kind.place() });
            }
        }
        let mut exports = Self { all: Vec::new(), totals, at_unix: Duration::ZERO, end_wait: None };
        let reported = exports.reported(None, None);
        for kind in kinds {
            let way = begin_one(kind, &reported, environment)?;
            if let Endpoint::Queue(queue) = &way {
                queue.push(&reported);
            }
            exports.all.push((kind.clone(), way));
        }
        Ok(exports)
    }

    /// Sets the time that queues and pages have after the run, instead of [`END_WAIT_MAX`] and [`SCRAPE_WAIT_MAX`].
    pub fn wait_at_end(&mut self, wait: Duration) {
        self.end_wait = Some(wait);
    }

    /// The time for which a page stays after the run.
    #[must_use]
    pub fn page_wait(&self) -> Duration {
        self.end_wait.unwrap_or(SCRAPE_WAIT_MAX)
    }

    /// The addresses of the pages.
    pub fn pages(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.all.iter().filter_map(|(_, way)| match way {
            Endpoint::Page(page) => Some(page.address()),
            _ => None,
        })
    }

    /// Exports an interval, or an update of one with what came late.
    pub fn interval(&mut self, interval: &Arc<Interval>) {
        self.totals.add(interval);
        let reported = self.reported(Some(interval), None);
        self.show(&reported);
    }

    /// Exports an interval of a hold.
    pub fn held(&mut self, interval: &Arc<HeldInterval>) {
        if let Some(totals) = &mut self.totals.held {
            totals.add(interval);
        }
        let reported = self.reported(None, Some(interval));
        self.show(&reported);
    }

    fn show(&self, reported: &Arc<Batch>) {
        for (_, way) in &self.all {
            match way {
                Endpoint::Page(page) => page.show(reported, false),
                Endpoint::Queue(queue) => queue.push(reported),
                Endpoint::Junit(_) | Endpoint::Github(_) => {}
            }
        }
    }

    /// Ends the exports: delivers what is left, in bounded time. `page`: the summary for GitHub; `has_enough`: whether
    /// the user wants to stop waiting.
    pub fn finish(mut self, run: &Run, page: &str, has_enough: &dyn Fn() -> bool) -> Vec<Delivery> {
        self.totals.end(&run.tally, &run.addresses);
        self.end(&junit::text(run), page, has_enough)
    }

    /// The same for a hold.
    pub fn finish_held(mut self, held: &Held, page: &str, has_enough: &dyn Fn() -> bool) -> Vec<Delivery> {
        if let Some(totals) = &mut self.totals.held {
            totals.end(held);
        }
        self.end(&junit::held_text(held), page, has_enough)
    }

    fn end(mut self, suite: &str, page: &str, has_enough: &dyn Fn() -> bool) -> Vec<Delivery> {
        let reported = self.reported(None, None);
        let (queues_by, page_by) =
            (Deadline::after(self.end_wait.unwrap_or(END_WAIT_MAX)), Deadline::after(self.page_wait()));
        for (_, way) in &self.all {
            match way {
                Endpoint::Page(page) => page.show(&reported, true),
                Endpoint::Queue(queue) => queue.end(&reported, queues_by),
                Endpoint::Junit(_) | Endpoint::Github(_) => {}
            }
        }
        // Exports with a limit of their own come first: a page may wait for the longest.
        let (pages, others): (Vec<_>, Vec<_>) =
            self.all.into_iter().enumerate().partition(|(_, (_, way))| matches!(way, Endpoint::Page(_)));
        let finish = |(number, (kind, way))| (number, finish_one(&kind, way, (suite, page), (page_by, has_enough)));
        let mut all: Vec<(usize, Delivery)> = others.into_iter().chain(pages).map(finish).collect();
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, delivery)| delivery).collect()
    }

    /// The current totals. No two have the same millisecond, which is the resolution of some backends.
    fn reported(&mut self, interval: Option<&Arc<Interval>>, held: Option<&Arc<HeldInterval>>) -> Arc<Batch> {
        // A clock before 1970 counts as no clock.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.at_unix = now.max(self.at_unix + Duration::from_millis(1));
        Arc::new(Batch {
            interval: interval.cloned(),
            held: held.cloned(),
            totals: self.totals.clone(),
            at_unix: self.at_unix,
        })
    }
}

fn begin_one(kind: &Export, reported: &Arc<Batch>, environment: &Environment) -> Result<Endpoint, ExportError> {
    let failed = |error: std::io::Error| ExportError::Begin {
        kind: kind.kind(),
        place: kind.place(),
        reason: error.to_string(),
    };
    let queue = match kind {
        Export::Prometheus(address) => return Scrape::start(*address, reported).map(Endpoint::Page).map_err(failed),
        Export::Junit(path) => return OutputFile::open(path).map(|place| Endpoint::Junit(Some(place))).map_err(failed),
        Export::Github => {
            let path = environment.step_summary.clone().ok_or(ExportError::NoStepSummary)?;
            File::options().append(true).create(true).open(&path).map_err(failed)?;
            return Ok(Endpoint::Github(path));
        }
        Export::RemoteWrite(url) => Queue::start(kind.kind(), RemoteWrite::new(url)),
        Export::Otlp(url) => Queue::start(kind.kind(), Otlp::new(url, reported.at_unix)),
        Export::Influx(url) => Queue::start(kind.kind(), Influx::new(url, environment.token.clone())),
        Export::Statsd { place, has_tags } => {
            Statsd::new(place, *has_tags).and_then(|sink| Queue::start(kind.kind(), sink))
        }
        Export::Csv(path) => OutputFile::open(path).and_then(|place| Queue::start(kind.kind(), Csv::new(place))),
    };
    queue.map(Endpoint::Queue).map_err(failed)
}

/// Ends one export. `suite`: test cases; `page`: the summary for GitHub. `end`: the deadline of a page, and whether the
/// user wants to stop waiting.
fn finish_one(
    kind: &Export,
    way: Endpoint,
    (suite, page): (&str, &str),
    end: (Deadline, &dyn Fn() -> bool),
) -> Delivery {
    let mut delivery = Delivery {
        kind: kind.kind(),
        place: kind.place(),
        delivered: 0,
        left_out: 0,
        fault: None,
        is_file: kind.file().is_some() || matches!(kind, Export::Github),
    };
    let mut written = |done: Result<(), std::io::Error>| match done {
        Ok(()) => delivery.delivered = 1,
        Err(error) => delivery.fault = Some(DeliveryFault::File(error.to_string())),
    };
    match way {
        Endpoint::Queue(queue) => {
            let tally = queue.finish(end.1);
            (delivery.delivered, delivery.left_out, delivery.fault) = (tally.delivered, tally.left_out, tally.fault);
        }
        Endpoint::Page(scrape) => {
            delivery.place = scrape.address().to_string();
            let (reads, was_read) = scrape.finish(end.0, end.1);
            delivery.delivered = reads;
            delivery.fault = (!was_read).then_some(DeliveryFault::NotRead);
        }
        Endpoint::Junit(place) => written(place.map_or(Ok(()), |mut place| {
            place.write(suite)?;
            place.end()
        })),
        Endpoint::Github(path) => {
            let file = File::options().append(true).create(true).open(path);
            written(file.and_then(|mut file| file.write_all(page.as_bytes())));
        }
    }
    delivery
}
