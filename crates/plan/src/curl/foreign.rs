//! Detection of text that is no curl command, though users copy it from the same menu of a browser.

use crate::PlanError;
use crate::error::{CurlFault, at};

/// Checks the beginning of a text, and reports its actual format, when that is recognizable.
pub(super) fn refuse(text: &[u8]) -> Result<(), PlanError> {
    let wrong = |what: &'static str, line: usize| Err(at(line, CurlFault::Foreign { what }));
    if text.starts_with(b"\xff\xfe") || text.starts_with(b"\xfe\xff") || is_wide(text) {
        return Err(at(1, CurlFault::Wide));
    }
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//") {
            continue;
        }
        let lower = String::from_utf8_lossy(&line[..line.len().min(LOOK_BYTES)]).to_ascii_lowercase();
        let begins = |front: &str| lower.trim_start_matches("await ").starts_with(front);
        if begins("fetch(") || lower.contains("await fetch(") {
            return wrong("fetch", number + 1);
        }
        let is_powershell = ["$session", "invoke-webrequest", "invoke-restmethod", "iwr ", "irm "].iter();
        if is_powershell.clone().any(|front| begins(front)) || lower.contains("invoke-webrequest") {
            return wrong("PowerShell", number + 1);
        }
        if begins("{") {
            return wrong("JSON (HAR)", number + 1);
        }
        // Only the first line is checked: the content of a command is its own.
        return Ok(());
    }
    Ok(())
}

/// The bytes of a line that are checked.
const LOOK_BYTES: usize = 200;

/// Whether every other byte of the beginning is zero: text of two bytes per character, without its mark.
fn is_wide(text: &[u8]) -> bool {
    let front = &text[..text.len().min(16)];
    let zeros = |start: usize| front.len() >= 4 && front.iter().skip(start).step_by(2).all(|byte| *byte == 0);
    zeros(0) || zeros(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_for_others_is_named() {
        for (text, part) in [
            ("fetch(\"http://h/\", {\n  \"headers\": {}\n});", "fetch"),
            ("// one\n\nawait fetch(\"http://h/\");", "fetch"),
            ("const answer = await fetch('http://h/');", "fetch"),
            ("$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession\n", "PowerShell"),
            ("Invoke-WebRequest -UseBasicParsing -Uri \"http://h/\"", "PowerShell"),
            ("invoke-restmethod http://h/", "PowerShell"),
            ("$r = Invoke-WebRequest http://h/", "PowerShell"),
            ("iwr http://h/", "PowerShell"),
            ("{ \"log\": {} }", "HAR"),
            ("\u{feff}fetch(\"http://h/\")", "fetch"),
            ("c\0u\0r\0l\0 \0h\0", "UTF-16"),
        ] {
            let error = refuse(text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains(part) && error.contains("Copy as cURL (bash)"), "{text}: {error}");
        }
        for marked in [&b"\xff\xfec\0"[..], b"\xfe\xff\0c"] {
            assert!(refuse(marked).is_err());
        }
        for text in
            ["curl http://h/ -d 'fetch(1)'", "# fetch(\ncurl http://h/", "curl 'http://h/?q=Invoke'\nfetch(", "", "cu"]
        {
            assert_eq!(refuse(text.as_bytes()), Ok(()), "{text}");
        }
    }
}
