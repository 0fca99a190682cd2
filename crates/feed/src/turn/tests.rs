use std::collections::HashSet;

use super::*;
use crate::Format;

fn spec(pick: Pick, share: Share, at_end: AtEnd) -> Spec {
    Spec { pick, share, at_end, ..Spec::new("rows.csv", Format::Json) }
}

fn number(place: RowPosition) -> Option<u64> {
    match place {
        RowPosition::Row { number, .. } => Some(number),
        RowPosition::End => None,
    }
}

#[test]
fn an_open_load_takes_row_after_row() {
    let spec = spec(Pick::Next, Share::Split, AtEnd::Again);
    for iteration in 0..1_000 {
        let place = RowPosition::new(&spec, 7, RowTurn::Open { iteration, user: 0 }, 1);
        assert_eq!(place, RowPosition::Row { number: iteration % 7, round: iteration / 7 });
    }
}

#[test]
fn users_of_a_closed_load_share_the_rows_whatever_shard_they_are_on() {
    let (rows, users) = (1_001, 50);
    for pick in [Pick::Next, Pick::Random] {
        for share in [Share::Split, Share::Unique] {
            let spec = spec(pick, share, AtEnd::Stop);
            if !spec.has_end() {
                continue;
            }
            let mut taken = vec![0; rows as usize];
            for shard in 0..7 {
                for user in (shard..users).step_by(7) {
                    let turns = (0..).map(|iteration| RowTurn::Closed { user, users, iteration });
                    for place in turns.map_while(|turn| number(RowPosition::new(&spec, rows, turn, 3))) {
                        taken[place as usize] += 1;
                    }
                }
            }
            assert!(taken.iter().all(|count| *count == 1), "{pick:?} {share:?}");
        }
    }
}

#[test]
fn each_user_has_all_rows_with_copy() {
    for pick in [Pick::Next, Pick::Random] {
        let spec = spec(pick, Share::Copy, AtEnd::Stop);
        let mut orders = HashSet::new();
        for user in 0..20 {
            let turns = (0..).map(|iteration| RowTurn::Closed { user, users: 20, iteration });
            let order: Vec<u64> = turns.map_while(|turn| number(RowPosition::new(&spec, 30, turn, 3))).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..30).collect::<Vec<_>>());
            orders.insert(order);
        }
        assert_eq!(orders.len(), if pick == Pick::Next { 1 } else { 20 });
    }
}

#[test]
fn a_shuffled_order_has_each_row_once_in_each_round_and_another_order_in_the_next() {
    for rows in [1, 2, 3, 5, 16, 17, 1_000, 65_537] {
        let spec = spec(Pick::Random, Share::Unique, AtEnd::Again);
        let round = |of: u64| -> Vec<u64> {
            let turns = (of * rows..(of + 1) * rows).map(|iteration| RowTurn::Open { iteration, user: 0 });
            let places = turns.map(|turn| RowPosition::new(&spec, rows, turn, 9));
            places
                .map(|place| {
                    matches!(place, RowPosition::Row { round, .. } if round == of).then(|| number(place)).flatten()
                })
                .map(|number| number.expect("a row of this round"))
                .collect()
        };
        let (first, second) = (round(0), round(1));
        for order in [&first, &second] {
            assert_eq!(order.iter().collect::<HashSet<_>>().len() as u64, rows);
            assert!(order.iter().all(|number| *number < rows));
        }
        assert!(rows < 16 || first != second);
        assert_eq!(first, round(0), "the same again for the same seed");
    }
}

/// Over many seeds each row is first about equally often: chi-square of 9 degrees of freedom, whose 99.99 % quantile is
/// 33.7.
#[test]
fn no_row_is_preferred() {
    for share in [Share::Unique, Share::Split] {
        let spec = spec(Pick::Random, share, AtEnd::Again);
        for turn in [RowTurn::Open { iteration: 0, user: 0 }, RowTurn::Open { iteration: 8, user: 0 }] {
            let mut counts = [0_f64; 10];
            for seed in 0..100_000 {
                counts[number(RowPosition::new(&spec, 10, turn, seed)).expect("a row") as usize] += 1.0;
            }
            let chi_square: f64 = counts.iter().map(|count| (count - 10_000.0).powi(2) / 10_000.0).sum();
            assert!(chi_square < 33.7, "{share:?} {turn:?} {chi_square} {counts:?}");
        }
    }
}

#[test]
fn draws_from_all_rows_are_independent_and_have_no_end() {
    let spec = spec(Pick::Random, Share::Split, AtEnd::Stop);
    assert!(!spec.has_end());
    let mut counts = [0_f64; 100];
    for iteration in 0..100_000 {
        // Pairs of successive draws of ten rows: 99 degrees of freedom, whose 99.99 % quantile is 161.3.
        let [one, two] = [0, 1].map(|second| RowTurn::Closed { user: 3, users: 7, iteration: 2 * iteration + second });
        let [one, two] = [one, two].map(|turn| number(RowPosition::new(&spec, 10, turn, 5)).expect("a row"));
        counts[(one * 10 + two) as usize] += 1.0;
    }
    let chi_square: f64 = counts.iter().map(|count| (count - 1_000.0).powi(2) / 1_000.0).sum();
    assert!(chi_square < 161.3, "{chi_square}");
}

#[test]
fn the_largest_numbers_are_no_trouble() {
    for share in [Share::Split, Share::Copy, Share::Unique] {
        for pick in [Pick::Next, Pick::Random] {
            let spec = spec(pick, share, AtEnd::Again);
            let turn = RowTurn::Closed { user: u64::MAX, users: u64::MAX, iteration: u64::MAX };
            for rows in [1, 2, u64::MAX] {
                assert!(number(RowPosition::new(&spec, rows, turn, u64::MAX)).expect("a row") < rows);
            }
        }
    }
}

#[test]
fn a_user_has_the_row_of_its_number() {
    let spec = |at_end| Spec { pick: Pick::ByUser, at_end, ..Spec::new("a.csv", crate::Format::Json) };
    for iteration in 0..5 {
        for user in 0..7 {
            let turn = RowTurn::Closed { user, users: 7, iteration };
            let again = RowPosition::new(&spec(AtEnd::Again), 3, turn, 9);
            assert_eq!(again, RowPosition::Row { number: user % 3, round: user / 3 });
            let stop = RowPosition::new(&spec(AtEnd::Stop), 3, turn, 9);
            assert_eq!(stop == RowPosition::End, user >= 3, "{user} {iteration}");
        }
    }
}
