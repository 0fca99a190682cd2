//! The load of a scenario.

use std::time::Duration;

use plan::{
    Arrivals, PlanError, RATE_MAX, STAGES_MAX, USERS_MAX, UserShape, UserStage, highest, parse_rate, parse_stages,
    parse_user_stages,
};

use crate::diagnostic::{Problem, Things, Wanted};
use crate::file::{Amount, Iterations, Load};
use crate::keys::LOAD;
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The most iterations of a load: starts are counted in 64 bits, and so are twice as many.
const ITERATIONS_MAX: u64 = u64::MAX >> 1;
/// The seed of random starts, when none is given.
const ARRIVALS_SEED: u64 = 1;

pub(super) fn load(reader: &mut Reader<'_>, node: &Node) -> Read<Load> {
    let mut fields = Fields::open(reader, node, &LOAD)?;
    fields.at_most_one(reader, &["users", "rate"]);
    fields.at_most_one(reader, &["iterations", "iterations_per_user"]);
    let duration = fields.get("for").and_then(|node| reader.span("for", node));
    let of_all = fields.get("iterations").and_then(|node| reader.count("iterations", node, 1, ITERATIONS_MAX));
    let of_each =
        fields.get("iterations_per_user").and_then(|node| reader.count("iterations_per_user", node, 1, ITERATIONS_MAX));
    let iterations = of_all.map(Iterations::Together).or(of_each.map(Iterations::Each));
    let (users, rate) = (fields.get("users"), fields.get("rate"));
    let ramp = fields.get("ramp").and_then(|node| reader.span("ramp", node));
    let rendezvous = fields.get("rendezvous").and_then(|node| reader.switch(node)).unwrap_or(false);
    let arrivals = fields.get("arrivals").and_then(|node| {
        let poisson = Arrivals::Poisson { seed: ARRIVALS_SEED };
        reader.word(node, &[("even", Arrivals::Even), ("poisson", poisson)])
    });
    let max_lateness = fields.get("max_lateness").and_then(|node| reader.span("max_lateness", node));
    let preconnect = fields.get("preconnect").and_then(|node| reader.switch(node)).unwrap_or(false);
    let is_staged = users.or(rate).is_some_and(is_stages);
    belongings(reader, &fields, rate.is_some(), is_staged);
    let amount = match (users, rate) {
        (Some(node), _) => users_of(reader, node, ramp, rendezvous),
        (None, Some(node)) => {
            let stages = rate_stages(reader, node, duration);
            let arrivals = arrivals.unwrap_or(Arrivals::Even);
            stages.map(|stages| Amount::Rate { stages, arrivals, max_lateness, preconnect })
        }
        (None, None) => {
            if fields.given(&LOAD.fields.iter().map(|field| field.name).collect::<Vec<_>>()).is_empty() {
                reader.found.add(node.at, Problem::MissingKey { object: &LOAD, key: "users" });
                None
            } else if iterations.is_some() {
                // The number of iterations, in sequence.
                Some(Amount::Users { count: 1, shape: UserShape::AtOnce })
            } else {
                reader.emit(fields.at, Problem::MissingKey { object: &LOAD, key: "users" })
            }
        }
    };
    let has_end = is_staged || !fields.given(&["for", "iterations", "iterations_per_user"]).is_empty();
    if !has_end && (users.is_some() || rate.is_some()) {
        reader.found.add(fields.at, Problem::LoadWithoutEnd);
    }
    fields.close();
    let duration = duration.or_else(|| amount.as_ref().and_then(staged_time));
    amount.map(|amount| Load { amount, duration, iterations })
}

/// Checks that keys of users, of rates, or of a single number are not mixed.
fn belongings(reader: &mut Reader<'_>, fields: &Fields<'_>, is_rate: bool, is_staged: bool) {
    let of_users: &[&'static str] = &["ramp", "rendezvous", "iterations_per_user"];
    let of_rates: &[&'static str] = &["arrivals", "max_lateness", "preconnect"];
    let conflicts = |names: &[&'static str], other: &'static str| {
        let given = fields.given(names).into_iter();
        given.map(|one| (fields.place(one), Problem::Conflict { one, other })).collect::<Vec<_>>()
    };
    let mut faults = Vec::new();
    if is_rate {
        faults.extend(conflicts(of_users, "rate"));
    } else {
        let given = fields.given(of_rates).into_iter();
        faults.extend(given.map(|key| (fields.place(key), Problem::Needs { key, needed: "rate" })));
    }
    if is_staged && !is_rate {
        faults.extend(conflicts(&["for", "ramp", "rendezvous"], "users: [...]"));
    } else if is_staged {
        faults.extend(conflicts(&["for"], "rate: [...]"));
    } else {
        let both = fields.given(&["ramp", "rendezvous"]);
        if let [one, other] = both[..] {
            faults.push((fields.place(other), Problem::Conflict { one, other }));
        }
    }
    faults.into_iter().for_each(|(at, fault)| reader.found.add(at, fault));
}

/// Whether the value is a list, or one text with a time.
fn is_stages(node: &Node) -> bool {
    match &node.value {
        Value::List(_) => true,
        Value::Scalar(scalar) => scalar.text.contains(':'),
        _ => false,
    }
}

/// The texts of stages with their nodes: each separate, so that each error is reported at its position.
fn stage_texts<'n>(reader: &mut Reader<'_>, node: &'n Node) -> Read<Vec<(&'n Node, &'n str)>> {
    let items = match &node.value {
        Value::List(items) => &items[..],
        _ => std::slice::from_ref(node),
    };
    if items.is_empty() {
        return reader.wrong(node, Wanted::Stages);
    }
    if let Some(item) = items.get(STAGES_MAX) {
        return reader.emit(item.at, Problem::TooMany { what: Things::Stages, most: STAGES_MAX });
    }
    let texts: Vec<Read<(&Node, &str)>> =
        items.iter().map(|item| reader.measure(item, Wanted::Stages).map(|text| (item, text))).collect();
    texts.into_iter().collect()
}

/// Parses stages: each separately for its errors, then all of them together.
fn stages<T>(reader: &mut Reader<'_>, node: &Node, parse: impl Fn(&str) -> Result<Vec<T>, PlanError>) -> Read<Vec<T>> {
    let texts = stage_texts(reader, node)?;
    let mut is_good = true;
    for (index, (item, text)) in texts.iter().enumerate() {
        if let Err(error) = parse(text) {
            let error = match error {
                PlanError::Stage { value, reason, .. } if texts.len() > 1 => {
                    PlanError::Stage { number: index + 1, value, reason }
                }
                other => other,
            };
            reader.found.add(item.at, Problem::Value(error));
            is_good = false;
        }
    }
    let whole = texts.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(",");
    if is_good { reader.value(node.at, parse(&whole)) } else { None }
}

fn users_of(reader: &mut Reader<'_>, node: &Node, ramp: Option<Duration>, rendezvous: bool) -> Read<Amount> {
    if !is_stages(node) {
        let count = reader.count("users", node, 1, USERS_MAX)?;
        let shape = match ramp {
            Some(ramp) => UserShape::Ramp(ramp),
            None if rendezvous => UserShape::Rendezvous,
            None => UserShape::AtOnce,
        };
        return Some(Amount::Users { count, shape });
    }
    let stages: Vec<UserStage> = stages(reader, node, parse_user_stages)?;
    let lasting = stages.iter().filter(|stage| !stage.span.is_zero());
    match lasting.map(|stage| stage.from.max(stage.to)).max() {
        Some(count) if count > 0 => Some(Amount::Users { count, shape: UserShape::Stages(stages) }),
        _ => reader.emit(node.at, Problem::Value(PlanError::NoStarts { flag: "users" })),
    }
}

fn rate_stages(reader: &mut Reader<'_>, node: &Node, duration: Option<Duration>) -> Read<Vec<plan::RateStage>> {
    if !is_stages(node) {
        let text = reader.measure(node, Wanted::Rate)?;
        let rate = reader.value(node.at, parse_rate("rate", text))?;
        // Without a time the number of iterations ends it, however long that takes.
        let span = duration.unwrap_or(DURATION_LONG);
        return Some(vec![plan::RateStage { from: rate, to: rate, span }]);
    }
    let stages = stages(reader, node, parse_stages)?;
    let lasts = stages.iter().any(|stage| !stage.span.is_zero());
    match highest(&stages) {
        rate if rate > 0 && rate <= RATE_MAX * plan::RATE_UNIT && lasts => Some(stages),
        _ => reader.emit(node.at, Problem::Value(PlanError::NoStarts { flag: "rate" })),
    }
}

/// A time longer than any run.
pub(crate) const DURATION_LONG: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);

/// The duration of stages.
fn staged_time(amount: &Amount) -> Option<Duration> {
    match amount {
        Amount::Users { shape: UserShape::Stages(stages), .. } => Some(stages.iter().map(|stage| stage.span).sum()),
        Amount::Rate { stages, .. } if stages.len() > 1 || stages.iter().all(|stage| stage.from != stage.to) => {
            Some(stages.iter().map(|stage| stage.span).sum())
        }
        _ => None,
    }
}
