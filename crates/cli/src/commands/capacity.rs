//! `onrush capacity`: capacity estimates without a load.

use std::path::Path;
use std::time::Duration;

use plan::{PlanError, RATE_MAX, RATE_UNIT, parse_bytes, parse_duration, parse_rate};
use report::{Doing, Language};
use search::capacity::{CONNECTION_BYTES, CapacityInput, LOAD, compute};
use serde_json::Value;

use crate::exit::Exit;
use crate::options::args::CapacityArgs;
use crate::options::usage;
use crate::output;

/// The report in the folder of a search.
const REPORT: &str = "find-max.json";
/// The most bytes of a report.
const REPORT_BYTES_MAX: u64 = 64 << 20;
/// The highest number of people, requests or connections.
const NUMBER_MAX: f64 = 1e15;

/// Runs `onrush capacity`.
pub(crate) fn capacity(args: &CapacityArgs) -> Exit {
    let language = usage::language();
    let given = match given(args, language) {
        Ok(given) => given,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage;
        }
    };
    match compute(&given) {
        Ok(lines) if args.is_json => output::to_stdout(&report::capacity_json(&lines), language),
        Ok(lines) => {
            let screen = output::screen(language, false, false);
            output::to_stdout(&report::capacity_text(&lines, screen), language)
        }
        Err(error) => {
            output::complain(&report::capacity_error(&error, language));
            Exit::Usage
        }
    }
}

fn given(args: &CapacityArgs, language: Language) -> Result<CapacityInput, String> {
    let wrong = |error: PlanError| report::plan_error(&error, language);
    let number =
        |flag: &str, text: &Option<String>| text.as_deref().map(|text| number(flag, text, language)).transpose();
    let time = |flag: &'static str, text: &Option<String>| -> Result<Option<f64>, String> {
        let span = text.as_deref().map(|text| parse_duration(flag, text)).transpose().map_err(wrong)?;
        Ok(span.map(|span| span.as_secs_f64()))
    };
    let size = |flag: &'static str, text: &Option<String>| -> Result<Option<f64>, String> {
        let bytes = text.as_deref().map(|text| parse_bytes(flag, text)).transpose().map_err(wrong)?;
        Ok(bytes.map(|bytes| bytes as f64))
    };
    let of = args.of_a_day.as_deref().map(|text| parse_duration("--period", text)).transpose().map_err(wrong)?;
    let of = of.unwrap_or(Duration::from_secs(86_400));
    if of.is_zero() {
        return Err(language.pick("--period is no time at all; like 24h", "--period 不能为 0，例如 24h").to_owned());
    }
    let compute_s = time("--cpu-time", &args.compute)?;
    if compute_s == Some(0.0) {
        return Err(language
            .pick("--cpu-time is no time at all; like 10ms", "--cpu-time 不能为 0，例如 10ms")
            .to_owned());
    }
    let per_machine = per_machine(args, language)?;
    let ports = number("--ports", &args.ports)?;
    check_surplus(args, language)?;
    Ok(CapacityInput {
        page_views: number("--page-views", &args.page_views)?,
        per_view: number("--requests-per-view", &args.per_view)?.unwrap_or(1.0),
        share: args.share.as_deref().map_or(Ok((0.8, 0.2)), |text| shares(text, language))?,
        of,
        rate: rate("--rate", args.rate.as_deref(), language)?,
        per_machine,
        load: args.load.as_deref().map_or(Ok(LOAD), |text| share("--max-utilization", text, language))?,
        users: number("--users", &args.users)?,
        response_s: time("--response", &args.response)?,
        think_s: time("--think", &args.think)?,
        cores: number("--cores", &args.cores)?,
        wait_s: time("--wait-time", &args.wait)?,
        compute_s,
        response_bytes: size("--response-bytes", &args.response_bytes)?,
        connections: number("--connections", &args.connections)?,
        connection_bytes: size("--connection-bytes", &args.connection_bytes)?.unwrap_or(CONNECTION_BYTES),
        ports: ports.or_else(|| host::local_port_range().map(|(first, last)| f64::from(last - first) + 1.0)),
    })
}

/// The capacity of one machine, as given or as found by a search.
fn per_machine(args: &CapacityArgs, language: Language) -> Result<Option<f64>, String> {
    match (rate("--per-machine", args.per_machine.as_deref(), language)?, args.from.as_deref()) {
        (Some(_), Some(_)) => Err(language
            .pick(
                "--per-machine and --from say the same; give one of them",
                "--per-machine 与 --from 含义相同；请只给一个",
            )
            .to_owned()),
        (Some(rate), None) => Ok(Some(rate)),
        (None, Some(path)) => found(path, language).map(Some),
        (None, None) => Ok(None),
    }
}

/// Refuses figures of which one follows from the others.
fn check_surplus(args: &CapacityArgs, language: Language) -> Result<(), String> {
    if args.page_views.is_some() && args.rate.is_some() {
        return Err(language
            .pick(
                "--page-views and --rate both give the peak; give one of them",
                "--page-views 与 --rate 都给出峰值；请只给一个",
            )
            .to_owned());
    }
    let all = [&args.users, &args.response, &args.think];
    if all.iter().all(|one| one.is_some()) && (args.rate.is_some() || args.page_views.is_some()) {
        return Err(language
            .pick(
                "a rate, --users, --response and --think are one too many: each follows from the others; leave one out",
                "速率、--users、--response、--think 多了一项：每一项都可由其他三项得出；请去掉一项",
            )
            .to_owned());
    }
    Ok(())
}

/// A rate in requests per second.
fn rate(flag: &'static str, text: Option<&str>, language: Language) -> Result<Option<f64>, String> {
    let rate = text.map(|text| parse_rate(flag, text)).transpose();
    let rate = rate.map_err(|error| report::plan_error(&error, language))?;
    Ok(rate.map(|rate| rate as f64 / RATE_UNIT as f64))
}

/// A number above zero, like `30M`, `2.5k`, `1000`.
fn number(flag: &str, text: &str, language: Language) -> Result<f64, String> {
    let trimmed = text.trim().replace([',', '_'], "");
    let (digits, unit) = match trimmed.char_indices().last() {
        Some((at, 'k' | 'K')) => (&trimmed[..at], 1e3),
        Some((at, 'M' | 'm')) => (&trimmed[..at], 1e6),
        Some((at, 'G' | 'g' | 'B' | 'b')) => (&trimmed[..at], 1e9),
        Some((at, '万')) => (&trimmed[..at], 1e4),
        Some((at, '亿')) => (&trimmed[..at], 1e8),
        _ => (trimmed.as_str(), 1.0),
    };
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = digits.parse::<f64>().ok().filter(|_| is_plain).map(|value| value * unit);
    value.filter(|value| *value > 0.0 && *value <= NUMBER_MAX).ok_or_else(|| {
        language.pick(
            format!("{flag} wants a number above 0, like 30M, 2500 or 1.5k, not '{text}'"),
            format!("{flag} 的值 '{text}' 无效：应为大于 0 的数，如 30M、3000万、2500、1.5k"),
        )
    })
}

/// A share like `80%` or `0.8`: above zero, and at most 1.
fn share(flag: &str, text: &str, language: Language) -> Result<f64, String> {
    let trimmed = text.trim();
    let (digits, of) = trimmed.strip_suffix('%').map_or((trimmed, 1.0), |digits| (digits, 100.0));
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = digits.parse::<f64>().ok().filter(|_| is_plain).map(|value| value / of);
    value.filter(|value| *value > 0.0 && *value <= 1.0).ok_or_else(|| {
        language.pick(
            format!("{flag} wants a share like 75% or 0.75, not '{text}'"),
            format!("{flag} 的值 '{text}' 无效：应为比例，如 75% 或 0.75"),
        )
    })
}

/// A pair of shares, like `80%:20%`.
fn shares(text: &str, language: Language) -> Result<(f64, f64), String> {
    let (views, time) = text.split_once([':', '：']).ok_or_else(|| {
        language.pick(
            format!("--peak wants two shares like 80%:20% (of the views, of the time), not '{text}'"),
            format!("--peak 的值 '{text}' 无效：应为两个比例，如 80%:20%（浏览量:时间）"),
        )
    })?;
    Ok((share("--peak", views, language)?, share("--peak", time, language)?))
}

/// The capacity of one machine, from a search: its lower bound, which was sustained.
fn found(path: &str, language: Language) -> Result<f64, String> {
    let file = if Path::new(path).is_dir() { Path::new(path).join(REPORT) } else { path.into() };
    // A pipe or a device may never end.
    let text = match std::fs::metadata(&file) {
        Ok(known) if !known.is_file() || known.len() > REPORT_BYTES_MAX => String::new(),
        _ => std::fs::read_to_string(&file).map_err(|error| {
            let otherwise =
                ("name the JSON report of a find-max, or its folder", "请指定 find-max 的 JSON 报告或其目录");
            let why = report::system_fault(&error.to_string(), Doing::Read, otherwise, language);
            let file = file.display();
            language.pick(format!("--from: cannot read '{file}': {why}"), format!("--from：无法读取 '{file}'：{why}"))
        })?,
    };
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    if value["kind"] != "find-max" || value["schema"] != 1 {
        return Err(language.pick(
            format!(
                "--from: '{}' is no JSON report of a find-max; make one with: onrush find-max --json FILE URL",
                file.display()
            ),
            format!(
                "--from：'{}' 不是 find-max 的 JSON 报告；可这样生成：onrush find-max --json FILE URL",
                file.display()
            ),
        ));
    }
    if value["unit"] == "iterations_per_s" {
        return Err(language
            .pick(
                "--from: that search is of iterations, each of several requests; give --per-machine in requests per second",
                "--from：该搜索以迭代计，每次迭代有多个请求；请用 --per-machine 给出每秒请求数",
            )
            .to_owned());
    }
    if value["is_confirmed"] == false {
        output::note(language.pick(
            "onrush: the rate of --from was not held for long; a longer find-max would confirm it",
            "onrush: --from 的速率没有经过长时间确认；用更长的 find-max 可以确认",
        ));
    }
    value["lower_per_s"].as_f64().filter(|rate| *rate > 0.0 && *rate <= RATE_MAX as f64).ok_or_else(|| {
        language
            .pick(
                "--from: that search held no rate; it was of users or connections, or found no lower bound",
                "--from：该搜索没有得到可承受的速率：它针对用户数或连接数，或没有找到下界",
            )
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        for (text, value) in
            [("30M", 30e6), ("1,000", 1_000.0), ("2.5k", 2_500.0), ("3000万", 30e6), ("1亿", 1e8), ("7", 7.0)]
        {
            assert_eq!(number("--users", text, Language::En), Ok(value), "{text}");
        }
        for text in ["", "k", "-1", "0", "x", "1e5", "nan", "inf", "1.2.3", "99999999999999999999"] {
            assert!(number("--users", text, Language::Zh).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_are_read() {
        assert_eq!(shares("80%:20%", Language::En), Ok((0.8, 0.2)));
        assert_eq!(shares("0.5:0.25", Language::En), Ok((0.5, 0.25)));
        for text in ["80%", "80%:0", "120%:20%", ":", "a:b", "-1:1"] {
            assert!(shares(text, Language::Zh).is_err(), "{text}");
        }
    }
}
