//! HTML elements by CSS selectors.

use std::fmt;

use scraper::{Html, Selector};

use super::ExtractError;
use crate::Value;

/// The largest page that is parsed.
pub(super) const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A parsed page.
pub(super) struct HtmlDocument(Html);

impl HtmlDocument {
    pub(super) fn parse(text: &str) -> Self {
        Self(Html::parse_document(text))
    }
}

impl fmt::Debug for HtmlDocument {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Page")
    }
}

/// The wanted elements, and their attribute.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    selector: Selector,
    attribute: Option<String>,
}

impl Elements {
    pub(super) fn new(selector: &str, attribute: Option<&str>) -> Result<Self, ExtractError> {
        let wrong = |error: scraper::error::SelectorErrorKind| ExtractError::Selector {
            selector: selector.to_owned(),
            reason: error.to_string(),
        };
        // Names of HTML attributes are case-insensitive.
        let attribute = attribute.map(str::to_ascii_lowercase);
        Ok(Self { selector: Selector::parse(selector).map_err(wrong)?, attribute })
    }

    /// Their values. An element without the attribute has none.
    pub(super) fn find(&self, page: &HtmlDocument, most: usize) -> Vec<Value> {
        let elements = page.0.select(&self.selector);
        let said = elements.filter_map(|element| match &self.attribute {
            Some(name) => element.attr(name).map(Value::text),
            None => Some(Value::text(element.text().collect::<String>().trim())),
        });
        said.take(most).collect()
    }
}
