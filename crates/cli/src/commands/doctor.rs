//! `onrush doctor`: the limits of this machine, and how to raise them.

use std::time::Duration;

use engine::Places;
use host::{Change, Settings, Situation};
use plan::{Address, Flags, HOLD_MAX, HoldFlags, PlanError, Target, TargetPolicy, parse_count};
use report::{Checkup, Language};

use crate::exit::Exit;
use crate::options::args::DoctorArgs;
use crate::options::usage;
use crate::output;

/// The default number of connections for which addresses are assigned.
const CONNECTIONS_DEFAULT: u64 = 1;

pub(crate) fn doctor(args: &DoctorArgs) -> Exit {
    let language = usage::language();
    let (wanted, situation) = match situation(args, language) {
        Ok(known) => known,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage;
        }
    };
    let driver = match driver::choose(args.driver.choice()) {
        Ok(driver) => driver,
        Err(error) => {
            output::complain(&report::driver_error(&error, language));
            return Exit::System;
        }
    };
    // A server is another program, with a descriptor for each connection.
    let takes_descriptors = situation.is_server || driver.kind == driver::Kind::Poll;
    let situation = Situation { takes_descriptors, ..situation };
    let settings = Settings::read();
    let limits = host::limits(&settings, situation);
    let changes = wanted.map(|wanted| host::changes(&settings, situation, wanted)).unwrap_or_default();
    let checkup =
        Checkup { settings: &settings, situation, wanted, limits: &limits, changes: &changes, driver: &driver };
    let text = if args.is_json { checkup.json() } else { checkup.text(&output::screen(language, false, false)) };
    let exit = output::to_stdout(&text, language);
    if args.apply && !apply(&changes, language) {
        return Exit::System;
    }
    match exit {
        Exit::Done if !checkup.is_enough() && !args.apply => Exit::Unmet,
        exit => exit,
    }
}

/// The number of connections, with their endpoints.
fn situation(args: &DoctorArgs, language: Language) -> Result<(Option<u64>, Situation), String> {
    let wrong = |error: PlanError| report::plan_error(&error, language);
    let wanted =
        args.connections.as_deref().map(|text| parse_count("-c", text, 1, HOLD_MAX)).transpose().map_err(wrong)?;
    let mut situation =
        Situation { is_server: args.is_server, takes_descriptors: false, has_both_ends: false, pairs: 1 };
    let Some(url) = &args.url else {
        return Ok((wanted, situation));
    };
    let flags = Flags {
        url: Some(url.clone()),
        source_ip: args.source_ip.clone(),
        to: args.to.clone(),
        // The data does not matter here.
        data: url.starts_with("tcp:").then(|| "x".to_owned()),
        no_response: url.starts_with("tcp:"),
        ..Flags::default()
    };
    let (target, timeout) = target_of(flags).map_err(wrong)?;
    let resolved = engine::resolve(&target, timeout).map_err(|error| report::resolve_error(&error, language))?;
    let places = Places::resolve(&target, resolved.all(), wanted.unwrap_or(CONNECTIONS_DEFAULT))
        .map_err(|error| report::run_error(&error.into(), language))?;
    situation.pairs = places.carry(1);
    situation.has_both_ends = host::is_own(resolved.address.ip());
    Ok((wanted, situation))
}

/// The target of the flags, and its connect timeout.
fn target_of(flags: Flags) -> Result<(Target, Duration), PlanError> {
    let address = Address::parse(flags.url.as_deref().unwrap_or_default())?;
    let (mut target, step) = if address.custom_protocol().is_some() {
        // Its connections are only opened: there is no request.
        let hold = HoldFlags { common: flags, ..HoldFlags::default() }.plan()?;
        (hold.target, hold.step)
    } else {
        let mut scenario = flags.plan()?.scenarios.remove(0);
        (scenario.targets.remove(0), scenario.steps.remove(0))
    };
    target.target_policy = TargetPolicy::Anywhere;
    Ok((target, step.connect_timeout))
}

/// Makes the changes, and prints how to undo each. False when one was refused.
fn apply(changes: &[Change], language: Language) -> bool {
    for change in changes {
        match change.apply() {
            Ok(()) => output::note(&language.pick(
                format!("onrush: done: {}; undo: {}", change.command(), change.undo()),
                format!("onrush: 已设置：{}；撤销：{}", change.command(), change.undo()),
            )),
            Err(error) => {
                output::complain(&language.pick(
                    format!(
                        "cannot set {}: {error}; run it as root, outside of a container that forbids it",
                        change.key
                    ),
                    report::in_chinese(&format!(
                        "无法设置 {}：{error}；请以 root 运行，并确认容器允许修改",
                        change.key
                    )),
                ));
                return false;
            }
        }
    }
    if changes.is_empty() {
        output::note(language.pick("onrush: nothing to change", "onrush: 无需修改"));
    }
    true
}
