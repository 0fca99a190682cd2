//! The rows of one shard. It never blocks.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::stream::{CHUNK_BYTES_MAX, Chunk, Paces, Requests, RowRequest};
use crate::{FeedError, Row};

/// Maximum memory of a reader of streamed rows of at most 64 KiB: chunks that it has, and chunks in transit. Of larger
/// rows it retains somewhat more: two in transit, and six that have arrived.
pub const READER_BYTES_MAX: usize = 4 * ON_THE_WAY_BYTES_MAX;
/// Maximum bytes in transit to a reader.
const ON_THE_WAY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The same in chunks: enough to keep a disk and a thread busy.
const ON_THE_WAY_MAX: usize = 1024;
const ON_THE_WAY_MIN: usize = 2;
/// Arrived chunks are retained until this many times the maximum in transit has arrived after them, so that a user that
/// waits for one of these chunks finds it.
const KEPT_FACTOR: usize = 3;
/// Maximum chunks that are read ahead of the one in use.
const AHEAD_MAX: usize = 16;
/// Held rows up to this size are copied for each shard: shards that count the references of the same few rows wait for
/// each other's caches.
const COPIED_BYTES_MAX: usize = 256 * 1024;

/// Supplies rows to the users of one shard.
#[derive(Debug)]
pub struct Reader(Rows);

#[derive(Debug)]
enum Rows {
    Held(Arc<[Row]>),
    Streamed(Box<Streamed>),
}

impl Reader {
    pub(crate) fn held(rows: &Arc<[Row]>, bytes: usize) -> Self {
        let is_copied = bytes <= COPIED_BYTES_MAX;
        Self(Rows::Held(if is_copied { rows.iter().map(Row::copied).collect() } else { Arc::clone(rows) }))
    }

    pub(crate) fn streamed(orders: Sender<RowRequest>, paces: Paces, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (mail, arrived) = channel();
        let on_the_way_max = (ON_THE_WAY_BYTES_MAX / paces.chunk_bytes_max()).clamp(ON_THE_WAY_MIN, ON_THE_WAY_MAX);
        let mut streamed = Streamed {
            orders,
            requests: Arc::new(Requests { mail, wake: Box::new(wake) }),
            arrived,
            paces,
            on_the_way: HashSet::with_capacity(on_the_way_max),
            on_the_way_max,
            chunks: HashMap::with_capacity(KEPT_FACTOR * on_the_way_max + 1),
            order: VecDeque::with_capacity(KEPT_FACTOR * on_the_way_max + 1),
            used: u64::MAX,
            has_news: false,
            failure: None,
        };
        if paces.is_in_order {
            streamed.order(0);
        }
        Self(Rows::Streamed(Box::new(streamed)))
    }

    /// The row of a number below [`Feed::rows`](crate::Feed::rows). `None`: it is not available yet. It was requested
    /// then, or others are in transit; in either case the shard is woken, and the waiting user calls again. After an
    /// error no further rows are returned.
    pub fn row(&mut self, number: u64) -> Result<Option<Row>, FeedError> {
        match &mut self.0 {
            Rows::Held(rows) => Ok(Some(rows[number as usize].clone())),
            Rows::Streamed(streamed) => streamed.row(number),
        }
    }

    /// Requests a row in advance. It may be discarded again when many others arrive first. False when it is not
    /// requested, since half of the maximum is in transit: the other half is for users that wait.
    pub fn hurry(&mut self, number: u64) -> bool {
        match &mut self.0 {
            Rows::Held(_) => true,
            Rows::Streamed(streamed) => streamed.hurry(number),
        }
    }

    /// The most rows that are ordered before they are wanted: half of those kept, so that none is dropped before it is
    /// read.
    pub fn ahead_max(&self) -> u64 {
        match &self.0 {
            Rows::Held(_) => u64::MAX,
            Rows::Streamed(streamed) => (KEPT_FACTOR * streamed.on_the_way_max / 2) as u64,
        }
    }

    /// Takes what has come; `true` when there was something, so that waiting users may ask again.
    pub fn poll(&mut self) -> bool {
        match &mut self.0 {
            Rows::Held(_) => false,
            Rows::Streamed(streamed) => {
                streamed.receive();
                std::mem::take(&mut streamed.has_news)
            }
        }
    }
}

struct Streamed {
    orders: Sender<RowRequest>,
    requests: Arc<Requests>,
    arrived: Receiver<Result<Chunk, FeedError>>,
    paces: Paces,
    /// Numbers of the requested chunks.
    on_the_way: HashSet<u64>,
    on_the_way_max: usize,
    chunks: HashMap<u64, Chunk>,
    /// The retained chunks in order of arrival.
    order: VecDeque<u64>,
    /// The chunk of the row that was returned last.
    used: u64,
    /// Whether chunks arrived that were not yet reported to waiting users.
    has_news: bool,
    failure: Option<FeedError>,
}

impl Streamed {
    fn row(&mut self, number: u64) -> Result<Option<Row>, FeedError> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        if let Some(row) = self.find(number) {
            self.read_ahead(number);
            return Ok(Some(row));
        }
        self.receive();
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        let found = self.find(number);
        match found {
            Some(_) => self.read_ahead(number),
            None => self.order(number),
        }
        Ok(found)
    }

    fn hurry(&mut self, number: u64) -> bool {
        if self.find(number).is_some() || self.on_the_way.contains(&(number / self.paces.chunk_rows)) {
            return true;
        }
        let may = self.on_the_way.len() < self.on_the_way_max / 2;
        if may {
            self.order(number);
        }
        may
    }

    fn find(&self, number: u64) -> Option<Row> {
        self.chunks.get(&(number / self.paces.chunk_rows))?.row(number).cloned()
    }

    /// Requests the chunks after a row. After the last one follows the first.
    fn read_ahead(&mut self, number: u64) {
        let chunk = number / self.paces.chunk_rows;
        if !self.paces.is_in_order || std::mem::replace(&mut self.used, chunk) == chunk {
            return;
        }
        self.receive();
        let chunks = self.paces.rows.div_ceil(self.paces.chunk_rows);
        for ahead in 1..=(self.on_the_way_max / 2).min(AHEAD_MAX) as u64 {
            let chunk = (chunk + ahead) % chunks;
            if !self.chunks.contains_key(&chunk) {
                self.order(chunk * self.paces.chunk_rows);
            }
        }
    }

    /// Requests the chunk of a row. When enough is in transit nothing is done: each arrival wakes the shard.
    fn order(&mut self, row: u64) {
        let chunk = row / self.paces.chunk_rows;
        if self.on_the_way.len() < self.on_the_way_max && self.on_the_way.insert(chunk) {
            let order = RowRequest { row, requests: Arc::clone(&self.requests) };
            self.orders.send(order).expect("the control thread lives as long as someone can order");
        }
    }

    fn receive(&mut self) {
        while let Ok(delivery) = self.arrived.try_recv() {
            self.has_news = true;
            match delivery {
                Ok(chunk) => self.keep(chunk),
                Err(error) => self.failure = Some(error),
            }
        }
    }

    fn keep(&mut self, chunk: Chunk) {
        let number = chunk.first / self.paces.chunk_rows;
        self.on_the_way.remove(&number);
        if self.chunks.insert(number, chunk).is_none() {
            self.order.push_back(number);
        }
        if self.order.len() > KEPT_FACTOR * self.on_the_way_max {
            let oldest = self.order.pop_front().expect("more than none");
            self.chunks.remove(&oldest);
        }
    }
}

impl std::fmt::Debug for Streamed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Streamed").field("paces", &self.paces).finish_non_exhaustive()
    }
}

const _: () = core::assert!(READER_BYTES_MAX >= (KEPT_FACTOR + 1) * ON_THE_WAY_BYTES_MAX);
const _: () = core::assert!(ON_THE_WAY_MIN * 2 * CHUNK_BYTES_MAX <= ON_THE_WAY_BYTES_MAX);

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    const ROWS: u64 = 3_000;

    /// How often rows were read when those of `ahead` turns are ordered before they are wanted, which are somewhere in
    /// the file.
    fn reads(row_bytes_max: usize, ahead: impl Fn(&Reader) -> u64) -> Vec<u32> {
        let (orders, ordered) = channel::<RowRequest>();
        let paces = Paces { rows: ROWS, chunk_rows: 1, row_bytes_max, is_in_order: false };
        let mut reader = Reader::streamed(orders, paces, || {});
        let row_of = |turn: u64| turn * 1_103 % ROWS;
        let mut reads = HashMap::<u64, u32>::new();
        let mut deliver = || {
            for RowRequest { row, requests } in ordered.try_iter() {
                *reads.entry(row).or_default() += 1;
                let rows = [Row::new(&mut vec![plan::Value::Null])].into();
                requests.mail.send(Ok(Chunk { first: row, rows })).expect("it is there");
            }
        };
        let ahead = ahead(&reader);
        let mut next = 0;
        for turn in 0..ROWS {
            next = next.max(turn);
            while next <= (turn + ahead).min(ROWS - 1) {
                if reader.hurry(row_of(next)) {
                    next += 1;
                } else {
                    deliver();
                    reader.poll();
                }
            }
            while reader.row(row_of(turn)).expect("no error").is_none() {
                deliver();
            }
        }
        deliver();
        reads.into_values().collect()
    }

    /// Rows of any size are read once, though fewer of larger ones are kept.
    #[test]
    fn what_is_ordered_ahead_is_there_when_it_is_wanted() {
        for row_bytes_max in [100, 24 << 10, 32 << 10, 64 << 10, 1 << 20] {
            let reads = reads(row_bytes_max, |reader| reader.ahead_max().min(256));
            assert_eq!((reads.len() as u64, reads.iter().sum::<u32>()), (ROWS, ROWS as u32), "{row_bytes_max}");
        }
        // More than that would be forgotten.
        assert!(reads(64 << 10, |_| 256).iter().sum::<u32>() > ROWS as u32);
    }
}
