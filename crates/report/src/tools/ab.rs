//! ApacheBench.

use std::fmt::Write;

use metrics::{Distribution, Measure, Timings};
use plan::AbSettings;
use wire::http1;

use super::{Faults, Pages};
use figures::{Run, Tally};

pub(super) fn begin(settings: &AbSettings) -> Pages {
    let mut text = String::new();
    if settings.html.is_some() {
        text.push_str("<p>\n This is ApacheBench, Version 2.3 <i>&lt;$Revision$&gt;</i><br>\n Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/<br>\n Licensed to The Apache Software Foundation, http://www.apache.org/<br>\n</p>\n<p>\n");
    } else {
        text.push_str("This is ApacheBench, Version 2.3 <$Revision$>\nCopyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/\nLicensed to The Apache Software Foundation, http://www.apache.org/\n\n");
        let _ =
            write!(text, "Benchmarking {} (be patient){}", settings.host, if settings.is_quiet { "..." } else { "\n" });
    }
    if settings.verbosity >= 2 {
        let (method, head) = &settings.request;
        let shown: Vec<String> = head.lines().map(crate::exchanges::masked_line).collect();
        let _ = write!(text, "INFO: {method} header == \n---\n{}\n---\n", shown.join("\r\n"));
    }
    Pages { stdout: text, ..Pages::default() }
}

/// Requests between two progress messages.
fn heartbeat(settings: &AbSettings) -> u64 {
    (settings.requests / 10).max(100)
}

pub(super) fn interval(settings: &AbSettings, reported: &mut u64, total: &Tally) -> Pages {
    let mut pages = Pages::default();
    if settings.is_quiet {
        return pages;
    }
    let (done, step) = (total.finished(), heartbeat(settings));
    while *reported + step <= done {
        *reported += step;
        let _ = writeln!(pages.stderr, "Completed {reported} requests");
    }
    pages
}

/// Milliseconds, rounded like those of ab.
fn ms(ns: u64) -> u64 {
    (ns / 1_000 + 500) / 1_000
}

struct Row {
    name: &'static str,
    long: &'static str,
    min: u64,
    mean: u64,
    stdev: f64,
    median: u64,
    max: u64,
}

fn rows(times: &Timings, before: &Distribution) -> [Row; 4] {
    [
        ("Connect:", "the initial connection time", Measure::Wait),
        ("Processing:", "the processing time", Measure::Service),
        ("Waiting:", "the waiting time", Measure::FirstByte),
        ("Total:", "the total time", Measure::Response),
    ]
    .map(|(name, long, measure)| {
        // The time before the sending, so that the first two add up to the last.
        let times: &Distribution = if measure == Measure::Wait { before } else { times.by_measure(measure) };
        Row {
            name,
            long,
            min: ms(times.min().unwrap_or(0)),
            mean: ms(times.mean().unwrap_or(0.0) as u64),
            stdev: times.stdev().unwrap_or(0.0) / 1e6,
            median: ms(times.quantile(0.5).unwrap_or(0)),
            max: ms(times.max().unwrap_or(0)),
        }
    })
}

/// The figures of the result, as text.
struct Figures {
    server: String,
    length: String,
    seconds: f64,
    done: u64,
    connect: u64,
    receive: u64,
    differ: u64,
    exceptions: u64,
    non_2xx: u64,
    kept: u64,
    total_read: u64,
    body_read: u64,
    sent: u64,
}

impl Figures {
    fn new(settings: &AbSettings, run: &Run) -> Self {
        let counts = &run.tally;
        let faults = Faults::new(counts);
        let server = http1::fields(&run.head).find(|(name, _)| name.eq_ignore_ascii_case(b"server"));
        let server = server.map_or(String::new(), |(_, value)| {
            String::from_utf8_lossy(value)
                .chars()
                .take_while(|each| !each.is_whitespace() && !each.is_control())
                .collect()
        });
        Self {
            server,
            length: if settings.variable_length {
                "Variable".to_owned()
            } else {
                format!("{} bytes", counts.first_length)
            },
            seconds: run.wall.as_secs_f64(),
            done: counts.finished(),
            connect: faults.connect,
            receive: faults.read,
            differ: if settings.variable_length { 0 } else { counts.lengths_differ },
            exceptions: faults.timeout,
            non_2xx: counts
                .statuses
                .iter()
                .copied()
                .filter(|(status, _)| status / 100 != 2)
                .map(|(_, count)| count)
                .sum(),
            kept: counts.kept(),
            total_read: counts.bytes_received(),
            body_read: counts.body_bytes(),
            sent: counts.bytes_sent(),
        }
    }

    fn failed(&self) -> u64 {
        self.connect + self.receive + self.differ + self.exceptions
    }
}

pub(super) fn finish(settings: &AbSettings, run: &Run) -> Pages {
    let figures = Figures::new(settings, run);
    let times = &run.recorded.answered;
    let mut pages = Pages::default();
    if settings.verbosity >= 2 {
        // One head for all: they rarely differ.
        let head = String::from_utf8_lossy(&run.head);
        let shown: Vec<String> = head.lines().map(crate::exchanges::masked_line).collect();
        let _ = write!(pages.stdout, "LOG: header received:\n{}\n", shown.join("\r\n"));
    }
    if settings.is_quiet {
        pages.stdout.push_str("..done\n");
    } else {
        let _ = writeln!(pages.stderr, "Finished {} requests", figures.done);
    }
    match &settings.html {
        Some(attributes) => html(&mut pages.stdout, settings, &figures, (times, &run.recorded.before), attributes),
        None => text(&mut pages.stdout, settings, &figures, times, &run.recorded.before),
    }
    let response = times.by_measure(Measure::Response);
    if let Some(path) = settings.csv.as_ref().filter(|_| settings.html.is_none() && response.count() > 0) {
        let mut csv = "Percentage served,Time in ms\n".to_owned();
        for percent in 0..=100u32 {
            let value = match percent {
                0 => response.min(),
                100 => response.max(),
                percent => response.quantile(f64::from(percent) / 100.0),
            };
            let _ = writeln!(csv, "{percent},{:.3}", value.unwrap_or(0) as f64 / 1e6);
        }
        pages.files.push((path.clone(), csv));
    }
    if let Some(path) = settings.gnuplot.as_ref().filter(|_| settings.html.is_none()) {
        pages.files.push((path.clone(), gnuplot(run)));
    }
    pages
}

fn gnuplot(run: &Run) -> String {
    let mut rows: Vec<_> = run.rows.iter().filter(|row| row.is_answered).collect();
    rows.sort_by_key(|row| row.response_ns);
    let began = run.began_unix_ns();
    let mut text = "starttime\tseconds\tctime\tdtime\tttime\twait\n".to_owned();
    for row in rows {
        let seconds = (began + row.start_ns) / 1_000_000_000;
        let (connect, process) = (ms(row.response_ns - row.service_ns.min(row.response_ns)), ms(row.service_ns));
        let date = calendar(seconds);
        let (total, wait) = (ms(row.response_ns), ms(row.first_byte_ns));
        let _ = writeln!(text, "{date}\t{seconds}\t{connect}\t{process}\t{total}\t{wait}");
    }
    text
}

/// `Sun Nov 22 07:08:01 2026`, in UTC.
fn calendar(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let day_of_week = DAYS[(days % 7) as usize];
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 0;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hours, minutes, seconds) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    format!("{day_of_week} {} {:>2} {hours:02}:{minutes:02}:{seconds:02} {year}", MONTHS[month], days + 1)
}

fn text(out: &mut String, settings: &AbSettings, figures: &Figures, times: &Timings, before: &Distribution) {
    facts(out, settings, figures);
    if figures.seconds > 0.0 && figures.done > 0 {
        rates(out, settings, figures);
    }
    let response = times.by_measure(Measure::Response);
    if response.count() == 0 {
        return;
    }
    out.push_str("\nConnection Times (ms)\n");
    let rows = rows(times, before);
    if settings.short_stats {
        out.push_str("              min   avg   max\n");
        for row in rows {
            let _ = writeln!(out, "{:<12}{:>6} {:>5}{:>5}", row.name, row.min, row.mean, row.max);
        }
    } else {
        out.push_str("              min  mean[+/-sd] median   max\n");
        for Row { name, min, mean, stdev, median, max, .. } in &rows {
            let _ = writeln!(out, "{name:<12}{min:>5} {mean:>4} {stdev:>5.1} {median:>6} {max:>7}");
        }
        warnings(out, &rows);
    }
    if !settings.no_percentiles && response.count() > 1 {
        out.push_str("\nPercentage of the requests served within a certain time (ms)\n");
        for percent in [50u32, 66, 75, 80, 90, 95, 98, 99] {
            let value = ms(response.quantile(f64::from(percent) / 100.0).unwrap_or(0));
            let _ = writeln!(out, "  {percent}%  {value:>5}");
        }
        let _ = writeln!(out, " 100%  {:>5} (longest request)", ms(response.max().unwrap_or(0)));
    }
}

/// What was loaded, and what was counted.
fn facts(out: &mut String, settings: &AbSettings, figures: &Figures) {
    let mut line = |name: &str, value: &str| {
        let (blank, name) = name.split_at(name.len() - name.trim_start().len());
        let _ = writeln!(out, "{blank}{:<24}{value}", format!("{name}:"));
    };
    line("\n\nServer Software", &figures.server);
    line("Server Hostname", &settings.host);
    line("Server Port", &settings.port.to_string());
    line("\nDocument Path", &plan::masked(&settings.path));
    line("Document Length", &figures.length);
    line("\nConcurrency Level", &settings.connections.to_string());
    line("Time taken for tests", &format!("{:.3} seconds", figures.seconds));
    line("Complete requests", &figures.done.to_string());
    line("Failed requests", &figures.failed().to_string());
    if figures.failed() > 0 {
        let Figures { connect, receive, differ, exceptions, .. } = figures;
        let _ =
            writeln!(out, "   (Connect: {connect}, Receive: {receive}, Length: {differ}, Exceptions: {exceptions})");
    }
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{:<24}{value}", format!("{name}:"));
    };
    if figures.non_2xx > 0 {
        line("Non-2xx responses", &figures.non_2xx.to_string());
    }
    if settings.keep_alive {
        line("Keep-Alive requests", &figures.kept.to_string());
    }
    line("Total transferred", &format!("{} bytes", figures.total_read));
    if settings.has_body {
        line("Total body sent", &figures.sent.to_string());
    }
    line("HTML transferred", &format!("{} bytes", figures.body_read));
}

/// Requests and bytes per second, and the time of each request.
fn rates(out: &mut String, settings: &AbSettings, figures: &Figures) {
    let (done, seconds) = (figures.done as f64, figures.seconds);
    let each = seconds * 1e3 / done;
    let users = settings.connections as f64;
    let _ = writeln!(out, "Requests per second:    {:.2} [#/sec] (mean)", done / seconds);
    let _ = writeln!(out, "Time per request:       {:.3} [ms] (mean)", users * each);
    let _ = writeln!(out, "Time per request:       {each:.3} [ms] (mean, across all concurrent requests)");
    let kilo = |bytes: u64| bytes as f64 / 1_024.0 / seconds;
    let _ = writeln!(out, "Transfer rate:          {:.2} [Kbytes/sec] received", kilo(figures.total_read));
    if settings.has_body {
        let _ = writeln!(out, "                        {:.2} kb/s sent", kilo(figures.sent));
        let _ = writeln!(out, "                        {:.2} kb/s total", kilo(figures.sent + figures.total_read));
    }
}

/// Warnings of times whose median and mean are far apart.
fn warnings(out: &mut String, rows: &[Row]) {
    for row in rows {
        let away = row.mean.abs_diff(row.median) as f64;
        if away > 2.0 * row.stdev {
            let _ = writeln!(
                out,
                "ERROR: The median and mean for {} are more than twice the standard\n       deviation apart. These results are NOT reliable.",
                row.long
            );
        } else if away > row.stdev {
            let _ = writeln!(
                out,
                "WARNING: The median and mean for {} are not within a normal deviation\n        These results are probably not that reliable.",
                row.long
            );
        }
    }
}

fn html(
    out: &mut String,
    settings: &AbSettings,
    figures: &Figures,
    (times, before): (&Timings, &Distribution),
    attributes: &[String; 3],
) {
    let [table, tr, td] = attributes;
    let _ = writeln!(out, "\n\n<table {table}>");
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "<tr {tr}><th colspan=2 {td}>{name}:</th><td colspan=2 {td}>{value}</td></tr>");
    };
    row("Server Software", &escape(&figures.server));
    row("Server Hostname", &escape(&settings.host));
    row("Server Port", &settings.port.to_string());
    row("Document Path", &escape(&plan::masked(&settings.path)));
    row("Document Length", &figures.length);
    row("Concurrency Level", &settings.connections.to_string());
    row("Time taken for tests", &format!("{:.3} seconds", figures.seconds));
    row("Complete requests", &figures.done.to_string());
    row("Failed requests", &figures.failed().to_string());
    if figures.non_2xx > 0 {
        row("Non-2xx responses", &figures.non_2xx.to_string());
    }
    if settings.keep_alive {
        row("Keep-Alive requests", &figures.kept.to_string());
    }
    row("Total transferred", &format!("{} bytes", figures.total_read));
    if settings.has_body {
        row("Total body sent", &figures.sent.to_string());
    }
    row("HTML transferred", &format!("{} bytes", figures.body_read));
    if figures.seconds > 0.0 {
        row("Requests per second", &format!("{:.2}", figures.done as f64 / figures.seconds));
        row("Transfer rate", &format!("{:.2} kb/s received", figures.total_read as f64 / 1_024.0 / figures.seconds));
    }
    if times.by_measure(Measure::Response).count() > 0 {
        let _ = writeln!(out, "<tr {tr}><th {td} colspan=4>Connection Times (ms)</th></tr>");
        let _ = writeln!(
            out,
            "<tr {tr}><th {td}>&nbsp;</th> <th {td}>min</th>   <th {td}>avg</th>   <th {td}>max</th></tr>"
        );
        for Row { name, min, mean, max, .. } in rows(times, before).iter().filter(|row| row.name != "Waiting:") {
            let _ = writeln!(
                out,
                "<tr {tr}><th {td}>{name}</th><td {td}>{min:>5}</td><td {td}>{mean:>5}</td><td {td}>{max:>5}</td></tr>"
            );
        }
    }
    out.push_str("</table>\n");
}

/// Escapes a text of a server for an HTML page.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(calendar(0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(calendar(1_795_331_281), "Sun Nov 22 07:08:01 2026");
        assert_eq!(calendar(951_782_400), "Tue Feb 29 00:00:00 2000");
    }
}
