//! How a search is shown: rows and a summary, JSON, a page, a folder of its own with the run of every trial.

use std::path::Path;
use std::time::Duration;

use engine::StopHandle;
use history::{RunFolder, Runs};
use report::{About, Language, Screen, SearchInput, Varied};
use search::Search;
use serde_json::Value;

use crate::args::FindMaxArgs;
use crate::exit::Exit;
use crate::files::{Files, Place};
use crate::output::{self, Wrote};
use crate::stop_file::StopFile;
use crate::{keeping, machine, watching};

/// Where searches are kept, beside the runs.
const SEARCHES: &str = "searches";
/// In the folder of a search.
const REPORT: &str = "find-max.json";
const TRIALS: &str = "trials";

pub(super) struct Shown {
    screen: Screen,
    is_json: bool,
    is_quiet: bool,
    files: Files,
    page: Option<Place>,
    folder: Option<RunFolder>,
    about: About,
    target: String,
    varied: Varied,
    goals: Vec<String>,
    budget: Duration,
    began_unix: Duration,
    stop_file: Option<String>,
    was_stopped_by_file: bool,
    has_head: bool,
    wrote: Wrote,
    site: Option<web::Site>,
}

impl Shown {
    /// Everything that can be wrong is found before the first trial.
    pub(super) fn begin(
        args: &FindMaxArgs,
        about: About,
        (target, varied, goals): (&str, Varied, &[String]),
        budget: Duration,
    ) -> Result<Self, String> {
        let front = &args.front;
        let language = crate::usage::language();
        let wrong = |(path, error): (String, std::io::Error)| output::cannot_write(&path, &error, language);
        let pages: Vec<&str> = front.keep.html.iter().map(String::as_str).collect();
        let files = Files::open(front.view.json.as_deref(), None, &pages).map_err(wrong)?;
        let page = front.keep.html.as_deref().map(|path| Place::open(Path::new(path))).transpose().map_err(wrong)?;
        // A file that is there already would end it at once.
        StopFile::watch(front.stop_file.as_deref(), &StopHandle::default(), language)?;
        let began_unix = machine::now_unix();
        let folder = keeping::own_folder(&front.keep, SEARCHES, began_unix, language)?;
        let site = match front.watch.web {
            true => {
                let site = watching::open(&front.watch, None, language)?;
                watching::show_all_on(&site.hub());
                Some(site)
            }
            false => None,
        };
        Ok(Self {
            screen: output::screen(language, front.view.no_color, false),
            is_json: front.view.output.as_deref() == Some("json"),
            is_quiet: front.view.quiet,
            files,
            page,
            folder,
            about,
            target: target.to_owned(),
            varied,
            goals: goals.to_vec(),
            budget,
            began_unix,
            stop_file: front.stop_file.clone(),
            was_stopped_by_file: false,
            has_head: false,
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

    /// Where the runs of trials are kept.
    pub(super) fn runs(&self) -> Option<Runs> {
        self.folder.as_ref().map(|folder| Runs::at(folder.path().join(TRIALS)))
    }

    /// A trial ends when the file comes, and the search with it.
    pub(super) fn watch_stop_file(&mut self, stop: &StopHandle) -> Option<StopFile> {
        if self.was_stopped_by_file {
            return None;
        }
        StopFile::watch(self.stop_file.as_deref(), stop, self.language()).ok()
    }

    /// Whoever watches sees that there is a search.
    pub(super) fn begun(&self, search: &Search) {
        if let Some(site) = &self.site {
            site.hub().search(self.value(search, None));
        }
    }

    /// The file has come, or somebody has ended it on the page.
    pub(super) fn is_told_to_stop(&mut self) -> bool {
        self.was_stopped_by_file |= self.stop_file.as_deref().is_some_and(|path| Path::new(path).exists());
        self.was_stopped_by_file || self.site.as_ref().is_some_and(|site| site.hub().is_told_to_stop())
    }

    fn value(&self, search: &Search, took: Option<Duration>) -> Value {
        let mut found = search.found();
        if let Some(took) = took {
            found.took = took;
        }
        let kept_as = self.folder.as_ref().map(|folder| folder.path().display().to_string());
        report::search_value(&SearchInput {
            found: &found,
            trials: search.trials(),
            goals: &self.goals,
            varied: self.varied,
            target: &self.target,
            budget: self.budget,
            began_unix: self.began_unix,
            about: &self.about,
            kept_as: kept_as.as_deref(),
            is_running: took.is_none(),
        })
    }

    /// A trial was made.
    pub(super) fn trial(&mut self, search: &Search) {
        let value = self.value(search, None);
        if let Some(site) = &self.site {
            site.hub().search(value.clone());
        }
        if self.is_json || self.is_quiet || self.wrote != Wrote::All {
            return;
        }
        let mut text = String::new();
        if !self.has_head {
            text = report::search_head(&value, &self.screen);
            self.has_head = true;
        }
        if let Some(trial) = value["trials"].as_array().and_then(|all| all.last()) {
            text.push_str(&report::search_row(trial, &self.screen));
        }
        self.wrote = output::write_stdout(&text, self.language());
    }

    /// Everything that is shown at the end. How that went, and whether anything was found.
    pub(super) fn over(&mut self, search: &Search, took: Duration) -> Exit {
        let (value, language) = (self.value(search, Some(took)), self.language());
        let json = format!("{value:#}\n");
        let text = if self.is_json { json.clone() } else { report::search_text(&value, self.screen) };
        if self.wrote == Wrote::All {
            self.wrote = output::write_stdout(&text, language);
        }
        let mut has_lost = self.wrote == Wrote::Failed;
        let mut tell = |written: Result<(), (String, std::io::Error)>| {
            if let Err((path, error)) = written {
                output::complain(&output::cannot_write(&path, &error, language));
                has_lost = true;
            }
        };
        tell(self.files.json(&json));
        let page = report::search_html(&value, language);
        if let Some(place) = self.page.take() {
            tell(place.write_whole(&page));
        }
        if let Some(folder) = &self.folder {
            has_lost |= !keeping::keep_whole(folder, (REPORT, &json), &page, language);
        }
        if let Some(site) = self.site.take() {
            site.hub().search(value.clone());
        }
        match (has_lost, value["lower"].is_number()) {
            (true, _) => Exit::System,
            (false, true) => Exit::Done,
            (false, false) => Exit::Unmet,
        }
    }
}
