//! A threshold that is none, in both languages: the mistake and its place.

use metrics::{THRESHOLD_BYTES_MAX, ThresholdError, ThresholdFault};
use unicode_width::UnicodeWidthStr;

use crate::Language;

/// Three lines: what is wrong, the text, and a mark below the place.
pub fn threshold_error(error: &ThresholdError, language: Language) -> String {
    let fault = match language {
        Language::En => error.fault.to_string(),
        Language::Zh => in_chinese(error.fault),
    };
    let before: String = error.text.chars().take(error.column).collect();
    // A Chinese character is two columns wide.
    format!("--threshold: {fault}\n  {}\n  {}^", error.text, " ".repeat(before.width()))
}

pub(super) fn in_chinese(fault: ThresholdFault) -> String {
    match fault {
        ThresholdFault::Figure => "没有这个指标；可用：min、mean、stdev、max、p50、p99.9 加 (response_time)、(service_time)、(wait)、(lateness)、(first_byte)、(connect)、(tls_handshake)、(message) 或 (message_gap)；started、done、succeeded、failed、timed_out、dropped、unfinished、answers、reconnects、status(N)、grpc_status(名称)、messages_sent、messages_received；以及 rate".to_owned(),
        ThresholdFault::Percentile => "百分位必须大于 0 且不超过 100".to_owned(),
        ThresholdFault::Measure => {
            "没有这个时间；可用：response_time、service_time、wait、lateness、first_byte、connect、tls_handshake、message、message_gap".to_owned()
        }
        ThresholdFault::Counter => "这里缺少计数，如 failed 或 done".to_owned(),
        ThresholdFault::Parenthesis => "这里缺少括号".to_owned(),
        ThresholdFault::Comparison => "这里缺少比较符：<、<=、> 或 >=".to_owned(),
        ThresholdFault::Number => "这里缺少数字，或数字超出范围".to_owned(),
        ThresholdFault::GrpcStatus => "这里缺少 gRPC 状态，如 UNAVAILABLE 或 14".to_owned(),
        ThresholdFault::TimeUnit => "时间需要单位：us、ms 或 s".to_owned(),
        ThresholdFault::RatioUnit => "比例写成小数或百分数，如 0.001 或 0.1%".to_owned(),
        ThresholdFault::RateUnit => "速率是每秒或每分钟的数量，如 4900/s 或 300/m".to_owned(),
        ThresholdFault::Share(counter) => {
            format!("计数不是比例；请写 {counter} / done，例如：{counter} / done < 1%")
        }
        ThresholdFault::CountUnit => "计数没有单位".to_owned(),
        ThresholdFault::Rest => "后面只能写 ', abort' 或 ', abort 10s'".to_owned(),
        ThresholdFault::Delay => "这里需要 10s 这样的时间".to_owned(),
        ThresholdFault::TooLong => format!("超过 {THRESHOLD_BYTES_MAX} 字节"),
    }
}
