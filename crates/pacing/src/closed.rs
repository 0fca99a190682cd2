//! The closed model: a fixed number of users, each of which starts again after each iteration until the starts are used
//! up.

use crate::Segment;

/// The share of a closed load that one segment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of users of this segment.
    pub users: u64,
    /// Starts that its users may make together; `None` for no limit.
    pub starts: Option<u64>,
}

/// The share of a segment in `users` users that make `starts` starts in all.
///
/// Starts are assigned to the users round-robin (start `k` to user `k mod users`), so the shares of all segments add up
/// exactly. Users beyond the number of starts do not exist.
pub fn share(users: u64, starts: Option<u64>, segment: &Segment) -> Share {
    let users = starts.map_or(users, |starts| users.min(starts));
    let own_users = segment.count_of_first(users);
    let own_starts = starts.map(|starts| match users {
        0 => 0,
        _ => own_users * (starts / users) + segment.count_of_first(starts % users),
    });
    Share { users: own_users, starts: own_starts }
}
