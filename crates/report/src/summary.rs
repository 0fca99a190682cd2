//! The summary: the result of a run, as text. The verdict comes first; lines of low interest are shown on demand only.

mod facts;
mod headline;
mod nothing;
mod plan;
mod rest;

use figures::Run;

use crate::page::Page;
use crate::screen::Screen;
use crate::{addresses, changes, request_records, steps};
pub use nothing::nothing_measured;
pub(crate) use plan::scenario_in_words;

/// The whole summary, with a line end.
pub fn summary(run: &Run, screen: Screen) -> String {
    let mut page = Page::new(screen);
    page.text.push('\n');
    page.headline(run);
    page.failures_of(run);
    page.times_of(run);
    page.text.push_str(&changes::lines(run, &screen));
    page.text.push_str(&steps::table(run, &screen));
    page.text.push_str(&addresses::table(run, &screen));
    page.text.push_str(&request_records::table(run, &screen));
    let mut end = Page::new(screen);
    end.text.push('\n');
    end.facts(run);
    end.statuses(run);
    end.generator(run);
    let mut bars = Page::new(screen);
    bars.histogram(run);
    if screen.is_full || has_room(&[&page, &bars, &end], screen) {
        page.text.push_str(&bars.text);
    }
    page.text.push_str(&end.text);
    page.text
}

/// Whether all of it fits on one screen, with the line of the prompt below it.
fn has_room(pages: &[&Page], screen: Screen) -> bool {
    let lines: usize = pages.iter().map(|page| page.text.lines().count()).sum();
    screen.room.is_none_or(|room| lines < room.rows)
}
