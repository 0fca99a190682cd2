//! The `onrush` binary: the only place that reads the command line and the environment, prints, and exits.

mod args;
mod come;
mod doctor;
mod exit;
mod files;
mod generate;
mod grpc;
mod help;
mod hold;
mod live;
mod load;
mod machine;
mod output;
mod selftest;
mod serve;
mod signals;
mod tool;
mod usage;

use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Cli, Command};
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
    let mut cli = Cli::from_arg_matches(&matches).expect("the definition and the struct are one");
    if let Some(words) = curl {
        match &mut cli.command {
            Some(Command::Run(args)) => args.curl = Some(words),
            _ => cli.run.curl = Some(words),
        }
    }
    let exit = match cli.command {
        None => load::run(&cli.run),
        Some(Command::Run(args)) => load::run(&args),
        Some(Command::Demo(args)) => load::demo(&args),
        Some(Command::Serve(args)) => serve::serve(&args),
        Some(Command::Doctor(args)) => doctor::doctor(&args),
        Some(Command::Hold(args)) => hold::hold(&args),
        Some(Command::Selftest(args)) => selftest::selftest(&args),
        Some(Command::Grpc(args)) => grpc::grpc(&args),
        Some(Command::Completions(args)) => generate::completions(&args, language),
        Some(Command::Man(_)) => generate::manual(language),
    };
    exit.into()
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
