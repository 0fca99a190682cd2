//! The views of connections that are held: the table while they are, the summary at the end, the JSON.

#[cfg(test)]
mod tests;
mod verdict;

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

use engine::{HoldInterval, HoldResult, LateThread, MemoryUse};
use metrics::{Censored, Distribution, Failure, Held, HeldCounts, TlsFault};
use plan::{Hold, Work};
use serde_json::{Value, json};

use crate::Language;
use crate::figures::{QUANTILES, per_second};
use crate::format::{Align, bytes, count, pad, rate, red, span, time};
use crate::say::{self, Scene};
use crate::verdict::mark_of_spoiled;
use verdict::verdicts;

/// Grows with every change that a reader could stumble over.
const SCHEMA: u32 = 1;
/// Intervals that are kept: a day of seconds.
const INTERVALS_MAX: usize = 86_400;
const LABEL_WIDTH: usize = 14;
const TIME_WIDTH: usize = 10;
const WIDTHS: [usize; 11] = [7, 11, 11, 9, 8, 9, 10, 10, 8, 8, 15];

/// What was held, and what came of it.
#[derive(Debug)]
pub struct HoldRun<'a> {
    /// What was to be done.
    pub plan: &'a Hold,
    /// The target, resolved.
    pub address: SocketAddr,
    /// How long the lookup of its name took, when there was one.
    pub lookup: Option<Duration>,
    /// What it has come to.
    pub result: &'a HoldResult,
}

/// A limit of open files that servers often have, near the number of connections that were taken.
const COMMON_LIMITS: [u64; 14] =
    [256, 512, 1_024, 2_048, 4_096, 8_192, 10_000, 10_240, 16_384, 20_000, 32_768, 65_536, 100_000, 1_048_576];
/// Descriptors that a server has open beside its connections, at most.
const OTHER_DESCRIPTORS_MAX: u64 = 48;

impl HoldRun<'_> {
    fn seen(&self) -> &HeldCounts {
        &self.result.total.counts
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            address: Some(self.address),
            place: None,
            step: Some(&self.plan.step),
            is_held: true,
            seen: None,
            refused: self.result.refused.as_ref(),
            lacked_certificate: self.result.lacked_certificate,
        }
    }

    /// It came to its end, every connection was established, none was lost, and each message that was due was sent and
    /// answered.
    pub fn is_kept(&self) -> bool {
        let counts = self.seen();
        let has_all = self.result.most_open == self.plan.connections;
        !self.result.was_stopped && has_all && counts.lost_in_all() == 0 && self.owed_by_reason().is_empty()
    }

    /// What was asked a second and what was achieved, of messages whose times are planned.
    pub fn asked_and_achieved(&self) -> Option<(f64, f64)> {
        let Work::Every(_) = self.plan.work else { return None };
        let span = self.result.closing_after.unwrap_or(self.result.wall).as_secs_f64();
        let done = if self.has_answers() { self.seen().answered } else { self.seen().sent };
        Some((per_second(self.seen().due + self.seen().missed, span), per_second(done, span)))
    }

    fn has_answers(&self) -> bool {
        self.plan.step.talk.as_ref().is_none_or(|talk| talk.answer != plan::AnswerEnd::None)
    }

    /// At least 99 of 100 messages that were due have left and were answered.
    pub fn is_rate_kept(&self) -> bool {
        let counts = self.seen();
        let done = if self.has_answers() { counts.answered } else { counts.sent };
        let Work::Every(_) = self.plan.work else { return true };
        (done as f64) >= 0.99 * (counts.due + counts.missed) as f64
    }

    /// The loops of the generator were too late, or had no time left.
    fn is_generator_busy(&self) -> bool {
        let could = self.result.wall.0 as f64 * self.result.threads as f64;
        self.result.is_spoiled() || self.seen().cpu_ns as f64 > 0.85 * could
    }

    /// The target took so many connections and no more, which is near a limit that servers often have.
    pub fn target_limit(&self) -> Option<(u64, u64)> {
        let open = self.result.most_open;
        let waits = |failure: Failure| {
            matches!(
                failure,
                Failure::ConnectTimeout
                    | Failure::Tls(TlsFault::NoAnswer)
                    | Failure::NoFirstAnswer
                    | Failure::Timeout
                    | Failure::ClosedEarly
                    | Failure::Reset
            )
        };
        let refused: u64 = HeldCounts::reasons(&self.seen().failed)
            .iter()
            .filter(|(failure, _)| waits(*failure))
            .map(|(_, count)| count)
            .sum();
        let limit =
            COMMON_LIMITS.iter().copied().find(|limit| (open..=open + OTHER_DESCRIPTORS_MAX).contains(limit))?;
        (refused > 0 && open > 0 && limit < self.plan.connections).then_some((open, limit))
    }
}

/// The table of connections that are held.
#[derive(Clone, Copy, Debug)]
pub struct HoldTable {
    language: Language,
    is_colorful: bool,
}

impl HoldTable {
    /// A table in a language, with colors or without.
    pub fn new(language: Language, is_colorful: bool) -> Self {
        Self { language, is_colorful }
    }

    /// The lines above the first interval.
    pub fn head(&self) -> String {
        let names = self.language.pick(
            [
                "time",
                "established",
                "connecting",
                "opened/s",
                "failed",
                "lost",
                "msg/s",
                "in+out/s",
                "p50",
                "p99",
                "B/conn us+krnl",
            ],
            ["耗时", "已建立", "建立中", "新建/秒", "失败", "断开", "消息/秒", "收发/秒", "p50", "p99", "每连接内存 B"],
        );
        let cells: Vec<String> =
            WIDTHS.iter().zip(names).map(|(width, name)| pad(name, *width, Align::Right)).collect();
        let rule = |joint: &str| WIDTHS.map(|width| "─".repeat(width)).join(joint);
        format!("{}\n{}\n{}\n", rule("┬"), cells.join("│"), rule("┼"))
    }

    /// One interval. Rates and times are those of the interval; the rest is from the start, or as it stands.
    pub fn row(&self, interval: &HoldInterval<'_>) -> String {
        let (seen, total) = (interval.seen, interval.total);
        let seconds = (interval.to - interval.from).as_secs_f64();
        let censored = Censored::of_times(&seen.given_up, &seen.response);
        let shown = |quantile: f64| match censored.percentile(&seen.response, quantile) {
            Some(known) => format!("{}{}", if known.at_least { ">=" } else { "" }, time(known.ns as f64)),
            None => "-".to_owned(),
        };
        let messages = seen.counts.answered + seen.counts.pushed;
        let traffic = seen.counts.bytes_received + seen.counts.bytes_sent;
        let (failed, lost) = (total.counts.failed_in_all(), total.counts.lost_in_all());
        let mut cells = [
            format!("{:.1}s", interval.to.as_secs_f64()),
            count(seen.now.open),
            count(seen.now.connecting),
            rate(per_second(seen.counts.established, seconds)),
            count(failed),
            count(lost),
            rate(per_second(messages, seconds)),
            bytes(per_second(traffic, seconds)),
            shown(0.5),
            shown(0.99),
            each(interval.memory, seen.now.open),
        ];
        for (cell, width) in cells.iter_mut().zip(WIDTHS) {
            *cell = pad(cell, width, Align::Right);
        }
        for (column, number) in [(4, failed), (5, lost)] {
            if self.is_colorful && number > 0 {
                cells[column] = red(&cells[column]);
            }
        }
        format!("{}\n", cells.join("│"))
    }
}

/// Bytes of this process and of the kernel for each connection.
fn each(memory: MemoryUse, open: u64) -> String {
    if open == 0 {
        return "-".to_owned();
    }
    let ours = memory.resident.saturating_sub(memory.resident_before) / open;
    match memory.kernel {
        Some(kernel) => format!("{}+{}", count(ours), count(kernel / open)),
        None => count(ours),
    }
}

/// The whole summary, with a line end.
pub fn hold_summary(run: &HoldRun<'_>, language: Language, is_colorful: bool) -> String {
    let mut page = Page { text: String::from("\n"), language, is_colorful };
    page.facts(run);
    page.messages(run);
    page.times(run);
    page.memory(run);
    page.failures(run);
    page.verdict(run);
    page.text
}

/// What is said when not one connection was established.
pub fn nothing_held(run: &HoldRun<'_>, language: Language) -> String {
    let (tried, address) = (count(run.seen().tried), run.address);
    match HeldCounts::reasons(&run.seen().failed).first() {
        Some((failure, _)) => {
            let (name, remedy) = (say::failure_name(*failure), say::remedy_in(*failure, &run.scene(), language));
            language.pick(
                format!("none of {tried} connections to {address} was established ({name}); {remedy}"),
                format!("{tried} 次连接 {address} 均未成功（{name}）；{remedy}"),
            )
        }
        None => language.pick(
            format!("no connection to {address} was established before the end; give it more time"),
            format!("结束前未能与 {address} 建立连接；请给出更长的时间"),
        ),
    }
}

struct Page {
    text: String,
    language: Language,
    is_colorful: bool,
}

impl Page {
    fn line(&mut self, label: &str, value: &str) {
        let label = pad(label, LABEL_WIDTH, Align::Left);
        writeln!(self.text, "{label}{value}").expect("writing to a string does not fail");
    }

    fn say(&mut self, label: (&str, &str), en: String, zh: String) {
        let value = self.language.pick(en, zh);
        self.line(self.language.pick(label.0, label.1), &value);
    }

    fn facts(&mut self, run: &HoldRun<'_>) {
        let (result, counts, plan) = (run.result, run.seen(), run.plan);
        let (from, to) = result.places;
        let spread = match (from, to) {
            (1, 1) => String::new(),
            _ => self
                .language
                .pick(format!(", from {from} addresses to {to}"), format!("，{from} 个源地址，{to} 个目标")),
        };
        let address = run.address;
        let lookup = run.lookup.map_or(String::new(), |span| format!(", {}", time(span.as_nanos() as f64)));
        self.line(
            self.language.pick("Target", "压测目标"),
            &format!("{} ({address}{lookup}{spread})", plan::masked_url(&plan.target.url)),
        );
        let plan_text = plan_in_words(plan, self.language);
        self.line(self.language.pick("Plan", "压测计划"), &plan_text);
        let (most, asked) = (count(result.most_open), count(plan.connections));
        let (failed, lost) = (count(counts.failed_in_all()), count(counts.lost_in_all()));
        self.say(
            ("Connections", "连接"),
            format!("{most} of {asked} established at one time, {failed} tries failed, {lost} lost"),
            format!("同时建立 {most} / {asked}，失败 {failed} 次，断开 {lost}"),
        );
        if let Some(opened) = result.opened_after {
            let per_s = rate(per_second(result.when_opened.open, opened.as_secs_f64()));
            let opened = time(opened.0 as f64);
            let held = result
                .closing_after
                .map_or(0, |closing| closing.0.saturating_sub(result.opened_after.map_or(0, |opened| opened.0)));
            let (then, end, held) =
                (count(result.when_opened.open), count(result.when_closing.open), time(held as f64));
            self.say(
                ("Held", "保持"),
                format!("opened in {opened} ({per_s}/s); {then} were there then, and {end} after {held} more"),
                format!("{opened} 内全部尝试完毕（{per_s}/秒），当时 {then} 个；又保持 {held} 后 {end} 个"),
            );
        }
        let unheard = match counts.closed_unheard + counts.abandoned {
            0 => String::new(),
            more => {
                let more = count(more);
                self.language
                    .pick(format!(", {more} without an answer of the peer"), format!("，{more} 个未得到对端回应"))
            }
        };
        let retried = match counts.retries {
            0 => String::new(),
            retries => {
                let retries = count(retries);
                self.language.pick(format!("; {retries} were tried again"), format!("；重连 {retries} 次"))
            }
        };
        let closed = count(counts.closed);
        self.say(
            ("Closed", "关闭"),
            format!("{closed} in order{unheard}{retried}"),
            format!("{closed} 个正常关闭{unheard}{retried}"),
        );
    }

    fn messages(&mut self, run: &HoldRun<'_>) {
        let counts = run.seen();
        if counts.due > 0 {
            let (due, sent, answered) = (count(counts.due), count(counts.sent), count(counts.answered));
            let mut rest = String::new();
            for (number, en, zh) in [
                (counts.late, "taken up late by the generator", "因压测机滞后而迟发"),
                (counts.unanswered, "unanswered", "未应答"),
                (counts.unsent, "never sent", "未能发出"),
                (counts.missed, "due on lost connections", "因连接断开未发"),
                (counts.refused, "refused by the check", "未通过检查"),
            ] {
                if number > 0 {
                    write!(rest, ", {} {}", count(number), self.language.pick(en, zh))
                        .expect("writing to a string does not fail");
                }
            }
            self.say(
                ("Messages", "消息"),
                format!("{due} due, {sent} sent, {answered} answered{rest}"),
                format!("应发 {due}，已发 {sent}，已应答 {answered}{rest}"),
            );
        }
        if let Some((asked, achieved)) = run.asked_and_achieved() {
            let (asked, achieved) = (rate(asked), rate(achieved));
            self.say(
                ("Messages/s", "每秒消息"),
                format!("{asked} asked, {achieved} achieved"),
                format!("计划 {asked}，实际 {achieved}"),
            );
        }
        if counts.pushed > 0 {
            let pushed = count(counts.pushed);
            self.say(("Pushed", "推送"), format!("{pushed} came unasked"), format!("收到 {pushed} 条主动推送"));
        }
        let seconds = run.result.wall.as_secs_f64();
        for (label, number) in [(("Received", "下载"), counts.bytes_received), (("Sent", "上传"), counts.bytes_taken())]
        {
            let (all, per_s) = (bytes(number as f64), bytes(per_second(number, seconds)));
            self.say(label, format!("{all} ({per_s}/s)"), format!("{all}（{per_s}/秒）"));
        }
    }

    fn times(&mut self, run: &HoldRun<'_>) {
        let total = &run.result.total;
        let names = self.language.pick(["min", "mean"], ["最短", "平均"]);
        let heads =
            names.into_iter().chain(QUANTILES.iter().map(|(name, _)| *name)).chain([self.language.pick("max", "最长")]);
        let heads: String = heads.map(|name| pad(name, TIME_WIDTH, Align::Right)).collect();
        self.line("", &heads);
        for (label, times, is_answer) in series(total) {
            if times.count() == 0 {
                continue;
            }
            let censored = if is_answer { Censored::of_times(&total.given_up, times) } else { Censored::default() };
            let mut cells = vec![times.min().map_or(0.0, |ns| ns as f64), times.mean().unwrap_or(0.0)]
                .into_iter()
                .map(time)
                .collect::<Vec<String>>();
            for quantile in QUANTILES.iter().map(|(_, quantile)| *quantile).chain([1.0]) {
                cells.push(match censored.percentile(times, quantile) {
                    Some(known) => format!("{}{}", if known.at_least { ">=" } else { "" }, time(known.ns as f64)),
                    None => "-".to_owned(),
                });
            }
            let cells: String = cells.iter().map(|cell| pad(cell, TIME_WIDTH, Align::Right)).collect();
            self.line(self.language.pick(label.0, label.1), &cells);
        }
    }

    fn memory(&mut self, run: &HoldRun<'_>) {
        let (memory, open) = (run.result.memory, run.result.most_open.max(1));
        let ours = memory.resident.saturating_sub(memory.resident_before);
        let (resident, own) = (bytes(memory.resident as f64), count(ours / open));
        self.say(
            ("Memory", "内存"),
            format!("this process {resident}, {own} bytes a connection"),
            format!("本进程 {resident}，每连接 {own} 字节"),
        );
        if let Some(kernel) = memory.kernel {
            let (all, one) = (bytes(kernel as f64), count(kernel / open));
            self.say(
                ("", ""),
                format!("kernel {all} more than before, {one} bytes a connection (of both ends, if both are here)"),
                format!("内核比之前多 {all}，每连接 {one} 字节（两端都在本机时为两端之和）"),
            );
        }
        let result = run.result;
        let cpu = time((run.seen().cpu_ns) as f64);
        let (threads, driver) = (result.threads, result.driver.kind.name());
        let reason = say::driver_reason(&result.driver, self.language);
        let lag = result.total.lag.quantile(0.99).map_or("-".to_owned(), |ns| time(ns as f64));
        self.say(
            ("Generator", "压测机"),
            format!("{threads} threads on {driver} ({reason}), CPU {cpu}, loop late by {lag} at p99"),
            format!("{threads} 个线程，{driver}（{reason}），CPU {cpu}，循环滞后 p99 {lag}"),
        );
    }

    fn failures(&mut self, run: &HoldRun<'_>) {
        let counts = run.seen();
        for (label, of) in [(("Failed", "失败原因"), &counts.failed), (("Lost", "断开原因"), &counts.lost)] {
            for (place, (failure, number)) in HeldCounts::reasons(of).into_iter().enumerate() {
                let label = if place == 0 { self.language.pick(label.0, label.1) } else { "" };
                let (name, remedy) = (say::failure_name(failure), say::remedy_in(failure, &run.scene(), self.language));
                let line = format!("{} {name}: {remedy}", count(number));
                let line = if self.is_colorful { red(&line) } else { line };
                self.line(label, &line);
            }
        }
    }

    fn verdict(&mut self, run: &HoldRun<'_>) {
        for text in verdicts(run, self.language) {
            self.line(self.language.pick("Verdict", "结论"), &text);
        }
        if run.result.is_spoiled() {
            let mark = mark_of_spoiled(self.language);
            self.line("", &if self.is_colorful { red(mark) } else { mark.to_owned() });
        }
    }
}

/// The series of the summary: in English, in Chinese, and whether messages without an answer belong to it.
fn series(total: &Held) -> [((&'static str, &'static str), &Distribution, bool); 4] {
    [
        (("connect", "建立连接"), &total.connect, false),
        (("response time", "响应时间"), &total.response, true),
        (("service time", "服务时间"), &total.service, true),
        (("message gap", "推送间隔"), &total.gap, false),
    ]
}

fn plan_in_words(plan: &Hold, language: Language) -> String {
    let connections = count(plan.connections);
    let pace = plan.ramp.map_or(String::new(), |rate_of| {
        let per_s = rate(rate_of as f64 / 3_600_000.0);
        language.pick(format!(" at {per_s}/s"), format!("，每秒 {per_s} 个"))
    });
    let held = span(plan.duration);
    let work = match plan.work {
        Work::Nothing => language.pick("nothing is sent".to_owned(), "不发送消息".to_owned()),
        Work::Once => language.pick("each sends one message".to_owned(), "每个连接发送一条消息".to_owned()),
        Work::Every(every) => {
            let every = span(every);
            language.pick(format!("a message on each every {every}"), format!("每个连接每 {every} 一条消息"))
        }
        Work::Pause { least, most } => {
            let (least, most) = (span(least), span(most));
            language.pick(
                format!("a message on each after every pause of {least} to {most}"),
                format!("每个连接每次停顿 {least} 到 {most} 后发送一条消息"),
            )
        }
    };
    language.pick(
        format!("{connections} connections{pace}, held {held}, {work}"),
        format!("{connections} 个连接{pace}，保持 {held}，{work}"),
    )
}

/// Collects intervals and writes the report.
#[derive(Debug, Default)]
pub struct HoldJson {
    intervals: Vec<Value>,
    intervals_left_out: u64,
}

impl HoldJson {
    /// Keeps an interval.
    pub fn interval(&mut self, interval: &HoldInterval<'_>) {
        let index = (interval.number - 1) as usize;
        if index >= INTERVALS_MAX {
            self.intervals_left_out += u64::from(!interval.is_again);
            return;
        }
        let seen = interval.seen;
        let mut value = json!({
            "from_s": interval.from.as_secs_f64(),
            "to_s": interval.to.as_secs_f64(),
            "open": seen.now.open,
            "connecting": seen.now.connecting,
            "waiting": seen.now.waiting,
            "established": seen.counts.established,
            "failed": seen.counts.failed_in_all(),
            "lost": seen.counts.lost_in_all(),
            "messages": messages(&seen.counts),
            "bytes_sent": seen.counts.bytes_taken(),
            "bytes_received": seen.counts.bytes_received,
            "memory": memory(interval.memory),
        });
        value["response_time"] = times(&seen.response, &seen.given_up);
        match self.intervals.get_mut(index) {
            Some(told) => *told = value,
            None => self.intervals.push(value),
        }
    }

    /// The whole report, with a line end.
    pub fn report(&mut self, run: &HoldRun<'_>) -> String {
        let (result, counts, plan) = (run.result, run.seen(), run.plan);
        let none = Distribution::default();
        let reasons = |of: &[u64]| -> Value {
            HeldCounts::reasons(of)
                .into_iter()
                .map(|(failure, number)| json!({"name": failure.name(), "detail": failure.detail(), "count": number}))
                .collect()
        };
        let report = json!({
            "schema": SCHEMA,
            "kind": "hold",
            "url": plan::masked_url(&plan.target.url),
            "address": run.address.to_string(),
            "lookup_ns": run.lookup.map(|span| span.as_nanos() as u64),
            "source_addresses": result.places.0,
            "target_places": result.places.1,
            "plan": {
                "connections": plan.connections,
                "ramp_per_s": plan.ramp.map(|rate| rate as f64 / 3_600_000.0),
                "hold_s": plan.duration.as_secs_f64(),
                "every_s": match plan.work { Work::Every(every) => Some(every.as_secs_f64()), _ => None },
                "reconnects": plan.reconnects,
            },
            "wall_s": result.wall.as_secs_f64(),
            "opened_after_s": result.opened_after.map(|at| at.as_secs_f64()),
            "closing_after_s": result.closing_after.map(|at| at.as_secs_f64()),
            "was_stopped": result.was_stopped,
            "connections": {
                "tried": counts.tried,
                "established": counts.established,
                "retries": counts.retries,
                "failed": counts.failed_in_all(),
                "failed_by": reasons(&counts.failed),
                "lost": counts.lost_in_all(),
                "lost_by": reasons(&counts.lost),
                "closed": counts.closed,
                "closed_without_answer": counts.closed_unheard,
                "abandoned": counts.abandoned,
                "most_open": result.most_open,
                "open_when_opened": result.when_opened.open,
                "open_when_closing": result.when_closing.open,
                "tls_resumed": counts.tls_resumed,
            },
            "messages": messages(counts),
            "messages_asked_per_s": run.asked_and_achieved().map(|(asked, _)| asked),
            "messages_achieved_per_s": run.asked_and_achieved().map(|(_, achieved)| achieved),
            "bytes_sent": counts.bytes_taken(),
            "bytes_received": counts.bytes_received,
            "times": {
                "connect": times(&result.total.connect, &none),
                "response_time": times(&result.total.response, &result.total.given_up),
                "service_time": times(&result.total.service, &result.total.given_up),
                "message_gap": times(&result.total.gap, &none),
                "loop_lag": times(&result.total.lag, &none),
            },
            "memory": memory(result.memory),
            "stopped_opening": result.stopped_opening.map(|stopped| json!({
                "tried": stopped.tried, "available_bytes": stopped.available, "reserve_bytes": stopped.reserve
            })),
            "generator": {
                "threads": result.threads,
                "driver": result.driver.kind.name(),
                "cpu_ns": counts.cpu_ns,
                "loops": result.loops().iter().map(loop_of).collect::<Vec<_>>(),
                "late_thread": result.late_thread().map(|late| late.thread),
            },
            "is_kept": run.is_kept(),
            "is_spoiled": result.is_spoiled(),
            "verdicts": verdicts(run, Language::En),
            "intervals": std::mem::take(&mut self.intervals),
            "intervals_left_out": self.intervals_left_out,
        });
        format!("{report:#}\n")
    }
}

fn messages(counts: &HeldCounts) -> Value {
    json!({
        "due": counts.due,
        "late": counts.late,
        "missed": counts.missed,
        "unsent": counts.unsent,
        "sent": counts.sent,
        "answered": counts.answered,
        "unanswered": counts.unanswered,
        "refused": counts.refused,
        "pushed": counts.pushed,
    })
}

fn loop_of(one: &LateThread) -> Value {
    json!({
        "thread": one.thread,
        "late_share": one.late_share,
        "lag_p99_ns": one.lag_p99_ns,
        "lag_max_ns": one.lag_max_ns,
    })
}

fn memory(memory: MemoryUse) -> Value {
    json!({
        "resident_bytes": memory.resident,
        "resident_bytes_before": memory.resident_before,
        "kernel_bytes": memory.kernel,
        "available_bytes": memory.available,
    })
}

fn times(times: &Distribution, given_up: &Distribution) -> Value {
    let censored = Censored::of_times(given_up, times);
    let mut value = json!({
        "count": times.count(),
        "min_ns": times.min(),
        "mean_ns": times.mean(),
    });
    for (name, quantile) in QUANTILES.iter().copied().chain([("max", 1.0)]) {
        let known = censored.percentile(times, quantile);
        value[format!("{}_ns", name.replace('.', "_"))] = known.map(|known| known.ns).into();
        if known.is_some_and(|known| known.at_least) {
            value[format!("{}_is_at_least", name.replace('.', "_"))] = true.into();
        }
    }
    value
}
