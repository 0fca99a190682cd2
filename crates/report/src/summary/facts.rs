//! The plan of a run, and its results in numbers.

use std::fmt::Write;

use figures::{Iterations, Run, Tally, per_second};

use super::plan::scenario_in_words;
use crate::format::{bytes, count, counted, is_of, time};
use crate::page::Page;
use crate::{Language, messages};

impl Page {
    pub(super) fn facts(&mut self, run: &Run) {
        self.aim(run);
        self.requests(run);
        let words = self.language().words();
        self.line(words.time, &format!("{:.3}s", run.wall.as_secs_f64()));
        self.traffic(run);
        self.messages(run);
        self.datagrams(run);
        let connections = connections_in_words(run, self.language());
        self.line(words.connections, &connections);
    }

    fn aim(&mut self, run: &Run) {
        let words = self.language().words();
        let scenario = run.plan.scenarios.first().expect("a plan has a scenario");
        let span = run.lookup.map(|span| format!("{} {}", words.lookup, time(span.as_nanos() as f64)));
        let (url, place) = (&scenario.target().url, messages::place(run));
        let mut targets = run.plan.scenarios.iter().flat_map(|scenario| &scenario.targets);
        let is_same = targets.all(|target| target.is_by_same_proxy(scenario.target()));
        let proxy = scenario.target().proxy.as_ref().filter(|_| is_same).map(|proxy| proxy.place());
        let place = proxy.map_or(place.clone(), |proxy| match self.language() {
            Language::En => format!("{place}, through {proxy}"),
            Language::Zh => format!("{place}，经代理 {proxy}"),
        });
        let target = match (self.language(), span) {
            (Language::En, Some(span)) => format!("{url} ({place}, {span})"),
            (Language::En, None) => format!("{url} ({place})"),
            (Language::Zh, Some(span)) => format!("{url}（{place}，{span}）"),
            (Language::Zh, None) => format!("{url}（{place}）"),
        };
        self.line(words.target, &target);
        // Parallel scenarios have targets and loads of their own.
        let others = || run.plan.scenarios.iter().skip(1);
        let mut urls = vec![url];
        for other in others().map(|other| &other.target().url) {
            if !urls.contains(&other) {
                self.line("", other);
                urls.push(other);
            }
        }
        let plan = |scenario| scenario_in_words(&run.plan, scenario, self.language());
        if others().next().is_none() {
            return self.line(words.plan, &plan(scenario));
        }
        let heads = [words.plan].into_iter().chain(std::iter::repeat(""));
        let colon = self.language().pick(": ", "：");
        let lines: Vec<String> =
            run.plan.scenarios.iter().map(|each| format!("{}{colon}{}", each.name, plan(each))).collect();
        heads.zip(lines).for_each(|(head, line)| self.line(head, &line));
    }

    fn requests(&mut self, run: &Run) {
        let (words, counts) = (self.language().words(), &run.tally);
        let sum = sum_in_words(counts, self.language());
        self.line(words.requests, &sum);
        self.uncounted(run);
        if counts.retried() > 0 {
            let number = count(counts.retried());
            let line = self.language().pick(
                format!("{number} of the failed were tried again (on_failure)"),
                format!("失败的请求中有 {number} 个又重试（on_failure）"),
            );
            self.line("", &line);
        }
        if counts.redirects() > 0 {
            let number = count(counts.redirects());
            let line = self
                .language()
                .pick(format!("{number} of them follow redirects"), format!("其中 {number} 个是跟随重定向发出的"));
            self.line("", &line);
        }
        if counts.cut() > 0 {
            let number = count(counts.cut());
            let line = self.language().pick(
                format!("{number} of the unfinished were cut off: the run was ended at once"),
                format!("其中 {number} 个未完成的请求因压测被立即终止"),
            );
            self.line("", &line);
        }
        if run.plan.scenarios.iter().any(|scenario| scenario.steps.len() > 1) {
            self.line("", &iterations_in_words(&run.iterations, self.language()));
        }
        if counts.all_started() == 0 && !run.plan.warmup.is_zero() {
            self.line(
                "",
                self.language().pick(
                    "nothing was started after the warm-up: it was stopped, or its requests had no answer yet",
                    "预热之后没有发起任何请求：压测已被中止，或预热的请求一直没有收到响应",
                ),
            );
        }
        self.dropped(counts);
    }

    /// Requests of the probe and of the warm-up.
    fn uncounted(&mut self, run: &Run) {
        if let Some(probe) = run.probe().filter(|probe| probe.started > 0) {
            let (requests, users, span) = (count(probe.started), count(probe.users), time(probe.span.0 as f64));
            let (said, are) = (counted(probe.users, "user"), is_of(probe.started, "is", "are"));
            let line = self.language().pick(
                format!("and {requests} in the probe ({said}, {span}), which {are} in no figure"),
                format!("另有 {requests} 个用于试探（{users} 个用户，{span}），不计入结果"),
            );
            self.line("", &line);
        }
        if run.tally.warmed_up() > 0 {
            let number = count(run.tally.warmed_up());
            let are = is_of(run.tally.warmed_up(), "is", "are");
            let line = self.language().pick(
                format!("and {number} that ended in the warm-up, which {are} in no figure"),
                format!("另有 {number} 个在预热期间结束，不计入结果"),
            );
            self.line("", &line);
        }
    }

    /// Dropped requests that have a reason of their own.
    fn dropped(&mut self, counts: &Tally) {
        if counts.dropped_by_deadline() > 0 {
            let number = count(counts.dropped_by_deadline());
            let line = self.language().pick(
                format!("{number} of the dropped could not be sent before their deadline"),
                format!("丢弃的请求中，{number} 个未能在截止时间前发出"),
            );
            self.line("", &line);
        }
        if counts.dropped_by_generator() > 0 {
            let number = count(counts.dropped_by_generator());
            let line = self.language().pick(
                format!(
                    "{number} of the dropped were late before they needed a connection: the generator was the limit"
                ),
                format!("丢弃的请求中，{number} 个在需要连接之前就已过晚：瓶颈在压测机"),
            );
            self.line("", &line);
        }
    }

    fn traffic(&mut self, run: &Run) {
        let (words, counts) = (self.language().words(), &run.tally);
        let seconds = run.wall.as_secs_f64();
        let (received, speed, bodies) = (
            bytes(counts.bytes_received() as f64),
            bytes(per_second(counts.bytes_received(), seconds)),
            bytes(counts.body_bytes() as f64),
        );
        let received = self.language().pick(
            format!("{received} ({speed}/s, bodies {bodies})"),
            format!("{received}（{speed}/s，其中响应体 {bodies}）"),
        );
        self.line(words.received, &received);
        let (sent, speed) = (bytes(counts.bytes_sent() as f64), bytes(per_second(counts.bytes_sent(), seconds)));
        let sent = self.language().pick(format!("{sent} ({speed}/s)"), format!("{sent}（{speed}/s）"));
        self.line(words.sent, &sent);
    }

    fn datagrams(&mut self, run: &Run) {
        let words = datagrams_in_words(&run.tally, self.language());
        if !words.is_empty() {
            self.line(self.language().words().datagrams, &words);
        }
    }

    fn messages(&mut self, run: &Run) {
        let (words, counts) = (self.language().words(), &run.tally);
        if run.has_messages() {
            let (sent, received) = (count(counts.messages_left()), count(counts.messages_received()));
            let mut messages = self
                .language()
                .pick(format!("{sent} sent, {received} received"), format!("发送 {sent} 条，接收 {received} 条"));
            if counts.unsolicited_messages() > 0 {
                let unsolicited_messages = count(counts.unsolicited_messages());
                messages.push_str(&self.language().pick(
                    format!(
                        ", {unsolicited_messages} of them pushed by the server; a push that arrives while a message waits counts as its answer"
                    ),
                    format!("，其中 {unsolicited_messages} 条是服务端主动推送的；等待响应期间到达的推送会被当作响应"),
                ));
            }
            self.line(words.messages, &messages);
        }
    }
}

/// What came beside responses, or was sent again.
fn datagrams_in_words(counts: &Tally, language: Language) -> String {
    let parts = [
        (counts.resent(), "sent again without a response", "次未收到响应而重发"),
        (counts.over_stream(), "went on over TCP", "个请求改用 TCP 继续"),
        (counts.late_responses(), "came after their timeout", "个响应在超时之后到达"),
        (counts.duplicate_responses(), "came once more", "个重复响应"),
        (counts.unmatched_datagrams(), "matched no request", "个与任何请求都不匹配"),
        (counts.refused_datagrams(), "refused", "个被拒绝"),
        (counts.cut_datagrams(), "longer than 4,096 bytes and not read", "个超过 4096 字节而未读取"),
        (
            counts.kernel_drops(),
            "dropped by this machine's kernel (raise net.core.rmem_default, or use more connections)",
            "个被本机内核丢弃（可调高 net.core.rmem_default，或增加连接数）",
        ),
    ];
    let parts = parts.into_iter().filter(|(number, ..)| *number > 0);
    let parts = parts
        .map(|(number, en, zh)| language.pick(format!("{} {en}", count(number)), format!("{} {zh}", count(number))));
    parts.collect::<Vec<_>>().join(language.pick(", ", "，"))
}

/// The outcomes of all starts: a sum without a remainder.
fn sum_in_words(counts: &Tally, language: Language) -> String {
    let words = language.words();
    let number_of = |word: &str, number: u64| {
        language.pick(format!("{} {word}", count(number)), format!("{word} {}", count(number)))
    };
    let carried = match counts.carried() {
        0 => String::new(),
        number => language.pick(
            format!(" + {} in flight since the warm-up", count(number)),
            format!(" + 预热时发起、当时在途 {}", count(number)),
        ),
    };
    let mut sum = format!(
        "{}{carried} = {} + {}",
        number_of(words.started, counts.started()),
        number_of(words.succeeded, counts.succeeded()),
        number_of(words.failed, counts.failed)
    );
    let others =
        [(counts.unfinished(), words.unfinished), (counts.dropped(), words.dropped), (counts.lost(), words.lost)];
    for (number, word) in others {
        if number > 0 {
            write!(sum, " + {}", number_of(word, number)).expect("writing to a string does not fail");
        }
    }
    sum
}

fn connections_in_words(run: &Run, language: Language) -> String {
    let counts = &run.tally;
    let established = count(counts.connections_established());
    let established = match run.has_datagrams() {
        true => language.pick(counted(counts.connections_established(), "socket"), format!("套接字 {established} 个")),
        false => language.pick(format!("{established} established"), format!("已建立 {established} 个")),
    };
    let mut parts = vec![established];
    if run.tls.count > 0 {
        let (handshakes, resumed) = (count(run.tls.count), count(counts.tls_resumed()));
        parts.push(language.pick(
            format!("{} ({resumed} resumed)", counted(run.tls.count, "TLS handshake")),
            format!("TLS 握手 {handshakes} 次（其中 {resumed} 次会话恢复）"),
        ));
    }
    if counts.connections_retired() > 0 {
        let retired = count(counts.connections_retired());
        parts.push(
            language.pick(format!("{retired} closed at a limit"), format!("{retired} 个达到期限或请求数上限而关闭")),
        );
    }
    if counts.reconnects() > 0 {
        parts.push(sent_again(counts, language));
    }
    if counts.unsolicited() > 0 {
        let unsolicited = count(counts.unsolicited());
        parts.push(language.pick(
            format!("{unsolicited} closed because the server sent unexpected bytes; look with curl -v"),
            format!("{unsolicited} 个因服务端发送了多余数据而关闭；可用 curl -v 查看"),
        ));
    }
    parts.join(language.pick(", ", "，"))
}

/// Requests that were sent twice, for a comparison with the server's own log.
fn sent_again(counts: &Tally, language: Language) -> String {
    let (again, begun) = (count(counts.reconnects()), counts.begun_before());
    let (en, zh) = match begun {
        0 => ("the server had not accepted them".to_owned(), "服务端并未接收".to_owned()),
        begun => {
            let begun = count(begun);
            (
                format!("the server may have begun {begun} of them before"),
                format!("其中 {begun} 个服务端此前可能已开始处理"),
            )
        }
    };
    let unit = if counts.reconnects() == 1 { "request" } else { "requests" };
    language.pick(format!("{again} {unit} sent again ({en})"), format!("重发 {again} 个请求（{zh}）"))
}

/// The iterations over several steps, by their outcome.
fn iterations_in_words(iterations: &Iterations, language: Language) -> String {
    let &Iterations { completed, failed, cut } = iterations;
    let mut line = language.pick(counted(completed, "iteration"), format!("完成 {} 次迭代", count(completed)));
    if failed > 0 {
        line += &language.pick(format!(", {} failed", count(failed)), format!("，失败 {} 次", count(failed)));
    }
    if cut > 0 {
        line += &language.pick(format!(", {} cut off", count(cut)), format!("，中断 {} 次", count(cut)));
    }
    line
}

#[cfg(test)]
mod tests {
    use metrics::Counter;

    use super::*;

    #[test]
    fn requests_that_went_out_twice_are_reported_with_what_the_server_may_have_begun() {
        let cases = [
            (1, 0, "1 request sent again (the server had not accepted them)", "重发 1 个请求（服务端并未接收）"),
            (
                2_000,
                0,
                "2,000 requests sent again (the server had not accepted them)",
                "重发 2,000 个请求（服务端并未接收）",
            ),
            (
                7,
                3,
                "7 requests sent again (the server may have begun 3 of them before)",
                "重发 7 个请求（其中 3 个服务端此前可能已开始处理）",
            ),
        ];
        for (again, begun, english, chinese) in cases {
            let mut tally = Tally::default();
            tally.counters[Counter::Reconnects] = again;
            tally.counters[Counter::BegunBefore] = begun;
            assert_eq!(sent_again(&tally, Language::En), english);
            assert_eq!(sent_again(&tally, Language::Zh), chinese);
        }
    }
}
