//! A file of flags: `name = value`, one per line. It knows no flags, only names and values; the caller knows what they
//! mean.
//!
//! A value is bare, or a TOML string (`"..."` with escapes, `'...'` without), or a list of them in one line: `["a",
//! "b"]`.

use std::path::Path;

use thiserror::Error;

use crate::errors;

/// The largest file of flags.
const CONFIG_BYTES_MAX: usize = 1024 * 1024;

/// A name with its values, and its position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The line; the first is 1.
    pub line: usize,
    /// The name of a flag, without its hyphens.
    pub name: String,
    /// The value, or those of a list.
    pub values: Vec<String>,
}

/// An error in a file of flags.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {fault}")]
pub struct ConfigError {
    /// The line; the first is 1; 0 stands for the file itself.
    pub line: usize,
    /// The fault.
    pub fault: ConfigFault,
}

errors! {
    /// The fault of a line.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ConfigFault;

    /// There is no `name = value`.
    NoPair;
        "a line is 'name = value', like: connections = 100",
        "每行应写作“名称 = 值”，例如：connections = 100";
    /// A name with other characters than flags have.
    Name(it: String);
        "'{it}' is not the name of a flag; write it without hyphens in front, like: connections = 100",
        "'{it}' 不是参数名；前面不要加连字符，例如：connections = 100";
    /// A string without an end.
    Quote;
        "the quote is not closed",
        "引号没有闭合";
    /// An escape that TOML does not have.
    Escape;
        "unknown escape in a string; known are \\\\ \\\" \\n \\r \\t \\uXXXX; or write it in single quotes",
        "字符串中有无法识别的转义；可用 \\\\ \\\" \\n \\r \\t \\uXXXX，或改用单引号";
    /// A list without an end.
    List;
        "the list is not closed; it stands in one line, like: header = [\"A: 1\", \"B: 2\"]",
        "列表没有闭合；列表要写在一行内，例如：header = [\"A: 1\", \"B: 2\"]";
    /// Text after a string or a list.
    Rest;
        "there is text behind the value; only a comment (#) may follow",
        "值后面还有内容；后面只能写注释（#）";
    /// No value.
    NoValue;
        "the value is missing; an empty one is \"\"",
        "缺少值；空值请写 \"\"";
    /// A TOML section.
    Section;
        "sections are not supported; a file is for one command",
        "不支持分节；一个文件只用于一个命令";
    /// The file is not UTF-8.
    Utf8;
        "the file is not UTF-8",
        "文件不是 UTF-8";
    /// The file is too large.
    TooLarge;
        "the file has more than {CONFIG_BYTES_MAX} bytes",
        "文件超过 {CONFIG_BYTES_MAX} 字节";
    /// The file cannot be read, with the error of the system.
    File(it: String);
        "cannot read the file: {it}",
        "无法读取文件：{it}";
}

/// Reads a file of flags.
///
/// # Errors
/// The file cannot be read, or the first invalid line.
pub fn read_config(path: &Path) -> Result<Vec<Setting>, ConfigError> {
    let whole = |fault| ConfigError { line: 0, fault };
    let bytes = crate::file::read_up_to("--config", &path.to_string_lossy(), CONFIG_BYTES_MAX as u64);
    let bytes = bytes.map_err(|error| match error {
        crate::PlanError::File { reason, .. } => whole(ConfigFault::File(reason)),
        _ => whole(ConfigFault::TooLarge),
    })?;
    parse_config(&String::from_utf8(bytes).map_err(|_| whole(ConfigFault::Utf8))?)
}

/// The settings of a text, in order.
///
/// # Errors
/// The first invalid line.
pub fn parse_config(text: &str) -> Result<Vec<Setting>, ConfigError> {
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    let settings = lines.enumerate().map(|(index, line)| {
        let line_number = index + 1;
        setting(line.trim())
            .map(|pair| pair.map(|(name, values)| Setting { line: line_number, name, values }))
            .map_err(|fault| ConfigError { line: line_number, fault })
    });
    settings.filter_map(Result::transpose).collect()
}

type Pair = (String, Vec<String>);

/// The setting of a line; `None`, when it is empty or a comment.
fn setting(line: &str) -> Result<Option<Pair>, ConfigFault> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.starts_with('[') {
        return Err(ConfigFault::Section);
    }
    let (name, value) = line.split_once('=').ok_or(ConfigFault::NoPair)?;
    let (name, value) = (name.trim(), value.trim());
    let is_of_name = |each: char| each.is_ascii_alphanumeric() || matches!(each, '-' | '_' | '.');
    if name.is_empty() || name.starts_with(['-', '_']) || !name.chars().all(is_of_name) {
        return Err(ConfigFault::Name(name.to_owned()));
    }
    Ok(Some((name.replace('_', "-"), values(value)?)))
}

fn values(text: &str) -> Result<Vec<String>, ConfigFault> {
    let Some(inside) = text.strip_prefix('[') else {
        let (value, rest) = value(text, &['#'])?;
        return ends(rest).map(|()| vec![value]);
    };
    let (mut rest, mut all) = (inside.trim_start(), Vec::new());
    loop {
        if let Some(behind) = rest.strip_prefix(']') {
            return ends(behind).map(|()| all);
        }
        let (one, behind) = value(rest, &[',', ']', '#'])?;
        all.push(one);
        let behind = behind.trim_start();
        rest = match behind.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if behind.starts_with(']') => behind,
            None => return Err(ConfigFault::List),
        };
        if rest.is_empty() {
            return Err(ConfigFault::List);
        }
    }
}

/// Checks that only a comment is left.
fn ends(rest: &str) -> Result<(), ConfigFault> {
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') { Ok(()) } else { Err(ConfigFault::Rest) }
}

/// The first value of a text, and the rest. A bare one ends before one of these marks; before `#` only after a space,
/// since URLs contain it too.
fn value<'a>(text: &'a str, marks: &[char]) -> Result<(String, &'a str), ConfigFault> {
    if let Some(inside) = text.strip_prefix('\'') {
        let (value, rest) = inside.split_once('\'').ok_or(ConfigFault::Quote)?;
        return Ok((value.to_owned(), rest));
    }
    if let Some(inside) = text.strip_prefix('"') {
        return escaped(inside);
    }
    let mut before = ' ';
    let end = text.char_indices().find(|&(_, each)| {
        let is_end = marks.contains(&each) && (each != '#' || before.is_whitespace());
        before = each;
        is_end
    });
    let (value, rest) = text.split_at(end.map_or(text.len(), |(place, _)| place));
    let value = value.trim_end();
    if value.is_empty() { Err(ConfigFault::NoValue) } else { Ok((value.to_owned(), rest)) }
}

/// A string with escapes, after its first quote.
fn escaped(text: &str) -> Result<(String, &str), ConfigFault> {
    let (mut value, mut rest) = (String::new(), text.chars());
    loop {
        match rest.next().ok_or(ConfigFault::Quote)? {
            '"' => return Ok((value, rest.as_str())),
            '\\' => value.push(match rest.next().ok_or(ConfigFault::Quote)? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                same @ ('"' | '\\') => same,
                'u' => {
                    let digits = rest.as_str().get(..4).ok_or(ConfigFault::Escape)?;
                    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                    let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex);
                    rest = rest.as_str()[4..].chars();
                    code.and_then(char::from_u32).ok_or(ConfigFault::Escape)?
                }
                _ => return Err(ConfigFault::Escape),
            }),
            each => value.push(each),
        }
    }
}

#[cfg(test)]
mod tests;
