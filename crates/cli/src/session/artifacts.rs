//! Artifacts of a load besides its reports: an HTML page, a folder among the runs, and a comparison with an earlier
//! run.

use std::path::Path;
use std::time::Duration;

use history::{FailIf, RunFolder, Runs};
use report::{About, Language};
use serde_json::{Value, json};

use crate::options::args::KeepArgs;
use crate::output::{self, Wrote};
use crate::session::files::{NotWritten, OutputFile};

/// The HTML page in the folder of a run.
pub(crate) const PAGE: &str = "report.html";
/// The percentiles of a run, for HdrHistogram tools: of the whole run, and of each interval.
const TIMES: &str = "times.hgrm";
const TIMES_LOG: &str = "times.hlog";
/// The events of a run, as JSON lines.
const EVENTS: &str = "events.jsonl";
/// The scenario file, without secrets.
const PLAN: &str = "plan.yaml";

/// Whether a run gets a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Save {
    #[default]
    Never,
    /// If it can be created.
    IfPossible,
    Always,
}

/// The requested artifacts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArtifactOptions {
    page: Option<String>,
    save: Save,
    baseline: Option<String>,
    fail_if: Vec<FailIf>,
}

impl ArtifactOptions {
    /// Reads the flags. `is_file`: a scenario file runs, which is kept unless a flag disables that.
    pub(crate) fn new(args: &KeepArgs, is_file: bool, language: Language) -> Result<Self, String> {
        let fail_if = args.fail_if.iter().map(|text| FailIf::parse(text)).collect::<Result<Vec<_>, _>>();
        let fail_if = fail_if.map_err(|error| report::fail_if_error(&error, language))?;
        if !fail_if.is_empty() && args.baseline.is_none() {
            return Err(language
                .pick(
                    "--fail-if compares with an earlier run; name it with --baseline RUN, like: --baseline last",
                    "--fail-if 要与之前的压测比较；请用 --baseline RUN 指定，如 --baseline last",
                )
                .to_owned());
        }
        let save = match (args.save, args.no_save) {
            (true, true) => {
                return Err(language
                    .pick("--save and --no-save cannot be given together", "--save 和 --no-save 不能同时使用")
                    .to_owned());
            }
            (true, false) => Save::Always,
            (false, false) if is_file => Save::IfPossible,
            (false, _) => Save::Never,
        };
        Ok(Self { page: args.html.clone(), save, baseline: args.baseline.clone(), fail_if })
    }

    /// The path of the HTML page.
    pub(crate) fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }

    /// Whether any artifact is wanted even if the table has no reader.
    pub(crate) fn wants_any(&self) -> bool {
        self.page.is_some() || self.save == Save::Always || self.baseline.is_some()
    }
}

/// The folder of an experiment, next to the folder of runs, unless disabled. `kind`: the name of its parent folder.
pub(crate) fn own_folder(
    args: &KeepArgs,
    kind: &str,
    now: Duration,
    language: Language,
) -> Result<Option<RunFolder>, String> {
    let save = ArtifactOptions::new(args, true, language)?.save;
    if save == Save::Never {
        return Ok(None);
    }
    let made = runs(language).and_then(|runs| {
        let home = runs.home().parent().unwrap_or(runs.home()).join(kind);
        Runs::at(home).begin(&stamp(now)).map_err(|error| report::history_error(&error, language))
    });
    match (made, save) {
        (Ok(folder), _) => Ok(Some(folder)),
        (Err(text), Save::Always) => Err(text),
        (Err(text), _) => {
            output::note(&language.pick(
                format!("onrush: nothing is kept: {text}; --no-save does without"),
                format!("onrush: 不会保存：{text}；可加 --no-save"),
            ));
            Ok(None)
        }
    }
}

/// Writes the report and the page of an experiment next to its runs, and prints the path; returns whether that
/// succeeded.
pub(crate) fn keep_whole(folder: &RunFolder, (name, report): (&str, &str), page: &str, language: Language) -> bool {
    let written = folder.write(name, report.as_bytes()).and_then(|()| folder.write(PAGE, page.as_bytes()));
    match written {
        Ok(()) => {
            let path = folder.path().display();
            output::note(&language.pick(format!("onrush: kept in {path}"), format!("onrush: 已保存在 {path}")));
            true
        }
        Err(error) => {
            output::complain(&report::history_error(&error, language));
            false
        }
    }
}

/// The folder of all runs.
pub(crate) fn runs(language: Language) -> Result<Runs, String> {
    Runs::usual(|name| std::env::var(name).ok()).ok_or_else(|| {
        language
            .pick(
                "nobody knows where runs are kept: neither XDG_DATA_HOME nor HOME is set; set one of them",
                "不知道压测记录保存在哪里：XDG_DATA_HOME 和 HOME 都没有设置；请设置其中之一",
            )
            .to_owned()
    })
}

/// The program, its command line and the machine, for a report. `words`: the redacted command line.
pub(crate) fn about(words: Vec<String>) -> About {
    let words = words.iter().map(|word| quoted(word));
    let command = std::iter::once("onrush".to_owned()).chain(words).collect::<Vec<_>>().join(" ");
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let range = |ports: Option<(u16, u16)>| ports.map(|(first, last)| format!("{first}-{last}"));
    let settings = [
        ("nofile", number(host::descriptors().map(|(_, limit)| limit))),
        ("net.ipv4.ip_local_port_range", range(host::local_port_range())),
        ("net.core.somaxconn", number(host::somaxconn())),
    ];
    About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        kernel: format!("Linux {}", read("/proc/sys/kernel/osrelease")),
        cpu: model.map(|(_, name)| name.to_owned()).unwrap_or_default(),
        cores: host::allowed_cores().len(),
        memory_bytes: host::memory().map(|memory| memory.total),
        settings: settings.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
    }
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || "-_./:=,@%+".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The artifacts of a running load.
#[derive(Default)]
pub(crate) struct Keeping {
    page: Option<OutputFile>,
    folder: Option<RunFolder>,
    /// The log of times in the folder, and its size.
    times_log: Option<(OutputFile, u64)>,
    /// The scenario file.
    plan: Option<String>,
    /// The baseline: its name, and its report.
    baseline: Option<(String, Value)>,
    fail_if: Vec<FailIf>,
}

/// The result of writing the artifacts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SavedRun {
    /// Whether an artifact could not be written.
    pub(crate) has_lost: bool,
    /// Whether the run is worse than the baseline allows.
    pub(crate) is_worse: bool,
}

impl Keeping {
    /// Opens all artifacts, so that errors show before the load. `is_hold`: for held connections.
    pub(crate) fn begin(
        options: &ArtifactOptions,
        is_hold: bool,
        now: Duration,
        language: Language,
    ) -> Result<Self, String> {
        let wrong = |error| report::history_error(&error, language);
        let baseline = match &options.baseline {
            None => None,
            Some(name) => {
                let folder = runs(language)?.find(name).map_err(wrong)?;
                let report = folder.report().map_err(wrong)?;
                if history::is_hold(&report) != is_hold {
                    return Err(report::other_kind(folder.id(), language));
                }
                Some((folder.id().to_owned(), report))
            }
        };
        let page = options.page.as_deref().map(|path| OutputFile::open_report(Path::new(path))).transpose();
        let page = page.map_err(|(path, error)| output::cannot_write(&path, &error, language))?;
        let made = match options.save {
            Save::Never => Ok(None),
            _ => runs(language).and_then(|runs| runs.begin(&stamp(now)).map(Some).map_err(wrong)),
        };
        let folder = match (made, options.save) {
            (Ok(folder), _) => folder,
            (Err(text), Save::Always) => return Err(text),
            // The folder is a default, not requested.
            (Err(_), _) if runs(language).is_err() => None,
            (Err(text), _) => {
                output::note(&language.pick(
                    format!("onrush: this run is not kept: {text}; --no-save does without"),
                    format!("onrush: 本次压测不会保存：{text}；可加 --no-save"),
                ));
                None
            }
        };
        let log = folder.as_ref().filter(|_| !is_hold).map(|folder| OutputFile::open(&folder.path().join(TIMES_LOG)));
        let log = log.transpose().map_err(|(path, error)| output::cannot_write(&path, &error, language))?;
        let times_log = log.map(|log| (log, 0));
        Ok(Self { page, folder, times_log, plan: None, baseline, fail_if: options.fail_if.clone() })
    }

    /// Whether an artifact needs the results of the whole run.
    pub(crate) fn wants_any(&self) -> bool {
        self.wants_charts() || self.baseline.is_some()
    }

    /// Whether an artifact needs chart data.
    pub(crate) fn wants_charts(&self) -> bool {
        self.page.is_some() || self.folder.is_some()
    }

    /// Keeps the scenario file in the folder.
    pub(crate) fn keep_plan(&mut self, text: String) {
        self.plan = Some(text);
    }

    /// Whether an artifact needs the times of each interval.
    pub(crate) fn wants_times(&self) -> bool {
        self.times_log.is_some()
    }

    /// Adds lines to the log of times. After a failure nothing more is written.
    pub(crate) fn times(&mut self, lines: &str) -> Result<(), NotWritten> {
        let Some((place, written)) = &mut self.times_log else { return Ok(()) };
        *written += lines.len() as u64;
        let reported = place.write(lines).map_err(|error| place.not_written(error));
        if reported.is_err() {
            self.times_log = None;
        }
        reported
    }

    /// Removes the folder because nothing was measured.
    pub(crate) fn forget_folder(&mut self) {
        if let Some(folder) = self.folder.take() {
            if self.times_log.take().is_some() {
                // A leftover file makes the folder an unfinished run, which lists show as such.
                let _ = std::fs::remove_file(folder.path().join(TIMES_LOG));
            }
            folder.forget();
        }
    }

    /// Writes all artifacts. `charts` and `times`: of loads. `shows`: printed output has a reader.
    pub(crate) fn finish(
        mut self,
        (report, charts): (&Value, &Value),
        times: &str,
        shows: bool,
        language: Language,
    ) -> SavedRun {
        let mut kept = SavedRun::default();
        let has_page = self.page.is_some() || self.folder.is_some();
        let page = if has_page { report::html_report(report, charts, language) } else { String::new() };
        if let Some(place) = self.page
            && let Err((path, error)) = place.write_whole(&page)
        {
            output::complain(&output::cannot_write(&path, &error, language));
            kept.has_lost = true;
        }
        let mut name = language.pick("this run", "本次压测").to_owned();
        if let Some(folder) = self.folder {
            let files = [
                (PLAN, self.plan.take().unwrap_or_default()),
                (TIMES, times.to_owned()),
                (EVENTS, events(charts)),
                (PAGE, page),
            ];
            let ended = self.times_log.take().map_or(Ok(()), |(place, written)| place.end(written));
            if let Err((path, error)) = ended {
                output::complain(&output::cannot_write(&path, &error, language));
                kept.has_lost = true;
            }
            // Data that cannot be recreated comes first; the page can.
            let kept_first = folder.keep(report, charts);
            let mut files = files.iter().filter(|(_, text)| !text.is_empty());
            let written =
                kept_first.and_then(|()| files.try_for_each(|(name, text)| folder.write(name, text.as_bytes())));
            match written {
                Ok(()) => {
                    name = folder.id().to_owned();
                    output::note(&language.pick(
                        format!("onrush: kept as {name}; its page: {}", folder.path().join(PAGE).display()),
                        format!("onrush: 已保存为 {name}；报告页面：{}", folder.path().join(PAGE).display()),
                    ));
                }
                Err(error) => {
                    output::complain(&report::history_error(&error, language));
                    kept.has_lost = true;
                }
            }
        }
        if let Some((other, baseline)) = self.baseline {
            let comparison = history::compare(&[&baseline], &[report]);
            if shows {
                let text = report::comparison_table(&comparison, [&[other], &[name]], language);
                kept.has_lost |= output::write_stdout(&format!("\n{text}"), language) == Wrote::Failed;
            }
            kept.is_worse |= crate::options::fail_if::report(&self.fail_if, &comparison, language);
        }
        kept
    }
}

/// The events that charts mark, one per line.
fn events(charts: &Value) -> String {
    let line = |mark: &Value| {
        let line = json!({"at_s": mark["at_s"], "kind": mark["kind"], "text": mark["en"], "text_zh": mark["zh"]});
        format!("{line}\n")
    };
    charts["marks"].as_array().map_or(String::new(), |marks| marks.iter().map(line).collect())
}

/// A timestamp with seconds; names sort by time.
fn stamp(now: Duration) -> String {
    report::utc_stamp(now)
}
