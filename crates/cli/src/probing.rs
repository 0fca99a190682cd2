//! Who wants half of the users to go on when a load is over.

use engine::ProbeWish;
use report::Language;

use crate::args::RunArgs;

/// What the command line says of it; what is wrong with that otherwise.
pub(crate) fn wish(args: &RunArgs, language: Language) -> Result<ProbeWish, &'static str> {
    match (args.probe, args.no_probe) {
        (true, true) => {
            Err(language.pick("--probe and --no-probe cannot be given together", "--probe 和 --no-probe 不能同时使用"))
        }
        (true, false) => Ok(ProbeWish::Always),
        (false, true) => Ok(ProbeWish::Never),
        (false, false) if args.file().is_some() => Ok(ProbeWish::Asked),
        (false, false) => Ok(ProbeWish::Safe),
    }
}
