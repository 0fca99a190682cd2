//! `onrush selftest`: checks the accuracy of this program.

use report::Language;
use selftest::{Row, SelftestError};

use crate::commands::serve;
use crate::exit::Exit;
use crate::options::args::DriverArgs;
use crate::options::usage;
use crate::output::{self, Wrote};

pub(crate) fn selftest(driver: &DriverArgs) -> Exit {
    let language = usage::language();
    let drivers = match selftest::drivers(driver.choice()) {
        Ok(drivers) => drivers,
        Err(error) => {
            output::complain(&report::driver_error(&error, language));
            return Exit::System;
        }
    };
    host::raise_descriptor_limit();
    let table = selftest::table(language);
    let mut wrote = output::write_stdout(&table.head(), language);
    let (mut rows, mut wrong) = (0, 0);
    for driver in &drivers {
        let mut notify = |row: &Row| {
            rows += 1;
            wrong += usize::from(!row.passes());
            if wrote == Wrote::All {
                wrote = output::write_stdout(&table.row(row), language);
            }
        };
        if let Err(error) = selftest::run(driver, &mut notify) {
            output::complain(&in_words(&error, language));
            return Exit::System;
        }
    }
    if wrote == Wrote::All {
        wrote = output::write_stdout(&table.sum(rows, wrong), language);
    }
    match (wrote, wrong) {
        (Wrote::Failed, _) => Exit::System,
        (_, 0) => Exit::Done,
        _ => Exit::Unmet,
    }
}

fn in_words(error: &SelftestError, language: Language) -> String {
    match error {
        SelftestError::Driver(error) => report::driver_error(error, language),
        SelftestError::Serve(error) => serve::serve_error(error, language),
        SelftestError::Run(error) => report::run_error(error, language),
        SelftestError::Plan(error) => report::plan_error(error, language),
    }
}
