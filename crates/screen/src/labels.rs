//! Labels for stable names, in both languages.

use report::Language;

/// The label of a run state.
pub(crate) fn state(name: &str, language: Language) -> &'static str {
    match name {
        "warming_up" => language.pick("warming up", "预热中"),
        "running" => language.pick("running", "运行中"),
        "paused" => language.pick("paused", "已暂停"),
        "stopping" => language.pick("stopping", "正在停止"),
        "over" => language.pick("over", "已结束"),
        _ => language.pick("starting", "正在启动"),
    }
}
