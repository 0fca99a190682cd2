//! Flags given with a file: they override the file.

use std::time::Duration;

use plan::draft::{Draft, Load as Wanted, Stages};
use plan::{ConnectionCount, Flags, Load as PlanLoad, PlanError, UserShape, errors, listed, parse_count};

use crate::Opened;
use crate::file::{Amount, Defaults, File, Iterations, Load, Scenario};
use crate::read::load::DURATION_LONG;

errors! {
    /// The reason why a flag cannot be combined with a file.
    #[derive(Clone, Debug, PartialEq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum FlagFault;

    /// The flag is invalid in itself, or together with the file.
    Plan(it: PlanError);
        "{it}",
        "{}" [it.chinese()];
    /// The flag describes one request.
    OfRequest { flag: String };
        "{flag} describes one request, and a scenario file has its own; write it there (onrush check FILE names the keys)",
        "{flag} 描述的是单个请求，而场景文件有自己的请求；请写在文件中（onrush check 文件 会列出可用的字段）";
    /// The flag describes one load.
    Several { flag: String, count: usize, names: String };
        "{flag} is the load of one scenario, and {count} of them run; choose one with --only NAME: {names}",
        "{flag} 是一个场景的负载，而要运行的场景有 {count} 个；请用 --only 名称 选定一个：{}" [listed(names)];
}

impl From<PlanError> for FlagFault {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl Opened {
    /// Applies flags to the file. Settings of a step stay. `only`: the scenarios that run, all when empty.
    ///
    /// # Errors
    /// The first flag that cannot be combined with the file.
    pub fn give(&mut self, flags: &Flags, only: &[String]) -> Result<(), FlagFault> {
        if let Some(flag) = first_of(Overridden::Request, flags) {
            return Err(FlagFault::OfRequest { flag });
        }
        let seed = flags.seed.as_deref().map(|text| parse_count("--seed", text, 0, u64::MAX)).transpose()?;
        // The seed is that of the run here.
        let flags = &Flags { url: None, seed: None, ..flags.clone() };
        let given = flags.draft()?;
        let file = &mut self.file;
        let run = &mut file.run;
        run.seed = seed.or(run.seed);
        run.grace = given.grace.or(run.grace);
        run.interval = given.interval.or(run.interval);
        run.warmup = given.load.warmup.or(run.warmup);
        run.ignores_failures |= given.capture_options.ignores_failures;
        run.budget = if flags.budget.is_some() { Some(given.budget) } else { run.budget };
        run.consents.extend(given.consents.iter().cloned());
        defaults(file, flags)?;
        let load = Wanted { warmup: None, ..given.load };
        if load == Wanted::default() {
            return Ok(());
        }
        let names: Vec<String> = file.scenarios.iter().map(|one| one.name.text.clone()).collect();
        let mut chosen: Vec<&mut Scenario> =
            file.scenarios.iter_mut().filter(|one| only.is_empty() || only.contains(&one.name.text)).collect();
        match chosen.as_mut_slice() {
            [one] => give_load(one, &load),
            all => {
                let flag = first_of(Overridden::Load, flags).unwrap_or_default();
                Err(FlagFault::Several { flag, count: all.len(), names: names.join(", ") })
            }
        }
    }
}

/// Applies flags to the defaults of the steps.
fn defaults(file: &mut File, flags: &Flags) -> Result<(), PlanError> {
    let defaults = &mut file.defaults;
    let of_steps = flags.without(|flag| overridden_by(flag) != Overridden::Steps);
    let merged = of_steps.over(&defaults.typed);
    defaults.flags = merged.draft()?;
    let said = of_steps.draft()?;
    give_way(defaults, &said);
    defaults.typed = merged;
    let given = flags.given();
    for scenario in &mut file.scenarios {
        scenario.network = scenario.network.without(|flag| given.contains(&flag));
        if let Some(own) = &mut scenario.defaults {
            own.typed = own.typed.without(|flag| given.contains(&flag));
            own.off.retain(|flag| !given.contains(flag));
            give_way(own, &said);
        }
    }
    Ok(())
}

/// Leaves out of the defaults what flags say.
fn give_way(defaults: &mut Defaults, said: &Draft) {
    let is_said = |name: &str| said.request.headers.iter().any(|header| header.name.eq_ignore_ascii_case(name));
    defaults.headers.retain(|(name, _)| !is_said(name));
    if said.responses.status.is_some() {
        defaults.expect.status = None;
    }
}

/// The part of a file that a flag overrides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overridden {
    Load,
    Run,
    /// The defaults of all steps.
    Steps,
    /// One request, which only the file describes.
    Request,
}

fn overridden_by(flag: &str) -> Overridden {
    match flag {
        "method" | "data" | "form" | "data-bytes" | "urls" | "curl" | "shuffle" | "until" | "read-bytes"
        | "length-prefix" | "no-response" | "ws-type" | "subprotocol" | "message-interval" | "deadline" => {
            Overridden::Request
        }
        "connections" | "requests" | "requests-each" | "duration" | "rate" | "stages" | "user-stages" | "ramp"
        | "rendezvous" | "arrivals" | "preconnect" | "max-lateness" => Overridden::Load,
        "warmup" | "log-share" | "allow-host" | "budget" | "no-abort-on-failures" | "grace" | "interval" => {
            Overridden::Run
        }
        _ => Overridden::Steps,
    }
}

/// The first given flag of a part, as it is usually typed.
fn first_of(part: Overridden, flags: &Flags) -> Option<String> {
    let first = flags.given().into_iter().find(|flag| overridden_by(flag) == part)?;
    let letters =
        [("method", 'X'), ("data", 'd'), ("form", 'F'), ("connections", 'c'), ("requests", 'n'), ("duration", 'z')];
    let letter = letters.into_iter().chain([("rate", 'q')]).find(|(flag, _)| *flag == first);
    Some(letter.map_or_else(|| format!("--{first}"), |(_, letter)| format!("-{letter}")))
}

fn give_load(scenario: &mut Scenario, given: &Wanted) -> Result<(), FlagFault> {
    let (wanted, each) = merged(scenario, given);
    let was_rate = matches!(scenario.load.amount, Amount::Rate { .. });
    let (load, connections) = load_from_plan(wanted.to_load(Duration::ZERO)?, &wanted, given.connections);
    // Users with a number of iterations each need no time.
    let duration = load.duration.filter(|_| each.is_none() || wanted.duration.is_some());
    scenario.load = Load { iterations: load.iterations.or(each), duration, ..load };
    let is_rate = matches!(scenario.load.amount, Amount::Rate { .. });
    scenario.connections = match (was_rate, is_rate) {
        (_, true) => connections.or(scenario.connections.filter(|_| was_rate)),
        // The connections that limited a rate are not shared by users.
        (true, false) => None,
        (false, false) => scenario.connections,
    };
    Ok(())
}

/// The load of the file, overridden by the given one; and the iterations per user.
fn merged(scenario: &Scenario, given: &Wanted) -> (Wanted, Option<Iterations>) {
    let file = &scenario.load;
    let (of_all, of_each) = match file.iterations {
        Some(Iterations::Together(count)) => (Some(count), None),
        Some(Iterations::Each(count)) => (None, Some(Iterations::Each(count))),
        None => (None, None),
    };
    let mut base = Wanted { requests: of_all, duration: file.duration, ..Wanted::default() };
    let mut each = of_each;
    let changes_kind = given.rate.is_some() || given.stages.is_some();
    match &file.amount {
        Amount::Users { .. } if changes_kind => each = None,
        Amount::Users { count, shape } => match shape {
            UserShape::Stages(stages) if given.connections.is_none() => {
                (base.stages, base.duration) = (Some(Stages::Users(stages.clone())), None);
            }
            UserShape::Ramp(span) if !given.rendezvous => {
                (base.connections, base.ramp) = (Some(*count), Some(plan::draft::Ramp::Over(*span)));
            }
            UserShape::Rendezvous if given.ramp.is_none() => (base.connections, base.rendezvous) = (Some(*count), true),
            _ => base.connections = Some(*count),
        },
        Amount::Rate { stages, arrivals, max_lateness, preconnect } => {
            (base.connections, base.preconnect) = (scenario.connections, *preconnect);
            (base.arrivals, base.max_lateness) = (Some(*arrivals), *max_lateness);
            match stages.as_slice() {
                _ if changes_kind => {}
                [one] if one.from == one.to => {
                    base.rate = Some(one.from);
                    base.duration = Some(one.span).filter(|span| *span < DURATION_LONG);
                }
                _ => (base.stages, base.duration) = (Some(Stages::Rate(stages.clone())), None),
            }
            // Users replace a rate.
            if matches!(given.stages, Some(Stages::Users(_))) {
                base = Wanted { requests: base.requests, ..Wanted::default() };
            }
        }
    }
    // The end of the load is given anew.
    let is_counted = given.requests.is_some() || given.requests_each.is_some();
    if given.stages.is_some() || given.duration.is_some() || is_counted {
        (base.duration, base.requests, each) = (None, None, given.requests_each.map(Iterations::Each));
    }
    let wanted = Wanted {
        connections: given.connections.or(base.connections),
        requests: given.requests.or(base.requests),
        requests_each: given.requests_each,
        duration: given.duration.or(base.duration),
        rate: given.rate.or(base.rate),
        stages: given.stages.clone().or(base.stages),
        ramp: given.ramp.or(base.ramp),
        rendezvous: given.rendezvous || base.rendezvous,
        arrivals: given.arrivals.or(base.arrivals),
        max_lateness: given.max_lateness.or(base.max_lateness),
        preconnect: given.preconnect || base.preconnect,
        warmup: None,
        shuffle: false,
    };
    (wanted, each)
}

fn load_from_plan(load: PlanLoad, wanted: &Wanted, given: Option<u64>) -> (Load, Option<u64>) {
    let together = |count: Option<u64>| count.map(Iterations::Together);
    match load {
        PlanLoad::Closed { users, shape, requests, duration } => {
            (Load { amount: Amount::Users { count: users, shape }, duration, iterations: together(requests) }, None)
        }
        PlanLoad::Open { stages, arrivals, requests, connections, .. } => {
            let duration = Some(stages.iter().map(|stage| stage.span).sum());
            // The defaults of these depend on the steps.
            let (max_lateness, preconnect) = (wanted.max_lateness, wanted.preconnect);
            let amount = Amount::Rate { stages, arrivals, max_lateness, preconnect };
            let named = match connections {
                ConnectionCount::Exactly(count) => Some(count),
                ConnectionCount::UpTo(_) => wanted.connections.or(given),
            };
            (Load { amount, duration, iterations: together(requests) }, named)
        }
    }
}

#[cfg(test)]
mod tests;
