//! Checks of command lines for conflicting flags, and against the plan.

use metrics::{Threshold, ThresholdFault};
use plan::{Load, Need, Plan, PlanError, UserShape};
use report::Language;

use crate::options::args::RunArgs;
use crate::output;
use crate::session::live::View;
use crate::session::run_settings::RunSettings;

/// The error message for thresholds on unknown parts of a plan.
pub(crate) fn wrong_parts(plan: &Plan, thresholds: &[Threshold], language: Language) -> Option<String> {
    let catalog = engine::catalog(plan);
    let without_deadline = thresholds.iter().find(|one| one.is_of_deadlines() && !plan.has_deadlines());
    if let Some(threshold) = without_deadline {
        let fault = report::threshold_fault(ThresholdFault::NoDeadline, language);
        let text = &threshold.text;
        return Some(language.pick(format!("--threshold '{text}': {fault}"), format!("--threshold '{text}'：{fault}")));
    }
    let of_parts = thresholds.iter().filter_map(|one| Some((one, one.of.as_deref()?)));
    let wrong = |(threshold, name): (&Threshold, &str)| {
        let text = &threshold.text;
        if threshold.abort_after.is_some() {
            return Some(language.pick(
                format!("--threshold '{text}': one of a step, transaction or scenario is judged at the end; leave 'abort' out, or the name"),
                format!("--threshold '{text}'：单个步骤、事务或场景的阈值在结束时才判定；请去掉 abort，或去掉名称"),
            ));
        }
        if let Some(fault) = threshold.wrong_part(&catalog) {
            let fault = report::threshold_fault(fault, language);
            return Some(
                language.pick(format!("--threshold '{text}': {fault}"), format!("--threshold '{text}'：{fault}")),
            );
        }
        catalog.named(name).is_none().then(|| {
            let known = catalog.names().collect::<Vec<_>>().join(language.pick(", ", "、"));
            language.pick(
                format!("--threshold '{text}': nothing is called '{name}'; there are: {known}"),
                format!("--threshold '{text}'：没有名为 '{name}' 的场景、步骤或事务；可用：{known}"),
            )
        })
    };
    of_parts.into_iter().find_map(wrong)
}

/// Hints at what is valid, and probably not meant.
pub(crate) fn hint(plan: &Plan, settings: &RunSettings, view: View) {
    if view.is_quiet || settings.past.is_some() {
        return;
    }
    hint_at_quotes(plan, view);
    if !settings.is_debug {
        hint_at_ramp(plan, settings, view);
    }
}

/// Hints that quotation marks of printed text are none of JSON.
fn hint_at_quotes(plan: &Plan, view: View) {
    let is_meant_as_json = |body: &[u8]| {
        let text = core::str::from_utf8(body).ok().filter(|text| text.trim_start().starts_with(['{', '[']));
        text.is_some_and(|text| text.contains(['“', '”']) && serde_json::from_str::<serde_json::Value>(text).is_err())
    };
    let mut steps = plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
    if steps.any(|step| is_meant_as_json(&step.request.body)) {
        output::note(view.language.pick(
            "onrush: a body looks like JSON, but has the quotation marks “ ” of printed text; it is sent as it is",
            "onrush: 请求体像是 JSON，却含有中文引号 “ ”，应为半角的 \"；将原样发送",
        ));
    }
}

/// Hints that late users of a ramp may find nothing left of a shared number of requests.
fn hint_at_ramp(plan: &Plan, settings: &RunSettings, view: View) {
    let shared = plan.scenarios.iter().find_map(|scenario| match &scenario.load {
        Load::Closed { shape: UserShape::Ramp(_), requests: Some(all), .. } => Some((*all, scenario.users())),
        _ => None,
    });
    let Some((all, users)) = shared else { return };
    let each = if all % users == 0 { (all / users).to_string() } else { "N".to_owned() };
    let (count, own) = match settings.file.is_some() {
        true => (format!("iterations: {all}"), format!("iterations_per_user: {each}")),
        false => (format!("-n {all}"), format!("--requests-each {each}")),
    };
    output::note(&view.language.pick(
        format!("onrush: {count} is of all users together, so the first ones of a ramp may do all of it; {own} gives each of the {users} its own"),
        format!("onrush: {count} 是所有用户合计的数量，梯度加压时，可能由最先开始的用户全部完成；要让每个用户各完成一定数量，请用 {own}"),
    ));
}

/// The first flag that needs a report of a load.
pub(crate) fn reported(args: &RunArgs) -> Option<&'static str> {
    let wanted = [
        ("--json", args.view.json.is_some()),
        ("--output json", args.view.output.as_deref() == Some("json")),
        ("--hdr", args.hdr.is_some()),
        ("--html", args.keep.html.is_some()),
        ("--save", args.keep.save),
        ("--baseline", args.keep.baseline.is_some()),
        ("--export", !args.exports.kinds.is_empty()),
        ("--log", args.log.log.is_some()),
        ("--slowest", args.log.slowest.is_some()),
    ];
    wanted.into_iter().find(|(_, is_wanted)| *is_wanted).map(|(flag, _)| flag)
}

/// Flags that need a scenario file, without one.
pub(crate) fn needs_file(args: &RunArgs) -> Option<PlanError> {
    let given = [("--var", !args.vars.is_empty()), ("--only", !args.only.is_empty())];
    let flag = given.into_iter().find(|(_, is_given)| *is_given);
    flag.map(|(flag, _)| PlanError::Needs { flag, needed: Need::File })
}
