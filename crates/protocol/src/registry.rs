//! The table of protocols of this program.

use std::sync::OnceLock;

use metrics::CustomFailure;
use plan::{CheckedRequest, CustomEndpoint, CustomMistake, CustomProtocol, CustomRequest, CustomScheme};

use crate::flags::value_of_flag;
use crate::{Key, KeyKind, Protocol, StepFields};

/// The protocols, and the same with their flags.
struct Registry {
    protocols: Vec<&'static dyn Protocol>,
    entries: Vec<&'static PlanEntry>,
}

static TABLE: OnceLock<Registry> = OnceLock::new();

/// A protocol as the plan knows it.
struct PlanEntry {
    protocol: &'static dyn Protocol,
    /// Its flags, without dashes, and the keys that they set.
    flags: Vec<(&'static str, &'static Key)>,
}

impl PlanEntry {
    fn new(protocol: &'static dyn Protocol) -> Self {
        let about = protocol.about();
        let flag = |key: &'static Key| -> (&'static str, &'static Key) {
            let flag = format!("{}-{}", about.name, key.name.replace('_', "-"));
            (Box::leak(flag.into_boxed_str()), key)
        };
        Self { protocol, flags: about.keys.iter().map(flag).collect() }
    }
}

impl CustomProtocol for PlanEntry {
    fn name(&self) -> &'static str {
        self.protocol.about().name
    }

    fn schemes(&self) -> &'static [CustomScheme] {
        self.protocol.about().schemes
    }

    fn flags(&self) -> Vec<(&'static str, bool)> {
        self.flags.iter().map(|(flag, key)| (*flag, key.kind != KeyKind::Switch)).collect()
    }

    fn statuses(&self) -> &'static [&'static str] {
        self.protocol.statuses()
    }

    fn is_of_connection(&self, key: &str) -> bool {
        self.protocol.about().keys.iter().any(|own| own.name == key && own.is_of_connection)
    }

    fn is_secret(&self, key: &str) -> bool {
        self.protocol.about().keys.iter().any(|own| own.name == key && own.is_secret)
    }

    fn request_of_flags(&self, given: &[(&'static str, Vec<String>)]) -> Result<CustomRequest, CustomMistake> {
        let mut request = CustomRequest { protocol: self.name().to_owned(), ..CustomRequest::default() };
        for (flag, key) in &self.flags {
            if let Some((_, values)) = given.iter().find(|(known, _)| known == flag) {
                let value = value_of_flag(flag, key, values, &mut request)?;
                request.fields.push((key.name.to_owned(), value));
            }
        }
        Ok(request)
    }

    fn check(&self, endpoint: &CustomEndpoint, request: &CustomRequest) -> Result<CheckedRequest, CustomMistake> {
        let is_missing = |key: &&Key| key.is_needed && request.field(key.name).is_none() && !request.only_connects;
        if let Some(key) = self.protocol.about().keys.iter().find(is_missing) {
            let (flag, name) =
                (self.flags.iter().find(|(_, own)| own.name == key.name).map_or("", |one| one.0), key.name);
            let en =
                format!("a request of {} needs {name}: give --{flag}, or '{name}' in a scenario file", self.name());
            let zh = format!("{} 请求需要 {name}：请给出 --{flag}，或在场景文件中写 {name}", self.name());
            return Err(CustomMistake { key: None, en, zh });
        }
        let prepared = self.protocol.prepare(endpoint, &StepFields::new(request))?;
        let name = format!("{} {}", self.name(), prepared.name()).trim_end().to_owned();
        Ok(CheckedRequest { name, messages: prepared.messages() })
    }
}

/// Registers the protocols of this program: here, and with the plan and the metrics.
///
/// # Panics
/// Others are registered already, or one of them breaks a rule of [`crate::About`].
pub fn register(table: &[&'static dyn Protocol]) {
    let known = TABLE.get_or_init(|| {
        let entries: Vec<&'static PlanEntry> =
            table.iter().map(|one| &*Box::leak(Box::new(PlanEntry::new(*one)))).collect();
        let of_plan: Vec<&'static dyn CustomProtocol> =
            entries.iter().map(|entry| *entry as &'static dyn CustomProtocol).collect();
        plan::register_protocols(of_plan.leak());
        let failures = |one: &&'static dyn Protocol| {
            let failure =
                |own: &crate::OwnFailure| CustomFailure { name: own.name, class: own.class, stage: own.stage };
            one.about().failures.iter().map(failure).collect::<Vec<_>>()
        };
        metrics::register_failures(table.iter().map(failures).collect());
        Registry { protocols: table.to_vec(), entries }
    });
    let names = |table: &[&'static dyn Protocol]| table.iter().map(|one| one.about().name).collect::<Vec<_>>();
    assert_eq!(names(&known.protocols), names(table), "the protocols of a program are registered once");
}

/// All protocols.
pub fn registered() -> &'static [&'static dyn Protocol] {
    TABLE.get().map_or(&[], |table| &table.protocols)
}

/// The protocol with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Protocol> {
    registered().iter().copied().find(|protocol| protocol.about().name == name)
}

/// The position of a protocol in the table; it never leaves the process.
pub fn number_of(name: &str) -> Option<u8> {
    registered().iter().position(|protocol| protocol.about().name == name).and_then(|at| u8::try_from(at).ok())
}

/// The protocol at a position.
pub fn of_number(number: u8) -> Option<&'static dyn Protocol> {
    registered().get(usize::from(number)).copied()
}

/// The flags of a protocol, without dashes, with the keys that they set.
pub fn flags_of(name: &str) -> &'static [(&'static str, &'static Key)] {
    let entries = TABLE.get().map_or(&[][..], |table| &table.entries);
    entries.iter().find(|entry| entry.name() == name).map_or(&[], |entry| &entry.flags)
}
