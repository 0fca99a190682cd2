use plan::{HeaderCheck, JsonCheck, TextCheck};

const MOST: usize = 64 * 1024;

/// Any text as a check, any bytes as its body, and any coding of that body.
pub fn checks(input: &[u8]) {
    let Some(place) = input.iter().position(|byte| *byte == 0) else { return };
    let (check, body) = (&input[..place], &input[place + 1..]);
    for coding in [&b"gzip"[..], b"deflate", b"br", b"zstd", check] {
        if let Ok(whole) = wire::coding::decode(coding, body, MOST) {
            assert!(whole.len() <= MOST || coding == check);
        }
    }
    let _ = wire::http1::fields(body).count();
    let Ok(text) = std::str::from_utf8(check) else { return };
    if let Ok(check) = TextCheck::parse("--expect-body", text) {
        let _ = check.holds(body);
    }
    let _ = HeaderCheck::parse(text);
    if let Ok(check) = JsonCheck::parse(text) {
        let is_json = serde_json::from_slice::<serde_json::Value>(body).is_ok();
        // Numbers beyond the range of a double are JSON too.
        assert!(check.holds(body).is_ok() >= is_json);
    }
}
