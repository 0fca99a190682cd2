//! Pages in a browser, which is started once for all of them, and the parts of their scripts that need none.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a harness tells how tests ended")]

#[macro_use]
extern crate claims;

#[path = "../binary/mod.rs"]
mod binary;
mod driven;
#[path = "../cli/folder.rs"]
mod folder;
mod given;
mod harness;
#[path = "../paged/mod.rs"]
mod paged;
mod pages;
mod parts;

use std::process::ExitCode;

use binary::{Served, onrush, output, report, text};
use driven::Driven;
use folder::Folder;
use harness::Test;

/// The shared value of all tests: the browser is started with the first page.
#[derive(Default)]
struct Shared(Option<Driven>);

impl Shared {
    fn driven(&mut self) -> &mut Driven {
        self.0.get_or_insert_with(Driven::start)
    }
}

const TESTS: &[Test<Shared>] = &[
    Test { name: "harness::the_command_line_is_that_of_rust", run: |_| harness::the_command_line_is_that_of_rust() },
    Test { name: "kept::a_browser_shows_the_page", run: |shared| pages::a_browser_shows_the_page(shared.driven()) },
    Test {
        name: "search::a_browser_shows_searches_and_sweeps",
        run: |shared| pages::a_browser_shows_searches_and_sweeps(shared.driven()),
    },
    Test {
        name: "watched::a_browser_starts_changes_and_stops_a_load",
        run: |shared| pages::a_browser_starts_changes_and_stops_a_load(shared.driven()),
    },
    Test { name: "parts::a_stream_of_events_is_heard_however_it_comes", run: |_| parts::hold("events.mjs") },
    Test { name: "parts::charts_have_round_axes_and_exact_numbers", run: |_| parts::hold("axes.mjs") },
    Test { name: "parts::numbers_are_written_with_their_units", run: |_| parts::hold("numbers.mjs") },
    Test { name: "parts::points_are_added_to_charts", run: |_| parts::hold("points.mjs") },
];

fn main() -> ExitCode {
    harness::main(TESTS, Shared::default)
}
