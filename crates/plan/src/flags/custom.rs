//! Flags of custom protocols: which there are is known when the protocols are registered.

use super::options::{FlagSource, FromFlag, Layered};
use crate::address::Scheme;
use crate::custom::{protocol_of_scheme, protocols};
use crate::{CustomRequest, PlanError};

/// The longest status of a custom protocol.
const STATUS_WORD_BYTES_MAX: usize = 32;

/// The flags of custom protocols that are given, with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomFlags(pub Vec<(&'static str, Vec<String>)>);

impl FromFlag for CustomFlags {
    fn from_flag(source: &impl FlagSource, _group: &str) -> Self {
        let all = protocols().iter().flat_map(|protocol| protocol.flags());
        let given = all.filter_map(|(flag, has_value)| match has_value {
            true => Some((flag, source.list(flag))).filter(|(_, values)| !values.is_empty()),
            false => source.has(flag).then(|| (flag, Vec::new())),
        });
        Self(given.collect())
    }
}

impl Layered for CustomFlags {
    fn is_given(&self) -> bool {
        !self.0.is_empty()
    }
}

/// The request of a custom protocol, by its flags.
pub(super) fn request_of(flags: &CustomFlags, scheme: Scheme) -> Result<Option<CustomRequest>, PlanError> {
    let own = match scheme {
        Scheme::Custom(own) => protocol_of_scheme(own.name).map(|(protocol, _)| protocol),
        _ => None,
    };
    let is_own = |flag: &str| own.is_some_and(|own| own.flags().iter().any(|(known, _)| *known == flag));
    if let Some(flag) = flags.0.iter().map(|(flag, _)| *flag).find(|flag| !is_own(flag)) {
        let of_flag = protocols().iter().find(|one| one.flags().iter().any(|(known, _)| *known == flag));
        let scheme = of_flag.and_then(|one| one.schemes().first()).map_or("", |scheme| scheme.prefix);
        return Err(PlanError::CustomFlag { flag, scheme });
    }
    Ok(own.map(|own| own.request_of_flags(&flags.0)).transpose()?)
}

/// The statuses of a success of a custom protocol; none for other protocols.
pub(super) fn status_words(text: Option<&str>, scheme: Scheme) -> Result<Vec<String>, PlanError> {
    let text = text.filter(|_| matches!(scheme, Scheme::Custom(_)));
    text.map_or_else(|| Ok(Vec::new()), parse_status_words)
}

/// Parses statuses of a custom protocol, separated by commas.
///
/// # Errors
/// One of them is no word.
pub fn parse_status_words(text: &str) -> Result<Vec<String>, PlanError> {
    let is_word = |word: &&str| {
        let is_in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (1..=STATUS_WORD_BYTES_MAX).contains(&word.len()) && word.bytes().all(is_in_word)
    };
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    match words.iter().all(is_word) {
        true => Ok(words.into_iter().map(str::to_owned).collect()),
        false => Err(PlanError::StatusWords { value: text.to_owned() }),
    }
}
