//! The Dockerfile, parsed as far as ours needs it, so that its steps can be executed without a container engine.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{make, make_anew, said};
use crate::{Failure, run_in};

/// The `FROM` of an empty image.
const EMPTY: &str = "scratch";

/// A build stage: from one `FROM` to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) from: String,
    name: Option<String>,
    steps: Vec<Step>,
    pub(super) labels: Vec<(String, String)>,
    pub(super) user: Option<String>,
    pub(super) entrypoint: Vec<String>,
    pub(super) arguments: Vec<String>,
}

/// A step that changes files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Environment(String, String),
    Folder(String),
    Copy { from: Option<String>, sources: Vec<String>, to: String },
    Run(String),
}

impl Step {
    fn copy(words: &[&str]) -> Result<Self, Failure> {
        let (from, paths) = match words {
            [first, paths @ ..] if first.starts_with("--") => {
                let from = first.strip_prefix("--from=").ok_or_else(|| format!("COPY {first} is not known here"))?;
                (Some(from.to_owned()), paths)
            }
            paths => (None, paths),
        };
        let Some((to, sources)) = paths.split_last().filter(|(_, sources)| !sources.is_empty()) else {
            return Err("COPY needs a source and a destination".to_owned());
        };
        if sources.len() > 1 && !to.ends_with('/') {
            return Err(format!("COPY of several files needs a folder: {to}/"));
        }
        Ok(Self::Copy { from, sources: sources.iter().map(|&path| path.to_owned()).collect(), to: (*to).to_owned() })
    }
}

/// Parses a Dockerfile. Unknown instructions are errors: an unexecuted step would otherwise pass as done.
pub(super) fn parse(text: &str) -> Result<Vec<Stage>, Failure> {
    let mut stages: Vec<Stage> = Vec::new();
    for line in logical_lines(text) {
        let (word, rest) = line.split_once(' ').ok_or_else(|| format!("'{line}' says nothing"))?;
        let (rest, words) = (rest.trim(), rest.split_whitespace().collect::<Vec<_>>());
        if word == "FROM" {
            let name = match words.as_slice() {
                [_] => None,
                [_, "AS", name] => Some((*name).to_owned()),
                _ => return Err(format!("'{line}' is not known here")),
            };
            stages.push(Stage { from: words[0].to_owned(), name, ..Stage::default() });
            continue;
        }
        let earlier: Vec<Option<String>> = stages.iter().map(|stage| stage.name.clone()).collect();
        let stage = stages.last_mut().ok_or_else(|| format!("'{line}' stands before FROM"))?;
        match word {
            "LABEL" => stage.labels.extend(pairs(rest)?),
            "ENV" => stage.steps.extend(pairs(rest)?.into_iter().map(|(name, value)| Step::Environment(name, value))),
            "WORKDIR" => stage.steps.push(Step::Folder(rest.to_owned())),
            "RUN" => stage.steps.push(Step::Run(rest.to_owned())),
            "USER" => stage.user = Some(rest.to_owned()),
            "ENTRYPOINT" => stage.entrypoint = list(rest)?,
            "CMD" => stage.arguments = list(rest)?,
            "COPY" => {
                let step = Step::copy(&words)?;
                if let Step::Copy { from: Some(from), .. } = &step
                    && !earlier[..earlier.len() - 1].contains(&Some(from.clone()))
                {
                    return Err(format!("COPY --from={from} names no earlier stage"));
                }
                stage.steps.push(step);
            }
            _ => return Err(format!("{word} is not known here: teach it to xtask/src/dist/image.rs")),
        }
    }
    if stages.is_empty() { Err("there is no FROM".to_owned()) } else { Ok(stages) }
}

/// Joins lines that end with a backslash; drops comments and empty lines.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (part, goes_on) = line.strip_suffix('\\').map_or((line, false), |part| (part.trim_end(), true));
        match lines.last_mut().filter(|_| is_open) {
            Some(last) => {
                last.push(' ');
                last.push_str(part);
            }
            None => lines.push(part.to_owned()),
        }
        is_open = goes_on;
    }
    lines
}

/// Parses `name="value" other=value`, of labels and of the environment.
fn pairs(text: &str) -> Result<Vec<(String, String)>, Failure> {
    let (mut pairs, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or_else(|| format!("'{rest}' is no name=value"))?;
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or_else(|| format!("'{rest}' has no closing quote"))?,
            None => after.split_once(' ').unwrap_or((after, "")),
        };
        pairs.push((name.to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// The exec form, which starts without a shell: an empty image has none.
fn list(text: &str) -> Result<Vec<String>, Failure> {
    serde_json::from_str(text).map_err(|_| format!("'{text}' needs a shell; write it as [\"program\", \"word\"]"))
}

/// Executes the steps of all stages: the first with the tools of this machine on a clean copy of the sources, the
/// others in empty folders. Returns the root of the last.
pub(super) fn build(stages: &[Stage], sources: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    let mut roots: Vec<(Option<String>, PathBuf, PathBuf)> = Vec::new();
    for (number, stage) in stages.iter().enumerate() {
        let root = folder.join(format!("stage-{number}"));
        make_anew(&root)?;
        // The programs of a stage's image are taken from this machine.
        let below = if stage.from == EMPTY { root.clone() } else { PathBuf::from("/") };
        steps(stage, sources, &root, &roots)?;
        roots.push((stage.name.clone(), root, below));
    }
    roots.pop().map(|(_, root, _)| root).ok_or_else(|| "there is no stage".to_owned())
}

fn steps(
    stage: &Stage,
    sources: &Path,
    root: &Path,
    roots: &[(Option<String>, PathBuf, PathBuf)],
) -> Result<(), Failure> {
    let (mut here, mut environment) = (root.to_owned(), Vec::new());
    for step in &stage.steps {
        match step {
            Step::Environment(name, value) => environment.push((name, value)),
            Step::Folder(path) => {
                here = within(root, path);
                make(&here)?;
            }
            Step::Run(_) if stage.from == EMPTY => return Err("RUN needs a shell, and scratch has none".to_owned()),
            Step::Run(line) => {
                let environment = environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                // Cargo passes its own environment to child processes: this build must not inherit it.
                let mut command = Command::new("sh");
                command.args(["-ec", line]).env_remove("CARGO_TARGET_DIR").env_remove("CARGO").envs(environment);
                run_in(&here, &mut command)?;
            }
            Step::Copy { from: None, .. } => copy_context(sources, &here)?,
            Step::Copy { from: Some(from), sources, to } => {
                let (_, made, below) =
                    roots.iter().find(|(name, _, _)| name.as_ref() == Some(from)).ok_or("it was checked")?;
                for source in sources {
                    let inside = within(made, source);
                    let source = if inside.exists() { inside } else { within(below, source) };
                    copy_into(&source, root, to)?;
                }
            }
        }
    }
    Ok(())
}

/// A path of an image, below its root.
fn within(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// Copies one file; a destination that ends with a slash is a folder.
fn copy_into(source: &Path, root: &Path, to: &str) -> Result<(), Failure> {
    let mut path = within(root, to);
    if to.ends_with('/') {
        path.push(source.file_name().ok_or_else(|| format!("{} is no file", source.display()))?);
    }
    make(path.parent().expect("it is in the root"))?;
    std::fs::copy(source, &path).map(|_| ()).map_err(|error| format!("{}: {error}", source.display()))
}

/// Copies the build context: the tree without the names in `.dockerignore`.
fn copy_context(tree: &Path, to: &Path) -> Result<(), Failure> {
    let ignored =
        std::fs::read_to_string(tree.join(".dockerignore")).map_err(|error| format!(".dockerignore: {error}"))?;
    let ignored = ignored_names(&ignored)?;
    let excluded = ignored.iter().map(|name| format!("--exclude=./{name}"));
    let packed = to.with_extension("context.tar");
    let mut pack = Command::new("tar");
    said(pack.arg("--create").arg("--file").arg(&packed).args(excluded).arg("--directory").arg(tree).arg("."))?;
    said(Command::new("tar").arg("--extract").arg("--file").arg(&packed).arg("--directory").arg(to))?;
    std::fs::remove_file(&packed).map_err(|error| format!("{}: {error}", packed.display()))
}

/// The names in `.dockerignore`: plain paths from the top, no patterns.
pub(super) fn ignored_names(text: &str) -> Result<Vec<String>, Failure> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let plain = |line: &str| match line.contains(['*', '?', '!', '[']) {
        true => Err(format!("the pattern '{line}' in .dockerignore is not known here: write a plain path")),
        false => Ok(line.trim_matches('/').to_owned()),
    };
    lines.map(plain).collect()
}

#[cfg(test)]
mod tests;
