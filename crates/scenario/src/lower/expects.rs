//! Expectations: those of a step, and the defaults.

use plan::{Absent, DynamicCheck, Step as PlanStep};

use super::DynamicParts;
use crate::diagnostic::Problem;
use crate::file::{DynamicExpect, Expect};

impl DynamicParts<'_> {
    /// Adds what a draft does not have: bounds, and what must not be there.
    pub(super) fn add_more_expects(&self, made: &mut PlanStep, own: &Expect, usual: &Expect) {
        let checks = &mut made.checks;
        checks.time.extend(usual.time.iter().chain(&own.time).copied());
        checks.size.extend(usual.size.iter().chain(&own.size).copied());
        let (one, other) = (&usual.absent, &own.absent);
        checks.absent = Absent {
            bodies: one.bodies.iter().chain(&other.bodies).cloned().collect(),
            headers: one.headers.iter().chain(&other.headers).cloned().collect(),
            json: one.json.iter().chain(&other.json).cloned().collect(),
        };
        let is_dynamic = !usual.dynamic.is_empty() || !own.dynamic.is_empty();
        checks.is_expectation |= checks.want_bounds() || !checks.absent.is_empty() || is_dynamic;
    }

    /// The expectations that are made for each exchange.
    pub(super) fn dynamic_checks(&mut self, own: &Expect, usual: &Expect) -> Result<Vec<DynamicCheck>, Problem> {
        usual.dynamic.iter().chain(&own.dynamic).map(|expect| self.dynamic_check(expect)).collect()
    }

    fn dynamic_check(&mut self, expect: &DynamicExpect) -> Result<DynamicCheck, Problem> {
        let text = self.naming.rendering(&expect.text).inspect_err(|_| self.fault_at = Some(expect.at))?;
        Ok(DynamicCheck { of: expect.of.clone(), is_absent: expect.is_absent, text })
    }
}
