//! Checkpoints: merged worker reports up to a position of the stream. A leader that takes a run over begins with a
//! checkpoint, and the entries after it.

use pacing::Nanos;
use serde::{Deserialize, Serialize};

use super::{Member, News, can_be, read, written};
use crate::bus::Bytes;

/// The merged reports of a worker incarnation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// The incarnation.
    pub member: Member,
    /// The number of the next report that is not included.
    pub upto: u64,
    /// When the last of them was sent.
    pub at: Nanos,
    /// The reports.
    pub news: Vec<News>,
}

/// The merged reports of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The run.
    pub run: u64,
    /// The position of the stream up to which it reaches.
    pub upto: u64,
    /// The reports per incarnation.
    pub sums: Vec<Sum>,
}

/// A checkpoint in its stored form.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The run.
    pub run: u64,
    /// The position of the stream up to which it reaches.
    pub upto: u64,
    /// The hash of its bytes.
    hash: [u8; 32],
    /// Its bytes.
    pub object: Bytes,
}

/// A reference to a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The leader that made it.
    pub who: u64,
    /// The number that the leader gave it.
    pub number: u64,
    /// The position of the stream up to which it reaches.
    pub upto: u64,
    /// The hash of its bytes.
    hash: [u8; 32],
}

impl Sum {
    pub(crate) fn is_sound(&self) -> bool {
        [self.upto, self.at.0].into_iter().all(can_be) && self.news.iter().all(News::is_sound)
    }
}

impl Draft {
    /// The stored form of a checkpoint.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Self {
        let object = written(checkpoint);
        Self { run: checkpoint.run, upto: checkpoint.upto, hash: hmac_sha256::Hash::hash(&object), object }
    }
}

impl Mark {
    /// The reference to a draft that a leader stores under a number.
    pub(crate) fn new(draft: &Draft, who: u64, number: u64) -> Self {
        Self { who, number, upto: draft.upto, hash: draft.hash }
    }

    /// The name of the stored object.
    pub fn name(&self) -> String {
        format!("checkpoint-{:016x}-{}", self.who, self.number)
    }

    /// Whether all its numbers are possible.
    pub(super) fn is_sound(&self) -> bool {
        [self.number, self.upto].into_iter().all(can_be)
    }

    /// Decodes the stored object; `None` if it is another one.
    pub(crate) fn read(&self, object: &[u8]) -> Option<Checkpoint> {
        (hmac_sha256::Hash::hash(object) == self.hash).then_some(())?;
        read(object).filter(|checkpoint: &Checkpoint| checkpoint.sums.iter().all(Sum::is_sound))
    }
}
