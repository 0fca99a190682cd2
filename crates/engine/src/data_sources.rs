//! Data that scenarios read and evaluate: rows of files, and the evaluators of expressions.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use feed::Feed;
use plan::{Evaluate, Interpreters, Plan, Value};

use crate::RunError;

/// The data sources of the scenarios of a run.
#[derive(Clone, Debug, Default)]
pub struct DataSources {
    /// Feeds, by their index in the plan.
    pub feeds: Arc<[Feed]>,
    /// Evaluators of the expressions of the plan, if it has some.
    pub interpreters: Option<Arc<dyn Interpreters>>,
}

impl DataSources {
    /// Checks that all expressions of a plan can be evaluated.
    pub(crate) fn check(&self, plan: &Plan) -> Result<(), RunError> {
        let with_some = plan.scenarios.iter().map(|scenario| &scenario.memory.expressions);
        for expressions in with_some.filter(|expressions| !expressions.is_empty()) {
            let interpreters = self.interpreters.as_ref().ok_or(RunError::NoInterpreter)?;
            interpreters.start(expressions).map_err(|reason| RunError::Expression { reason })?;
        }
        Ok(())
    }
}

/// A file whose rows were used up during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedUp {
    /// Path of the file.
    pub file: PathBuf,
    /// Number of its rows.
    pub rows: u64,
    /// Rows were reused although none should be used twice; otherwise users that needed one more ended.
    pub is_update: bool,
}

const ENDED: u8 = 1;
const AGAIN: u8 = 2;

/// The data sources of a run, and what its shards share about them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedData {
    pub(crate) data_sources: DataSources,
    /// For each feed, the state of its rows.
    marks: Arc<[AtomicU8]>,
    /// The number of this worker, from 1.
    pub(crate) worker: u32,
    /// The values of the first user at its end.
    values: Arc<OnceLock<Vec<Value>>>,
}

impl SharedData {
    pub(crate) fn new(data_sources: DataSources, worker: u32) -> Self {
        let marks = data_sources.feeds.iter().map(|_| AtomicU8::new(0)).collect();
        Self { data_sources, marks, worker, values: Arc::default() }
    }

    /// A user that needed one more row of this feed ended.
    pub(crate) fn has_ended(&self, feed: usize) {
        self.marks[feed].fetch_or(ENDED, Ordering::Relaxed);
    }

    /// Rows of this feed are reused from the start.
    pub(crate) fn begins_again(&self, feed: usize) {
        if self.marks[feed].load(Ordering::Relaxed) & AGAIN == 0 {
            self.marks[feed].fetch_or(AGAIN, Ordering::Relaxed);
        }
    }

    /// Keeps the values of the first user of the first scenario at its end.
    pub(crate) fn keep_values(&self, values: &[Value]) {
        // Each scenario ends once.
        let _ = self.values.set(values.to_vec());
    }

    /// These values, in the order of its variables; empty where they are not wanted.
    pub(crate) fn values(&self) -> Vec<Value> {
        self.values.get().cloned().unwrap_or_default()
    }

    /// The feeds that were used up.
    pub(crate) fn used_up(&self) -> Vec<UsedUp> {
        let seen =
            self.data_sources.feeds.iter().zip(&*self.marks).map(|(feed, mark)| (feed, mark.load(Ordering::Relaxed)));
        let used_up = |feed: &Feed, is_update| UsedUp { file: feed.file().to_owned(), rows: feed.rows(), is_update };
        let marked = seen.flat_map(|(feed, mark)| {
            [(ENDED, false), (AGAIN, true)]
                .into_iter()
                .filter(move |(bit, _)| mark & bit != 0)
                .map(move |(_, is)| (feed, is))
        });
        marked.map(|(feed, is_update)| used_up(feed, is_update)).collect()
    }

    /// The evaluator of the expressions of a scenario on this thread; none where it has no expressions. Without memory
    /// for it there is a reason, and each evaluation fails with that.
    pub(crate) fn interpreter(&self, expressions: &[plan::Expression]) -> Option<Result<Box<dyn Evaluate>, String>> {
        if expressions.is_empty() {
            return None;
        }
        Some(match &self.data_sources.interpreters {
            Some(interpreters) => interpreters.start(expressions),
            None => Err(RunError::NoInterpreter.to_string()),
        })
    }
}
