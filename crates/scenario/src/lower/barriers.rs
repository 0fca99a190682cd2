//! The barriers of a run, in one list.

use plan::{Barrier, Scenario};

use crate::diagnostic::{DiagnosticSink, Problem};
use crate::source::Span;

/// The barriers of a run, each with the first position of its name.
#[derive(Default)]
pub(super) struct Barriers(Vec<(Barrier, Span)>);

impl Barriers {
    /// The number of a barrier; barriers of one name are one.
    pub(super) fn number(&mut self, barrier: Barrier, at: Span) -> u32 {
        let known = self.0.iter().position(|(known, _)| known.name == barrier.name);
        known.unwrap_or_else(|| {
            self.0.push((barrier, at));
            self.0.len() - 1
        }) as u32
    }

    /// Finds barriers that could never have all of their users.
    pub(super) fn check(&self, scenarios: &[Scenario], found: &mut DiagnosticSink) {
        for (number, (barrier, at)) in (0u32..).zip(&self.0) {
            let coming = scenarios.iter().filter(|scenario| scenario.program.barriers().contains(&number));
            let most = coming.fold(0u64, |sum, scenario| sum.saturating_add(scenario.users()));
            if most < barrier.users {
                let (name, users) = (barrier.name.clone(), barrier.users);
                found.add(*at, Problem::MeetingTooLarge { name, users, most });
            }
        }
    }

    pub(super) fn into_plan(self) -> Vec<Barrier> {
        self.0.into_iter().map(|(barrier, _)| barrier).collect()
    }
}
