//! A folder as rows: one for each file in it.

use std::path::Path;

use plan::{Value, folder_files, path_in_folder};

use crate::FeedFault;
use crate::rows::Table;

/// The columns of a folder: the path as the scenario file has it, the name of the file, and its size.
pub const FOLDER_COLUMNS: [&str; 3] = ["path", "name", "bytes"];

/// The rows of a folder, sorted by the names of its files. `shown`: the path of the folder in the rows.
pub(crate) fn folder_rows(folder: &Path, shown: &str) -> Result<Table, FeedFault> {
    let files = folder_files(folder).map_err(|error| FeedFault::Open { reason: error.to_string() })?;
    if files.is_empty() {
        return Err(FeedFault::NoFiles);
    }
    let row = |file: plan::FolderFile| {
        let path = Value::text(&path_in_folder(shown, &file.name));
        vec![path, Value::text(&file.name), Value::Int(i64::try_from(file.bytes).unwrap_or(i64::MAX))]
    };
    Ok((FOLDER_COLUMNS.map(str::to_owned).into(), files.into_iter().map(row).collect()))
}
