//! The encoding of forms.

/// A text in the form encoding of the URL standard: unreserved characters stay, a blank becomes a plus.
pub(crate) fn form_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            byte if byte.is_ascii_alphanumeric() || b"*-._".contains(&byte) => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
