//! The rows of one shard. It never waits.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::stream::{CHUNK_BYTES_MAX, Chunk, Paces, Requests, RowRequest};
use crate::{FeedError, Row};

/// What a reader of rows that are not held keeps at most, where rows are at most 64 KiB: what it has, and what is on its way. Of
/// larger rows it keeps some more than that of each: two on their way, and six that came.
pub const READER_BYTES_MAX: usize = 4 * ON_THE_WAY_BYTES_MAX;
/// What a reader has ordered at most.
const ON_THE_WAY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The same in chunks: enough that a disk and a thread are kept busy.
const ON_THE_WAY_MAX: usize = 1024;
const ON_THE_WAY_MIN: usize = 2;
/// What came is kept until three times as many chunks came after it as may be on their way, so that whoever waits for one of these
/// finds it.
const KEPT_FACTOR: usize = 3;
/// Chunks that are read ahead of the one that is used.
const AHEAD_MAX: usize = 16;
/// Rows that are held and no larger than this each shard has for itself: shards that count the users of the same few rows wait for
/// each other's caches.
const COPIED_BYTES_MAX: usize = 256 * 1024;

/// Gives rows to the users of one shard.
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

    /// A row by its number, which is below [`Feed::rows`](crate::Feed::rows). `None`: it is not there yet. It is on its way then, or
    /// others are; in either case the shard is woken, and whoever waits asks again. After an error there is no other row.
    pub fn row(&mut self, number: u64) -> Result<Option<Row>, FeedError> {
        match &mut self.0 {
            Rows::Held(rows) => Ok(Some(rows[number as usize].clone())),
            Rows::Streamed(streamed) => streamed.row(number),
        }
    }

    /// This row will be wanted. It may be forgotten again when many others come first. False when it is not ordered, since half of what
    /// may be on its way is: the other half is for those who wait.
    pub fn hurry(&mut self, number: u64) -> bool {
        match &mut self.0 {
            Rows::Held(_) => true,
            Rows::Streamed(streamed) => streamed.hurry(number),
        }
    }

    /// Takes what has come; `true` when there was something, so that whoever waits may ask again.
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
    /// Chunks by their number.
    on_the_way: HashSet<u64>,
    on_the_way_max: usize,
    chunks: HashMap<u64, Chunk>,
    /// The same in the order in which they came.
    order: VecDeque<u64>,
    /// The chunk of which a row was given last.
    used: u64,
    /// Something came, and whoever waits does not know it.
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

    /// Orders the chunks behind a row. Behind the last one is the first.
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

    /// Orders the chunk of a row. When enough is on its way nothing is done: what comes wakes the shard.
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
