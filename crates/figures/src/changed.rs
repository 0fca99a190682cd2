//! Changes of a load while it ran.

use pacing::Nanos;
use pacing::change::{Change, ChangeKind};
use plan::Plan;

/// A change of a load, for display.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The revision; the first of a run is 1.
    pub revision: u32,
    /// The instant from which it holds, since the start of the run.
    pub at: Nanos,
    /// The scenario, where there are several.
    pub scenario: Option<String>,
    /// The new load.
    pub to: ChangedTo,
}

/// The new load after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChangedTo {
    /// A rate a second, reached over a span.
    Rate(f64, Nanos),
    /// Users, reached over a span.
    Users(u64, Nanos),
    /// The load is paused.
    Paused,
    /// The load is resumed.
    Resumed,
    /// The load ends: nothing more of it starts.
    Ended,
}

impl Changed {
    /// The display form of a change that the engine reports.
    pub fn new(change: &Change, plan: &Plan) -> Self {
        let to = match &change.what {
            ChangeKind::Rate(stages) => {
                let rate = stages.last().map_or(0.0, |stage| stage.to.per_second());
                ChangedTo::Rate(rate, sum(stages.iter().map(|stage| stage.span)))
            }
            ChangeKind::Users(stages) => {
                let users = stages.last().map_or(0, |stage| stage.to);
                ChangedTo::Users(users, sum(stages.iter().map(|stage| stage.span)))
            }
            ChangeKind::Pause => ChangedTo::Paused,
            ChangeKind::Resume => ChangedTo::Resumed,
            ChangeKind::End => ChangedTo::Ended,
        };
        let scenario = plan.scenarios.get(change.scenario).filter(|_| plan.scenarios.len() > 1);
        let scenario = scenario.map(|scenario| scenario.name.clone());
        Self { revision: change.revision, at: change.effective_at, scenario, to }
    }
}

fn sum(spans: impl Iterator<Item = Nanos>) -> Nanos {
    spans.fold(Nanos::ZERO, |sum, span| sum + span)
}

#[cfg(test)]
mod tests {
    use pacing::open::{Rate, Stage};

    use super::*;

    #[test]
    fn a_change_says_where_it_leads() {
        let plan = plan::Flags { url: Some("http://127.0.0.1:1/".to_owned()), ..plan::Flags::default() };
        let plan = plan.plan().expect("a plan");
        let rate = |per_s: u64| Rate::per_hour_thousandths(per_s * 3_600_000);
        let second = Nanos::from_millis(1_000);
        let stages = vec![
            Stage { from: rate(5), to: rate(20), span: second },
            Stage { from: rate(20), to: rate(20), span: Nanos::ZERO },
        ];
        let change = Change { revision: 3, scenario: 0, effective_at: second, what: ChangeKind::Rate(stages) };
        let changed = Changed::new(&change, &plan);
        assert_eq!(changed, Changed { revision: 3, at: second, scenario: None, to: ChangedTo::Rate(20.0, second) });
    }
}
