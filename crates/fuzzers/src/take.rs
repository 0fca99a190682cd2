use plan::{Answered, Extract, ExtractFrom, Which};

/// Any extraction from any response: a value that is JSON again, or a reason.
pub fn take(input: &[u8]) {
    let [kind, which, rest @ ..] = input else { return };
    let mut parts = Parts(rest);
    let (text, field, body) = (parts.text(), parts.bytes(), parts.0);
    let from = match kind % 6 {
        0 => ExtractFrom::Json(text.to_owned()),
        1 => ExtractFrom::Regex(text.to_owned()),
        2 => ExtractFrom::Header(text.to_owned()),
        3 => ExtractFrom::Cookie(text.to_owned()),
        4 => ExtractFrom::Status,
        _ => ExtractFrom::Body,
    };
    let which =
        [Which::First, Which::Last, Which::All, Which::Random, Which::Nth((*which).into())][usize::from(which % 5)];
    let take = match Extract::new(&from, which) {
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
}

/// Consecutive parts of an input. The length of each stands at the end of the rest, as in libFuzzer's own tuples: the
/// seeds were written that way.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn bytes(&mut self) -> &'a [u8] {
        let length = self.length();
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    /// The valid text at the beginning of the next part.
    fn text(&mut self) -> &'a str {
        let length = self.length();
        let text = self.0[..length].utf8_chunks().next().map_or("", |chunk| chunk.valid());
        self.0 = &self.0[text.len()..];
        text
    }

    fn length(&mut self) -> usize {
        // As few bytes as can represent it.
        let width = match self.0.len() {
            0 => 0,
            1..=256 => 1,
            _ => 2,
        };
        let (rest, length) = self.0.split_at(self.0.len() - width);
        self.0 = rest;
        length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)) % (rest.len() + 1)
    }
}
