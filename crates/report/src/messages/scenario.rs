//! Errors in a scenario file, in both languages: position, line, mark, cause and remedy of all of them at once.

mod names;
mod syntax;
mod values;

use plan::{Function, PatternFault, masked};
use scenario::{Diagnostic, Diagnostics, FlagFault, Object, Opened, Problem, Source, as_keys};
use unicode_width::UnicodeWidthStr;

use super::plan_error::wide_in;
use super::take_error::why_in_chinese;
use super::threshold_error::in_chinese as threshold;
use super::{Doing, in_chinese, listed, plan_error, system_fault, take_error};
use crate::Language;

/// The widest piece of a line that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 100;
/// The characters shown before the mark, where the line is too wide.
const BEFORE_CHARS: usize = 40;
/// The longest mark.
const MARK_CHARS_MAX: usize = 60;

/// All errors of a file, each with its line and a mark below the position.
pub fn scenario_mistakes(mistakes: &Diagnostics, language: Language) -> String {
    let mut text = String::new();
    for mistake in &mistakes.all {
        text.push_str(&one(&mistakes.source, mistake, language));
    }
    let (name, count) = (&mistakes.source.name, mistakes.all.len() + mistakes.more);
    // A file that could not be read has nothing to count.
    if matches!(mistakes.all[..], [Diagnostic { fault: Problem::File { .. }, .. }]) {
        return text.trim_end().to_owned();
    }
    text.push_str(&match (language, count, mistakes.more) {
        (Language::En, 1, _) => format!("{name}: 1 mistake"),
        (Language::En, _, 0) => format!("{name}: {count} mistakes"),
        (Language::En, ..) => format!("{name}: {count} mistakes, of which {} are shown", mistakes.all.len()),
        (Language::Zh, _, 0) => format!("{name}：{count} 处错误"),
        (Language::Zh, ..) => format!("{name}：{count} 处错误，显示了其中 {} 处", mistakes.all.len()),
    });
    text
}

/// The valid content of a file: its scenarios and their steps.
pub fn scenario_contents(opened: &Opened, language: Language) -> String {
    let (file, name) = (&opened.file, &opened.source.name);
    let scenarios: Vec<&str> = file.scenarios.iter().map(|scenario| scenario.name.text.as_str()).collect();
    let (names, count, steps) = (scenarios.join(", "), scenarios.len(), file.step_count());
    let (thresholds, data) = (file.thresholds.len(), file.data.len());
    let s = |count: usize| if count == 1 { "" } else { "s" };
    language.pick(
        format!(
            "{name}: no mistakes; {count} scenario{} ({names}), {steps} step{}, {data} data set{}, {thresholds} threshold{}",
            s(count),
            s(steps),
            s(data),
            s(thresholds)
        ),
        format!("{name}：没有错误；{count} 个场景（{}），{steps} 个步骤，{data} 个数据集，{thresholds} 个阈值", listed(&names)),
    )
}

fn one(source: &Source, mistake: &Diagnostic, language: Language) -> String {
    let english = mistake.fault.to_string();
    let mut cause = match language {
        Language::En => english.clone(),
        Language::Zh => in_chinese(&chinese(&mistake.fault)),
    };
    // Syntax errors name the characters already, and so do value errors in Chinese.
    let is_said = matches!((&mistake.fault, language), (Problem::Syntax(_), _) | (Problem::Value(_), Language::Zh));
    if !is_said {
        // The error in a threshold may be anywhere in it.
        let is_threshold = matches!(mistake.fault, Problem::Threshold(_));
        let line = source.line(source.place(mistake.at.start).line);
        let given = if is_threshold { line } else { source.slice(mistake.at) };
        cause += &wide_in(&format!("{english} {given}"), language);
    }
    if matches!(mistake.fault, Problem::File { .. } | Problem::FileTooLarge { .. }) {
        return format!("{}: {cause}\n", source.name);
    }
    let place = source.place(mistake.at.start);
    let head = format!("{}:{}:{}: {cause}\n", source.name, place.line, place.column);
    let marked = source.slice(mistake.at).lines().next().unwrap_or_default().chars().count();
    let (line, before, marked) = shown(source.line(place.line), place.column - 1, marked.max(1));
    let number = place.line.to_string();
    let blank = " ".repeat(number.len());
    format!(
        "{head}{}\n  {blank} | {}{}\n",
        format!("  {number} | {line}").trim_end(),
        " ".repeat(before),
        "^".repeat(marked)
    )
}

/// A displayed line with masked secrets, the width before the mark, and the width of the mark.
fn shown(line: &str, column: usize, marked: usize) -> (String, usize, usize) {
    let hidden = hidden(line);
    // Masking shifts the columns: the mark goes to the end of the masked text before it.
    let before: String = line.chars().take(column).collect();
    let (line, column) =
        if hidden == line { (line.to_owned(), column) } else { (hidden, self::hidden(&before).chars().count()) };
    let first = if line.chars().count() > SHOWN_CHARS_MAX { column.saturating_sub(BEFORE_CHARS) } else { 0 };
    let visible = |each: char| match each {
        '\t' => '→',
        each if each.is_control() => ' ',
        each => each,
    };
    let piece: String = line.chars().skip(first).take(SHOWN_CHARS_MAX).map(visible).collect();
    let piece = if first > 0 { format!("...{piece}") } else { piece };
    let column = if first > 0 { column - first + 3 } else { column };
    let before: String = piece.chars().take(column).collect();
    let mark: String = piece.chars().skip(column).take(marked.min(MARK_CHARS_MAX)).collect();
    // A Chinese character is two columns wide.
    (piece.trim_end().to_owned(), before.width(), mark.trim_end().width().max(1))
}

/// A line with masked secrets. Keys of the file format whose names look like secrets contain none.
fn hidden(line: &str) -> String {
    const KEYS: [&str; 3] = ["cookies:", "cookie:", "secrets:"];
    let neutral = KEYS.iter().fold(line.to_owned(), |line, key| line.replace(key, "key:"));
    if masked(&neutral) == neutral { line.to_owned() } else { masked(line) }
}

/// Keys for a message.
fn known(near: Option<&String>, known: &str) -> String {
    near.map_or_else(|| format!("；可用：{}", listed(known)), |near| format!("；是否想写 '{near}'？"))
}

/// The location of an object's keys.
fn place_of(object: &Object) -> String {
    match object.id {
        "file" => "文件的最外层".to_owned(),
        "scenario" => "场景中，与 load、steps 并列".to_owned(),
        "load" | "run" | "defaults" | "expect" | "extract" | "data" | "choose" => format!(" {} 下面", object.id),
        _ => "步骤中，即 steps 下的列表里".to_owned(),
    }
}

/// Where a key was looked for.
fn within(object: &Object) -> String {
    match object.id {
        "load" | "run" | "defaults" | "expect" | "extract" | "data" | "choose" => format!("{} 下", object.id),
        _ => format!("{}中", title(object)),
    }
}

/// The suggestion of what is probably meant.
fn meant(near: Option<&String>) -> String {
    near.map_or_else(String::new, |near| format!("；是否想写 '{near}'？"))
}

fn title(object: &Object) -> &'static str {
    object.title_zh
}

fn chinese(fault: &Problem) -> String {
    match fault {
        Problem::File { reason } => {
            let otherwise = ("check the path", "请检查路径");
            format!("无法读取文件：{}", system_fault(reason, Doing::Read, otherwise, Language::Zh))
        }
        Problem::FileTooLarge { most } => format!("文件超过 {most} 字节；请把很长的列表移到数据文件中"),
        Problem::NotUtf8 => "文件不是 UTF-8；请另存为 UTF-8".to_owned(),
        Problem::Syntax(fault) => syntax::chinese(fault),
        Problem::UnknownKey { key, object, near: None, belongs: Some(home), .. } => {
            format!("{}没有 '{key}' 这个字段；它应写在{}", within(object), place_of(home))
        }
        Problem::UnknownKey { key, object, near, known: all, .. } => {
            format!("{}没有 '{key}' 这个字段{}", within(object), known(near.as_ref(), all))
        }
        Problem::DuplicateKey { key, first } => format!("'{key}' 重复，第 {first} 行已有；请只写一次"),
        Problem::MissingKey { object, key } => format!("{}缺少 '{key}'；请补上", within(object)),
        Problem::Conflict { one, other } => format!("'{one}' 和 '{other}' 不能同时使用；请去掉其中一个"),
        Problem::Needs { key, needed } => {
            format!("'{key}' 需要与 '{needed}' 一起使用；请补上 '{needed}'，或去掉 '{key}'")
        }
        Problem::Wrong { wanted, given } => values::wrong(*wanted, given),
        Problem::Boolean { given } => {
            format!("'{given}' 在有的程序中是布尔值，在有的程序中是文本；布尔值请写 true 或 false，文本请加引号")
        }
        Problem::Octal { given } => format!("'{given}' 在不同程序中是不同的数字；请写十进制数字，文本请加引号"),
        Problem::Value(error) => as_keys(&plan_error(error, Language::Zh)),
        Problem::Extract(error) => take_error(error, Language::Zh),
        Problem::Choice { given, near, known } => {
            format!("'{given}' 无效；可选：{}{}", listed(known), meant(near.as_ref()))
        }
        Problem::Pattern(fault) => pattern(*fault),
        Problem::SlotHere => "此处不支持占位符；请直接写出文本".to_owned(),
        Problem::Expression(fault) => values::expression(fault),
        Problem::Threshold(fault) => threshold(*fault),
        Problem::NoVerb { known } => format!("这个步骤没有说明要做什么；需要以下之一：{}", listed(known)),
        Problem::TwoVerbs { one, other } => {
            format!("一个步骤只做一件事，这里同时有 '{one}' 和 '{other}'；请拆成两个步骤")
        }
        Problem::NotTalking { verb } => format!("'{verb}' 只能写在 websocket 或 tcp 步骤的 steps 中；请移到那里"),
        Problem::NotParallel { verb } => format!("'{verb}' 不能并行；parallel 中只能有请求和 gRPC 调用"),
        Problem::Empty { object, key } => format!("{}的 {key} 为空；请至少写一项", within(object)),
        Problem::TooMany { what, most } => format!("{}超过 {most} 个；请减少", values::things(*what)),
        Problem::Idle { scenario } => format!("场景 '{scenario}' 的步骤不发送任何内容；请加上一个步骤，如：get: /"),
        Problem::LoopWithoutEnd(word) => {
            format!("这个 {word} 可能永远循环；请加上 max_rounds（最多循环次数，达到后步骤失败）")
        }
        Problem::LoadWithoutEnd => {
            "这个负载没有终点；请加上 for、iterations 或 iterations_per_user，或写出带时间的阶段".to_owned()
        }
        Problem::NoTarget { url } => {
            format!("'{url}' 是相对地址，但没有 target；请在文件开头加上 target: https://主机，或写完整的 URL")
        }
        Problem::Scheme { url, verb } => format!("'{url}' 不能用于 '{verb}' 步骤；请使用{}", schemes(verb)),
        Problem::NoVariable { name, known } => {
            format!("--var {name}：文件中没有变量 '{name}'；可用：{}", listed(known))
        }
        Problem::UniqueTwice { set } => {
            format!("'{set}' 为 sharing: unique，而另一个场景也在使用它，各行会被再次使用；请为每个场景准备各自的数据")
        }
        Problem::AbortOfPart => "针对单个步骤、事务或场景的阈值在结束时判定；请去掉 abort，或去掉名称".to_owned(),
        Problem::MeetingTooLarge { name, users, most } => {
            format!("集合点 '{name}' 等待 {users} 个用户，但最多只有 {most} 个；请减小该数量，或增加用户数")
        }
        Problem::HostSlot { text } => {
            format!(
                "'${{{text}}}' 位于主机部分，必须在运行前确定；请使用 vars 中不被任何步骤提取的变量，或 ${{env.名称}}"
            )
        }
        Problem::MethodSlot => "此处不支持占位符：一个步骤只调用一个方法；请为每个方法写一个步骤".to_owned(),
        Problem::Slot { text } => format!("无法识别 '${{{text}}}'；请使用变量、数据列或函数"),
        Problem::Unset { name } => format!("没有设置环境变量 {name}；请先设置：{name}=值 onrush ..."),
        Problem::Constant { name, reason } => format!("无法计算变量 '{name}'：{}", why_in_chinese(reason)),
        Problem::Script { reason } => format!("表达式无法编译：{}", why_in_chinese(reason)),
        Problem::Program { .. } => "这个场景的步骤过多或嵌套过深；请拆成多个场景".to_owned(),
        Problem::DataFile { path, reason } => {
            format!("无法读取数据文件 '{path}'：{reason}；路径相对于本文件所在的目录")
        }
        Problem::DataFormat { path } => {
            format!("无法判断 '{path}' 的格式；文件名应以 .csv、.tsv、.json 或 .jsonl 结尾，或用 format 指明")
        }
        Problem::DataEmpty { path } => format!("数据文件 '{path}' 没有数据行；CSV 的第一行是列名"),
        Problem::DataColumns { path, wanted, found } => {
            format!("columns 写了 {wanted} 列，而 '{path}' 的第一行有 {found} 列；请写出每一列，或设置 separator")
        }
        Problem::Name(fault) => names::chinese(fault),
    }
}

fn schemes(verb: &str) -> &'static str {
    match verb {
        "grpc" => " grpc://、grpcs://，或以 / 开头的相对路径",
        "websocket" => " ws://、wss://，或以 / 开头的相对路径",
        "tcp" => " tcp://主机:端口",
        _ => " http://、https://，或以 / 开头的相对路径",
    }
}

fn pattern(fault: PatternFault) -> String {
    match fault {
        PatternFault::Open => "${ 没有对应的 }；请补上，若只是这两个字符请写 $${".to_owned(),
        PatternFault::Empty => "${} 是空的；请在其中写名称，若只是这些字符请写 $${".to_owned(),
        PatternFault::Arguments(function) => format!("{}() 需要{}", function.name(), usage(function)),
        PatternFault::Range => "random(1, 100) 中较小的数写在前面".to_owned(),
        PatternFault::TooManyArguments => {
            format!("函数最多有 {} 个参数；更多的值请放进数据文件", plan::ARGUMENTS_MAX)
        }
        PatternFault::TooMany => format!("占位符超过 {} 个；请缩短文本", plan::SLOTS_MAX),
        PatternFault::TooLong => {
            format!("占位符最多 {} 字节，文本最多 {} 字节；请缩短", plan::SLOT_BYTES_MAX, plan::PATTERN_BYTES_MAX)
        }
        PatternFault::TooDeep => format!("括号嵌套超过 {} 层；请简化", plan::SLOT_DEPTH_MAX),
        PatternFault::Brackets => "占位符中的括号不匹配；请用对应的括号闭合".to_owned(),
        PatternFault::Braces => "{{ }} 在这里不是占位符；请写 ${名称}".to_owned(),
    }
}

fn usage(function: Function) -> &'static str {
    match function {
        Function::Random => "两个整数，如 random(1, 100)",
        Function::Uuid | Function::Name | Function::Email | Function::Phone => "空的括号，没有参数",
        Function::Now => "空的括号，或 's'、'ms'、'us'、'iso' 之一，如 now('iso')",
        Function::Counter => "空的括号，或带引号的名称，如 counter('orders')",
        Function::Base64 | Function::Sha256 | Function::UrlEncode | Function::Json => "一个值，如 base64(token)",
        Function::Hmac => "密钥和文本，如 hmac(env.KEY, token)",
        Function::Pick => "可供选择的值，如 pick('a', 'b', 'c')",
    }
}

#[cfg(test)]
mod tests;

/// The reason why a flag cannot be combined with a file.
pub fn flag_fault(fault: &FlagFault, language: Language) -> String {
    match (fault, language) {
        (FlagFault::Plan(error), _) => super::plan_error(error, language),
        (fault, Language::En) => fault.to_string(),
        (FlagFault::OfRequest { flag }, Language::Zh) => {
            format!(
                "{flag} 描述的是单个请求，而场景文件有自己的请求；请写在文件中（onrush check 文件 会列出可用的字段）"
            )
        }
        (FlagFault::Several { flag, count, names }, Language::Zh) => {
            format!(
                "{flag} 是一个场景的负载，而要运行的场景有 {count} 个；请用 --only 名称 选定一个：{}",
                listed(names)
            )
        }
    }
}
