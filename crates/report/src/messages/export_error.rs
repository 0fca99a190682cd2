//! Errors of exports, and their delivery results, in both languages.

use export::{Delivery, DeliveryFault, ExportError};

use super::{Doing, in_chinese, system_fault};
use crate::Language;
use crate::format::{count, counted};

/// The error of an export.
pub fn export_error(error: &ExportError, language: Language) -> String {
    match language {
        Language::En => format!("--export: {error}"),
        Language::Zh => format!("--export：{}", chinese(error)),
    }
}

fn chinese(error: &ExportError) -> String {
    match error {
        ExportError::Begin { kind, place, reason } => {
            let doing = match *kind {
                "prometheus" => Doing::Listen,
                "csv" | "junit" | "github" => Doing::Write,
                _ => Doing::Connect,
            };
            let reason = system_fault(reason, doing, ("choose another place", "请换一个位置"), Language::Zh);
            ExportError::Begin { kind, place: place.clone(), reason }.chinese()
        }
        error => error.chinese(),
    }
}

/// The reason why something was not delivered.
pub(crate) fn export_fault(fault: &DeliveryFault, language: Language) -> String {
    let said = |text: &str| {
        if text.is_empty() { String::new() } else { language.pick(format!(": {text}"), format!("：{text}")) }
    };
    match fault {
        DeliveryFault::TimedOut => language.pick("no answer in time", "未能及时响应").to_owned(),
        DeliveryFault::Unreachable(reason) | DeliveryFault::File(reason) => {
            language.pick(reason.clone(), in_chinese(reason))
        }
        DeliveryFault::Status(status, text) => format!("HTTP {status}{}", said(text)),
        DeliveryFault::Rejected(points, text) => language.pick(
            format!("{} refused{}", counted(*points, "data point"), said(text)),
            format!("{} 个数据点被拒绝{}", count(*points), said(text)),
        ),
        DeliveryFault::NotRead => language.pick("nobody read the final figures", "最终数据没有被读取").to_owned(),
        DeliveryFault::Full => language.pick("the queue was full", "队列已满").to_owned(),
    }
}

/// The losses of an export, in one line; `None` without any.
pub fn export_left_out(delivery: &Delivery, language: Language) -> Option<String> {
    let Delivery { kind, place, delivered, left_out, fault, is_file } = delivery;
    let why = fault.as_ref().map(|fault| export_fault(fault, language))?;
    if *is_file {
        return Some(language.pick(
            format!("{kind} could not be written to {place}: {why}"),
            format!("{kind} 无法写入 {place}：{why}"),
        ));
    }
    if *fault == Some(DeliveryFault::NotRead) {
        return Some(language.pick(format!("{kind} at {place}: {why}"), format!("{kind}（{place}）：{why}")));
    }
    let all = delivered + left_out;
    Some(match left_out {
        0 => language.pick(
            format!("{kind} to {place}: the final figures did not arrive ({why})"),
            format!("{kind}（{place}）：最终数据未送达（{why}）"),
        ),
        _ => language.pick(
            format!("{kind} to {place}: {} of {} did not arrive ({why})", count(*left_out), counted(all, "interval")),
            format!("{kind}（{place}）：{} 个周期中有 {} 个未送达（{why}）", count(all), count(*left_out)),
        ),
    })
}
