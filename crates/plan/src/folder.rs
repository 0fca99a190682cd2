//! The files of a folder, in one order on every machine.

use std::io;
use std::path::Path;

/// The most files of a folder that is used as data.
const FOLDER_FILES_MAX: usize = 100_000;

/// A file of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderFile {
    /// Its name, without the folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// The files of a folder, sorted by the bytes of their names. Hidden files and folders in it are left out.
///
/// # Errors
/// The folder cannot be read, has too many files, or a name that cannot be written into a form.
pub fn folder_files(folder: &Path) -> io::Result<Vec<FolderFile>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let size = std::fs::metadata(entry.path())?;
        let name = entry.file_name();
        if !size.is_file() || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let text = name.to_str().filter(|name| !name.contains(|each: char| each.is_control() || each == '"'));
        let Some(name) = text else {
            return Err(io::Error::other(format!("a file has the name {name:?}; rename it to plain text")));
        };
        if files.len() == FOLDER_FILES_MAX {
            return Err(io::Error::other(format!("it has more than {FOLDER_FILES_MAX} files; name a smaller folder")));
        }
        files.push(FolderFile { name: name.to_owned(), bytes: size.len() });
    }
    files.sort_unstable();
    Ok(files)
}

/// The path of a file in a folder, as it is written in rows.
pub fn path_in_folder(folder: &str, name: &str) -> String {
    format!("{}/{name}", folder.trim_end_matches('/'))
}
