//! Accounting for every way to end: each kind of load, ended in each way, compared with the records of a server inside
//! the test.
//!
//! A cell is a load, an end and a driver. What it checks follows from the server's own clock and counts, from ratios
//! and from arithmetic: other load on the machine cannot make it fail, and no check is relaxed there. A responsive
//! server may take its time (timeout and grace are an hour); events in the middle of a run happen at a number of
//! requests. How close a time is to the delay of the server, and that nothing is sent after the end, is tested in
//! virtual time (`selftest/tests`, `engine/src/swarm`). `XTASK_LONG` runs every cell, else a subset.
//! `ONRUSH_CELL=Closed/FrozenReading` runs those whose name contains that, and `ONRUSH_BINARY` selects another binary.

#[macro_use]
extern crate claims;

#[expect(dead_code, reason = "the server of this test lives in it")]
#[path = "../binary/mod.rs"]
mod binary;
mod cells;
mod complaints;
mod counts;
mod held;
mod lies;
mod log;
mod run;
#[expect(dead_code, reason = "the books of this test are those of its own server")]
#[path = "../seen/mod.rs"]
mod seen;
mod server;
mod speech;
mod stopping;
mod times;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cells::Cell;
use complaints::Complaints;
use run::Ran;

/// Cells that run at the same time. Each keeps a core busy for a small part of its time, and most of a run is waiting.
const TOGETHER: usize = 3;

fn check(ran: &Ran) -> Vec<String> {
    let mut wrong = Complaints::default();
    if ran.report.is_null() {
        return vec![format!("no report, exit code {:?}: {}", ran.code, ran.errors.trim())];
    }
    if ran.cell.load.is_held() {
        held::check(ran, &mut wrong);
    } else {
        counts::counts(ran, &mut wrong);
        counts::end(ran, &mut wrong);
        counts::verdict(ran, &mut wrong);
        counts::intervals(ran, &mut wrong);
        times::times(ran, &mut wrong);
    }
    wrong.0
}

/// The lines of all cells that failed.
fn run_all(cells: &[Cell]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..TOGETHER {
            scope.spawn(|| {
                while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let lines = check(&run::run(*cell)).into_iter().map(|line| format!("{cell}: {line}"));
                    failed.lock().expect("no cell panicked").extend(lines);
                }
            });
        }
    });
    failed.into_inner().expect("no cell panicked")
}

#[test]
fn the_books_agree() {
    let chosen = std::env::var("ONRUSH_CELL").ok();
    let is_long = claims::seeds::is_long();
    let mut cells = if is_long || chosen.is_some() { cells::all() } else { cells::cut() };
    cells.retain(|cell| chosen.as_ref().is_none_or(|chosen| cell.to_string().contains(chosen.as_str())));
    assert!(!cells.is_empty(), "no cell is called {chosen:?}");
    let failed = run_all(&cells);
    assert!(failed.is_empty(), "{} complaints:\n{}\nONRUSH_CELL=<cell> runs one", failed.len(), failed.join("\n"));
}
