//! The summary: what a run has come to, as text.

mod plan;

use std::fmt::Write;

use figures::{FailureCount, Judged, Quantile, Run, Tally, Times, per_second};
use metrics::Measure;

use crate::format::{Align, bytes, count, pad, percent, rate, time};
use crate::page::{LABEL_WIDTH, Page, percentiles};
use crate::say::Scene;
use crate::{Language, say, steps, verdict};
use plan::plan_in_words;

const TIME_WIDTH: usize = 12;
const BAR_WIDTH: usize = 40;

/// The whole summary, with a line end, with colors or without.
pub fn summary(run: &Run, language: Language, is_colorful: bool) -> String {
    let mut page = Page { text: String::new(), language, is_colorful };
    page.facts(run);
    page.times(run);
    page.histogram(run);
    page.text.push_str(&steps::table(run, language));
    page.statuses(run);
    page.failures_of(run);
    page.thresholds(run);
    page.generator(run);
    page.verdict(run);
    page.text
}

/// One line for a run in which no connection was ever established.
pub fn nothing_measured(run: &Run, language: Language) -> String {
    let (started, dropped) = (run.tally.started, run.tally.dropped);
    if started == 0 && !run.plan.warmup.is_zero() {
        let address = run.address;
        return language.pick(
            format!("nothing was measured: no connection to {address} was established in the warm-up; start the server, or check address and port"),
            format!("没有测到任何数据：预热期间未能与 {address} 建立连接；请启动服务，或检查地址和端口"),
        );
    }
    if started == 0 {
        return language.pick(
            "nothing was measured: no start came; give the load more time or a higher rate".to_owned(),
            "没有测到任何数据：没有发起任何请求；请延长时间或提高速率".to_owned(),
        );
    }
    if dropped > 0 && run.tally.failed == 0 {
        let (address, started, dropped) = (run.address, count(started), count(dropped));
        return language.pick(
            format!("nothing was measured: no connection to {address} was established, and {dropped} of {started} starts were dropped after --max-lateness; look whether the server accepts connections, or raise --max-lateness"),
            format!("没有测到任何数据：未能与 {address} 建立连接，{started} 个请求中有 {dropped} 个超过 --max-lateness 而放弃；请检查服务端是否接受连接，或增大 --max-lateness"),
        );
    }
    let tried = count(run.tally.connections_tried.max(run.tally.attempts));
    let address = run.address;
    match run.tally.failures.iter().max_by_key(|each| each.count) {
        Some(FailureCount { failure, .. }) => {
            let failure = *failure;
            let name = say::failure_name(failure);
            let remedy = say::failure_remedy(failure, run, language);
            language.pick(
                format!("nothing was measured: none of {tried} connections to {address} was established ({name}); {remedy}"),
                format!("没有测到任何数据：{tried} 次连接 {address} 均未成功（{name}）；{remedy}"),
            )
        }
        None => language.pick(
            format!("nothing was measured: no connection to {address} was established before the end of the run; give it more time with -z or --grace"),
            format!("没有测到任何数据：压测结束前未能与 {address} 建立连接；请用 -z 或 --grace 延长时间"),
        ),
    }
}

impl Page {
    fn facts(&mut self, run: &Run) {
        let words = self.language.words();
        let counts = &run.tally;
        let seconds = run.wall.as_secs_f64();
        let scenario = run.plan.scenarios.first().expect("a plan has a scenario");
        self.text.push('\n');
        let lookup =
            run.lookup.map_or(String::new(), |span| format!(", {} {}", words.lookup, time(span.as_nanos() as f64)));
        self.line(words.target, &format!("{} ({}{lookup})", scenario.target().url, say::place(run)));
        self.line(words.plan, &plan_in_words(run, self.language));
        let number_of = |word: &str, number: u64| {
            self.language.pick(format!("{} {word}", count(number)), format!("{word} {}", count(number)))
        };
        let mut sum = format!(
            "{} = {} + {}",
            number_of(words.started, counts.started),
            number_of(words.succeeded, counts.succeeded),
            number_of(words.failed, counts.failed)
        );
        for (number, word) in [(counts.unfinished, words.unfinished), (counts.dropped, words.dropped)] {
            if number > 0 {
                write!(sum, " + {}", number_of(word, number)).expect("writing to a string does not fail");
            }
        }
        self.line(words.requests, &sum);
        if counts.redirects > 0 {
            let number = count(counts.redirects);
            let line = self.language.pick(
                format!("{number} of them because a redirect was followed"),
                format!("其中 {number} 个是跟随重定向发出的"),
            );
            self.line("", &line);
        }
        if counts.cut > 0 {
            let number = count(counts.cut);
            let line = self.language.pick(
                format!("{number} of the unfinished had no grace: the run was ended at once"),
                format!("其中 {number} 个未完成的请求因压测被立即终止"),
            );
            self.line("", &line);
        }
        if run.plan.scenarios.iter().any(|scenario| scenario.steps.len() > 1) {
            let figures::Iterations { completed, cut } = run.iterations;
            let (completed, is_cut, cut) = (count(completed), cut > 0, count(cut));
            let line = self.language.pick(
                if is_cut {
                    format!("{completed} iterations, {cut} more were cut")
                } else {
                    format!("{completed} iterations")
                },
                if is_cut {
                    format!("完成 {completed} 轮，另有 {cut} 轮中断")
                } else {
                    format!("完成 {completed} 轮")
                },
            );
            self.line("", &line);
        }
        if counts.started == 0 && !run.plan.warmup.is_zero() {
            self.line("", self.language.pick(
                "nothing was started after the warm-up: it was stopped, or its requests are still without an answer",
                "预热之后没有发起任何请求：压测已被中止，或预热的请求一直没有收到响应",
            ));
        }
        if counts.dropped_by_generator > 0 {
            let number = count(counts.dropped_by_generator);
            let line = self.language.pick(
                format!("{number} of the dropped were too late before a connection was looked for: the generator was the limit"),
                format!("其中 {number} 个在寻找连接之前就已超时：瓶颈在压测机"),
            );
            self.line("", &line);
        }
        self.line(words.time, &format!("{seconds:.3}s"));
        self.line(words.per_second, &rates_in_words(run, self.language));
        self.line(words.success, &success_in_words(counts, self.language));
        let (received, speed, bodies) = (
            bytes(counts.bytes_received as f64),
            bytes(per_second(counts.bytes_received, seconds)),
            bytes(counts.body_bytes as f64),
        );
        let received = self.language.pick(
            format!("{received} ({speed}/s, bodies {bodies})"),
            format!("{received}（{speed}/s，其中正文 {bodies}）"),
        );
        self.line(words.received, &received);
        let (sent, speed) = (bytes(counts.bytes_sent as f64), bytes(per_second(counts.bytes_sent, seconds)));
        let sent = self.language.pick(format!("{sent} ({speed}/s)"), format!("{sent}（{speed}/s）"));
        self.line(words.sent, &sent);
        if run.has_messages() {
            let (sent, received) = (count(counts.messages_sent), count(counts.messages_received));
            let mut messages = self
                .language
                .pick(format!("{sent} sent, {received} received"), format!("发送 {sent} 条，接收 {received} 条"));
            if counts.unasked > 0 {
                let unasked = count(counts.unasked);
                messages.push_str(&self.language.pick(
                    format!(
                        ", {unasked} of them unasked; one that comes while a message waits is taken for its answer"
                    ),
                    format!("，其中 {unasked} 条是服务端主动推送的；等待响应期间到达的推送会被当作响应"),
                ));
            }
            self.line(words.messages, &messages);
        }
        let connections = connections_in_words(run, self.language);
        self.line(words.connections, &connections);
    }

    fn times(&mut self, run: &Run) {
        let words = self.language.words();
        let quantiles = Quantile::ALL.into_iter().filter(|quantile| *quantile != Quantile::Max).map(Quantile::name);
        let names = [words.min, words.mean, words.stdev].into_iter().chain(quantiles).chain([words.max]);
        self.text.push('\n');
        self.cells("", names, TIME_WIDTH);
        let measures = [
            (words.response_time, Measure::Response),
            (words.service_time, Measure::Service),
            (words.wait, Measure::Wait),
            (words.lateness, Measure::Lateness),
            (words.first_byte, Measure::FirstByte),
        ];
        for (name, measure) in measures {
            self.time_line(name, run.succeeded.of(measure));
        }
        self.time_line(words.connect, &run.connect);
        let others =
            [(words.tls_handshake, &run.tls), (words.message, &run.message), (words.message_gap, &run.message_gap)];
        for (name, times) in others.into_iter().filter(|(_, times)| times.count + times.given_up > 0) {
            self.time_line(name, times);
        }
        if let Some(stalls) = verdict::stalls(run, self.language) {
            self.warn("", &stalls);
        }
        if let Some(difference) = verdict::difference(run, self.language) {
            self.line("", &difference);
        }
    }

    fn time_line(&mut self, name: &str, times: &Times) {
        let plain = |ns: Option<f64>| ns.map_or("-".to_owned(), time);
        let is_open_ended = times.given_up > 0;
        let mean = format!("{}{}", if is_open_ended { ">=" } else { "" }, plain(times.least_mean_ns));
        // Nobody knows how far apart times are that never ended.
        let stdev = plain(times.stdev_ns.filter(|_| !is_open_ended));
        let first = [plain(times.least_min_ns.map(|ns| ns as f64)), mean, stdev];
        let cells: Vec<String> = first.into_iter().chain(percentiles(times)).collect();
        self.cells(name, cells.iter().map(String::as_str), TIME_WIDTH);
    }

    fn histogram(&mut self, run: &Run) {
        let bars = &run.bars;
        let Some(most) = bars.iter().map(|bar| bar.count).max().filter(|most| *most > 0) else { return };
        self.text.push('\n');
        let title = self.language.words().histogram;
        self.line(title, "");
        for bar in bars {
            let length = (bar.count as f64 / most as f64 * BAR_WIDTH as f64).ceil() as usize;
            let label = pad(&format!("<={}", time(bar.to_ns as f64)), LABEL_WIDTH - 2, Align::Right);
            let bar_text = pad(&"■".repeat(length), BAR_WIDTH + 1, Align::Left);
            self.line(&label, &format!("{bar_text}{}", count(bar.count)));
        }
    }

    fn statuses(&mut self, run: &Run) {
        let words = self.language.words();
        self.text.push('\n');
        let one = |name: String, number: u64| format!("{name}: {}", count(number));
        if run.is_grpc() {
            let all = run.tally.grpc_statuses.iter().map(|(name, number)| one((*name).to_owned(), *number)).collect();
            self.list(words.grpc_statuses, all);
        }
        let all = run.tally.statuses.iter().map(|(status, number)| one(status.to_string(), *number)).collect();
        self.list(words.statuses, all);
        if !run.closes.is_empty() {
            let said =
                |close: &figures::Close| say::code_and_reason(close.code, close.reason.as_deref(), self.language);
            let all = run.closes.iter().map(|close| one(said(close), close.count)).collect();
            self.list(words.closes, all);
        }
    }

    fn list(&mut self, name: &str, items: Vec<String>) {
        let list = if items.is_empty() { self.language.words().none.to_owned() } else { items.join("   ") };
        self.line(name, &list);
    }

    fn failures_of(&mut self, run: &Run) {
        let words = self.language.words();
        let mut all: Vec<&FailureCount> = run.tally.failures.iter().collect();
        if all.is_empty() {
            return self.line(words.failures, words.none);
        }
        all.sort_by_key(|each| std::cmp::Reverse(each.count));
        self.failures(words.failures, &all, &Scene::of_run(run), " - ");
    }

    fn thresholds(&mut self, run: &Run) {
        let mut label = self.language.words().thresholds;
        for Judged { threshold, judgement } in &run.judged {
            let line = verdict::threshold_line(threshold, judgement, self.language);
            if judgement.holds {
                self.line(label, &line);
            } else {
                self.warn(label, &line);
            }
            label = "";
        }
    }

    fn verdict(&mut self, run: &Run) {
        self.line(self.language.words().verdict, &verdict::verdict(run, self.language));
        if let Some(mark) = verdict::spoiled(run, self.language) {
            self.warn("", mark);
        }
    }

    fn generator(&mut self, run: &Run) {
        let words = self.language.words();
        let cpu = time(run.cpu_ns as f64);
        let memory = run.host.resident_bytes.map_or("-".to_owned(), |resident| bytes(resident as f64));
        let each = run.cpu_us_per_request.map_or("-".to_owned(), |each| format!("{each:.2}us"));
        let share = run.cpu_share * 100.0;
        let threads = run.threads;
        let driver = format!("{} ({})", run.driver.kind.name(), say::driver_reason(&run.driver, self.language));
        let text = self.language.pick(
            format!(
                "CPU {cpu}, {each} a request, {share:.0}% of {threads} thread(s); memory {memory}; driver {driver}"
            ),
            format!("CPU {cpu}，每请求 {each}，占 {threads} 个线程的 {share:.0}%；内存 {memory}；驱动 {driver}"),
        );
        self.line(words.generator, &text);
    }
}

/// Of an open load what was started, of what was asked, and what of it was answered where that differs; else what was done.
fn rates_in_words(run: &Run, language: Language) -> String {
    let done = rate(run.rate);
    let (Some(achieved), Some(asked)) = (run.achieved_per_s.map(rate), run.asked_per_s.map(rate)) else {
        return done;
    };
    let started = language.pick(format!("{achieved} of {asked} asked"), format!("{achieved}（计划 {asked}）"));
    if done == achieved {
        return started;
    }
    language.pick(format!("{started}; {done} were done"), format!("{started}，完成 {done}"))
}

/// Of all starts; and of those that ended, where that differs.
fn success_in_words(counts: &Tally, language: Language) -> String {
    let (of_all, of_ended) =
        (percent(counts.succeeded, counts.started - counts.cut), percent(counts.succeeded, counts.finished()));
    if of_all == of_ended || counts.finished() == 0 {
        return of_all;
    }
    language.pick(format!("{of_all} ({of_ended} of what ended)"), format!("{of_all}（已结束的请求中 {of_ended}）"))
}

fn connections_in_words(run: &Run, language: Language) -> String {
    let counts = &run.tally;
    let established = count(counts.connections_established);
    let mut parts = vec![language.pick(format!("{established} established"), format!("已建立 {established} 个"))];
    if run.tls.count > 0 {
        let (handshakes, resumed) = (count(run.tls.count), count(counts.tls_resumed));
        parts.push(language.pick(
            format!("{handshakes} TLS handshakes ({resumed} resumed)"),
            format!("TLS 握手 {handshakes} 次（其中 {resumed} 次会话恢复）"),
        ));
    }
    if counts.reconnects > 0 {
        let reconnects = count(counts.reconnects);
        parts.push(language.pick(
            format!("{reconnects} requests sent again (the server had not taken them)"),
            format!("重发 {reconnects} 个请求（服务端并未接收）"),
        ));
    }
    if counts.unsolicited > 0 {
        let unsolicited = count(counts.unsolicited);
        parts.push(language.pick(
            format!("{unsolicited} closed because the server sent bytes that belong to no request; look with curl -v"),
            format!("{unsolicited} 个因服务端发送了多余数据而关闭；可用 curl -v 查看"),
        ));
    }
    parts.join(language.pick(", ", "，"))
}
