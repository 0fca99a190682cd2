//! The files of every package, before each kind of package places them.

use std::path::Path;

use crate::Failure;

/// The shells with completions: their name in onrush, the file in an archive, and Debian's path.
const SHELLS: [(&str, &str, Option<&str>); 5] = [
    ("bash", "onrush.bash", Some("usr/share/bash-completion/completions/onrush")),
    ("zsh", "_onrush", Some("usr/share/zsh/vendor-completions/_onrush")),
    ("fish", "onrush.fish", Some("usr/share/fish/vendor_completions.d/onrush.fish")),
    ("elvish", "onrush.elv", None),
    ("powershell", "_onrush.ps1", None),
];

/// Pages at the top of the tree that are included.
const DOCUMENTS: [&str; 6] =
    ["README.md", "README.zh.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "LICENSE"];

/// Folders whose files are included.
const FOLDERS: [&str; 2] = ["docs", "examples"];

/// The languages of the manual: their name in onrush, and the folder of `man`.
const LANGUAGES: [(&str, &str); 2] = [("en", "man1"), ("zh", "zh_CN/man1")];

/// A file of a package, by its path from the root of that package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) is_program: bool,
}

impl File {
    pub(super) fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), is_program: false }
    }

    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { is_program: true, ..Self::new(path, bytes) }
    }
}

/// Runs the binary and returns its output.
pub(super) type Ask<'a> = &'a dyn Fn(&[&str]) -> Result<Vec<u8>, Failure>;
/// Compresses a file.
pub(super) type Compress<'a> = &'a dyn Fn(&[u8]) -> Result<Vec<u8>, Failure>;

/// A completion script.
#[derive(Clone, Debug)]
struct Completion {
    name: &'static str,
    debian: Option<&'static str>,
    bytes: Vec<u8>,
}

/// The content of a package.
#[derive(Clone, Debug)]
pub(super) struct Content {
    binary: Vec<u8>,
    completions: Vec<Completion>,
    /// Manual pages; paths are relative to the folder of the manual.
    manual: Vec<File>,
    /// Documents; paths are relative to the root of the project.
    documents: Vec<File>,
}

impl Content {
    /// Reads the tree, and runs the binary for its completions and its manual.
    pub(super) fn gather(tree: &Path, binary: &Path, ask: Ask, third_party: String) -> Result<Self, Failure> {
        let completions = SHELLS
            .iter()
            .map(|&(shell, name, debian)| Ok(Completion { name, debian, bytes: ask(&["completions", shell])? }));
        let mut documents = Vec::new();
        for name in DOCUMENTS {
            documents.push(File::new(name, read(&tree.join(name))?));
        }
        for folder in FOLDERS {
            let listed = std::fs::read_dir(tree.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
            let mut names: Vec<String> =
                listed.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
            names.sort();
            for name in names {
                let path = tree.join(folder).join(&name);
                if path.is_file() {
                    documents.push(File::new(format!("{folder}/{name}"), read(&path)?));
                }
            }
        }
        documents.push(File::new("THIRD-PARTY.txt", third_party));
        Ok(Self {
            binary: read(binary)?,
            completions: completions.collect::<Result<_, Failure>>()?,
            manual: manual(ask)?,
            documents,
        })
    }

    /// The files as laid out in an archive.
    pub(super) fn in_archive(&self) -> Vec<File> {
        let mut files = vec![File::program("onrush", self.binary.clone())];
        files.extend(self.completions.iter().map(|one| File::new(format!("completions/{}", one.name), &one.bytes[..])));
        files.extend(self.manual.iter().map(|page| File::new(format!("man/{}", page.path), &page.bytes[..])));
        files.extend(self.documents.iter().cloned());
        files
    }

    /// The files as laid out in Debian; manual pages and long texts are compressed by `compress`.
    pub(super) fn in_debian(&self, compress: Compress) -> Result<Vec<File>, Failure> {
        let mut files = vec![File::program("usr/bin/onrush", self.binary.clone())];
        let completions = self.completions.iter();
        files.extend(completions.filter_map(|one| Some(File::new(one.debian?, &one.bytes[..]))));
        for page in &self.manual {
            files.push(File::new(format!("usr/share/man/{}.gz", page.path), compress(&page.bytes)?));
        }
        // The licence is in `copyright`, and the changes are in a file named by Debian.
        for page in self.documents.iter().filter(|page| page.path != "LICENSE") {
            files.push(match page.path.as_str() {
                "CHANGELOG.md" => File::new("usr/share/doc/onrush/changelog.gz", compress(&page.bytes)?),
                path => File::new(format!("usr/share/doc/onrush/{path}"), &page.bytes[..]),
            });
        }
        Ok(files)
    }
}

/// A page for each command, in each language.
fn manual(ask: Ask) -> Result<Vec<File>, Failure> {
    let main = String::from_utf8_lossy(&ask(&["man", "--lang", "en"])?).into_owned();
    let commands = commands_of(&main);
    if commands.is_empty() {
        return Err("the manual page of onrush lists no commands".to_owned());
    }
    let mut pages = Vec::new();
    for (language, folder) in LANGUAGES {
        let all = std::iter::once("").chain(commands.iter().map(String::as_str));
        for called in all {
            let words: Vec<&str> = called.split(' ').filter(|word| !word.is_empty()).collect();
            let title = [&["onrush"], &words[..]].concat().join("-");
            let mut requested = vec!["man", "--lang", language];
            requested.extend((!called.is_empty()).then_some(called));
            let bytes = ask(&requested)?;
            pages.push(File::new(format!("{folder}/{title}.1"), bytes));
        }
    }
    Ok(pages)
}

/// The commands that the page of `onrush` lists: bold heads of its section of commands.
fn commands_of(page: &str) -> Vec<String> {
    let section = page.lines().skip_while(|line| *line != ".SH \"COMMANDS\"").skip(1);
    let section = section.take_while(|line| !line.starts_with(".SH "));
    section.filter_map(|line| Some(line.strip_prefix("\\fB")?.strip_suffix("\\fR")?.replace("\\-", "-"))).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
