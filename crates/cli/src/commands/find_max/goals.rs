//! The goals of a load.

use metrics::{GoalMisses, Snapshot, Threshold};
use plan::Plan;
use report::Language;

/// The default goals.
const TIMES: &str = "p99(response_time) < 500ms";
const FAILURES: &str = "failed / done < 1%";

/// The goals of a search.
#[derive(Clone, Debug)]
pub(super) struct Goals {
    pub(super) all: Vec<Threshold>,
    texts: Vec<String>,
}

impl Goals {
    /// The given goals, or the default ones. Failures always count.
    pub(super) fn read(given: &[String], language: Language) -> Result<Self, String> {
        let mut texts: Vec<String> = given.to_vec();
        let mut all = Vec::new();
        for text in given {
            all.push(read(text, language)?);
        }
        if given.is_empty() {
            texts.push(TIMES.to_owned());
            all.push(Threshold::parse(TIMES).expect("a goal of ours"));
        }
        if !all.iter().any(Threshold::is_of_failures) {
            texts.push(FAILURES.to_owned());
            all.push(Threshold::parse(FAILURES).expect("a goal of ours"));
        }
        Ok(Self { all, texts })
    }

    /// The goals as text.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Per goal, the share that may miss it, and the time limit of an exchange, in seconds.
    pub(super) fn allowed(&self) -> Vec<(f64, Option<f64>)> {
        let allowed =
            |goal: &Threshold| (goal.lost_share_max().unwrap_or(0.0), goal.limit_ns().map(|limit| limit as f64 / 1e9));
        self.all.iter().map(allowed).collect()
    }

    /// The longest time limit of a goal; `None` if no goal has one.
    pub(super) fn longest(&self) -> Option<std::time::Duration> {
        self.all.iter().filter_map(Threshold::limit_ns).max().map(std::time::Duration::from_nanos)
    }

    /// The same goals with longer time limits.
    pub(super) fn longer_by(&self, by: std::time::Duration) -> Self {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        Self { all: self.all.iter().map(|goal| goal.longer_by(by)).collect(), texts: self.texts.clone() }
    }

    /// The misses per goal. `of`: the snapshot of each scenario.
    pub(super) fn lost<'a>(
        &self,
        plan: &Plan,
        seen: &'a Snapshot,
        of: impl Fn(usize) -> &'a Snapshot,
    ) -> Vec<GoalMisses> {
        let lost = |goal: &Threshold| match &goal.of {
            None => goal.lost(seen),
            Some(name) => goal.lost(&figures::seen_of_part(plan, name, &of)),
        };
        self.all.iter().map(lost).collect()
    }

    /// The exchanges in flight that already miss a goal.
    pub(super) fn lost_in_flight(&self, seen: &Snapshot) -> Vec<u64> {
        let lost = |goal: &Threshold| if goal.of.is_none() { goal.lost_in_flight(seen) } else { 0 };
        self.all.iter().map(lost).collect()
    }
}

/// Parses one goal.
pub(super) fn read(text: &str, language: Language) -> Result<Threshold, String> {
    let goal = Threshold::parse_of_part(text)
        .map_err(|error| report::threshold_error(&error, language).replacen("--threshold", "--goal", 1))?;
    if goal.abort_after.is_some() {
        return Err(language.pick(
            format!("--goal '{text}': a goal is judged over and over; leave 'abort' out"),
            format!("--goal '{text}'：达标条件会被反复判定；请去掉 abort"),
        ));
    }
    if goal.lost_share_max().is_none() || goal.limit_ns() == Some(0) {
        return Err(language.pick(
            format!("--goal '{text}' is no goal: one says how many requests may be worse, as a percentile from above, like 'p99(response_time) < 200ms', or as a share, like 'failed / done < 0.1%'"),
            format!("--goal '{text}' 不能作为达标条件：要说明允许多少请求更差，如百分位的上限 'p99(response_time) < 200ms'，或比例 'failed / done < 0.1%'"),
        ));
    }
    Ok(goal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_never_overlooked() {
        let texts = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            Goals::read(&given, Language::En).expect("goals").texts
        };
        assert_eq!(texts(&[]), [TIMES, FAILURES]);
        assert_eq!(texts(&["p99 < 1s"]), ["p99 < 1s", FAILURES]);
        assert_eq!(texts(&["failed / done < 0.1%"]), ["failed / done < 0.1%"]);
        assert_eq!(texts(&["success / done > 99%", "p50 < 1s"]), ["success / done > 99%", "p50 < 1s"]);
        let of_step = "p99(response_time, status) < 1s";
        assert_eq!(texts(&[of_step]), [of_step, FAILURES]);
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for text in [
            "mean(response_time) < 1s",
            "rate > 100/s",
            "p99 > 1s",
            "p99 < 1s, abort",
            "failed < 5",
            "x",
            "p99 < 0ms",
            "failed / done < 0%",
        ] {
            assert!(Goals::read(&[text.to_owned()], Language::Zh).is_err(), "{text}");
        }
    }
}
