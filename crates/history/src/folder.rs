//! The folder of stored runs: writing, listing and finding them.

use std::fs;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::card::Card;

/// The file with the card of a run.
const CARD: &str = "run.json";
/// The JSON report.
const REPORT: &str = "report.json";
/// The file with the data of the charts.
const CHARTS: &str = "charts.json";
/// The largest file that is read; no report is this large.
const FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// The largest number that tells runs of one second apart.
const SAME_SECOND_MAX: u32 = 10_000;

/// An error about a requested run.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// There is no such run.
    #[error("there is no run '{name}' in {}", home.display())]
    Unknown {
        /// The name, as given.
        name: String,
        /// The folder that was searched.
        home: PathBuf,
    },
    /// The name is a prefix of several runs.
    #[error("several runs begin with '{name}': {}", among.join(", "))]
    Ambiguous {
        /// The name, as given.
        name: String,
        /// Some of the matching runs.
        among: Vec<String>,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: Error,
    },
    /// A file has not the expected content.
    #[error("{} is damaged, or of a version that is not known", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
}

/// A folder among the runs that is no run, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The name of the folder.
    pub name: String,
    /// Whether the card is of another version.
    pub is_of_another_version: bool,
}

/// All runs, the latest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The runs that can be read.
    pub runs: Vec<Card>,
    /// The folders that cannot be read.
    pub damaged: Vec<Damage>,
}

/// The store of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    home: PathBuf,
}

impl Runs {
    /// The store in this folder, which need not exist yet.
    pub fn at(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into() }
    }

    /// The default location: `onrush/runs` in the data directory of the user. `variable` reads the environment.
    pub fn usual(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name: &str| variable(name).filter(|text| Path::new(text).is_absolute()).map(PathBuf::from);
        let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")))?;
        Some(Self::at(data.join("onrush").join("runs")))
    }

    /// The folder that contains all runs.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Creates the folder of a new run. `stamp`: its start time, like `20260131-235959`.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn begin(&self, stamp: &str) -> Result<RunFolder, HistoryError> {
        let wrong = |error| HistoryError::Io { path: self.home.clone(), error };
        fs::create_dir_all(&self.home).map_err(wrong)?;
        for number in 1..SAME_SECOND_MAX {
            let id = if number == 1 { stamp.to_owned() } else { format!("{stamp}-{number}") };
            let path = self.home.join(&id);
            match fs::create_dir(&path) {
                Ok(()) => return Ok(RunFolder { id, path }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(HistoryError::Io { path, error }),
            }
        }
        Err(wrong(Error::from(ErrorKind::AlreadyExists)))
    }

    /// Lists all runs.
    ///
    /// # Errors
    /// The folder exists and cannot be read.
    pub fn list(&self) -> Result<Listed, HistoryError> {
        let mut listed = Listed::default();
        let entries = match fs::read_dir(&self.home) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(listed),
            Err(error) => return Err(HistoryError::Io { path: self.home.clone(), error }),
        };
        for entry in entries.filter_map(Result::ok).filter(|entry| entry.path().is_dir()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            match read(&entry.path().join(CARD)).ok().map(|value| (Card::from_value(&value), value)) {
                // A copied folder may have another name than its card.
                Some((Some(card), _)) => listed.runs.push(Card { id: name, ..card }),
                Some((None, value)) => {
                    let is_of_another_version = value["version"].is_u64() && value["version"] != crate::CARD_VERSION;
                    listed.damaged.push(Damage { name, is_of_another_version });
                }
                None => listed.damaged.push(Damage { name, is_of_another_version: false }),
            }
        }
        listed.runs.sort_by(|one, other| (&other.began, &other.id).cmp(&(&one.began, &one.id)));
        listed.damaged.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(listed)
    }

    /// Finds a run by its name, by a prefix of its name, by `last` or `last~2` (the second before the last), or by the
    /// path of a folder.
    ///
    /// # Errors
    /// No run matches, or more than one.
    pub fn find(&self, name: &str) -> Result<RunFolder, HistoryError> {
        let unknown = || HistoryError::Unknown { name: name.to_owned(), home: self.home.clone() };
        let path = Path::new(name);
        // A folder in the store may have any name that a list shows.
        if is_plain(name) && self.home.join(name).is_dir() {
            return Ok(RunFolder::at(&self.home.join(name)));
        }
        if path.components().count() > 1 || name.starts_with('.') {
            let path = if path.ends_with(REPORT) { path.parent().unwrap_or(path) } else { path };
            return if path.is_dir() { Ok(RunFolder::at(path)) } else { Err(unknown()) };
        }
        if name == "last" || name.starts_with("last~") {
            let back = name.strip_prefix("last~").map_or(Ok(0), str::parse::<usize>).map_err(|_| unknown())?;
            let card = self.list()?.runs.into_iter().nth(back).ok_or_else(unknown)?;
            return Ok(RunFolder::at(&self.home.join(card.id)));
        }
        let among: Vec<String> = match fs::read_dir(&self.home) {
            Ok(entries) => {
                let names =
                    entries.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
                names.filter(|known| !name.is_empty() && known.starts_with(name)).collect()
            }
            Err(_) => Vec::new(),
        };
        match &among[..] {
            [one] => Ok(RunFolder::at(&self.home.join(one))),
            [] => Err(unknown()),
            _ => {
                let mut among = among;
                among.sort_unstable();
                among.truncate(5);
                Err(HistoryError::Ambiguous { name: name.to_owned(), among })
            }
        }
    }
}

/// Whether the name stays within a folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains('/')
}

/// The folder of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    id: String,
    path: PathBuf,
}

impl RunFolder {
    fn at(path: &Path) -> Self {
        let id = path.file_name().map_or_else(|| ".".into(), |name| name.to_string_lossy()).into_owned();
        Self { id, path: path.to_owned() }
    }

    /// The name of the run.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file atomically: a reader finds all of it or no file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), HistoryError> {
        let (path, part) = (self.path.join(name), self.path.join(format!(".{name}.part")));
        let write = || {
            let mut file = fs::File::create(&part)?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&part, &path)
        };
        write().map_err(|error| {
            // A partial file is useless.
            let _ = fs::remove_file(&part);
            HistoryError::Io { path: path.clone(), error }
        })
    }

    /// Stores a report and the data of its charts, where that is known; the card is written last: a folder without one
    /// is no run.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep(&self, report: &Value, charts: &Value) -> Result<(), HistoryError> {
        self.write(REPORT, format!("{report:#}\n").as_bytes())?;
        if !charts.is_null() {
            self.write(CHARTS, format!("{charts}\n").as_bytes())?;
        }
        self.write(CARD, format!("{:#}\n", Card::from_report(&self.id, report).value()).as_bytes())
    }

    /// Removes a folder in which nothing was stored.
    pub fn forget(&self) {
        // A folder that is not empty stays.
        let _ = fs::remove_dir(&self.path);
    }

    /// Reads the JSON report.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn report(&self) -> Result<Value, HistoryError> {
        let path = self.path.join(REPORT);
        let report = read(&path)?;
        if report["schema"].as_u64() != Some(1) { Err(HistoryError::Damaged { path }) } else { Ok(report) }
    }

    /// Reads the data of the charts.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn charts(&self) -> Result<Value, HistoryError> {
        let path = self.path.join(CHARTS);
        let charts = read(&path)?;
        if charts["version"].as_u64() != Some(1) { Err(HistoryError::Damaged { path }) } else { Ok(charts) }
    }
}

fn read(path: &Path) -> Result<Value, HistoryError> {
    let wrong = |error| HistoryError::Io { path: path.to_owned(), error };
    let known = fs::metadata(path).map_err(wrong)?;
    // A pipe may never end.
    if !known.is_file() || known.len() > FILE_BYTES_MAX {
        return Err(HistoryError::Damaged { path: path.to_owned() });
    }
    let bytes = fs::read(path).map_err(wrong)?;
    serde_json::from_slice(&bytes).map_err(|_| HistoryError::Damaged { path: path.to_owned() })
}

#[cfg(test)]
mod tests;
