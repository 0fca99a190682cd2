//! A file that ends a load when it appears: for users who cannot send a signal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::StopHandle;
use report::Language;

use crate::output;

/// The polling interval of the file.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A watch for the file, on a thread of its own, until it is dropped.
#[derive(Default)]
pub(crate) struct StopFile {
    has_come: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

impl StopFile {
    /// Ends a load when the file appears; without a file it does nothing.
    pub(crate) fn watch(path: Option<&str>, stop: &StopHandle, language: Language) -> Result<Self, String> {
        let Some(path) = path.map(PathBuf::from) else { return Ok(Self::default()) };
        let shown = path.display().to_string();
        if path.exists() {
            return Err(language.pick(
                format!(
                    "the file '{shown}' of --stop-file is there already, and would end the load at once; remove it"
                ),
                format!("--stop-file 指定的文件 '{shown}' 已经存在，压测会立即结束；请先删除"),
            ));
        }
        if let Some(folder) = missing_folder(&path) {
            let folder = folder.display();
            return Err(language.pick(
                format!("the file '{shown}' of --stop-file can never appear: '{folder}' is no folder; create it, or choose another"),
                format!("--stop-file 指定的文件 '{shown}' 不可能出现：'{folder}' 不是已有的目录；请先创建该目录，或换一个位置"),
            ));
        }
        let watch = Self::default();
        let (has_come, is_over, stop) = (watch.has_come.clone(), watch.is_over.clone(), stop.clone());
        let look = move || {
            while !is_over.load(Ordering::Relaxed) {
                if path.exists() {
                    has_come.store(true, Ordering::Relaxed);
                    output::note(&language.pick(
                        format!("onrush: stopping: '{shown}' is there"),
                        format!("onrush: 停止压测：出现了文件 '{shown}'"),
                    ));
                    return stop.stop();
                }
                std::thread::sleep(POLL_INTERVAL);
            }
        };
        let thread = std::thread::Builder::new().name("stop-file".to_owned()).spawn(look);
        thread.map(|_| watch).map_err(|error| error.to_string())
    }

    /// Whether the file ended the load.
    pub(crate) fn has_come(&self) -> bool {
        self.has_come.load(Ordering::Relaxed)
    }
}

/// The folder of a file, if it does not exist: then the file can never appear.
fn missing_folder(path: &Path) -> Option<&Path> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    // The parent of `stop` is the empty path.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    (!folder.is_dir()).then_some(folder)
}

impl Drop for StopFile {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}
