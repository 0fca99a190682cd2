//! A folder of one test, removed with the value.

use std::path::PathBuf;

use crate::Served;

pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("onrush-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a place for it");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }

    /// Writes a file, and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), content).expect("room for it");
        self.path(name)
    }

    /// A scenario file with this target.
    pub(crate) fn plan(&self, name: &str, served: &Served, rest: &str) -> String {
        let target = served.url("");
        self.file(&format!("{name}.yaml"), format!("target: {}\n{rest}", target.trim_end_matches('/')))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
