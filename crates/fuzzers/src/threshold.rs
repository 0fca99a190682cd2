use std::time::Duration;

use metrics::{Snapshot, Threshold};

/// Any words as a threshold: one that means the same when it is read again, or a mistake with a place in the text.
pub fn threshold(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    match Threshold::parse(input) {
        Ok(threshold) => {
            let again = Threshold::parse(&threshold.text).expect("its own text");
            let (seen, second) = (Snapshot::default(), Duration::from_secs(1));
            assert_eq!(again.judge(&seen, second), threshold.judge(&seen, second));
            assert!(!threshold.aborts(&seen, second) || threshold.abort_after.is_some());
        }
        Err(error) => {
            assert!(error.column <= error.text.chars().count());
            assert!(!error.to_string().is_empty());
        }
    }
}
