//! All tests of the workspace: built once, then each run in a process of its own, several at a time.

mod busy;
mod names;
mod programs;
mod runner;
mod times;

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::Failure;
use crate::steps::Steps;
use programs::Case;
pub(crate) use programs::folder;
use runner::{Ending, Outcome, Running};

/// The longest tests, which are started first: by program, and by the beginning of a name.
const LONGEST: [(&str, &str); 3] = [("cluster/cluster", "sim::"), ("onrush/browser", ""), ("onrush/books", "")];

/// Tests whose longest variants have the machine alone: a hundred thousand connections, and the memory of a process.
const ALONE: [(&str, &str); 2] = [("onrush/cli", "hold::a_hundred_thousand"), ("onrush/cli", "growth::")];

/// Maximum lines of a failure that are printed.
const REPORTED_LINES: usize = 60;

/// The options of the suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Prints the time of each test and each unit of the build.
    pub(crate) is_timed: bool,
    /// Runs on a disturbed machine, with instants drawn from this seed.
    pub(crate) busy: Option<u64>,
    /// Writes the list of tests and runs none.
    pub(crate) writes_names: bool,
    /// Runs each test in its longest variant, with all seeds and inputs.
    pub(crate) is_long: bool,
}

/// Runs every test, even if some fail.
pub(crate) fn run_all(options: Options) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let mut cases = steps.run("build of all tests", || programs::build(options.is_timed))?;
    if options.writes_names {
        return names::write(&cases);
    }
    if options.busy.is_some() {
        times::check_quiet()?;
    }
    let listed = names::compare(&cases);
    cases.sort_by_key(|case| position_in(case, &LONGEST).unwrap_or(LONGEST.len()));
    let outcomes = steps.run("all tests", || match options.busy {
        Some(seed) => run_beside_disturbances(cases, seed),
        None if options.is_long => run_long(cases),
        None => run_cases(cases, &Running::default()),
    })?;
    // The counts of longer variants are not those of the suite.
    let differing = if options.is_long { Ok(()) } else { times::keep(&outcomes, options.busy.is_some()) };
    times::print_programs(&outcomes);
    let mut units = Ok(());
    if options.is_timed {
        times::print_tests(&outcomes);
        units = times::print_units(&programs::timings_page());
    }
    steps.print();
    judge(&outcomes, [listed, differing, units])
}

fn run_cases(cases: Vec<Case>, running: &Running) -> Result<Vec<Outcome>, Failure> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    cases.iter().for_each(|case| *left.entry(case.program.title()).or_default() += 1);
    println!("{} tests of {} programs, each in a process of its own", cases.len(), left.len());
    let left = Mutex::new(left);
    runner::run(cases, running, &|outcome| {
        let title = outcome.case.program.title();
        if !outcome.has_passed() {
            println!("FAILED {}: {}\n{}", outcome.case.name(), outcome.ended(), outcome.output);
        }
        let mut left = left.lock().expect("no lane panics");
        let count = left.get_mut(&title).expect("each has its count");
        *count -= 1;
        if *count == 0 {
            println!("= {title}");
        }
    })
}

/// Runs the longest variants: some of them alone, then the others.
fn run_long(cases: Vec<Case>) -> Result<Vec<Outcome>, Failure> {
    let is_alone = |case: &Case| position_in(case, &ALONE).is_some();
    let (alone, others): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(is_alone);
    let mut outcomes = run_cases(alone, &Running::long(1))?;
    outcomes.extend(run_cases(others, &Running::long(runner::lanes()))?);
    Ok(outcomes)
}

/// The position of a test in a list of programs and beginnings of names.
fn position_in(case: &Case, list: &[(&str, &str)]) -> Option<usize> {
    let (program, test) = (case.program.title(), &case.tests[0]);
    list.iter().position(|(title, prefix)| program == *title && test.starts_with(prefix))
}

fn run_beside_disturbances(cases: Vec<Case>, seed: u64) -> Result<Vec<Outcome>, Failure> {
    println!("beside programs that never rest, a disk that is written to, and a thief of time with seed {seed}");
    let running = Running::default();
    let _spinners = busy::Spinners::start()?;
    std::thread::scope(|scope| {
        let _ending = Ending(&running);
        let writer = scope.spawn(|| busy::write_and_sync(&running));
        scope.spawn(|| busy::steal(&running, seed));
        let outcomes = run_cases(cases, &running);
        let written = writer.join().unwrap_or_else(|_| Err("the writer panicked".to_owned()));
        // The results of the tests are more important than a full disk.
        if let Err(failure) = written {
            println!("the disk was not written to: {failure}");
        }
        outcomes
    })
}

/// The final report: failures with the commands that repeat them, and other errors.
fn judge(outcomes: &[Outcome], others: [Result<(), Failure>; 3]) -> Result<(), Failure> {
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.has_passed()).collect();
    let tests = |outcomes: &[&Outcome]| outcomes.iter().map(|outcome| outcome.case.tests.len()).sum::<usize>();
    let all: Vec<&Outcome> = outcomes.iter().collect();
    let mut wrong: Vec<String> = failed.iter().map(|outcome| reported(outcome)).collect();
    wrong.extend(others.into_iter().filter_map(Result::err));
    println!("tests: {} passed, {} failed", tests(&all) - tests(&failed), tests(&failed));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n")) }
}

fn reported(outcome: &Outcome) -> String {
    let lines: Vec<&str> = outcome.output.lines().collect();
    let last = lines[lines.len().saturating_sub(REPORTED_LINES)..].join("\n");
    let (case, program) = (&outcome.case, &outcome.case.program);
    let words = if program.is_whole { String::new() } else { format!(" --exact {}", case.tests[0]) };
    format!("{last}\n{} ended with {}; again:\n{}{words}", case.name(), outcome.ended(), program.again())
}
