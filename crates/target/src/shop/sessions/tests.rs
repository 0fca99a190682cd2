use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn random() -> Random {
    Random::new(7)
}

fn make(sessions: &Sessions, turn: usize, random: &mut Random) -> SessionId {
    sessions.keep(turn, Session::new(random))
}

#[test]
fn keys_are_read_as_they_are_written() {
    let id = SessionId::new(SESSIONS_MAX - 1, u32::MAX);
    assert_eq!((id.place(), id.generation()), (SESSIONS_MAX - 1, u64::from(u32::MAX)));
    let key = Key { session: id, secret: 0x1f };
    assert_eq!(key.to_string().parse(), Ok(key));
    assert_eq!(id.to_string().parse(), Ok(id));
    let long = "0".repeat(33);
    for wrong in
        ["", "1", "0123456789abcde", "0123456789ABCDEF0123456789abcdef", "+123456789abcdef0123456789abcdef", &long]
    {
        assert_eq!(wrong.parse::<Key>(), Err(()), "{wrong}");
    }
    assert_eq!("é123456789abcdeé0123456789abcde".parse::<Key>(), Err(()), "a letter lies across the middle");
}

#[test]
fn sessions_are_bounded() {
    let (sessions, mut random) = (Sessions::with_places(4), random());
    let room = 4 * STRIPES;
    let first: Vec<SessionId> = (0..room).map(|turn| make(&sessions, turn, &mut random)).collect();
    assert!(first.iter().all(|id| sessions.visit(*id, |_| ()).is_some()), "as many as there is room for");
    assert_eq!(sessions.tally().displaced, 0);
    let more: Vec<SessionId> = (0..10 * room).map(|turn| make(&sessions, turn, &mut random)).collect();
    let tally = sessions.tally();
    assert_eq!((tally.made, tally.open(), tally.displaced), (11 * room as u64, room as u64, 10 * room as u64));
    assert!(
        first.iter().all(|id| sessions.visit(*id, |_| ()).is_none()),
        "who lost its place is not taken for another"
    );
    assert!(more[9 * room..].iter().all(|id| sessions.visit(*id, |_| ()).is_some()), "the last are there");
    let names: HashSet<u64> = first.iter().chain(&more).map(|id| id.0).collect();
    assert_eq!(names.len(), 11 * room, "no two have the same name");
}

/// Users that come back keep their sessions, whatever other users do.
#[test]
fn who_was_there_lately_stays() {
    let (sessions, mut random) = (Sessions::with_places(16), random());
    let faithful: Vec<SessionId> = (0..4 * STRIPES).map(|turn| make(&sessions, turn, &mut random)).collect();
    for _ in 0..100 {
        for turn in 0..4 * STRIPES {
            make(&sessions, turn, &mut random);
        }
        let there = faithful.iter().filter(|id| sessions.visit(**id, |session| session.requests += 1).is_some());
        assert_eq!(there.count(), faithful.len());
    }
    assert!(sessions.tally().displaced > 0);
}

#[test]
fn who_leaves_makes_room() {
    let (sessions, mut random) = (Sessions::with_places(1), random());
    for _ in 0..3 {
        let ids: Vec<SessionId> = (0..STRIPES).map(|turn| make(&sessions, turn, &mut random)).collect();
        for id in &ids {
            sessions.end(*id);
            sessions.end(*id);
            assert_eq!(sessions.visit(*id, |_| ()), None);
        }
    }
    let (made, ended) = (3 * STRIPES as u64, 3 * STRIPES as u64);
    assert_eq!(sessions.tally(), SessionTally { made, ended, displaced: 0, requests: None });
}

#[test]
fn names_that_nobody_has_are_unknown() {
    let (sessions, mut random) = (Sessions::default(), random());
    for name in [0, 1, u64::MAX, 1 << PLACE_BITS, (1 << PLACE_BITS) - 1] {
        assert_eq!(sessions.visit(SessionId(name), |_| ()), None, "{name}");
        sessions.end(SessionId(name));
    }
    let id = make(&sessions, 0, &mut random);
    for other in [SessionId(id.0 + 1), SessionId(id.0 + (1 << PLACE_BITS)), SessionId(id.0 | 1 << 63)] {
        assert_eq!(sessions.visit(other, |_| ()), None);
        sessions.end(other);
    }
    assert_eq!(sessions.visit(id, |_| ()), Some(()));
}

#[test]
fn threads_meet_and_nothing_is_lost() {
    let sessions = Sessions::default();
    let shared = make(&sessions, 0, &mut random());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let sessions = &sessions;
            scope.spawn(move || {
                let mut random = Random::for_stream(7, thread as u64);
                for turn in 0..2_000 {
                    let id = make(sessions, turn + thread, &mut random);
                    sessions.visit(id, |session| session.requests += 1).expect("it is there");
                    sessions.visit(shared, |session| session.requests += 1).expect("it is there");
                    if turn % 2 == 0 {
                        sessions.end(id);
                    }
                }
            });
        }
    });
    let expect = SessionTally { made: 8_001, ended: 4_000, displaced: 0, requests: Some((2, 8_001)) };
    assert_eq!(sessions.tally(), expect);
    let (mut open, mut requests) = (0, 0);
    sessions.each(|_, session| (open, requests) = (open + 1, requests + session.requests));
    assert_eq!((open, requests), (4_001, 2 * 4_000 + 8_001));
}

proptest! {
    /// Compared with a list of all sessions ever: open ones are found by their ID, and no others.
    #[test]
    fn places_are_those_of_a_list(acts in proptest::collection::vec((0u8..4, 0usize..40), 1..300)) {
        let (sessions, mut random) = (Sessions::with_places(3), random());
        let mut all: Vec<(SessionId, bool)> = Vec::new();
        for (act, which) in acts {
            match (act, which % all.len().max(1)) {
                // Two stripes, so that they fill up.
                (0 | 1, _) => {
                    let displaced = sessions.tally().displaced;
                    let id = make(&sessions, which % 2, &mut random);
                    if sessions.tally().displaced > displaced {
                        let lost = |(known, is_open): &&mut (SessionId, bool)| *is_open && known.place() == id.place();
                        all.iter_mut().find(lost).expect("somebody lay there").1 = false;
                    }
                    all.push((id, true));
                }
                (2, place) if !all.is_empty() => {
                    sessions.end(all[place].0);
                    all[place].1 = false;
                }
                (_, place) if !all.is_empty() => {
                    prop_assert_eq!(sessions.visit(all[place].0, |_| ()).is_some(), all[place].1);
                }
                _ => {}
            }
            let open = all.iter().filter(|(_, is_open)| *is_open).count();
            prop_assert!(open <= 6);
            prop_assert_eq!(sessions.tally().open(), open as u64);
        }
    }
}
