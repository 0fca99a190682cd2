//! Whoever ends a load from outside: signals, gently first and then at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::StopHandle;
use report::Language;

use crate::exit::Exit;
use crate::{output, signals};

/// After a second signal the end takes no longer than this.
const SECOND_SIGNAL_WAIT: Duration = Duration::from_secs(2);

/// Ctrl-C ends a run gently, and once more at once.
pub(crate) fn watch_signals(stop: &StopHandle, language: Language) -> Result<signals::Asked, std::io::Error> {
    watch_current(Arc::new(Mutex::new(stop.clone())), language)
}

/// The same of whatever goes on when they come.
pub(crate) fn watch_current(
    current: Arc<Mutex<StopHandle>>,
    language: Language,
) -> Result<signals::Asked, std::io::Error> {
    let now = move || current.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (gently, at_once) = (now.clone(), now);
    let first = move || {
        output::note(language.pick(
            "stopping: waiting for what is in flight; Ctrl-C again ends at once",
            "正在停止：等待在途请求完成；再按一次 Ctrl-C 立即结束",
        ));
        gently().stop();
    };
    let again = move || {
        at_once().abort();
        // A file that is a pipe may have nobody who reads it.
        std::thread::spawn(|| {
            std::thread::sleep(SECOND_SIGNAL_WAIT);
            std::process::exit(Exit::Stopped as i32);
        });
    };
    signals::watch(first, again)
}
