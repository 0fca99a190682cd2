//! Memory of snapshots, counted by the allocator of this process and compared with their own accounting.

#![expect(unsafe_code, reason = "an allocator that counts is an unsafe trait")]

#[macro_use]
extern crate claims;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use metrics::{
    Class, DECODED_BYTES_FIXED, DECODED_BYTES_PER_BYTE, Measure, Outcome, SERIES_MAX, SeriesId, SeriesKind, Snapshot,
};

struct Counting;

thread_local! {
    /// The current and the peak memory of this thread: each test has a thread of its own.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// The size that the allocator of glibc takes for a request: a head of 8 bytes, and steps of 16.
fn taken(size: usize) -> isize {
    (size + 8).next_multiple_of(16).max(32) as isize
}

// SAFETY: everything is passed on to the system's allocator; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = HELD.try_with(|held| {
            let now = held.get().0 + taken(layout.size());
            held.set((now, held.get().1.max(now)));
        });
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = HELD.try_with(|held| held.set((held.get().0 - taken(layout.size()), held.get().1)));
        // SAFETY: the pointer came from `System` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The result of `work`, the memory that it holds, and the peak while it ran.
fn held<T>(work: impl FnOnce() -> T) -> (T, usize, usize) {
    let before = HELD.get().0;
    HELD.set((before, before));
    let made = work();
    let (now, most) = HELD.get();
    (made, (now - before) as usize, (most - before) as usize)
}

const SHARDS: usize = 16;
/// One is filled while the one before it is merged.
const SNAPSHOTS: usize = 2;
/// The merged snapshots of shards: the open interval and the one before it, the re-emitted one, the delta, the total.
const WHOLES: usize = 6;
/// Values of an octave, each in a bucket of its own.
const OCTAVE: u64 = 1_024;

/// Two octaves, each of their buckets used.
fn values(step: u32) -> impl Iterator<Item = u64> {
    let least = 1u64 << (20 + step % 8);
    let buckets = move |octave: u32| (0..OCTAVE).map(move |place| ((OCTAVE + place) * (least >> 10)) << octave);
    buckets(0).chain(buckets(1))
}

fn fill(seen: &mut Snapshot) {
    for step in 0..SERIES_MAX {
        let timings = seen.outcome(SeriesId::step(step), Outcome::Succeeded);
        for value in values(step) {
            Measure::ALL.into_iter().for_each(|measure| timings.record(measure, value));
        }
    }
}

#[test]
fn many_steps_on_many_shards_take_little() {
    let work = || {
        let mut shards: Vec<Snapshot> = (0..SHARDS * SNAPSHOTS).map(|_| Snapshot::default()).collect();
        let mut wholes: Vec<Snapshot> = (0..WHOLES).map(|_| Snapshot::default()).collect();
        for interval in 0..3 {
            for shard in &mut shards {
                shard.clear();
                fill(shard);
                wholes[interval].merge(shard);
            }
            let (intervals, all) = wholes.split_at_mut(3);
            all.iter_mut().for_each(|whole| whole.merge(&intervals[interval]));
        }
        (shards, wholes)
    };
    let ((shards, wholes), bytes, _) = held(work);
    let own: usize = shards.iter().chain(&wholes).map(Snapshot::series_bytes).sum();
    assert!(bytes <= 100_000_000, "{bytes} bytes, {own} by their own accounting");
    assert!(own <= bytes && own * 10 >= bytes * 8, "{bytes} bytes, {own} by their own accounting");
    // The figures are those of the values, to a thousandth.
    let rounds = (SHARDS * SNAPSHOTS * 3) as u64;
    for step in 0..SERIES_MAX {
        let sorted: Vec<u64> = values(step).collect();
        let timings = wholes[WHOLES - 1].timings(SeriesId::step(step), Class::Succeeded).expect("times");
        for measure in Measure::ALL {
            let times = timings.by_measure(measure);
            assert_eq!((times.count(), times.buckets().count()), (2 * OCTAVE * rounds, sorted.len()));
            assert_eq!(times.sum(), sorted.iter().map(|value| u128::from(value * rounds)).sum());
            for quantile in [0.001, 0.25, 0.5, 0.9, 0.99, 0.999] {
                let exact = sorted[(quantile * sorted.len() as f64).ceil() as usize - 1] as f64;
                let reported = times.quantile(quantile).expect("a quantile") as f64;
                assert!((exact..=exact * 1.001).contains(&reported), "{reported} for {exact}");
            }
        }
    }
}

/// A snapshot that comes back empty allocates nothing after its first interval.
#[test]
fn what_comes_back_empty_is_filled_without_memory() {
    let mut seen = Snapshot::default();
    fill(&mut seen);
    let ((), held, most) = held(|| {
        for _ in 0..3 {
            seen.clear();
            fill(&mut seen);
        }
    });
    assert_eq!((held, most), (0, 0));
}

/// A source of times for a recorder.
type Times<'a> = &'a dyn Fn(&mut dyn FnMut(u64));

/// The bytes with the highest memory cost: each begins something of its own.
fn costly() -> Vec<Vec<u8>> {
    let snapshot = |fill: &dyn Fn(&mut Snapshot)| {
        let (mut seen, mut bytes) = (Snapshot::default(), Vec::new());
        fill(&mut seen);
        seen.encode(&mut bytes);
        bytes
    };
    let each_series = |seen: &mut Snapshot, times: Times<'_>| {
        for id in SeriesKind::ALL.into_iter().flat_map(SeriesId::all) {
            times(&mut |value| Class::ALL.into_iter().for_each(|class| seen.record(id, class, value)));
        }
    };
    // A page of its own for each value, and a group of its own.
    let pages =
        |record: &mut dyn FnMut(u64)| (0..64 * 16).for_each(|page| record((page % 16 + 16) << (page / 16) >> 4));
    let octaves = |record: &mut dyn FnMut(u64)| (0..42).for_each(|octave| record(1 << octave));
    vec![
        snapshot(&|_| {}),
        snapshot(&|seen| each_series(seen, &|record| record(0))),
        snapshot(&|seen| each_series(seen, &|record| octaves(record))),
        snapshot(&|seen| each_series(seen, &|record| pages(record))),
        snapshot(&|seen| (0..42).for_each(|octave| seen.lag.record_many(1 << octave, 1 << 16))),
        snapshot(&|seen| (0..256).for_each(|status| seen.learn_text(status, ""))),
        snapshot(&|seen| {
            let row = metrics::Row {
                start_ns: 0,
                wait_ns: 0,
                first_byte_ns: 0,
                service_ns: 0,
                response_ns: 0,
                bytes: 0,
                status: 0,
                is_answered: false,
            };
            (0..10_000).for_each(|_| seen.tool_details.keep_row(row));
        }),
    ]
}

#[test]
fn reading_takes_no_more_than_the_bytes_justify() {
    let mut cases = costly();
    // Lengths of content that does not follow.
    for whole in costly() {
        for place in (0..whole.len()).step_by(1 + whole.len() / 50) {
            let mut changed = whole.clone();
            changed.splice(place.., [0xff, 0xff, 0xff, 0xff, 0x0f, 1]);
            cases.push(changed);
        }
    }
    let mut read = 0;
    for bytes in cases {
        let (seen, _, most) = held(|| Snapshot::decode(&bytes));
        read += usize::from(seen.is_ok());
        let justified = DECODED_BYTES_FIXED + DECODED_BYTES_PER_BYTE * bytes.len();
        assert!(most <= justified, "{most} bytes for {} bytes, {justified} are justified", bytes.len());
    }
    assert_eq!(read, costly().len());
}
