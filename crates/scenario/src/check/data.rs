//! Checks of data: filters see their own columns, and files of forms come from folders.

use plan::{Filling, Pattern};

use super::names::Symbols;
use crate::diagnostic::{DataFault, DiagnosticSink, Problem, shortened};
use crate::expression;
use crate::file::{Action, Body, DataFormat, DataSet, File, PartValue, Step};
use crate::source::Span;

/// Checks all data sets and the files that steps send of them.
pub(super) fn check(file: &File, declared: &Symbols, found: &mut DiagnosticSink) {
    file.data.iter().for_each(|set| filter(set, declared, found));
    let lists = file.scenarios.iter().flat_map(|scenario| [&scenario.start, &scenario.steps, &scenario.stop]);
    lists.chain([&file.before, &file.after]).for_each(|steps| files(steps, file, found));
}

fn filter(set: &DataSet, declared: &Symbols, found: &mut DiagnosticSink) {
    let Some(filter) = &set.filter else { return };
    let own = set.name.text.as_str();
    let is_direct = filter.at.end - filter.at.start == filter.text.len();
    let place = |range: std::ops::Range<usize>| match is_direct {
        true => Span::new(filter.at.start + range.start, filter.at.start + range.end),
        false => filter.at,
    };
    let strange = |name: &str| Problem::Data(DataFault::FilterName { set: own.to_owned(), name: shortened(name) });
    let columns = expression::columns(&filter.text);
    for (name, range) in expression::variables(&filter.text) {
        // The row as a whole is no value.
        let is_column = columns.iter().any(|(known, _, at)| *known == name && range.end <= at.start);
        if name != own || !is_column {
            found.add(place(range), strange(name));
        }
    }
    for (word, _, range) in expression::builtins(&filter.text) {
        found.add(place(range), strange(word));
    }
    let known = declared.data.get(own).and_then(Option::as_ref);
    for (_, column, range) in columns.into_iter().filter(|(name, ..)| *name == own) {
        if let Some(fault) = declared.column_fault(own, known, column) {
            found.add(place(range), fault);
        }
    }
}

fn files(steps: &[Step], file: &File, found: &mut DiagnosticSink) {
    for step in steps {
        for pattern in files_of(step) {
            let named = pattern.slots().find_map(|slot| match &slot.filling {
                Filling::Column(set, _) => Some((set, Span::new(slot.at.start, slot.at.end))),
                _ => None,
            });
            let Some((name, at)) = named else { continue };
            let is_other = |set: &&DataSet| set.name.text == *name && set.format != DataFormat::Folder;
            if file.data.iter().any(|set| is_other(&set)) {
                found.add(at, Problem::Data(DataFault::NotFolder { set: name.clone() }));
            }
        }
        step.inner().into_iter().for_each(|steps| files(steps, file, found));
    }
}

/// The files of rows that a step sends.
fn files_of(step: &Step) -> Vec<&Pattern> {
    let Action::Request(request) = &step.action else { return Vec::new() };
    match &request.body {
        Some(Body::RowFile(path)) => vec![path],
        Some(Body::Multipart(parts)) => {
            let values = parts.iter().map(|part| &part.value);
            values
                .filter_map(|value| if let PartValue::RowFile { path, .. } = value { Some(path) } else { None })
                .collect()
        }
        _ => Vec::new(),
    }
}
