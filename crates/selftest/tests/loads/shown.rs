//! A load, and the output of the command line for it.

use std::sync::Arc;

use driver::sim::Faults;
use engine::RunResult;
use figures::{HostFacts, Interval, Run, RunInput};
use metrics::Threshold;
use pacing::Nanos;
use plan::{Flags, Plan};
use report::{Json, Language, Screen};
use selftest::{Happens, SimulatedWorld};
use serde_json::Value;

pub(crate) const fn ms(milliseconds: u64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

/// Flags, with values where they take some, by their names on the command line, for a path of the target.
pub(crate) fn flags(path: &str, pairs: &[(&str, &str)]) -> Flags {
    let mut flags = Flags {
        url: Some(format!("http://{}{path}", SimulatedWorld::address())),
        user_agent: "test".to_owned(),
        ..Flags::default()
    };
    for (name, value) in pairs {
        let place = match *name {
            "--http2" => {
                flags.http2 = true;
                continue;
            }
            "--no-keepalive" => {
                flags.no_keepalive = true;
                continue;
            }
            "--rendezvous" => {
                flags.rendezvous = true;
                continue;
            }
            "-c" => &mut flags.connections,
            "-d" => &mut flags.data,
            "-n" => &mut flags.requests,
            "-q" => &mut flags.rate,
            "-t" => &mut flags.timeout,
            "-z" => &mut flags.duration,
            "--arrivals" => &mut flags.arrivals,
            "--grace" => &mut flags.grace,
            "--max-lateness" => &mut flags.max_lateness,
            "--ramp" => &mut flags.ramp,
            "--stages" => &mut flags.stages,
            "--streams" => &mut flags.streams,
            "--user-stages" => &mut flags.user_stages,
            "--warmup" => &mut flags.warmup,
            _ => panic!("{name} is no flag of these tests"),
        };
        *place = Some((*value).to_owned());
    }
    flags
}

pub(crate) fn plan(path: &str, pairs: &[(&str, &str)]) -> Plan {
    flags(path, pairs).plan().expect("a good plan")
}

/// The output for a load.
pub(crate) struct Shown {
    pub(crate) run: Run,
    /// The report that `--output json` writes.
    pub(crate) report: Value,
}

impl Shown {
    /// Runs the plan on one thread, with thresholds, in a new world with these events.
    pub(crate) fn new(plan: &Plan, thresholds: &[&str], happens: &Happens) -> Self {
        let (mut json, mut world) = (Json::default(), SimulatedWorld::new(5, Faults::none()));
        let result = world.run_and_probe(plan, 1, happens, |reported| json.interval(&Interval::new(reported, plan)));
        let run = run(plan, result.expect("a world that works"), thresholds);
        let report = json.value(&run);
        Self { run, report }
    }

    /// The same for flags, without events.
    pub(crate) fn plainly(path: &str, pairs: &[(&str, &str)]) -> Self {
        Self::new(&plan(path, pairs), &[], &Happens::default())
    }

    /// The bottleneck.
    pub(crate) fn limit(&self) -> &str {
        self.report["verdict"]["kind"].as_str().expect("a name")
    }

    /// The text of the verdict.
    pub(crate) fn words(&self) -> &str {
        self.report["verdict"]["text"].as_str().expect("a text")
    }

    pub(crate) fn number(&self, path: &str) -> f64 {
        self.report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {:#}", self.report))
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        self.report["requests"][name].as_u64().unwrap_or_else(|| panic!("no {name} in {:#}", self.report["requests"]))
    }

    /// The summary as written to a file or a pipe.
    pub(crate) fn summary(&self, language: Language) -> String {
        report::summary(&self.run, Screen::plain(language))
    }
}

/// The results of a load with these thresholds.
pub(crate) fn run(plan: &Plan, result: RunResult, thresholds: &[&str]) -> Run {
    let thresholds: Vec<_> = thresholds.iter().map(|text| Threshold::parse(text).expect("a threshold")).collect();
    Run::new(RunInput {
        plan: Arc::new(plan.clone()),
        address: SimulatedWorld::address(),
        lookup: None,
        result,
        thresholds: &thresholds,
        notes: Vec::new(),
        changes: Vec::new(),
        host: HostFacts::default(),
    })
}
