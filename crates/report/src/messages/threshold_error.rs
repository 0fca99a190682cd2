//! Errors of thresholds, in both languages: the error and its position.

use metrics::{OwnKind, SERIES_MAX, STATUS_WORD_BYTES_MAX, THRESHOLD_BYTES_MAX, ThresholdError, ThresholdFault};
use unicode_width::UnicodeWidthStr;

use crate::Language;

/// Three lines: the error, the text, and a mark below the position.
pub fn threshold_error(error: &ThresholdError, language: Language) -> String {
    let fault = threshold_fault(error.fault, language);
    // The error may be a number with a character after it.
    let behind = error.text.chars().skip(error.column).find(|each| !each.is_ascii_alphanumeric());
    let wide = behind.and_then(|each| super::wide::wide(each, language)).unwrap_or_default();
    let before: String = error.text.chars().take(error.column).collect();
    // A Chinese character is two columns wide.
    format!("--threshold: {fault}{wide}\n  {}\n  {}^", error.text, " ".repeat(before.width()))
}

/// The error in one line.
pub fn threshold_fault(fault: ThresholdFault, language: Language) -> String {
    match language {
        Language::En => fault.to_string(),
        Language::Zh => in_chinese(fault),
    }
}

pub(super) fn in_chinese(fault: ThresholdFault) -> String {
    match fault {
        ThresholdFault::Figure => "没有这个指标；可用：min、mean、stdev、max、p50、p99.9 加 (response_time)、(service_time)、(wait)、(lateness)、(first_byte)、(connect)、(tls_handshake)、(message) 或 (message_gap)；started、done、succeeded、failed、timed_out、retried、failed_for_good、missed_deadline、in_deadline、dropped、unfinished、responses、reconnects、status(N)、status(词)、grpc_status(名称)、messages_sent、messages_received；数据报的 resent、late_responses、duplicate_responses、unmatched_datagrams、refused_datagrams、cut_datagrams、kernel_drops、over_stream；rate；以及文件中自定义指标的 sum、share、least、greatest、last".to_owned(),
        ThresholdFault::Percentile => "百分位必须大于 0 且不超过 100".to_owned(),
        ThresholdFault::Measure => {
            "没有这个时间指标；可用：response_time、service_time、wait、lateness、first_byte、connect、tls_handshake、message、message_gap".to_owned()
        }
        ThresholdFault::Counter => "这里缺少计数，如 failed 或 done".to_owned(),
        ThresholdFault::Parenthesis => "这里缺少括号".to_owned(),
        ThresholdFault::Comparison => "这里缺少比较符：<、<=、> 或 >=，例如 p99 < 200ms".to_owned(),
        ThresholdFault::Number => "这里缺少数字，或数字超出范围".to_owned(),
        ThresholdFault::Status => {
            format!("这里需要状态码，如 503，或最多 {STATUS_WORD_BYTES_MAX} 个字母、数字、- 和 _ 组成的状态词")
        }
        ThresholdFault::GrpcStatus => "这里缺少 gRPC 状态，如 UNAVAILABLE 或 14".to_owned(),
        ThresholdFault::TimeUnit => "时间需要单位：us、ms 或 s".to_owned(),
        ThresholdFault::RatioUnit => "比例写成小数或百分数，如 0.001 或 0.1%".to_owned(),
        ThresholdFault::RateUnit => "速率是每秒或每分钟的数量，如 4900/s 或 300/m".to_owned(),
        ThresholdFault::Share(counter) => {
            format!("计数不是比例；请写 {counter} / done，例如：{counter} / done < 1%")
        }
        ThresholdFault::OnePercent => "是 1% 还是全部（1.0）？请写 1%，或写 100% 表示全部".to_owned(),
        ThresholdFault::AboveAll => "比例最多为 100%；百分数要带 %，如 5%".to_owned(),
        ThresholdFault::AlwaysMet => "任何结果都满足此条件；请写一个可能达不到的限值".to_owned(),
        ThresholdFault::NeverMet => "任何结果都不可能满足此条件；请写一个可能达到的限值".to_owned(),
        ThresholdFault::TwoParts => {
            "一个阈值只针对一个步骤、事务、场景或地址；比例的两边要写同一个名称：failed(buy) / done(buy)".to_owned()
        }
        ThresholdFault::NotOfPart => "这个指标只有整次压测或整个场景才有；单个步骤可用 p99(response_time, 名称) 一类的时间（事务只有 response_time）、started(名称)、done、succeeded、failed、timed_out、retried、failed_for_good、unfinished、missed_deadline、in_deadline、它们相除的比例，以及 rate(done, 名称)".to_owned(),
        ThresholdFault::NotOfCheck => "检查只有计数，没有时间；可用 done(名称)、succeeded(名称)、failed(名称)、它们相除的比例，以及 rate(done, 名称)".to_owned(),
        ThresholdFault::NoDeadline => {
            "没有任何步骤设置了 deadline；请使用 --deadline，或在场景文件的步骤或事务中写 deadline".to_owned()
        }
        ThresholdFault::RateOfPart => {
            "这里应先写计数，再写名称：rate(done, 名称)，例如 rate(done, search) > 100/s".to_owned()
        }
        ThresholdFault::CountOfPart => "没有 count 这个指标；请写 done(名称)，例如 done(orders) == 500".to_owned(),
        ThresholdFault::NotACount => {
            "== 和 != 只用于计数，例如 failed(名称) == 0；时间、比例和速率请用 <、<=、> 或 >= 比较".to_owned()
        }
        ThresholdFault::NoSeries => format!(
            "该步骤或事务与其他的合并统计：一次压测中单独统计的步骤和事务各有 {} 个；请改用场景的名称，或把步骤放进事务，或把它写到前面",
            SERIES_MAX - 1
        ),
        ThresholdFault::NoOwnFigure => "文件中没有这个自定义指标；请在文件开头定义，如 figures: {orders: counter}，并用 record 记录它的值".to_owned(),
        ThresholdFault::NotOfFigure(kind) => {
            let statistics = kind.statistics().replace("NAME", "名称").replace(", ", "、");
            format!("这个指标的类型是{}，可用：{statistics}；请改用其中之一，或换一种类型", kind_of_figure(kind))
        }
        ThresholdFault::FigureOfPart => "自定义指标只按整次压测和场景统计；请去掉名称，或改写场景的名称".to_owned(),
        ThresholdFault::OwnUnit => "自定义指标只与数字比较，数字的单位就是该指标的单位；请去掉单位".to_owned(),
        ThresholdFault::Address => "这里需要地址和端口，如 10.0.0.4:8080 或 [2001:db8::4]:8080".to_owned(),
        ThresholdFault::NotOfAddress => "按地址统计时不区分步骤，可用：response_time 的 min、mean、max 和百分位；done、succeeded、failed、responses；以及它们占 done 或 responses 的比例".to_owned(),
        ThresholdFault::AbortByAddress => "按地址的阈值在结束时才判定；请去掉 abort".to_owned(),
        ThresholdFault::CountUnit => "计数没有单位".to_owned(),
        ThresholdFault::Rest => "后面只能写 ', abort' 或 ', abort 10s'".to_owned(),
        ThresholdFault::Delay => "这里需要 10s 这样的时间".to_owned(),
        ThresholdFault::TooLong => format!("超过 {THRESHOLD_BYTES_MAX} 字节"),
    }
}

/// The Chinese word for a kind of figures, with its key.
pub(crate) fn kind_of_figure(kind: OwnKind) -> &'static str {
    match kind {
        OwnKind::Counter => "计数（counter）",
        OwnKind::Trend => "分布（trend）",
        OwnKind::Share => "占比（share）",
        OwnKind::Gauge => "瞬时值（gauge）",
    }
}
