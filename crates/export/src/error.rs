//! Errors of what was typed, and of delivery.

use plan::errors;

use crate::bounds::{EXPORT_BYTES_MAX, EXPORTS_MAX, KINDS};

errors! {
    /// The reason why an export cannot begin.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum ExportError;

    /// No export has this name.
    Kind { kind: String };
        "there is no export '{kind}'; there are: {}" [KINDS.join(", ")],
        "没有名为 '{kind}' 的导出；可用：{}" [KINDS.join("、")];
    /// The destination after the `=` is missing.
    NoPlace { kind: &'static str, example: &'static str };
        "{kind} needs a place: {kind}={example}",
        "{kind} 需要目的地，例如 {kind}={example}";
    /// A destination is given for an export that has none.
    NeedlessPlace { kind: &'static str };
        "{kind} takes no place: write {kind}",
        "{kind} 不需要目的地，直接写 {kind}";
    /// The destination is not an address and port.
    Address { kind: &'static str, text: String, example: &'static str };
        "{kind} needs an address with a port, like {kind}={example}, not '{text}'",
        "{kind} 的值 '{text}' 无效：应为带端口的地址，例如 {kind}={example}";
    /// The destination is not an HTTP URL.
    Url { kind: &'static str, text: String, example: &'static str };
        "{kind} needs a URL of http or https, like {kind}={example}, not '{text}'",
        "{kind} 的值 '{text}' 无效：应为 http 或 https 的 URL，例如 {kind}={example}";
    /// The URL names no database or bucket for InfluxDB to write into.
    NoDatabase { text: String };
        "influx needs a database or a bucket: influx={text}/write?db=NAME, or /api/v2/write?org=ORG&bucket=NAME",
        "influx 需要数据库或存储桶：influx={text}/write?db=名称，或 /api/v2/write?org=组织&bucket=名称";
    /// The text is longer than any destination.
    TooLong;
        "the export is longer than {} bytes" [EXPORT_BYTES_MAX],
        "导出的文本超过 {EXPORT_BYTES_MAX} 字节";
    /// Two exports have one destination.
    Twice { place: String };
        "two exports would go to {place}",
        "有两个导出都写到 {place}";
    /// More exports than one run may have.
    TooMany;
        "one run has at most {} exports" [EXPORTS_MAX],
        "一次压测最多 {EXPORTS_MAX} 个导出";
    /// A file or an address could not be opened before the load.
    Begin { kind: &'static str, place: String, reason: String };
        "{kind} cannot begin at {place}: {reason}",
        "{kind} 无法使用 {place}：{reason}";
    /// The summary file of the GitHub Actions step is unknown.
    NoStepSummary;
        "github needs the environment of a GitHub Actions step: GITHUB_STEP_SUMMARY is not set",
        "github 只能在 GitHub Actions 的步骤中使用：未设置环境变量 GITHUB_STEP_SUMMARY";
}

/// The reason why something was not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryFault {
    /// No complete response in time.
    TimedOut,
    /// The server could not be reached, or the connection broke.
    Unreachable(String),
    /// The server responded with this HTTP status and this text.
    Status(u16, String),
    /// The server accepted the message, but rejected this number of points, with this text.
    Rejected(u64, String),
    /// A file could not be written.
    File(String),
    /// No scraper has read the final figures.
    NotRead,
    /// The queue was full.
    Full,
}
