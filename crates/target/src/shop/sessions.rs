//! Sessions of users, in lock stripes, so that threads of the server rarely contend. Requests without a cookie or a
//! token take no lock.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard};

use pacing::{Nanos, Random};

use super::cart::Cart;
use super::limited::RateLimit;

/// Number of locks over all sessions: a thread waits only for one that accesses a session of the same stripe.
const STRIPES: usize = 64;
/// Maximum number of sessions per stripe.
const STRIPE_SESSIONS_MAX: usize = 4_096;
/// Maximum number of sessions of a server. Beyond it a new one displaces one that was not used lately.
pub(crate) const SESSIONS_MAX: usize = STRIPES * STRIPE_SESSIONS_MAX;
/// Maximum length of a user name.
pub(crate) const USER_BYTES_MAX: usize = 64;
/// Maximum memory of all sessions.
const MEMORY_BYTES_MAX: usize = 128 << 20;
const _: () = core::assert!(
    SESSIONS_MAX * (size_of::<SessionSlot>() + USER_BYTES_MAX + Cart::BYTES_MAX) <= MEMORY_BYTES_MAX,
    "all sessions with long names and full carts stay within the bound"
);

/// Bits of an ID that are the position of its session; those above are its generation, the number of earlier sessions
/// there.
const PLACE_BITS: u32 = SESSIONS_MAX.trailing_zeros();
const _: () = core::assert!(SESSIONS_MAX.is_power_of_two() && PLACE_BITS < 32, "places are bits of an id");

/// The ID of a session: unique as long as the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SessionId(u64);

impl SessionId {
    fn new(place: usize, generation: u32) -> Self {
        Self((u64::from(generation) << PLACE_BITS) | place as u64)
    }

    fn place(self) -> usize {
        (self.0 & ((1 << PLACE_BITS) - 1)) as usize
    }

    fn generation(self) -> u64 {
        self.0 >> PLACE_BITS
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

impl FromStr for SessionId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        hex(text).map(Self).ok_or(())
    }
}

/// The content of a cookie or a token: a session ID, and a secret that only its user knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) session: SessionId,
    pub(crate) secret: u64,
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{:016x}", self.session, self.secret)
    }
}

impl FromStr for Key {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (session, secret) = text.split_at_checked(16).ok_or(())?;
        Ok(Self { session: session.parse()?, secret: hex(secret).ok_or(())? })
    }
}

/// A number of 16 hexadecimal digits.
pub(crate) fn hex(text: &str) -> Option<u64> {
    let is_plain = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    u64::from_str_radix(text, 16).ok().filter(|_| is_plain)
}

/// The state of a user's session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The secret of its cookie.
    pub(crate) cookie: u64,
    /// The secret of its login form.
    pub(crate) csrf: u64,
    /// The secret of its token, once it has one.
    pub(crate) token: Option<u64>,
    /// The instant from which its token does not hold any more.
    pub(crate) token_until: Nanos,
    /// The limit of its requests.
    pub(crate) limit: RateLimit,
    /// The user name; empty before the login.
    pub(crate) user: Box<str>,
    pub(crate) cart: Cart,
    pub(crate) order: Option<PaidOrder>,
    /// Number of requests with its cookie or token, including the one that created it.
    pub(crate) requests: u64,
}

impl Session {
    /// A session with secrets of its own, begun by a request.
    pub(crate) fn new(random: &mut Random) -> Self {
        Self { cookie: random.next_u64(), csrf: random.next_u64(), requests: 1, ..Self::default() }
    }

    /// The secret of its token, while that holds.
    pub(crate) fn token_at(&self, now: Nanos) -> Option<u64> {
        self.token.filter(|_| now < self.token_until)
    }
}

/// A paid order, which is polled until it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PaidOrder {
    pub(crate) cents: u64,
    pub(crate) looks: u32,
    /// The number of the poll that finds it ready.
    pub(crate) ready_at: u32,
}

/// The slot of a session.
#[derive(Default)]
struct SessionSlot {
    generation: u32,
    /// Whether it was used since the clock hand passed.
    was_used: bool,
    session: Option<Session>,
}

/// Counters of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionTally {
    pub(crate) made: u64,
    /// Sessions ended by their users.
    pub(crate) ended: u64,
    /// Sessions displaced by new ones, for lack of room.
    pub(crate) displaced: u64,
    /// Minimum and maximum number of requests of the open sessions.
    pub(crate) requests: Option<(u64, u64)>,
}

impl SessionTally {
    pub(crate) fn open(&self) -> u64 {
        self.made - self.ended - self.displaced
    }
}

#[derive(Default)]
struct Places {
    all: Vec<SessionSlot>,
    free: Vec<u16>,
    /// The clock hand: it goes round, and stops at the first session that was not used since its last visit.
    hand: usize,
    tally: SessionTally,
}

impl Places {
    /// A slot for a new session; the session in it is dropped.
    fn find_room(&mut self, most: usize) -> usize {
        if let Some(place) = self.free.pop() {
            return usize::from(place);
        }
        if self.all.len() < most {
            self.all.push(SessionSlot::default());
            return self.all.len() - 1;
        }
        // After one round all marks are cleared, so the walk ends.
        while std::mem::take(&mut self.all[self.hand].was_used) {
            self.hand = (self.hand + 1) % most;
        }
        let found = self.hand;
        self.hand = (found + 1) % most;
        self.tally.displaced += 1;
        found
    }
}

/// A stripe, on a cache line of its own.
#[repr(align(128))]
#[derive(Default)]
struct Stripe(Mutex<Places>);

impl Stripe {
    fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.lock().expect("no holder of the lock panics")
    }
}

/// The sessions of a server.
pub(crate) struct Sessions {
    stripes: Box<[Stripe]>,
    /// Maximum number of sessions per stripe.
    places_max: usize,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::with_places(STRIPE_SESSIONS_MAX)
    }
}

impl Sessions {
    /// With this maximum per stripe.
    fn with_places(places_max: usize) -> Self {
        Self { stripes: std::iter::repeat_with(Stripe::default).take(STRIPES).collect(), places_max }
    }

    /// Stores a new session. `turn` selects the stripe, so that they fill evenly.
    pub(crate) fn keep(&self, turn: usize, session: Session) -> SessionId {
        let stripe = turn % STRIPES;
        let mut places = self.stripes[stripe].lock();
        let index = places.find_room(self.places_max);
        places.tally.made += 1;
        let place = &mut places.all[index];
        place.generation = place.generation.wrapping_add(1);
        // Sessions that are never used again are displaced before those that are.
        (place.was_used, place.session) = (false, Some(session));
        SessionId::new(stripe * STRIPE_SESSIONS_MAX + index, place.generation)
    }

    /// The result of `look` for a session; `None` when there is no such session, or no longer.
    pub(crate) fn visit<T>(&self, id: SessionId, look: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let (stripe, index) = (id.place() / STRIPE_SESSIONS_MAX, id.place() % STRIPE_SESSIONS_MAX);
        let mut places = self.stripes[stripe].lock();
        let place = places.all.get_mut(index).filter(|place| u64::from(place.generation) == id.generation())?;
        let session = place.session.as_mut()?;
        place.was_used = true;
        Some(look(session))
    }

    /// Ends a session, because its user has left.
    pub(crate) fn end(&self, id: SessionId) {
        let (stripe, index) = (id.place() / STRIPE_SESSIONS_MAX, id.place() % STRIPE_SESSIONS_MAX);
        let mut places = self.stripes[stripe].lock();
        let Some(place) = places.all.get_mut(index) else { return };
        if u64::from(place.generation) == id.generation() && place.session.take().is_some() {
            place.was_used = false;
            places.free.push(index as u16);
            places.tally.ended += 1;
        }
    }

    /// Counters of all stripes together.
    pub(crate) fn tally(&self) -> SessionTally {
        let mut sum = SessionTally::default();
        for stripe in &self.stripes {
            let places = stripe.lock();
            sum.made += places.tally.made;
            sum.ended += places.tally.ended;
            sum.displaced += places.tally.displaced;
            for session in places.all.iter().filter_map(|place| place.session.as_ref()) {
                let (least, most) = sum.requests.unwrap_or((u64::MAX, 0));
                sum.requests = Some((least.min(session.requests), most.max(session.requests)));
            }
        }
        sum
    }

    /// Calls `see` for each open session.
    pub(crate) fn each(&self, mut see: impl FnMut(SessionId, &Session)) {
        for (stripe, places) in self.stripes.iter().enumerate() {
            for (index, place) in places.lock().all.iter().enumerate() {
                if let Some(session) = &place.session {
                    see(SessionId::new(stripe * STRIPE_SESSIONS_MAX + index, place.generation), session);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
