//! The `onrush` binary: the only place that reads the command line and the environment, prints, and exits.

mod args;
mod come;
mod doctor;
mod exit;
mod files;
mod flags;
mod generate;
mod grpc;
mod help;
mod hold;
mod live;
mod load;
mod machine;
mod output;
#[cfg(test)]
mod reference;
mod selftest;
mod serve;
mod signals;
mod tool;
mod usage;

use std::process::ExitCode;

use args::Command;
use exit::Exit;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let language = usage::language_of(&words);
    if let Some((tool, words)) = come::tool_of(&words) {
        return tool::run(tool, &words, language);
    }
    let (words, curl) = come::split_at_curl(words, language);
    let matches = match help::command(language).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return usage::explain(&error, language).into(),
    };
    let mut command = Command::of(&matches);
    if let (Some(words), Command::Run(args)) = (curl, &mut command) {
        args.flags.curl = Some(words);
    }
    let exit = match command {
        Command::Run(args) => load::run(&args),
        Command::Demo(args) => load::demo(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Hold(args) => hold::hold(&args),
        Command::Selftest(driver) => selftest::selftest(&driver),
        Command::List(args) => grpc::list(&args),
        Command::Describe(args) => grpc::describe(&args),
        Command::Completions(shell) => generate::completions(shell, language),
        Command::Man => generate::manual(language),
    };
    exit.into()
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
