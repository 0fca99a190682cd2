//! The data sources of scenarios: feeds and script evaluators.

use std::path::Path;
use std::time::Duration;

use engine::DataSources;
use feed::{AtEnd, Csv, Feed, FeedError, Format, Pick, Selection, Share, Spec};
use plan::{Evaluate, ITEMS_MAX, Interpreters, Moment, Value};
use report::Language;
use scenario::{DataFormat, DataSet, Encoding, RowPick, RowShare};

/// All sources of this build. A plan that needs more is refused before it begins.
pub(crate) fn data_sources() -> DataSources {
    DataSources {
        #[cfg(feature = "script")]
        interpreters: Some(std::sync::Arc::new(script::JavaScript)),
        ..DataSources::default()
    }
}

/// The rows of a data set, without those that its filter leaves out. `folder`: that of the scenario file.
pub(crate) fn open_feed(
    set: &DataSet,
    folder: &Path,
    interpreters: Option<&dyn Interpreters>,
) -> Result<Feed, FeedError> {
    let spec = spec_of(set, folder);
    let selection = set.filter.is_some().then(|| selection_of(set, &spec, interpreters)).transpose()?;
    Feed::open(Spec { selection, ..spec })
}

/// All values of a column as a list, or why there is none.
pub(crate) fn list_of(feed: &Feed, column: usize, language: Language) -> Result<Value, String> {
    let values = feed.values_of(column, ITEMS_MAX).map_err(|error| report::feed_error(&error, language))?;
    let mut json = vec![b'['];
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            json.push(b',');
        }
        value.write_json(&mut json);
    }
    json.push(b']');
    Ok(Value::Json(String::from_utf8_lossy(&json).into()))
}

/// The rows for which the filter holds. It has no clock and no chance, so that it is the same each time.
fn selection_of(set: &DataSet, spec: &Spec, interpreters: Option<&dyn Interpreters>) -> Result<Selection, FeedError> {
    let mut compiled: Option<Box<dyn Evaluate>> = None;
    Feed::select(spec, |columns, cells| {
        let evaluate = match &mut compiled {
            Some(evaluate) => evaluate,
            None => {
                let expression = set.filter_in_plan(columns).ok_or("there is no filter")?;
                let interpreters = interpreters.ok_or("this build evaluates no expressions")?;
                compiled.insert(interpreters.start(std::slice::from_ref(&expression))?)
            }
        };
        let used = evaluate.uses(0).iter().filter_map(|place| cells.get(*place as usize));
        let values: Vec<Value> = used.cloned().collect();
        evaluate.evaluate(0, &values, Moment { seed: 0, now: Duration::ZERO }).map(|value| value.is_truthy())
    })
}

/// The settings of a data set, as the scenario file has them.
fn spec_of(set: &DataSet, folder: &Path) -> Spec {
    let csv = || Csv {
        separator: char::from(set.separator),
        columns: set.columns.clone().filter(|_| set.is_headless),
        charset: (set.encoding == Encoding::Gbk).then(|| "gbk".to_owned()),
        numbers: set.numbers.clone(),
    };
    Spec {
        file: folder.join(&set.file),
        format: match set.format {
            DataFormat::Csv => Format::Csv(csv()),
            DataFormat::Json => Format::Json,
            DataFormat::JsonLines => Format::JsonLines,
            DataFormat::Folder => Format::Folder(set.file.to_string_lossy().into_owned()),
        },
        pick: match set.pick {
            RowPick::Next => Pick::Next,
            RowPick::Random => Pick::Random,
            RowPick::ByUser => Pick::ByUser,
        },
        share: match set.share {
            RowShare::Split => Share::Split,
            RowShare::Copy => Share::Copy,
            RowShare::Unique => Share::Unique,
        },
        at_end: match set.at_end {
            scenario::AtEnd::Again => AtEnd::Again,
            scenario::AtEnd::Stop => AtEnd::Stop,
        },
        selection: None,
    }
}
