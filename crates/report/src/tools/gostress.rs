//! go-stress-testing.

use std::fmt::Write;

use metrics::{Class, Failure, Outcome};
use plan::GoStressSettings;

use super::{Pages, hey};
use figures::{FailureCount, Interval, Run, Spread, Tally};

/// The code of a request without a response.
const UNANSWERED: u64 = 509;
/// The code of an invalid response.
const UNREADABLE: u64 = 510;

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A span in Go's notation for whole seconds.
fn go_span(seconds: u64) -> String {
    match (seconds / 3_600, seconds % 3_600 / 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

pub(super) fn begin(settings: &GoStressSettings) -> Pages {
    let mut text = String::new();
    let headers = settings.headers.iter().map(|(name, value)| {
        let value = if plan::is_secret_field(name) { "***" } else { value };
        format!("{name}:{}", plan::masked(value))
    });
    let headers = headers.collect::<Vec<_>>().join(" ");
    let GoStressSettings { users, requests, form, url, method, data, verify, debug, http2, keep_alive, .. } = settings;
    let (url, data) = (plan::masked_url(url), plan::masked(data));
    let _ = write!(
        text,
        "\n 开始启动  并发数:{users} 请求数:{requests} 请求参数: \nrequest:\n form:{form} \n url:{url} \n"
    );
    let _ = write!(text, " method:{method} \n headers:map[{headers}] \n data:{data} \n verify:{verify} \n");
    let _ = write!(text, " timeout:{} \n debug:{debug} \n http2.0：{http2} \n", go_span(settings.timeout_s));
    let _ = write!(text, " keepalive：{keep_alive} \n maxCon:{} \n", settings.max_connections);
    let line = |sign: &str| {
        let groups = [5, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8].map(|count| "─".repeat(count));
        groups.join(sign)
    };
    let _ = write!(text, "\n\n{}\n", line("┬"));
    text.push_str(" 耗时│ 并发数│ 成功数│ 失败数│   qps  │最长耗时│最短耗时│平均耗时│下载字节│字节每秒│ 状态码\n");
    let _ = writeln!(text, "{}", line("┼"));
    Pages { stdout: text, ..Pages::default() }
}

/// The codes with their counts, in the order of their texts.
fn codes(settings: &GoStressSettings, counts: &Tally) -> String {
    let mut all: Vec<(u64, u64)> = Vec::new();
    let mut add = |code: u64, count: u64| match all.iter_mut().find(|(known, _)| *known == code) {
        Some((_, known)) => *known += count,
        None if count > 0 => all.push((code, count)),
        None => {}
    };
    let mut unreadable = 0;
    for &FailureCount { failure, count, .. } in &counts.failures {
        match failure {
            Failure::Status | Failure::CallHttp(_) => {}
            Failure::Check | Failure::BodyLimit => unreadable += count,
            _ => add(UNANSWERED, count),
        }
    }
    add(UNREADABLE, unreadable);
    let is_judged_by_status = settings.form == "http" && settings.verify != "json";
    if is_judged_by_status {
        for (status, count) in super::last_statuses(counts) {
            add(u64::from(status), count);
        }
    } else {
        let code = if settings.form == "http" { settings.code } else { 200 };
        add(code, counts.succeeded().saturating_sub(counts.redirects()));
        for (status, count) in counts.statuses.iter().copied().filter(|(status, _)| *status >= 400) {
            add(u64::from(status), count);
        }
    }
    let mut texts: Vec<String> = all.into_iter().map(|(code, count)| format!("{code}:{count}")).collect();
    texts.sort();
    texts.join(";")
}

pub(super) fn row(settings: &GoStressSettings, interval: &Interval) -> String {
    let (counts, elapsed_s) = (&interval.total, interval.to.as_secs_f64());
    let good = counts.succeeded().saturating_sub(counts.redirects());
    let failed = counts.failed;
    let Spread { min_ns, max_ns, .. } = interval.whole;
    let ms = |ns: f64| ns / 1e6;
    let users = settings.users.min(good + failed);
    let per_s = if elapsed_s > 0.0 { good as f64 / elapsed_s } else { 0.0 };
    let (most, least) = (max_ns.unwrap_or(0) as f64, min_ns.unwrap_or(0) as f64);
    let mean = interval.whole.mean_ns().unwrap_or(0.0);
    let bytes = if settings.form == "http" { counts.body_bytes() } else { 0 };
    let (bytes, bytes_per_s) = match bytes {
        0 => (String::new(), String::new()),
        bytes => (grouped(bytes), grouped((bytes as f64 / elapsed_s.max(1e-9)) as u64)),
    };
    format!(
        "{elapsed_s:>4.0}s│{users:>7}│{good:>7}│{failed:>7}│{per_s:>8.2}│{:>8.2}│{:>8.2}│{:>8.2}│{bytes:>8}│{bytes_per_s:>8}│{}\n",
        ms(most),
        ms(least),
        ms(mean),
        codes(settings, counts)
    )
}

pub(super) fn finish(settings: &GoStressSettings, run: &Run) -> Pages {
    let counts = &run.tally;
    let seconds = run.wall.as_secs_f64();
    let (good, failed) = (counts.succeeded().saturating_sub(counts.redirects()), counts.failed);
    let mut pages = Pages::default();
    let is_unanswered =
        |each: &&FailureCount| Class::from_outcome(Outcome::Failed(each.failure)) != Class::FailedAnswered;
    for &FailureCount { failure, count, .. } in counts.failures.iter().filter(is_unanswered) {
        let method = if settings.method == "POST" { "Post" } else { "Get" };
        let _ = writeln!(
            pages.stderr,
            "请求失败: {method} \"{}\": {} (x{count})",
            plan::masked_url(&settings.url),
            hey::go_error(failure, run)
        );
    }
    let text = &mut pages.stdout;
    text.push_str("\n\n*************************  结果 stat  ****************************\n");
    let _ = writeln!(text, "处理协程数量: {}", settings.users);
    let _ = writeln!(
        text,
        "请求总数（并发数*请求数 -c * -n）: {} 总请求时间: {seconds:.3} 秒 successNum: {good} failureNum: {failed}",
        good + failed
    );
    let response = super::whole(run, &run.recorded.every);
    for (name, quantile) in [("tp90", 0.9), ("tp95", 0.95), ("tp99", 0.99)] {
        if let Some(ns) = response.quantile(quantile) {
            let _ = writeln!(text, "{name}: {:.3}", ns as f64 / 1e6);
        }
    }
    text.push_str("*************************  结果 end   ****************************\n\n\n");
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_it_writes_them() {
        assert_eq!([0, 999, 1_000, 2_700_000].map(grouped), ["0", "999", "1,000", "2,700,000"]);
        assert_eq!([30, 90, 3_600].map(go_span), ["30s", "1m30s", "1h0m0s"]);
    }
}
