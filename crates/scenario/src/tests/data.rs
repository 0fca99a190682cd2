//! Tests of data: folders, filters, columns as lists; and of rows by user in loads by rate.

use plan::{Meaning, Value};

use super::*;
use crate::file::{Body, PartValue, RowPick};

/// A file with this data and these steps.
fn with_data(data: &str, steps: &str) -> String {
    format!(
        "target: http://127.0.0.1\ndata: {data}\nscenarios:\n  a:\n    load: {{users: 1, iterations: 1}}\n    steps: {steps}\n"
    )
}

#[test]
fn a_folder_is_data_whose_files_steps_send() {
    let steps = r#"[{post: /a, multipart: {it: {file: "${photos.path}", type: image/png}, n: "${photos.bytes}"}}, {put: /b, body: {file: "${photos.path}"}}]"#;
    let file = good(&with_data("{photos: {folder: photos, order: random}}", steps));
    let set = &file.data[0];
    assert_eq!((set.format, set.pick), (DataFormat::Folder, RowPick::Random));
    assert_eq!(set.columns.as_deref(), Some(&["path", "name", "bytes"].map(str::to_owned)[..]));
    let bodies: Vec<_> = file.scenarios[0]
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            Action::Request(request) => request.body.as_ref(),
            _ => None,
        })
        .collect();
    let [Body::Multipart(parts), Body::RowFile(_)] = bodies[..] else { panic!("{bodies:?}") };
    assert!(matches!(parts[0].value, PartValue::RowFile { filename: None, .. }));
    let plan = super::slots::lowered(&with_data("{photos: {folder: photos}}", steps));
    let made =
        plan.scenarios[0].steps.iter().map(|step| step.dynamic_parts.as_ref().expect("slots").uses().columns.len());
    assert_eq!(made.collect::<Vec<_>>(), [3, 1], "path, name and bytes; path alone");
}

#[test]
fn files_are_known_before_the_run() {
    let sent = |data: &str, file: &str| wrong(&with_data(data, &format!("[{{put: /b, body: {{file: \"{file}\"}}}}]")));
    let folder = "{photos: {folder: photos}, users: users.csv}";
    for file in ["${photos.name}", "a/${photos.path}", "${uuid()}", "${photos}"] {
        let said = sent(folder, file);
        assert!(said[0].contains("a file must be known before the run"), "{said:?}");
    }
    let said = sent("{users: {file: users.csv, columns: [path, pass]}}", "${users.path}");
    assert!(said[0].contains("'users' is no folder"), "{said:?}");
    let said = wrong(&with_data("{photos: {folder: nowhere}}", "[{get: /}]"));
    assert!(said[0].starts_with("2:25: cannot read the folder 'nowhere'"), "{said:?}");
    let said = wrong(&with_data("{photos: {folder: photos, file: a.csv, header: true}}", "[{get: /}]"));
    assert_eq!(said.len(), 2, "{said:?}");
    let said = wrong(&with_data("{photos: {order: random}}", "[{get: /}]"));
    assert!(said[0].contains("file"), "{said:?}");
}

#[test]
fn a_filter_sees_its_own_columns_only() {
    let set = |filter: &str| format!("{{users: {{file: users.csv, filter: {filter}}}, own: users.csv}}");
    let file = good(&with_data(&set("'users[\"name\"] != \"a\" && users.pass.length > 2'"), "[{get: /}]"));
    let filter = file.data[0].filter_in_plan(&["name".to_owned(), "pass".to_owned()]).expect("a filter");
    let names = [("users.name".to_owned(), Meaning::Column(0)), ("users.pass".to_owned(), Meaning::Column(1))];
    assert_eq!(filter.names, names);
    for (filter, fault) in [
        ("nam == 1", "'nam' is none of them"),
        ("own.name == 1", "'own' is none of them"),
        ("users == 1", "'users' is none of them"),
        ("vu.id == 1", "'vu' is none of them"),
        ("users.nam == 1", "has no column 'nam'"),
        ("'users[\"nam\"] == 1'", "has no column 'nam'"),
        ("users.name == ", "a value is missing"),
    ] {
        let said = wrong(&with_data(&set(format!("{filter}\n   ").trim_end()), "[{get: /}]"));
        assert!(said[0].contains(fault), "{filter}: {said:?}");
    }
}

#[test]
fn a_column_as_a_list_is_one_constant_for_all_users() {
    let steps = r#"[{for_each: "users.name[]", as: one, steps: [{get: "/${one}"}]}, {check: "users.name[].length == 2"}, {post: /, json: "${users.pass[]}"}]"#;
    let plan = super::flow::run(&with_data("{users: users.csv}", steps));
    let memory = &plan.scenarios[0].memory;
    assert_eq!(memory.constants, [Value::Json("[]".into()), Value::Json("[]".into())]);
    let texts: Vec<&str> = memory.expressions.iter().map(|expression| expression.text.as_str()).collect();
    assert_eq!(texts, ["users$name", "users$name.length == 2", "users$pass"]);
    // It takes no row.
    assert!(memory.columns.iter().all(|column| column.feed == 0) && plan.scenarios[0].steps[0].dynamic_parts.is_some());
    let said = wrong(&with_data("{users: users.csv}", r#"[{get: /, name: a}, {check: "users.nam[].length == 2"}]"#));
    assert!(said[0].contains("has no column 'nam'"), "{said:?}");
    let said =
        wrong(&with_data("{users: users.csv}", r#"[{set: {list: [1]}}, {get: /}, {check: "list.a[].length == 2"}]"#));
    assert!(said[0].contains("'list' is no data"), "{said:?}");
}

#[test]
fn rows_by_user_at_a_rate_need_connections() {
    let file = |more: &str, end: &str| {
        format!(
            "target: http://127.0.0.1\ndata: {{users: {{file: users.csv, order: by_user{end}}}}}\nscenarios:\n  a:\n    load: {{rate: 5/s, for: 1s}}\n{more}    steps: [{{get: \"/${{users.name}}\"}}]\n"
        )
    };
    good(&file("    connections: 5\n", ""));
    assert!(wrong(&file("", ""))[0].contains("write 'connections: N' beside the load"));
    assert!(wrong(&file("    connections: 5\n", ", on_end: stop"))[0].contains("write on_end: repeat"));
}
