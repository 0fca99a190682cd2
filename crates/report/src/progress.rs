//! The progress of a run in one short line, and the text before it begins.

use core::time::Duration;
use std::net::SocketAddr;

use plan::{Hold, Load, Scenario};

use crate::format::{count, counted, span};
use crate::summary::scenario_in_words;
use crate::wrap::{cut, wrap};
use crate::{Language, Screen, held};

/// The planned size of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    warmup: Duration,
    duration: Option<Duration>,
    grace: Duration,
    requests: Option<u64>,
}

impl Aim {
    /// The size of a load.
    pub fn for_load(plan: &plan::Plan) -> Self {
        let of = |scenario: &Scenario| match &scenario.load {
            Load::Closed { requests, duration, .. } => {
                let of_each = scenario.iterations_per_user.filter(|_| duration.is_none());
                let requests = requests.or(of_each.map(|each| each.saturating_mul(scenario.users())));
                (requests, duration.map(|span| scenario.begin + span))
            }
            Load::Open { stages, requests, .. } => {
                (*requests, Some(scenario.begin + stages.iter().map(|stage| stage.span).sum::<Duration>()))
            }
        };
        let all: Vec<_> = plan.scenarios.iter().map(of).collect();
        // The longest scenario ends last; requests are counted over all of them.
        let duration = all.iter().map(|(_, duration)| *duration).collect::<Option<Vec<_>>>();
        let duration = duration.and_then(|spans| spans.into_iter().max());
        let requests = if let [(requests, _)] = all[..] { requests } else { None };
        Self { warmup: plan.warmup, duration, grace: plan.grace, requests }
    }

    /// The size of a hold: the time to open the connections, and the time to hold them.
    pub fn for_hold(plan: &Hold) -> Self {
        // The ramp is in thousandths of connections per hour.
        let opening =
            plan.ramp.map_or(0.0, |ramp| (plan.connections * plan::RATE_UNIT) as f64 / (ramp as f64).max(1.0));
        let duration = Duration::from_secs_f64(opening.min(1e9)) + plan.duration;
        Self { duration: Some(duration), ..Self::default() }
    }

    /// The total number of requests, when it is limited.
    pub fn requests(&self) -> Option<u64> {
        self.requests
    }

    /// The length of the measured time, when a time ends it.
    pub fn duration(&self) -> Option<Duration> {
        self.duration
    }

    /// The progress after this time, with this many requests done. At most `columns` wide.
    pub fn progress(&self, elapsed: Duration, done: u64, columns: usize, language: Language) -> String {
        // Writing to the last column makes some terminals wrap.
        cut(&self.line(elapsed, done, language), columns.saturating_sub(1))
    }

    fn line(&self, elapsed: Duration, done: u64, language: Language) -> String {
        let whole = |span_of: Duration| span(Duration::from_secs(span_of.as_secs()));
        // A second that has begun still counts as left.
        let left = |until: Duration| span(Duration::from_secs_f64((until - elapsed).as_secs_f64().ceil()));
        if elapsed < self.warmup {
            let left = left(self.warmup);
            return language.pick(format!("warming up, {left} left"), format!("预热中，还剩 {left}"));
        }
        let running = elapsed - self.warmup;
        let requests = self.requests.map(|all| {
            let share = (done as f64 * 100.0 / all.max(1) as f64).min(100.0);
            let (done, said, all) = (count(done), counted(all, "request"), count(all));
            language
                .pick(format!("{done} of {said}, {share:.0}%"), format!("已完成 {done} / {all} 个请求，{share:.0}%"))
        });
        let time = self.duration.map(|duration| {
            let end = self.warmup + duration;
            if elapsed < end {
                let (now, all, left) = (whole(running), span(duration), left(end));
                return language.pick(format!("{now} of {all}, {left} left"), format!("{now} / {all}，还剩 {left}"));
            }
            let grace = end + self.grace;
            if elapsed < grace {
                let left = left(grace);
                return language.pick(
                    format!("waiting for the last answers, at most {left}"),
                    format!("等待最后的响应，最多 {left}"),
                );
            }
            language.pick("finishing", "正在结束").to_owned()
        });
        let parts: Vec<String> = time.into_iter().chain(requests).collect();
        if parts.is_empty() {
            return language.pick(format!("{} so far", whole(running)), format!("已运行 {}", whole(running)));
        }
        parts.join(language.pick("; ", "；"))
    }
}

/// The text before a load: its target and its plan.
pub fn begins(plan: &plan::Plan, address: SocketAddr, screen: &Screen) -> String {
    let language = screen.language;
    let scenario = plan.scenarios.first().expect("a plan has a scenario");
    if plan.scenarios.len() > 1 {
        let names: Vec<&str> = plan.scenarios.iter().map(|each| each.name.as_str()).collect();
        let line = language.pick(
            format!("running {} side by side; Ctrl-C ends them", names.join(", ")),
            format!("同时运行 {}；按 Ctrl-C 结束", names.join("、")),
        );
        return in_lines(&line, screen);
    }
    let (url, words) = (&scenario.target().url, scenario_in_words(plan, scenario, language));
    let line = language.pick(
        format!("loading {url} ({address}): {words}; Ctrl-C ends it"),
        format!("压测 {url}（{address}）：{words}；按 Ctrl-C 结束"),
    );
    in_lines(&line, screen)
}

/// The same before a hold.
pub fn hold_begins(plan: &Hold, address: SocketAddr, screen: &Screen) -> String {
    let language = screen.language;
    let (url, words) = (plan::masked_url(&plan.target.url), held::plan_in_words(plan, language));
    let line = language.pick(
        format!("holding connections to {url} ({address}): {words}; Ctrl-C ends it"),
        format!("长连接压测 {url}（{address}）：{words}；按 Ctrl-C 结束"),
    );
    in_lines(&line, screen)
}

fn in_lines(text: &str, screen: &Screen) -> String {
    screen.room.map_or_else(|| text.to_owned(), |room| wrap(text, room.columns).join("\n"))
}
