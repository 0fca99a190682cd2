//! Recorded exchanges for display: the failed ones, and those of `--debug`.

mod parts;

use std::fmt::Write;

use metrics::{Failure, Outcome, Sample};
use plan::{SecretValues, Step};

use crate::format::{count, time};
use crate::{Language, messages};
use figures::{Quantile, Run};
pub(crate) use parts::masked_line;

/// Options for the display of exchanges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Showing {
    /// The language.
    pub language: Language,
    /// Known secrets, which are masked; `None` where secrets are shown too.
    pub secrets: Option<SecretValues>,
}

impl Showing {
    /// The value of a name, masked if it is that of a secret.
    fn hide_value(&self, name: &str, value: &str) -> String {
        let is_hidden = self.secrets.is_some() && plan::is_secret_field(name);
        if is_hidden { "***".to_owned() } else { self.hide(value) }
    }

    /// A text with masked secrets.
    fn hide(&self, text: &str) -> String {
        match &self.secrets {
            Some(known) => known.hide(&plan::masked(text)),
            None => text.to_owned(),
        }
    }
}

/// The recorded failed exchanges; empty without any.
pub fn failed_responses(run: &Run, showing: &Showing) -> String {
    let samples: Vec<&Sample> =
        run.samples.iter().filter(|sample| matches!(sample.outcome, Outcome::Failed(_))).collect();
    let failed = run.tally.failed;
    if samples.is_empty() {
        return String::new();
    }
    let (kept, failed) = (samples.len(), count(failed));
    let mut text = showing.language.pick(
        format!("\nfailed answers, the first {kept} of {failed}\n"),
        format!("\n失败的响应（{failed} 个中的前 {kept} 个）\n"),
    );
    for (number, sample) in samples.into_iter().enumerate() {
        let at = time(sample.at_ns as f64);
        let step = step_of(run, sample).map_or(String::new(), |step| visible(&showing.hide(&step.name)));
        let reason = reason(sample, run, showing);
        let colon = showing.language.pick(": ", "：");
        let _ = writeln!(text, "\n{}. {at}  {step}{colon}{reason}", number + 1);
        way(sample, showing, &mut text);
        parts::write(sample, step_of(run, sample), showing, &mut text);
    }
    text
}

/// Whether a recorded exchange has a response, or a reason why nothing was sent.
pub fn has_responses(run: &Run) -> bool {
    let says_why = |sample: &Sample| sample.parts.is_empty() && !sample.reason.is_empty();
    run.samples.iter().any(|sample| says_why(sample) || sample.parts.iter().any(|part| !part.is_ours))
}

/// One exchange, or the chain of its redirects, in the form of `curl -v`, with its instants.
pub fn exchange_in_full(run: &Run, showing: &Showing) -> String {
    let language = showing.language;
    let mut text = String::new();
    let connected = run.connect.at(Quantile::Max).map(|known| time(known.ns as f64));
    let _ = writeln!(
        text,
        "* {}",
        match connected {
            Some(span) => language.pick(
                format!("connected to {} in {span}", messages::place(run)),
                format!("已连接 {}，用时 {span}", messages::place(run))
            ),
            None => language.pick(
                format!("not connected to {}", messages::place(run)),
                format!("未能连接 {}", messages::place(run))
            ),
        }
    );
    if let Some(seed) = run.plan.seed {
        let line = language.pick(format!("--seed {seed} draws the same"), format!("--seed {seed} 抽取结果相同"));
        let _ = writeln!(text, "* {line}");
    }
    if let Some(span) = run.tls.at(Quantile::Max).map(|known| time(known.ns as f64)) {
        let _ = writeln!(text, "* {}", language.pick(format!("TLS handshake {span}"), format!("TLS 握手 {span}")));
    }
    let first_place = run.plan.scenarios.first().map(|scenario| scenario.target().place()).unwrap_or_default();
    let mut place = first_place.as_str();
    for sample in &run.samples {
        if sample.place != place {
            place = &sample.place;
            let shown = visible(place);
            let _ = writeln!(text, "* {}", language.pick(format!("to {shown}"), format!("发往 {shown}")));
        }
        if sample.parts.is_empty() {
            let step = step_of(run, sample).map_or(String::new(), |step| visible(&showing.hide(&step.name)));
            let line = language.pick(format!("nothing was sent: {step}"), format!("没有发送：{step}"));
            let _ = writeln!(text, "* {line}");
        }
        parts::write(sample, step_of(run, sample), showing, &mut text);
        if let Some(status) = parts::grpc_status(sample) {
            let _ =
                writeln!(text, "* {}", language.pick(format!("gRPC status {status}"), format!("gRPC 状态 {status}")));
        }
        instants(sample, language, &mut text);
        let outcome = match sample.outcome {
            Outcome::Succeeded => language.pick("succeeded", "成功").to_owned(),
            Outcome::Failed(_) => language.pick(
                format!("failed: {}", reason(sample, run, showing)),
                format!("失败：{}", reason(sample, run, showing)),
            ),
        };
        let _ = writeln!(text, "* {outcome}\n");
    }
    text
}

/// The instants of its sending and of its response.
fn instants(sample: &Sample, language: Language, text: &mut String) {
    let of = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| format!("+{}", time(ns as f64)));
    let after = |ns: Option<u64>| of(sample.wait_ns.zip(ns).map(|(wait, ns)| wait + ns));
    let (sent, first, done) = (of(sample.wait_ns), after(sample.first_byte_ns), after(sample.service_ns));
    let _ = writeln!(
        text,
        "* {}",
        language.pick(
            format!("planned +0; sent {sent}; first byte {first}; done {done}"),
            format!("计划 +0；发出 {sent}；首字节 {first}；完成 {done}"),
        )
    );
}

fn step_of<'a>(run: &'a Run, sample: &Sample) -> Option<&'a Step> {
    run.plan.scenarios.iter().flat_map(|scenario| &scenario.steps).nth(sample.step as usize)
}

fn reason(sample: &Sample, run: &Run, showing: &Showing) -> String {
    let Outcome::Failed(failure) = sample.outcome else { return String::new() };
    let name = messages::failure_called(failure, showing.language);
    if !sample.reason.is_empty() {
        let why = visible(&showing.hide(&sample.reason));
        return showing.language.pick(format!("{name}: {why}"), format!("{name}：{}", messages::why_in_chinese(&why)));
    }
    if failure == Failure::Status && sample.status > 0 {
        return format!("{name} {}", sample.status);
    }
    let remedy = visible(&messages::remedy_at(failure, &sample.place, run, showing.language));
    format!("{name}{}{remedy}", showing.language.pick(" - ", "："))
}

/// The redirects that led to a failure.
fn way(sample: &Sample, showing: &Showing, text: &mut String) {
    for line in &sample.way {
        let _ = writeln!(text, "  {}", visible(&showing.hide(line)));
    }
}

/// A server text without control characters, which would affect the terminal.
fn visible(text: &str) -> String {
    text.chars()
        .flat_map(|each| {
            let is_control = each.is_control() && !matches!(each, '\n' | '\t');
            let escaped = is_control.then(|| each.escape_default());
            escaped.into_iter().flatten().chain((!is_control).then_some(each))
        })
        .collect()
}
