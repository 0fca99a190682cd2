//! Requests of custom protocols: those that the plan knows by their names only. What their fields mean is known to the
//! protocol itself, which the program registers before anything else.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::nesting::deeper;

/// The most texts of one request of a custom protocol.
pub const CUSTOM_TEXTS_MAX: usize = 100_000;

/// A URL scheme of a custom protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomScheme {
    /// Its name, in lower case.
    pub name: &'static str,
    /// The same with `://`.
    pub prefix: &'static str,
    /// The port of a URL without one.
    pub port: u16,
    /// Whether its connections use TLS.
    pub is_tls: bool,
    /// Whether messages are datagrams (UDP), instead of parts of a stream (TCP).
    pub is_datagram: bool,
}

impl CustomScheme {
    /// A scheme over TCP: its name, the same with `://`, and the port of a URL without one.
    pub const fn stream(name: &'static str, prefix: &'static str, port: u16) -> Self {
        Self { name, prefix, port, is_tls: false, is_datagram: false }
    }

    /// The same over UDP: each message is a datagram.
    pub const fn datagram(name: &'static str, prefix: &'static str, port: u16) -> Self {
        Self { name, prefix, port, is_tls: false, is_datagram: true }
    }

    /// The same over TLS.
    #[must_use]
    pub const fn over_tls(mut self) -> Self {
        self.is_tls = true;
        self
    }
}

/// What the plan knows of a custom protocol.
pub trait CustomProtocol: Sync {
    /// Its name: the step key in scenario files, and the beginning of its flags.
    fn name(&self) -> &'static str;

    /// Its URL schemes.
    fn schemes(&self) -> &'static [CustomScheme];

    /// Its flags, without dashes; and whether each has a value.
    fn flags(&self) -> Vec<(&'static str, bool)>;

    /// Whether the values of a key are secret.
    fn is_secret(&self, key: &str) -> bool;

    /// All statuses that its responses may have; none where they are not known.
    fn statuses(&self) -> &'static [&'static str];

    /// Whether a key is about the connection.
    fn is_of_connection(&self, key: &str) -> bool;

    /// The request that flags describe: the name and the values of each that is given.
    ///
    /// # Errors
    /// A value is not valid.
    fn request_of_flags(&self, given: &[(&'static str, Vec<String>)]) -> Result<CustomRequest, CustomMistake>;

    /// Checks a request before the run.
    ///
    /// # Errors
    /// The mistake.
    fn check(&self, endpoint: &CustomEndpoint, request: &CustomRequest) -> Result<CheckedRequest, CustomMistake>;
}

/// What is known of a valid request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedRequest {
    /// Its name in reports, unless the user gives one.
    pub name: String,
    /// The messages that it sends.
    pub messages: u32,
}

/// Why a request, or a URL, is not valid. Both texts say the cause and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomMistake {
    /// The field that is wrong; `None`: the URL.
    pub key: Option<&'static str>,
    /// In English.
    pub en: String,
    /// In Chinese.
    pub zh: String,
}

/// What a URL of a custom protocol says beside host and port.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomEndpoint {
    /// The name of the protocol.
    pub protocol: String,
    /// The user, percent-decoded; empty where there is none.
    pub user: String,
    /// The password, percent-decoded, where there is one.
    pub password: Option<String>,
    /// Path and query; `/` where the URL has none.
    pub path: String,
    /// Whether messages are datagrams.
    pub is_datagram: bool,
    /// The scheme; empty where the URL is not known yet.
    pub scheme: String,
}

impl std::fmt::Debug for CustomEndpoint {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CustomEndpoint").field("protocol", &self.protocol).field("path", &self.path).finish()
    }
}

/// A request of a custom protocol, by the fields that the user gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomRequest {
    /// The name of the protocol.
    pub protocol: String,
    /// The fields, by their names.
    pub fields: Vec<(String, FieldValue)>,
    /// The texts of all fields. Where one of them is made anew for each request, all are
    /// ([`crate::DynamicParts::messages`]).
    pub texts: Vec<FieldText>,
    /// The messages that it sends.
    pub messages: u32,
    /// Nothing is ever sent: its connections are only opened.
    pub only_connects: bool,
}

/// A text of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldText {
    /// The text, or the pattern of one that is made anew.
    pub bytes: Vec<u8>,
    /// Whether it is the same in each request.
    pub is_constant: bool,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldValue {
    /// The text with this index.
    Text(u32),
    /// A number.
    Number(u64),
    /// A switch.
    Switch(bool),
    /// Several values.
    List(#[serde(deserialize_with = "deeper")] Vec<FieldValue>),
}

impl FieldValue {
    /// The indices of its texts.
    fn texts(&self) -> Vec<u32> {
        match self {
            Self::Text(index) => vec![*index],
            Self::List(list) => list.iter().flat_map(Self::texts).collect(),
            Self::Number(_) | Self::Switch(_) => Vec::new(),
        }
    }
}

impl CustomRequest {
    /// Adds a constant text, and returns the value of a field that has it.
    pub fn text(&mut self, bytes: &[u8]) -> FieldValue {
        self.push_text(bytes, true)
    }

    /// Adds a text, and returns the value of a field that has it.
    pub fn push_text(&mut self, bytes: &[u8], is_constant: bool) -> FieldValue {
        self.texts.push(FieldText { bytes: bytes.to_vec(), is_constant });
        FieldValue::Text(self.texts.len() as u32 - 1)
    }

    /// The constant texts of fields that are secret.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &[u8]> {
        let protocol = protocol_named(&self.protocol);
        let is_secret = move |key: &str| protocol.is_some_and(|protocol| protocol.is_secret(key));
        let fields = self.fields.iter().filter(move |(key, _)| is_secret(key));
        let texts = fields.flat_map(|(_, value)| self.texts_of(value));
        texts.filter(|text| text.is_constant).map(|text| text.bytes.as_slice())
    }

    /// The texts of a value.
    fn texts_of(&self, value: &FieldValue) -> impl Iterator<Item = &FieldText> {
        value.texts().into_iter().filter_map(|index| self.texts.get(index as usize))
    }

    fn is_of_connection(&self, key: &str) -> bool {
        protocol_named(&self.protocol).is_some_and(|protocol| protocol.is_of_connection(key))
    }

    /// Whether all that it says is about its connection.
    pub(crate) fn is_only_of_connection(&self) -> bool {
        self.fields.iter().all(|(key, _)| self.is_of_connection(key))
    }

    /// The fields about its connection, as texts: requests in which these differ have connections of their own.
    pub fn of_connection(&self) -> Vec<String> {
        let fields = self.fields.iter().filter(|(key, _)| self.is_of_connection(key));
        let with_texts = |value: &FieldValue| {
            self.texts_of(value).map(|text| String::from_utf8_lossy(&text.bytes).into_owned()).collect::<Vec<_>>()
        };
        let texts = fields.map(|(key, value)| match value {
            FieldValue::Number(_) | FieldValue::Switch(_) => format!("{key} {value:?}"),
            FieldValue::Text(_) | FieldValue::List(_) => format!("{key} {:?}", with_texts(value)),
        });
        texts.collect()
    }

    /// The value of a field.
    pub fn field(&self, key: &str) -> Option<&FieldValue> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

static PROTOCOLS: OnceLock<&'static [&'static dyn CustomProtocol]> = OnceLock::new();

/// Registers the custom protocols of this program.
///
/// # Panics
/// Others are registered already.
pub fn register_protocols(table: &'static [&'static dyn CustomProtocol]) {
    let known = PROTOCOLS.get_or_init(|| table);
    let names = |table: &[&'static dyn CustomProtocol]| table.iter().map(|one| one.name()).collect::<Vec<_>>();
    assert_eq!(names(known), names(table), "the protocols of a program are registered once");
}

/// The custom protocols of this program.
pub fn protocols() -> &'static [&'static dyn CustomProtocol] {
    PROTOCOLS.get().copied().unwrap_or_default()
}

/// The custom protocol with this name.
pub fn protocol_named(name: &str) -> Option<&'static dyn CustomProtocol> {
    protocols().iter().copied().find(|protocol| protocol.name() == name)
}

/// The custom protocol with this URL scheme, and the scheme.
pub(crate) fn protocol_of_scheme(scheme: &str) -> Option<(&'static dyn CustomProtocol, CustomScheme)> {
    protocols()
        .iter()
        .find_map(|protocol| protocol.schemes().iter().find(|one| one.name == scheme).map(|one| (*protocol, *one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_over_streams_or_datagrams_with_tls_or_without() {
        let all = [CustomScheme::stream("a", "a://", 1), CustomScheme::datagram("b", "b://", 2)];
        let with_tls = all.map(CustomScheme::over_tls);
        assert_eq!(all.map(|one| (one.is_datagram, one.is_tls)), [(false, false), (true, false)]);
        assert_eq!(with_tls.map(|one| (one.is_datagram, one.is_tls, one.port)), [(false, true, 1), (true, true, 2)]);
    }
}
