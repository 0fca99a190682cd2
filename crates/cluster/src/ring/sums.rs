//! What a file of a ring said that is begun anew, in few bytes: of what is old the sums stay, and not which second it was of.

use std::collections::HashMap;

use pacing::Nanos;

use super::Record;
use crate::carried::{snapshots_of_bytes, snapshots_to_bytes};
use crate::words::{Batch, Member, News, Row, WorkerId};

/// Whose news they are: of a life of a worker, as it kept them or as they were heard.
type Whose = (Member, bool);

/// All that was told up to a number, put together.
#[derive(Debug, Default)]
struct Sum {
    upto: u64,
    at: Nanos,
    news: Vec<News>,
}

impl Sum {
    fn add(&mut self, news: News) {
        let News::Row(row) = news else { return self.news.push(news) };
        let same = self.news.iter_mut().rev().find_map(|known| match known {
            News::Row(known) if known.part == row.part => Some(known),
            _ => None,
        });
        match same.and_then(|known| Some((put_together(known, &row)?, known))) {
            Some((sum, known)) => *known = sum,
            None => self.news.push(News::Row(row)),
        }
    }
}

/// Two rows of a part as one; `None` when they are none.
fn put_together(one: &Row, other: &Row) -> Option<Row> {
    let all = [&one.seen[..], &other.seen[..]].concat();
    let sum = snapshots_of_bytes(&all, one.seen.len().min(other.seen.len()))?;
    Some(Row {
        part: one.part,
        number: one.number.max(other.number),
        upto: one.upto.max(other.upto),
        covered: one.covered.max(other.covered),
        seen: snapshots_to_bytes(&sum),
    })
}

/// What the records of a file of a ring of `id` say of news, behind all that the other one says to have been before it. What is behind a
/// hole is left out.
pub(super) fn sums(id: WorkerId, before: Vec<Record>, records: Vec<Record>) -> Vec<Record> {
    let mut all: HashMap<Whose, Sum> = HashMap::new();
    for record in before {
        if let Record::Before { member, is_heard, upto, at, news } = record {
            all.insert((member, is_heard), Sum { upto, at, news });
        }
    }
    for record in records {
        let (whose, number, at, news) = match record {
            Record::News { boot, index, at, news } => ((Member { id, boot }, false), index, at, vec![news]),
            Record::Batch(bytes) => {
                let Some(batch) = Batch::read(&bytes) else { continue };
                ((Member { id: batch.id, boot: batch.boot }, true), batch.number, batch.sent_at, batch.news)
            }
            _ => continue,
        };
        // What is kept counts from 0, what is heard from 1.
        let sum = all.entry(whose).or_insert_with(|| Sum { upto: u64::from(whose.1), ..Sum::default() });
        if number == sum.upto {
            (sum.upto, sum.at) = (number + 1, sum.at.max(at));
            news.into_iter().for_each(|one| sum.add(one));
        }
    }
    let of = |((member, is_heard), Sum { upto, at, news }): (Whose, Sum)| Record::Before {
        member,
        is_heard,
        upto,
        at,
        news,
    };
    all.into_iter().map(of).collect()
}
