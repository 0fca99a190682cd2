//! Sessions of users, kept in stripes, so that threads of the server seldom meet. What no user shows a cookie or a token for takes no lock.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard};

use pacing::Random;

use super::cart::Cart;

/// Locks over all sessions: a thread waits only for one that looks at a session of the same stripe.
const STRIPES: usize = 64;
/// Sessions that a stripe keeps.
const STRIPE_SESSIONS_MAX: usize = 4_096;
/// Sessions that a server keeps. Beyond it a new one takes the place of one that was not used lately.
pub(crate) const SESSIONS_MAX: usize = STRIPES * STRIPE_SESSIONS_MAX;
/// The longest name of a user.
pub(crate) const USER_BYTES_MAX: usize = 64;
/// What all sessions take at most.
const MEMORY_BYTES_MAX: usize = 128 << 20;
const _: () = core::assert!(
    SESSIONS_MAX * (size_of::<SessionSlot>() + USER_BYTES_MAX + Cart::BYTES_MAX) <= MEMORY_BYTES_MAX,
    "all sessions with long names and full carts stay within the bound"
);

/// Bits of an id that say where its session lies; those above count who lay there before.
const PLACE_BITS: u32 = SESSIONS_MAX.trailing_zeros();
const _: () = core::assert!(SESSIONS_MAX.is_power_of_two() && PLACE_BITS < 32, "places are bits of an id");

/// A session, by name: no other has it as long as the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// What a cookie or a token says: a session, and what only its user was told.
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

/// 16 digits.
pub(crate) fn hex(text: &str) -> Option<u64> {
    let is_plain = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    u64::from_str_radix(text, 16).ok().filter(|_| is_plain)
}

/// What is known of a user.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Behind the id in its cookie.
    pub(crate) cookie: u64,
    /// In its form of login.
    pub(crate) csrf: u64,
    /// Behind the id in its token, once it has one.
    pub(crate) token: Option<u64>,
    /// Empty before the login.
    pub(crate) user: Box<str>,
    pub(crate) cart: Cart,
    pub(crate) order: Option<PaidOrder>,
    /// Requests that came with its cookie or token, and the one that made it.
    pub(crate) requests: u64,
}

impl Session {
    /// With secrets of its own, begun by a request.
    pub(crate) fn new(random: &mut Random) -> Self {
        Self { cookie: random.next_u64(), csrf: random.next_u64(), requests: 1, ..Self::default() }
    }
}

/// What was paid for, and is looked at until it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PaidOrder {
    pub(crate) cents: u64,
    pub(crate) looks: u32,
    /// The look that finds it ready.
    pub(crate) ready_at: u32,
}

/// Where a session lies.
#[derive(Default)]
struct SessionSlot {
    generation: u32,
    /// Since the hand was here last.
    was_used: bool,
    session: Option<Session>,
}

/// What became of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionTally {
    pub(crate) made: u64,
    /// By their users.
    pub(crate) ended: u64,
    /// By others, for want of room.
    pub(crate) displaced: u64,
    /// The fewest and the most requests of those that are open.
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
    /// Goes round, and takes the first that was not used since its last visit.
    hand: usize,
    tally: SessionTally,
}

impl Places {
    /// A place for a new session; whoever lies there is forgotten.
    fn find_room(&mut self, most: usize) -> usize {
        if let Some(place) = self.free.pop() {
            return usize::from(place);
        }
        if self.all.len() < most {
            self.all.push(SessionSlot::default());
            return self.all.len() - 1;
        }
        // Once round, and the one where it began was passed: the walk ends.
        while std::mem::take(&mut self.all[self.hand].was_used) {
            self.hand = (self.hand + 1) % most;
        }
        let found = self.hand;
        self.hand = (found + 1) % most;
        self.tally.displaced += 1;
        found
    }
}

/// On a cache line of its own.
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
    /// Of each stripe.
    places_max: usize,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::with_places(STRIPE_SESSIONS_MAX)
    }
}

impl Sessions {
    /// So many in each stripe at most.
    fn with_places(places_max: usize) -> Self {
        Self { stripes: std::iter::repeat_with(Stripe::default).take(STRIPES).collect(), places_max }
    }

    /// Keeps a new session. `turn` goes over the stripes, so that they fill alike.
    pub(crate) fn keep(&self, turn: usize, session: Session) -> SessionId {
        let stripe = turn % STRIPES;
        let mut places = self.stripes[stripe].lock();
        let index = places.find_room(self.places_max);
        places.tally.made += 1;
        let place = &mut places.all[index];
        place.generation = place.generation.wrapping_add(1);
        // Who never comes back goes before who does.
        (place.was_used, place.session) = (false, Some(session));
        SessionId::new(stripe * STRIPE_SESSIONS_MAX + index, place.generation)
    }

    /// What `look` makes of a session; `None` when there is no such session, or none any more.
    pub(crate) fn visit<T>(&self, id: SessionId, look: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let (stripe, index) = (id.place() / STRIPE_SESSIONS_MAX, id.place() % STRIPE_SESSIONS_MAX);
        let mut places = self.stripes[stripe].lock();
        let place = places.all.get_mut(index).filter(|place| u64::from(place.generation) == id.generation())?;
        let session = place.session.as_mut()?;
        place.was_used = true;
        Some(look(session))
    }

    /// Its user has left.
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

    /// What became of all.
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

    /// Looks at each that is open.
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
