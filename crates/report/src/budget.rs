//! The budget of a run, and whether it ended the run.

use figures::Run;
use plan::BudgetPart;
use serde_json::{Value, json};

use crate::Language;
use crate::format::{bytes, count, counted, span};

/// The part of the budget that ended the run, with its limit.
pub(crate) fn used_up(run: &Run, language: Language) -> Option<String> {
    let budget = &run.plan.budget;
    let (en, zh) = match run.spent? {
        BudgetPart::Requests => {
            let requests = count(budget.requests.unwrap_or(0));
            (counted(budget.requests.unwrap_or(0), "request"), format!("{requests} 个请求"))
        }
        BudgetPart::Bytes => {
            let bytes = bytes(budget.bytes.unwrap_or(0) as f64);
            (format!("{bytes} sent and received"), format!("收发共 {bytes}"))
        }
        BudgetPart::Time => {
            let time = span(budget.time.unwrap_or_default());
            (time.clone(), time)
        }
    };
    Some(
        language
            .pick(format!("used up: {en}; nothing more was started then"), format!("已用完（{zh}），之后不再发起请求")),
    )
}

/// The budget as JSON with the part that ended the run; null without a budget.
pub(crate) fn value(run: &Run) -> Value {
    let budget = &run.plan.budget;
    if !budget.is_set() {
        return Value::Null;
    }
    json!({
        "requests": budget.requests,
        "bytes": budget.bytes,
        "time_s": budget.time.map(|time| time.as_secs_f64()),
        "ended_by": run.spent.map(BudgetPart::name),
    })
}
