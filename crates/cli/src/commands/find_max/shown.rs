//! The output of a search.

use std::time::Duration;

use report::{About, SearchInput, Varied};
use search::Search;
use serde_json::Value;

use crate::exit::Exit;
use crate::options::args::FindMaxArgs;
use crate::session::experiment_output::{ExperimentOutput, Kind};

/// The storage names of searches.
const KIND: Kind = Kind { folder: "searches", report: "find-max.json", runs: "trials" };

pub(super) struct Shown {
    pub(super) whole: ExperimentOutput,
    target: String,
    varied: Varied,
    goals: Vec<String>,
    budget: Duration,
    has_head: bool,
}

impl Shown {
    /// Opens all outputs, so that errors show before the first trial.
    pub(super) fn begin(
        args: &FindMaxArgs,
        about: About,
        (target, varied, goals): (&str, Varied, &[String]),
        budget: Duration,
    ) -> Result<Self, String> {
        let whole = ExperimentOutput::begin(&args.front, KIND, about)?;
        Ok(Self { whole, target: target.to_owned(), varied, goals: goals.to_vec(), budget, has_head: false })
    }

    fn value(&self, search: &Search, took: Option<Duration>) -> Value {
        let mut found = search.found();
        if let Some(took) = took {
            found.took = took;
        }
        report::search_value(&SearchInput {
            found: &found,
            trials: search.trials(),
            goals: &self.goals,
            varied: self.varied,
            target: &self.target,
            budget: self.budget,
            began_unix: self.whole.began_unix,
            about: &self.whole.about,
            kept_as: self.whole.kept_as().as_deref(),
            is_running: took.is_none(),
        })
    }

    /// Shows that a search begins.
    pub(super) fn begun(&self, search: &Search) {
        self.whole.report(|| self.value(search, None));
    }

    /// Shows a trial.
    pub(super) fn trial(&mut self, search: &Search) {
        let value = self.value(search, None);
        self.whole.report(|| value.clone());
        let (screen, is_first) = (self.whole.screen, !self.has_head);
        self.has_head = true;
        self.whole.say(|| {
            let head = if is_first { report::search_head(&value, &screen) } else { String::new() };
            let last = value["trials"].as_array().and_then(|all| all.last());
            head + &last.map_or(String::new(), |trial| report::search_row(trial, &screen))
        });
    }

    /// Ends a search without anything to search: reports for programs say so, and nothing is kept.
    pub(super) fn nothing(&mut self, search: &Search, took: Duration) {
        let (value, language) = (self.value(search, Some(took)), self.whole.language());
        self.whole.forget();
        self.whole.over(&value, String::new, &report::search_html(&value, language));
    }

    /// Shows everything at the end; returns the exit code.
    pub(super) fn over(&mut self, search: &Search, took: Duration) -> Exit {
        let (value, screen) = (self.value(search, Some(took)), self.whole.screen);
        let page = report::search_html(&value, screen.language);
        let exit = self.whole.over(&value, || report::search_text(&value, screen), &page);
        match (exit, search.found().has_met()) {
            (Exit::Done, false) => Exit::Unmet,
            (exit, _) => exit,
        }
    }
}
