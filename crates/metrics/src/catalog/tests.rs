use super::*;

fn of(scenarios: &[(u32, u32)]) -> Catalog {
    let mut catalog = Catalog::default();
    for (number, (steps, transactions)) in scenarios.iter().enumerate() {
        catalog.add_scenario(&format!("scenario {number}"));
        // Kinds may come in any order.
        for place in 0..*steps.max(transactions) {
            if place < *transactions {
                catalog.add(SeriesKind::Transaction, &format!("transaction {number}.{place}"));
            }
            if place < *steps {
                catalog.add(SeriesKind::Step, &format!("step {number}.{place}"));
            }
        }
    }
    catalog
}

fn listed(catalog: &Catalog, scenario: usize, kind: SeriesKind) -> Vec<(u32, String, u32)> {
    let of = |series: &Series| {
        assert_eq!(series.id.kind(), kind);
        (series.id.place(), series.name.clone(), series.shared_by)
    };
    catalog.series(scenario, kind).map(of).collect()
}

#[test]
fn series_are_numbered_over_all_scenarios_and_listed_by_each() {
    let catalog = of(&[(2, 1), (0, 0), (1, 3)]);
    let names = |scenario, kind| listed(&catalog, scenario, kind);
    let named = |place, name: &str| (place, name.to_owned(), 0);
    assert_eq!(names(0, SeriesKind::Step), [named(0, "step 0.0"), named(1, "step 0.1")]);
    assert_eq!(names(0, SeriesKind::Transaction), [named(0, "transaction 0.0")]);
    assert_eq!(names(1, SeriesKind::Step), []);
    assert_eq!(names(2, SeriesKind::Step), [named(2, "step 2.0")]);
    let own = [named(1, "transaction 2.0"), named(2, "transaction 2.1"), named(3, "transaction 2.2")];
    assert_eq!(names(2, SeriesKind::Transaction), own);
    assert_eq!(names(3, SeriesKind::Step), []);
    assert_eq!([0, 1, 2].map(|scenario| catalog.first(scenario, SeriesKind::Transaction)), [0, 1, 1]);
    assert_eq!((catalog.name(2), catalog.name(3), catalog.scenarios()), (Some("scenario 2"), None, 3));
}

#[test]
fn what_finds_no_series_of_its_own_shares_the_last() {
    let catalog = of(&[(SERIES_MAX - 1, 0), (3, 2), (2, SERIES_MAX)]);
    let last = SERIES_MAX - 1;
    assert_eq!(listed(&catalog, 0, SeriesKind::Step).len(), last as usize);
    assert_eq!(listed(&catalog, 1, SeriesKind::Step), [(last, "step 1.0".to_owned(), 2)]);
    // Each scenario has a snapshot of its own: what shares a series is listed with a name of its own.
    assert_eq!(listed(&catalog, 2, SeriesKind::Step), [(last, "step 2.0".to_owned(), 1)]);
    let transactions = listed(&catalog, 2, SeriesKind::Transaction);
    assert_eq!(transactions.len(), SERIES_MAX as usize - 2);
    assert_eq!(transactions.last(), Some(&(last, "transaction 2.61".to_owned(), 2)));
}

/// A name stands for everything of that name, in any scenario.
#[test]
fn a_name_is_all_that_has_it() {
    let scenario = |name, steps: &'static [&'static str], transactions: &'static [&'static str]| {
        let checks: &[&str] = if name == "b" { &["look", "is paid"] } else { &[] };
        (name, steps.iter().copied(), transactions.iter().copied(), checks.iter().copied())
    };
    let catalog = Catalog::from_scenarios(
        [
            scenario("a", &["look", "buy", "look"], &["visit"]),
            scenario("b", &["look", "visit"], &[]),
            scenario("look back", &["a"], &["pay"]),
        ]
        .into_iter(),
    );
    let steps = |places: &[(usize, u32)]| {
        let places = places.iter().map(|(scenario, number)| (*scenario, SeriesId::step(*number))).collect();
        Some(Named::Series { kind: SeriesKind::Step, places, has_own: true })
    };
    assert_eq!(catalog.named("look"), steps(&[(0, 0), (0, 2), (1, 3)]));
    assert_eq!(catalog.named("buy"), steps(&[(0, 1)]));
    // A scenario takes precedence over a step, and so does a transaction.
    assert_eq!(catalog.named("a"), Some(Named::Scenario(0)));
    let visit =
        Named::Series { kind: SeriesKind::Transaction, places: vec![(0, SeriesId::transaction(0))], has_own: true };
    assert_eq!(catalog.named("visit"), Some(visit));
    // A check comes after steps.
    let paid = Named::Series { kind: SeriesKind::Check, places: vec![(1, SeriesId::check(1))], has_own: true };
    assert_eq!(catalog.named("is paid"), Some(paid));
    assert_eq!(catalog.named("nobody"), None);
    let names: Vec<&str> = catalog.names().collect();
    assert_eq!(
        names,
        ["a", "visit", "look", "buy", "look", "b", "look", "visit", "look", "is paid", "look back", "pay", "a"]
    );
}

#[test]
fn each_series_has_a_place_of_its_own() {
    let all: Vec<SeriesId> = SeriesKind::ALL.into_iter().flat_map(SeriesId::all).collect();
    assert_eq!(all.len(), SeriesId::COUNT);
    for (index, id) in all.into_iter().enumerate() {
        assert_eq!((id.index(), SeriesId::from_index(index)), (index, Some(id)));
        assert_eq!(SeriesId::new(id.kind(), id.place()), id);
    }
    assert_eq!(SeriesId::from_index(SeriesId::COUNT), None);
    assert_eq!(SeriesId::step(u32::MAX), SeriesId::step(SERIES_MAX - 1));
    let names: std::collections::BTreeSet<_> = SeriesKind::ALL.map(SeriesKind::name).into();
    assert_eq!(names.len(), SeriesKind::ALL.len());
}

#[test]
fn values_have_a_unit_and_times_have_none() {
    let mut catalog = of(&[(1, 0)]);
    catalog.add_with_unit(SeriesKind::Custom, "rows", "rows");
    let units: Vec<&str> = catalog.series(0, SeriesKind::Custom).map(|series| &*series.unit).collect();
    assert_eq!(units, ["rows"]);
    assert!(catalog.series(0, SeriesKind::Step).all(|series| series.unit.is_empty()));
}

#[test]
fn a_tag_means_all_steps_that_have_it() {
    let steps = |names: &'static [&'static str]| names.iter().copied();
    let none = || std::iter::empty::<&str>();
    let scenarios = [("one", steps(&["a", "b", "a"]), none(), none()), ("two", steps(&["c"]), none(), none())];
    let tags = [(0, 0, "kind=api"), (0, 2, "kind=api"), (1, 0, "kind=api"), (0, 1, "b"), (0, 1, "kind=page")];
    let catalog = Catalog::from_scenarios(scenarios.into_iter()).with_tags(tags.into_iter());
    let named = |name| match catalog.named(name) {
        Some(Named::Series { kind: SeriesKind::Step, places, has_own }) => (places, has_own),
        other => panic!("{other:?}"),
    };
    let api = vec![(0, SeriesId::step(0)), (0, SeriesId::step(2)), (1, SeriesId::step(3))];
    assert_eq!(named("kind=api"), (api, true));
    assert_eq!(named("kind=page"), (vec![(0, SeriesId::step(1))], true));
    // A name is a step before it is a tag.
    assert_eq!(named("b"), (vec![(0, SeriesId::step(1))], true));
    assert_eq!(catalog.named("kind=other"), None);
    // Tags are no names of their own.
    assert!(catalog.names().eq(["one", "a", "b", "a", "two", "c"]));
    // The last series is that of several steps: it is the tag's alone if all of them have it.
    let many = || (0..70).map(|_| "step");
    let tagged = |from: usize| (from..70).map(|step| (0, step, "kind=api"));
    let catalog = |from| Catalog::from_scenarios([("one", many(), none(), none())].into_iter()).with_tags(tagged(from));
    let own = |from| matches!(catalog(from).named("kind=api"), Some(Named::Series { has_own: true, .. }));
    assert!(own(0) && own(63) && !own(64));
}
