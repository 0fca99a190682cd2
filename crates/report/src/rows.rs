//! Files whose rows were used up.

use engine::UsedUp;
use figures::Run;
use serde_json::{Value, json};

use crate::Language;
use crate::format::count;

/// A line for each file.
pub(crate) fn used_up(run: &Run, language: Language) -> Vec<String> {
    let reported = |UsedUp { file, rows, is_update }: &UsedUp| {
        let (file, rows) = (file.display(), count(*rows));
        if *is_update {
            language.pick(
                format!("rows used twice: {file} has {rows}, and more were needed; add rows, or say on_end: stop"),
                format!("数据行被重复使用：{file} 只有 {rows} 行，不够用；请增加数据，或设置 on_end: stop"),
            )
        } else {
            language.pick(
                format!("rows used up: all {rows} of {file}; users that needed another row ended"),
                format!("数据已用完：{file} 共 {rows} 行；需要更多数据的用户或负载已结束"),
            )
        }
    };
    run.used_up.iter().map(reported).collect()
}

/// The file whose rows ended the load before its plan.
pub(crate) fn that_ended_it(run: &Run) -> Option<String> {
    // With several scenarios it may have been a file of another one.
    let ended = run.used_up.iter().find(|file| !file.is_update && run.plan.scenarios.len() == 1);
    ended.map(|file| file.file.display().to_string())
}

/// The files as JSON.
pub(crate) fn value(run: &Run) -> Value {
    let reported = |UsedUp { file, rows, is_update }: &UsedUp| json!({ "file": file.display().to_string(), "rows": rows, "then": if *is_update { "repeat" } else { "stop" } });
    run.used_up.iter().map(reported).collect()
}
