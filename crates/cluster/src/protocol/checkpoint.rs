//! What was heard of workers up to a place of the stream, put together: whoever takes a run over begins with it, and what is behind it.

use pacing::Nanos;
use serde::{Deserialize, Serialize};

use super::{Member, News, can_be, read, written};
use crate::bus::Bytes;

/// What a life of a worker has told, put together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// Of whom.
    pub member: Member,
    /// The number of the next that is not in it.
    pub upto: u64,
    /// When the last of it was told.
    pub at: Nanos,
    /// What it is.
    pub news: Vec<News>,
}

/// What was heard of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Of which run.
    pub run: u64,
    /// Up to this place of the stream.
    pub upto: u64,
    /// Life by life.
    pub sums: Vec<Sum>,
}

/// A checkpoint as it is kept.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Of which run.
    pub run: u64,
    /// Up to this place of the stream.
    pub upto: u64,
    /// What its bytes must be.
    hash: [u8; 32],
    /// Its bytes.
    pub object: Bytes,
}

/// Which checkpoint is to be begun with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Who made it, and the number that it gave it.
    pub who: u64,
    /// That number.
    pub number: u64,
    /// Up to this place of the stream.
    pub upto: u64,
    /// What its bytes must be.
    hash: [u8; 32],
}

impl Sum {
    pub(crate) fn is_sound(&self) -> bool {
        [self.upto, self.at.0].into_iter().all(can_be) && self.news.iter().all(News::is_sound)
    }
}

impl Draft {
    /// Of what was heard.
    pub fn of(checkpoint: &Checkpoint) -> Self {
        let object = written(checkpoint);
        Self { run: checkpoint.run, upto: checkpoint.upto, hash: hmac_sha256::Hash::hash(&object), object }
    }
}

impl Mark {
    /// Of a draft that somebody keeps under a number.
    pub(crate) fn of(draft: &Draft, who: u64, number: u64) -> Self {
        Self { who, number, upto: draft.upto, hash: draft.hash }
    }

    /// What it is kept under.
    pub fn name(&self) -> String {
        format!("checkpoint-{:016x}-{}", self.who, self.number)
    }

    /// It names nothing that cannot be.
    pub(super) fn is_sound(&self) -> bool {
        [self.number, self.upto].into_iter().all(can_be)
    }

    /// What is kept there; `None` when it is something else.
    pub(crate) fn read(&self, object: &[u8]) -> Option<Checkpoint> {
        (hmac_sha256::Hash::hash(object) == self.hash).then_some(())?;
        read(object).filter(|checkpoint: &Checkpoint| checkpoint.sums.iter().all(Sum::is_sound))
    }
}
