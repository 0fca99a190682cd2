//! The screen, top to bottom: the run, its progress, tiles, charts, lists, keys.

mod charts;
mod head;
mod lists;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Style};
use ratatui::widgets::{Paragraph, Wrap};
use serde_json::Value;

use crate::known::ScreenState;

/// The smallest readable size.
const LEAST: (u16, u16) = (40, 12);

/// Draws the screen.
pub(crate) fn all(frame: &mut Frame<'_>, known: &ScreenState) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = known.pick("the terminal is too small; the run goes on", "终端窗口太小；压测仍在进行");
        return frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
    }
    let heights = [
        Constraint::Length(2),
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Fill(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ];
    let [title, bar, tiles, upper, lower, foot] = Layout::vertical(heights).areas(area);
    head::title(frame, title, known);
    head::bar(frame, bar, known);
    head::tiles(frame, tiles, known);
    if known.shows_steps {
        lists::steps(frame, upper, known);
    } else {
        let halves = [Constraint::Fill(1), Constraint::Fill(1)];
        let [left, right] = Layout::horizontal(halves).areas(upper);
        charts::amounts(frame, left, known);
        charts::times(frame, right, known);
    }
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(lower);
    lists::histogram(frame, left, known);
    lists::counts(frame, right, known);
    head::foot(frame, foot, known);
}

fn style(known: &ScreenState, color: Color) -> Style {
    if known.style.has_colors { Style::new().fg(color) } else { Style::new() }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// A time in nanoseconds; a dash if there is none.
fn time(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), report::format::time)
}

/// The percentile that tables show: including incomplete exchanges, if there are any.
fn time_of(times: &Value, key: &str) -> String {
    let whole = &times["with_incomplete"];
    let Some(ns) = whole[key].as_f64() else { return time(&times[key]) };
    let name = key.trim_end_matches("_ns");
    let is_least = whole["at_least"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    format!("{}{}", if is_least { ">=" } else { "" }, report::format::time(ns))
}

/// Minutes and seconds, with hours if there are some.
fn clock(seconds: f64) -> String {
    let all = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (all / 3_600, all / 60 % 60, all % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}
