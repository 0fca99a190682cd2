//! Thresholds of the command line beside the plan that they are for.

use metrics::Threshold;
use plan::Plan;
use report::Language;

/// What is wrong with thresholds of one part of a plan, in words.
pub(crate) fn wrong_parts(plan: &Plan, thresholds: &[Threshold], language: Language) -> Option<String> {
    let names = figures::part_names(plan);
    let of_parts = thresholds.iter().filter_map(|one| Some((one, one.of.as_deref()?)));
    let wrong = |(threshold, name): (&Threshold, &str)| {
        let text = &threshold.text;
        if threshold.abort_after.is_some() {
            return Some(language.pick(
                format!("--threshold '{text}': one of a step, transaction or scenario is judged at the end; leave 'abort' out, or the name"),
                format!("--threshold '{text}'：单个步骤、事务或场景的阈值在结束时才判定；请去掉 abort，或去掉名称"),
            ));
        }
        let known = names.join(", ");
        (!names.iter().any(|known| known == name)).then(|| {
            language.pick(
                format!("--threshold '{text}': nothing is called '{name}'; there are: {known}"),
                format!("--threshold '{text}'：没有名为 '{name}' 的场景、步骤或事务；可用：{known}"),
            )
        })
    };
    of_parts.into_iter().find_map(wrong)
}
