//! The command `add`: adds a counter, a failure, a figure, a flag and a scenario key to a copy of the sources, builds it,
//! and counts the files that each takes. What `cargo xtask reference` writes, tests and golden files are not counted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::{Failure, cargo, root, run_in};

const RECIPES: &str = include_str!("add/recipes.txt");

/// A text that is inserted behind another one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Insertion {
    file: String,
    /// Whether this is where it takes effect, and not a file that says what it is.
    is_effect: bool,
    behind: String,
    text: String,
}

/// Something that is added.
#[derive(Debug, Default, PartialEq, Eq)]
struct Addition {
    what: String,
    files_max: usize,
    insertions: Vec<Insertion>,
}

impl Addition {
    /// All additions of a text of recipes.
    fn all(recipes: &str) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for line in recipes.lines() {
            if let Some((what, most)) = line.strip_prefix("## ").and_then(|head| head.split_once(' ')) {
                let files_max = most.parse().unwrap_or(0);
                all.push(Self { what: what.to_owned(), files_max, insertions: Vec::new() });
            }
            let Some(insertions) = all.last_mut().map(|last| &mut last.insertions) else { continue };
            if let Some((kind, file)) = line.strip_prefix('@').and_then(|head| head.split_once(' ')) {
                let is_effect = kind == "effect";
                insertions.push(Insertion { file: file.to_owned(), is_effect, ..Insertion::default() });
            }
            let (Some(kind), Some(last)) = (line.chars().next(), insertions.last_mut()) else { continue };
            match kind {
                '=' if last.behind.is_empty() => last.behind.push_str(&line[1..]),
                '=' => last.behind.push_str(&format!("\n{}", &line[1..])),
                '+' => last.text.push_str(&format!("\n{}", &line[1..])),
                '&' => last.text.push_str(&line[1..]),
                _ => {}
            }
        }
        all
    }

    fn files(&self, are_effects: bool) -> BTreeSet<&str> {
        let of = self.insertions.iter().filter(|insertion| insertion.is_effect == are_effects);
        of.map(|insertion| &*insertion.file).collect()
    }

    fn judge(&self) -> Result<(), Failure> {
        let (what, count, most) = (&self.what, self.files(false).len(), self.files_max);
        (count <= most).then_some(()).ok_or(format!("a {what} takes {count} files, at most {most} are wanted"))
    }
}

/// Adds each, builds all of them together, and prints the files of each.
pub(crate) fn add() -> Result<(), Failure> {
    let (all, folder) = (Addition::all(RECIPES), root().join("target/add"));
    let changed = changed(&root(), &all)?;
    copy(&folder)?;
    for (file, text) in &changed {
        std::fs::write(folder.join(file), text).map_err(|error| format!("{file}: {error}"))?;
    }
    // In a target folder of its own: what is built of the copy must not be taken for what is built of the sources.
    let mut check = cargo(&["check", "--quiet", "--release", "--package", "onrush"]);
    run_in(&folder, check.env("CARGO_TARGET_DIR", root().join("target/add-build")))?;
    println!("{:8} {:>5} {:>4}   where; and where it takes effect", "", "files", "most");
    for one in &all {
        let [files, effects] = [false, true].map(|are_effects| Vec::from_iter(one.files(are_effects)));
        let count = files.len();
        println!("{:8} {count:>5} {:>4}   {}; {}", one.what, one.files_max, files.join(", "), effects.join(", "));
    }
    all.iter().try_for_each(Addition::judge)
}

/// The files of a checkout with all additions.
fn changed<'a>(root: &Path, all: &'a [Addition]) -> Result<BTreeMap<&'a str, String>, Failure> {
    let mut changed = BTreeMap::new();
    for insertion in all.iter().flat_map(|one| &one.insertions) {
        let file = &*insertion.file;
        let text = match changed.remove(file) {
            Some(text) => text,
            None => std::fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?,
        };
        changed.insert(file, inserted(&text, insertion)?);
    }
    Ok(changed)
}

fn inserted(text: &str, insertion: &Insertion) -> Result<String, Failure> {
    let Insertion { file, behind, text: new, .. } = insertion;
    let places: Vec<usize> = text.match_indices(behind).map(|(at, _)| at + behind.len()).collect();
    let [at] = places[..] else {
        let count = places.len();
        return Err(format!("{file} has {behind:?} {count} times, and not once: see xtask/src/add/recipes.txt"));
    };
    let new = match new.split_once("{next").and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
        Some((before, (from, after))) => {
            format!("{before}{}{after}", free_number(text, at, from.trim().parse().unwrap_or(0)))
        }
        None => new.clone(),
    };
    Ok(format!("{}{new}{}", &text[..at], &text[at..]))
}

/// The first number from `from` on that no row has of the table around a place.
fn free_number(text: &str, at: usize, from: usize) -> usize {
    let begin = text[..at].rfind("\n}").unwrap_or(0);
    let end = text[at..].find("\n}").map_or(text.len(), |end| at + end);
    let number = |line: &str| line.split_once(" = ")?.1.split_once(',')?.0.parse::<usize>().ok();
    let taken: BTreeSet<usize> = text[begin..end].lines().filter_map(number).collect();
    (from..).find(|number| !taken.contains(number)).unwrap_or(from)
}

/// Copies the sources; those of an earlier copy are replaced.
fn copy(folder: &Path) -> Result<(), Failure> {
    let words = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let listed =
        Command::new("git").args(words).current_dir(root()).output().map_err(|error| format!("git: {error}"))?;
    for file in String::from_utf8_lossy(&listed.stdout).lines() {
        let (from, to) = (root().join(file), folder.join(file));
        let made = to.parent().map_or(Ok(()), std::fs::create_dir_all);
        if from.is_file() {
            made.and_then(|()| std::fs::copy(&from, &to)).map_err(|error| format!("{file}: {error}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_addition_finds_its_place_and_takes_few_files() {
        let all = Addition::all(RECIPES);
        let kinds: Vec<&str> = all.iter().map(|one| &*one.what).collect();
        assert_eq!(kinds, ["counter", "failure", "figure", "flag", "key"]);
        let changed = changed(&root(), &all).expect("places");
        for one in &all {
            assert_eq!(one.judge(), Ok(()));
            for insertion in &one.insertions {
                let text = insertion.text.split("{next").next().unwrap_or_default();
                assert!(text.len() > 1 && changed[&*insertion.file].contains(text), "{insertion:?}");
            }
        }
    }

    #[test]
    fn files_are_counted_once_and_effects_apart() {
        let recipe = "## row 1\n@ one.rs\n=a\n=b\n+c\n@ one.rs\n=d\n&e\n@ two.rs\n=f\n+g\n@effect three.rs\n=h\n+i\n";
        let all = Addition::all(recipe);
        let [row] = &all[..] else { panic!("{all:?}") };
        assert_eq!((row.files(false).len(), row.files(true).len()), (2, 1));
        assert_eq!(row.judge(), Err("a row takes 2 files, at most 1 are wanted".to_owned()));
        let of = |place: usize| (&*row.insertions[place].behind, &*row.insertions[place].text);
        assert_eq!((of(0), of(1)), (("a\nb", "\nc"), ("d", "e")));
    }

    #[test]
    fn a_place_that_is_gone_or_twice_there_is_named() {
        let table = "first! {\n    Z = 2, z;\n}\nsecond! {\n    A = 0, a;\n    B = 1, b;\n    D = 3, d;\n}\n";
        let row = |next: &str| Insertion {
            file: "one.rs".to_owned(),
            behind: "B = 1, b;".to_owned(),
            text: format!("\n    C = {next}, c;"),
            is_effect: false,
        };
        for (next, number) in [("{next}", 2), ("{next 3}", 4), ("{next 9}", 9)] {
            let made = inserted(table, &row(next)).expect("a place");
            assert_eq!(made, table.replace("b;", &format!("b;\n    C = {number}, c;")));
        }
        for text in ["", "B = 1, b; B = 1, b;"] {
            let message = inserted(text, &row("{next}")).expect_err("no place");
            assert!(message.starts_with("one.rs has \"B = 1, b;\"") && message.contains("recipes.txt"), "{message}");
        }
    }
}
