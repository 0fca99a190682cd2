//! The environment of a run: what a report contains besides its figures, so that the run can be repeated.

use figures::Run;
use serde_json::{Map, Value, json};

use crate::Language;
use crate::request_records::utc;
use crate::summary::scenario_in_words;

/// Facts of the program and of the machine that it runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// The command line, without secrets.
    pub command: String,
    /// The name and release of the kernel.
    pub kernel: String,
    /// The model of the processor.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Kernel settings that limit a load.
    pub settings: Vec<(&'static str, String)>,
}

impl About {
    /// The same in the report of a run.
    pub(crate) fn run_value(&self, run: &Run) -> Value {
        let planned = |language: Language| {
            let all = run.plan.scenarios.iter().map(|scenario| scenario_in_words(&run.plan, scenario, language));
            all.collect::<Vec<_>>().join(language.pick("; ", "；"))
        };
        self.value(run.began_unix_ns(), planned)
    }

    /// The same in any report. `planned`: the plan in words.
    pub(crate) fn value(&self, began_unix_ns: u64, planned: impl Fn(Language) -> String) -> Value {
        let settings: Map<String, Value> =
            self.settings.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect();
        json!({
            "version": self.version,
            "command": self.command,
            "began": utc(core::time::Duration::from_nanos(began_unix_ns)),
            "plan": planned(Language::En),
            "plan_zh": planned(Language::Zh),
            "host": {
                "kernel": self.kernel,
                "cpu": self.cpu,
                "cores": self.cores,
                "memory_bytes": self.memory_bytes,
                "settings": settings,
            },
        })
    }

    /// The same for a report over many runs.
    pub(crate) fn many_value(&self, began_unix: core::time::Duration) -> Value {
        json!({
            "version": self.version,
            "command": self.command,
            "began": utc(began_unix),
            "kernel": self.kernel,
            "cpu": self.cpu,
            "cores": self.cores,
        })
    }
}
