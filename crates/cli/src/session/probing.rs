//! The option of a recovery probe, in which half of the users go on when a load is over.

use engine::ProbeOption;
use report::Language;

use crate::options::args::RunArgs;

/// The option on the command line; or its error.
pub(crate) fn options(args: &RunArgs, language: Language) -> Result<ProbeOption, &'static str> {
    match (args.probe, args.no_probe) {
        (true, true) => {
            Err(language.pick("--probe and --no-probe cannot be given together", "--probe 和 --no-probe 不能同时使用"))
        }
        (true, false) => Ok(ProbeOption::Always),
        (false, true) => Ok(ProbeOption::Never),
        (false, false) if args.file().is_some() => Ok(ProbeOption::IfRequested),
        (false, false) => Ok(ProbeOption::Safe),
    }
}
