//! A test harness for tests that share one start of something. It behaves like Rust's, on the command line and in its
//! output, and runs the selected tests one after the other.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// The exit code of Rust's harness when a test fails, and when it does not understand.
const FAILED: u8 = 101;

/// A test, and what it needs of the shared value.
pub(crate) struct Test<S> {
    /// Its name, as `module::what_holds`.
    pub(crate) name: &'static str,
    /// Returns why it failed.
    pub(crate) run: fn(&mut S) -> Result<(), String>,
}

/// The parsed command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Requested {
    list: bool,
    is_terse: bool,
    exact: bool,
    /// Only ignored tests: there are none.
    ignored: bool,
    filters: Vec<String>,
    skipped: Vec<String>,
}

impl Requested {
    fn read(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let (mut requested, mut words) = (Self::default(), words.into_iter());
        while let Some(word) = words.next() {
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag.to_owned(), Some(value.to_owned())),
                _ => (word, None),
            };
            match flag.as_str() {
                "--list" => requested.list = true,
                "--exact" => requested.exact = true,
                "--ignored" => requested.ignored = true,
                // They run one after the other, their output is shown when they fail, and none is left out.
                "--include-ignored" | "--nocapture" | "--no-capture" | "--show-output" | "--quiet" | "-q"
                | "--report-time" => {}
                "--format" | "--skip" | "--test-threads" | "--color" | "-Z" => {
                    let value = value.or_else(|| words.next()).ok_or_else(|| format!("{flag} wants a value"))?;
                    match flag.as_str() {
                        "--format" => requested.is_terse = value == "terse",
                        "--skip" => requested.skipped.push(value),
                        _ => {}
                    }
                }
                _ if flag.starts_with('-') => return Err(format!("{flag} is no flag of this test program")),
                _ => requested.filters.push(flag),
            }
        }
        Ok(requested)
    }

    fn selects(&self, name: &str) -> bool {
        let fits = |pattern: &String| if self.exact { name == pattern } else { name.contains(pattern.as_str()) };
        !self.ignored && !self.skipped.iter().any(fits) && (self.filters.is_empty() || self.filters.iter().any(fits))
    }
}

/// Lists the tests, or runs those that the command line selects. `share` is made when the first of them begins.
pub(crate) fn main<S>(tests: &[Test<S>], share: fn() -> S) -> ExitCode {
    let requested = match Requested::read(std::env::args().skip(1)) {
        Ok(requested) => requested,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            return ExitCode::from(FAILED);
        }
    };
    let selected: Vec<&Test<S>> = tests.iter().filter(|test| requested.selects(test.name)).collect();
    if requested.list {
        selected.iter().for_each(|test| println!("{}: test", test.name));
        if !requested.is_terse {
            println!("\n{} tests, 0 benchmarks", selected.len());
        }
        return ExitCode::SUCCESS;
    }
    println!("\nrunning {} test{}", selected.len(), if selected.len() == 1 { "" } else { "s" });
    let (mut shared, mut failed) = (None, Vec::new());
    for test in &selected {
        let shared = &mut shared;
        let done = catch_unwind(AssertUnwindSafe(|| (test.run)(shared.get_or_insert_with(share))));
        match done.unwrap_or_else(|panic| Err(said(&*panic))) {
            Ok(()) => println!("test {} ... ok", test.name),
            Err(why) => {
                println!("test {} ... FAILED", test.name);
                failed.push((test.name, why));
            }
        }
    }
    drop(shared);
    reported(&failed);
    let result = if failed.is_empty() { "ok" } else { "FAILED" };
    let (passed, filtered) = (selected.len() - failed.len(), tests.len() - selected.len());
    println!(
        "\ntest result: {result}. {passed} passed; {} failed; 0 ignored; 0 measured; {filtered} filtered out\n",
        failed.len()
    );
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Prints why tests failed.
fn reported(failed: &[(&str, String)]) {
    if failed.is_empty() {
        return;
    }
    println!("\nfailures:\n");
    failed.iter().for_each(|(name, why)| println!("---- {name} stdout ----\n{why}\n"));
    println!("\nfailures:");
    failed.iter().for_each(|(name, _)| println!("    {name}"));
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".to_owned())
}

/// The command line means what it means to Rust's harness.
pub(crate) fn the_command_line_is_that_of_rust() -> Result<(), String> {
    let names = ["a::one", "a::one_more", "b::two"];
    for (line, wanted) in [
        ("", &names[..]),
        ("one", &["a::one", "a::one_more"]),
        ("--exact a::one --nocapture", &["a::one"]),
        ("--exact one", &[]),
        ("two one --skip more", &["a::one", "b::two"]),
        ("--skip=a::one --exact --test-threads 4", &["a::one_more", "b::two"]),
        ("--ignored", &[]),
        ("--include-ignored -Z unstable-options --color=never -q", &names),
    ] {
        let requested = Requested::read(line.split_whitespace().map(str::to_owned))?;
        let selected: Vec<&str> = names.into_iter().filter(|name| requested.selects(name)).collect();
        assert_eq!(selected, wanted, "{line}");
        assert!(!requested.list && !requested.is_terse, "{line}");
    }
    let requested = Requested::read(["--list", "--format", "terse"].map(str::to_owned))?;
    assert!(requested.list && requested.is_terse);
    for line in ["--format", "--nonsense", "-x"] {
        assert!(Requested::read([line.to_owned()]).is_err(), "{line}");
    }
    Ok(())
}
