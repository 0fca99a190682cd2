//! A chart of response times against the load that needs no script: SVG, in the colours of the page's style.

use serde_json::Value;

use super::words::{figure, load};
use crate::Language;
use crate::format::time;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 44.0;

/// A logarithmic scale.
struct Scale {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Option<Self> {
        let values = values.filter(|value| *value > 0.0);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        (least.is_finite() && most > 0.0).then(|| Self { least: least / 1.15, most: most * 1.15, from, to })
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value / self.least).ln() / (self.most / self.least).ln();
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Marks at ones, twos and fives.
    fn marks(&self) -> Vec<f64> {
        let mut all = Vec::new();
        for power in -9..10 {
            for step in [1.0, 2.0, 5.0] {
                let value = step * 10f64.powi(power);
                if value >= self.least && value <= self.most {
                    all.push(value);
                }
            }
        }
        // With many marks only the powers of ten are readable.
        if all.len() > 9 { all.into_iter().filter(|value| is_power(*value)).collect() } else { all }
    }
}

fn is_power(value: f64) -> bool {
    (value.log10() - value.log10().round()).abs() < 1e-9
}

/// The drawing; empty where no trial has a time.
pub(super) fn drawing(report: &Value, language: Language) -> String {
    let trials = report["trials"].as_array().map_or(&[][..], Vec::as_slice);
    let points: Vec<(f64, f64, f64, &str)> = trials
        .iter()
        .filter(|trial| trial["class"] != "discarded")
        .filter_map(|trial| {
            let class = trial["class"].as_str()?;
            Some((trial["at"].as_f64()?, trial["p50_s"].as_f64()?, trial["p99_s"].as_f64()?, class))
        })
        .collect();
    let loads = points.iter().map(|point| point.0);
    let times = points.iter().flat_map(|point| [point.1, point.2]);
    let (Some(x), Some(y)) = (Scale::new(loads, LEFT, WIDTH - RIGHT), Scale::new(times, HEIGHT - BOTTOM, TOP)) else {
        return String::new();
    };
    let title = language.pick("Response time against load", "响应时间与负载");
    let mut svg = format!(
        "<svg class=\"drawing\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>\n"
    );
    let mut line = |class: &str, from: (f64, f64), to: (f64, f64)| {
        svg.push_str(&format!(
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        ));
    };
    for mark in x.marks() {
        line("grid", (x.at(mark), TOP), (x.at(mark), HEIGHT - BOTTOM));
    }
    for mark in y.marks() {
        line("grid", (LEFT, y.at(mark)), (WIDTH - RIGHT, y.at(mark)));
    }
    for (name, class) in [("lower", "held"), ("upper", "lost")] {
        if let Some(at) = report[name].as_f64() {
            line(class, (x.at(at), TOP), (x.at(at), HEIGHT - BOTTOM));
        }
    }
    let mut label = |at: (f64, f64), anchor: &str, text: &str| {
        svg.push_str(&format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{text}</text>", at.0, at.1));
    };
    for mark in x.marks() {
        label((x.at(mark), HEIGHT - BOTTOM + 16.0), "middle", &figure(mark));
    }
    for mark in y.marks() {
        label((LEFT - 6.0, y.at(mark) + 4.0), "end", &time(mark * 1e9));
    }
    let unit = match report["vary"].as_str().unwrap_or_default() {
        "users" => language.pick("users", "用户数"),
        "connections" => language.pick("connections", "连接数"),
        _ => language.pick("starts per second", "每秒发起数"),
    };
    label(((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6.0), "middle", unit);
    for (at, p50, p99, class) in &points {
        let shown = load(*at, report, language);
        for (kind, seconds, radius) in [("p50", *p50, 3.0), ("p99", *p99, 4.5)] {
            svg.push_str(&format!(
                "<circle class=\"{kind} {class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{shown}: {kind} {}</title></circle>",
                x.at(*at),
                y.at(seconds),
                time(seconds * 1e9)
            ));
        }
    }
    svg.push_str("</svg>\n");
    let legend = language.pick(
        "Large: p99, small: p50. Green met the goals, red missed them, grey is open. Lines: the bounds.",
        "大点为 p99，小点为 p50。绿色达标，红色未达标，灰色未定；竖线为上下界。",
    );
    format!("<figure>{svg}<figcaption>{legend}</figcaption></figure>\n")
}
