//! The reason why a run does not begin.

use engine::{BackendFault, RunError};

use super::in_chinese;
use crate::Language;

/// The error of a system that the engine cannot run on.
pub fn run_error(error: &RunError, language: Language) -> String {
    match (language, error) {
        (Language::En, error) => error.to_string(),
        (Language::Zh, RunError::RemoteBackend(fault)) => with_reason(fault).chinese(),
        (Language::Zh, error) => in_chinese(&error.chinese()),
    }
}

/// Reasons of the system are translated; names of workers and targets are not.
fn with_reason(fault: &BackendFault) -> BackendFault {
    let mut fault = fault.clone();
    if let BackendFault::Plan { reason, .. } | BackendFault::System { reason, .. } | BackendFault::Bus { reason } =
        &mut fault
    {
        *reason = in_chinese(reason);
    }
    fault
}
