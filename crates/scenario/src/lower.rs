//! Lowering of a file to plans: one for the run, and one each for `setup` and `teardown`.
//!
//! A step is made like a step of the flags, from a [`plan::Draft`]; its slots are represented by marks, which are found
//! again in the result, and become the parts that are rendered for each exchange.

mod barriers;
mod bodies;
mod cookies;
mod custom;
mod expects;
mod flow;
mod fragments;
mod loads;
mod marks;
mod messaging;
mod names;
mod nodes;
mod own;
mod requests;
mod urls;
mod values;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use metrics::Catalog;
use plan::draft::{Connection, Draft};
use plan::{
    BodyBytes, CaptureOptions, Interpreters, Load as PlanLoad, Memory, Plan, PlanError, Program,
    Scenario as PlanScenario, Schema, Step as PlanStep, Target, TargetPolicy, UNASKED_RATE_MAX, UrlOrigin, UserShape,
    Value, ValuePattern,
};

use crate::Opened;
use crate::diagnostic::{DataFault, DiagnosticSink, Diagnostics, Problem};
use crate::file::{Action, Amount, File, Iterations, Limit, Scenario, Step};
use crate::source::Span;
use barriers::Barriers;
use loads::{load_of, with_seed};
use names::Naming;
use nodes::Nodes;
use own::Seen;

/// The seed of random draws, unless the file or the command line has one.
const SEED: u64 = 1;

/// The source of columns as lists.
pub type ListSource<'a> = &'a dyn Fn(usize, usize) -> Result<Value, String>;

/// The context that the caller provides.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    /// Reads environment variables.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
    /// The evaluator of expressions.
    pub interpreters: Option<&'a dyn Interpreters>,
    /// Schemas that servers returned, with the draft of each query.
    pub schemas: &'a [(Draft, Schema)],
    /// The folder for relative paths of the file.
    pub folder: &'a std::path::Path,
    /// The default `User-Agent`.
    pub user_agent: &'a str,
    /// All values of a column as a list, by the numbers of its data set and of the column; the reason is for the user.
    /// `None`: rows are not read.
    pub lists: Option<ListSource<'a>>,
}

/// A file that is being lowered.
pub struct Lowering<'a> {
    opened: &'a Opened,
    outside: &'a Outside<'a>,
    /// Values from the beginning on.
    globals: Vec<(String, Value)>,
    bodies: Bodies,
}

/// A plan, and the names of its variables.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// The variables of the first scenario, in the order of their numbers.
    pub variables: Vec<String>,
}

/// The context of the steps that are made.
pub(crate) struct DynamicParts<'a> {
    pub(crate) file: &'a File,
    pub(crate) outside: &'a Outside<'a>,
    pub(crate) naming: Naming<'a>,
    /// The prefix of marks.
    pub(crate) mark: String,
    /// The position of the next error, when that is more precise than its step.
    pub(crate) fault_at: Option<Span>,
    /// The origin for which a step is made, where that is not its target.
    pub(crate) origin: Option<String>,
    /// The origins of the scenario, with their URLs.
    pub(crate) origins: Vec<(UrlOrigin, String)>,
    /// Whether TLS is used in the file, as far as that is known.
    pub(crate) may_secure: bool,
    pub(crate) bodies: Bodies,
    pub(crate) found: DiagnosticSink,
}

/// Bodies that were read from files, which all plans and all steps share.
pub(crate) type Bodies = Rc<RefCell<HashMap<PathBuf, BodyBytes>>>;

impl<'a> Lowering<'a> {
    /// Computes the initial values of a file's variables.
    ///
    /// # Errors
    /// All errors.
    pub fn new(opened: &'a Opened, outside: &'a Outside<'a>) -> Result<Self, Diagnostics> {
        let mut found = DiagnosticSink::default();
        check_filters(&opened.file, outside, &mut found);
        let draws = values::Draws { known: &[], number: 0 };
        let globals = values::globals(&opened.file, outside, mark_of(opened, &[]), &draws, &mut found);
        if !found.is_empty() {
            return Err(found.into_mistakes(opened.source.clone()));
        }
        Ok(Self { opened, outside, globals, bodies: Bodies::default() })
    }

    /// Adds the values that were extracted in `setup`.
    pub fn learn(&mut self, names: &[String], values: &[Value]) {
        for (name, value) in names.iter().zip(values) {
            match self.globals.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => known.clone_from(value),
                None => self.globals.push((name.clone(), value.clone())),
            }
        }
    }

    /// The plan of `setup`, if there are such steps.
    ///
    /// # Errors
    /// All errors.
    pub fn before(&self) -> Result<Option<Lowered>, Diagnostics> {
        self.once("setup", &self.opened.file.before)
    }

    /// The plan of `teardown`, if there are such steps.
    ///
    /// # Errors
    /// All errors.
    pub fn after(&self) -> Result<Option<Lowered>, Diagnostics> {
        self.with_awaited().once("teardown", &self.opened.file.after)
    }

    /// The plan of the run: of the named scenarios, or all.
    ///
    /// # Errors
    /// All errors.
    pub fn run(&self, only: &[String]) -> Result<Lowered, Diagnostics> {
        let file = &self.opened.file;
        let chosen = file.scenarios.iter().filter(|one| only.is_empty() || only.contains(&one.name.text));
        self.with_awaited().lower(chosen, file.run.warmup.unwrap_or_default())
    }

    /// The same with a placeholder value for each name that `setup` extracts, since it has not run yet.
    fn with_awaited(&self) -> Self {
        let mut names = Vec::new();
        collect_filled(&self.opened.file.before, &mut names);
        let mut globals = self.globals.clone();
        for name in names {
            if !globals.iter().any(|(known, _)| *known == name) {
                globals.push((name, Value::text(AWAITED)));
            }
        }
        Self { opened: self.opened, outside: self.outside, globals, bodies: self.bodies.clone() }
    }

    /// The queries to servers that are needed before the plan: calls whose services are not described.
    pub fn undescribed(&self) -> Vec<Draft> {
        let file = &self.opened.file;
        let mut drafts = Vec::new();
        for scenario in &file.scenarios {
            let seen = self.seen_by(scenario, &mut DiagnosticSink::default());
            for steps in [&scenario.start, &scenario.steps, &scenario.stop] {
                self.collect_calls(&seen, steps, &mut drafts);
            }
        }
        for steps in [&file.before, &file.after] {
            self.collect_calls(&self.whole(), steps, &mut drafts);
        }
        drafts
    }

    /// What `setup` and `teardown` see.
    fn whole(&self) -> Seen<'_> {
        Seen { file: Cow::Borrowed(&self.opened.file), globals: Cow::Borrowed(&self.globals) }
    }

    fn collect_calls(&self, seen: &Seen<'_>, steps: &[Step], drafts: &mut Vec<Draft>) {
        for step in steps {
            if let Action::Call(call) = &step.action
                && !seen.file.defaults.flags.request.call.has_schema()
            {
                let mut dynamic_parts = self.dynamic_parts(seen, &[]);
                if let Ok(draft) = dynamic_parts.call_draft(call)
                    && !drafts.iter().any(|known| known.url == draft.url)
                {
                    drafts.push(draft);
                }
            }
            step.inner().into_iter().for_each(|steps| self.collect_calls(seen, steps, drafts));
        }
    }

    fn dynamic_parts<'s>(&'s self, seen: &'s Seen<'s>, steps: &[&[Step]]) -> DynamicParts<'s> {
        let (file, globals) = (&*seen.file, &*seen.globals);
        let naming = Naming::new(file, globals, steps, self.outside);
        let mark = mark_of(self.opened, globals);
        let target = file.target.as_ref().map(ToString::to_string).unwrap_or_default();
        let schemes = ["https://", "wss://", "grpcs://"];
        let says = |text: &str| schemes.iter().any(|scheme| text.contains(scheme));
        let may_secure = schemes.iter().any(|scheme| self.opened.source.contains(scheme))
            || says(&target)
            || globals.iter().any(|(_, value)| says(&value.to_string()));
        let bodies = self.bodies.clone();
        DynamicParts {
            file,
            outside: self.outside,
            naming,
            mark,
            fault_at: None,
            origin: None,
            origins: Vec::new(),
            may_secure,
            bodies,
            found: DiagnosticSink::default(),
        }
    }

    /// A plan in which one user does these steps once.
    fn once(&self, name: &str, steps: &[Step]) -> Result<Option<Lowered>, Diagnostics> {
        if steps.is_empty() {
            return Ok(None);
        }
        let scenario = Scenario::once(name, steps);
        let mut lowered = self.lower(std::iter::once(&scenario), Duration::ZERO)?;
        lowered.plan.capture_options = CaptureOptions { values: true, ..lowered.plan.capture_options };
        let requests = lowered.plan.scenarios.iter().fold(0, |sum: u64, one| sum.saturating_add(one.requests_most()));
        lowered.plan = lowered.plan.reaching(&self.target_policy(requests > UNASKED_RATE_MAX));
        Ok(Some(lowered))
    }

    fn lower<'s>(
        &self,
        scenarios: impl Iterator<Item = &'s Scenario>,
        warmup: Duration,
    ) -> Result<Lowered, Diagnostics> {
        let file = &self.opened.file;
        let (mut found, mut barriers, mut lowered, mut variables) =
            (DiagnosticSink::default(), Barriers::default(), Vec::new(), None);
        let draft = self.draft_of_run();
        let times = draft.times();
        for scenario in scenarios {
            let seen = self.seen_by(scenario, &mut found);
            let mut dynamic_parts = self.dynamic_parts(&seen, &[&scenario.start, &scenario.steps, &scenario.stop]);
            let number = file.scenarios.iter().position(|one| one.name.text == scenario.name.text).unwrap_or(0);
            lowered.extend(dynamic_parts.scenario(scenario, number as u64, &mut barriers));
            variables.get_or_insert_with(|| dynamic_parts.naming.variable_names());
            found.join(dynamic_parts.found);
        }
        let (grace, interval) = match times {
            Ok(times) => times,
            Err(error) => {
                found.add(Span::default(), Problem::Value(error));
                (Duration::ZERO, Duration::ZERO)
            }
        };
        // A threshold on a part is judged at the end of the run.
        for limit in file.thresholds.iter().filter(|limit| limit.of.is_some()) {
            if limit.threshold.abort_after.is_some() {
                found.add(limit.at, Problem::AbortOfPart);
            }
        }
        judge_parts(&file.thresholds, &lowered, &mut found);
        // When only some scenarios run, the other users of their barriers are missing, and that is reported.
        if found.is_empty() && lowered.len() >= file.scenarios.len() {
            barriers.check(&lowered, &mut found);
        }
        if !found.is_empty() {
            return Err(found.into_mistakes(self.opened.source.clone()));
        }
        let capture_options =
            CaptureOptions { ignores_failures: file.run.ignores_failures, ..CaptureOptions::default() };
        let budget = file.run.budget.unwrap_or_default();
        let stop_within = file.run.stop_within.unwrap_or(plan::STOP_WITHIN);
        let (barriers, seed) = (barriers.into_plan(), file.run.seed);
        let plan =
            Plan { scenarios: lowered, grace, stop_within, warmup, interval, barriers, capture_options, budget, seed };
        let target_policy = self.target_policy(plan.wants_consent());
        Ok(Lowered { plan: plan.reaching(&target_policy), variables: variables.unwrap_or_default() })
    }

    /// The target policy of the run.
    fn target_policy(&self, wants_consent: bool) -> TargetPolicy {
        let consents = &self.opened.file.run.consents;
        if wants_consent { TargetPolicy::Near(consents.clone().into()) } else { TargetPolicy::Anywhere }
    }

    fn draft_of_run(&self) -> Draft {
        let run = &self.opened.file.run;
        Draft { grace: run.grace, interval: run.interval, ..Draft::default() }
    }
}

/// Filters need no interpreter: they are evaluated for each row before the run.
fn check_filters(file: &File, outside: &Outside<'_>, found: &mut DiagnosticSink) {
    let Some(interpreters) = outside.interpreters else { return };
    for set in &file.data {
        let columns = set.columns.as_deref().unwrap_or_default();
        let Some((expression, filter)) = set.filter_in_plan(columns).zip(set.filter.as_ref()) else { continue };
        if !interpreters.is_plain(&expression) {
            found.add(filter.at, Problem::Data(DataFault::NotPlain));
        }
    }
}

/// Leads the targets of a scenario, and its redirects, by a route of its own.
fn reroute(connection: &Connection, targets: &mut [Target], steps: &mut [PlanStep]) -> Result<(), PlanError> {
    let route_overrides = connection.route_overrides()?;
    for target in targets {
        *target = target.clone().by_route(&route_overrides)?;
    }
    let reroute = &mut |step: &mut PlanStep| {
        step.follow.iter_mut().for_each(|follow| (*follow.route_overrides).clone_from(&route_overrides));
    };
    steps.iter_mut().for_each(|step| step.change_with_origins(reroute));
    Ok(())
}

/// The prefix of marks: no text that the file, or one of the given values, contains.
fn mark_of(opened: &Opened, globals: &[(String, Value)]) -> String {
    let is_known = |text: &str| globals.iter().any(|(_, value)| value.to_string().contains(text));
    marks::beginning(|text| opened.source.contains(text) || is_known(text))
}

/// Checks that thresholds only judge what is counted for their parts.
fn judge_parts(limits: &[Limit], lowered: &[plan::Scenario], found: &mut DiagnosticSink) {
    let catalog = Catalog::from_scenarios(lowered.iter().map(|scenario| {
        let steps = scenario.steps.iter().map(|step| &*step.name);
        let transactions = scenario.program.transactions.iter().map(|transaction| &*transaction.name);
        let checks = scenario.program.checks.iter().map(String::as_str);
        (&*scenario.name, steps, transactions, checks)
    }))
    .with_tags(plan::tags(lowered));
    for limit in limits {
        if let Some(fault) = limit.threshold.wrong_part(&catalog) {
            found.add(limit.of.as_ref().map_or(limit.at, |name| name.at), Problem::Threshold(fault));
        }
    }
}

/// The placeholder of a value that does not exist yet: any path is as good.
const AWAITED: &str = "/";

/// Collects the names that steps fill.
fn collect_filled(steps: &[Step], names: &mut Vec<String>) {
    for step in steps {
        names.extend(step.fills().into_iter().map(|name| name.text.clone()));
        step.inner().into_iter().for_each(|steps| collect_filled(steps, names));
    }
}

impl DynamicParts<'_> {
    /// `number`: that of the scenario in the file.
    fn scenario(&mut self, scenario: &Scenario, number: u64, barriers: &mut Barriers) -> Option<PlanScenario> {
        self.read_origins();
        let (program, mut steps, mut targets) = Nodes::new(self, barriers).lower(scenario);
        self.lead(scenario, &mut targets, &mut steps);
        let figures = self.file.figures.iter().map(|figure| figure.own.clone()).collect();
        let program = Program { seed: self.file.run.seed.unwrap_or(SEED), figures, ..program };
        let of_user = self.user_values();
        for (name, at) in std::mem::take(&mut self.naming.unset) {
            self.found.add(at, Problem::Unset { name });
        }
        for (at, fault) in std::mem::take(&mut self.naming.faults) {
            self.found.add(at, fault);
        }
        if !self.found.is_empty() {
            return None;
        }
        if let Err(fault) = program.check(steps.len()) {
            self.found.add(scenario.name.at, Problem::Program { fault });
            return None;
        }
        let is_rendezvous = matches!(&scenario.load.amount, Amount::Users { shape: UserShape::Rendezvous, .. });
        if is_rendezvous && !program.barriers().is_empty() {
            self.found.add(scenario.name.at, Problem::Conflict { one: "barrier", other: "rendezvous" });
        }
        self.compile();
        if !self.found.is_empty() {
            return None;
        }
        let timeout = steps.iter().map(|step| step.timeout).max().unwrap_or_default();
        let load = with_seed(load_of(scenario, timeout), program.seed, number);
        let iterations_per_user = match scenario.load.iterations {
            Some(Iterations::Each(count)) => Some(count),
            _ => None,
        };
        let shared_connections = scenario.connections.filter(|_| matches!(load, PlanLoad::Closed { .. }));
        let (secret_variables, secret_columns) = self.naming.secrets();
        let carried = scenario.carried.names.iter().filter_map(|name| self.naming.number(&name.text)).collect();
        let constants = self.naming.constants();
        let (variables, columns, expressions, counters) = self.naming.memory();
        Some(PlanScenario {
            name: scenario.name.text.clone(),
            targets,
            load,
            begin: if matches!(scenario.load.amount, Amount::Users { .. }) { scenario.begin } else { Duration::ZERO },
            every: scenario.every,
            iterations_per_user,
            shared_connections,
            steps,
            program,
            memory: Memory {
                variables,
                cookies: self.file.defaults.keeps_cookies(),
                carries_state: scenario.carried.is_all,
                carried,
                carries_cookies: scenario.carried.cookies,
                counters,
                columns,
                expressions,
                constants,
                of_user,
                secret_variables,
                secret_columns,
            },
        })
    }

    /// Leads the targets of a scenario as its own `network` says.
    fn lead(&mut self, scenario: &Scenario, targets: &mut [Target], steps: &mut [PlanStep]) {
        if scenario.network.given().is_empty() {
            return;
        }
        let names = scenario.network.over(&self.file.defaults.typed).draft().unwrap_or_default();
        targets.iter_mut().for_each(|target| {
            target.names = names.connection.names;
            target.connection_limits = names.connection.limits;
        });
        if let Err(error) = reroute(&names.connection, targets, steps) {
            self.found.add(Span::default(), Problem::Value(error));
        }
    }

    /// The values that each user draws for itself, each after those that it depends on.
    fn user_values(&mut self) -> Vec<(u32, ValuePattern)> {
        let mut all = Vec::new();
        for place in values::order(self.file) {
            let variable = &self.file.vars[place];
            self.naming.at = variable.name.at;
            let number = self.naming.number(&variable.name.text).filter(|_| variable.per_user);
            let Some(number) = number else { continue };
            let pattern = self.value_pattern(&variable.value);
            all.extend(self.reported(variable.name.at, pattern).map(|pattern| (number, pattern)));
        }
        all
    }

    /// Compiles each expression, where there is an interpreter.
    fn compile(&mut self) {
        for (expression, at) in self.naming.placed_expressions() {
            let reason = match self.outside.interpreters {
                Some(interpreters) => interpreters.start(std::slice::from_ref(expression)).err(),
                None => Some(values::NO_INTERPRETER.to_owned()),
            };
            if let Some(reason) = reason {
                self.found.add(at, Problem::Script { reason });
            }
        }
    }

    /// The result, or `None` after an error was reported.
    pub(crate) fn reported<T>(&mut self, at: Span, made: Result<T, Problem>) -> Option<T> {
        let at = self.fault_at.take().unwrap_or(at);
        made.map_err(|fault| self.found.add(at, fault)).ok()
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        Self::Value(error)
    }
}
