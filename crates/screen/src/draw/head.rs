//! The run, its progress, its main figures, and the keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use report::format;
use serde_json::Value;

use super::{clock, number, style, time_of};
use crate::known::ScreenState;
use crate::labels;

pub(super) fn title(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    let plan = &known.run["plan"];
    let target = plan["target"].as_str().unwrap_or("onrush");
    let state = labels::state(known.state(), known.style.language);
    let color = match known.state() {
        "running" => Color::Green,
        "paused" | "stopping" | "warming_up" => Color::Yellow,
        _ => Color::Gray,
    };
    let first = Line::from(vec![
        Span::styled(target.to_owned(), Style::new().add_modifier(Modifier::BOLD)),
        Span::raw("  "),
        Span::styled(state, style(known, color).add_modifier(Modifier::BOLD)),
    ]);
    frame.render_widget(Paragraph::new(vec![first, what_runs(known)]), area);
}

/// One scenario in words; several with the current load of each, and a mark at the one that keys change.
fn what_runs(known: &ScreenState) -> Line<'static> {
    let plan = &known.run["plan"];
    let now = known.run["scenarios"].as_array().map_or(&[][..], Vec::as_slice);
    if now.len() < 2 {
        let key = known.pick("text", "text_zh");
        let one = plan["scenarios"].get(0).unwrap_or(plan);
        return Line::from(one[key].as_str().unwrap_or_default().to_owned());
    }
    let mut spans = Vec::new();
    for (place, one) in now.iter().enumerate() {
        let is_chosen = place == known.scenario;
        let mark = if is_chosen { ">" } else { " " };
        let modifier = if is_chosen { Modifier::BOLD } else { Modifier::empty() };
        let text = format!("{mark}{} {}  ", one["name"].as_str().unwrap_or_default(), amount(known, one));
        spans.push(Span::styled(text, Style::new().add_modifier(modifier)));
    }
    Line::from(spans)
}

/// The current requested load of a scenario.
fn amount(known: &ScreenState, one: &Value) -> String {
    match one["kind"].as_str() {
        Some("users") => format!("{} {}", format::count(number(&one["now"]) as u64), known.pick("users", "用户")),
        _ => format!("{}/s", format::rate(number(&one["now"]))),
    }
}

/// A progress bar, with the time.
pub(super) fn bar(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    let (share, left) = known.progress();
    let mut text = format!(" {}", clock(known.elapsed().as_secs_f64()));
    if let Some(share) = share {
        text.push_str(&format!("  {:.0}%", (share * 100.0).floor()));
    }
    if let Some(left) = left {
        text.push_str(&format!("  {} {}", known.pick("left", "还剩"), clock(left.as_secs_f64().ceil())));
    }
    let width = usize::from(area.width).saturating_sub(26);
    let full = (share.unwrap_or(0.0) * width as f64).round() as usize;
    let bar = Line::from(vec![
        Span::styled("█".repeat(full.min(width)), style(known, Color::Cyan)),
        Span::styled("░".repeat(width - full.min(width)), style(known, Color::DarkGray)),
        Span::raw(text),
    ]);
    frame.render_widget(Paragraph::new(bar), area);
}

/// A name, a figure, and a smaller one next to it.
type Tile = (&'static str, String, String);

pub(super) fn tiles(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    let all = if known.is_held() { hold_tiles(known) } else { load_tiles(known) };
    let areas = Layout::horizontal(all.iter().map(|_| Constraint::Fill(1))).spacing(1).split(area);
    for ((name, value, small), area) in all.into_iter().zip(areas.iter()) {
        let value = Line::from(vec![
            Span::styled(value, Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(" "),
            Span::styled(small, style(known, Color::DarkGray)),
        ]);
        frame.render_widget(Paragraph::new(vec![Line::styled(name, style(known, Color::DarkGray)), value]), *area);
    }
}

fn load_tiles(known: &ScreenState) -> Vec<Tile> {
    let word = |en: &'static str, zh: &'static str| known.style.language.pick(en, zh);
    let (now, total) = (&known.run["live"]["now"], &known.run["live"]["total"]);
    let scenarios = known.run["scenarios"].as_array().map_or(&[][..], Vec::as_slice);
    let rates = scenarios.iter().filter(|one| one["kind"] == "rate");
    let requested: f64 = rates.filter(|one| one["is_paused"] != true).map(|one| number(&one["now"])).sum();
    let requested = if requested > 0.0 { format!("/ {}", format::rate(requested)) } else { String::new() };
    let count = |value: &Value| format::count(number(value) as u64);
    let in_flight = count(&now["in_flight"]);
    vec![
        (word("requests/s", "QPS"), format::rate(number(&now["requests_per_s"])), requested),
        ("p99", time_of(&now["response_time"], "p99_ns"), format!("p50 {}", time_of(&now["response_time"], "p50_ns"))),
        (
            word("failures", "失败"),
            count(&total["failed"]),
            format!("{}/s", format::rate(number(&now["failed_per_s"]))),
        ),
        (
            word("users", "用户"),
            count(&now["users"]),
            known.style.language.pick(format!("{in_flight} in flight"), format!("在途 {in_flight}")),
        ),
        (word("requests", "请求数"), count(&total["finished"]), format::bytes(number(&total["bytes_received"]))),
    ]
}

fn hold_tiles(known: &ScreenState) -> Vec<Tile> {
    let word = |en: &'static str, zh: &'static str| known.style.language.pick(en, zh);
    let row = &known.run["live"]["hold"];
    let count = |value: &Value| format::count(number(value) as u64);
    vec![
        (word("open", "已建立"), count(&row["open"]), format!("/ {}", count(&known.run["plan"]["connections"]))),
        (word("connecting", "建立中"), count(&row["connecting"]), String::new()),
        (word("lost", "断开"), count(&row["lost"]), String::new()),
        (word("failed", "失败"), count(&row["failed"]), String::new()),
        ("p99", time_of(&row["response_time"], "p99_ns"), format!("p50 {}", time_of(&row["response_time"], "p50_ns"))),
    ]
}

/// The keys, or the response to the last one.
pub(super) fn foot(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    if !known.said.is_empty() {
        return frame.render_widget(Paragraph::new(known.said.clone()).style(style(known, Color::Yellow)), area);
    }
    let stop = match known.is_ending || known.state() == "stopping" {
        true => known.pick("q again: end at once", "再按 q：立即结束"),
        false => known.pick("q stop", "q 停止"),
    };
    let keys = match (known.is_held(), known.run["scenarios"].as_array().map_or(0, Vec::len)) {
        (true, _) => "",
        (_, 0 | 1) => {
            known.pick("  p pause/resume  + - rate or users  s steps", "  p 暂停/继续  + - 调整速率或用户数  s 步骤表")
        }
        _ => known.pick(
            "  p pause/resume  Tab scenario  + - rate or users  s steps",
            "  p 暂停/继续  Tab 选择场景  + - 调整速率或用户数  s 步骤表",
        ),
    };
    frame.render_widget(Paragraph::new(format!("{stop}{keys}")).style(style(known, Color::DarkGray)), area);
}
