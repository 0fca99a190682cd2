use super::*;

fn scene(stretches: usize) -> WireScenarioOutcome {
    let each = (0..stretches as u64).map(|index| Slice {
        ended: 10 * index,
        succeeded: 9 * index,
        refused: index % 2,
        in_flight: 40,
        stalled: index % 3,
    });
    let mut first_times = Distribution::default();
    [5, 5, 9].into_iter().for_each(|ms| first_times.record(ms * 1_000_000));
    WireScenarioOutcome {
        left: 0,
        stopped_at: Nanos(7),
        backlog: Some((3, 4)),
        spent: Some(BudgetPart::ALL[0]),
        slices: Slices { width: Nanos(12_500_000), each: each.collect() },
        first_times,
    }
}

fn end(scenarios: Vec<WireScenarioOutcome>) -> PartEnd {
    let (shards, used_up, met) = (Vec::new(), Vec::new(), Vec::new());
    PartEnd { wall: Nanos(9), scenarios, shards, cpu: CpuTime::default(), used_up, met }
}

#[test]
fn how_a_part_ended_comes_back_as_it_was() {
    for scenarios in [vec![], vec![scene(320)], vec![scene(0), WireScenarioOutcome::default(), scene(SLICES_KEPT_MAX)]]
    {
        let bytes = end_to_bytes(&end(scenarios.clone()));
        assert_eq!(end_of_bytes(&bytes).map(|end| end.scenarios), Some(scenarios));
        assert!(end_of_bytes(&bytes[..bytes.len() - 1]).is_none());
    }
}

/// The end goes in one message: with very many scenarios the slices are left out, and all else is sent.
#[test]
fn stretches_of_many_scenarios_are_left_out() {
    let bytes = end_to_bytes(&end(vec![scene(SLICES_KEPT_MAX); 16]));
    assert!(bytes.len() < 48 * 1024, "{}", bytes.len());
    let reported = end_of_bytes(&bytes).expect("an end").scenarios;
    assert_eq!(reported, vec![WireScenarioOutcome { slices: Slices::default(), ..scene(0) }; 16]);
    // The most slices are far from the size limit of a message.
    let bytes = end_to_bytes(&end(vec![scene(SLICES_KEPT_MAX); SLICES_REPORTED_MAX / SLICES_KEPT_MAX]));
    assert!(bytes.len() < 400 * 1024, "{}", bytes.len());
    let reported = end_of_bytes(&bytes).expect("an end").scenarios;
    assert_eq!(reported, vec![scene(SLICES_KEPT_MAX); 15]);
}

/// Numbers that no load can have are refused as foreign.
#[test]
fn stretches_that_cannot_be_are_refused() {
    let one = (1, 1, 0, 1, 0);
    assert!(slices_of(Nanos(5), vec![one; SLICES_KEPT_MAX]).is_some() && slices_of(Nanos::ZERO, vec![]).is_some());
    assert!(slices_of(Nanos(5), vec![one; SLICES_KEPT_MAX + 1]).is_none());
    assert!(slices_of(Nanos::ZERO, vec![one]).is_none());
    assert!(slices_of(Nanos(u64::MAX), vec![one]).is_none());
    assert!(slices_of(Nanos(1 << 52), vec![one; SLICES_KEPT_MAX]).is_none());
    for place in 0..5 {
        let mut counts = [0; 5];
        counts[place] = SLICE_COUNT_MAX + 1;
        let [ended, succeeded, refused, in_flight, stalled] = counts;
        assert!(slices_of(Nanos(5), vec![(ended, succeeded, refused, in_flight, stalled)]).is_none(), "{place}");
    }
}
