use super::*;

fn value(lines: &[CapacityLine], name: Name) -> f64 {
    lines.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("no {name:?} in {lines:?}")).value
}

/// Each case was computed by hand; with those of the next test there are twenty.
fn check(cases: &[(CapacityInput, &[(Name, f64)])]) {
    for (given, expect) in cases {
        let lines = compute(given).unwrap_or_else(|error| panic!("{given:?}: {error}"));
        for (name, worked) in *expect {
            let is = value(&lines, *name);
            assert!((is / worked - 1.0).abs() < 1e-6, "{name:?} is {is}, {worked} by hand: {given:?}");
        }
    }
}

#[test]
fn machines_as_worked_by_hand() {
    let given = CapacityInput::default;
    let of_views =
        |views: f64, each: f64| CapacityInput { page_views: Some(views), per_machine: Some(each), ..given() };
    let rated = |rate: f64| CapacityInput { rate: Some(rate), ..given() };
    check(&[
        // 24,000,000 / 17,280 s = 1,388.89/s; / 69 = 20.13.
        (
            of_views(30e6, 69.0),
            &[
                (Name::PeakViews, 24e6),
                (Name::PeakTime, 17_280.0),
                (Name::PeakRate, 1_388.888_888_9),
                (Name::Machines, 21.0),
                (Name::OneLess, 1_380.0),
                (Name::Busy, 0.958_515_45),
                (Name::WithSpare, 22.0),
                (Name::AtLoad, 27.0),
            ],
        ),
        // 8,640,000 views evenly: 100/s, and 100 machines of 1/s; none is rounded up.
        (
            CapacityInput { share: (1.0, 1.0), ..of_views(8_640_000.0, 1.0) },
            &[(Name::PeakRate, 100.0), (Name::Machines, 100.0), (Name::Busy, 1.0)],
        ),
        // Three requests per view.
        (
            CapacityInput { per_view: 3.0, ..of_views(864_000.0, 40.0) },
            &[(Name::PeakRate, 120.0), (Name::Machines, 3.0)],
        ),
        // Half of a day's views in one hour of twelve.
        (
            CapacityInput { share: (0.5, 1.0 / 12.0), of: Duration::from_secs(43_200), ..of_views(720_000.0, 25.0) },
            &[(Name::PeakTime, 3_600.0), (Name::PeakRate, 100.0), (Name::Machines, 4.0), (Name::WithSpare, 5.0)],
        ),
        (CapacityInput { per_machine: Some(500.0), ..rated(499.0) }, &[(Name::Machines, 1.0), (Name::Busy, 0.998)]),
        (CapacityInput { per_machine: Some(500.0), ..rated(500.0) }, &[(Name::Machines, 1.0), (Name::AtLoad, 2.0)]),
        (CapacityInput { per_machine: Some(500.0), ..rated(501.0) }, &[(Name::Machines, 2.0), (Name::OneLess, 500.0)]),
        // 0.3 / 0.1 is a little more than 3 in binary, and counts as 3.
        (CapacityInput { per_machine: Some(0.1), ..rated(0.3) }, &[(Name::Machines, 3.0)]),
        (CapacityInput { per_machine: Some(100.0), load: 0.5, ..rated(1_000.0) }, &[(Name::AtLoad, 20.0)]),
    ]);
}

#[test]
fn users_threads_and_networks_as_worked_by_hand() {
    let given = CapacityInput::default;
    let rated = |rate: f64| CapacityInput { rate: Some(rate), ..given() };
    let minute = Duration::from_secs(60);
    check(&[
        // Little: 500/s, 0.2 s and 5 s.
        (
            CapacityInput { response_s: Some(0.2), think_s: Some(5.0), ..rated(500.0) },
            &[(Name::Users, 2_600.0), (Name::InSystem, 100.0)],
        ),
        (CapacityInput { response_s: Some(0.02), ..rated(50.0) }, &[(Name::Users, 1.0), (Name::InSystem, 1.0)]),
        (
            CapacityInput { users: Some(1_000.0), response_s: Some(0.5), think_s: Some(9.5), ..given() },
            &[(Name::RateOfUsers, 100.0), (Name::InSystem, 50.0)],
        ),
        (CapacityInput { users: Some(1_000.0), response_s: Some(0.5), ..rated(100.0) }, &[(Name::Think, 9.5)]),
        (CapacityInput { users: Some(1_000.0), think_s: Some(9.5), ..rated(100.0) }, &[(Name::Response, 0.5)]),
        // The rate of users, for machines.
        (
            CapacityInput {
                users: Some(6_000.0),
                response_s: Some(1.0),
                think_s: Some(59.0),
                per_machine: Some(30.0),
                ..given()
            },
            &[(Name::RateOfUsers, 100.0), (Name::Machines, 4.0)],
        ),
        // 4 x (1 + 90 / 10).
        (
            CapacityInput { cores: Some(4.0), wait_s: Some(0.09), compute_s: Some(0.01), ..given() },
            &[(Name::Threads, 40.0), (Name::OfCores, 400.0)],
        ),
        (CapacityInput { cores: Some(8.0), compute_s: Some(0.002), ..given() }, &[(Name::OfCores, 4_000.0)]),
        // 10,000/s of 20 KiB.
        (CapacityInput { response_bytes: Some(20_480.0), ..rated(10_000.0) }, &[(Name::Bandwidth, 1_638_400_000.0)]),
        // A million connections from 28,232 ports each.
        (
            CapacityInput { connections: Some(1e6), ports: Some(28_232.0), ..given() },
            &[(Name::ClientAddresses, 36.0), (Name::Memory, 4.4e9)],
        ),
        (
            CapacityInput {
                connections: Some(90_000.0),
                connection_bytes: 10_000.0,
                page_views: Some(6_000.0),
                of: minute,
                share: (1.0, 1.0),
                per_machine: Some(20.0),
                ..given()
            },
            &[(Name::PeakRate, 100.0), (Name::AtLoad, 7.0), (Name::ConnectionsEach, 12_858.0), (Name::Memory, 9e8)],
        ),
    ]);
}

#[test]
fn each_line_shows_its_formula() {
    let lines = compute(&CapacityInput { page_views: Some(30e6), per_machine: Some(69.0), ..CapacityInput::default() })
        .expect("lines");
    let formulas: Vec<&str> = lines.iter().map(|line| line.formula.as_str()).collect();
    assert_eq!(
        formulas,
        [
            "30,000,000 × 80 %",
            "86,400 s × 20 %",
            "24,000,000 / 17,280 s",
            "1,388.9/s / 69/s = 20.13",
            "20 × 69/s, 8.89/s too few",
            "1,388.9/s / (21 × 69/s)",
            "21 + 1",
            "1,388.9/s / (69/s × 75 %) = 26.84",
        ]
    );
}

#[test]
fn what_says_nothing_is_refused() {
    let rated = CapacityInput { rate: Some(100.0), ..CapacityInput::default() };
    assert_eq!(compute(&CapacityInput::default()), Err(CapacityError::Nothing));
    assert_eq!(compute(&rated), Err(CapacityError::Nothing));
    let users = CapacityInput { users: Some(10.0), response_s: Some(1.0), ..rated };
    assert_eq!(compute(&users), Err(CapacityError::Impossible));
}

#[test]
fn numbers_are_read_easily() {
    for (value, text) in [
        (1_388.888, "1,388.9"),
        (20.128, "20.13"),
        (69.0, "69"),
        (0.2, "0.2"),
        (0.00125, "0.0013"),
        (24e6, "24,000,000"),
        (-8.5, "-8.5"),
        (1_000.0, "1,000"),
    ] {
        assert_eq!(number(value), text);
    }
}
