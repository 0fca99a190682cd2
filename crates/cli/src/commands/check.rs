//! `onrush check`: validates scenario files. Nothing is sent.

use std::path::Path;

use scenario::Problem;

use crate::commands::run_file;
use crate::exit::Exit;
use crate::options::usage;
use crate::output;

/// Prints the errors or the content of each file.
pub(crate) fn check(files: &[String]) -> Exit {
    let language = usage::language();
    let mut exit = Exit::Done;
    for file in files {
        let (text, found) = match scenario::read(Path::new(file)) {
            Ok(opened) => match run_file::check(&opened, language) {
                Ok(()) => {
                    let (contents, warnings) =
                        (report::scenario_contents(&opened, language), report::scenario_warnings(&opened, language));
                    let all = if warnings.is_empty() { contents } else { format!("{contents}\n{warnings}") };
                    (all, Exit::Done)
                }
                Err(mistakes) => (report::scenario_mistakes(&mistakes, language), Exit::Unmet),
            },
            Err(mistakes) => {
                let is_read = !mistakes.all.iter().any(|mistake| matches!(mistake.fault, Problem::File { .. }));
                if !is_read {
                    output::complain_in_lines(&report::scenario_mistakes(&mistakes, language));
                    exit = Exit::Usage;
                    continue;
                }
                (report::scenario_mistakes(&mistakes, language), Exit::Unmet)
            }
        };
        // A file that cannot be read is worse than an invalid one.
        exit = if exit == Exit::Done { found } else { exit };
        if output::to_stdout(&format!("{text}\n"), language) != Exit::Done {
            return Exit::System;
        }
    }
    exit
}
