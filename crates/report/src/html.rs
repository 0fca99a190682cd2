//! The offline report: one file that needs no network, made from the JSON report and the data of the charts.
//!
//! Everything but the charts is plain HTML, so that it is readable without scripts and on paper. The data of the charts
//! is embedded compressed, and drawn by the modules in `assets`.

mod counted;
pub(crate) mod data;
pub(crate) mod held;
mod markup;
mod sections;
mod workers;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::Language;
pub(crate) use markup::{Cell, Markup, escaped};
use sections::PageSection;

/// The generator mark of every page.
pub const MARK_OF_PAGES: &str = "<meta name=\"generator\" content=\"onrush\">";

pub(crate) const STYLE: &str = include_str!("../assets/report.css");
pub(crate) const CHARTS: &str = include_str!("../assets/charts.js");
const REPORT: &str = include_str!("../assets/report.js");
/// The texts of the charts in Chinese; the English ones are in the modules.
pub(crate) const WORDS_ZH: &str = include_str!("../assets/words.zh.json");
/// The import line of the modules when they are separate files.
const IMPORT: &str = "import { mount } from \"./charts.js\";";

/// The report of a run. `report`: the JSON report; `charts`: the result of [`crate::charts_value`], or null for a hold,
/// whose report is enough.
pub fn html_report(report: &Value, charts: &Value, language: Language) -> String {
    let mut page = Markup::new(language);
    let title = report.pointer("/target/url").and_then(Value::as_str).unwrap_or("onrush");
    let (parts, data): ((PageSection, PageSection), Value) = match history::is_hold(report) {
        true => ((held::tiles, held::tables), held::data(report, language)),
        false => ((sections::tiles, sections::tables), data::page_data(report, charts, language)),
    };
    sections::write(report, parts, &mut page);
    whole(title, page, &data, language)
}

fn whole(title: &str, page: Markup, data: &Value, language: Language) -> String {
    let script = format!("{CHARTS}\n{}", REPORT.replace(IMPORT, ""));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(&script)
    );
    let title = escaped(title);
    let words = if language == Language::Zh { WORDS_ZH.trim().replace('<', "\\u003c") } else { "{}".to_owned() };
    let data = STANDARD.encode(data::packed(data));
    format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n{MARK_OF_PAGES}\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<title>{title} - onrush</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{}<script type=\"application/json\" id=\"words\">{words}</script>\n<script type=\"application/octet-stream\" id=\"data\">{data}</script>\n<script type=\"module\">{script}</script>\n</body>\n</html>\n",
        language.pick("en", "zh-CN"),
        page.finish()
    )
}

/// The page of a report over many runs, all of it markup: no script, and nothing that is fetched. `titles`: the title
/// of the page, and the heading of its last part.
pub(crate) fn plain_page(
    report: &Value,
    titles: [(&'static str, &'static str); 2],
    language: Language,
    write: impl FnOnce(&mut Markup),
) -> String {
    let mut page = Markup::new(language);
    let target = report["target"].as_str().unwrap_or_default();
    page.raw("<header>\n");
    page.element("h1", target);
    page.element("p", page.pick(titles[0].0, titles[0].1));
    page.raw("</header>\n<main>\n");
    write(&mut page);
    let about = &report["about"];
    let text = |name: &str| about[name].as_str().unwrap_or_default().to_owned();
    page.heading(titles[1].0, titles[1].1);
    let cores = language.pick(format!("{} cores", about["cores"]), format!("{} 核", about["cores"]));
    let machine = [text("kernel"), text("cpu"), cores];
    page.facts(&[
        (page.pick("command", "命令"), Cell::Words(text("command"))),
        (page.pick("began", "开始时间"), Cell::Instant(text("began"), markup::TO_SECONDS)),
        (page.pick("machine", "压测机"), Cell::Words(machine.join(page.pick(", ", "，")))),
    ]);
    page.raw("</main>\n");
    page.raw(&format!("<footer><p>onrush {}</p></footer>\n", escaped(&text("version"))));
    let policy =
        format!("default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'", digest(STYLE));
    let title = escaped(target);
    format!(
        "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n{MARK_OF_PAGES}\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<title>{title} - onrush</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
        language.pick("en", "zh-CN"),
        page.finish()
    )
}

/// The digest of an inline text, in the form of a Content-Security-Policy.
fn digest(text: &str) -> String {
    STANDARD.encode(hmac_sha256::Hash::hash(text.as_bytes()))
}

#[cfg(test)]
mod tests;
