//! The summary: what a run has come to, as text.

use std::fmt::Write;

use metrics::{Censored, Counts, Distribution, Measure, Snapshot};
use plan::{Arrivals, Call, ConnectionCount, Load, MessageKind, Order, Protocol, RateStage, Talk, UserShape};

use crate::figures::{QUANTILES, Run, Spoiled, histogram, per_second};
use crate::format::{Align, bytes, count, counted, pad, percent, rate, red, span, time};
use crate::{Language, say, steps, verdict};

const LABEL_WIDTH: usize = 14;
const TIME_WIDTH: usize = 12;
const BAR_WIDTH: usize = 40;

/// The whole summary, with a line end, with colors or without.
pub fn summary(run: &Run<'_>, language: Language, is_colorful: bool) -> String {
    let mut page = Page { text: String::new(), language, is_colorful };
    page.facts(run);
    page.times(run);
    page.histogram(run);
    page.text.push_str(&steps::table(run, language));
    page.statuses(run);
    page.failures(run);
    page.thresholds(run);
    page.generator(run);
    page.verdict(run);
    page.text
}

/// One line for a run in which no connection was ever established.
pub fn nothing_measured(run: &Run<'_>, language: Language) -> String {
    let seen = run.seen();
    let (started, dropped) = (seen.counts.started, seen.counts.dropped);
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
    if dropped > 0 && seen.counts.failed() == 0 {
        let (address, started, dropped) = (run.address, count(started), count(dropped));
        return language.pick(
            format!("nothing was measured: no connection to {address} was established, and {dropped} of {started} starts were dropped after --max-lateness; look whether the server accepts connections, or raise --max-lateness"),
            format!("没有测到任何数据：未能与 {address} 建立连接，{started} 个请求中有 {dropped} 个超过 --max-lateness 而放弃；请检查服务端是否接受连接，或增大 --max-lateness"),
        );
    }
    let tried = count(seen.counts.connections_tried.max(seen.counts.attempts));
    let address = run.address;
    match seen.counts.failures().max_by_key(|(_, count)| *count) {
        Some((failure, _)) => {
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

    fn facts(&mut self, run: &Run<'_>) {
        let words = self.language.words();
        let counts = &run.seen().counts;
        let seconds = run.result.wall.as_secs_f64();
        let scenario = run.plan.scenarios.first().expect("a plan has a scenario");
        self.text.push('\n');
        let lookup =
            run.lookup.map_or(String::new(), |span| format!(", {} {}", words.lookup, time(span.as_nanos() as f64)));
        self.line(words.target, &format!("{} ({}{lookup})", scenario.target().url, run.place()));
        self.line(words.plan, &plan_in_words(run, self.language));
        let number_of = |word: &str, number: u64| {
            self.language.pick(format!("{} {word}", count(number)), format!("{word} {}", count(number)))
        };
        let mut sum = format!(
            "{} = {} + {}",
            number_of(words.started, counts.started),
            number_of(words.succeeded, counts.succeeded),
            number_of(words.failed, counts.failed())
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
            let (completed, cut) = run.iterations();
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
        let (sent, speed) = (bytes(counts.bytes_sent() as f64), bytes(per_second(counts.bytes_sent(), seconds)));
        let sent = self.language.pick(format!("{sent} ({speed}/s)"), format!("{sent}（{speed}/s）"));
        self.line(words.sent, &sent);
        if run.has_messages() {
            let (sent, received) = (count(counts.messages_left()), count(counts.messages_received));
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
        let connections = connections_in_words(run.seen(), self.language);
        self.line(words.connections, &connections);
    }

    fn times(&mut self, run: &Run<'_>) {
        let words = self.language.words();
        let names =
            [words.min, words.mean, words.stdev].into_iter().chain(QUANTILES.map(|(name, _)| name)).chain([words.max]);
        let head: String = names.map(|name| pad(name, TIME_WIDTH, Align::Right)).collect();
        self.text.push('\n');
        self.line("", &head);
        let succeeded = run.succeeded();
        let seen = run.seen();
        let measures = [
            (words.response_time, Measure::Response),
            (words.service_time, Measure::Service),
            (words.wait, Measure::Wait),
            (words.lateness, Measure::Lateness),
            (words.first_byte, Measure::FirstByte),
        ];
        for (name, measure) in measures {
            // Only these two grow with an exchange that was given up.
            let is_open_ended = matches!(measure, Measure::Response | Measure::Service);
            let censored = if is_open_ended { Censored::of(seen, measure) } else { Censored::default() };
            self.time_line(name, succeeded.of(measure), &censored, run.spoiled(measure));
        }
        self.time_line(words.connect, &seen.connect, &Censored::default(), Spoiled::default());
        if seen.tls.count() > 0 {
            self.time_line(words.tls_handshake, &seen.tls, &Censored::default(), Spoiled::default());
        }
        if seen.message.count() + seen.message_given_up.count() > 0 {
            self.time_line(words.message, &seen.message, &Censored::of_messages(seen), Spoiled::default());
        }
        if seen.message_gap.count() > 0 {
            self.time_line(words.message_gap, &seen.message_gap, &Censored::default(), Spoiled::default());
        }
        if let Some(stalls) = verdict::stalls(run, self.language) {
            self.line("", &if self.is_colorful { red(&stalls) } else { stalls });
        }
        if let Some(difference) = verdict::difference(run, self.language) {
            self.line("", &difference);
        }
    }

    fn time_line(&mut self, name: &str, times: &Distribution, censored: &Censored, spoiled: Spoiled) {
        let plain = |ns: Option<f64>| ns.map_or("-".to_owned(), time);
        let least = censored.min(times).map(|ns| ns as f64);
        let is_open_ended = censored.count() > 0;
        let mean = format!("{}{}", if is_open_ended { ">=" } else { "" }, plain(censored.mean(times)));
        // Nobody knows how far apart times are that never ended.
        let mut cells = vec![plain(least), mean, plain(times.stdev().filter(|_| !is_open_ended))];
        for quantile in QUANTILES.iter().map(|(_, quantile)| *quantile).chain([1.0]) {
            cells.push(match censored.percentile(times, quantile) {
                Some(known) => {
                    let bound = if known.at_least { ">=" } else { "" };
                    let mark = if spoiled.is(quantile) { "!" } else { "" };
                    format!("{bound}{}{mark}", time(known.ns as f64))
                }
                None => "-".to_owned(),
            });
        }
        let row: String = cells.iter().map(|cell| pad(cell, TIME_WIDTH, Align::Right)).collect();
        self.line(name, &row);
    }

    fn histogram(&mut self, run: &Run<'_>) {
        let succeeded = run.succeeded();
        let bars = histogram(succeeded.of(Measure::Response));
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

    fn statuses(&mut self, run: &Run<'_>) {
        let (words, seen) = (self.language.words(), run.seen());
        self.text.push('\n');
        let one = |name: String, number: u64| format!("{name}: {}", count(number));
        if run.is_grpc() {
            let all = seen.counts.grpc_statuses().map(|(name, number)| one(name.to_owned(), number)).collect();
            self.list(words.grpc_statuses, all);
        }
        let all = seen.counts.statuses().map(|(status, number)| one(status.to_string(), number)).collect();
        self.list(words.statuses, all);
    }

    fn list(&mut self, name: &str, items: Vec<String>) {
        let list = if items.is_empty() { self.language.words().none.to_owned() } else { items.join("   ") };
        self.line(name, &list);
    }

    fn failures(&mut self, run: &Run<'_>) {
        let words = self.language.words();
        let mut all: Vec<_> = run.seen().counts.failures().collect();
        if all.is_empty() {
            return self.line(words.failures, words.none);
        }
        all.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        for (index, (failure, number)) in all.into_iter().enumerate() {
            let label = if index == 0 { words.failures } else { "" };
            let name = say::failure_of(failure, run, self.language);
            let remedy = say::failure_remedy(failure, run, self.language);
            let line = format!("{} {name} - {remedy}", count(number));
            self.line(label, &if self.is_colorful { red(&line) } else { line });
        }
    }

    fn thresholds(&mut self, run: &Run<'_>) {
        let mut label = self.language.words().thresholds;
        for (threshold, judgement) in run.judgements() {
            let line = verdict::threshold_line(&threshold.text, &judgement, self.language);
            self.line(label, &if self.is_colorful && !judgement.holds { red(&line) } else { line });
            label = "";
        }
    }

    fn verdict(&mut self, run: &Run<'_>) {
        self.line(self.language.words().verdict, &verdict::verdict(run, self.language));
        if let Some(mark) = verdict::spoiled(run, self.language) {
            self.line("", &if self.is_colorful { red(mark) } else { mark.to_owned() });
        }
    }

    fn generator(&mut self, run: &Run<'_>) {
        let words = self.language.words();
        let cpu = time(run.seen().cpu_ns as f64);
        let memory = host::resident_bytes().map_or("-".to_owned(), |resident| bytes(resident as f64));
        let each = run.cpu_us_per_request().map_or("-".to_owned(), |each| format!("{each:.2}us"));
        let share = run.cpu_share() * 100.0;
        let threads = run.result.threads;
        let driver =
            format!("{} ({})", run.result.driver.kind.name(), say::driver_reason(&run.result.driver, self.language));
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
fn rates_in_words(run: &Run<'_>, language: Language) -> String {
    let done = rate(run.rate());
    let (Some(achieved), Some(asked)) = (run.achieved().map(rate), run.result.asked_per_s.map(rate)) else {
        return done;
    };
    let started = language.pick(format!("{achieved} of {asked} asked"), format!("{achieved}（计划 {asked}）"));
    if done == achieved {
        return started;
    }
    language.pick(format!("{started}; {done} were done"), format!("{started}，完成 {done}"))
}

/// Of all starts; and of those that ended, where that differs.
fn success_in_words(counts: &Counts, language: Language) -> String {
    let (of_all, of_ended) =
        (percent(counts.succeeded, counts.started - counts.cut), percent(counts.succeeded, counts.finished()));
    if of_all == of_ended || counts.finished() == 0 {
        return of_all;
    }
    language.pick(format!("{of_all} ({of_ended} of what ended)"), format!("{of_all}（已结束的请求中 {of_ended}）"))
}

fn connections_in_words(seen: &Snapshot, language: Language) -> String {
    let counts = &seen.counts;
    let established = count(counts.connections_established);
    let mut parts = vec![language.pick(format!("{established} established"), format!("已建立 {established} 个"))];
    if seen.tls.count() > 0 {
        let (handshakes, resumed) = (count(seen.tls.count()), count(counts.tls_resumed));
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

/// The users of a closed load.
fn users_in_words(users: u64, shape: &UserShape, language: Language) -> String {
    let number = count(users);
    match shape {
        UserShape::AtOnce => {
            language.pick(format!("closed model, {}", counted(users, "user")), format!("固定并发 {number} 个用户"))
        }
        UserShape::Rendezvous => language.pick(
            format!("closed model, {number} users who start together in rounds"),
            format!("固定并发 {number} 个用户，每轮在集合点同时发起"),
        ),
        UserShape::Ramp(ramp) => {
            let ramp = span(*ramp);
            language.pick(
                format!("closed model, {number} users who come within {ramp}"),
                format!("固定并发 {number} 个用户，在 {ramp} 内逐个加入"),
            )
        }
        UserShape::Stages(stages) => {
            let mut levels = vec![count(stages.first().map_or(0, |stage| stage.from))];
            levels.extend(stages.iter().map(|stage| format!("{} ({})", count(stage.to), span(stage.span))));
            let levels = levels.join(" -> ");
            language.pick(format!("closed model, users {levels}"), format!("用户数 {levels}"))
        }
    }
}

/// The rates of an open load: one when it never changes, else from stage to stage.
fn stages_in_words(stages: &[RateStage], language: Language) -> String {
    // In the largest unit in which it is a whole number, or else as a decimal of the one that shows it best.
    let named = |thousandths_per_hour: u64| match thousandths_per_hour {
        0 => "0/s".to_owned(),
        exact if exact % 3_600_000 == 0 => format!("{}/s", count(exact / 3_600_000)),
        exact if exact % 60_000 == 0 => format!("{}/m", count(exact / 60_000)),
        some if some >= 3_600_000 => format!("{}/s", rate(some as f64 / 3.6e6)),
        few => format!("{}/h", few as f64 / 1e3),
    };
    let is_constant = stages.iter().all(|stage| stage.from == stage.to && stage.to == stages[0].to);
    let rates = match stages.first() {
        Some(stage) if is_constant => named(stage.to),
        _ => {
            let mut rates = vec![named(stages.first().map_or(0, |stage| stage.from))];
            rates.extend(stages.iter().map(|stage| format!("{} ({})", named(stage.to), span(stage.span))));
            rates.join(" -> ")
        }
    };
    language.pick(format!("open model, {rates}"), format!("固定速率 {rates}"))
}

/// What a call sends, when that is not just one message.
fn messages_in_words(call: &Call, language: Language) -> Option<String> {
    let number = call.messages.len() as u64;
    if number == 1 {
        return None;
    }
    let messages = language.pick(counted(number, "message"), format!("每次 {} 条消息", count(number)));
    if call.interval.is_zero() {
        return Some(messages);
    }
    let interval = span(call.interval);
    Some(language.pick(format!("{messages} {interval} apart"), format!("{messages}，间隔 {interval}")))
}

fn talk_in_words(talk: &Talk, path: &str, language: Language) -> String {
    let Some(message) = &talk.message else { return path.to_owned() };
    let bytes = message.bytes.len() as u64;
    let size = language.pick(counted(bytes, "byte"), format!("{} 字节", count(bytes)));
    match message.kind {
        MessageKind::Ping => language.pick(format!("WebSocket pings on {path}"), format!("WebSocket ping {path}")),
        MessageKind::Plain => language.pick(format!("TCP messages of {size}"), format!("TCP 消息（{size}）")),
        MessageKind::Text | MessageKind::Binary => {
            language.pick(format!("WebSocket messages of {size} on {path}"), format!("WebSocket 消息（{size}）{path}"))
        }
    }
}

fn plan_in_words(run: &Run<'_>, language: Language) -> String {
    let scenario = run.plan.scenarios.first().expect("a plan has a scenario");
    let step = scenario.steps.first().expect("a scenario has a step");
    let (method, path) = (&step.request.method, &step.request.path);
    let mut parts = vec![match (&step.call, &step.talk) {
        (Some(_), _) => format!("gRPC {path}"),
        (None, Some(talk)) => talk_in_words(talk, path, language),
        (None, None) if scenario.steps.len() > 1 => {
            let steps = count(scenario.steps.len() as u64);
            match scenario.order {
                Order::InTurn => language.pick(format!("{steps} steps in turn"), format!("{steps} 个步骤依次执行")),
                Order::Shuffled { .. } => language
                    .pick(format!("{steps} steps, shuffled each time round"), format!("{steps} 个步骤，每轮随机排列")),
            }
        }
        (None, None) => format!("{method} {path}"),
    }];
    if let Some(call) = &step.call {
        parts.extend(messages_in_words(call, language));
    }
    let (requests, duration) = match &scenario.load {
        Load::Closed { users, shape, requests, duration } => {
            parts.push(users_in_words(*users, shape, language));
            (*requests, *duration)
        }
        Load::Open { stages, arrivals, requests, connections, .. } => {
            parts.push(stages_in_words(stages, language));
            if let Arrivals::Poisson { .. } = arrivals {
                parts.push(language.pick("at random (Poisson)", "随机间隔（泊松）").to_owned());
            }
            parts.push(match connections {
                ConnectionCount::Exactly(most) => {
                    language.pick(counted(*most, "connection"), format!("{} 个连接", count(*most)))
                }
                ConnectionCount::UpTo(most) => language
                    .pick(format!("up to {} connections", count(*most)), format!("最多 {} 个连接", count(*most))),
            });
            (*requests, Some(stages.iter().map(|stage| stage.span).sum()))
        }
    };
    if !run.plan.warmup.is_zero() {
        let warmup = span(run.plan.warmup);
        parts.push(language.pick(format!("after a warm-up of {warmup}"), format!("预热 {warmup}（不计入结果）")));
    }
    if let Some(requests) = requests {
        parts.push(language.pick(counted(requests, "request"), format!("共 {} 个请求", count(requests))));
    }
    if let Some(duration) = duration {
        parts.push(language.pick(format!("for {}", span(duration)), format!("持续 {}", span(duration))));
    }
    let streams = scenario.target().streams;
    if streams > 1 {
        let streams = count(u64::from(streams));
        parts.push(language.pick(format!("{streams} streams each"), format!("每个连接 {streams} 个流")));
    }
    if scenario.target().protocol == Protocol::Http2 && step.call.is_none() {
        parts.push("HTTP/2".to_owned());
    }
    if !step.keep_alive {
        parts.push(language.pick("a new connection for each", "每个请求新建连接").to_owned());
    }
    parts.join(language.pick(", ", "，"))
}
