use super::*;
use crate::tally::Bin;

const SPAN: Duration = Duration::from_millis(100);
const STALL: Duration = Duration::from_millis(20);

/// 20 pieces of a tenth of a second with 100 starts each; two of them have a generator stall.
fn stalled() -> OwnEffects {
    let mut own = OwnEffects::default();
    (0..20).for_each(|at| {
        own.piece(&piece(at));
    });
    own
}

fn piece(at: usize) -> TimePiece {
    let is_stalled = at % 10 == 3;
    TimePiece {
        span: SPAN,
        stalled: if is_stalled { STALL } else { Duration::ZERO },
        lag: if is_stalled { STALL } else { Duration::ZERO },
        starts: 100,
        late: if is_stalled { 10 } else { 0 },
        latest: if is_stalled { STALL } else { Duration::ZERO },
        dropped: 0,
        in_flight: if is_stalled { 9 } else { 2 },
    }
}

/// The losses of such a trial, per piece.
fn tally(lost: impl Fn(usize) -> u64) -> Tally {
    let mut tally = Tally::default();
    for at in 0..20 {
        tally.push(Bin { lost: vec![GoalMisses { lost: lost(at), of: 100 }], ..Bin::default() });
    }
    tally
}

const P99: &[(f64, Option<f64>)] = &[(0.01, Some(0.02))];
const P50: &[(f64, Option<f64>)] = &[(0.5, Some(0.02))];
const FAILED: &[(f64, Option<f64>)] = &[(0.01, None)];

fn ending<'a>(goals: &'a [(f64, Option<f64>)], tally: &'a Tally, beyond: &'a [GoalMisses]) -> TrialEnding<'a> {
    TrialEnding { goals, tally, beyond, is_open: true, threads: 1, is_full: false, limit: None }
}

fn beyond(lost: u64) -> [GoalMisses; 1] {
    [GoalMisses { lost, of: 2_000 }]
}

#[test]
fn what_is_met_although_we_stood_still_is_met() {
    let (own, none) = (stalled(), tally(|_| 0));
    assert_eq!(own.fault(&ending(P99, &none, &beyond(0))), None);
    // Whatever the bottleneck was, nothing was lost.
    for limit in [Disturbance::Generator, Disturbance::Users, Disturbance::Link] {
        let nothing = beyond(0);
        let full = TrialEnding { is_full: true, limit: Some(limit), ..ending(P99, &none, &nothing) };
        assert_eq!(own.fault(&full), None, "{limit:?}");
    }
    // Others get room while we are stalled.
    assert_eq!(own.fault(&ending(P50, &none, &beyond(0))), Some(Disturbance::Stalls));
    assert_eq!(OwnEffects::default().fault(&ending(P50, &none, &beyond(0))), None);
}

#[test]
fn users_may_be_helped_by_a_stall() {
    let none = tally(|_| 0);
    let of_users = TrialEnding { is_open: false, ..ending(P99, &none, &[]) };
    // 2 % of the time.
    assert_eq!(stalled().fault(&of_users), Some(Disturbance::Stalls));
    // A third of that for each of three threads.
    assert_eq!(stalled().fault(&TrialEnding { threads: 3, ..of_users }), None);
    assert_eq!(stalled().fault(&TrialEnding { threads: 3, is_full: true, ..of_users }), Some(Disturbance::Generator));
}

#[test]
fn starts_have_to_keep_to_the_plan() {
    let none = tally(|_| 0);
    let dropped = |dropped| {
        let mut own = stalled();
        own.mend(&TimePiece { dropped, ..piece(0) });
        own.fault(&ending(P99, &none, &beyond(0)))
    };
    assert_eq!((dropped(0), dropped(1)), (None, Some(Disturbance::Generator)));
    // Behind for a whole second, or for nine tenths of one.
    for (pieces, fault) in [(9, None), (10, Some(Disturbance::Generator))] {
        let mut own = OwnEffects::default();
        (0..20).for_each(|at| {
            own.piece(&TimePiece { late: if at < pieces { 11 } else { 0 }, ..piece(at) });
        });
        assert_eq!(own.fault(&ending(P99, &none, &beyond(0))), fault, "{pieces}");
    }
}

#[test]
fn what_stalls_may_have_lost_is_unknown() {
    let own = stalled();
    assert_eq!(own.longest(), STALL * 2);
    // 3 % in the pieces with a stall, and right after them.
    let behind = tally(|at| if matches!(at % 10, 3 | 4) { 15 } else { 0 });
    assert_eq!(own.fault(&ending(P99, &behind, &beyond(0))), Some(Disturbance::Stalls));
    let nothing = beyond(0);
    let full = TrialEnding { is_full: true, ..ending(P99, &behind, &nothing) };
    assert_eq!(own.fault(&full), Some(Disturbance::Generator), "a thread had no time left");
    // More than 1 % took longer than the goal and both stalls together.
    assert_eq!(own.fault(&ending(P99, &behind, &beyond(21))), None);
    // No stall was near.
    let elsewhere = tally(|at| if matches!(at % 10, 7 | 8) { 15 } else { 0 });
    assert_eq!(own.fault(&ending(P99, &elsewhere, &beyond(0))), None);
    assert_eq!(own.fault(&ending(FAILED, &behind, &beyond(60))), Some(Disturbance::Stalls), "a failure has no time");
    assert_eq!(own.fault(&ending(FAILED, &elsewhere, &beyond(60))), None);
    // Another bottleneck is reported where it matters.
    let of = |limit, lost| own.fault(&TrialEnding { limit: Some(limit), ..ending(P99, &behind, &beyond(lost)) });
    assert_eq!(of(Disturbance::Link, 0), Some(Disturbance::Link));
    assert_eq!(
        (of(Disturbance::Users, 21), of(Disturbance::Users, 0)),
        (Some(Disturbance::Users), Some(Disturbance::Stalls))
    );
}

/// Pieces after a stall count as affected until no more is in flight than before.
#[test]
fn what_runs_behind_a_stall_is_touched() {
    let mut own = OwnEffects::default();
    let in_flight = [2, 3, 90, 60, 30, 3, 2, 2];
    let touched: Vec<bool> = in_flight
        .iter()
        .enumerate()
        .map(|(at, in_flight)| {
            let stalled = if at == 2 { STALL } else { Duration::ZERO };
            own.piece(&TimePiece { in_flight: *in_flight, stalled, ..piece(0) }).is_touched
        })
        .collect();
    assert_eq!(touched, [false, false, true, true, true, false, false, false]);
}

/// The backlog is the growth of exchanges in flight, of which a stall adds at most what came in it.
#[test]
fn what_piles_up_is_noted() {
    let mut own = OwnEffects::default();
    own.begins(2);
    let marks: Vec<Backlog> = (0..4)
        .map(|at| {
            let mut bin = Bin::default();
            own.piece(&piece(at)).mark(&mut bin);
            assert_eq!(bin.is_touched, at == 3);
            bin.backlog
        })
        .collect();
    let none = Backlog { starts: 100.0, grown: 0.0, ours: 0.0, is_first: false };
    // Nine in flight, and two before; a fifth of the piece was a stall.
    let stalled = Backlog { grown: 7.0, ours: 20.0, ..none };
    assert_eq!(marks, [Backlog { is_first: true, ..none }, none, none, stalled]);
}
