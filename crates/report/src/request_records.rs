//! Single exchanges: the slowest in the summary and the report, and the lines of a request log.

use core::time::Duration;
use std::fmt::Write;

use figures::Run;
use metrics::{RequestRecord, RequestRecordEnd};
use serde_json::{Value, json};

use crate::Language;
use crate::format::{Align, pad, time};
use crate::messages::failure_name;
use crate::screen::Screen;
use crate::wrap::cut;

/// Widths of the columns; the step takes the rest.
const WIDTHS: [usize; 6] = [10, 11, 14, 17, 12, 6];
const STEP_WIDTH_MIN: usize = 10;
const STEP_WIDTH: usize = 44;

/// The columns of a request log, in order.
pub const LOG_COLUMNS: &str = "at_s,time,step,outcome,reason,status,response_ns,lateness_ns,wait_ns,service_ns,first_byte_ns,body_bytes,connection,thread,scenario,trace_id";

/// The format of request log lines.
#[derive(Clone, Debug)]
pub struct LogStyle {
    /// Whether the format is CSV; otherwise it is JSON.
    pub is_csv: bool,
    /// The steps of a plan.
    pub steps: Vec<StepName>,
}

impl LogStyle {
    /// Adds a line. `began`: the start of the measured time, since the Unix epoch.
    pub fn line(&self, traced: &RequestRecord, began: Duration, text: &mut String) {
        let at = traced.intended_ns as f64 / 1e9;
        let (utc, step) = (utc(began + Duration::from_nanos(traced.intended_ns)), self.step(traced));
        let StepName { scenario, step } = step;
        let (outcome, reason) = (outcome(traced.end), reason(traced.end));
        let connection = connection(traced);
        let status = (traced.status > 0).then_some(traced.status);
        let RequestRecord { response_ns, lateness_ns, wait_ns, service_ns, first_byte_ns, body_bytes, shard, .. } =
            *traced;
        let (thread, trace) = (shard + 1, trace_id(traced));
        let written = if self.is_csv {
            let number = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
            let (status, reason) = (number(status.map(u64::from)), reason.unwrap_or_default());
            let (wait, service, first) = (number(wait_ns), number(service_ns), number(first_byte_ns));
            writeln!(
                text,
                "{at:.9},{utc},{},{outcome},{reason},{status},{response_ns},{lateness_ns},{wait},{service},{first},{body_bytes},{connection},{thread},{},{}",
                quoted(step),
                quoted(scenario),
                trace.unwrap_or_default()
            )
        } else {
            let number = |value: Option<u64>| value.map_or("null".to_owned(), |value| value.to_string());
            let (status, reason) = (number(status.map(u64::from)), Value::from(reason));
            let (wait, service, first) = (number(wait_ns), number(service_ns), number(first_byte_ns));
            writeln!(
                text,
                "{{\"at_s\":{at:.9},\"time\":\"{utc}\",\"step\":{},\"outcome\":\"{outcome}\",\"reason\":{reason},\"status\":{status},\"response_ns\":{response_ns},\"lateness_ns\":{lateness_ns},\"wait_ns\":{wait},\"service_ns\":{service},\"first_byte_ns\":{first},\"body_bytes\":{body_bytes},\"connection\":\"{connection}\",\"thread\":{thread},\"scenario\":{},\"trace_id\":{}}}",
                Value::from(&**step),
                Value::from(&**scenario),
                Value::from(trace)
            )
        };
        written.expect("text grows");
    }

    fn step(&self, traced: &RequestRecord) -> &StepName {
        static NO_NAME: StepName = StepName { scenario: String::new(), step: String::new() };
        self.steps.get(traced.step as usize).unwrap_or(&NO_NAME)
    }
}

/// The names of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepName {
    /// The name of its scenario.
    pub scenario: String,
    /// Its own name.
    pub step: String,
}

/// The names of all steps of a plan, by their series.
pub fn step_names(plan: &plan::Plan) -> Vec<StepName> {
    let of = |scenario: &plan::Scenario| {
        let name = |step: &plan::Step| StepName { scenario: scenario.name.clone(), step: step.name.clone() };
        scenario.steps.iter().map(name).collect::<Vec<_>>()
    };
    plan.scenarios.iter().flat_map(of).collect()
}

/// A table of the slowest; empty where none were stored.
pub(crate) fn table(run: &Run, screen: &Screen) -> String {
    if run.slowest.is_empty() {
        return String::new();
    }
    let pick = |english: &'static str, chinese: &'static str| screen.language.pick(english, chinese);
    let names = step_names(&run.plan);
    let head = [
        pick("Slowest", "最慢请求"),
        pick("at", "时刻"),
        pick("UTC", "UTC"),
        pick("status", "状态码"),
        pick("first byte", "首字节"),
        pick("conn.", "连接"),
    ];
    let rest: usize = WIDTHS.iter().sum::<usize>() + 2;
    let room = screen.columns().map_or(STEP_WIDTH, |columns| columns.saturating_sub(rest));
    let step_width = if names.len() < 2 || room < STEP_WIDTH_MIN { 0 } else { room.min(STEP_WIDTH) };
    let mut text = format!("\n{}\n", row(&head.map(str::to_owned), pick("step", "步骤"), step_width));
    for traced in &run.slowest {
        let utc = utc(run.began_unix + Duration::from_nanos(traced.intended_ns));
        let cells = [
            time(traced.response_ns as f64),
            format!("{:.3}s", traced.intended_ns as f64 / 1e9),
            utc.get(11..23).unwrap_or_default().to_owned(),
            status_in_words(traced),
            traced.first_byte_ns.map_or("-".to_owned(), |ns| time(ns as f64)),
            connection_in_words(traced, screen.language).to_owned(),
        ];
        let step = names.get(traced.step as usize).map_or("", |name| &name.step);
        text.push_str(&row(&cells, step, step_width));
        text.push('\n');
        if let Some(trace) = trace_id(traced) {
            writeln!(text, "{:>width$}  {trace}", pick("trace", "追踪"), width = WIDTHS[0] - 1).expect("text grows");
        }
    }
    text
}

fn row(cells: &[String; WIDTHS.len()], step: &str, step_width: usize) -> String {
    let padded: String =
        cells.iter().zip(WIDTHS).map(|(cell, width)| pad(&cut(cell, width - 1), width, Align::Right)).collect();
    if step_width == 0 { padded } else { format!("{padded}  {}", cut(step, step_width)) }
}

/// The slowest as JSON, for the report.
pub(crate) fn values(run: &Run) -> Value {
    let names = step_names(&run.plan);
    let one = |traced: &RequestRecord| {
        json!({
            "at_s": traced.intended_ns as f64 / 1e9,
            "time": utc(run.began_unix + Duration::from_nanos(traced.intended_ns)),
            "scenario": names.get(traced.step as usize).map(|name| &name.scenario),
            "step": names.get(traced.step as usize).map(|name| &name.step),
            "outcome": outcome(traced.end),
            "reason": reason(traced.end),
            "status": (traced.status > 0).then_some(traced.status),
            "response_ns": traced.response_ns,
            "lateness_ns": traced.lateness_ns,
            "wait_ns": traced.wait_ns,
            "service_ns": traced.service_ns,
            "first_byte_ns": traced.first_byte_ns,
            "body_bytes": traced.body_bytes,
            "connection": connection(traced),
            "thread": traced.shard + 1,
            "trace_id": trace_id(traced),
        })
    };
    run.slowest.iter().map(one).collect()
}

/// The trace ID in its usual form: 32 hexadecimal digits.
fn trace_id(traced: &RequestRecord) -> Option<String> {
    (traced.trace != 0).then(|| format!("{:032x}", traced.trace))
}

/// The status of the response, unless there is more to say.
fn status_in_words(traced: &RequestRecord) -> String {
    match (traced.status, reason(traced.end)) {
        (0, None) => "-".to_owned(),
        (status, None) => status.to_string(),
        (status, Some(reason)) if reason == "status" => status.to_string(),
        (_, Some(reason)) => reason,
    }
}

fn outcome(end: RequestRecordEnd) -> &'static str {
    match end {
        RequestRecordEnd::Succeeded => "succeeded",
        RequestRecordEnd::Failed(_) => "failed",
        RequestRecordEnd::Unfinished => "unfinished",
        RequestRecordEnd::Dropped => "dropped",
    }
}

fn reason(end: RequestRecordEnd) -> Option<String> {
    match end {
        RequestRecordEnd::Failed(failure) => Some(failure_name(failure)),
        _ => None,
    }
}

/// Whether the connection was opened for this exchange.
fn connection(traced: &RequestRecord) -> &'static str {
    match (traced.wait_ns, traced.is_connection_new) {
        (_, true) => "new",
        (Some(_), false) => "kept",
        (None, false) => "none",
    }
}

fn connection_in_words(traced: &RequestRecord, language: Language) -> &'static str {
    match connection(traced) {
        "new" => language.pick("new", "新建"),
        "kept" => language.pick("kept", "复用"),
        _ => "-",
    }
}

/// A CSV field.
fn quoted(text: &str) -> String {
    let is_plain = !text.contains(['"', ',', '\n', '\r']);
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// An instant since the Unix epoch as a name: `20261123-043105`, in UTC.
pub fn utc_stamp(since: Duration) -> String {
    let utc = utc(since);
    let digits = |range: core::ops::Range<usize>| utc.get(range).unwrap_or_default().replace(['-', ':'], "");
    format!("{}-{}", digits(0..10), digits(11..19))
}

/// An instant since the Unix epoch, like `2026-11-23T04:31:05.123456Z`.
pub(crate) fn utc(since: Duration) -> String {
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Years that begin in March end with the leap day; 400 of them have 146,097 days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:06}Z", since.subsec_micros())
}

#[cfg(test)]
mod tests;
