use serde_json::json;

use super::*;

/// A store of one test, removed on drop.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("onrush-history-{name}-{}", std::process::id()));
        Self(path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn report(rate: f64, began: &str) -> Value {
    json!({"schema": 1, "requests_per_s": rate, "about": {"began": began}, "target": {"url": "http://a/"}})
}

#[test]
fn runs_are_found_by_name_by_its_beginning_and_by_how_late_they_are() {
    let home = Home::new("find 名称");
    let runs = Runs::at(&home.0);
    assert_eq!(runs.list().expect("none yet"), Listed::default());
    assert!(matches!(runs.find("last"), Err(HistoryError::Unknown { .. })));
    for (stamp, rate) in [("20260101-000000", 1.0), ("20260101-000000", 2.0), ("20260203-000000", 3.0)] {
        let folder = runs.begin(stamp).expect("a folder");
        folder.keep(&report(rate, stamp), &json!({"version": 1})).expect("room");
    }
    let ids: Vec<String> = runs.list().expect("a list").runs.into_iter().map(|card| card.id).collect();
    assert_eq!(ids, ["20260203-000000", "20260101-000000-2", "20260101-000000"]);
    for (name, id) in [
        ("last", "20260203-000000"),
        ("last~2", "20260101-000000"),
        ("202602", "20260203-000000"),
        ("20260101-000000", "20260101-000000"),
        ("20260101-000000-", "20260101-000000-2"),
    ] {
        assert_eq!(runs.find(name).expect(name).id(), id, "{name}");
    }
    assert!(matches!(runs.find("2026"), Err(HistoryError::Ambiguous { among, .. }) if among.len() == 3));
    let whole = home.0.join("20260203-000000");
    for path in [whole.clone(), whole.join("report.json")] {
        let found = runs.find(&path.to_string_lossy()).expect("by its path");
        assert_eq!(found.report().expect("a report")["requests_per_s"], 3.0);
        assert_eq!(found.charts().expect("charts")["version"], 1);
    }
    for name in ["", "..", "/", "last~x", "../../etc", "nobody"] {
        let found = runs.find(name);
        assert!(found.as_ref().map_or(true, |folder| folder.report().is_err()), "{name}: {found:?}");
    }
}

/// A written file is complete; a write that fails leaves nothing behind.
#[test]
fn files_are_whole_or_not_there() {
    let home = Home::new("whole");
    let runs = Runs::at(&home.0);
    let folder = runs.begin("x").expect("a folder");
    folder.write("a", b"1").and_then(|()| folder.write("a", b"22")).expect("room");
    assert_eq!(fs::read(folder.path().join("a")).expect("a file"), b"22");
    fs::create_dir(folder.path().join("taken")).expect("a folder");
    assert!(folder.write("taken", b"3").is_err());
    let names: Vec<String> = fs::read_dir(folder.path())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().all(|name| !name.ends_with(".part")), "{names:?}");
    let empty = runs.begin("y").expect("a folder");
    empty.forget();
    assert!(!empty.path().exists() && folder.path().exists());
}

#[test]
fn what_is_no_run_is_reported_and_does_not_hide_others() {
    let home = Home::new("damaged");
    let runs = Runs::at(&home.0);
    runs.begin("good").expect("a folder").keep(&report(1.0, "b"), &json!({"version": 1})).expect("room");
    for (name, card) in [("broken", "{\"version\""), ("later", "{\"version\": 7}"), ("other", "[]")] {
        let folder = runs.begin(name).expect("a folder");
        folder.write("run.json", card.as_bytes()).expect("room");
        folder.write("report.json", b"{}").expect("room");
        assert!(matches!(folder.report(), Err(HistoryError::Damaged { .. })), "{name}");
    }
    fs::write(home.0.join("a file"), "x").expect("room");
    let listed = runs.list().expect("a list");
    assert_eq!(listed.runs.len(), 1);
    let reported: Vec<(&str, bool)> =
        listed.damaged.iter().map(|one| (one.name.as_str(), one.is_of_another_version)).collect();
    assert_eq!(reported, [("broken", false), ("later", true), ("other", false)]);
}

#[test]
fn the_usual_place_is_where_users_have_their_data() {
    let of = |data: Option<&str>, home: Option<&str>| {
        let known = [("XDG_DATA_HOME", data), ("HOME", home)];
        let runs = Runs::usual(|name| known.iter().find(|(known, _)| *known == name)?.1.map(str::to_owned));
        runs.map(|runs| runs.home().to_string_lossy().into_owned())
    };
    assert_eq!(of(Some("/d"), Some("/h")).as_deref(), Some("/d/onrush/runs"));
    assert_eq!(of(Some("relative"), Some("/h")).as_deref(), Some("/h/.local/share/onrush/runs"));
    assert_eq!(of(None, None), None);
}

/// A hundred runs are listed at once.
#[test]
fn a_hundred_cards_are_read_for_a_list() {
    let home = Home::new("hundred");
    let runs = Runs::at(&home.0);
    for number in 0..100 {
        let folder = runs.begin(&format!("r{number:03}")).expect("a folder");
        folder.keep(&report(f64::from(number), &format!("{number:03}")), &json!({"version": 1})).expect("room");
        // A list does not read the report.
        folder.write("report.json", b"not even JSON").expect("room");
    }
    let listed = runs.list().expect("a list");
    assert_eq!((listed.runs.len(), listed.damaged.len()), (100, 0));
    assert_eq!(listed.runs[0].id, "r099");
}
