//! Failures of steps that another try may follow.

use metrics::SeriesId;

/// The most failures that are kept of one user: a block may fail in a loop, again and again.
const FAILURES_MAX: usize = 10_000;

/// The failures of a user's measured steps: of its last exchanges, and of the blocks around them, which may begin again.
#[derive(Debug, Default)]
pub(crate) struct OpenFailures {
    steps: Vec<SeriesId>,
    /// Where those of the last exchanges begin.
    last: usize,
    /// Where those begin that are tried again, once the next try begins.
    again_from: Option<usize>,
}

impl OpenFailures {
    pub(crate) fn add(&mut self, step: SeriesId) {
        if self.steps.len() < FAILURES_MAX {
            self.steps.push(step);
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        (self.last, self.again_from) = (0, None);
    }

    /// The last exchanges are tried again.
    pub(crate) fn try_last_again(&mut self) {
        self.again_from = Some(self.last);
    }

    /// All from here on are tried again.
    pub(crate) fn try_again_from(&mut self, from: usize) {
        self.again_from = Some(from);
    }

    /// Something begins: takes those that are tried again with it. `is_in_block`: the others may be so later.
    pub(crate) fn settle(&mut self, is_in_block: bool) -> Vec<SeriesId> {
        let from = self.again_from.take().unwrap_or(self.steps.len()).min(self.steps.len());
        let tried_again = self.steps.split_off(from);
        if !is_in_block {
            self.steps.clear();
        }
        self.last = self.steps.len();
        tried_again
    }
}
