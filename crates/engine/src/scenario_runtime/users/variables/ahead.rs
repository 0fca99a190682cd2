//! Rows read ahead from files that are too large for memory. The row of an iteration is
//! computed, so that of a start that is not due yet is known.

use feed::RowTurn;

use crate::scenario_runtime::ScenarioRuntime;

/// Starts of a shard whose rows are read ahead: at 10,000 a second those of 25 ms. Of large rows fewer are kept, and read ahead.
const AHEAD: u64 = 256;

/// Progress of reading ahead for one feed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// Its index among those of the shard.
    pub(super) feed: u16,
    /// The first start whose row is not ordered.
    next: u64,
}

impl Ahead {
    pub(super) fn new(feed: u16) -> Self {
        Self { feed, next: 0 }
    }

    /// A start is taken, by its number among those of this shard: orders the rows of at most N starts behind it. `order` says
    /// whether there was room; what found none is ordered later, or when it is due.
    pub(super) fn order(&mut self, taken: u64, most: u64, mut order: impl FnMut(u64) -> bool) {
        self.next = self.next.max(taken);
        while self.next <= taken + most.min(AHEAD) && order(self.next) {
            self.next += 1;
        }
    }
}

/// Iterations of each user of a closed load whose rows are read ahead: all users together have at most as many as the starts of a rate,
/// or `most`; where that is less than one for each, the first users have one.
fn iterations_ahead(user: u64, users: u64, most: u64) -> u64 {
    let most = most.min(AHEAD);
    (most / users.max(1)).max(u64::from(user < most))
}

impl ScenarioRuntime {
    /// Orders the rows of the starts of a rate after this one, by its number among those of this shard.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn order_rows_of_starts(&mut self, taken: u64) {
        let (segment, rows) = (&self.work.segment, &mut self.users.states.rows);
        for place in 0..rows.ahead.len() {
            let mut ahead = rows.ahead[place];
            let feed = ahead.feed;
            ahead.order(taken, rows.ahead_max(feed), |number| {
                rows.hurry(feed, RowTurn::Open { iteration: segment.nth(number), user: 0 })
            });
            rows.ahead[place] = ahead;
        }
    }

    /// Orders the rows of the next iterations of a user of a closed load, after those that it has begun.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn order_rows_of_user(&mut self, user: u32, begun: u64) {
        for place in 0..self.users.states.rows.ahead.len() {
            let feed = self.users.states.rows.ahead[place].feed;
            let most = self.users.states.rows.ahead_max(feed);
            let each = iterations_ahead(user.into(), self.work.share.users, most);
            // Those before the last of them were ordered when earlier iterations began.
            let first = if begun <= 1 { begun } else { (begun + each).saturating_sub(1) };
            for iteration in first..begun + each {
                let turn = self.turn_of(user, iteration);
                self.users.states.rows.hurry(feed, turn);
            }
        }
    }

    /// Orders the rows that are needed first.
    pub(in crate::scenario_runtime) fn order_first_rows(&mut self) {
        if !self.users.states.rows.reads_ahead() {
            return;
        }
        if self.users.open.is_some() {
            return self.order_rows_of_starts(self.work.segment.count_of_first(self.work.first_number));
        }
        for user in 0..self.work.share.users.min(AHEAD) {
            self.order_rows_of_user(user as u32, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each is ordered once, and long before it is due.
    #[test]
    fn rows_are_ordered_before_their_starts() {
        let (mut ahead, mut ordered) = (Ahead::new(3), Vec::new());
        for taken in 0..5_000 {
            ahead.order(taken, u64::MAX, |number| {
                ordered.push(number);
                true
            });
            assert_eq!(ordered.last(), Some(&(taken + AHEAD)), "{taken}");
        }
        assert!(ordered.iter().copied().eq(0..5_000 + AHEAD), "once, and in order");
    }

    /// No more than the reader keeps for all of them.
    #[test]
    fn few_large_rows_are_ordered() {
        let (mut ahead, mut last) = (Ahead::new(0), 0);
        for taken in 0..1_000 {
            ahead.order(taken, 48, |number| {
                last = number;
                true
            });
            assert_eq!(last, taken + 48);
        }
        for (users, most) in [(1, 48), (7, 48), (48, 48), (49, 48), (5_000, 48), (1, u64::MAX), (300, u64::MAX), (3, 3)]
        {
            let all: u64 = (0..users).map(|user| iterations_ahead(user, users, most)).sum();
            let bound = most.min(AHEAD);
            assert!(all <= bound && all > bound / 2, "{users} users have {all} of {bound}");
        }
    }

    /// What finds no room is tried again, and what is due meanwhile is no more.
    #[test]
    fn what_found_no_room_is_ordered_later() {
        let (mut ahead, mut room, mut ordered) = (Ahead::new(0), 10, Vec::new());
        let mut take = |taken, more: u64| {
            room += more;
            ahead.order(taken, u64::MAX, |number| {
                let has_room = room > 0;
                if has_room {
                    room -= 1;
                    ordered.push(number);
                }
                has_room
            });
            ordered.clone()
        };
        assert_eq!(take(0, 0), (0..10).collect::<Vec<_>>());
        assert_eq!(take(1, 0).len(), 10);
        assert_eq!(take(2, 5), (0..15).collect::<Vec<_>>());
        // Slots that others had: numbers are skipped.
        assert_eq!(take(1_000, 3)[15..], [1_000, 1_001, 1_002]);
    }
}
