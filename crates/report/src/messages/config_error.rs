//! Errors of a file of flags, in both languages.

use plan::{ConfigError, ConfigFault};

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
        ConfigFault::File(reason) => {
            let otherwise = ("check the path", "请检查路径");
            ConfigFault::File(system_fault(reason, Doing::Read, otherwise, Language::Zh)).chinese()
        }
        fault => fault.chinese(),
    }
}
