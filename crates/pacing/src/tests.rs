use proptest::prelude::*;

use super::*;

#[test]
fn seven_users_and_two_hundred_starts() {
    let shares = [0, 1].map(|index| closed::share(7, Some(200), &Segment::share(index, 2)));
    assert_eq!(shares[0], closed::Share { users: 4, starts: Some(4 * 28 + 2) });
    assert_eq!(shares[1], closed::Share { users: 3, starts: Some(3 * 28 + 2) });
}

#[test]
fn no_users_without_starts() {
    assert_eq!(closed::share(50, Some(3), &Segment::WHOLE), closed::Share { users: 3, starts: Some(3) });
    assert_eq!(closed::share(50, None, &Segment::WHOLE), closed::Share { users: 50, starts: None });
}

proptest! {
    #[test]
    fn shares_add_up(users in 1u64..20_000, starts in 0u64..1_000_000_000, shards in 1u32..=64) {
        let shares: Vec<_> = (0..shards).map(|index| closed::share(users, Some(starts), &Segment::share(index, shards))).collect();
        prop_assert_eq!(shares.iter().map(|share| share.users).sum::<u64>(), users.min(starts));
        prop_assert_eq!(shares.iter().filter_map(|share| share.starts).sum::<u64>(), starts);
        // A user without a start, or a start without a user, would never end.
        prop_assert!(shares.iter().all(|share| (share.users == 0) == (share.starts == Some(0))));
    }

    #[test]
    fn segments_tile_the_slots(count in 0u64..100_000, shards in 1u32..=SLOT_COUNT) {
        let sum: u64 = (0..shards).map(|index| Segment::share(index, shards).count_of_first(count)).sum();
        prop_assert_eq!(sum, count);
    }

    #[test]
    fn items_have_their_numbers(index in 0u64..50_000, shards in 1u32..=SLOT_COUNT, share in 0u32..SLOT_COUNT) {
        let segment = Segment::share(share % shards, shards);
        let number = segment.nth(index);
        let slot = (number % u64::from(SLOT_COUNT)) as u16;
        prop_assert!(segment.slots().any(|own| own == slot));
        prop_assert_eq!((segment.count_of_first(number), segment.count_of_first(number + 1)), (index, index + 1));
    }
}
