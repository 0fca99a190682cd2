//! The keys of figures that users define.

use super::{Field, Kind, Object, field};

const FIGURE_KINDS: &[&str] = &["counter", "trend", "share", "gauge"];

keys! {
    pub(crate) FIGURE = "figure", "a figure", "自定义指标";
    "kind": Kind::Word(FIGURE_KINDS),
        "counter (a sum), trend (percentiles), share (how many were true), or gauge (least, greatest, last)",
        "counter（求和）、trend（百分位）、share（为 true 的占比）或 gauge（最小、最大、最后的值）", needed;
    "unit": Kind::Text, "The unit of its values in reports, like EUR", "报告中显示的单位，如 EUR";
    "step": Kind::Text,
        "Of a trend: the distance of two values that are told apart, like 0.01 [default: 1]",
        "trend 能区分的最小差值，如 0.01 [默认：1]";
}

pub(super) const FIGURES: Field = field(
    "figures",
    Kind::Named(&Kind::Either(&[Kind::Word(FIGURE_KINDS), Kind::Object(&FIGURE)])),
    "Figures of your own, by name: a kind, or {kind: trend, unit: EUR, step: 0.01}; '- record:' gives them values",
    "自定义指标，字段名即名称：写类型，或 {kind: trend, unit: EUR, step: 0.01}；用 '- record:' 记录它们的值",
);
