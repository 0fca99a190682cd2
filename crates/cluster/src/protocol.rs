//! What leader and workers say to each other, as bytes that both read back. What comes may be from anybody who got at the bus: nothing is
//! believed that cannot be.

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

/// The version of all of this: leader and workers must have the same.
pub const PROTOCOL: u32 = 8;
/// The most members that a run may have had: each has at least one slot, and some come back.
pub const MEMBERS_MAX: usize = 16_384;
/// How often slots may change hands in one run.
pub const TENURES_MAX: usize = 256;
/// The longest name of a worker.
pub const NAME_CHARS_MAX: usize = 100;

/// Who a worker is: drawn when it starts.
pub type WorkerId = u64;

/// A worker says that it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Who it is. This, its name and its versions stand before what it says.
    #[serde(skip)]
    pub id: WorkerId,
    /// Which of its lives this is: one that was given up begins another.
    pub incarnation: u32,
    /// What it is called.
    #[serde(skip)]
    pub name: String,
    /// Of what it says.
    #[serde(skip)]
    pub protocol: u32,
    /// Its version of onrush.
    #[serde(skip)]
    pub version: String,
    /// What it can do beside others; as many as it has threads.
    pub weight: u32,
    /// The run that it takes part in; 0 for none.
    pub run: u64,
    /// Time since the start of that, when it said so; nothing before that.
    pub run_now: Option<Nanos>,
    /// The revision of what is to be done that it knows.
    pub revision: u64,
    /// What it says of a run.
    pub standing: Option<Standing>,
    /// The bus does not take what it has to tell.
    pub has_no_room: bool,
}

impl Hello {
    /// Of one that has not heard of any run yet.
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

/// What a worker asks who leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Whether it may go on.
    Hello(Hello),
    /// The time.
    Time,
}

/// What who leads answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Of who answers.
    pub epoch: u64,
    /// Its clock.
    pub now: Nanos,
    /// The revision of what is to be done: whoever knows an older one reads it.
    pub revision: u64,
    /// Whoever said hello may go on for the time of a lease, from when it said so; `None`: it asked for the time.
    pub goes_on: Option<bool>,
    /// So many workers are there: with very many, each speaks less often.
    pub workers: u32,
    /// What is to be done, when whoever said hello knew of less: as much of it as it needs.
    pub state: Option<State>,
}

/// Who leads, as it stands under its key. Whoever has not seen it change for a while may take it over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Grows with each who leads.
    pub epoch: u64,
    /// Who leads.
    pub who: u64,
    /// Grows with each renewal.
    pub beat: u64,
    /// The last revision of what is to be done that is known to be written in this epoch; 0 for none.
    pub written: u64,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// There is none.
    Idle,
    /// Its members get ready.
    Preparing,
    /// It starts at its instant, or goes on.
    Running,
    /// It is over.
    Done,
    /// There will be no other: workers may go.
    Closed,
}

/// What is wanted of those who take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RunIntent {
    /// They go on with the plan.
    Run,
    /// They start nothing more.
    Stop,
    /// They end at once.
    Abort,
}

/// Who takes part. Its place in the list is its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    /// Which worker.
    pub id: WorkerId,
    /// In which of its lives.
    pub incarnation: u32,
}

/// Slots change hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotGrant {
    /// From then on, counted from the beginning of the measured load; `None`: from the start, warm-up included.
    pub from: Option<Nanos>,
    /// Slots, with the numbers of the members that get them.
    pub moves: Vec<(u16, u16)>,
    /// Those who had them know, or have no say any more: whoever gets them may begin.
    pub is_granted: bool,
}

/// Users of a meeting go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierRelease {
    /// Which meeting.
    pub barrier: u16,
    /// So many times some did, of all meetings, this one included.
    pub total: u64,
    /// When they do, counted from the start of the run.
    pub at: Nanos,
    /// The last tickets that go on: of a member, and one of its parts.
    pub upto: Vec<(u16, u16, u64)>,
}

/// Times of one meeting that are told one by one.
const MET_MAX: usize = 4;

impl BarrierRelease {
    /// One more time that users of a meeting go on, behind others. Of one meeting so many are kept, and what the first of them say goes into the
    /// next: whoever has not gone on with them goes on with that.
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

/// What is to be done by all, as it stands under its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Of who wrote it.
    pub epoch: u64,
    /// Grows with each writing.
    pub revision: u64,
    /// The number of the run.
    pub run: u64,
    /// Who began it: with its number it says which run it is, also on a bus that has lost what it kept.
    pub begun_by: u64,
    /// How far it is.
    pub phase: Phase,
    /// The name of the plan, which says its hash; what is kept under it is a [`Packet`].
    pub plan: String,
    /// When the load starts, on the clock of who leads: see [`State::clock_of`].
    pub t0: Nanos,
    /// Which clock that is.
    pub clock_of: u64,
    /// A worker that has reached nobody for so long starts nothing more.
    pub lease: Nanos,
    /// Who takes part, and did.
    pub members: Vec<Member>,
    /// Who has what, from when on.
    pub tenures: Vec<SlotGrant>,
    /// Changes of the load.
    pub changes: Vec<Change>,
    /// Scenario by scenario, when users that wait for each other start, counted from the start of the run.
    pub rounds: Vec<Nanos>,
    /// Users that wait for each other in the middle of what they do, and go on: the last few times of each meeting.
    pub met: Vec<BarrierRelease>,
    /// What was heard up to a place of the stream, for whoever takes the run over.
    pub checkpoint: Option<Mark>,
    /// What is wanted of all.
    pub intent: RunIntent,
}

/// What a worker says of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The run.
    pub run: u64,
    /// The plan that it has.
    pub plan: String,
    /// Whether it can take part.
    pub ready: Result<Ready, Refusal>,
}

/// A worker is ready to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The shortest round trip to who leads.
    pub round_trip: Nanos,
    /// The clock that it asked.
    pub clock_of: u64,
}

/// Why a worker does not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// It is of another version of onrush.
    Version {
        /// Its own.
        worker: String,
        /// That of who leads.
        leader: String,
    },
    /// The plan cannot be used.
    Plan {
        /// What was found.
        reason: String,
    },
    /// The plan is not on the bus, or cannot be read there.
    Missing,
    /// What came is not what its name says: another plan, or none.
    Damaged,
    /// It may not load this target.
    Target {
        /// The target.
        target: String,
        /// What it may load.
        allowed: String,
    },
    /// It could not tell the time.
    Clock,
    /// Its machine refuses what the load needs.
    System {
        /// What it says.
        reason: String,
    },
}

/// What a plan needs beside itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Packet {
    /// [`plan::Carried`] as bytes.
    pub plan: Vec<u8>,
    /// Files of rows, in the order of their numbers.
    pub feeds: Vec<FeedFile>,
    /// How many of the slowest exchanges are kept.
    pub slowest: u64,
    /// By what the run is judged, as it was typed: for whoever puts it together again.
    pub thresholds: Vec<String>,
}

/// A file of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedFile {
    /// What it is called, for messages.
    pub name: String,
    /// How its rows are read and taken.
    pub spec: Vec<u8>,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// No number and no instant is higher: with less than that nothing that is reckoned goes over.
const HIGHEST: u64 = 1 << 60;

/// Whatever says a higher number is not one of us.
pub(crate) fn can_be(number: u64) -> bool {
    number < HIGHEST
}

impl Lease {
    /// Reads it; `None` when it is none.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        read(bytes).filter(|lease: &Self| [lease.epoch, lease.beat, lease.written].into_iter().all(can_be))
    }
}

/// As bytes.
pub fn written<T: Serialize>(value: &T) -> Bytes {
    postcard::to_stdvec(value).expect("it has nothing that cannot be written").into()
}

/// Read back; `None` when the bytes are something else.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, left) = postcard::take_from_bytes(bytes).ok()?;
    left.is_empty().then_some(value)
}
