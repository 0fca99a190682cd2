//! What is kept of a load beside its reports: a page, a folder among the runs, and how it stands beside an earlier run.

use std::path::Path;
use std::time::Duration;

use history::{FailIf, RunFolder, Runs};
use report::{About, Language};
use serde_json::Value;

use crate::args::KeepArgs;
use crate::exit::Exit;
use crate::files::Place;
use crate::output::{self, Wrote};

/// The page in a folder of a run.
pub(crate) const PAGE: &str = "report.html";

/// Whether a run gets a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Save {
    #[default]
    Never,
    /// Unless there is no place for it.
    IfPossible,
    Always,
}

/// What is wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeepWish {
    page: Option<String>,
    save: Save,
    baseline: Option<String>,
    fail_if: Vec<FailIf>,
}

impl KeepWish {
    /// Reads the flags. `is_file`: a scenario file runs, which is kept unless somebody says no.
    pub(crate) fn of(args: &KeepArgs, is_file: bool, language: Language) -> Result<Self, String> {
        let fail_if = args.fail_if.iter().map(|text| FailIf::parse(text)).collect::<Result<Vec<_>, _>>();
        let fail_if = fail_if.map_err(|error| report::fail_if_error(&error, language))?;
        if !fail_if.is_empty() && args.baseline.is_none() {
            return Err(language
                .pick(
                    "--fail-if compares with an earlier run; name it with --baseline RUN, like: --baseline last",
                    "--fail-if 要与之前的运行比较；请用 --baseline RUN 指定，如 --baseline last",
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

    /// The file of the page.
    pub(crate) fn page(&self) -> Option<&str> {
        self.page.as_deref()
    }

    /// Something of it is wanted whether anybody reads the table or not.
    pub(crate) fn wants_any(&self) -> bool {
        self.page.is_some() || self.save == Save::Always || self.baseline.is_some()
    }
}

/// Where runs are kept.
pub(crate) fn runs(language: Language) -> Result<Runs, String> {
    Runs::usual(|name| std::env::var(name).ok()).ok_or_else(|| {
        language
            .pick(
                "nobody knows where runs are kept: neither XDG_DATA_HOME nor HOME is set; set one of them",
                "不知道运行保存在哪里：XDG_DATA_HOME 和 HOME 都没有设置；请设置其中之一",
            )
            .to_owned()
    })
}

/// The program, its command line and the machine, for a report.
pub(crate) fn about(hide: impl Fn(&str) -> String) -> About {
    let words = std::env::args().skip(1).map(|word| quoted(&hide(&word)));
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

/// As a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || "-_./:=,@%+".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// What is kept, while the load runs.
#[derive(Default)]
pub(crate) struct Keeping {
    page: Option<Place>,
    folder: Option<RunFolder>,
    /// What the run is compared with: its name, and its report.
    baseline: Option<(String, Value)>,
    fail_if: Vec<FailIf>,
}

/// How that ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// Something could not be written.
    pub(crate) has_lost: bool,
    /// A difference that may not be is there.
    pub(crate) is_worse: bool,
}

impl Keeping {
    /// Everything that can be wrong is found before the load.
    pub(crate) fn begin(wish: &KeepWish, now: Duration, language: Language) -> Result<Self, String> {
        let wrong = |error| report::history_error(&error, language);
        let baseline = match &wish.baseline {
            None => None,
            Some(name) => {
                let folder = runs(language)?.find(name).map_err(wrong)?;
                Some((folder.id().to_owned(), folder.report().map_err(wrong)?))
            }
        };
        let page = wish.page.as_deref().map(|path| Place::open(Path::new(path))).transpose();
        let page = page.map_err(|(path, error)| output::cannot_write(&path, &error, language))?;
        let made = match wish.save {
            Save::Never => Ok(None),
            _ => runs(language).and_then(|runs| runs.begin(&stamp(now)).map(Some).map_err(wrong)),
        };
        let folder = match (made, wish.save) {
            (Ok(folder), _) => folder,
            (Err(text), Save::Always) => return Err(text),
            // Nobody asked for it.
            (Err(_), _) if runs(language).is_err() => None,
            (Err(text), _) => {
                output::note(&language.pick(
                    format!("onrush: this run is not kept: {text}; --no-save does without"),
                    format!("onrush: 本次运行不会保存：{text}；可加 --no-save"),
                ));
                None
            }
        };
        Ok(Self { page, folder, baseline, fail_if: wish.fail_if.clone() })
    }

    /// Somebody waits for the figures of the whole run.
    pub(crate) fn wants_any(&self) -> bool {
        self.wants_charts() || self.baseline.is_some()
    }

    /// Somebody waits for what charts show.
    pub(crate) fn wants_charts(&self) -> bool {
        self.page.is_some() || self.folder.is_some()
    }

    /// Nothing was measured: there is no run to keep.
    pub(crate) fn forget_folder(&mut self) {
        if let Some(folder) = self.folder.take() {
            folder.forget();
        }
    }

    /// Writes all of it. `shows`: somebody reads what is printed.
    pub(crate) fn finish(self, report: &Value, charts: &Value, shows: bool, language: Language) -> Kept {
        let mut kept = Kept::default();
        let page = || report::html_report(report, charts, language);
        if let Some(place) = self.page
            && let Err((path, error)) = place.write_whole(&page())
        {
            output::complain(&output::cannot_write(&path, &error, language));
            kept.has_lost = true;
        }
        let mut name = language.pick("this run", "本次运行").to_owned();
        if let Some(folder) = self.folder {
            let written = folder.write(PAGE, page().as_bytes()).and_then(|()| folder.keep(report, charts));
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
            let comparison = history::compare(&baseline, report);
            if shows {
                let text = report::comparison_table(&comparison, [&other, &name], language);
                kept.has_lost |= output::write_stdout(&format!("\n{text}"), language) == Wrote::Failed;
            }
            for fail_if in self.fail_if.iter().filter(|one| one.is_met(&comparison)) {
                output::note(&format!("onrush: {}", report::fail_if_line(fail_if, language)));
                kept.is_worse = true;
            }
        }
        kept
    }
}

/// Second by second, so that names stand in the order of time.
fn stamp(now: Duration) -> String {
    report::utc_stamp(now)
}

/// `onrush report RUN`.
pub(crate) fn report(run: &str, file: Option<&str>, language: Language) -> Exit {
    let made = || -> Result<String, String> {
        let wrong = |error| report::history_error(&error, language);
        let folder = runs(language)?.find(run).map_err(wrong)?;
        let page = report::html_report(&folder.report().map_err(wrong)?, &folder.charts().map_err(wrong)?, language);
        match file {
            None => {
                folder.write(PAGE, page.as_bytes()).map_err(wrong)?;
                Ok(folder.path().join(PAGE).display().to_string())
            }
            Some(file) => {
                let place = Place::open(Path::new(file));
                let written = place.and_then(|place| place.write_whole(&page));
                written.map_err(|(path, error)| output::cannot_write(&path, &error, language))?;
                Ok(file.to_owned())
            }
        }
    };
    match made() {
        Ok(path) => output::to_stdout(&format!("{path}\n"), language),
        Err(text) => {
            output::complain(&text);
            Exit::Usage
        }
    }
}

/// `onrush history`.
pub(crate) fn history(is_json: bool, is_trend: bool, language: Language) -> Exit {
    let listed = runs(language).and_then(|runs| runs.list().map_err(|error| report::history_error(&error, language)));
    let listed = match listed {
        Ok(listed) => listed,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage;
        }
    };
    let text = match (is_json, is_trend) {
        (true, _) => report::history_json(&listed),
        (false, true) => trend(&listed, language),
        (false, false) => report::history_table(&listed, &output::screen(language, false, false)),
    };
    output::to_stdout(&text, language)
}

/// Where the level of a figure changes, among runs of one plan against one target.
fn trend(listed: &history::Listed, language: Language) -> String {
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for card in &listed.runs {
        let kind = (card.target.as_str(), card.plan[0].as_str());
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let of_kind = |(target, plan): (&str, &str)| {
        let runs = listed.runs.iter().rev().filter(|card| card.target == target && card.plan[0] == plan);
        let runs: Vec<&history::Card> = runs.collect();
        let series = |of: fn(&history::Card) -> Option<f64>| {
            let values: Vec<f64> = runs.iter().filter_map(|card| of(card)).collect();
            if values.len() == runs.len() { history::changes(&values) } else { Vec::new() }
        };
        let all = [
            ("rate", series(|card| card.requests_per_s)),
            ("p50(response_time)", series(|card| card.p50_ns)),
            ("p99(response_time)", series(|card| card.p99_ns)),
        ];
        format!("{target}  {plan}\n{}", report::trend_text(&runs, &all, language))
    };
    kinds.into_iter().map(of_kind).collect::<Vec<_>>().join("\n")
}

/// `onrush compare A B`.
pub(crate) fn compare(names: &[String], fail_if: &[String], is_json: bool, language: Language) -> Exit {
    let refuse = |text: &str| {
        output::complain(text);
        Exit::Usage
    };
    let [one, other] = names else {
        let text =
            language.pick("compare takes two runs: onrush compare A B", "compare 需要两次运行：onrush compare A B");
        return refuse(text);
    };
    let fail_if = match fail_if.iter().map(|text| FailIf::parse(text)).collect::<Result<Vec<_>, _>>() {
        Ok(fail_if) => fail_if,
        Err(error) => return refuse(&report::fail_if_error(&error, language)),
    };
    let load = |name: &str| -> Result<(String, Value), String> {
        let wrong = |error| report::history_error(&error, language);
        let folder = runs(language)?.find(name).map_err(wrong)?;
        Ok((folder.id().to_owned(), folder.report().map_err(wrong)?))
    };
    let (one, other) = match (load(one), load(other)) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(text), _) | (_, Err(text)) => return refuse(&text),
    };
    let comparison = history::compare(&one.1, &other.1);
    let failed: Vec<&FailIf> = fail_if.iter().filter(|each| each.is_met(&comparison)).collect();
    let names = [one.0.as_str(), other.0.as_str()];
    let text = match is_json {
        true => report::comparison_json(&comparison, names, &failed),
        false => report::comparison_table(&comparison, names, language),
    };
    let exit = output::to_stdout(&text, language);
    failed.iter().for_each(|each| output::note(&format!("onrush: {}", report::fail_if_line(each, language))));
    if exit == Exit::Done && !failed.is_empty() { Exit::Unmet } else { exit }
}
