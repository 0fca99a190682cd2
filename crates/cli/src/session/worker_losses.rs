//! Notices of lost workers while a load goes on, each given once.

use std::collections::BTreeMap;

use engine::{Control, WorkerResult};
use pacing::Nanos;
use report::Language;

use crate::output;
use crate::session::dashboards::Dashboards;

/// The reported losses per worker, over all its incarnations.
#[derive(Debug, Default)]
pub(crate) struct Losses(BTreeMap<String, u32>);

/// The text for one worker.
pub(crate) type Say = fn(&str, Language) -> String;

impl Losses {
    /// Reports workers that were lost since the last call, also to the dashboards of `watching`.
    pub(crate) fn report(
        &mut self,
        control: &Control,
        (watching, at): (&Dashboards, Nanos),
        say: Say,
        language: Language,
    ) {
        for name in self.new_ones(&control.workers()) {
            output::note(&format!("onrush: {}", say(&name, language)));
            let texts = [Language::En, Language::Zh].map(|language| say(&name, language));
            watching.mark(at, "worker", texts.into());
        }
    }

    /// The workers that were lost since the last call.
    fn new_ones(&mut self, workers: &[WorkerResult]) -> Vec<String> {
        let mut all: BTreeMap<&str, u32> = BTreeMap::new();
        for worker in workers.iter().filter(|worker| worker.losses > 0) {
            *all.entry(worker.name.as_str()).or_default() += worker.losses;
        }
        let mut new = Vec::new();
        for (name, losses) in all {
            let reported = self.0.entry(name.to_owned()).or_default();
            if *reported < losses {
                *reported = losses;
                new.push(name.to_owned());
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_is_reported_once_in_whatever_order_they_come() {
        let mut losses = Losses::default();
        let mut of = |all: &[(&str, u32)]| {
            let worker = |(name, losses): &(&str, u32)| WorkerResult {
                name: (*name).to_owned(),
                losses: *losses,
                ..WorkerResult::default()
            };
            losses.new_ones(&all.iter().map(worker).collect::<Vec<_>>())
        };
        assert_eq!(of(&[("a", 0), ("b", 0), ("c", 1)]), ["c"]);
        assert_eq!(of(&[("a", 1), ("b", 0), ("c", 1)]), ["a"]);
        // It came back, and was lost again.
        assert_eq!(of(&[("a", 1), ("b", 0), ("c", 1), ("c", 1)]), ["c"]);
        assert_eq!(of(&[("a", 1), ("b", 0), ("c", 1), ("c", 1)]), Vec::<String>::new());
    }
}
