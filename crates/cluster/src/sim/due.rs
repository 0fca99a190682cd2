//! The starts due in a simulated load, as changed, and as seen by a worker that changes reached late.

use std::sync::Arc;

use pacing::change::{Change, LoadProfile, Timeline, followed};
use pacing::open::{Schedule, Spacing, Starts};
use pacing::{Nanos, Segment};

use super::model::schedule_of;
use crate::start_accounting::Due;

/// The starts of a load with these changes.
pub(super) struct ScheduleDue<'a> {
    planned: Arc<Schedule>,
    changes: &'a [Change],
    late: Vec<(u32, Nanos)>,
    spacing: Spacing,
}

impl<'a> ScheduleDue<'a> {
    pub(super) fn new(planned: &Arc<Schedule>, spacing: Spacing, changes: &'a [Change]) -> Self {
        Self { planned: planned.clone(), changes, late: Vec::new(), spacing }
    }

    /// The load, as a worker with these changes knows it.
    pub(super) fn timeline(&self) -> Timeline {
        let mut timeline = Timeline::new(LoadProfile::Rate(self.planned.clone()), Some(self.planned.end()));
        followed(self.changes, &self.late).for_each(|change| timeline.change(&change));
        timeline
    }
}

impl Due for ScheduleDue<'_> {
    fn count(&self, slots: &Segment, from: Nanos, to: Nanos) -> u64 {
        let schedule = schedule_of(&self.timeline());
        let mut starts = Starts::from(schedule, self.spacing, slots.clone(), from);
        to.0.checked_sub(1).map_or(0, |last| starts.take_until(Nanos(last)))
    }

    fn with_late_changes(&self, late: &[(u32, Nanos)]) -> Box<dyn Due + '_> {
        Box::new(ScheduleDue { planned: self.planned.clone(), late: late.to_vec(), ..*self })
    }
}
