//! Steps that are never reached.

use super::{Concern, Warning, lists};
use crate::file::{Action, File, Step};
use crate::read::end_verb;

/// Warns of the first step behind an end without a condition, in each list.
pub(super) fn not_reached(file: &File, all: &mut Vec<Warning>) {
    lists(file).for_each(|steps| in_list(steps, all));
}

fn in_list(steps: &[Step], all: &mut Vec<Warning>) {
    for (number, step) in steps.iter().enumerate() {
        if let (Action::End(end), Some(next)) = (&step.action, steps.get(number + 1)) {
            all.push(Warning { at: next.at, concern: Concern::NotReached { verb: end_verb(end) } });
            return;
        }
        // Shuffled steps have no order.
        match &step.action {
            Action::Shuffle(steps) => steps.iter().for_each(|step| in_list(std::slice::from_ref(step), all)),
            _ => step.inner().into_iter().for_each(|steps| in_list(steps, all)),
        }
    }
}
