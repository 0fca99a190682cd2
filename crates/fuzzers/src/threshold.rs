use std::time::Duration;

use metrics::{NamedPart, Snapshot, Threshold};

/// Any words as a threshold, of the whole or of a part: it means the same when it is read again, or the error has a
/// position in the text.
pub fn threshold(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    match Threshold::parse_of_part(input) {
        Ok(threshold) => {
            let again = Threshold::parse_of_part(&threshold.text).expect("its own text");
            let (seen, second) = (Snapshot::default(), Duration::from_secs(1));
            assert_eq!(again.judge(&seen, second), threshold.judge(&seen, second));
            assert_eq!((&again.text, &again.of), (&threshold.text, &threshold.of));
            assert!(!threshold.aborts(&seen, second) || threshold.abort_after.is_some());
            let part = NamedPart::parse(input).expect("it was read");
            assert_eq!(threshold.of.as_deref(), part.as_ref().map(|part| &input[part.at.clone()]));
            let whole = part.map_or_else(|| input.to_owned(), |part| part.without(input));
            assert_eq!(
                Threshold::parse(&whole).expect("the same of all").judge(&seen, second),
                again.judge(&seen, second)
            );
        }
        Err(error) => {
            assert!(error.column <= error.text.chars().count());
            assert!(!error.to_string().is_empty());
        }
    }
}
