//! Checkpoints: received reports are merged from time to time and kept on the bus. Then the stream may forget them, and
//! a leader that takes the run over begins with the checkpoint. It counts once the state that names it is written;
//! before that nothing is forgotten.

use std::sync::Arc;

use pacing::Nanos;

use super::run::Run;
use super::{Leader, LeaderUpdate, Pending};
use crate::bus::{BusCommand, Bytes};
use crate::protocol::{Draft, Mark, Member, News, Phase, Sum, WorkerId};

/// How long a worker without room for its reports waits for a checkpoint at most.
const ROOM_WITHIN: Nanos = Nanos::from_millis(3_000);
/// The time after which a missing checkpoint is requested again: it may be large, and the network slow.
const FETCH_AGAIN: Nanos = Nanos::from_millis(60_000);
/// How long a requested stop of a run waits for its checkpoint.
const ENDS_WITHIN: Nanos = Nanos::from_millis(10_000);

/// The checkpoints of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checkpoints {
    /// The number of checkpoints made here.
    made: u64,
    /// Whether one is being stored.
    is_storing: bool,
    /// The checkpoint named by the state that is being written, with the revision.
    writing: Option<(u64, Option<Mark>)>,
    /// The checkpoint named by the written state.
    written: Option<Mark>,
    /// Since when one is requested because a worker waits for room on the bus.
    wanted_since: Option<Nanos>,
    /// The checkpoint that a run is to begin with, and its last request.
    awaited: Option<(Mark, Nanos)>,
}

impl Leader {
    /// Stores what was received up to a position of the stream on the bus, unless the last checkpoint is still being
    /// stored.
    pub fn keep(&mut self, draft: Draft, now: Nanos) {
        let is_of_run = self.run.as_ref().is_some_and(|run| !run.is_over && run.number == draft.run);
        let last = self.state.checkpoint;
        let is_new = last.is_none_or(|last| last.upto < draft.upto) && draft.upto <= self.read_upto;
        // With a gap in the stream, the checkpoint would have a hole, too.
        let goes_on = self.leads() && self.state.phase == Phase::Running && !self.has_gap;
        let is_wanted = goes_on && is_of_run && is_new && !self.setting.is_alone;
        if !is_wanted || self.checkpoints.is_storing || self.checkpoints.written != last {
            return;
        }
        self.checkpoints.made += 1;
        self.checkpoints.is_storing = true;
        let mark = Mark::new(&draft, self.setting.who, self.checkpoints.made);
        let (name, object) = (mark.name(), draft.object);
        self.ask(Pending::Checkpoint(mark, draft.run), now, |token| BusCommand::Store { token, name, object });
    }

    /// Makes room for a worker whose reports the bus does not take: read entries make room once they are in a
    /// checkpoint.
    pub(super) fn make_room(&mut self, id: WorkerId, incarnation: u32, now: Nanos) {
        if let Some(member) = self.number_of(id, incarnation) {
            self.reported.push_back(LeaderUpdate::NoRoom { member });
        }
        if self.setting.is_alone {
            self.forget();
        } else if self.checkpoints.wanted_since.is_none() {
            self.checkpoints.wanted_since = Some(now);
            self.reported.push_back(LeaderUpdate::WantsCheckpoint);
        }
    }

    /// Makes room without a checkpoint for a worker that waits: no other leader can take this run over from then on.
    pub fn lacks_checkpoint(&mut self) {
        if self.checkpoints.wanted_since.take().is_some() && self.leads() {
            // Entries forgotten before may still be there.
            self.forgotten = 0;
            self.forget();
        }
    }

    /// Advances the time: a request without a response is lost.
    pub(super) fn expire_checkpoints(&mut self, now: Nanos) {
        let is_requested = |(pending, _): &(Pending, Nanos)| matches!(pending, Pending::Checkpoint(..));
        self.checkpoints.is_storing = self.checkpoints.is_storing && self.pending.values().any(is_requested);
        let Some(since) = self.checkpoints.wanted_since else { return };
        if !self.members.lack_room(now.since(ROOM_WITHIN)) {
            self.checkpoints.wanted_since = None;
        } else if now.since(since) >= ROOM_WITHIN {
            self.lacks_checkpoint();
        }
    }

    /// Handles the result of storing a checkpoint.
    pub(super) fn checkpoint_stored(&mut self, (mark, run): (Mark, u64), is_stored: bool) {
        self.checkpoints.is_storing = false;
        let goes_on = self.leads() && self.state.phase == Phase::Running && self.state.run == run;
        // Another leader may have been active meanwhile.
        let is_new = self.state.checkpoint.is_none_or(|last| last.upto < mark.upto);
        if is_stored && goes_on && is_new && self.state.checkpoint == self.checkpoints.written {
            self.state.checkpoint = Some(mark);
            self.is_dirty = true;
        } else {
            self.verbs.push_back(BusCommand::Drop { name: mark.name() });
        }
        if !is_stored {
            self.lacks_checkpoint();
        }
    }

    /// Notes that the state is being written.
    pub(super) fn names_checkpoint(&mut self) {
        self.checkpoints.writing = Some((self.state.revision, self.state.checkpoint));
    }

    /// Notes that the state is written in this revision: no leader begins with an older checkpoint any more.
    pub(super) fn checkpoint_named(&mut self, revision: u64) {
        let Some((_, named)) = self.checkpoints.writing.filter(|(writing, _)| *writing == revision) else { return };
        let last = std::mem::replace(&mut self.checkpoints.written, named);
        if last == named {
            return;
        }
        if let Some(last) = last {
            self.verbs.push_back(BusCommand::Drop { name: last.name() });
        }
        if let Some(named) = named {
            let upto = named.upto;
            #[cfg(test)]
            let upto = if crate::sim::fault_injected(crate::sim::Bug::ForgetsEarly) { self.read_upto } else { upto };
            // Entries forgotten without it are in no checkpoint yet.
            if self.forgotten > upto {
                self.reported.push_back(LeaderUpdate::WantsCheckpoint);
            }
            self.forget_upto(upto);
            self.checkpoints.wanted_since = None;
        }
    }

    /// Drops the checkpoint of a finished run: no leader begins with it.
    pub(super) fn drop_checkpoint(&mut self) {
        if let Some(last) = self.checkpoints.written.take() {
            self.verbs.push_back(BusCommand::Drop { name: last.name() });
        }
    }

    /// Begins a run, which has no checkpoint.
    pub(super) fn begin_without_checkpoint(&mut self) {
        self.state.checkpoint = None;
        let Checkpoints { made, writing, written, .. } = self.checkpoints;
        self.checkpoints = Checkpoints { made, writing, written, ..Checkpoints::default() };
    }

    /// Stops waiting for a checkpoint: we do not lead any more.
    pub(super) fn want_no_checkpoint(&mut self) {
        self.checkpoints.wanted_since = None;
    }

    /// Notes that the state was read.
    pub(super) fn checkpoint_read(&mut self) {
        let named = self.state.checkpoint;
        self.checkpoints = Checkpoints { written: named, made: self.checkpoints.made, ..Checkpoints::default() };
    }

    /// Begins a taken-over run with its checkpoint, if it has one.
    pub(super) fn begin_with_checkpoint(&mut self, now: Nanos) {
        self.checkpoints.awaited = self.state.checkpoint.map(|mark| (mark, now));
        self.ask_for_checkpoint(now);
    }

    /// Begins a run anew with its checkpoint if no entry was read before another leader had it, or before its
    /// checkpoint came.
    pub(super) fn begin_anew_with_checkpoint(&mut self, now: Nanos) {
        if self.state.checkpoint.is_some() && self.run.as_ref().is_some_and(Run::is_unheard) {
            self.read_upto = 0;
            self.begin_with_checkpoint(now);
        }
    }

    /// Whether a checkpoint is awaited; later entries are not read before it.
    pub(super) fn awaits_checkpoint(&mut self, now: Nanos) -> bool {
        let Some((_, requested)) = self.checkpoints.awaited else { return false };
        let wished_at = self.run.as_ref().and_then(|run| run.wished_at);
        if wished_at.is_some_and(|at| now.since(at) >= ENDS_WITHIN) {
            self.recall(None, now);
            self.follow(now);
        } else if now.since(requested) >= FETCH_AGAIN {
            self.ask_for_checkpoint(now);
        }
        self.checkpoints.awaited.is_some()
    }

    fn ask_for_checkpoint(&mut self, now: Nanos) {
        if let Some((mark, requested)) = &mut self.checkpoints.awaited {
            (*requested, self.read_at) = (now, now);
            let name = mark.name();
            let mark = *mark;
            self.ask(Pending::Recall(mark), now, |token| BusCommand::Fetch { token, name });
        }
    }

    /// Handles a fetched or missing checkpoint; any other one, or one that came after we lost the lead, is ignored.
    pub(super) fn checkpoint_came(&mut self, mark: Mark, object: Option<&Bytes>, now: Nanos) {
        if self.leads() && self.checkpoints.awaited.is_some_and(|(awaited, _)| awaited == mark) {
            self.recall(object, now);
            self.follow(now);
        }
    }

    /// Whether this leader has a run whose reports it reads.
    pub(super) fn leads_run(&self) -> bool {
        self.leads() && self.run.as_ref().is_some_and(|run| !run.is_over && run.number > 0)
    }

    /// Requests the following entries of the stream, whether a checkpoint is awaited or not.
    pub(super) fn follow(&mut self, now: Nanos) {
        if self.leads_run() {
            self.read_at = now;
            self.verbs.push_back(BusCommand::Follow { from: self.read_upto + 1 });
        }
    }

    fn recall(&mut self, object: Option<&Bytes>, now: Nanos) {
        let Some((mark, _)) = self.checkpoints.awaited.take() else { return };
        match object.and_then(|object| mark.read(object)).filter(|checkpoint| checkpoint.run == self.state.run) {
            Some(checkpoint) => {
                let checkpoint = Arc::new(checkpoint);
                self.reported.push_back(LeaderUpdate::Recalled(checkpoint.clone()));
                // The participants are made known before their results: else the results of one would be taken for all.
                let begins = |news: &&News| matches!(news, News::Began { .. });
                for sum in &checkpoint.sums {
                    let news = sum.news.iter().filter(begins).cloned().collect();
                    self.handle_sum(sum, news, now);
                }
                for sum in &checkpoint.sums {
                    let news = sum.news.iter().filter(|news| !begins(news)).cloned().collect();
                    self.handle_sum(sum, news, now);
                }
                // The leader that named it may have been lost before it did more.
                self.forget_upto(mark.upto);
            }
            None => self.report_gap(),
        }
        if let Some(run) = &mut self.run {
            // Reports received by now were sent before.
            run.since = now;
        }
        self.handle_all_from(now);
    }

    fn handle_sum(&mut self, sum: &Sum, news: Vec<News>, now: Nanos) {
        let Member { id, incarnation } = sum.member;
        if let Some(number) = self.number_of(id, incarnation) {
            self.handle_upto(sum.member, sum.upto.saturating_sub(1));
            let is_fenced = self.handle_news(number, news, sum.at, now);
            if let Some(run) = &mut self.run {
                // Once all members are known.
                run.wants_move |= is_fenced;
            }
        }
    }
}
