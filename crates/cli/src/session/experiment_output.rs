//! The output of a search or a sweep: lines, JSON, a page, a folder with every run, the live page.

use std::path::Path;
use std::time::Duration;

use engine::StopHandle;
use history::{RunFolder, Runs};
use report::{About, Language, Screen};
use serde_json::Value;

use crate::exit::Exit;
use crate::options::args::WrapperArgs;
use crate::output::{self, Wrote};
use crate::session::artifacts;
use crate::session::dashboards;
use crate::session::files::{Files, OutputFile};
use crate::session::machine;
use crate::session::stop_file::StopFile;

/// The names of a kind of experiment in storage.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// The folder of all experiments of the kind, next to the folder of runs.
    pub(crate) folder: &'static str,
    /// The report in the folder of an experiment.
    pub(crate) report: &'static str,
    /// The folder of its runs.
    pub(crate) runs: &'static str,
}

/// The outputs of an experiment.
pub(crate) struct ExperimentOutput {
    pub(crate) screen: Screen,
    pub(crate) about: About,
    pub(crate) began_unix: Duration,
    is_json: bool,
    is_quiet: bool,
    kind: Kind,
    files: Files,
    page: Option<OutputFile>,
    folder: Option<RunFolder>,
    stop_file: Option<String>,
    wrote: Wrote,
    bus_url: Option<web::Site>,
}

impl ExperimentOutput {
    /// Opens all outputs, so that errors show before the first run.
    pub(crate) fn begin(front: &WrapperArgs, kind: Kind, about: About) -> Result<Self, String> {
        let language = crate::options::usage::language();
        let wrong = |(path, error): (String, std::io::Error)| output::cannot_write(&path, &error, language);
        let pages: Vec<&str> = front.keep.html.iter().map(String::as_str).collect();
        let files = Files::open(front.view.json.as_deref(), None, &pages).map_err(wrong)?;
        let page = front
            .keep
            .html
            .as_deref()
            .map(|path| OutputFile::open_report(Path::new(path)))
            .transpose()
            .map_err(wrong)?;
        // An existing stop file would end it at once.
        StopFile::watch(front.stop_file.as_deref(), &StopHandle::default(), language)?;
        let began_unix = machine::now_unix();
        let folder = artifacts::own_folder(&front.keep, kind.folder, began_unix, language)?;
        let bus_url = match front.watch.web {
            true => {
                let bus_url = dashboards::open(&front.watch, None, language)?;
                dashboards::show_all_on(&bus_url.hub());
                Some(bus_url)
            }
            false => None,
        };
        Ok(Self {
            screen: output::screen(language, front.view.no_color, false),
            about,
            began_unix,
            is_json: front.view.output.as_deref() == Some("json"),
            is_quiet: front.view.quiet,
            kind,
            files,
            page,
            folder,
            stop_file: front.stop_file.clone(),
            wrote: Wrote::All,
            bus_url,
        })
    }

    pub(crate) fn language(&self) -> Language {
        self.screen.language
    }

    /// The folder of its runs.
    pub(crate) fn runs(&self) -> Option<Runs> {
        self.folder.as_ref().map(|folder| Runs::at(folder.path().join(self.kind.runs)))
    }

    /// The path of its folder.
    pub(crate) fn kept_as(&self) -> Option<String> {
        self.folder.as_ref().map(|folder| folder.path().display().to_string())
    }

    /// Watches the stop file for one run; it ends the run and the experiment.
    pub(crate) fn watch_stop_file(&self, stop: &StopHandle) -> Option<StopFile> {
        StopFile::watch(self.stop_file.as_deref(), stop, self.language()).ok()
    }

    /// Whether the stop file has appeared, or the page has requested the end.
    pub(crate) fn is_reported_to_stop(&self) -> bool {
        let by_page = self.bus_url.as_ref().is_some_and(|bus_url| bus_url.hub().is_reported_to_stop());
        by_page || self.stop_file.as_deref().is_some_and(|path| Path::new(path).exists())
    }

    /// Updates the live page.
    pub(crate) fn report(&self, report: impl FnOnce() -> Value) {
        if let Some(bus_url) = &self.bus_url {
            bus_url.hub().search(report());
        }
    }

    /// Prints lines for a user at the terminal.
    pub(crate) fn say(&mut self, text: impl FnOnce() -> String) {
        if !self.is_json && !self.is_quiet && self.wrote == Wrote::All {
            self.wrote = output::write_stdout(&text(), self.language());
        }
    }

    /// Removes the folder because nothing was measured.
    pub(crate) fn forget(&mut self) {
        if let Some(folder) = self.folder.take() {
            let _ = std::fs::remove_dir(folder.path().join(self.kind.runs));
            folder.forget();
        }
    }

    /// Shows and writes everything at the end; returns whether all of it could be written.
    pub(crate) fn over(&mut self, report: &Value, text: impl FnOnce() -> String, page: &str) -> Exit {
        let language = self.language();
        let json = format!("{report:#}\n");
        if self.wrote == Wrote::All {
            let text = if self.is_json { json.clone() } else { text() };
            self.wrote = output::write_stdout(&text, language);
        }
        let mut has_lost = self.wrote == Wrote::Failed;
        let of_page = self.page.take().map_or(Ok(()), |place| place.write_whole(page));
        for written in [self.files.json(&json), of_page] {
            if let Err((path, error)) = written {
                output::complain(&output::cannot_write(&path, &error, language));
                has_lost = true;
            }
        }
        if let Some(folder) = &self.folder {
            has_lost |= !artifacts::keep_whole(folder, (self.kind.report, &json), page, language);
        }
        self.report(|| report.clone());
        self.bus_url = None;
        if has_lost { Exit::System } else { Exit::Done }
    }
}
