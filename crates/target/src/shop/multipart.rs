//! Bodies of `multipart/form-data` (RFC 7578), of which the server needs the file alone.

use memchr::memmem;

/// The longest boundary (RFC 2046 5.1.1).
const BOUNDARY_BYTES_MAX: usize = 70;

/// The boundary in a `Content-Type`, if it is that of such a body.
pub(crate) fn boundary(content_type: &str) -> Option<&str> {
    let mut parts = content_type.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let value = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim_end().eq_ignore_ascii_case("boundary").then_some(value.trim_start())
    })?;
    let value = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    (1..=BOUNDARY_BYTES_MAX).contains(&value.len()).then_some(value)
}

/// The content of the first part with a file name; `None` when the body is broken off, or has no file.
pub(super) fn file<'a>(boundary: &str, body: &'a [u8]) -> Option<&'a [u8]> {
    let delimiter = format!("\r\n--{boundary}");
    // The first delimiter needs no line end before it, where nothing stands before it.
    let mut rest = match body.strip_prefix(&delimiter.as_bytes()[2..]) {
        Some(rest) => rest,
        None => &body[memmem::find(body, delimiter.as_bytes())? + delimiter.len()..],
    };
    let mut found = None;
    while !rest.starts_with(b"--") {
        let line_end = memmem::find(rest, b"\r\n")?;
        let part = &rest[line_end..];
        let end = memmem::find(part, delimiter.as_bytes())?;
        let (part, after) = (&part[..end], &part[end + delimiter.len()..]);
        // A part without fields begins with an empty line.
        let head_end = memmem::find(part, b"\r\n\r\n")?;
        if found.is_none() && names_file(&part[..head_end]) {
            found = Some(&part[head_end + 4..]);
        }
        rest = after;
    }
    found
}

/// Whether the fields of a part give a file name.
fn names_file(head: &[u8]) -> bool {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut dispositions = lines.filter(|line| {
        line.split(|byte| *byte == b':').next().is_some_and(|name| name.eq_ignore_ascii_case(b"content-disposition"))
    });
    dispositions.any(|line| {
        let line = line.to_ascii_lowercase();
        memmem::find_iter(&line, b"filename").any(|at| matches!(line.get(at + 8), Some(b'=' | b'*')))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BODY: &[u8] = b"--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nphoto 1\r\n--b\r\n\
        content-disposition: form-data; name=\"picture\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n\
        \xff\x00--b\r\n\r\n--bar?\r\n--b--\r\n";

    #[test]
    fn boundaries() {
        let cases = [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"", Some("a b")),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
            ("multipart/mixed; boundary=abc", None),
            ("text/plain", None),
            ("", None),
        ];
        for (text, expect) in cases {
            assert_eq!(boundary(text), expect, "{text}");
        }
    }

    #[test]
    fn the_file_is_found() {
        // A delimiter ends a part wherever it stands; longer boundaries that begin like it are the sender's fault.
        let body = BODY.strip_suffix(b"\r\n--bar?\r\n--b--\r\n").expect("an end");
        let whole = [body, b"\r\n--b--\r\n"].concat();
        assert_eq!(file("b", &whole), Some(&b"\xff\x00--b\r\n"[..]));
        let with_preamble = [b"ignored\r\n", &whole[..]].concat();
        assert_eq!(file("b", &with_preamble), Some(&b"\xff\x00--b\r\n"[..]));
        assert_eq!(file("b", b"--b\r\n\r\nx\r\n--b--"), None, "no part has a file name");
        assert_eq!(
            file("b", b"--b\r\nContent-Disposition: form-data; name=a; filename*=UTF-8''x\r\n\r\n\r\n--b--"),
            Some(&b""[..])
        );
        assert_eq!([&b""[..], b"--b--", b"--b\r\n", b"--c\r\n\r\nx\r\n--c--"].map(|body| file("b", body)), [None; 4]);
    }

    /// A body that is broken off has no file, wherever it ends before the last delimiter.
    #[test]
    fn what_is_broken_off_has_no_file() {
        let whole = b"--b\r\nContent-Disposition: form-data; filename=x\r\n\r\nabc\r\n--b--";
        assert_eq!(file("b", whole), Some(&b"abc"[..]));
        for end in 0..whole.len() {
            assert_eq!(file("b", &whole[..end]), None, "{end}");
        }
    }

    proptest! {
        /// Clients may send anything.
        #[test]
        fn whatever_comes_is_read_or_refused(pieces in proptest::collection::vec(0usize..7, 0..12), end in 0usize..200) {
            const PIECES: [&[u8]; 7] =
                [b"--b", b"\r\n--b", b"\r\n", b"--", b"Content-Disposition: a; filename=b", b"\xff", b"\r\n\r\n"];
            let body = pieces.iter().map(|piece| PIECES[*piece]).collect::<Vec<_>>().concat();
            let body = &body[..end.min(body.len())];
            prop_assert!(file("b", body).is_none_or(|found| found.len() < body.len()));
        }

        /// A file comes through as it is.
        #[test]
        fn files_of_any_content_are_found(content in proptest::collection::vec(any::<u8>(), 0..300)) {
            let head = b"--bound\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\n";
            let body = [&head[..], &content, b"\r\n--bound--\r\n"].concat();
            prop_assert_eq!(file("bound", &body), Some(&content[..]));
        }
    }
}
