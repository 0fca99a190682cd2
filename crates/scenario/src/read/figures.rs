//! Figures of the user's own: their kinds, and the values that steps record.

use plan::FIGURES_MAX;

use super::bounded;
use crate::diagnostic::{NameFault, Problem, Things, Wanted, shortened};
use crate::file::{Action, FileFigure, Name, SetValue};
use crate::keys::{FIGURE, STEP, verb_of};
use crate::reader::{Fields, Read, Reader};
use crate::source::Span;
use crate::tree::{Node, Value};

/// The kinds by their words.
const KINDS: [(&str, plan::OwnKind); 4] = [
    ("counter", plan::OwnKind::Counter),
    ("trend", plan::OwnKind::Trend),
    ("share", plan::OwnKind::Share),
    ("gauge", plan::OwnKind::Gauge),
];
/// The step of a trend without one, and of other kinds.
const STEP_USUAL: f64 = 1.0;
/// The least and the largest step.
const STEP_MIN: f64 = 1e-12;
const STEP_MAX: f64 = 1e12;
/// The longest unit, in characters.
const UNIT_CHARS_MAX: usize = 20;

/// `figures: {basket: {kind: trend, unit: EUR}, orders: counter}`.
pub(super) fn figures(reader: &mut Reader<'_>, node: &Node) -> Vec<FileFigure> {
    let named = bounded(reader, node, Things::Figures, FIGURES_MAX);
    named.into_iter().filter_map(|(name, at, node)| figure(reader, name, at, node)).collect()
}

/// The name of a figure stands in thresholds: it is none of the figures of every run.
fn figure_name(reader: &mut Reader<'_>, text: &str, at: Span) -> Read<Name> {
    if !plan::is_name(text) {
        return reader.emit(at, Problem::Name(NameFault::Bad(shortened(text))));
    }
    if metrics::is_known_figure(text) {
        return reader.emit(at, Problem::Name(NameFault::FigureOfRun(text.to_owned())));
    }
    Some(Name { text: text.to_owned(), at })
}

fn figure(reader: &mut Reader<'_>, name: &str, at: Span, node: &Node) -> Read<FileFigure> {
    let name = figure_name(reader, name, at);
    let (kind, unit, step) = match &node.value {
        Value::Map(_) => settings(reader, node)?,
        _ => (reader.word(node, &KINDS)?, String::new(), STEP_USUAL),
    };
    let name = name?;
    let own = plan::OwnFigure { name: name.text, kind, unit, step };
    Some(FileFigure { at: name.at, own })
}

/// `{kind: trend, unit: EUR, step: 0.01}`.
fn settings(reader: &mut Reader<'_>, node: &Node) -> Read<(plan::OwnKind, String, f64)> {
    let mut fields = Fields::open(reader, node, &FIGURE)?;
    let kind = fields.need(reader, "kind").and_then(|node| reader.word(node, &KINDS));
    let unit = fields.get("unit").map(|node| unit(reader, node));
    let step = fields.get("step").map(|node| step(reader, node));
    if step.is_some() && kind.is_some_and(|kind| kind != plan::OwnKind::Trend) {
        reader.found.add(fields.place("step"), Problem::Needs { key: "step", needed: "kind: trend" });
    }
    fields.close();
    Some((kind?, unit.map_or(Some(String::new()), |unit| unit)?, step.map_or(Some(STEP_USUAL), |step| step)?))
}

fn unit(reader: &mut Reader<'_>, node: &Node) -> Read<String> {
    let text = reader.text(node)?.trim();
    let is_short = text.chars().nth(UNIT_CHARS_MAX).is_none() && !text.contains(char::is_control);
    if is_short { Some(text.to_owned()) } else { reader.wrong(node, Wanted::FigureUnit) }
}

fn step(reader: &mut Reader<'_>, node: &Node) -> Read<f64> {
    let text = reader.measure(node, Wanted::FigureStep)?;
    match text.parse().ok().filter(|step| (STEP_MIN..=STEP_MAX).contains(step)) {
        Some(step) => Some(step),
        None => reader.wrong(node, Wanted::FigureStep),
    }
}

/// `record: {basket: "${total}", orders: 1}`.
pub(super) fn record(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Read<(Action, String)> {
    let node = fields.need(reader, "record")?;
    let named = bounded(reader, node, Things::Figures, FIGURES_MAX);
    if named.is_empty() && matches!(&node.value, Value::Map(pairs) if pairs.is_empty()) {
        let object = verb_of("record").unwrap_or(&STEP);
        return reader.emit(node.at, Problem::Empty { object, key: "figures" });
    }
    let mut values = Vec::new();
    for (name, at, value) in named {
        let value = reader.json(value);
        values.extend(value.map(|value| SetValue { name: Name { text: name.to_owned(), at }, value }));
    }
    (!values.is_empty()).then(|| (Action::Record(values), "record".to_owned()))
}
