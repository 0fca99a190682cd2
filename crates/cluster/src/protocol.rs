//! The protocol of leader and workers, as bytes that both decode. A message may come from anyone with access to the
//! bus: impossible content is refused.

mod checkpoint;
mod news;
mod stamp;
mod state;

use pacing::Nanos;
use pacing::change::Change;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bus::Bytes;
pub(crate) use checkpoint::Mark;
pub use checkpoint::{Checkpoint, Draft, Sum};
pub use news::{Batch, News, Row};
pub(crate) use stamp::{Stamp, Stamped};

/// The protocol version: leader and workers must have the same.
pub const PROTOCOL: u32 = 11;
/// The most members of a run: each has at least one slot, and some come back.
pub const MEMBERS_MAX: usize = 16_384;
/// The most slot grants of one run.
pub const SLOT_GRANTS_MAX: usize = 256;
/// The longest name of a worker.
pub const NAME_CHARS_MAX: usize = 100;

/// The id of a worker: random at start.
pub type WorkerId = u64;

/// The hello of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its id. This, its name and its versions are also in the stamp before the message.
    #[serde(skip)]
    pub id: WorkerId,
    /// Its incarnation: a worker that was declared lost begins another.
    pub incarnation: u32,
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// Its protocol version.
    #[serde(skip)]
    pub protocol: u32,
    /// Its version of onrush.
    #[serde(skip)]
    pub version: String,
    /// Its capacity relative to others: its number of threads.
    pub weight: u32,
    /// The run that it takes part in; 0 for none.
    pub run: u64,
    /// Time since the start of that run when this was sent; `None` before the start.
    pub run_now: Option<Nanos>,
    /// The revision of the state that it knows.
    pub revision: u64,
    /// Its standing in a run.
    pub standing: Option<Standing>,
    /// Whether the bus does not take its reports.
    pub has_no_room: bool,
}

impl Hello {
    /// The hello of a worker that knows of no run yet.
    pub fn new(id: WorkerId, name: String, version: String, weight: u32) -> Self {
        Self {
            id,
            incarnation: 0,
            name,
            protocol: PROTOCOL,
            version,
            weight,
            run: 0,
            run_now: None,
            revision: 0,
            standing: None,
            has_no_room: false,
        }
    }
}

/// A request of a worker to the leader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Whether it may go on.
    Hello(Hello),
    /// The time.
    Time,
}

/// The response of the leader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The epoch of the leader.
    pub epoch: u64,
    /// Its clock.
    pub now: Nanos,
    /// The revision of the state: a worker with an older one reads it.
    pub revision: u64,
    /// Whether the worker may go on for the time of a lease, from when it sent its hello; `None`: it requested the
    /// time.
    pub goes_on: Option<bool>,
    /// The number of workers: with very many, each sends less often.
    pub workers: u32,
    /// The state, if the worker knew an older one: as much of it as it needs.
    pub state: Option<State>,
}

/// The leader's lease, as stored under its key. A candidate that has not seen it change for a while may take it over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Grows with each leader.
    pub epoch: u64,
    /// The id of the leader.
    pub who: u64,
    /// Grows with each renewal.
    pub beat: u64,
    /// The last revision of the state that is known to be written in this epoch; 0 for none.
    pub written: u64,
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// There is no run.
    Idle,
    /// Its members get ready.
    Preparing,
    /// It starts at its instant, or goes on.
    Running,
    /// It is over.
    Done,
    /// There will be no other run: workers may leave.
    Closed,
}

/// The intent for all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RunIntent {
    /// They follow the plan.
    Run,
    /// They start nothing more.
    Stop,
    /// They end at once.
    Abort,
}

/// A participant of a run. Its index in the list is its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    /// The id of the worker.
    pub id: WorkerId,
    /// Its incarnation.
    pub incarnation: u32,
}

/// A slot grant: slots change hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotGrant {
    /// The instant from which it holds, counted from the beginning of the measured load; `None`: from the start,
    /// warm-up included.
    pub from: Option<Nanos>,
    /// Slots, with the numbers of the members that get them.
    pub moves: Vec<(u16, u16)>,
    /// Whether the new owners may begin: the old ones know, or have no say any more.
    pub is_granted: bool,
}

/// A release of users that wait at a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierRelease {
    /// The barrier.
    pub barrier: u16,
    /// The number of releases of all barriers, this one included.
    pub total: u64,
    /// When users go on, counted from the start of the run.
    pub at: Nanos,
    /// The last ticket that is released, per member and part.
    pub upto: Vec<(u16, u16, u64)>,
}

/// The number of releases of one barrier that are kept one by one.
const MET_MAX: usize = 4;

impl BarrierRelease {
    /// Adds a release of users at a barrier. The last few of each barrier are kept, and the first of them are merged
    /// into the next: users that missed the former go on with the latter.
    pub(crate) fn push(all: &mut Vec<Self>, met: Self) {
        let barrier = met.barrier;
        all.push(met);
        let is_same = |other: &Self| other.barrier == barrier;
        while all.iter().filter(|other| is_same(other)).count() > MET_MAX {
            let Some(first) = all.iter().position(is_same) else { return };
            let first = all.remove(first);
            let Some(next) = all.iter_mut().find(|other| is_same(other)) else { return };
            for (member, part, ticket) in first.upto {
                match next.upto.iter_mut().find(|(of, number, _)| (*of, *number) == (member, part)) {
                    Some((.., known)) => *known = ticket.max(*known),
                    None => next.upto.push((member, part, ticket)),
                }
            }
        }
    }
}

/// The state of the cluster, as stored under its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The epoch of its writer.
    pub epoch: u64,
    /// Grows with each write.
    pub revision: u64,
    /// The number of the run.
    pub run: u64,
    /// The leader that began it: together with the number it identifies the run, also on a bus that has lost its data.
    pub begun_by: u64,
    /// The phase of the run.
    pub phase: Phase,
    /// The name of the plan, which contains its hash; a [`Packet`] is stored under it.
    pub plan: String,
    /// When the load starts, on the clock of the leader: see [`State::clock_of`].
    pub t0: Nanos,
    /// The owner of that clock.
    pub clock_of: u64,
    /// The lease of a worker: without contact for this long it starts nothing more.
    pub lease: Nanos,
    /// The members, past ones included.
    pub members: Vec<Member>,
    /// The slot grants over time.
    pub slot_grants: Vec<SlotGrant>,
    /// Changes of the load.
    pub changes: Vec<Change>,
    /// Per scenario, when users that wait for each other start, counted from the start of the run.
    pub rounds: Vec<Nanos>,
    /// The last few releases of each barrier in the middle of an iteration.
    pub met: Vec<BarrierRelease>,
    /// The checkpoint of reports up to a position of the stream, for a leader that takes the run over.
    pub checkpoint: Option<Mark>,
    /// The intent for all members.
    pub intent: RunIntent,
}

/// The standing of a worker in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The run.
    pub run: u64,
    /// The plan that it has.
    pub plan: String,
    /// Whether it can take part.
    pub ready: Result<Ready, Refusal>,
}

/// A worker that is ready to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Its shortest round trip to the leader.
    pub round_trip: Nanos,
    /// The owner of the clock that it probed.
    pub clock_of: u64,
}

/// Why a worker does not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// It has another version of onrush.
    Version {
        /// Its own version.
        worker: String,
        /// That of the leader.
        leader: String,
    },
    /// The plan cannot be used.
    Plan {
        /// The diagnostic.
        reason: String,
    },
    /// The plan is not on the bus, or cannot be read there.
    Missing,
    /// The packet does not match its name: another plan, or none.
    Damaged,
    /// It may not load this target.
    Target {
        /// The target.
        target: String,
        /// The targets that it may load.
        allowed: String,
    },
    /// It could not determine the leader's time.
    Clock,
    /// Its machine refuses what the load needs.
    System {
        /// The error.
        reason: String,
    },
}

/// A plan with what it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Packet {
    /// [`plan::EncodedPlan`] as bytes.
    pub plan: Vec<u8>,
    /// Files of rows, in the order of their numbers.
    pub feeds: Vec<FeedFile>,
    /// How many of the slowest exchanges are kept.
    pub slowest: u64,
    /// The thresholds of the run, as typed: for its recovery.
    pub thresholds: Vec<String>,
}

/// A file of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedFile {
    /// Its name, for messages.
    pub name: String,
    /// How its rows are read and used.
    pub spec: Vec<u8>,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The highest valid number or instant: below it no computation overflows.
const HIGHEST: u64 = 1 << 60;

/// Whether a number is valid; a higher one comes from a foreign sender.
pub(crate) fn can_be(number: u64) -> bool {
    number < HIGHEST
}

impl Lease {
    /// Decodes a lease; `None` if invalid.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        read(bytes).filter(|lease: &Self| [lease.epoch, lease.beat, lease.written].into_iter().all(can_be))
    }
}

/// Encodes a value.
pub fn written<T: Serialize>(value: &T) -> Bytes {
    postcard::to_stdvec(value).expect("it has nothing that cannot be written").into()
}

/// Decodes a value; `None` if the bytes are something else.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, left) = postcard::take_from_bytes(bytes).ok()?;
    left.is_empty().then_some(value)
}
