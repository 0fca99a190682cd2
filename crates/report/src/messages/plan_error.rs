//! Errors of a plan, in both languages.

use plan::PlanError;

use super::wide::{plain_of, wide};
use super::{Doing, system_fault};
use crate::Language;

/// An error in the user's input, with masked secrets.
pub fn plan_error(error: &PlanError, language: Language) -> String {
    let error = error.clone().without_secrets();
    let wide = wide_in(&error.to_string(), language);
    let text = said(error, language);
    let text = if language == Language::Zh { super::in_chinese(&text) } else { text };
    text + &wide
}

/// Full-width characters of a Chinese input method are hard to tell from the meant ones: they are named. Nothing else
/// in English is as wide.
pub(super) fn wide_in(english: &str, language: Language) -> String {
    let is_meant = |plain: char| plain.is_ascii_alphanumeric() || "-:/.%=@_<>".contains(plain);
    let is_plain = |place: usize| {
        english[..place].chars().next_back().is_some_and(|each| each.is_ascii_alphanumeric() || each == '%')
    };
    // A comma between words of a text is correct; between numbers and names it is wrong.
    let is_wrong =
        |(place, each): &(usize, char)| plain_of(*each).is_some_and(|it| is_meant(it) || it == ',' && is_plain(*place));
    let found = english.char_indices().find(is_wrong);
    found.and_then(|(_, each)| wide(each, language)).unwrap_or_default()
}

fn said(error: PlanError, language: Language) -> String {
    match language {
        Language::En => error.to_string(),
        Language::Zh => with_reason(error).chinese(),
    }
}

/// The reason of the system in Chinese, with its remedy.
fn with_reason(error: PlanError) -> PlanError {
    match error {
        PlanError::File { flag, path, reason } => {
            let reason = system_fault(&reason, Doing::Read, ("check the path", "请检查路径"), Language::Zh);
            PlanError::File { flag, path, reason }
        }
        PlanError::AtLine { line, inner } => PlanError::AtLine { line, inner: Box::new(with_reason(*inner)) },
        PlanError::InFile { path, inner } => PlanError::InFile { path, inner: Box::new(with_reason(*inner)) },
        error => error,
    }
}
