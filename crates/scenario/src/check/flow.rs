//! Planned ends and what follows failures: each needs something around it that can end.

use metrics::ThresholdFault;
use plan::{OnFailure, PlannedEnd};

use crate::diagnostic::{CookieFault, DiagnosticSink, Problem};
use crate::file::{Action, AfterFailure, File, Step};
use crate::read::end_verb;

/// A list of steps of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    /// Those of an iteration.
    Iteration,
    /// Those of a user, before or after its iterations: the key.
    User(&'static str),
    /// Those that are done once: the key.
    Once(&'static str),
}

/// Checks all steps of a file.
pub(super) fn check(file: &File, found: &mut DiagnosticSink) {
    let (usual, keeps_cookies) = (file.defaults.on_failure.as_ref(), file.defaults.keeps_cookies());
    let mut ends = Ends { usual, keeps_cookies, area: Area::Once("setup"), has_deadline: false, found };
    ends.steps(&file.before, false);
    for scenario in &file.scenarios {
        ends.keeps_cookies = file.as_seen_by(scenario).defaults.keeps_cookies();
        let lists = [
            (Area::User("on_start"), &scenario.start),
            (Area::Iteration, &scenario.steps),
            (Area::User("on_stop"), &scenario.stop),
        ];
        for (area, steps) in lists {
            ends.area = area;
            ends.steps(steps, false);
        }
    }
    (ends.area, ends.keeps_cookies) = (Area::Once("teardown"), keeps_cookies);
    ends.steps(&file.after, false);
    if !ends.has_deadline {
        let without = file.thresholds.iter().filter(|limit| limit.threshold.is_of_deadlines());
        without.for_each(|limit| found.add(limit.at, Problem::Threshold(ThresholdFault::NoDeadline)));
    }
}

struct Ends<'a> {
    /// What follows a failure where a step does not say it.
    usual: Option<&'a AfterFailure>,
    /// Whether users have cookies.
    keeps_cookies: bool,
    area: Area,
    /// Whether some step has a deadline.
    has_deadline: bool,
    found: &'a mut DiagnosticSink,
}

impl Ends<'_> {
    fn steps(&mut self, steps: &[Step], is_in_loop: bool) {
        for step in steps {
            self.step(step, is_in_loop);
            let is_in_loop = is_in_loop || matches!(step.action, Action::Loop(_));
            step.inner().into_iter().for_each(|steps| self.steps(steps, is_in_loop));
        }
    }

    fn step(&mut self, step: &Step, is_in_loop: bool) {
        if matches!(step.action, Action::Cookies(_)) && !self.keeps_cookies {
            self.found.add(step.at, Problem::Cookies(CookieFault::Off));
        }
        if let Action::End(end) = &step.action {
            let word = end_verb(end);
            let fault = match (end, self.area) {
                (PlannedEnd::Round | PlannedEnd::Loop, _) if !is_in_loop => Some(Problem::NoLoop { word }),
                (PlannedEnd::Iteration, Area::User(place)) => Some(Problem::NoSuchEnd { word, place }),
                (PlannedEnd::Iteration | PlannedEnd::User, Area::Once(place)) => {
                    Some(Problem::NoSuchEnd { word, place })
                }
                _ => None,
            };
            fault.into_iter().for_each(|fault| self.found.add(step.at, fault));
        }
        self.has_deadline |= step.deadline.is_some();
        if let (Some(deadline), Area::User(place) | Area::Once(place)) = (step.deadline, self.area) {
            self.found.add(deadline.at, Problem::NoDeadline { place });
        }
        let after = step.on_failure.as_ref().or(self.usual.filter(|_| can_fail(&step.action)));
        if let Some(after) = after.filter(|after| after.then == OnFailure::Break && !is_in_loop) {
            self.found.add(after.at, Problem::NoLoop { word: "break" });
        }
    }
}

/// Whether a step fails by itself, and not because of steps in it.
fn can_fail(action: &Action) -> bool {
    match action {
        Action::Request(_) | Action::Call(_) | Action::Custom(_) | Action::Send(_) | Action::Receive(_) => true,
        Action::Check(_) | Action::Loop(_) | Action::Parallel { .. } => true,
        Action::Messaging(messaging) => messaging.steps.is_empty(),
        _ => false,
    }
}
