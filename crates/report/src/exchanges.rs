//! Exchanges as they went over the wire, for a person: what failed, and what `--debug` shows.

use std::fmt::Write;

use metrics::{Outcome, Sample};

use crate::figures::Run;
use crate::format::{count, time};
use crate::{Language, say};

/// How exchanges are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Showing {
    /// The language.
    pub language: Language,
    /// Secrets are shown too.
    pub with_secrets: bool,
}

/// The failed answers that were kept; empty when there are none.
pub fn failed_answers(run: &Run<'_>, showing: Showing) -> String {
    let samples: Vec<&Sample> =
        run.seen().samples().iter().filter(|sample| matches!(sample.outcome, Outcome::Failed(_))).collect();
    let failed: u64 = run.seen().counts.failures().map(|(_, number)| number).sum();
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
        let step = step_name(run, sample.step);
        let reason = reason(sample, run, showing.language);
        let _ = writeln!(text, "\n{}. {at}  {step}: {reason}", number + 1);
        answer(sample, showing, &mut text);
    }
    text
}

/// One exchange, or those that redirects made of it, as curl shows them with `-v`, with its instants.
pub fn exchange_in_full(run: &Run<'_>, showing: Showing) -> String {
    let language = showing.language;
    let seen = run.seen();
    let mut text = String::new();
    let connected = seen.connect.max().map(|ns| time(ns as f64));
    let _ = writeln!(
        text,
        "* {}",
        match connected {
            Some(span) => language.pick(
                format!("connected to {} in {span}", run.place()),
                format!("已连接 {}，用时 {span}", run.place())
            ),
            None => language.pick(format!("not connected to {}", run.place()), format!("未能连接 {}", run.place())),
        }
    );
    if let Some(span) = seen.tls.max().map(|ns| time(ns as f64)) {
        let _ = writeln!(text, "* {}", language.pick(format!("TLS handshake {span}"), format!("TLS 握手 {span}")));
    }
    for sample in seen.samples() {
        lines(&sample.request, '>', showing, &mut text);
        answer(sample, showing, &mut text);
        let of = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| format!("+{}", time(ns as f64)));
        let after = |ns: Option<u64>| of(sample.wait_ns.zip(ns).map(|(wait, ns)| wait + ns));
        let (sent, first, done) = (of(sample.wait_ns), after(sample.first_byte_ns), after(sample.service_ns));
        let _ = writeln!(
            text,
            "* {}",
            language.pick(
                format!("intended +0; sent {sent}; first byte {first}; done {done}"),
                format!("计划 +0；发出 {sent}；首字节 {first}；完成 {done}"),
            )
        );
        let outcome = match sample.outcome {
            Outcome::Succeeded => language.pick("succeeded", "成功").to_owned(),
            Outcome::Failed(_) => language.pick(
                format!("failed: {}", reason(sample, run, language)),
                format!("失败：{}", reason(sample, run, language)),
            ),
        };
        let _ = writeln!(text, "* {outcome}\n");
    }
    text
}

fn step_name(run: &Run<'_>, step: u32) -> String {
    let steps = run.plan.scenarios.first().map_or(&[][..], |scenario| &scenario.steps);
    steps.get(step as usize).map_or(String::new(), |step| visible(&step.name))
}

fn reason(sample: &Sample, run: &Run<'_>, language: Language) -> String {
    let Outcome::Failed(failure) = sample.outcome else { return String::new() };
    let name = say::failure_name(failure);
    if !sample.reason.is_empty() {
        return format!("{name}: {}", visible(&sample.reason));
    }
    if sample.status > 0 {
        return format!("{name} {}", sample.status);
    }
    format!("{name} - {}", say::failure_remedy(failure, run, language))
}

/// Head and body of an answer.
fn answer(sample: &Sample, showing: Showing, text: &mut String) {
    if sample.head.is_empty() {
        return;
    }
    lines(&sample.head, '<', showing, text);
    if sample.body.is_empty() {
        return;
    }
    match std::str::from_utf8(&sample.body).map_err(|error| (error.valid_up_to(), error.error_len())) {
        Ok(body) => text.push_str(&visible(body)),
        // A character that the bound has cut.
        Err((length, None)) => text.push_str(&visible(&String::from_utf8_lossy(&sample.body[..length]))),
        Err(_) => {
            let bytes = count(sample.body.len() as u64);
            text.push_str(
                &showing
                    .language
                    .pick(format!("[{bytes} bytes that are no text]"), format!("[{bytes} 字节的非文本内容]")),
            );
        }
    }
    text.push('\n');
}

/// The lines of a head, or of a request, each behind a sign.
fn lines(bytes: &[u8], sign: char, showing: Showing, text: &mut String) {
    let head_ends = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |place| place + 4);
    let (head, body) = bytes.split_at(head_ends);
    for line in String::from_utf8_lossy(head).lines() {
        let line = if showing.with_secrets { line.to_owned() } else { masked(line) };
        let _ = writeln!(text, "{sign} {}", visible(&line));
    }
    if !body.is_empty() {
        match std::str::from_utf8(body) {
            Ok(body) => {
                let _ = writeln!(text, "{}", visible(body));
            }
            Err(_) => {
                let bytes = count(body.len() as u64);
                let _ = writeln!(text, "[{bytes} {}]", showing.language.pick("bytes", "字节"));
            }
        }
    }
}

/// A line of a head without what is secret in it.
pub(crate) fn masked(line: &str) -> String {
    let Some((name, value)) = line.split_once(':') else { return line.to_owned() };
    if plan::is_secret_field(name) {
        return format!("{name}: ***");
    }
    // A URL may say who somebody is.
    let is_url = ["location", "content-location", "referer"].iter().any(|url| name.trim().eq_ignore_ascii_case(url));
    match value.find("://").zip(value.rfind('@')) {
        Some((start, end)) if is_url && start < end => format!("{name}:{}://***{}", &value[..start], &value[end..]),
        _ => line.to_owned(),
    }
}

/// What a server says may hold anything; the terminal stays as it is.
fn visible(text: &str) -> String {
    text.chars()
        .flat_map(|each| {
            let is_control = each.is_control() && !matches!(each, '\n' | '\t');
            let escaped = is_control.then(|| each.escape_default());
            escaped.into_iter().flatten().chain((!is_control).then_some(each))
        })
        .collect()
}
