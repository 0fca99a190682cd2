//! The addresses of a name, each with its own figures.

use figures::{AddressFigures, AddressOf, AddressOutlier, Quantile, Run};
use metrics::{ADDRESS_RESPONSES_MIN, ADDRESSES_MAX, AddressLack};
use serde_json::{Value, json};

use crate::Language;
use crate::format::{count, time};
use crate::json::distribution::distribution;
use crate::named_rows::named_rows;
use crate::page::percentile;
use crate::screen::Screen;

/// Most addresses that are shown; the report has all.
const SHOWN_MAX: usize = 64;

/// The name of a row.
fn name(of: AddressOf, language: Language) -> String {
    match of {
        AddressOf::Address(address) => address.to_string(),
        AddressOf::Others => language.pick("all other addresses", "其余地址").to_owned(),
        AddressOf::Rest => language.pick("all other requests", "其余请求").to_owned(),
    }
}

/// A line for each address; empty where there is one.
pub(crate) fn table(run: &Run, screen: &Screen) -> String {
    if run.addresses.is_empty() {
        return String::new();
    }
    let (language, words) = (screen.language, screen.language.words());
    let opened = match run.has_only_datagrams() {
        true => language.pick("sockets", "套接字"),
        false => language.pick("connections", "连接"),
    };
    let heads = [opened, words.requests_column, words.failed, "p50", "p99", words.max];
    let row = |row: &AddressFigures| {
        let at = |quantile| row.response.as_ref().map_or("-".to_owned(), |times| percentile(times, quantile));
        let (p50, p99, max) = (at(Quantile::P50), at(Quantile::P99), at(Quantile::Max));
        (name(row.of, language), [count(row.established), count(row.sent), count(row.failed), p50, p99, max])
    };
    named_rows(language.pick("Addresses", "地址"), &heads, run.addresses.iter().take(SHOWN_MAX).map(row), screen)
}

/// The address that is unlike all others, in words; empty without one.
pub(crate) fn outlier(run: &Run, language: Language) -> String {
    match run.outlier {
        None => String::new(),
        Some(AddressOutlier::Slow { address, p50_ns, others_p50_ns }) => {
            let (own, others) = (time(p50_ns as f64), time(others_p50_ns as f64));
            language.pick(
                format!("; {address} is slow: p50 {own}, all other addresses {others}"),
                format!("；{address} 偏慢：p50 {own}，其他地址 {others}"),
            )
        }
        Some(AddressOutlier::Failing { address, failed, of }) => {
            let (failed, of) = (count(failed), count(of));
            language.pick(
                format!("; only {address} fails: {failed} of its {of} requests"),
                format!("；只有 {address} 出现失败：{of} 个请求中有 {failed} 个"),
            )
        }
    }
}

/// What is missing to judge a threshold by address.
pub(crate) fn lack(lack: AddressLack, language: Language) -> String {
    let zh = match lack {
        AddressLack::OneAddress => "只有一个地址，没有按地址统计".to_owned(),
        AddressLack::Unused => "没有请求发往该地址".to_owned(),
        AddressLack::FewResponses { address, answered } => {
            format!("{address} 只有 {} 个响应，每个地址至少要有 {ADDRESS_RESPONSES_MIN} 个才能比较", count(answered))
        }
        AddressLack::TooMany => format!("地址超过 {ADDRESSES_MAX} 个，其余地址合并统计"),
    };
    language.pick(lack.to_string(), zh)
}

/// The addresses as JSON, for the report and while a run goes on.
pub(crate) fn values(rows: &[AddressFigures]) -> Value {
    let one = |row: &AddressFigures| {
        let (kind, address) = match row.of {
            AddressOf::Address(address) => ("address", Some(address.to_string())),
            AddressOf::Others => ("others", None),
            AddressOf::Rest => ("rest", None),
        };
        json!({
            "kind": kind,
            "address": address,
            "text": name(row.of, Language::En),
            "text_zh": name(row.of, Language::Zh),
            "connections_tried": row.tried,
            "connections": row.established,
            "sent": row.sent,
            "answered": row.answered,
            "failed": row.failed,
            "response_time": row.response.as_ref().map(distribution),
        })
    };
    rows.iter().map(one).collect()
}

/// What became of the lookups of names, for the report.
pub(crate) fn names(all: &[engine::NameReport]) -> Value {
    let list = |addresses: &[core::net::IpAddr]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>();
    let one = |name: &engine::NameReport| {
        let changes = name.changes.iter().map(|change| {
            json!({"after_s": change.after.as_secs_f64(), "came": list(&change.came), "left": list(&change.left)})
        });
        json!({
            "host": name.host,
            "addresses": list(&name.addresses),
            "lookups": name.lookups,
            "failed": name.failed,
            "reason": name.reason,
            "changes": changes.collect::<Vec<_>>(),
            "refused": list(&name.refused),
            "is_of_system": name.is_of_system,
        })
    };
    all.iter().map(one).collect()
}
