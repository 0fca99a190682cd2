//! The file and its values as a scenario sees them.

use std::borrow::Cow;

use plan::Value;

use super::{Lowering, values};
use crate::diagnostic::DiagnosticSink;
use crate::file::{File, Scenario};

/// The file as a scenario sees it, and the values of its variables.
pub(super) struct Seen<'a> {
    pub(super) file: Cow<'a, File>,
    pub(super) globals: Cow<'a, [(String, Value)]>,
}

impl Lowering<'_> {
    /// What this scenario sees. Values that it shares with others are the same for all.
    pub(super) fn seen_by(&self, scenario: &Scenario, found: &mut DiagnosticSink) -> Seen<'_> {
        let file = self.opened.file.as_seen_by(scenario);
        if scenario.vars.is_empty() {
            return Seen { file, globals: Cow::Borrowed(&self.globals) };
        }
        let is_own = |name: &str| scenario.vars.iter().any(|own| own.name.text == name);
        let known: Vec<(String, Value)> = self.globals.iter().filter(|(name, _)| !is_own(name)).cloned().collect();
        let number = self.opened.file.scenarios.iter().position(|one| one.name == scenario.name);
        let draws = values::Draws { known: &known, number: number.map_or(0, |number| number as u64 + 1) };
        let mut globals = values::globals(&file, self.outside, super::mark_of(self.opened, &known), &draws, found);
        for (name, value) in known {
            if !globals.iter().any(|(other, _)| *other == name) {
                globals.push((name, value));
            }
        }
        Seen { file, globals: Cow::Owned(globals) }
    }
}
