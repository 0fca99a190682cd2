//! `onrush web`: a page from which runs are started, watched and changed, one after the other.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use report::Language;
use web::RunRequest;

use crate::commands::run;
use crate::commands::run_file;
use crate::exit::Exit;
use crate::help;
use crate::options::args::{Command, RunArgs, WatchArgs};
use crate::options::flags::{self, Mode};
use crate::options::usage;
use crate::output;
use crate::session::dashboards;
use crate::session::redaction;
use crate::session::shutdown;

/// The polling interval of stop requests.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The most scenario files that a page offers.
const FILES_MAX: usize = 200;
/// Flags that may send the requests of a file to hosts that the file does not name, or expose them.
const LEADS_ELSEWHERE: [&str; 6] = ["var", "resolve", "connect-to", "connect-addresses", "insecure", "host"];

/// Serves the page until the program is ended.
pub(crate) fn run(args: &WatchArgs) -> Exit {
    let language = usage::language();
    // Before the link is printed: a user who has seen it may end the program.
    let requested = match shutdown::watch_idle(language) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    let (sender, requests) = channel();
    let site = match dashboards::open(args, Some((sender, files)), language) {
        Ok(site) => site,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage;
        }
    };
    while !requested.is_requested() {
        match requests.recv_timeout(POLL_INTERVAL) {
            Ok(request) => {
                carry_out(&request, &site);
                shutdown::idle();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Exit::Done
}

/// Carries out one run.
fn carry_out(request: &RunRequest, site: &web::Site) {
    usage::speak(request.language);
    dashboards::show_on(&site.hub(), request.response.clone());
    redaction::typed(request.words.clone());
    output::listen();
    let read = read(&request.words, request.language);
    let exit = read.map(|args| match args.file() {
        Some(file) => run_file::play(&args, file),
        None => run::run(&args),
    });
    let received = output::received();
    // The reader of a page knows who says it, and ctl says it again.
    let plain = received.iter().map(|line| line.strip_prefix("onrush: ").unwrap_or(line));
    let received = plain.collect::<Vec<_>>().join("\n");
    site.hub().done(&received);
    let text = match exit {
        Err(text) => text,
        Ok(_) if received.is_empty() => request.language.pick("the run did not begin", "压测没有启动").to_owned(),
        Ok(_) => received,
    };
    // No effect if the run did begin: then the response was given before.
    request.response.give(Err(text));
}

/// Parses the words as a run that a page may start.
fn read(words: &[String], language: Language) -> Result<RunArgs, String> {
    let all = ["onrush".to_owned(), "run".to_owned()].into_iter().chain(words.iter().cloned());
    let matches = help::command(language).try_get_matches_from(all).map_err(|error| match error.kind() {
        clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayVersion => {
            language.pick("a page starts runs only", "页面只能启动压测").to_owned()
        }
        _ => error.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned(),
    })?;
    let inner = matches.subcommand().map_or(&matches, |(_, inner)| inner);
    let rows = flags::rows(Mode::Run);
    if let Some(flag) = rows.iter().find(|row| !row.is_from_page && is_given(inner, row.name)).map(|row| row.name) {
        return Err(language.pick(
            format!("--{flag} is for the command line only; a run with it is started there, with --web to watch it"),
            format!("--{flag} 只能在命令行使用；请在命令行启动，并加上 --web 在页面上查看"),
        ));
    }
    let Command::Run(args) = Command::from_matches(&matches) else {
        return Err(language.pick("a page starts runs only", "页面只能启动压测").to_owned());
    };
    let flags = &args.flags;
    if let Some(part) = reads_a_file(flags) {
        return Err(language.pick(
            format!("'{part}' would read a file of the machine that onrush runs on; put the text itself here"),
            format!("'{part}' 会读取 onrush 所在机器上的文件；请直接填写内容"),
        ));
    }
    let leads = |name: &&str| LEADS_ELSEWHERE.contains(name) && is_given(inner, name);
    let leading = rows.iter().map(|row| row.name).find(leads);
    match args.file() {
        Some(file) if !files().iter().any(|known| known == file) => Err(language.pick(
            format!("there is no scenario file '{file}' in the folder in which onrush was started"),
            format!("onrush 启动目录中没有场景文件 '{file}'"),
        )),
        Some(file) if leading.is_some_and(|_| has_secrets(file)) => {
            let flag = leading.unwrap_or_default();
            Err(language.pick(
                format!("'{file}' has secrets or data, which --{flag} may lead elsewhere; run it with --{flag} on the command line"),
                format!("'{file}' 含有敏感信息或数据，--{flag} 可能将其发往别处；请在命令行使用 --{flag} 运行"),
            ))
        }
        _ => Ok(*args),
    }
}

/// A flag that would read a file of this machine.
fn reads_a_file(flags: &plan::Flags) -> Option<&String> {
    let of_form = |text: &&String| text.contains("=@") || text.contains("=<");
    let whole = flags.data.iter().chain(&flags.headers).find(|text| text.starts_with('@'));
    // As in curl, a value without `=` names a cookie file.
    let jar = flags.cookies.iter().find(|text| !text.contains('='));
    whole.or(jar).or_else(|| flags.form.iter().find(of_form))
}

/// Whether a scenario file may contain confidential data: secrets, environment variables, rows of other files. One that
/// cannot be read is reported later.
fn has_secrets(file: &str) -> bool {
    let parts = ["secrets", "env.", "data:"];
    std::fs::read_to_string(file).is_ok_and(|text| parts.iter().any(|part| text.contains(part)))
}

fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.try_contains_id(name).is_ok() && matches.value_source(name) == Some(ValueSource::CommandLine)
}

/// The scenario files of the working directory.
fn files() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(".") else { return Vec::new() };
    let names = entries.flatten().filter(|entry| entry.path().is_file());
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".yaml") || name.ends_with(".yml")).collect();
    names.sort();
    names.truncate(FILES_MAX);
    names
}
