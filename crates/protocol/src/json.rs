//! Texts as JSON.

/// Writes bytes as a string of JSON. What is not UTF-8 becomes the replacement character.
pub fn push_json_text(bytes: &[u8], json: &mut Vec<u8>) {
    json.push(b'"');
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'"' | b'\\' => json.extend_from_slice(&[b'\\', byte]),
                b'\n' => json.extend_from_slice(b"\\n"),
                b'\r' => json.extend_from_slice(b"\\r"),
                b'\t' => json.extend_from_slice(b"\\t"),
                0..0x20 => json.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                _ => json.push(byte),
            }
        }
        if !chunk.invalid().is_empty() {
            json.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    json.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::push_json_text;

    #[test]
    fn any_bytes_become_a_string() {
        let as_json = |bytes: &[u8]| {
            let mut json = Vec::new();
            push_json_text(bytes, &mut json);
            String::from_utf8(json).expect("valid UTF-8")
        };
        assert_eq!(as_json(b"a\"b\\c\n\r\t\x01"), r#""a\"b\\c\n\r\t\u0001""#);
        assert_eq!(as_json("名\u{7f}".as_bytes()), "\"名\u{7f}\"");
        assert_eq!(as_json(b"\xff"), "\"\u{fffd}\"");
        assert_eq!(as_json(b""), "\"\"");
    }
}
