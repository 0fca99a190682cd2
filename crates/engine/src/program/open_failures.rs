//! Failures of steps that another try may follow.

use metrics::SeriesId;

/// The most failures that are kept of one user: a block may fail in a loop, again and again.
const FAILURES_MAX: usize = 10_000;

/// The failures of a user's measured steps: of its last exchanges, and of the blocks around them, which may begin again.
/// Most users have none, and no memory for them.
#[derive(Debug, Default)]
pub(crate) struct OpenFailures(Option<Box<FailedSteps>>);

#[derive(Debug, Default)]
struct FailedSteps {
    steps: Vec<SeriesId>,
    /// Where those of the last exchanges begin.
    last: usize,
    /// Where those begin that are tried again, once the next try begins.
    again_from: Option<usize>,
}

impl OpenFailures {
    pub(crate) fn add(&mut self, step: SeriesId) {
        let kept = self.0.get_or_insert_default();
        if kept.steps.len() < FAILURES_MAX {
            kept.steps.push(step);
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|kept| kept.steps.is_empty())
    }

    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |kept| kept.steps.len())
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// The last exchanges are tried again.
    pub(crate) fn try_last_again(&mut self) {
        if let Some(kept) = &mut self.0 {
            kept.again_from = Some(kept.last);
        }
    }

    /// All from here on are tried again.
    pub(crate) fn try_again_from(&mut self, from: usize) {
        if let Some(kept) = &mut self.0 {
            kept.again_from = Some(from);
        }
    }

    /// Something begins: takes those that are tried again with it. `is_in_block`: the others may be so later.
    pub(crate) fn settle(&mut self, is_in_block: bool) -> Vec<SeriesId> {
        let Some(kept) = &mut self.0 else { return Vec::new() };
        let from = kept.again_from.take().unwrap_or(kept.steps.len()).min(kept.steps.len());
        let tried_again = kept.steps.split_off(from);
        if !is_in_block {
            kept.steps.clear();
        }
        kept.last = kept.steps.len();
        tried_again
    }
}
