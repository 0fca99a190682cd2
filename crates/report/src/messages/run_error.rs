//! The reason why a run does not begin.

use engine::RunError;

use super::in_chinese;
use crate::Language;

/// The error of a system that the engine cannot run on.
pub fn run_error(error: &RunError, language: Language) -> String {
    match language {
        Language::En => error.to_string(),
        Language::Zh => in_chinese(&error.chinese()),
    }
}
