//! How a sweep is shown: lines and a table, JSON, a page, a folder of its own with every run.

use std::path::Path;
use std::time::Duration;

use engine::StopHandle;
use history::{RunFolder, Runs};
use report::{About, Language, Screen, SweepInput};
use search::Grid;
use search::swept::{BestBy, SweptRun};
use serde_json::Value;

use crate::args::{Command, SweepArgs};
use crate::exit::Exit;
use crate::files::{Files, Place};
use crate::front::Behind;
use crate::output::{self, Wrote};
use crate::stop_file::StopFile;
use crate::{keeping, machine, masking, watching};

/// Where sweeps are kept, beside the runs.
const SWEEPS: &str = "sweeps";
/// In the folder of a sweep.
const REPORT: &str = "sweep.json";
const RUNS: &str = "runs";

pub(super) struct Shown {
    screen: Screen,
    is_json: bool,
    is_quiet: bool,
    files: Files,
    page: Option<Place>,
    folder: Option<RunFolder>,
    about: About,
    target: String,
    is_hold: bool,
    grid: Grid,
    best_by: BestBy,
    runs: Vec<SweptRun>,
    began_unix: Duration,
    stop_file: Option<String>,
    wrote: Wrote,
    site: Option<web::Site>,
}

impl Shown {
    /// Everything that can be wrong is found before the first run.
    pub(super) fn begin(args: &SweepArgs, grid: &Grid, best_by: BestBy, base: &Behind) -> Result<Self, String> {
        let (front, language) = (&args.front, crate::usage::language());
        let wrong = |(path, error): (String, std::io::Error)| output::cannot_write(&path, &error, language);
        let pages: Vec<&str> = front.keep.html.iter().map(String::as_str).collect();
        let files = Files::open(front.view.json.as_deref(), None, &pages).map_err(wrong)?;
        let page = front.keep.html.as_deref().map(|path| Place::open(Path::new(path))).transpose().map_err(wrong)?;
        // A file that is there already would end it at once.
        StopFile::watch(front.stop_file.as_deref(), &StopHandle::default(), language)?;
        let began_unix = machine::now_unix();
        let folder = keeping::own_folder(&front.keep, SWEEPS, began_unix, language)?;
        let site = match front.watch.web {
            true => {
                let site = watching::open(&front.watch, None, language)?;
                watching::show_all_on(&site.hub());
                Some(site)
            }
            false => None,
        };
        let (target, is_hold) = match &base.command {
            Command::Run(args) => (args.flags.url.clone(), false),
            Command::Hold(args) => (args.flags.common.url.clone(), true),
            _ => (None, false),
        };
        Ok(Self {
            screen: output::screen(language, front.view.no_color, false),
            is_json: front.view.output.as_deref() == Some("json"),
            is_quiet: front.view.quiet,
            files,
            page,
            folder,
            about: keeping::about(masking::command_of_hold()),
            target: plan::masked_url(&target.unwrap_or_else(|| "curl".to_owned())),
            is_hold,
            grid: grid.clone(),
            best_by,
            runs: Vec::new(),
            began_unix,
            stop_file: front.stop_file.clone(),
            wrote: Wrote::All,
            site,
        })
    }

    pub(super) fn screen(&self) -> Screen {
        self.screen
    }

    fn language(&self) -> Language {
        self.screen.language
    }

    /// Where runs are kept.
    pub(super) fn runs(&self) -> Option<Runs> {
        self.folder.as_ref().map(|folder| Runs::at(folder.path().join(RUNS)))
    }

    /// A run ends when the file comes, and the sweep with it.
    pub(super) fn watch_stop_file(&self, stop: &StopHandle) -> Option<StopFile> {
        StopFile::watch(self.stop_file.as_deref(), stop, self.language()).ok()
    }

    /// Whoever watches sees that there is a sweep.
    pub(super) fn begun(&self) {
        if let Some(site) = &self.site {
            site.hub().search(self.value(None, false));
        }
    }

    /// The file has come, or somebody has ended it on the page.
    pub(super) fn is_told_to_stop(&self) -> bool {
        let by_page = self.site.as_ref().is_some_and(|site| site.hub().is_told_to_stop());
        by_page || self.stop_file.as_deref().is_some_and(|path| Path::new(path).exists())
    }

    fn value(&self, took: Option<Duration>, was_stopped: bool) -> Value {
        let kept_as = self.folder.as_ref().map(|folder| folder.path().display().to_string());
        report::sweep_value(&SweepInput {
            grid: &self.grid,
            runs: &self.runs,
            is_hold: self.is_hold,
            best_by: self.best_by,
            target: &self.target,
            began_unix: self.began_unix,
            took,
            was_stopped,
            about: &self.about,
            kept_as: kept_as.as_deref(),
        })
    }

    /// A run was made.
    pub(super) fn run(&mut self, run: SweptRun) {
        let is_first = self.runs.is_empty();
        self.runs.push(run);
        let value = self.value(None, false);
        if let Some(site) = &self.site {
            site.hub().search(value.clone());
        }
        if self.is_json || self.is_quiet || self.wrote != Wrote::All {
            return;
        }
        let mut text = if is_first { report::sweep_head(&value, &self.screen) } else { String::new() };
        if let Some(run) = value["runs"].as_array().and_then(|all| all.last()) {
            text.push_str(&report::sweep_row(&value, run, &self.screen));
        }
        self.wrote = output::write_stdout(&text, self.language());
    }

    /// Everything that is shown at the end.
    pub(super) fn over(mut self, took: Duration, was_stopped: bool) -> Exit {
        if self.runs.is_empty() {
            if let Some(folder) = &self.folder {
                folder.forget();
            }
            return Exit::Done;
        }
        let (value, language) = (self.value(Some(took), was_stopped), self.language());
        let json = format!("{value:#}\n");
        let text = if self.is_json { json.clone() } else { report::sweep_text(&value, self.screen) };
        if self.wrote == Wrote::All {
            self.wrote = output::write_stdout(&text, language);
        }
        let mut has_lost = self.wrote == Wrote::Failed;
        let page = report::sweep_html(&value, language);
        let of_page = self.page.take().map_or(Ok(()), |place| place.write_whole(&page));
        for written in [self.files.json(&json), of_page] {
            if let Err((path, error)) = written {
                output::complain(&output::cannot_write(&path, &error, language));
                has_lost = true;
            }
        }
        if let Some(folder) = &self.folder {
            has_lost |= !keeping::keep_whole(folder, (REPORT, &json), &page, language);
        }
        if let Some(site) = self.site.take() {
            site.hub().search(value);
        }
        if has_lost { Exit::System } else { Exit::Done }
    }
}
