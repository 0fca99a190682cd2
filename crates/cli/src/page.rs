//! `onrush web`: a page from which runs are started, watched and changed, one after the other.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use engine::StopHandle;
use report::Language;
use web::Order;

use crate::args::{Command, RunArgs, WatchArgs};
use crate::exit::Exit;
use crate::flags::{self, Mode};
use crate::{help, load, masking, output, play, stopping, usage, watching};

/// How often it is looked whether somebody wants the end.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Scenario files that a page offers at most.
const FILES_MAX: usize = 200;
/// What a page may say of a run. All else reads or writes files of this machine, or is about the program itself.
const FROM_A_PAGE: [&str; 68] = [
    "url",
    "method",
    "header",
    "user",
    "user-agent",
    "cookie",
    "host",
    "form",
    "data",
    "timeout",
    "location",
    "max-redirs",
    "connect-timeout",
    "grace",
    "connections",
    "requests",
    "duration",
    "rate",
    "stages",
    "stages-of",
    "ramp",
    "rendezvous",
    "warmup",
    "arrivals",
    "max-lateness",
    "no-keepalive",
    "http1.0",
    "http1.1",
    "http2",
    "streams",
    "insecure",
    "sni",
    "alpn",
    "tls-groups",
    "tls-min",
    "no-tls-resumption",
    "data-bytes",
    "seed",
    "until",
    "read-bytes",
    "length-prefix",
    "no-answer",
    "ws-type",
    "ws-deflate",
    "subprotocol",
    "message-interval",
    "grpc-encoding",
    "expect-status",
    "expect-body",
    "expect-header",
    "expect-json",
    "interval",
    "i-may-load",
    "persist",
    "budget",
    "threshold",
    "strict",
    "slowest",
    "trace",
    "var",
    "only",
    "driver",
    "source-ip",
    "to",
    "resolve",
    "connect-to",
    "shuffle",
    "full",
];

/// Serves the page until somebody ends the program.
pub(crate) fn page(args: &WatchArgs) -> Exit {
    let language = usage::language();
    let (sender, orders) = channel();
    let site = match watching::open(args, Some((sender, files())), language) {
        Ok(site) => site,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage;
        }
    };
    let asked = match stopping::watch_signals(&StopHandle::default(), language) {
        Ok(asked) => asked,
        Err(error) => {
            output::complain(&report::run_error(&error.into(), language));
            return Exit::System;
        }
    };
    while !asked.is_asked() {
        match orders.recv_timeout(LOOK_EVERY) {
            Ok(order) => carry_out(&order, &site),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Exit::Done
}

/// One run.
fn carry_out(order: &Order, site: &web::Site) {
    usage::speak(order.language);
    watching::show_on(&site.hub(), order.answer.clone());
    masking::typed(order.words.clone());
    output::listen();
    let read = read(&order.words, order.language);
    let exit = read.map(|args| match args.file() {
        Some(file) => play::play(&args, file),
        None => load::run(&args),
    });
    let heard = output::heard().join("\n");
    let text = match exit {
        Err(text) => text,
        Ok(_) if heard.is_empty() => order.language.pick("the run did not begin", "压测没有启动").to_owned(),
        Ok(_) => heard,
    };
    // It did begin, where somebody has said so before.
    site.hub().not_begun();
    order.answer.give(Err(text));
}

/// The words as a run that a page may start.
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
    let foreign = |name: &&str| !FROM_A_PAGE.contains(name) && is_given(inner, name);
    if let Some(flag) = rows.iter().map(|row| row.name).find(foreign) {
        return Err(language.pick(
            format!("--{flag} is not for a page, since it touches files or the program itself; use the command line"),
            format!("--{flag} 涉及本机文件或程序本身，不能在页面上使用；请在命令行运行"),
        ));
    }
    let Command::Run(args) = Command::of(&matches) else {
        return Err(language.pick("a page starts runs only", "页面只能启动压测").to_owned());
    };
    let is_of_file = |text: &String| text.starts_with('@') || text.contains("=@") || text.contains("=<");
    let flags = &args.flags;
    let parts = flags.data.iter().chain(&flags.form).chain(&flags.headers).chain(&flags.cookies);
    if let Some(part) = parts.clone().find(|part| is_of_file(part)) {
        return Err(language.pick(
            format!("'{part}' would read a file of the machine that onrush runs on; put the text itself here"),
            format!("'{part}' 会读取 onrush 所在机器上的文件；请直接填写内容"),
        ));
    }
    match args.file() {
        Some(file) if !files().iter().any(|known| known == file) => Err(language.pick(
            format!("there is no scenario file '{file}' in the folder in which onrush was started"),
            format!("onrush 启动目录中没有场景文件 '{file}'"),
        )),
        _ => Ok(*args),
    }
}

fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.try_contains_id(name).is_ok() && matches.value_source(name) == Some(ValueSource::CommandLine)
}

/// Scenario files of the folder in which the program was started.
fn files() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(".") else { return Vec::new() };
    let names = entries.flatten().filter(|entry| entry.path().is_file());
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".yaml") || name.ends_with(".yml")).collect();
    names.sort();
    names.truncate(FILES_MAX);
    names
}
