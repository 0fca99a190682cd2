//! Errors of a file of flags, in both languages.

use plan::{CONFIG_BYTES_MAX, ConfigError, ConfigFault};

use super::{Doing, system_fault};
use crate::Language;

/// The file, the line, and the error.
pub fn config_error(path: &str, error: &ConfigError, language: Language) -> String {
    let fault = match language {
        Language::En => error.fault.to_string(),
        Language::Zh => chinese(&error.fault),
    };
    config_line(path, error.line, &fault, language)
}

/// The error at a line of a file of flags; 0 is the file itself.
pub fn config_line(path: &str, line: usize, fault: &str, language: Language) -> String {
    match line {
        0 => language.pick(format!("--config {path}: {fault}"), format!("--config {path}：{fault}")),
        _ => language
            .pick(format!("--config {path}, line {line}: {fault}"), format!("--config {path}，第 {line} 行：{fault}")),
    }
}

fn chinese(fault: &ConfigFault) -> String {
    match fault {
        ConfigFault::NoPair => "每行应写作“名称 = 值”，例如：connections = 100".to_owned(),
        ConfigFault::Name(name) => {
            format!("'{name}' 不是参数名；前面不要加连字符，例如：connections = 100")
        }
        ConfigFault::Quote => "引号没有闭合".to_owned(),
        ConfigFault::Escape => "字符串中有无法识别的转义；可用 \\\\ \\\" \\n \\r \\t \\uXXXX，或改用单引号".to_owned(),
        ConfigFault::List => "列表没有闭合；列表要写在一行内，例如：header = [\"A: 1\", \"B: 2\"]".to_owned(),
        ConfigFault::Rest => "值后面还有内容；后面只能写注释（#）".to_owned(),
        ConfigFault::NoValue => "缺少值；空值请写 \"\"".to_owned(),
        ConfigFault::Section => "不支持分节；一个文件只用于一个命令".to_owned(),
        ConfigFault::Utf8 => "文件不是 UTF-8".to_owned(),
        ConfigFault::TooLarge => format!("文件超过 {CONFIG_BYTES_MAX} 字节"),
        ConfigFault::File(reason) => {
            let otherwise = ("check the path", "请检查路径");
            format!("无法读取文件：{}", system_fault(reason, Doing::Read, otherwise, Language::Zh))
        }
    }
}
