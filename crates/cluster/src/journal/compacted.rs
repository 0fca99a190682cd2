//! Compacted totals of a journal file that is begun anew: sums of old reports, without the second that each belonged
//! to.

use std::collections::HashMap;

use pacing::Nanos;

use super::{Head, Record};
use crate::encoding::{snapshots_of_bytes, snapshots_to_bytes};
use crate::protocol::{Batch, Checkpoint, Member, News, Row, Sum};

/// The source of reports: a worker incarnation, and whether they were received (or kept by it).
type Whose = (Member, bool);

/// The compacted totals before the records of a journal.
#[derive(Debug, Default)]
pub(crate) struct CompactedTotals {
    all: HashMap<Whose, Sum>,
    /// The last position of the stream that is included.
    place: u64,
    /// Whether a report is missing before what is included.
    pub(super) has_hole: bool,
}

impl CompactedTotals {
    fn put(&mut self, is_received: bool, sum: Sum) {
        let known = self.all.get(&(sum.member, is_received)).is_some_and(|known| known.upto >= sum.upto);
        if !known {
            self.all.insert((sum.member, is_received), sum);
        }
    }

    /// Adds the records of a file to the totals. Records after a hole are left out.
    pub(crate) fn add(&mut self, head: &Head, records: Vec<Record>) {
        for record in records {
            let (whose, number, at, news) = match record {
                Record::Before { is_received, sum } => {
                    self.put(is_received, sum);
                    continue;
                }
                Record::News { incarnation, index, at, news } => {
                    ((Member { id: head.id, incarnation }, false), index, at, vec![news])
                }
                Record::Batch { place, bytes } => {
                    self.place = self.place.max(place);
                    let Some(batch) = Batch::read(&bytes).filter(|batch| batch.run == head.run) else { continue };
                    (
                        (Member { id: batch.id, incarnation: batch.incarnation }, true),
                        batch.number,
                        batch.sent_at,
                        batch.news,
                    )
                }
                _ => continue,
            };
            // Kept reports count from 0, received ones from 1. Without the first report it is unknown whether the
            // member takes part.
            let first = u64::from(whose.1);
            if number > first && !self.all.contains_key(&whose) {
                continue;
            }
            let first = || Sum { member: whose.0, upto: first, at: Nanos::ZERO, news: Vec::new() };
            let sum = self.all.entry(whose).or_insert_with(first);
            if number == sum.upto {
                (sum.upto, sum.at) = (number + 1, sum.at.max(at));
                news.into_iter().for_each(|one| add(&mut sum.news, one));
            }
            self.has_hole |= number >= sum.upto;
        }
    }

    /// The totals as records of a journal.
    pub(super) fn records(&self) -> impl Iterator<Item = Record> {
        self.all.iter().map(|((_, is_received), sum)| Record::Before { is_received: *is_received, sum: sum.clone() })
    }

    /// The checkpoint of received reports, for a leader that takes the run over; `None` when there are none, or some
    /// are missing.
    pub(crate) fn checkpoint(&self, run: u64) -> Option<Checkpoint> {
        let received = self.all.iter().filter(|((_, is_received), _)| *is_received);
        let sums: Vec<Sum> = received.map(|(_, sum)| sum.clone()).collect();
        (!sums.is_empty() && !self.has_hole).then_some(Checkpoint { run, upto: self.place, sums })
    }
}

fn add(all: &mut Vec<News>, news: News) {
    let News::Row(row) = news else { return all.push(news) };
    let same = all.iter_mut().rev().find_map(|known| match known {
        News::Row(known) if known.part == row.part => Some(known),
        _ => None,
    });
    match same.and_then(|known| Some((put_together(known, &row)?, known))) {
        Some((sum, known)) => *known = sum,
        None => all.push(News::Row(row)),
    }
}

/// Two rows of a part, merged; `None` when they are invalid.
fn put_together(one: &Row, other: &Row) -> Option<Row> {
    let all = [&one.seen[..], &other.seen[..]].concat();
    let sum = snapshots_of_bytes(&all, one.seen.len().min(other.seen.len()))?;
    let latest = one.latest(other);
    Some(Row {
        part: one.part,
        number: one.number.max(other.number),
        first: one.first.min(other.first),
        upto: one.upto.max(other.upto),
        reported_until: latest.reported_until,
        behind: latest.behind,
        seen: snapshots_to_bytes(&sum),
    })
}
