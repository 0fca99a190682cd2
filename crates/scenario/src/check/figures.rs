//! Figures of the user's own: those that are recorded exist, their values fit, and nothing else has their names.

use plan::{OwnKind, did_you_mean};

use crate::diagnostic::{DiagnosticSink, FoundInstead, NameFault, Problem};
use crate::file::{Action, File, FileFigure, Json, SetValue, Step};
use crate::source::{Source, Span};

/// Checks the figures of a file, and all steps that record some.
pub(super) fn check(file: &File, source: &Source, found: &mut DiagnosticSink) {
    for (place, steps) in [("setup", &file.before), ("teardown", &file.after)] {
        each(steps, &mut |step| {
            if matches!(step.action, Action::Record(_)) {
                found.add(step.at, Problem::NotRecorded { place });
            }
        });
    }
    for scenario in &file.scenarios {
        refuse_name(file, &scenario.name.text, scenario.name.at, source, found);
        for steps in [&scenario.start, &scenario.steps, &scenario.stop] {
            each(steps, &mut |step| match &step.action {
                Action::Record(values) => values.iter().for_each(|value| check_value(file, value, found)),
                _ if super::is_part(&step.action) => refuse_name(file, &step.name, step.at, source, found),
                _ => {}
            });
        }
    }
}

/// A part of a run that has the name of a figure: a threshold would mean both.
fn refuse_name(file: &File, name: &str, at: Span, source: &Source, found: &mut DiagnosticSink) {
    if let Some(figure) = file.figures.iter().find(|figure| figure.own.name == *name) {
        let line = source.place(figure.at.start).line;
        found.add(at, Problem::Name(NameFault::Twice { name: name.to_owned(), line }));
    }
}

fn check_value(file: &File, SetValue { name, value }: &SetValue, found: &mut DiagnosticSink) {
    let Some(FileFigure { own, .. }) = file.figures.iter().find(|figure| figure.own.name == name.text) else {
        let near = did_you_mean(&name.text, file.figures.iter().map(|figure| figure.own.name.as_str()));
        let fault = NameFault::Figure { name: crate::diagnostic::shortened(&name.text), near: near.map(str::to_owned) };
        return found.add(name.at, Problem::Name(fault));
    };
    if let Some(given) = unfit(own.kind, value) {
        found.add(name.at, Problem::NoValueOf { name: name.text.clone(), kind: own.kind, given });
    }
}

/// What is written where it can never be a value of this kind; `None` where it may be one.
fn unfit(kind: OwnKind, value: &Json) -> Option<FoundInstead> {
    let is_share = kind == OwnKind::Share;
    match value {
        Json::Null => Some(FoundInstead::Nothing),
        Json::List(_) => Some(FoundInstead::List),
        Json::Map(_) => Some(FoundInstead::Map),
        Json::Bool(is_so) => (!is_share).then(|| FoundInstead::text(&is_so.to_string())),
        Json::Digits(digits) => is_share.then(|| FoundInstead::text(digits)),
        Json::Number(number) => {
            let is_negative = number.as_f64().is_some_and(|number| number < 0.0);
            let is_unfit = is_share || (is_negative && kind != OwnKind::Gauge);
            is_unfit.then(|| FoundInstead::text(&number.to_string()))
        }
        // What a slot gives is known only while it runs.
        Json::Text(pattern) if pattern.slots().next().is_some() => None,
        Json::Text(pattern) => Some(FoundInstead::text(pattern.as_plain().unwrap_or_default())),
    }
}

fn each<'f>(steps: &'f [Step], see: &mut dyn FnMut(&'f Step)) {
    for step in steps {
        see(step);
        step.inner().into_iter().for_each(|steps| each(steps, see));
    }
}
