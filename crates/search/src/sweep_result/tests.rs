use super::*;
use crate::Vary;

fn run(place: usize, rate: f64, p99_ns: u64) -> SweptRun {
    SweptRun {
        place,
        round: 1,
        rate,
        p50_ns: Some(p99_ns / 2),
        p99_ns: Some(p99_ns),
        is_affected: [false; 2],
        failed_share: 0.0,
        limit: "target",
        is_unreliable: false,
        kept_as: None,
    }
}

fn grid(text: &str) -> Grid {
    Grid::new(vec![Vary::parse(text).expect("it varies")], 1).expect("a grid")
}

/// An incomparable cell is left out, and reported if it looks better.
#[test]
fn nothing_is_left_out_in_silence() {
    let grid = grid("connections=1,2,3,4");
    let mut runs = vec![run(0, 100.0, 4_000), run(1, 200.0, 2_000), run(2, 300.0, 1_000), run(3, 50.0, 9_000)];
    runs[2].is_affected = [false, true];
    let places = |runs: &[SweptRun], by| {
        let cells = cells(&grid, runs);
        let best = best(&cells, by);
        (best, left_out(&cells, best, by))
    };
    // A stall that affects p99 has no effect on the rate or the median.
    assert_eq!(places(&runs, BestBy::Rate), (Some(2), vec![]));
    assert_eq!(places(&runs, BestBy::P50), (Some(2), vec![]));
    assert_eq!(places(&runs, BestBy::P99), (Some(1), vec![2]));
    let cells = cells(&grid, &runs);
    assert!(!is_clear(&cells, 1, BestBy::P99));
    runs[2].is_unreliable = true;
    runs[3].is_unreliable = true;
    // The slow one would not be the best in any case.
    assert_eq!(places(&runs, BestBy::Rate), (Some(1), vec![2]));
    runs.iter_mut().for_each(|run| run.is_unreliable = true);
    assert_eq!(places(&runs, BestBy::Rate), (None, vec![0, 1, 2, 3]));
}

/// The first number from which on the rate is the same to the last.
#[test]
fn a_plateau_is_where_more_gives_the_same() {
    let of = |text: &str, rates: &[f64]| {
        let grid = grid(text);
        let runs: Vec<_> = rates.iter().enumerate().map(|(place, rate)| run(place, *rate, 1_000)).collect();
        plateau(&grid, &cells(&grid, &runs)).map(|plateau| (plateau.from, plateau.least, plateau.most))
    };
    assert_eq!(of("connections=4,16,100,400", &[100.0, 196.0, 204.0, 200.0]), Some((1, 196.0, 204.0)));
    assert_eq!(of("connections=4,16,100,400", &[200.0, 200.0, 200.0, 200.0]), Some((0, 200.0, 200.0)));
    // By their numbers, however they are written.
    assert_eq!(of("connections=400,4,16", &[200.0, 100.0, 201.0]), Some((2, 200.0, 201.0)));
    assert_eq!(of("connections=1,2,4", &[100.0, 200.0, 400.0]), None);
    // It falls again: no plateau.
    assert_eq!(of("connections=1,2,4", &[100.0, 200.0, 150.0]), None);
    assert_eq!(of("keepalive=on,off", &[100.0, 100.0]), None);
    let two = Grid::new(["a=1,2", "b=1,2"].map(|text| Vary::parse(text).expect("it varies")).to_vec(), 1);
    assert_eq!(plateau(&two.expect("a grid"), &[]), None);
    // A limit of onrush is no plateau of the target, nor are failures.
    let grid = grid("connections=1,2,4");
    let mut runs = vec![run(0, 100.0, 1), run(1, 200.0, 1), run(2, 200.0, 1)];
    runs[2].is_unreliable = true;
    assert_eq!(plateau(&grid, &cells(&grid, &runs)), None);
    runs[2] = SweptRun { failed_share: 0.5, ..run(2, 200.0, 1) };
    assert_eq!(plateau(&grid, &cells(&grid, &runs)), None);
    // Runs of one cell that are as far apart as the cells are noise.
    let runs = vec![
        run(0, 150.0, 1),
        run(0, 250.0, 1),
        run(1, 220.0, 1),
        run(1, 260.0, 1),
        run(2, 190.0, 1),
        run(2, 270.0, 1),
    ];
    assert_eq!(plateau(&grid, &cells(&grid, &runs)).map(|plateau| plateau.from), Some(0));
}
