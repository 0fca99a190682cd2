//! Where users wait for each other: all that is run has one list of it.

use plan::{Meeting, Scenario};

use crate::diagnostic::{DiagnosticSink, Fault};
use crate::source::Span;

/// The meetings of what is run, each with the place where it is named first.
#[derive(Default)]
pub(super) struct Meetings(Vec<(Meeting, Span)>);

impl Meetings {
    /// The number of a meeting; those of one name are one.
    pub(super) fn number(&mut self, meeting: Meeting, at: Span) -> u32 {
        let known = self.0.iter().position(|(known, _)| known.name == meeting.name);
        known.unwrap_or_else(|| {
            self.0.push((meeting, at));
            self.0.len() - 1
        }) as u32
    }

    /// Finds those that would never have all of their users.
    pub(super) fn check(&self, scenarios: &[Scenario], found: &mut DiagnosticSink) {
        for (number, (meeting, at)) in (0u32..).zip(&self.0) {
            let coming = scenarios.iter().filter(|scenario| scenario.program.meetings().contains(&number));
            let most = coming.fold(0u64, |sum, scenario| sum.saturating_add(scenario.users()));
            if most < meeting.users {
                let (name, users) = (meeting.name.clone(), meeting.users);
                found.add(*at, Fault::MeetingTooLarge { name, users, most });
            }
        }
    }

    pub(super) fn into_plan(self) -> Vec<Meeting> {
        self.0.into_iter().map(|(meeting, _)| meeting).collect()
    }
}
