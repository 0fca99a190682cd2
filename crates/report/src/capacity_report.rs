//! The capacity estimate: each result with its formula, as text and as JSON. `docs/capacity.schema.json` describes the
//! JSON.

use search::capacity::{CapacityError, CapacityLine, Name, number};
use serde_json::{Value, json};

use crate::Language;
use crate::format::{bytes, count, rate};
use crate::page::Page;
use crate::screen::{Paint, Screen};

/// The schema version; it grows with every change that could confuse a reader.
const SCHEMA: u32 = 1;

/// The label of a line, in words.
fn label(name: Name, language: Language) -> &'static str {
    let (english, chinese) = match name {
        Name::PeakViews => ("Peak views", "峰值浏览量"),
        Name::PeakTime => ("Peak time", "峰值时长"),
        Name::PeakRate => ("Peak rate", "峰值 QPS"),
        Name::RateOfUsers => ("Rate", "QPS"),
        Name::Machines => ("Machines", "机器数"),
        Name::OneLess => ("One less", "少一台"),
        Name::Busy => ("Busy", "利用率"),
        Name::WithSpare => ("One to lose", "容许坏一台"),
        Name::AtLoad => ("With room", "留余量"),
        Name::Users => ("Users", "用户数"),
        Name::InSystem => ("Under way", "处理中"),
        Name::Response => ("Response", "响应时间"),
        Name::Think => ("Think time", "思考时间"),
        Name::Threads => ("Threads", "线程数"),
        Name::OfCores => ("Cores can", "CPU 上限"),
        Name::Bandwidth => ("Bandwidth", "带宽"),
        Name::ClientAddresses => ("Addresses", "客户端地址"),
        Name::Memory => ("Memory", "内存"),
        Name::ConnectionsEach => ("Connections", "单机连接数"),
    };
    language.pick(english, chinese)
}

/// The value with its unit.
fn shown(line: &CapacityLine) -> String {
    let value = line.value;
    match line.name {
        Name::PeakRate | Name::RateOfUsers | Name::OneLess | Name::OfCores => format!("{}/s", rate(value)),
        Name::PeakTime | Name::Response | Name::Think => format!("{} s", number(value)),
        Name::Busy => format!("{:.0} %", value * 100.0),
        Name::Bandwidth => format!("{} Mbit/s", number(value / 1e6)),
        Name::Memory => bytes(value),
        Name::InSystem => number(value),
        _ => count(value.round() as u64),
    }
}

/// A further remark for the user.
fn remark(line: &CapacityLine, lines: &[CapacityLine], language: Language) -> Option<String> {
    let of = |name: Name| lines.iter().find(|line| line.name == name).map(|line| line.value);
    match line.name {
        Name::OneLess => {
            let number = (of(Name::Machines)? - 1.0) as u64;
            let less = count(number);
            let are = if number == 1 { "is" } else { "are" };
            Some(language.pick(format!("so {less} {are} not enough"), format!("因此 {less} 台不够")))
        }
        Name::WithSpare => Some(
            language
                .pick("when one fails, the others carry the peak".to_owned(), "坏一台时其余仍能承受峰值".to_owned()),
        ),
        Name::InSystem => {
            Some(language.pick(
                "requests at the same time (Little's law)".to_owned(),
                "同时处理的请求数（利特尔法则）".to_owned(),
            ))
        }
        Name::Users => Some(language.pick(
            "rate x (response + think time), Little's law".to_owned(),
            "速率 ×（响应时间 + 思考时间），利特尔法则".to_owned(),
        )),
        Name::Threads => Some(language.pick(
            "cores x (1 + wait / compute): so the cores stay busy".to_owned(),
            "核数 ×（1 + 等待 / 计算）：使 CPU 保持忙碌".to_owned(),
        )),
        Name::ClientAddresses => Some(language.pick(
            "ports of each client address to one address of the server".to_owned(),
            "每个客户端地址到同一服务端地址的端口数有限".to_owned(),
        )),
        _ => None,
    }
}

/// All lines, each with its formula.
pub fn capacity_text(lines: &[CapacityLine], screen: Screen) -> String {
    let mut page = Page::new(screen);
    let language = screen.language;
    for line in lines {
        let remark = remark(line, lines, language)
            .map_or(String::new(), |text| language.pick(format!("; {text}"), format!("；{text}")));
        let formula = formula(line, language);
        let text = format!("{} = {formula}{remark}", shown(line));
        let text = language.pick(text.clone(), text.replace(" %", "%"));
        let is_result = matches!(line.name, Name::PeakRate | Name::Machines | Name::Users | Name::Threads);
        page.painted(label(line.name, language), &text, if is_result { Paint::Strong } else { Paint::Plain });
    }
    page.text
}

fn formula(line: &CapacityLine, language: Language) -> String {
    match language {
        Language::En => line.formula.clone(),
        Language::Zh => line.formula.replace(", ", "，少 ").replace(" too few", "").replace(" %", "%"),
    }
}

/// All lines as JSON.
pub fn capacity_json(lines: &[CapacityLine]) -> String {
    let mut value = json!({"schema": SCHEMA, "kind": "capacity"});
    for line in lines {
        value[line.name.name()] = line.value.into();
    }
    let one = |line: &CapacityLine| json!({"name": line.name.name(), "value": line.value, "formula": line.formula});
    value["lines"] = lines.iter().map(one).collect::<Vec<Value>>().into();
    format!("{value:#}\n")
}

/// The reason why nothing was computed.
pub fn capacity_error(error: &CapacityError, language: Language) -> String {
    match (error, language) {
        (error, Language::En) => error.to_string(),
        (CapacityError::Nothing, Language::Zh) => {
            "由这些数据得不出结果；请给出相互关联的数据，如 --page-views 与 --per-machine，或 --rate、--response 与 --think".to_owned()
        }
        (CapacityError::Extreme, Language::Zh) => {
            "数值过大或过小，无法计算；请检查单位：时间如 200ms，速率如 69/s，大小如 20KiB".to_owned()
        }
        (CapacityError::Impossible, Language::Zh) => {
            "在该响应时间下，这些用户达不到该速率：用户数 / 速率小于响应时间；请降低 --rate 或 --response，或增加 --users".to_owned()
        }
    }
}
