//! Charts of counts and times.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType};
use report::format;

use super::{clock, style};
use crate::known::ScreenState;

/// A series: its name, its color, and its key in the chart data.
type Series = (&'static str, Color, &'static str);

/// Requested, completed and failed requests; or held connections.
pub(super) fn amounts(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    let word = |en: &'static str, zh: &'static str| known.style.language.pick(en, zh);
    let of_load = [
        (word("asked", "计划"), Color::DarkGray, "requested_per_s"),
        (word("done", "已结束"), Color::Green, "done_per_s"),
        (word("failed", "失败"), Color::Red, "failed_per_s"),
    ];
    let of_hold = [(word("open", "已建立"), Color::Green, "open")];
    match known.is_held() {
        true => draw(frame, area, known, (word("connections", "连接数"), &of_hold, false)),
        false => draw(frame, area, known, (word("requests/s", "QPS"), &of_load, false)),
    }
}

/// Percentiles of the response time, on a logarithmic axis.
pub(super) fn times(frame: &mut Frame<'_>, area: Rect, known: &ScreenState) {
    let all = [("p50", Color::Green, "p50_s"), ("p99", Color::Magenta, "p99_s"), ("p99.9", Color::Red, "p99_9_s")];
    let title = known.style.language.pick("response time", "响应时间");
    draw(frame, area, known, (title, &all, true));
}

fn points(known: &ScreenState, key: &str, is_log: bool) -> Vec<(f64, f64)> {
    let (to, values) = (&known.charts["to_s"], &known.charts["series"][key]);
    let pairs = to.as_array().into_iter().flatten().zip(values.as_array().into_iter().flatten());
    let all = pairs.filter_map(|(to, value)| Some((to.as_f64()?, value.as_f64()?)));
    match is_log {
        true => all.filter(|(_, value)| *value > 0.0).map(|(to, value)| (to, value.log10())).collect(),
        false => all.collect(),
    }
}

fn draw(frame: &mut Frame<'_>, area: Rect, known: &ScreenState, (title, series, is_log): (&str, &[Series], bool)) {
    let all: Vec<(&Series, Vec<(f64, f64)>)> =
        series.iter().map(|one| (one, points(known, one.2, is_log))).filter(|(_, points)| !points.is_empty()).collect();
    let values = || all.iter().flat_map(|(_, points)| points).map(|(_, value)| *value);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let bounds = match (most.is_finite(), is_log) {
        (false, _) => [0.0, 1.0],
        (true, true) => [least - 0.05, most + 0.05],
        (true, false) => [0.0, (most * 1.05).max(1.0)],
    };
    let ends = known.charts["to_s"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64);
    let end = ends.fold(1.0, f64::max);
    let label = |value: f64| match (most.is_finite(), is_log) {
        (false, _) => String::new(),
        (true, true) => format::time(10f64.powf(value) * 1e9),
        (true, false) => format::short_count(value.round() as u64),
    };
    let middle = f64::midpoint(bounds[0], bounds[1]);
    let data = all.iter().map(|((name, color, _), points)| {
        let marker = if known.style.has_colors { Marker::Braille } else { Marker::Dot };
        let set = Dataset::default().name(*name).marker(marker).graph_type(GraphType::Line);
        set.style(style(known, *color)).data(points)
    });
    let gray = style(known, Color::DarkGray);
    let x = Axis::default().bounds([0.0, end]).labels([clock(0.0), clock(end)]).style(gray);
    let y = Axis::default().bounds(bounds).labels([label(bounds[0]), label(middle), label(bounds[1])]).style(gray);
    let block = Block::bordered().title(format!(" {title} ")).border_style(gray);
    frame.render_widget(Chart::new(data.collect()).block(block).x_axis(x).y_axis(y), area);
}
