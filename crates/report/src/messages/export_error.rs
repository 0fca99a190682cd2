//! Errors of exports, and their delivery results, in both languages.

use export::{Delivery, DeliveryFault, EXPORT_BYTES_MAX, EXPORTS_MAX, ExportError, KINDS};

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
        ExportError::Kind { kind } => format!("没有名为 '{kind}' 的导出；可用：{}", KINDS.join("、")),
        ExportError::NoPlace { kind, example } => format!("{kind} 需要目的地，例如 {kind}={example}"),
        ExportError::NeedlessPlace { kind } => format!("{kind} 不需要目的地，直接写 {kind}"),
        ExportError::Address { kind, text, example } => {
            format!("{kind} 的值 '{text}' 无效：应为带端口的地址，例如 {kind}={example}")
        }
        ExportError::Url { kind, text, example } => {
            format!("{kind} 的值 '{text}' 无效：应为 http 或 https 的 URL，例如 {kind}={example}")
        }
        ExportError::NoDatabase { text } => {
            format!("influx 需要数据库或存储桶：influx={text}/write?db=名称，或 /api/v2/write?org=组织&bucket=名称")
        }
        ExportError::TooLong => format!("导出的文本超过 {EXPORT_BYTES_MAX} 字节"),
        ExportError::Twice { place } => format!("有两个导出都写到 {place}"),
        ExportError::TooMany => format!("一次压测最多 {EXPORTS_MAX} 个导出"),
        ExportError::Begin { kind, place, reason } => {
            let doing = match *kind {
                "prometheus" => Doing::Listen,
                "csv" | "junit" | "github" => Doing::Write,
                _ => Doing::Connect,
            };
            let why = system_fault(reason, doing, ("choose another place", "请换一个位置"), Language::Zh);
            format!("{kind} 无法使用 {place}：{why}")
        }
        ExportError::NoStepSummary => {
            "github 只能在 GitHub Actions 的步骤中使用：未设置环境变量 GITHUB_STEP_SUMMARY".to_owned()
        }
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
