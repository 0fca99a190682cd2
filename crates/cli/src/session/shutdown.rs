//! Stopping a load from outside: signals, gracefully first and then at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::StopHandle;
use report::Language;

use crate::exit::Exit;
use crate::output;
use crate::session::signals;

/// The time limit of the end after a second signal.
const SECOND_SIGNAL_WAIT: Duration = Duration::from_secs(2);

/// The stop request, and the handle that signals stop now.
type Current = (signals::StopRequest, Arc<Mutex<Option<StopHandle>>>);

/// The signal watch, once requested.
static CURRENT: Mutex<Option<Current>> = Mutex::new(None);

/// Makes Ctrl-C stop this handle gracefully, and at once when repeated: the setup of a file, the load, the teardown,
/// each run of a page. On failure the error is printed, and its exit code returned.
pub(crate) fn watch_signals(stop: &StopHandle, language: Language) -> Result<signals::StopRequest, Exit> {
    reported(watch(Some(stop.clone()), language), language)
}

/// The same while no run goes on: the caller ends when it sees the request.
pub(crate) fn watch_idle(language: Language) -> Result<signals::StopRequest, Exit> {
    reported(watch(None, language), language)
}

fn reported(
    watched: Result<signals::StopRequest, std::io::Error>,
    language: Language,
) -> Result<signals::StopRequest, Exit> {
    watched.map_err(|error| {
        output::complain(&report::run_error(&error.into(), language));
        Exit::System
    })
}

/// Clears the handle: no run goes on any more.
pub(crate) fn idle() {
    if let Some((_, current)) = &*CURRENT.lock().unwrap_or_else(PoisonError::into_inner) {
        *current.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn watch(stop: Option<StopHandle>, language: Language) -> Result<signals::StopRequest, std::io::Error> {
    let mut known = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((requested, current)) = &*known {
        *current.lock().unwrap_or_else(PoisonError::into_inner) = stop;
        return Ok(requested.clone());
    }
    let current = Arc::new(Mutex::new(stop));
    let requested = watch_current(current.clone(), language)?;
    *known = Some((requested.clone(), current));
    Ok(requested)
}

fn watch_current(
    current: Arc<Mutex<Option<StopHandle>>>,
    language: Language,
) -> Result<signals::StopRequest, std::io::Error> {
    let now = move || current.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (gently, at_once) = (now.clone(), now);
    let first = move || {
        let Some(stop) = gently() else { return };
        output::note(language.pick(
            "stopping: waiting for what is in flight; Ctrl-C again ends at once",
            "正在停止：等待在途请求完成；再按一次 Ctrl-C 立即结束",
        ));
        stop.stop();
    };
    let again = move || {
        if let Some(stop) = at_once() {
            stop.abort();
        }
        // Opening a pipe without a reader blocks.
        std::thread::spawn(|| {
            std::thread::sleep(SECOND_SIGNAL_WAIT);
            screen::restore();
            std::process::exit(Exit::Stopped as i32);
        });
    };
    signals::watch(first, again)
}
