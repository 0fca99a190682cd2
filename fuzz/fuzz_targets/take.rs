//! Any take from any answer: a value that is JSON again, or a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::{Answered, Take, TakeFrom, Which};

fuzz_target!(|input: (u8, u8, &str, &[u8], &[u8])| {
    let (kind, which, text, field, body) = input;
    let from = match kind % 6 {
        0 => TakeFrom::Json(text.to_owned()),
        1 => TakeFrom::Regex(text.to_owned()),
        2 => TakeFrom::Header(text.to_owned()),
        3 => TakeFrom::Cookie(text.to_owned()),
        4 => TakeFrom::Status,
        _ => TakeFrom::Body,
    };
    let which =
        [Which::First, Which::Last, Which::All, Which::Random, Which::Nth(which.into())][usize::from(which % 5)];
    let take = match Take::new(&from, which) {
        Ok(take) => take,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let fields = [(&b"content-type"[..], field), (&b"set-cookie"[..], field)];
    match take.take(&Answered::new(200, &fields, body), |below| below - 1) {
        Ok(value) => {
            let mut json = Vec::new();
            value.write_json(&mut json);
            serde_json::from_slice::<serde_json::Value>(&json).expect("a value is JSON");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
