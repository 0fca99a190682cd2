use metrics::{Snapshot, Threshold};
use search::{Grid, Vary};

/// Any words as the parameters of a sweep: distinct cells, or an error.
pub fn sweep(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    // The same words as a goal: a share out of zero is undefined.
    if let Ok(goal) = Threshold::parse(input) {
        let lost = goal.lost(&Snapshot::default());
        assert_eq!((lost.lost, lost.share()), (0, 0.0));
        assert!(goal.lost_share_max().is_none_or(|share| (0.0..1.0).contains(&share)));
    }
    match Vary::parse(input) {
        Ok(vary) => {
            assert!(!vary.name.is_empty() && vary.values.iter().all(|value| !value.is_empty()));
            if let Ok(grid) = Grid::new(vec![vary], 2) {
                let mut places: Vec<usize> = grid.order(1).into_iter().map(|cell| cell.place).collect();
                places.sort_unstable();
                let twice: Vec<usize> = (0..grid.cells()).flat_map(|place| [place, place]).collect();
                assert_eq!(places, twice);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
