use wire::certificate::Certificate;

/// Any bytes as a certificate: no panic, a truncated certificate is rejected, and any content can be shown.
pub fn certificate(input: &[u8]) {
    let Some(read) = Certificate::read(input) else { return };
    let names: Vec<String> = read.names().collect();
    let text = format!("{} {} {}", read.subject, read.issuer, names.join(" "));
    assert!(!text.contains(char::is_control), "{text:?}");
    // A name takes at least its tag and its length; an attribute identifier grows to at most eight digits a byte.
    assert!(names.len() <= input.len() / 2 && text.len() <= input.len() * 16);
    assert!(read.rsa_bits.is_none_or(|bits| bits > 0 && bits <= input.len() * 8));
    assert_eq!(read.not_before < read.not_after, read.not_before.unix_seconds() < read.not_after.unix_seconds());
    // Its length is in its header, so the same bytes followed by others are the same certificate, and fewer are none.
    let longer = [input, b"more"].concat();
    assert_eq!(Certificate::read(&longer), Some(read));
    let whole = (0..input.len()).rev().find(|length| Certificate::read(&input[..*length]).is_none());
    let whole = whole.expect("no bytes are no certificate") + 1;
    assert!((0..whole).all(|length| Certificate::read(&input[..length]).is_none()));
}
