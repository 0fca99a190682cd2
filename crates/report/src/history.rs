//! Stored runs: lists of them, and the changes within a series.

use history::{Card, Change, Listed, TREND_RUNS_MIN};
use serde_json::json;

use crate::format::{Align, count, counted, pad, rate, time};
use crate::screen::Screen;
use crate::wrap::cut;
use crate::{Doing, Language};

/// Widths of the columns of a list; the target takes the rest.
const WIDTHS: [usize; 6] = [18, 15, 9, 10, 10, 12];
const TARGET_WIDTH: usize = 40;
const TARGET_WIDTH_MIN: usize = 12;

/// A list of runs, the latest first, a line for each.
pub fn history_table(listed: &Listed, screen: &Screen) -> String {
    let language = screen.language;
    let pick = |en: &'static str, zh: &'static str| language.pick(en, zh);
    if listed.runs.is_empty() && listed.damaged.is_empty() {
        return format!(
            "{}\n",
            pick(
                "no runs are kept yet; runs of scenario files are, and others with --save",
                "还没有压测记录；场景文件的压测会自动保存，其他压测请加 --save"
            )
        );
    }
    let rest: usize = WIDTHS.iter().sum::<usize>() + 2;
    let room = screen.columns().map_or(TARGET_WIDTH, |columns| columns.saturating_sub(rest));
    let target_width = room.clamp(TARGET_WIDTH_MIN, TARGET_WIDTH);
    let row = |cells: [String; 6], target: &str| {
        let [id, others @ ..] = cells;
        let others = others.iter().zip(&WIDTHS[1..]).map(|(cell, width)| pad(cell, *width, Align::Right));
        let others: String = others.collect();
        format!("{}{others}  {}\n", pad(&cut(&id, WIDTHS[0] - 1), WIDTHS[0], Align::Left), cut(target, target_width))
    };
    let heads = [
        pick("run", "记录"),
        pick("requests/s", "QPS"),
        pick("failed", "失败"),
        "p50",
        "p99",
        pick("thresholds", "阈值"),
    ];
    let mut text = row(heads.map(str::to_owned), pick("target", "压测目标"));
    for card in &listed.runs {
        let ns = |value: Option<f64>| value.map_or("-".to_owned(), time);
        let met = match card.is_met {
            None => "-",
            Some(true) => pick("met", "达标"),
            Some(false) => pick("not met", "未达标"),
        };
        let shown = match card.held {
            Some(held) => format!("{} {}", count(held), pick("held", "连接")),
            None => card.requests_per_s.map_or("-".into(), rate),
        };
        let stopped = if card.was_stopped { pick("stopped ", "中止 ") } else { "" };
        let rate = format!("{stopped}{}{shown}", if card.is_unreliable { "!" } else { "" });
        let cells = [card.id.clone(), rate, count(card.failed), ns(card.p50_ns), ns(card.p99_ns), met.to_owned()];
        text.push_str(&row(cells.map(|cell| plain_text(&cell)), &plain_text(&card.target)));
    }
    for damage in &listed.damaged {
        let why = match damage.is_of_another_version {
            true => pick("of another version", "版本不同"),
            false => pick("damaged or unfinished", "已损坏或未完成"),
        };
        text.push_str(&format!(
            "{}{why}\n",
            pad(&cut(&plain_text(&damage.name), WIDTHS[0] - 1), WIDTHS[0], Align::Left)
        ));
    }
    text
}

/// A text of untrusted files without control characters, which a terminal would obey.
pub fn plain_text(text: &str) -> String {
    text.chars().map(|each| if each.is_control() { '?' } else { each }).collect()
}

/// The list as JSON.
pub fn history_json(listed: &Listed) -> String {
    let damaged = |one: &history::Damage| json!({"id": one.name, "is_of_another_version": one.is_of_another_version});
    let value = json!({
        "version": 1,
        "runs": listed.runs.iter().map(Card::value).collect::<Vec<_>>(),
        "damaged": listed.damaged.iter().map(damaged).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

/// The change points of equal runs. `runs`: from the oldest on; `series`: the changed figures with their changes.
pub fn trend_text(runs: &[&Card], series: &[(&str, Vec<Change>)], language: Language) -> String {
    let mut text = String::new();
    for (figure, changes) in series {
        for change in changes {
            let Some(card) = runs.get(change.at) else { continue };
            let shown = |value: f64| if figure.starts_with('p') { time(value) } else { rate(value) };
            let (before, after) = (shown(change.before), shown(change.after));
            let percent = in_percent(change.after / change.before - 1.0);
            text.push_str(&language.pick(
                format!("{}: {figure} {before} -> {after} ({percent}) from this run on\n", plain_text(&card.id)),
                format!("{}：{figure} 从 {before} 变为 {after}（{percent}），自此次压测起\n", plain_text(&card.id)),
            ));
        }
    }
    match runs.len() {
        _ if !text.is_empty() => text,
        few if few < TREND_RUNS_MIN => language.pick(
            format!("no change of level among {}; {TREND_RUNS_MIN} are needed to tell\n", counted(few as u64, "run")),
            format!("只有 {few} 次压测，至少需要 {TREND_RUNS_MIN} 次才能判断水平是否变化\n"),
        ),
        all => language
            .pick(format!("no change of level among {all} runs\n"), format!("{all} 次压测中没有明显的水平变化\n")),
    }
}

pub(crate) fn in_percent(share: f64) -> String {
    format!("{:+.1}%", share * 100.0)
}

/// An error about a requested run, or its folder.
pub fn history_error(error: &history::HistoryError, language: Language) -> String {
    use history::HistoryError;
    match error {
        HistoryError::Unknown { name, home } => {
            let name = plain_text(name);
            let home = home.display();
            language.pick(
                format!("there is no run '{name}' in {home}; see them with: onrush history"),
                format!("{home} 中没有名为 '{name}' 的压测记录；可用 onrush history 查看"),
            )
        }
        HistoryError::Ambiguous { name, among } => {
            let among = plain_text(&among.join(language.pick(", ", "、")));
            language.pick(
                format!("several runs begin with '{name}': {among}; write more of the name"),
                format!("有多条压测记录以 '{name}' 开头：{among}；请写得更完整"),
            )
        }
        HistoryError::Io { path, error } => {
            let otherwise = ("check who may read and write it, and the room on its disk", "请检查读写权限和磁盘空间");
            // A file of a run is read, its folder is written.
            let doing = if path.extension().is_some() { Doing::Read } else { Doing::Write };
            let why = crate::system_fault(&error.to_string(), doing, otherwise, language);
            let path = path.display();
            language.pick(format!("{path}: {why}"), format!("{path}：{why}"))
        }
        HistoryError::Damaged { path } => {
            let path = path.display();
            language.pick(
                format!("{path} is damaged, or of another version; remove its folder, or read it with the version that wrote it"),
                format!("{path} 已损坏，或由其他版本写出；请删除其所在目录，或用写出它的版本读取"),
            )
        }
    }
}
