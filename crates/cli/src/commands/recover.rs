//! `onrush recover`: the report of a finished run, recovered from the journals of its workers and its leader.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cluster::coordinator::replay::RunReporter;
use cluster::journal::{Cut, JournalContents, JournalError, put_together};
use engine::{RequestLogConfig, Resolved, RunOptions};
use metrics::Threshold;
use pacing::Nanos;
use plan::EncodedPlan;
use report::{Doing, Language};

use crate::commands::run::{Load, Prepared};
use crate::exit::Exit;
use crate::options::args::RunArgs;
use crate::output;
use crate::session::data_sources::data_sources;
use crate::session::machine;
use crate::session::recovered_run::RecoveredRun;
use crate::session::run_settings::RunSettings;

/// Runs `onrush recover JOURNAL...`.
pub(crate) fn recover(journals: &[String], args: &RunArgs) -> Exit {
    let load = Load::new(&args.view);
    let made = load.settings(args, &[]).and_then(|settings| {
        prepare(journals, load.view.language)
            .map(|(prepared, past, thresholds)| {
                let mut settings = RunSettings { past: Some(past), ..settings };
                settings.add_thresholds(thresholds);
                (prepared, settings)
            })
            .map_err(|(text, exit)| load.refuse(&text, exit))
    });
    match made {
        Ok((prepared, settings)) => load.carry_out_prepared(prepared, &settings),
        Err(exit) => exit,
    }
}

fn prepare(
    journals: &[String],
    language: Language,
) -> Result<(Prepared, RecoveredRun, Vec<Threshold>), (String, Exit)> {
    let (all, wrong) = read(journals, language)?;
    let going_on: Vec<String> =
        all.iter().filter(|kept| kept.is_going_on).map(|kept| kept.path.display().to_string()).collect();
    let past = put_together(all).map_err(|error| (said(&error, language), Exit::Usage))?;
    for text in wrong {
        output::note(&format!(
            "onrush: {}",
            language.pick(format!("{text}; it is left out"), format!("{text}；已略去"))
        ));
    }
    // A complete journal is complete, even if its worker waits for the run to go on.
    for path in going_on.iter().filter(|_| !past.cuts.is_empty()) {
        output::note(&language.pick(
            format!("onrush: {path} is still being written, so what comes later is not there"),
            format!("onrush: {path} 仍在写入，之后的数据不在其中"),
        ));
    }
    let (encoded_plan, slowest, thresholds) = past.plan().map_err(|error| (error.to_string(), Exit::Usage))?;
    let EncodedPlan::Load(plan) = encoded_plan else {
        let text = language.pick(
            "these journals are of connections that were held; only loads can be put together",
            "这些本地留存属于长连接压测（hold）；只能还原请求压测",
        );
        return Err((text.to_owned(), Exit::Usage));
    };
    for cut in &past.cuts {
        output::note(&format!("onrush: {}", cut_in_words(cut, language)));
    }
    let started_unix = past.started_unix.map(Nanos::as_duration);
    let ago = started_unix.map_or(Duration::ZERO, |started| machine::now_unix().saturating_sub(started));
    // The leader may not have known it.
    let here = SocketAddr::from(([127, 0, 0, 1], 0));
    let address = past.head.address.parse().unwrap_or(here);
    let driver =
        driver::choose(driver::Choice::Auto).map_err(|error| (report::driver_error(&error, language), Exit::System))?;
    let options = RunOptions {
        // No traffic goes there, and the links of this machine are not those of the workers.
        address: here,
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads: 1,
        pins_threads: false,
        driver,
        log_config: RequestLogConfig { slowest, log: None },
        data_sources: data_sources(),
        backend: Some(Arc::new(RunReporter::new(past, ago.into()))),
    };
    let own = plan.scenarios.first().map(|scenario| engine::own_figures(&scenario.program)).unwrap_or_default();
    let prepared = Prepared { plan: *plan, resolved: Resolved::given(address), options };
    // The thresholds of the run are evaluated again.
    let thresholds = thresholds.iter().filter_map(|text| Threshold::parse_with(text, &own).ok()).collect();
    Ok((prepared, RecoveredRun::new(started_unix), thresholds))
}

/// The readable journals, and the errors of others; at least one is good.
fn read(journals: &[String], language: Language) -> Result<(Vec<JournalContents>, Vec<String>), (String, Exit)> {
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for journal in journals {
        match JournalContents::read(Path::new(journal)) {
            Ok(kept) => all.push(kept),
            Err(error) => wrong.push(said(&error, language)),
        }
    }
    match (all.is_empty(), wrong.first()) {
        (true, Some(first)) => Err((first.clone(), Exit::Usage)),
        _ => Ok((all, wrong)),
    }
}

/// The message for missing reports.
fn cut_in_words(cut: &Cut, language: Language) -> String {
    match cut {
        Cut::Missing { name } if name.is_empty() => language.pick(
            "journals are missing: what their workers did counts as unknown".to_owned(),
            "缺少部分本地留存：这些工作进程的结果计为未知".to_owned(),
        ),
        Cut::Missing { name } => language.pick(
            format!("{name}: nothing of it is there, so what it did counts as unknown"),
            format!("{name}：没有它的数据，其结果计为未知"),
        ),
        Cut::Short { name } => language.pick(
            format!("{name}: its last word is missing, so what it did then counts as unknown"),
            format!("{name}：缺少最后的数据，此后的结果计为未知"),
        ),
        Cut::Hole { name } => language.pick(
            format!("{name}: some of it is missing or damaged; what it did from there on counts as unknown"),
            format!("{name}：部分数据缺失或已损坏，此后的结果计为未知"),
        ),
    }
}

/// The message for unreadable journals.
fn said(error: &JournalError, language: Language) -> String {
    let english = error.to_string();
    let chinese = match error {
        JournalError::Io { path, reason } => {
            let otherwise = ("check the path", "请检查路径");
            let why = report::system_fault(&reason.to_string(), Doing::Read, otherwise, Language::Zh);
            format!("{}：{why}", path.display())
        }
        JournalError::NotOne { path } => {
            format!(
                "{} 不是本地留存（journal）：应是工作进程或主控进程写下的目录，含 head、turn-1 和 turn-2",
                path.display()
            )
        }
        JournalError::Damaged { path } => format!("{} 已损坏：其中的 head 与写入时不符", path.display()),
        JournalError::Foreign { path, version } => {
            format!("{} 由 onrush {version} 写入；请使用该版本", path.display())
        }
        JournalError::OtherRun { one, other } => {
            format!("{} 和 {} 属于不同的压测", one.display(), other.display())
        }
        JournalError::Nothing => "这些本地留存中没有压测计划：为空或已损坏".to_owned(),
    };
    language.pick(english, chinese)
}
