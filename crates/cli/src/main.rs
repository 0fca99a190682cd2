//! The `onrush` binary: the only place that reads the command line and the environment, prints, and exits.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod args;
mod borrowed;
mod bus;
mod bygone;
mod capacity;
mod check;
mod come;
mod consent;
mod ctl;
mod demo;
mod doctor;
mod ending;
mod exit;
mod exporting;
mod files;
mod find_max;
mod flags;
mod front;
mod generate;
mod grpc;
mod help;
mod hold;
mod hopeless;
mod import;
mod init;
mod judging;
mod keeping;
mod listen;
mod live;
mod load;
mod losses;
mod machine;
mod masking;
#[cfg(feature = "nats")]
mod on_bus;
mod output;
mod page;
mod past;
mod play;
mod probe;
mod probing;
mod progress;
mod proxies;
mod quiet;
#[cfg(test)]
mod reference;
mod request_log;
mod rings;
mod ruling;
mod selftest;
mod serve;
mod signals;
mod sim;
mod stop_file;
mod stopping;
mod supplies;
mod sweep;
mod tool;
mod usage;
mod watching;
mod whole;
mod wishes;
mod worker;
mod workers;

use std::ffi::OsString;
use std::process::ExitCode;

use args::Command;
use borrowed::Borrowed;
use exit::Exit;
use report::Language;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    driver::give_large_memory_back();
    let words = usage::plain_language(std::env::args_os().collect());
    let language = usage::language_of(&words);
    if let Some((tool, words)) = come::tool_of(&words) {
        return tool::run(tool, &words, language);
    }
    let words = match usage::early(words) {
        usage::Early::Words(words) => words,
        usage::Early::Near(word) => {
            output::complain(&usage::say_bare_word(&word, language));
            return Exit::Usage.into();
        }
    };
    let words = front::sorted(words);
    let (words, curl) = come::split_at_curl(words, language);
    let mut borrowed = match Borrowed::add(words, curl.is_some(), language) {
        Ok(borrowed) => borrowed,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage.into();
        }
    };
    borrowed.words = usage::plain_language(borrowed.words);
    let language = usage::language_of(&borrowed.words);
    usage::speak(language);
    let exit = obey(&borrowed.words, curl, language);
    if let Some(sources) = borrowed.say_sources(language).filter(|_| exit == Exit::Usage) {
        output::note(&sources);
    }
    exit.into()
}

/// Does what the words say. `curl`: what stands behind that word.
fn obey(words: &[OsString], curl: Option<Vec<Vec<u8>>>, language: Language) -> Exit {
    let matches = match help::command(language).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return usage::explain(&error, language),
    };
    if let Some(text) = usage::taken_url(&matches, language).filter(|_| curl.is_none()) {
        output::complain(&text);
        return Exit::Usage;
    }
    let mut command = Command::of(&matches);
    match &mut command {
        Command::Run(args) => args.flags.curl = curl,
        Command::Init(args) => args.flags.curl = curl,
        _ => {}
    }
    match command {
        Command::Run(args) => match args.file() {
            Some(file) => play::play(&args, file),
            None => load::run(&args),
        },
        Command::Demo(args) => demo::demo(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Hold(args) => hold::hold(&args),
        Command::Check(files) => check::check(&files),
        Command::Init(args) => init::init(&args),
        Command::Report { run, file } => past::report(&run, file.as_deref(), usage::language()),
        Command::History { is_json, is_trend } => past::history(is_json, is_trend, usage::language()),
        Command::Compare { sides, fail_if, is_json } => past::compare(&sides, &fail_if, is_json, usage::language()),
        Command::Import(rings, args) => import::import(&rings, &args),
        Command::Web(args) => page::page(&args),
        Command::Ctl(args) => ctl::ctl(&args),
        Command::FindMax(args) => find_max::find_max(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Capacity(args) => capacity::capacity(&args),
        Command::Worker(args) => worker::worker(&args),
        Command::Bus(args) => bus::bus(&args),
        Command::Sim(args) => sim::sim(&args),
        Command::Selftest(driver) => selftest::selftest(&driver),
        Command::List(args) => grpc::list(&args),
        Command::Describe(args) => grpc::describe(&args),
        Command::Completions(shell) => generate::completions(shell, language),
        Command::Man(called) => generate::manual(&called, language),
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
