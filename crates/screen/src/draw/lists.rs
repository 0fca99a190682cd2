//! The histogram of response times, the statuses of responses, and the table of steps.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Row, Table};
use report::format;
use serde_json::Value;

use super::{number, style, time_of};
use crate::known::ScreenState;

/// Columns of a bar's label and share.
const LABEL_WIDTH: u16 = 18;

fn block(known: &ScreenState, title: &str) -> Block<'static> {
    Block::bordered().title(format!(" {title} ")).border_style(style(known, Color::DarkGray))
}

/// Response times of the whole run as bars, the shortest first.
pub(super) fn histogram(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    let block = block(known, known.pick("how often", "响应时间分布"));
    let inner = block.inner(area);
    let bars = bars(&known.charts["heat"], usize::from(inner.height));
    let all: u64 = bars.iter().map(|(_, count)| count).sum();
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let width = f64::from(inner.width.saturating_sub(LABEL_WIDTH));
    let line = |(upper, count): &(f64, u64)| {
        let bar = "█".repeat((*count as f64 / most as f64 * width).ceil() as usize);
        let label = format!("<{:>8} {:>6} ", format::time(upper * 1e9), format::percent(*count, all));
        Line::from(vec![Span::raw(label), Span::styled(bar, style(known, Color::Cyan))])
    };
    frame.render_widget(Paragraph::new(bars.iter().map(line).collect::<Vec<_>>()).block(block), area);
}

/// Up to `height` bars: the upper bound of each in seconds, and its count.
fn bars(heat: &Value, height: usize) -> Vec<(f64, u64)> {
    let edges: Vec<f64> = heat["edges_s"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let mut counts = vec![0u64; edges.len().saturating_sub(1)];
    for column in heat["counts"].as_array().into_iter().flatten() {
        for (place, count) in column.as_array().into_iter().flatten().enumerate() {
            if let (Some(sum), Some(count)) = (counts.get_mut(place), count.as_u64()) {
                *sum += count;
            }
        }
    }
    let group = counts.len().div_ceil(height.max(1)).max(1);
    let ends = edges.iter().skip(1).collect::<Vec<_>>();
    counts
        .chunks(group)
        .zip(ends.chunks(group))
        .filter_map(|(some, ends)| Some((**ends.last()?, some.iter().sum())))
        .collect()
}

/// Statuses, failures, thresholds, and the latest events.
pub(super) fn counts(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    let live = &known.run["live"];
    let mut lines = Vec::new();
    for (key, name) in [("statuses", "HTTP"), ("grpc_statuses", "gRPC")] {
        for (status, count) in live[key].as_object().into_iter().flatten() {
            // A word is a status of a custom protocol.
            let is_word = key == "statuses" && status.parse::<u16>().is_err();
            let status = if is_word { status.clone() } else { format!("{name} {status}") };
            lines.push(Line::from(format!("{:>12}  {status}", format::count(number(count) as u64))));
        }
    }
    let red = style(known, Color::Red);
    for failure in live["failures"].as_array().into_iter().flatten() {
        let reason = report::reason_called(failure["reason"].as_str().unwrap_or_default(), known.style.language);
        let count = number(&failure["count"]);
        lines.push(Line::styled(format!("{:>12}  {reason}", format::count(count as u64)), red));
    }
    if let Some(count) = live["workers"]["count"].as_u64() {
        let lost = number(&live["workers"]["lost"]) as u64;
        let text = match lost {
            0 => known.style.language.pick(format!("{count:>12}  workers"), format!("{count:>12}  个工作进程")),
            _ => known.style.language.pick(
                format!("{count:>12}  workers, {lost} of them lost"),
                format!("{count:>12}  个工作进程，{lost} 个失联"),
            ),
        };
        lines.push(Line::styled(text, if lost > 0 { red } else { Style::new() }));
    }
    for one in live["thresholds"].as_array().into_iter().flatten() {
        let holds = one["holds"] == true;
        let (word, color) = match holds {
            true => (known.pick("met so far", "目前达标"), Color::Green),
            false => (known.pick("crossed", "未达标"), Color::Red),
        };
        let text = format!("{}  {word}", one["threshold"].as_str().unwrap_or_default());
        lines.push(Line::styled(text, style(known, color)));
    }
    let key = known.pick("text", "text_zh");
    let events = known.run["events"].as_array().map_or(&[][..], Vec::as_slice);
    // The latest ones, as far as there is room.
    let room = usize::from(area.height.saturating_sub(2)).saturating_sub(lines.len());
    for event in events.iter().rev().take(room).rev() {
        let at = super::clock(number(&event["at_s"]));
        lines.push(Line::from(format!("{at} {}", event[key].as_str().unwrap_or_default())));
    }
    let title = known.pick("answers, failures, thresholds, events", "状态码、失败、阈值、事件");
    frame.render_widget(Paragraph::new(lines).block(block(known, title)), area);
}

/// Steps, transactions and checks, one in each line.
pub(super) fn steps(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    let word = |en: &'static str, zh: &'static str| known.style.language.pick(en, zh);
    let mut rows = Vec::new();
    for scenario in known.run["live"]["scenarios"].as_array().into_iter().flatten() {
        for key in ["steps", "transactions"] {
            for part in scenario[key].as_array().into_iter().flatten() {
                let times = &part["response_time"];
                let count = |key: &str| format::count(number(&part[key]) as u64);
                let name = part["name"].as_str().unwrap_or_default().to_owned();
                let all = [
                    name,
                    count("finished"),
                    count("failed"),
                    time_of(times, "p50_ns"),
                    time_of(times, "p99_ns"),
                    time_of(times, "max_ns"),
                ];
                rows.push(Row::new(all));
            }
        }
        for check in scenario["checks"].as_array().into_iter().flatten() {
            let (passed, failed) = (number(&check["passed"]) as u64, number(&check["failed"]) as u64);
            let name = check["name"].as_str().unwrap_or_default().to_owned();
            let none = String::new;
            rows.push(Row::new([name, format::count(passed + failed), format::count(failed), none(), none(), none()]));
        }
    }
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(12),
        Constraint::Length(10),
        Constraint::Length(9),
        Constraint::Length(9),
        Constraint::Length(9),
    ];
    let head =
        [word("step", "步骤"), word("requests", "请求数"), word("failed", "失败"), "p50", "p99", word("max", "最大")];
    let table = Table::new(rows, widths).header(Row::new(head).style(style(known, Color::DarkGray)));
    frame.render_widget(table.block(block(known, word("steps", "步骤"))), area);
}
