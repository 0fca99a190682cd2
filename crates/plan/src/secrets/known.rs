//! Secrets by their values.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::flags::{Credential, FlagDialect, credential, is_secret_of_protocol};
use super::scan::secrets_in;
use super::{MASK, is_secret_field, percent_decoded, user_of};
use crate::{Plan, Scenario};

/// The shortest value that is searched for: a shorter one is like any other word, and masked only where its name
/// precedes it.
const VALUE_BYTES_MIN: usize = 6;
/// The same for a value that the user declared secret.
const NAMED_BYTES_MIN: usize = 4;
/// The most values that are stored.
const VALUES_MAX: usize = 10_000;
/// The bytes of a body that are searched for secrets.
const SEARCHED_BYTES_MAX: usize = 64 * 1024;
/// The messages of a call that are searched.
const MESSAGES_MAX: usize = 100;

/// All encodings of a value in base64 (RFC 4648, 4 and 5), also as a part of a URL or a form.
fn in_base64(value: &str) -> Vec<String> {
    let plain = [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD].map(|way| way.encode(value));
    let percent = plain.clone().map(|form| url::form_urlencoded::byte_serialize(form.as_bytes()).collect::<String>());
    let lower = percent.clone().map(|form| lower_percent(&form));
    let mut all: Vec<String> = plain.into_iter().chain(percent).chain(lower).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// `%3D` as `%3d`, and no other change.
fn lower_percent(text: &str) -> String {
    let mut left = 0;
    let lower = |each: char| {
        left = if each == '%' { 3_u8 } else { left };
        let is_code = left > 0;
        left = left.saturating_sub(1);
        if is_code { each.to_ascii_lowercase() } else { each }
    };
    text.chars().map(lower).collect()
}

/// Values that are secret, wherever they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretValues {
    /// The values, the longest first.
    values: Vec<String>,
}

impl SecretValues {
    /// The secrets among the words of a command line.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = Self::default();
        let (mut is_next_secret, mut is_next_user, mut is_next_key) = (false, false, false);
        let words: Vec<&str> = words.into_iter().collect();
        for (word, dialect) in words.iter().copied().zip(FlagDialect::from_words(words.iter().copied())) {
            known.take_text(word);
            known.take_user(word);
            // A URL, or a flag, is never the value of a flag.
            let is_value = !word.contains("://") && !word.starts_with('-');
            if is_next_secret && is_value {
                known.take(word);
            }
            let says_who = credential(word, dialect);
            if is_next_key {
                known.take_value(word);
            } else if is_next_user && is_value {
                known.take_credentials(word);
            } else if let Some(Credential::From(place)) = says_who {
                known.take_credentials(&word[place..]);
                if is_secret_of_protocol(&word[..place - 1]) {
                    known.take_value(&word[place..]);
                }
            }
            is_next_key = is_secret_of_protocol(word);
            // A header without quotes is several words.
            let is_way = ["bearer", "basic", "token"].iter().any(|way| word.eq_ignore_ascii_case(way));
            is_next_secret = word.strip_suffix(':').is_some_and(is_secret_field) || (is_way && is_next_secret);
            is_next_user = says_who == Some(Credential::Next);
            let field = word.split_once([':', ' ', ';', '=']).filter(|(name, _)| is_secret_field(name));
            if let Some((_, value)) = field {
                known.take_field(value);
            }
        }
        known.ordered()
    }

    /// The secrets of a plan.
    pub fn from_plan(plan: &Plan) -> Self {
        let mut known = Self::default();
        for scenario in &plan.scenarios {
            let value = |number: &u32| scenario.memory.variables.get(*number as usize);
            let values = scenario.memory.secret_variables.iter().filter_map(value);
            values.for_each(|value| known.take_value(&value.to_string()));
        }
        let targets = plan.scenarios.iter().flat_map(|scenario| &scenario.targets);
        for one in targets.filter_map(|target| target.proxy.as_ref()?.credentials.as_ref()) {
            known.take_credentials(&format!("{}:{}", one.user, one.password));
        }
        let targets = plan.scenarios.iter().flat_map(|scenario| &scenario.targets);
        for one in targets.filter_map(|target| target.custom.as_deref()) {
            one.password.iter().for_each(|password| known.take_value(password));
        }
        for step in plan.scenarios.iter().flat_map(Scenario::all_steps) {
            for (name, value) in &step.request.headers {
                let value = String::from_utf8_lossy(value);
                if is_secret_field(name) {
                    known.take_field(&value);
                } else {
                    known.take_text(&value);
                }
            }
            known.take_text(&step.request.path);
            let custom = step.messaging.as_ref().and_then(|messaging| messaging.custom.as_deref());
            custom.into_iter().flat_map(|custom| custom.secrets()).for_each(|secret| {
                known.take_value(&String::from_utf8_lossy(secret));
            });
            if let Some(call) = &step.call {
                let json = |message: &Vec<u8>| call.types.as_ref().and_then(|types| types.json(true, message));
                call.messages.iter().take(MESSAGES_MAX).filter_map(json).for_each(|json| known.take_text(&json));
            }
            let message = step
                .messaging
                .as_ref()
                .and_then(|messaging| messaging.message.as_ref())
                .map(|message| &message.bytes[..]);
            for bytes in [Some(&step.request.body[..]), message].into_iter().flatten() {
                known.take_text(&String::from_utf8_lossy(&bytes[..bytes.len().min(SEARCHED_BYTES_MAX)]));
            }
        }
        known.ordered()
    }

    /// Values that the user declared secret, in the forms of heads, forms, URLs and JSON.
    pub fn from_values<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = Self::default();
        values.into_iter().for_each(|value| known.take_value(value));
        known.ordered()
    }

    fn take_value(&mut self, value: &str) {
        let form: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
        let quoted = serde_json::Value::from(value).to_string();
        let percent = form.replace('+', "%20");
        let lower = percent.to_ascii_lowercase();
        // It is declared secret: a shorter value is enough.
        let plain = [value, &form, &percent, &lower, &quoted[1..quoted.len() - 1]].map(str::to_owned);
        for form in plain.into_iter().chain(in_base64(value)) {
            if form.len() >= NAMED_BYTES_MIN && self.values.len() < VALUES_MAX {
                self.values.push(form);
            }
        }
    }

    /// Bytes without these values, where they are text.
    pub fn hide_in(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(bytes).ok()?;
        let hidden = self.hide(text);
        (hidden != text).then(|| hidden.into_bytes())
    }

    /// A text without these values.
    pub fn hide(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), MASK);
            }
        }
        text
    }

    /// Longest first: a longer one may contain a shorter one.
    fn ordered(mut self) -> Self {
        self.values.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        self.values.dedup();
        self
    }

    fn take(&mut self, value: &str) {
        let value = value.trim();
        if value.len() >= VALUE_BYTES_MIN && value != "Bearer" && self.values.len() < VALUES_MAX {
            self.values.push(value.to_owned());
        }
    }

    /// Adds the values that follow secret names in a text.
    fn take_text(&mut self, text: &str) {
        for place in secrets_in(text) {
            let value = &text[place];
            self.take(value);
            if value.contains('%') || value.contains('+') {
                self.take(&percent_decoded(value));
            }
        }
    }

    /// Adds the user information of a URL.
    fn take_user(&mut self, word: &str) {
        let is_url = word.contains("://") && word.contains('@');
        if let Some(user) = user_of(word).filter(|_| is_url) {
            self.take_credentials(&word[user]);
        }
    }

    /// Adds `name:password`, as it is and as it is sent.
    fn take_credentials(&mut self, text: &str) {
        for text in [text.to_owned(), percent_decoded(text)] {
            let password = text.split_once(':').map_or(text.as_str(), |(_, password)| password);
            self.take(password);
            in_base64(&text).iter().for_each(|form| self.take(form));
        }
        self.take_cookies(text);
    }

    fn take_cookies(&mut self, text: &str) {
        for (_, value) in text.split(';').filter_map(|cookie| cookie.split_once('=')) {
            self.take(value);
        }
    }

    /// Adds the value of a secret field: the whole, its credentials, and the parts that are secret alone.
    fn take_field(&mut self, value: &str) {
        self.take(value);
        let last = value.trim().rsplit_once(' ').map_or(value.trim(), |(_, last)| last);
        self.take(last);
        let decoded = STANDARD.decode(last).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some((_, password)) = decoded.as_deref().and_then(|text| text.split_once(':')) {
            self.take(password);
        }
        self.take_cookies(value);
    }
}
