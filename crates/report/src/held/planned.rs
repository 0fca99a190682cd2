//! The plan of a hold, in words.

use plan::{Hold, HoldWork};

use crate::Language;
use crate::format::{count, counted, rate, span};

/// The plan of a hold in one line.
pub(crate) fn plan_in_words(plan: &Hold, language: Language) -> String {
    let connections = count(plan.connections);
    let pace = plan.ramp.map_or(String::new(), |rate_of| {
        let per_s = rate(rate_of as f64 / plan::RATE_UNIT as f64);
        language.pick(format!(" at {per_s}/s"), format!("，每秒 {per_s} 个"))
    });
    let held = span(plan.duration);
    let work = match plan.work {
        HoldWork::Nothing => language.pick("nothing is sent".to_owned(), "不发送消息".to_owned()),
        HoldWork::Once => language.pick("one message on each connection".to_owned(), "每个连接发送一条消息".to_owned()),
        HoldWork::Every(every) => {
            let every = span(every);
            language.pick(format!("a message on each connection every {every}"), format!("每个连接每 {every} 一条消息"))
        }
        HoldWork::Pause { least, most } => {
            let (least, most) = (span(least), span(most));
            language.pick(
                format!("messages on each connection with pauses of {least} to {most}"),
                format!("每个连接每次等待 {least} 到 {most} 后发送一条消息"),
            )
        }
    };
    language.pick(
        format!("{}{pace}, held {held}, {work}", counted(plan.connections, "connection")),
        format!("{connections} 个连接{pace}，保持 {held}，{work}"),
    )
}
