//! Any text as a scenario file: it is right, or each mistake has a place in it and something to say.
#![no_main]

use std::io::{Error, ErrorKind};
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use scenario::{Files, MISTAKES_MAX};

/// One data file, and no other.
struct Data;

impl Files for Data {
    fn head(&self, path: &Path, most: usize) -> Result<Vec<u8>, Error> {
        let rows: &[u8] = b"name,pass\nanna,1\n";
        let is_there = path.extension().is_some();
        is_there.then(|| rows[..rows.len().min(most)].to_vec()).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

fuzz_target!(|input: &str| match scenario::parse("fuzzed", input, &Data) {
    Ok(opened) => {
        assert!(!opened.file.scenarios.is_empty());
        assert!(opened.file.step_count() > 0);
    }
    Err(mistakes) => {
        assert!((1..=MISTAKES_MAX).contains(&mistakes.all.len()));
        for mistake in &mistakes.all {
            assert!(mistake.at.start <= mistake.at.end && mistake.at.start <= mistakes.source.text.len());
            let place = mistakes.source.place(mistake.at.start);
            assert!(place.line >= 1 && place.column >= 1);
            assert!(!mistake.to_string().is_empty());
        }
    }
});
