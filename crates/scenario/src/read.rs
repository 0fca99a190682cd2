//! Reading of the file's top level: from the tree to its value, by the tables in `keys`.

mod actions;
mod auth;
mod cookies;
mod custom;
mod data;
mod defaults;
mod expects;
mod extracts;
mod failures;
mod figures;
mod fragments;
mod headers;
mod includes;
pub(crate) mod load;
mod loops;
mod messaging;
mod query;
mod requests;
mod state;
mod steps;
mod tags;
mod thresholds;
mod urls;

use std::time::Duration;

use plan::Budget;

pub(crate) use actions::end_verb;

use crate::diagnostic::{NameFault, Problem, Things, shortened};
use crate::file::{Amount, File, Name, Run, Scenario, Secret, Step, Variable};
use crate::keys::{FILE, Object, RUN, SCENARIO};
use crate::reader::{Fields, Read, Reader};
use crate::source::Span;
use crate::tree::Node;

/// The most scenarios of a file.
const SCENARIOS_MAX: usize = 1_000;
/// The most variables and data sets of a file.
const NAMES_MAX: usize = 10_000;

/// Reads the whole file, with those that it brings in.
pub(crate) fn file(reader: &mut Reader<'_>, node: &Node, included: &[Node]) -> Read<File> {
    let mut fields = Fields::open(reader, node, &FILE)?;
    let mut file = File {
        name: fields.get("name").and_then(|node| reader.owned(node)),
        target: fields.get("target").and_then(|node| urls::target(reader, node)),
        origins: fields.get("origins").map(|node| urls::origins(reader, node)).unwrap_or_default(),
        vars: fields.get("vars").map(|node| variables(reader, node, false)).unwrap_or_default(),
        secrets: fields.get("secrets").map(|node| reader.one_or_more(node, secret)).unwrap_or_default(),
        data: fields.get("data").map(|node| data::sets(reader, node)).unwrap_or_default(),
        ..File::default()
    };
    file.vars.extend(fields.get("per_user").map(|node| variables(reader, node, true)).unwrap_or_default());
    if let Some(read) = fields.get("defaults").and_then(|node| defaults::defaults(reader, node)) {
        file.defaults = read;
    }
    if let Some(read) = fields.get("network").and_then(|node| defaults::network(reader, node)) {
        file.defaults.typed = read.over(&file.defaults.typed);
        file.defaults.flags = file.defaults.typed.draft().unwrap_or_default();
    }
    file.fragments = fields.get("fragments").map(|node| fragments::fragments(reader, node)).unwrap_or_default();
    fields.get("include").into_iter().for_each(|node| drop(reader.one_or_more(node, Reader::owned)));
    included.iter().for_each(|node| includes::add(reader, &mut file, node));
    file.figures = fields.get("figures").map(|node| figures::figures(reader, node)).unwrap_or_default();
    file.before = fields.get("setup").map(|node| maybe(reader, node)).unwrap_or_default();
    file.after = fields.get("teardown").map(|node| maybe(reader, node)).unwrap_or_default();
    if let Some(node) = fields.need(reader, "scenarios") {
        file.scenarios = scenarios(reader, node);
    }
    if let Some(node) = fields.get("thresholds") {
        let own = file.own_figures();
        file.thresholds = reader.one_or_more(node, |reader, node| thresholds::limit(reader, node, &own));
    }
    file.run = fields.get("run").and_then(|node| run(reader, node)).unwrap_or_default();
    fields.close();
    fragments::expand(reader, &mut file);
    Some(file)
}

fn variables(reader: &mut Reader<'_>, node: &Node, per_user: bool) -> Vec<Variable> {
    let named = bounded(reader, node, Things::Variables, NAMES_MAX);
    let mut all = Vec::new();
    for (name, at, value) in named {
        let (name, value) = (reader.name(name, at), reader.json(value));
        all.extend(name.zip(value).map(|(name, value)| Variable { name, value, per_user }));
    }
    all
}

/// The names of a map, up to the limit.
fn bounded<'n>(reader: &mut Reader<'_>, node: &'n Node, what: Things, most: usize) -> Vec<(&'n str, Span, &'n Node)> {
    let mut named = reader.named(node);
    if let Some((_, at, _)) = named.get(most) {
        reader.found.add(*at, Problem::TooMany { what, most });
        named.truncate(most);
    }
    named
}

/// `token`, or `users.password`.
fn secret(reader: &mut Reader<'_>, node: &Node) -> Read<Secret> {
    let text = reader.text(node)?;
    let (name, column) = text.split_once('.').map_or((text, None), |(name, column)| (name, Some(column.to_owned())));
    let name = reader.name(name.trim(), node.at)?;
    Some(Secret { name, column })
}

fn scenarios(reader: &mut Reader<'_>, node: &Node) -> Vec<Scenario> {
    let named = bounded(reader, node, Things::Scenarios, SCENARIOS_MAX);
    if named.is_empty() && matches!(&node.value, crate::tree::Value::Map(pairs) if pairs.is_empty()) {
        reader.found.add(node.at, Problem::Empty { object: &FILE, key: "scenarios" });
    }
    named.into_iter().filter_map(|(name, at, node)| scenario(reader, name, at, node)).collect()
}

fn scenario(reader: &mut Reader<'_>, name: &str, at: Span, node: &Node) -> Read<Scenario> {
    if name.trim().is_empty() || name.contains(|each: char| each.is_control()) || name.contains("${") {
        return reader.emit(at, Problem::Name(NameFault::Bad(shortened(name))));
    }
    let mut fields = Fields::open(reader, node, &SCENARIO)?;
    fields.at = at;
    // Those of other scenarios are relative to the target of the file again.
    let usual = reader.target.clone();
    let target = fields.get("target").and_then(|node| urls::target(reader, node));
    let origins = fields.get("origins").map(|node| urls::origins(reader, node));
    let vars = fields.get("vars").map(|node| variables(reader, node, false)).unwrap_or_default();
    let defaults = fields.get("defaults").and_then(|node| defaults::defaults(reader, node));
    let load = fields.need(reader, "load").and_then(|node| load::load(reader, node));
    let begin = fields.get("start_after").and_then(|node| reader.time("start_after", node)).unwrap_or(Duration::ZERO);
    let every = fields.get("pacing").and_then(|node| reader.span("pacing", node));
    if load.as_ref().is_some_and(|load| matches!(load.amount, Amount::Rate { .. })) {
        // A rate already determines when iterations start.
        fields.given(&["pacing"]).into_iter().for_each(|one| {
            reader.found.add(fields.place(one), Problem::Conflict { one, other: "rate" });
        });
    }
    let connections = fields.get("connections").and_then(|node| reader.count("connections", node, 1, plan::USERS_MAX));
    if connections.is_none()
        && load.as_ref().is_some_and(|load| matches!(load.amount, Amount::Rate { preconnect: true, .. }))
    {
        reader.found.add(fields.place("load"), Problem::Needs { key: "preconnect", needed: "connections" });
    }
    let carried = fields.get("carry_state").and_then(|node| state::carried(reader, node)).unwrap_or_default();
    let network = fields.get("network").and_then(|node| defaults::network(reader, node)).unwrap_or_default();
    let start = fields.get("on_start").map(|node| maybe(reader, node)).unwrap_or_default();
    let steps = fields.need(reader, "steps").map(|node| some(reader, node, &SCENARIO)).unwrap_or_default();
    let stop = fields.get("on_stop").map(|node| maybe(reader, node)).unwrap_or_default();
    fields.close();
    reader.target = usual;
    let name = Name { text: name.to_owned(), at };
    // An invalid load was reported; the steps are checked all the same.
    let load = load.unwrap_or_default();
    Some(Scenario {
        name,
        load,
        begin,
        every,
        connections,
        carried,
        target,
        origins,
        vars,
        defaults,
        network,
        start,
        steps,
        stop,
    })
}

/// Reads optional steps.
fn maybe(reader: &mut Reader<'_>, node: &Node) -> Vec<Step> {
    steps::maybe(reader, node)
}

/// Reads steps of which at least one is required.
fn some(reader: &mut Reader<'_>, node: &Node, object: &'static Object) -> Vec<Step> {
    steps::some(reader, node, object)
}

fn run(reader: &mut Reader<'_>, node: &Node) -> Read<Run> {
    let mut fields = Fields::open(reader, node, &RUN)?;
    let run = Run {
        warmup: fields.get("warmup").and_then(|node| reader.time("warmup", node)),
        grace: fields.get("grace").and_then(|node| reader.time("grace", node)),
        stop_within: fields.get("stop_within").and_then(|node| reader.time("stop_within", node)),
        seed: fields.get("seed").and_then(|node| reader.count("seed", node, 0, u64::MAX)),
        interval: fields.get("interval").and_then(|node| {
            let text = reader.measure(node, crate::diagnostic::Wanted::Time)?;
            reader.value(node.at, plan::parse_span("interval", text, plan::INTERVAL_MIN))
        }),
        budget: fields.get("budget").and_then(|node| {
            let text = reader.text(node)?;
            reader.value(node.at, Budget::parse(text))
        }),
        consents: fields.get("allow_host").map(|node| reader.one_or_more(node, Reader::owned)).unwrap_or_default(),
        threads: fields.get("threads").and_then(|node| reader.count("threads", node, 1, THREADS_MAX)),
        strict: fields.get("strict").and_then(|node| reader.switch(node)).unwrap_or(false),
        probe: fields.get("probe").and_then(|node| reader.switch(node)),
        ignores_failures: fields.get("no_abort_on_failures").and_then(|node| reader.switch(node)).unwrap_or(false),
        json: fields.get("json").and_then(|node| reader.owned(node)),
        hdr: fields.get("hdr").and_then(|node| reader.owned(node)),
        log: fields.get("log").and_then(|node| reader.owned(node)),
    };
    fields.close();
    Some(run)
}

/// The limit of the flag `--threads`.
const THREADS_MAX: u64 = 1_024;
