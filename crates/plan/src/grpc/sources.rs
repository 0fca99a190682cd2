//! Locations of `.proto` files: each has the name by which imports find it, however its path is written.

use std::path::{Component, Path, PathBuf};

use protox::Error;
use protox::file::{File, FileResolver};

/// The byte order mark that some editors write at the start of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The folders that are searched for imports, in order.
pub(super) struct Sources {
    folders: Vec<PathBuf>,
}

impl Sources {
    pub(super) fn new(folders: &[PathBuf]) -> Self {
        Self { folders: folders.to_vec() }
    }

    /// The first file that an import of this name finds.
    fn find(&self, name: &str) -> Option<PathBuf> {
        self.folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    /// The name by which imports find this file. The error is the other file that each such name leads to.
    pub(super) fn name_of(&self, path: &Path) -> Result<String, PathBuf> {
        let own = whole(path);
        let mut other = None;
        for folder in &self.folders {
            let name = whole_folder(folder).and_then(|folder| name_of(own.as_deref()?.strip_prefix(folder).ok()?));
            let Some(name) = name else { continue };
            match self.find(&name) {
                Some(found) if whole(&found) == own => return Ok(name),
                found => other = other.or(found),
            }
        }
        other.map_or_else(|| Ok(path.to_string_lossy().into_owned()), Err)
    }
}

impl FileResolver for Sources {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        // Names were resolved before.
        name_of(path)
    }

    fn open_file(&self, name: &str) -> Result<File, Error> {
        let path = self.find(name).ok_or_else(|| Error::file_not_found(name))?;
        match std::fs::read_to_string(&path) {
            Ok(text) => File::from_source(name, text.trim_start_matches(BYTE_ORDER_MARK)),
            // This returns the error.
            Err(_) => File::open(name, &path),
        }
    }
}

/// An absolute path, with the links to its folder resolved.
fn whole(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(whole_folder(folder)?.join(path.file_name()?))
}

fn whole_folder(folder: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(folder).ok()
}

/// The path in the form of imports.
fn name_of(path: &Path) -> Option<String> {
    let parts = path.components().map(|part| match part {
        Component::Normal(part) => part.to_str(),
        _ => None,
    });
    let parts = parts.collect::<Option<Vec<_>>>().filter(|parts| !parts.is_empty())?;
    Some(parts.join("/"))
}
