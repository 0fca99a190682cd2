//! The outcome of `--fail-if`.

use history::{Comparison, FailIf, Ruling};
use report::Language;

use crate::output;

/// Reports the conditions that hold, and those that cannot be evaluated. True when one holds.
pub(crate) fn report(fail_if: &[FailIf], comparison: &Comparison, language: Language) -> bool {
    let lines = fail_if.iter().filter_map(|each| report::ruling_line(each, comparison, language));
    lines.for_each(|line| output::note(&format!("onrush: {line}")));
    fail_if.iter().any(|each| each.judge(comparison) == Ruling::Struck)
}
