use super::*;

/// Compared with tables of Student's t, two-sided.
#[test]
fn the_chance_of_a_score_is_that_of_the_tables() {
    for (score, freedom, chance) in [
        (12.706, 1.0, 0.05),
        (4.303, 2.0, 0.05),
        (2.228, 10.0, 0.05),
        (3.169, 10.0, 0.01),
        (2.042, 30.0, 0.05),
        (1.960, 100_000.0, 0.05),
        (0.0, 7.0, 1.0),
    ] {
        let found = beyond(score, freedom);
        assert!((found - chance).abs() < 2e-4, "{score} {freedom}: {found} for {chance}");
    }
}

/// Draws from a seed, uniform in [0, 1).
fn draws(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    })
}

/// Approximately normal draws.
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut all = draws(seed);
    std::iter::repeat_with(move || (0..12).map(|_| all.next().unwrap_or(0.0)).sum::<f64>() - 6.0)
}

/// Of 2,000 equal pairs about one in a hundred is judged different, also where neighbours are correlated.
#[test]
fn equal_series_are_seldom_taken_for_different() {
    for likeness in [0.0, 0.6] {
        let series = |seed: u64| {
            let mut last = 0.0;
            let one = noise(seed).map(move |fresh| {
                last = likeness * last + fresh;
                100.0 + last
            });
            one.skip(50).take(60).collect::<Vec<f64>>()
        };
        let wrong = (0..2_000u64).filter(|pair| {
            let [one, other] = [pair * 2 + 1, pair * 2 + 2].map(|seed| Sample::new(&series(seed)).expect("enough"));
            one.chance(&other) < 0.01
        });
        let wrong = wrong.count();
        assert!(wrong < 60, "{likeness}: {wrong} of 2,000");
    }
}

#[test]
fn what_is_different_is_found() {
    let of = |mean: f64, seed: u64| {
        let values: Vec<f64> = noise(seed).take(40).map(|one| mean + one).collect();
        Sample::new(&values).expect("enough")
    };
    let found = (0..200u64).filter(|pair| of(100.0, pair * 2 + 1).chance(&of(103.0, pair * 2 + 2)) < 0.001).count();
    assert!(found > 190, "{found} of 200");
    assert_eq!(Sample::new(&[1.0, 2.0, 3.0]), None);
    assert_eq!(of(5.0, 1).chance(&of(5.0, 1)), 1.0);
}

/// The smallest visible difference is the one with exactly that probability.
#[test]
fn what_could_be_seen_is_what_is_just_unlikely() {
    let of = |mean: f64, seed: u64| {
        let values: Vec<f64> = noise(seed).take(40).map(|one| mean + one).collect();
        Sample::new(&values).expect("enough")
    };
    for chance in [0.05, 0.01, 0.0017] {
        let (one, other) = (of(100.0, 1), of(100.0, 2));
        let visible = one.visible(&other, chance);
        let at = |difference: f64| one.chance(&Sample { mean: one.mean + difference, ..other });
        assert!((at(visible) - chance).abs() < 1e-6, "{chance}: {}", at(visible));
        assert!(at(visible * 0.9) > chance && at(visible * 1.1) < chance);
    }
    let steady = Sample::new(&[5.0; 20]).expect("enough");
    assert_eq!(steady.visible(&steady, 0.01), 0.0);
}

/// Equal runs give more certainty together; runs that differ among themselves give less than each of them seems to.
#[test]
fn several_runs_are_pooled_with_what_differs_between_them() {
    let run = |mean: f64, seed: u64| noise(seed).take(40).map(|one| mean + one).collect::<Vec<f64>>();
    let visible = |before: &[f64], after: &[f64]| {
        let side = |means: &[f64], from: u64| {
            let runs: Vec<_> = means.iter().zip(from..).map(|(mean, seed)| run(*mean, seed)).collect();
            Sample::from_runs(&runs).expect("enough")
        };
        side(before, 1).visible(&side(after, 50), 0.01)
    };
    let one = visible(&[100.0], &[100.0]);
    let four = visible(&[100.0; 4], &[100.0; 4]);
    assert!(four < one * 0.7, "{one} {four}");
    let apart = visible(&[90.0, 100.0, 110.0, 100.0], &[90.0, 100.0, 110.0, 100.0]);
    assert!(apart > one * 5.0, "{one} {apart}");
    assert_eq!(Sample::from_runs(&[vec![1.0; 3], vec![2.0; 3]]), None);
    let whole = run(100.0, 7);
    assert_eq!(Sample::from_runs(std::slice::from_ref(&whole)), Sample::new(&whole));
    assert_eq!(Sample::from_runs(&[whole.clone(), vec![1.0]]), Sample::new(&whole));
}

/// Of sides of three equal runs each, which differ between runs by as much as within, about one in a hundred is judged
/// different.
#[test]
fn equal_sides_are_seldom_taken_for_different() {
    let wrong = (0..2_000u64).filter(|pair| {
        let side = |side: u64| {
            let seed = pair * 8 + side * 4 + 1;
            let levels: Vec<f64> = noise(seed).take(3).map(|one| 100.0 + one).collect();
            let runs: Vec<Vec<f64>> = levels
                .iter()
                .zip(seed + 1..)
                .map(|(level, seed)| noise(seed).take(40).map(|one| level + one).collect())
                .collect();
            Sample::from_runs(&runs).expect("enough")
        };
        side(0).chance(&side(1)) < 0.01
    });
    let wrong = wrong.count();
    assert!(wrong < 60, "{wrong} of 2,000");
}
