//! The program: the only place that reads the command line, prints, and exits. It reads the environment, too, except
//! for the variables of proxies, which `plan` reads for `--proxy-from-env`.
//!
//! It is a library so that a program of your own can have one more protocol: [`main_with`], and [`protocol`]. Everything
//! else is private.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod commands;
mod exit;
mod help;
mod options;
mod output;
mod session;
mod workers;

use std::ffi::OsString;
use std::process::ExitCode;

/// What a protocol of your own is made of.
pub use protocol;

use commands::{
    bus, capacity, check, compat, completions, ctl, demo, doctor, find_max, grpc, history, hold, init, recover, run,
    run_file, selftest, serve, sweep, web, worker,
};
use exit::Exit;
use options::args::Command;
use options::{foreign_args, usage};
use report::Language;
use session::config_layers::ConfigLayers;
use session::wrapped_command;

/// Runs the command line of this process. `own`: protocols besides those that onrush has.
pub fn main_with(own: &[&'static dyn protocol::Protocol]) -> ExitCode {
    register(own);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    driver::give_large_memory_back();
    let words = foreign_args::plain_help(usage::plain_language(std::env::args_os().collect()));
    let language = usage::language_of(&words);
    if let Some((tool, words)) = foreign_args::tool_of(&words) {
        return compat::run(tool, &words, language);
    }
    let words = match usage::early(words) {
        usage::Early::Words(words) => words,
        usage::Early::Near(word) => {
            output::complain(&usage::say_bare_word(&word, language));
            return Exit::Usage.into();
        }
    };
    let words = wrapped_command::sorted(usage::language_behind(words));
    let (words, curl) = foreign_args::split_at_curl(words, language);
    if let Some(exit) = curl.as_deref().and_then(|behind| foreign_args::answered(&words, behind, language)) {
        return exit.into();
    }
    if let Some(text) = usage::say_habit(&words, language) {
        output::complain(&text);
        return Exit::Usage.into();
    }
    let mut borrowed = match ConfigLayers::add(words, curl.is_some(), language) {
        Ok(borrowed) => borrowed,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage.into();
        }
    };
    borrowed.words = usage::plain_language(borrowed.words);
    let language = usage::language_of(&borrowed.words);
    usage::speak(language);
    let exit = run_command(&borrowed.words, curl, language);
    if let Some(sources) = borrowed.say_sources(language).filter(|_| exit == Exit::Usage) {
        output::note(&sources);
    }
    exit.into()
}

/// Registers the protocols of this program.
fn register(own: &[&'static dyn protocol::Protocol]) {
    let all: Vec<_> = protocols::ROOMS.iter().chain(own).copied().collect();
    protocol::register(&all);
}

/// Runs the command of these words. `curl`: the words after `curl`.
fn run_command(words: &[OsString], curl: Option<Vec<Vec<u8>>>, language: Language) -> Exit {
    let matches = match help::command(language).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return usage::explain(&error, language),
    };
    if let Some(text) = usage::taken_url(&matches, language).filter(|_| curl.is_none()) {
        output::complain(&text);
        return Exit::Usage;
    }
    let mut command = Command::from_matches(&matches);
    match &mut command {
        Command::Run(args) => args.flags.curl = curl,
        Command::Init(args) => args.flags.curl = curl,
        _ => {}
    }
    match command {
        Command::Run(args) => match args.file() {
            Some(file) => run_file::play(&args, file),
            None => run::run(&args),
        },
        Command::Demo(args) => demo::demo(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Hold(args) => hold::hold(&args),
        Command::Check(files) => check::check(&files),
        Command::Init(args) => init::init(&args),
        Command::Report { run, file } => history::report(&run, file.as_deref(), usage::language()),
        Command::History { is_json, is_trend } => history::history(is_json, is_trend, usage::language()),
        Command::Compare { sides, fail_if, is_json } => history::compare(&sides, &fail_if, is_json, usage::language()),
        Command::Recover(journals, args) => recover::recover(&journals, &args),
        Command::Web(args) => web::run(&args),
        Command::Ctl(args) => ctl::ctl(&args),
        Command::FindMax(args) => find_max::find_max(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Capacity(args) => capacity::capacity(&args),
        Command::Worker(args) => worker::worker(&args),
        Command::Bus(args) => bus::bus(&args),
        Command::Selftest(driver) => selftest::selftest(&driver),
        Command::List(args) => grpc::list(&args),
        Command::Describe(args) => grpc::describe(&args),
        Command::Completions(shell) => completions::completions(shell, language),
        Command::Man(called) => completions::manual(&called, language),
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
