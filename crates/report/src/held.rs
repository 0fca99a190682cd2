//! The views of a hold: the live table, the summary, the JSON.

mod json;
mod planned;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod verdict;

use crate::Language;
use crate::format::{bytes, count, counted, is_of, rate, time};
use crate::messages::{self, FailureContext};
use crate::page::{Page, percentile};
use crate::screen::{Paint, Screen};
use crate::verdict::unreliable_mark;
use crate::workers;
use figures::{FailureCount, Held, Quantile, per_second};
pub use json::live_hold_row;
pub(crate) use planned::plan_in_words;
pub(crate) use verdict::verdicts;

/// The whole summary, with a line end. The verdict comes first.
pub fn hold_summary(held: &Held, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.text.push('\n');
    page.held_verdict(held);
    page.held_failures(held);
    page.held_facts(held);
    page.held_messages(held);
    page.held_times(held);
    page.held_memory(held);
    page.text
}

/// The text for a hold in which not one connection was established.
pub fn nothing_held(held: &Held, language: Language) -> String {
    let (tried, address) = (count(held.tally.tried()), messages::place_held(held));
    match held.tally.failed_by.first() {
        Some(FailureCount { failure, .. }) => {
            let remedy = messages::remedy_in(*failure, &FailureContext::for_hold(held), language);
            let name = messages::failure_in_brackets(*failure, language);
            language.pick(
                format!(
                    "none of {} to {address} was established{name}; {remedy}",
                    counted(held.tally.tried(), "connection")
                ),
                format!("{tried} 次连接 {address} 均未成功{name}；{remedy}"),
            )
        }
        None => language.pick(
            format!("no connection to {address} was established before the end; give it more time"),
            format!("结束前未能与 {address} 建立连接；请延长时间"),
        ),
    }
}

impl Page {
    fn held_facts(&mut self, held: &Held) {
        let (counts, plan) = (&held.tally, &held.plan);
        let (from, to) = held.places;
        let spread = match (from, to) {
            // A single address or none needs no text.
            (1, 1) | (0, _) | (_, 0) => String::new(),
            _ => self.language().pick(
                format!(", from {from} {} to {to}", is_of(from as u64, "address", "addresses")),
                format!("，{from} 个源地址，{to} 个目标"),
            ),
        };
        let address = held.address;
        let between = self.language().pick(", ", "，");
        let lookup = held.lookup.map_or(String::new(), |span| format!("{between}{}", time(span.as_nanos() as f64)));
        let (open, close) = self.language().pick((" (", ")"), ("（", "）"));
        self.line(
            self.language().pick("Target", "压测目标"),
            &format!("{}{open}{address}{lookup}{spread}{close}", plan::masked_url(&plan.target.url)),
        );
        let plan_text = plan_in_words(plan, self.language());
        self.line(self.language().pick("Plan", "压测计划"), &plan_text);
        let (most, requested) = (count(held.most_open), count(plan.connections));
        let (failed, lost) = (count(counts.failed), count(counts.lost));
        self.say(
            ("Connections", "连接"),
            format!(
                "{most} of {requested} open at one time, {} failed, {lost} lost",
                counted(counts.failed, "attempt")
            ),
            format!("同时建立 {most} / {requested}，失败 {failed} 次，断开 {lost}"),
        );
        if let Some(opened) = held.opened_after {
            let per_s = rate(per_second(held.when_opened.open, opened.as_secs_f64()));
            let after = held.closing_after.map_or(0, |closing| closing.0.saturating_sub(opened.0));
            let (opened, after) = (time(opened.0 as f64), time(after as f64));
            let (then, end) = (count(held.when_opened.open), count(held.when_closing.open));
            self.say(
                ("Held", "保持"),
                format!("opened in {opened} ({per_s}/s): {then} open after the ramp, {end} after {after} more"),
                format!("{opened} 内全部尝试完毕（{per_s}/s），当时 {then} 个；又保持 {after} 后 {end} 个"),
            );
        }
        let unacknowledged = match counts.close_timed_out() + counts.abandoned() {
            0 => String::new(),
            more => {
                let more = count(more);
                self.language()
                    .pick(format!(", {more} without a reply from the peer"), format!("，{more} 个未得到对端响应"))
            }
        };
        let retried = match counts.retries() {
            0 => String::new(),
            retries => {
                let retries = count(retries);
                self.language().pick(format!("; {retries} reconnects"), format!("；重连 {retries} 次"))
            }
        };
        let closed = count(counts.closed());
        self.say(
            ("Closed", "关闭"),
            format!("{closed} cleanly{unacknowledged}{retried}"),
            format!("{closed} 个正常关闭{unacknowledged}{retried}"),
        );
    }

    fn held_messages(&mut self, held: &Held) {
        let counts = &held.tally;
        let planned = counts.due() + counts.missed();
        if planned > 0 {
            let (due, sent, answered) = (count(planned), count(counts.messages_left()), count(counts.answered()));
            let mut rest = String::new();
            for (number, en, zh) in [
                (counts.late(), "sent late by the generator", "因压测机滞后而发送过晚"),
                (counts.unanswered(), "unanswered", "未响应"),
                (counts.unsent(), "never sent", "未能发出"),
                (counts.missed(), "due on lost connections", "因连接断开未发"),
                (counts.refused(), "refused by the check", "断言失败"),
            ] {
                if number > 0 {
                    let number = count(number);
                    rest.push_str(&self.language().pick(format!(", {number} {en}"), format!("，{number} 条{zh}")));
                }
            }
            self.say(
                ("Messages", "消息"),
                format!("{due} due, {sent} sent, {answered} answered{rest}"),
                format!("应发 {due}，已发 {sent}，已响应 {answered}{rest}"),
            );
        }
        if let Some((requested, achieved)) = held.requested_and_achieved {
            let (requested, achieved) = (rate(requested), rate(achieved));
            self.say(
                ("Messages/s", "每秒消息"),
                format!("{requested} requested, {achieved} achieved"),
                format!("计划 {requested}，实际 {achieved}"),
            );
        }
        if counts.pushed() > 0 {
            let pushed = count(counts.pushed());
            self.say(("Pushed", "推送"), format!("{pushed} pushed by the server"), format!("收到 {pushed} 条主动推送"));
        }
        let (received, sent) = held.bytes_per_s;
        for (label, number, per_s) in
            [(("Received", "下载"), counts.bytes_received(), received), (("Sent", "上传"), counts.bytes_sent(), sent)]
        {
            let (all, per_s) = (bytes(number as f64), bytes(per_s));
            self.say(label, format!("{all} ({per_s}/s)"), format!("{all}（{per_s}/s）"));
        }
    }

    fn held_times(&mut self, held: &Held) {
        let words = self.language().words();
        let all = [
            (words.connect, &held.connect),
            (words.response_time, &held.response),
            (words.service_time, &held.service),
            (words.message_gap, &held.gap),
        ];
        let rows: Vec<_> = all.into_iter().filter(|(_, times)| times.count > 0).collect();
        if !rows.is_empty() {
            self.text.push('\n');
            self.times(&rows);
            self.text.push('\n');
        }
    }

    fn held_memory(&mut self, held: &Held) {
        let (memory, open) = (held.memory, held.most_open.max(1));
        let ours = memory.resident.saturating_sub(memory.resident_before);
        let (resident, own) = (bytes(memory.resident as f64), count(ours / open));
        let who = match held.workers_summary {
            Some(_) => self.language().pick("all workers", "全部工作进程 "),
            None => self.language().pick("this process", "本进程 "),
        };
        self.say(
            ("Memory", "内存"),
            format!("{who} {resident}, {own} bytes per connection"),
            format!("{who}{resident}，每连接 {own} 字节"),
        );
        if let Some(kernel) = memory.kernel {
            let (all, one) = (bytes(kernel as f64), count(kernel / open));
            self.say(
                ("", ""),
                format!(
                    "kernel {all} more than before, {one} bytes per connection (both ends, if both are on this machine)"
                ),
                format!("内核比之前多 {all}，每连接 {one} 字节（两端都在本机时为两端之和）"),
            );
        }
        let mut label = ("Workers", "工作进程");
        for text in workers::reported(held.workers_summary.as_ref(), self.language()) {
            self.say(std::mem::take(&mut label), text.clone(), text);
        }
        let cpu = time(held.tally.cpu_ns() as f64);
        let (threads, driver) = (held.threads, held.driver.kind.name());
        let reason = messages::driver_reason(&held.driver, self.language());
        let lag = percentile(&held.lag, Quantile::P99);
        self.say(
            ("Generator", "压测机"),
            format!("{} on {driver} ({reason}), CPU {cpu}, loop lag p99 {lag}", counted(threads as u64, "thread")),
            format!("{threads} 个线程，{driver}（{reason}），CPU {cpu}，事件循环延迟 p99 {lag}"),
        );
    }

    fn held_failures(&mut self, held: &Held) {
        let counts = &held.tally;
        for (label, of) in [(("Failed", "失败原因"), &counts.failed_by), (("Lost", "断开原因"), &counts.lost_by)]
        {
            self.failures(
                self.language().pick(label.0, label.1),
                &of.iter().collect::<Vec<_>>(),
                |_| FailureContext::for_hold(held),
                self.language().pick(": ", "："),
            );
        }
    }

    fn held_verdict(&mut self, held: &Held) {
        let paint = if held.is_kept && !held.is_unreliable() { Paint::Good } else { Paint::Bad };
        let mut label = self.language().pick("Verdict", "结论");
        for text in verdicts(held, self.language()) {
            self.painted(label, &text, paint);
            label = "";
        }
        if held.is_unreliable() {
            let mark = unreliable_mark(self.language());
            self.warn("", mark);
        }
    }
}
