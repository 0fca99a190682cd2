//! Memory of a long load: with all outputs on, a process grows by a few bytes for each interval. `XTASK_LONG` measures
//! more intervals, after the time in which charts get their points.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::binary::{Served, onrush};
use crate::folder::Folder;
use crate::paged::{Paged, TOKEN};
use crate::seen::wait_for;

const STEPS: usize = 20;
/// An hour of intervals of 1 s adds at most 5 MB.
const BYTES_EACH: u64 = 5_000_000 / 3_600;
/// Memory that an allocator keeps and hands out again.
const SLACK_BYTES: u64 = 512 * 1024;
/// The same, while charts get their points, and histograms of the whole run their pages: on a busy machine, response
/// times of each step are in more of them.
const SLACK_BYTES_EARLY: u64 = 8 * 1024 * 1024;

/// Memory of a process, in bytes.
fn held_bytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[test]
fn a_process_does_not_grow_with_its_intervals() {
    let is_long = claims::seeds::is_long();
    let (settled, count, slack) = if is_long { (700, 1_500, SLACK_BYTES) } else { (40, 60, SLACK_BYTES_EARLY) };
    let (served, folder) = (Served::start(), Folder::new("growth"));
    let mut text = format!(
        "target: {}\nscenarios:\n  s:\n    load: {{rate: 50/s, for: 1h}}\n    connections: 20\n    steps:\n",
        served.url
    );
    for step in 0..STEPS {
        writeln!(text, "      - {{get: /delay/2, name: step {step}}}").expect("a string takes everything");
    }
    let (file, hdr) = (folder.file("load.yaml", text), folder.path("times.hdr"));
    let words = ["run", &file, "--web", "--save", "--hdr", &hdr, "--interval", "100ms", "--output", "json"];
    let mut command = onrush(&words);
    let paged = Paged::started(command.env("XDG_DATA_HOME", folder.path("data")));
    // The page is read all the time, as a browser does.
    let mut page = paged.connect();
    let request = format!("GET /api/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n", paged.host);
    page.write_all(request.as_bytes()).expect("it is taken");
    std::thread::spawn(move || std::io::copy(&mut page, &mut std::io::sink()));
    let number = || paged.get("/api/run")["live"]["number"].as_u64().unwrap_or(0);
    let reached = |numbers: std::ops::RangeInclusive<u64>| {
        numbers.step_by(20).for_each(|reached| wait_for(&format!("interval {reached}"), || number() >= reached));
        (number(), held_bytes(paged.child.id()))
    };
    let ((first, before), (last, after)) = (reached(20..=settled), reached(settled..=settled + count));
    let (grown, most) = (after.saturating_sub(before), (last - first) * BYTES_EACH + slack);
    assert!(grown <= most, "{grown} bytes in {} intervals, from {before} on; {most} may be", last - first);
}
