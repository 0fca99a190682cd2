//! Messages about other tools, in both languages.

use plan::{Settings, Tool, ToolFault, ToolRun};

use crate::{Language, plan_error};

/// An error on the command line of a tool.
pub fn tool_fault(tool: Tool, fault: &ToolFault, language: Language) -> String {
    let name = tool.name();
    if let ToolFault::Plan(error) = fault {
        return format!("as {name}: {}", plan_error(error, language));
    }
    if language == Language::En {
        return format!("as {name}: {fault}");
    }
    let text = match fault {
        ToolFault::Unknown { flag } => format!("没有参数 {flag}；请去掉，或查看 docs/come-as-you-are.zh.md"),
        ToolFault::NoValue { flag } => format!("参数 {flag} 后面需要一个值；请补上"),
        ToolFault::Value { flag, value, wanted } => {
            let wanted = match *wanted {
                "a whole number" => "整数",
                "a number" => "数字",
                "more than nothing" => "大于零的值",
                "true or false" => "true 或 false",
                "a number like 100, 1k or 1M" => "数字，如 100、1k 或 1M",
                "a time like 10, 10s, 2m or 1h" => "时间，如 10、10s、2m 或 1h",
                "a time like 10s, 1m30s or 300ms" => "时间，如 10s、1m30s 或 300ms",
                "a time like 10s, 1m 30s or 500ms" => "时间，如 10s、1m 30s 或 500ms",
                "a number like 200, 10k or 1.5m" => "数字，如 200、10k 或 1.5m",
                "at least as many connections as -t threads" => "不少于 -t 线程数的连接数",
                "csv, or nothing for a summary" => "csv，或不写（输出汇总）",
                "a header like 'Name: value'" => "'Name: value' 形式的请求头",
                other => other,
            };
            format!("参数 {flag} 的值 '{value}' 无效：应为{wanted}")
        }
        ToolFault::Unsupported { flag } => {
            format!("{flag} 在这里没有对应的功能；请去掉，替代办法见 docs/come-as-you-are.zh.md")
        }
        ToolFault::Url => "需要一个 URL，如 http://127.0.0.1:8080/；参数写法见该工具自己的帮助".to_owned(),
        ToolFault::FewerRequests { requests, users } => {
            format!("-n {requests} 少于 -c {users}；请增大前者或减小后者")
        }
        ToolFault::Missing { flag } => format!("缺少参数 {flag}；请补上"),
        ToolFault::Conflict { one, other } => format!("{one} 与 {other} 不能同时使用；请去掉其中一个"),
        ToolFault::Plan(_) => String::new(),
    };
    format!("as {name}：{text}")
}

/// A note on the figures that differ from those of the tool, because those mislead.
pub fn tool_note(run: &ToolRun, language: Language) -> String {
    let (en, zh) = match &run.settings {
        Settings::Wrk(settings) if settings.is_wrk2 => (
            "all connections of -c are opened, a timeout is counted when it is due, and latencies cover the whole run",
            "-c 的连接全部建立；超时在到期时即计入；延迟统计覆盖整个过程",
        ),
        Settings::Wrk(_) => (
            "all connections of -c are opened; a timeout is counted when it is due, not when a late answer comes",
            "-c 的连接全部建立；超时在到期时即计入，而不是等到迟到的响应才计",
        ),
        Settings::Ab(_) => (
            "an answer ends where its length says, not with the connection; Connect is the wait before sending",
            "响应按其长度结束，而不是等连接关闭；Connect 为发送前的等待时间",
        ),
        Settings::Hey(_) => (
            "latency counts from the planned start (-q too), and all requests are in it; req write is not measured",
            "延迟从计划发起的时刻算起（-q 时亦然），覆盖全部请求；req write 不测量",
        ),
        Settings::Oha(_) => (
            "latency counts from the planned start also without --latency-correction; any status is a success here, as there",
            "即使没有 --latency-correction，延迟也从计划发起的时刻算起；与原工具一样，任何状态码都算成功",
        ),
        Settings::Webbench(_) => (
            "speed is reckoned with the measured time; what is in flight at the end counts neither way",
            "速度按实测时间计算；结束时仍在途的请求不计入成功或失败",
        ),
        Settings::GoStress(settings) if settings.form == "webSocket" => (
            "qps is successes / elapsed time, tp has its decimals; connections close at the end, to hold them: onrush hold -c N URL",
            "qps = 成功数 / 实际耗时，tp 保留小数；结束后关闭连接，如需保持请用 onrush hold -c N URL",
        ),
        Settings::GoStress(_) => (
            "qps is successes / elapsed time, times last until the whole answer is there, and tp has its decimals",
            "qps = 成功数 / 实际耗时；耗时计到完整响应；tp 保留小数",
        ),
    };
    let name = run.tool.name();
    language.pick(format!("onrush as {name}: {en}"), format!("onrush as {name}：{zh}"))
}
