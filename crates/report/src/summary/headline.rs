//! The lines that most users read, and often all that they read.

use figures::{Quantile, Run, Tally, ThresholdResult};
use metrics::Measure;

use crate::format::{count, percent, rate};
use crate::page::{Page, marked};
use crate::screen::Paint;
use crate::{Language, barriers, budget, rows, verdict, workers};

impl Page {
    /// Verdict and thresholds, the rate, the success, and three times.
    pub(super) fn headline(&mut self, run: &Run) {
        let words = self.language().words();
        self.verdict(run);
        self.budget(run);
        self.thresholds(run);
        if !verdict::is_without_time(run) {
            self.line(words.per_second, &rates_in_words(run, self.language()));
        }
        if let Some(goodput) = run.goodput_per_s.filter(|_| !verdict::is_without_time(run)) {
            self.line(words.goodput, &goodput_in_words(goodput, &run.tally, self.language()));
        }
        let success = success_in_words(&run.tally, self.language());
        self.painted(words.success, &success, if run.tally.failed > 0 { Paint::Bad } else { Paint::Plain });
        let response = run.succeeded.by_measure(Measure::Response);
        if response.count + response.incomplete > 0 {
            let shown = [(Quantile::P50, "p50"), (Quantile::P99, "p99"), (Quantile::Max, words.max)];
            let parts = shown.map(|(quantile, name)| {
                let text = format!("{name} {}", marked(response, quantile));
                if quantile == Quantile::P99 { self.screen.paint(&text, Paint::Strong) } else { text }
            });
            self.raw(words.response_time, &parts.join("   "));
        }
    }

    /// The part of the budget that ended the run.
    fn budget(&mut self, run: &Run) {
        if let Some(text) = budget::used_up(run, self.language()) {
            self.line(self.language().pick("Budget", "用量上限"), &text);
        }
        for text in rows::used_up(run, self.language()) {
            self.line(self.language().pick("Data", "数据"), &text);
        }
        if let Some(text) = workers::missed(run.workers_summary.as_ref(), self.language()) {
            self.warn(self.language().pick("Workers", "工作进程"), &text);
        }
        if let Some(text) = workers::changed_late(run.workers_summary.as_ref(), self.language()) {
            self.warn(self.language().pick("Workers", "工作进程"), &text);
        }
        for text in barriers::missed(run, self.language()) {
            self.line(self.language().pick("Meetings", "集合点"), &text);
        }
    }

    fn verdict(&mut self, run: &Run) {
        let paint = match verdict::tone(run) {
            verdict::Tone::Good => Paint::Good,
            verdict::Tone::Unsure => Paint::Strong,
            verdict::Tone::Bad => Paint::Bad,
        };
        self.painted(self.language().words().verdict, &verdict::verdict(run, self.language()), paint);
        if let Some(mark) = verdict::unreliable(run, self.language()) {
            self.warn("", mark);
        }
    }

    fn thresholds(&mut self, run: &Run) {
        let mut label = self.language().words().thresholds;
        for ThresholdResult { threshold, judgement } in &run.judged {
            let line = verdict::threshold_line(threshold, judgement, self.language());
            self.painted(label, &line, if judgement.holds { Paint::Good } else { Paint::Bad });
            label = "";
        }
    }
}

/// Completed exchanges per second; for an open load with the requested rate, and the started one where that differs.
fn rates_in_words(run: &Run, language: Language) -> String {
    let done = rate(run.rate);
    let (Some(achieved), Some(requested)) = (run.achieved_per_s.map(rate), run.requested_per_s.map(rate)) else {
        return done;
    };
    if let Some(iterations) = verdict::iterations_requested(run).map(rate) {
        return language.pick(
            format!("{done} completed; {iterations} iterations/s requested"),
            format!("完成 {done}；计划每秒 {iterations} 次迭代"),
        );
    }
    if run.tally.redirects() > 0 {
        return language.pick(
            format!("{done} completed with redirects; {achieved} started of {requested} requested"),
            format!("完成 {done}（含重定向），发起 {achieved}，计划 {requested}"),
        );
    }
    let completed =
        language.pick(format!("{done} completed of {requested} requested"), format!("完成 {done}，计划 {requested}"));
    if done == achieved || achieved == requested {
        return completed;
    }
    language.pick(format!("{completed}; {achieved} started"), format!("{completed}，发起 {achieved}"))
}

/// Successes within their deadline per second, and how many came later.
fn goodput_in_words(goodput: f64, counts: &Tally, language: Language) -> String {
    let (missed, share) = (counts.missed_deadline(), percent(counts.missed_deadline(), counts.succeeded()));
    let (goodput, late) = (rate(goodput), count(missed));
    match missed {
        0 => language.pick(
            format!("{goodput}; no success came after its deadline"),
            format!("{goodput}；没有成功请求超过截止时间"),
        ),
        _ => language.pick(
            format!("{goodput}; {late} more ({share} of the successes) came after their deadline"),
            format!("{goodput}；另有 {late} 个成功请求（占 {share}）超过截止时间"),
        ),
    }
}

/// The success ratio of all starts; and of the completed ones, where that differs.
fn success_in_words(counts: &Tally, language: Language) -> String {
    let (of_all, of_ended) = (
        percent(counts.succeeded(), counts.all_started() - counts.cut()),
        percent(counts.succeeded(), counts.finished()),
    );
    if of_all == of_ended || counts.finished() == 0 {
        return of_all;
    }
    language
        .pick(format!("{of_all} ({of_ended} of those that ended)"), format!("{of_all}（已结束的请求中 {of_ended}）"))
}
