//! `+` between a number and a name whose value is a text.

use std::collections::HashSet;

use plan::{ExtractFrom, Pattern};

use super::{Concern, Warning, each, lists};
use crate::expression;
use crate::file::{Action, DataFormat, File, Step};
use crate::source::Span;

/// Warns of sums that put texts together.
pub(super) fn added(file: &File, all: &mut Vec<Warning>) {
    let texts = texts_of(file);
    let mut see = |text: &str, at: Span| {
        let is_direct = at.end - at.start == text.len();
        for (name, range) in expression::added_to_numbers(text) {
            if texts.contains(&name) {
                let at = if is_direct { Span::new(at.start + range.start, at.start + range.end) } else { at };
                all.push(Warning { at, concern: Concern::TextPlusNumber { name } });
            }
        }
    };
    lists(file).for_each(|steps| each(steps, &mut |step| expressions(step, &mut see)));
}

/// The names whose values are always texts: extractions without `as: number`, and columns of CSV. What is also set, or
/// extracted in another way, may be a number.
fn texts_of(file: &File) -> HashSet<String> {
    let (mut texts, mut others) = (HashSet::new(), HashSet::new());
    lists(file).for_each(|steps| {
        each(steps, &mut |step| {
            for take in step.takes() {
                let of_text = matches!(
                    take.from,
                    ExtractFrom::Regex(_) | ExtractFrom::Header(_) | ExtractFrom::Cookie(_) | ExtractFrom::Css { .. }
                );
                let is_one = !matches!(take.which, plan::Which::All | plan::Which::Count);
                let is_text = of_text && is_one && !take.is_number && take.default.is_none();
                if is_text { &mut texts } else { &mut others }.insert(take.name.text.clone());
            }
            if step.takes().is_empty() {
                others.extend(step.fills().into_iter().map(|name| name.text.clone()));
            }
        });
    });
    for set in file.data.iter().filter(|set| set.format == DataFormat::Csv) {
        let columns = set.columns.iter().flatten().filter(|column| !set.numbers.contains(column));
        texts.extend(columns.map(|column| format!("{}.{column}", set.name.text)));
    }
    others.extend(file.vars.iter().map(|variable| variable.name.text.clone()));
    texts.retain(|name| !others.contains(name));
    texts
}

/// The expressions of one step: conditions, and slots of values that it sets or sends.
fn expressions(step: &Step, see: &mut dyn FnMut(&str, Span)) {
    match &step.action {
        Action::If { condition, .. } | Action::Check(condition) => see(&condition.text, condition.at),
        Action::Loop(one) => one.expression().into_iter().for_each(|one| see(&one.text, one.at)),
        _ => {}
    }
    super::state::patterns(step, &mut |pattern: &Pattern| {
        for slot in pattern.slots().filter(|slot| slot.filling == plan::Filling::Expression) {
            see(&slot.text, Span::new(slot.at.start, slot.at.end));
        }
    });
}
