//! Tests of the schema against the reader, which use the same tables: the schema accepts whatever the reader accepts,
//! and the reader refuses what the schema refuses.

use serde_json::{Value as Data, json};

use super::*;
use crate::keys::{
    ABSENT, AUTH, CHOICE, COOKIES, DATA, DEFAULTS, EXPECT, FILE, FILE_BODY, FRAGMENT, LOAD, MEET, MESSAGE, NETWORK,
    PART, RECEIVE, RETRY, RUN, SCENARIO, TAKE, steps,
};
use crate::tree::{self, Node, Value};

/// Writes the published schema instead of comparing it.
const WRITE: &str = "ONRUSH_WRITE_REFERENCE";

/// A file as other programs read it: by the core schema of YAML 1.2.
fn data_of(text: &str) -> Option<Data> {
    let mut found = DiagnosticSink::default();
    let (root, end) = tree::build(&Source::new("data", text), &mut found);
    (end == usize::MAX && found.is_empty()).then(|| root.as_ref().map_or(Data::Null, data))
}

fn data(node: &Node) -> Data {
    match &node.value {
        Value::Broken => Data::Null,
        Value::List(items) => items.iter().map(data).collect(),
        Value::Map(pairs) => pairs.iter().map(|(key, node)| (key.name.clone(), data(node))).collect(),
        Value::Scalar(scalar) if scalar.is_null() => Data::Null,
        Value::Scalar(scalar) => match scalar.as_switch() {
            Some(switch) => json!(switch),
            None if scalar.is_plain => match scalar.text.parse::<i64>() {
                Ok(whole) => json!(whole),
                Err(_) => match scalar.text.parse::<f64>() {
                    Ok(number) if number.is_finite() && scalar.text.contains(|each: char| each.is_ascii_digit()) => {
                        json!(number)
                    }
                    _ => json!(scalar.text),
                },
            },
            None => json!(scalar.text),
        },
    }
}

fn validator(schema: &Data) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).expect("a schema")
}

fn everything() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("files/everything.yaml");
    std::fs::read_to_string(path).expect("a file")
}

#[test]
fn the_published_schema_is_that_of_the_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario.schema.json");
    let made = format!("{}\n", serde_json::to_string_pretty(&schema()).expect("JSON"));
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &made).expect("the schema can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == made, "docs/scenario.schema.json is not what the tables say; run: cargo xtask reference");
    assert!(jsonschema::meta::is_valid(&schema()));
}

#[test]
fn right_files_are_right_for_the_schema() {
    let validator = validator(&schema());
    for path in [files_in("files"), files_in("right")].concat() {
        let data = data_of(&std::fs::read_to_string(&path).expect("UTF-8")).expect("YAML");
        let errors: Vec<String> =
            validator.iter_errors(&data).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
    }
}

/// Whether a schema can express the fault as well.
fn is_of_shape(fault: &Problem) -> bool {
    matches!(
        fault,
        Problem::UnknownKey { .. }
            | Problem::MissingKey { .. }
            | Problem::NoVerb { .. }
            | Problem::TwoVerbs { .. }
            | Problem::Boolean { .. }
            | Problem::Wrong { wanted: Wanted::Map | Wanted::List | Wanted::Steps | Wanted::Switch, .. }
    ) || matches!(fault, Problem::Empty { key: "steps", .. })
}

/// Whether the fault is an invalid switch, which a schema refuses, except in JSON, which takes any value.
fn is_json(fault: &Problem) -> bool {
    matches!(fault, Problem::Boolean { .. })
}

#[test]
fn wrong_files_are_wrong_for_the_schema_where_it_can_say_so() {
    let (validator, mut refused) = (validator(&schema()), 0);
    for path in files_in("wrong") {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let mistakes = parse("wrong", &text, &folder()).expect_err("a mistake");
        let Some(data) = data_of(&text) else { continue };
        if mistakes.all.iter().any(|mistake| is_of_shape(&mistake.fault) && !is_json(&mistake.fault)) {
            assert!(!validator.is_valid(&data), "{}: {:#?}", path.display(), said(&mistakes));
            refused += 1;
        }
    }
    assert!(refused >= 15, "{refused}");
}

#[test]
fn each_key_of_the_tables_is_in_the_file_that_has_everything() {
    let data = data_of(&everything()).expect("YAML");
    let objects = [
        ABSENT, AUTH, COOKIES, FILE, DATA, DEFAULTS, SCENARIO, LOAD, RUN, EXPECT, TAKE, CHOICE, MEET, RECEIVE, MESSAGE,
        NETWORK, PART, FILE_BODY, FRAGMENT, RETRY,
    ];
    let steps: Vec<&Object> = steps().collect();
    let named = objects.iter().chain(steps);
    // One key of each object is removed from the schema at a time, and then the file is invalid; of the HTTP verbs one
    // has all keys.
    let is_other_verb = |id: &str| ["get", "put", "patch", "delete", "head", "options", "request"].contains(&id);
    let whole = schema();
    for object in named {
        for field in object.fields.iter().filter(|field| !is_other_verb(object.id) || field.name == object.id) {
            let mut less = whole.clone();
            let properties = less["$defs"][object.id]["properties"].as_object_mut().expect("keys");
            properties.remove(field.name).expect("each key of the table is in the schema");
            assert!(
                !validator(&less).is_valid(&data),
                "{} of {} is nowhere in everything.yaml",
                field.name,
                object.title
            );
        }
    }
}

/// Every position in a value, as a JSON pointer.
fn pointers(data: &Data, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match data {
        Data::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| pointers(item, &format!("{here}/{index}"), all));
        }
        Data::Object(pairs) => pairs.iter().for_each(|(key, item)| {
            pointers(item, &format!("{here}/{}", key.replace('~', "~0").replace('/', "~1")), all);
        }),
        _ => {}
    }
}

/// The values are more than one run has time for: each commit changes one part of them.
const VALUE_PARTS: u64 = 5;

#[test]
fn reader_and_schema_agree_on_any_change_of_a_value() {
    let validator = validator(&schema());
    let whole = data_of(&everything()).expect("YAML");
    let mut places = Vec::new();
    pointers(&whole, "", &mut places);
    assert!(places.len() > 400, "{}", places.len());
    let others = [json!("text"), json!(5), json!(true), json!(null), json!([]), json!({"nobody": 1})];
    let (mut taken, mut refused) = (0, 0);
    let of_this_run = claims::seeds::for_this_run(places.len() as u64, VALUE_PARTS);
    for place in of_this_run.iter().filter_map(|number| places.get(*number as usize)) {
        for other in &others {
            let mut changed = whole.clone();
            *changed.pointer_mut(place).expect("it is there") = other.clone();
            // JSON is YAML.
            let read = parse("changed", &changed.to_string(), &folder());
            let is_valid = validator.is_valid(&changed);
            match read {
                Ok(_) => {
                    assert!(is_valid, "{place}: {other} is taken by the reader, and not by the schema");
                    taken += 1;
                }
                Err(mistakes) => {
                    refused += 1;
                    let is_shape = mistakes.all.iter().any(|mistake| is_of_shape(&mistake.fault));
                    assert!(!(is_shape && is_valid), "{place}: {other}: {:#?}", said(&mistakes));
                }
            }
        }
    }
    assert!(taken > of_this_run.len() / 3 && refused > of_this_run.len(), "{taken} {refused}");
}
