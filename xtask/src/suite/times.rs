//! Times and assertion counts of the tests: stored in `target/suite`, printed as tables, and compared between a quiet
//! machine and a busy one.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::programs;
use super::runner::Outcome;
use crate::Failure;

/// Maximum units of the build that are printed.
const UNITS_MAX: usize = 60;

/// Stores the results; on a busy machine, compares them with the last run on a quiet one.
pub(crate) fn keep(outcomes: &[Outcome], is_busy: bool) -> Result<(), Failure> {
    let folder = programs::folder()?;
    let (quiet, busy) = (folder.join(QUIET), folder.join("busy.tsv"));
    let mut rows: Vec<String> = outcomes.iter().map(row).collect();
    rows.sort();
    let file = if is_busy { &busy } else { &quiet };
    let text = format!("{}\n{}\n", head(), rows.join("\n"));
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    if is_busy { compare(outcomes, &quiet) } else { Ok(()) }
}

/// The file with the last run on a quiet machine.
const QUIET: &str = "quiet.tsv";

/// Checks that there is a run of this commit on a quiet machine to compare with.
pub(crate) fn check_quiet() -> Result<(), Failure> {
    let path = programs::folder()?.join(QUIET);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let is_there = text.lines().next() == Some(&head());
    is_there
        .then_some(())
        .ok_or_else(|| format!("{} is not of this commit: run cargo xtask test first", path.display()))
}

/// The header with the part that the commit plays, since counts depend on it.
fn head() -> String {
    format!("test\twall s\tCPU s\tclaims of part {}", programs::commit_number())
}

fn row(outcome: &Outcome) -> String {
    let (wall, cpu) = (outcome.wall.as_secs_f64(), outcome.cpu.as_secs_f64());
    let claims = if outcome.has_passed() { outcome.claims.to_string() } else { "-".to_owned() };
    format!("{}\t{wall:.3}\t{cpu:.2}\t{claims}", outcome.case.name())
}

/// Reports tests with fewer assertions on a busy machine: they skip checks there.
fn compare(outcomes: &[Outcome], quiet: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(quiet).map_err(|error| format!("{}: {error}", quiet.display()))?;
    let kept: BTreeMap<&str, u64> = text.lines().skip(1).filter_map(read_row).collect();
    let differing: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| {
            let before = kept.get(outcome.case.name().as_str()).copied();
            // A test that failed there has no count.
            let is_same = before.is_none_or(|before| before == outcome.claims) || !outcome.has_passed();
            (!is_same)
                .then(|| format!("  {}: {} claims, {before:?} on a quiet machine", outcome.case.name(), outcome.claims))
        })
        .collect();
    if differing.is_empty() {
        println!("claims: as many as on a quiet machine, in each of {} tests", outcomes.len());
        return Ok(());
    }
    Err(format!("tests that do not judge the same claims on a busy machine:\n{}", differing.join("\n")))
}

fn read_row(line: &str) -> Option<(&str, u64)> {
    let mut fields = line.split('\t');
    Some((fields.next()?, fields.nth(2)?.parse().ok()?))
}

/// A line for each program.
pub(crate) fn print_programs(outcomes: &[Outcome]) {
    let mut sums: BTreeMap<String, (usize, f64, f64, u64)> = BTreeMap::new();
    for outcome in outcomes {
        let sum = sums.entry(outcome.case.program.title()).or_default();
        sum.0 += outcome.case.tests.len();
        sum.1 += outcome.wall.as_secs_f64();
        sum.2 += outcome.cpu.as_secs_f64();
        sum.3 += outcome.claims;
    }
    println!("{:<28} {:>6} {:>9} {:>9} {:>9}", "program", "tests", "test s", "CPU s", "claims");
    for (title, (tests, wall, cpu, claims)) in &sums {
        println!("{title:<28} {tests:>6} {wall:>9.1} {cpu:>9.1} {claims:>9}");
    }
    let (tests, wall, cpu, claims) =
        sums.values().fold((0, 0.0, 0.0, 0), |all, one| (all.0 + one.0, all.1 + one.1, all.2 + one.2, all.3 + one.3));
    println!("{:<28} {tests:>6} {wall:>9.1} {cpu:>9.1} {claims:>9}", "all");
}

/// A line for each test, the longest first.
pub(crate) fn print_tests(outcomes: &[Outcome]) {
    let mut sorted: Vec<&Outcome> = outcomes.iter().collect();
    sorted.sort_by_key(|outcome| std::cmp::Reverse(outcome.wall));
    println!("{:>9} {:>9} {:>7}  test", "wall s", "CPU s", "claims");
    for outcome in sorted {
        let (wall, cpu) = (outcome.wall.as_secs_f64(), outcome.cpu.as_secs_f64());
        println!("{wall:>9.2} {cpu:>9.2} {:>7}  {}", outcome.claims, outcome.case.name());
    }
}

/// A unit of a build, as cargo reports it.
#[derive(Deserialize)]
struct Unit {
    name: String,
    version: String,
    target: String,
    duration: f64,
}

/// Prints the units of the last build, the longest first. Cargo reports only their wall time.
pub(crate) fn print_units(page: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
    let list = text.split_once("const UNIT_DATA = ").and_then(|(_, rest)| rest.split_once("];"));
    let list = list.map(|(list, _)| format!("{list}]")).ok_or("cargo's page of timings has no list of units")?;
    let mut units: Vec<Unit> = serde_json::from_str(&list).map_err(|error| format!("{}: {error}", page.display()))?;
    units.sort_by(|one, other| other.duration.total_cmp(&one.duration));
    println!(
        "{} units of the build in {:.1} s of wall time",
        units.len(),
        units.iter().map(|unit| unit.duration).sum::<f64>()
    );
    for unit in units.iter().take(UNITS_MAX) {
        println!("{:>9.2}  {} {}{}", unit.duration, unit.name, unit.version, unit.target);
    }
    Ok(())
}
