use std::io::{Error, ErrorKind};
use std::path::Path;

use scenario::{Files, Lowering, MISTAKES_MAX, Mistakes, Opened, Outside};

/// Any text as a scenario file: it is right, or each mistake has a place in it and something to say; and so it is made a plan of.
pub fn scenario(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    match scenario::parse("fuzzed", input, &Data) {
        Ok(opened) => {
            assert!(!opened.file.scenarios.is_empty());
            assert!(opened.file.step_count() > 0);
            if let Err(mistakes) = lower(&opened) {
                check(&mistakes);
            }
        }
        Err(mistakes) => check(&mistakes),
    }
}

/// One data file, and no other.
struct Data;

impl Files for Data {
    fn head(&self, path: &Path, most: usize) -> Result<Vec<u8>, Error> {
        let rows: &[u8] = b"name,pass\nanna,1\n";
        let is_there = path.extension().is_some();
        is_there.then(|| rows[..rows.len().min(most)].to_vec()).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

fn check(mistakes: &Mistakes) {
    assert!((1..=MISTAKES_MAX).contains(&mistakes.all.len()));
    for mistake in &mistakes.all {
        assert!(mistake.at.start <= mistake.at.end && mistake.at.start <= mistakes.source.text.len());
        let place = mistakes.source.place(mistake.at.start);
        assert!(place.line >= 1 && place.column >= 1);
        assert!(!mistake.to_string().is_empty());
    }
}

/// The plans of a file, as a run without expressions and without an environment makes them.
fn lower(opened: &Opened) -> Result<(), Mistakes> {
    let outside = Outside {
        environment: &|_| None,
        interpreters: None,
        schemas: &[],
        folder: Path::new("/nowhere"),
        user_agent: "fuzz/1",
    };
    let lowering = Lowering::new(opened, &outside)?;
    lowering.before()?;
    let lowered = lowering.run(&[])?;
    assert!(!lowered.plan.scenarios.is_empty());
    lowering.after().map(drop)
}
