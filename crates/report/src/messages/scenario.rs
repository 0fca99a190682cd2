//! Errors in a scenario file, in both languages: position, line, mark, cause and remedy of all of them at once.

use plan::masked;
use scenario::{Diagnostic, Diagnostics, FlagFault, Opened, Problem, Source, Span, as_keys, with_quotes};
use unicode_width::UnicodeWidthStr;

use super::extract_error::why_in_chinese;
use super::plan_error::wide_in;
use super::threshold_error::in_chinese as threshold;
use super::{Doing, in_chinese, listed, plan_error, system_fault};
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

/// What is legal in a file and probably wrong; empty without any.
pub fn scenario_warnings(opened: &Opened, language: Language) -> String {
    let source = &opened.source;
    let mut text = String::new();
    for warning in opened.warnings() {
        let cause = language.pick(warning.concern.to_string(), in_chinese(&warning.concern.chinese()));
        text.push_str(&marked(source, warning.at, language.pick("warning: ", "警告："), &cause));
    }
    text.trim_end().to_owned()
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
        let line = source.line_at(mistake.at.start);
        let given = if is_threshold { line } else { source.slice(mistake.at) };
        cause += &wide_in(&format!("{english} {given}"), language);
    }
    if matches!(mistake.fault, Problem::File { .. } | Problem::FileTooLarge { .. }) {
        return format!("{}{}{cause}\n", source.name, language.pick(": ", "："));
    }
    let mut text = marked(source, mistake.at, "", &cause);
    if let Some(line) = with_quotes(source, mistake) {
        let blank = " ".repeat(source.place(mistake.at.start).line.to_string().len());
        let line: String = hidden(&line).chars().take(SHOWN_CHARS_MAX).collect();
        text.push_str(&format!("  {blank} = {}{line}\n", language.pick("write: ", "请写：")));
    }
    text
}

/// A text at a position: with its line, and a mark below it.
fn marked(source: &Source, at: Span, kind: &str, cause: &str) -> String {
    let place = source.place(at.start);
    let name = source.name_at(at.start);
    let head = format!("{name}:{}:{}: {kind}{cause}\n", place.line, place.column);
    let marked = source.slice(at).lines().next().unwrap_or_default().chars().count();
    let (line, before, marked) = shown(source.line_at(at.start), place.column - 1, marked.max(1));
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

fn chinese(fault: &Problem) -> String {
    match fault {
        Problem::File { reason } => {
            let otherwise = ("check the path", "请检查路径");
            Problem::File { reason: system_fault(reason, Doing::Read, otherwise, Language::Zh) }.chinese()
        }
        Problem::Value(error) => as_keys(&plan_error(error, Language::Zh)),
        Problem::Threshold(fault) => threshold(*fault),
        Problem::Constant { .. } | Problem::Script { .. } => why_in_chinese(&fault.chinese()),
        fault => fault.chinese(),
    }
}

#[cfg(test)]
mod tests;

/// The reason why a flag cannot be combined with a file.
pub fn flag_fault(fault: &FlagFault, language: Language) -> String {
    match fault {
        FlagFault::Plan(error) => super::plan_error(error, language),
        fault => language.pick(fault.to_string(), fault.chinese()),
    }
}
