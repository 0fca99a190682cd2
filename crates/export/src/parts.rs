//! Steps of one name, which labels cannot distinguish: they are one series.

use std::borrow::Cow;

use figures::{StepPart, Times};

/// Each name once, with the merged figures of all its steps.
pub(crate) fn merged(parts: &[StepPart]) -> Vec<Cow<'_, StepPart>> {
    let mut all: Vec<Cow<'_, StepPart>> = Vec::with_capacity(parts.len());
    for part in parts {
        match all.iter_mut().find(|known| known.name == part.name) {
            None => all.push(Cow::Borrowed(part)),
            Some(known) => {
                let known = known.to_mut();
                known.finished += part.finished;
                known.failed += part.failed;
                known.unfinished += part.unfinished;
                known.recorded.merge(&part.recorded);
                known.service.merge(&part.service);
                known.response = Times::known(&known.recorded);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{interval, plan, snapshot};

    #[test]
    fn steps_of_one_name_are_one() {
        let interval = interval(&plan(&["same", "other", "same"]), 1, &snapshot(3, 10, 2), false);
        let all = merged(&interval.scenarios[0].steps);
        let counts: Vec<_> = all.iter().map(|part| (&*part.name, part.finished, part.recorded.count())).collect();
        assert_eq!(counts, [("same", 24, 20), ("other", 12, 10)]);
        assert_eq!(all[0].response.mean_ns, all[1].response.mean_ns);
    }
}
