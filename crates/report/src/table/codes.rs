//! The last column: status codes, and remarks on an interval.

use figures::Interval;
use unicode_width::UnicodeWidthStr;

use crate::format::{self, short_count};
use crate::screen::Screen;
use crate::wrap::cut;

/// With fewer columns, the terminal shows few codes, with short counts.
const WIDE_COLUMNS: usize = 120;
/// The most codes on such a terminal.
const CODES_NARROW_MAX: usize = 3;

/// One counted item.
struct Item {
    name: String,
    count: u64,
}

/// All codes where there is room; else the most frequent ones, in their order, and the number of the others.
pub(super) fn codes(interval: &Interval, screen: &Screen, columns: Option<usize>) -> String {
    let (codes, rest) = items(interval, screen);
    let exact = |item: &Item| format!("{}:{}", item.name, format::count(item.count));
    let Some(room) = columns else {
        let texts: Vec<String> = codes.iter().map(exact).chain(rest).collect();
        return texts.join(" ");
    };
    let most = if is_wide(screen) { codes.len() } else { codes.len().min(CODES_NARROW_MAX) };
    let short = |item: &Item| format!("{}:{}", item.name, short_count(item.count));
    let line = |kept: usize, text: &dyn Fn(&Item) -> String| {
        let left_out = codes.len() - kept;
        let more = (left_out > 0).then(|| format!("+{left_out}"));
        let texts: Vec<String> =
            most_frequent(&codes, kept).into_iter().map(text).chain(more).chain(rest.iter().cloned()).collect();
        texts.join(" ")
    };
    let tries = (0..=most).rev().flat_map(|kept| [line(kept, &exact), line(kept, &short)]);
    let mut tries = tries.filter(|text| text.width() <= room);
    tries.next().unwrap_or_else(|| cut(&line(0, &short), room))
}

fn is_wide(screen: &Screen) -> bool {
    screen.columns().is_none_or(|columns| columns >= WIDE_COLUMNS)
}

/// The `kept` items with the largest counts, in the order of the codes.
fn most_frequent(codes: &[Item], kept: usize) -> Vec<&Item> {
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(codes[index].count), index));
    order.truncate(kept);
    order.sort_unstable();
    order.into_iter().map(|index| &codes[index]).collect()
}

/// The codes, and the remarks that are always shown after them.
fn items(interval: &Interval, screen: &Screen) -> (Vec<Item>, Vec<String>) {
    let total = &interval.total;
    let item = |name: String, count: &u64| Item { name, count: *count };
    let mut codes: Vec<Item> =
        total.grpc_statuses.iter().map(|(name, count)| item((*name).to_owned(), count)).collect();
    // Where gRPC calls are counted, the HTTP status 200 says nothing new.
    let is_grpc = !codes.is_empty();
    let of_http = total.statuses.iter().filter(|(status, _)| !is_grpc || *status != 200);
    codes.extend(of_http.map(|(status, count)| item(status.to_string(), count)));
    codes.extend(total.status_words.iter().map(|(word, count)| item(word.to_string(), count)));
    let words = screen.language.words();
    let mut rest = Vec::new();
    if total.dropped() > 0 {
        rest.push(if is_wide(screen) {
            format!("{}:{}", words.dropped, format::count(total.dropped()))
        } else {
            format!("{}:{}", screen.language.pick("drop", "丢弃"), short_count(total.dropped()))
        });
    }
    if interval.late_shards > 0 {
        let late = interval.late_shards;
        let (en, zh) = if is_wide(screen) {
            (format!("({} late)", format::counted(late as u64, "thread")), format!("（{late} 个线程滞后）"))
        } else {
            (format!("late:{late}"), format!("滞后:{late}"))
        };
        rest.push(screen.language.pick(en, zh));
    }
    (codes, rest)
}
