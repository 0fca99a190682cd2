//! Bodies as text: in the charset of their head, or of their first bytes.

use std::borrow::Cow;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, X_USER_DEFINED};

/// The part of a page that may declare its charset (the HTML standard, 13.2.3.2).
const META_BYTES_MAX: usize = 1024;

/// A body as UTF-8, without a byte order mark. The mark decides, then the `charset` of `Content-Type`, then the
/// declaration of a page; where none of them is known, the body is taken unchanged. Bytes that are invalid in the
/// charset become U+FFFD.
#[inline]
pub fn text_of<'a>(content_type: Option<&[u8]>, body: &'a [u8]) -> Cow<'a, [u8]> {
    let (charset, mark) = match Encoding::for_bom(body) {
        Some((charset, mark)) => (Some(charset), mark),
        None => {
            let said = content_type.and_then(label_of).and_then(Encoding::for_label);
            (said.or_else(|| if is_page(content_type) { charset_of_page(body) } else { None }), 0)
        }
    };
    let body = &body[mark..];
    match charset.filter(|charset| ![UTF_8, REPLACEMENT, X_USER_DEFINED].contains(charset)) {
        Some(charset) => match charset.decode_without_bom_handling(body).0 {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        },
        None => Cow::Borrowed(body),
    }
}

/// The charset of a media type (RFC 9110, 8.3.1).
#[inline]
fn label_of(content_type: &[u8]) -> Option<&[u8]> {
    content_type.split(|byte| *byte == b';').skip(1).find_map(|parameter| {
        let equals = memchr::memchr(b'=', parameter)?;
        let name = parameter[..equals].trim_ascii();
        let value = parameter[equals + 1..].trim_ascii();
        let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
        name.eq_ignore_ascii_case(b"charset").then_some(value)
    })
}

/// Whether it is HTML, or may be.
#[inline]
fn is_page(content_type: Option<&[u8]>) -> bool {
    let essence = content_type.map(|of| of.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii());
    essence.is_none_or(|of| of.eq_ignore_ascii_case(b"text/html") || of.eq_ignore_ascii_case(b"application/xhtml+xml"))
}

/// The charset of `<meta charset=...>`, or of the content of `<meta http-equiv=content-type>`. A page that was readable
/// so far is not in UTF-16, whatever it declares (the HTML standard, 13.2.3.2).
#[inline]
fn charset_of_page(body: &[u8]) -> Option<&'static Encoding> {
    let begin = body[..body.len().min(META_BYTES_MAX)].to_ascii_lowercase();
    let mut at = 0;
    while let Some(found) = memchr::memmem::find(&begin[at..], b"<meta") {
        let tag = &begin[at + found + b"<meta".len()..];
        let tag = &tag[..memchr::memchr(b'>', tag).unwrap_or(tag.len())];
        let label = memchr::memmem::find(tag, b"charset").and_then(|place| {
            let rest = tag[place + b"charset".len()..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
            let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
            rest.split(|byte| byte.is_ascii_whitespace() || b"\"';/".contains(byte)).next()
        });
        if let Some(charset) = label.and_then(Encoding::for_label) {
            return Some(if charset.is_ascii_compatible() { charset } else { UTF_8 });
        }
        at += found + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_its_charset_itself() {
        let text = [0xd6, 0xd0, 0xce, 0xc4];
        let late = format!("{}<meta charset=gbk>", " ".repeat(META_BYTES_MAX));
        for (of, head, is_read) in [
            (Some("text/html"), "<meta charset=gbk>", true),
            (None, "<html><head><META  CharSet = 'GBK' />", true),
            (Some("text/html; a=b"), "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\">", true),
            (Some("text/html"), "<meta name=x><meta\ncharset=\"gb18030\">", true),
            (Some("text/html"), "<meta charset=no-such><meta charset=gbk>", true),
            (Some("application/xhtml+xml"), "<meta charset=\"gbk\"/>", true),
            // No page, another charset in the head, no charset, or too late.
            (Some("application/json"), "<meta charset=gbk>", false),
            (Some("text/html; charset=utf-8"), "<meta charset=gbk>", false),
            (Some("text/html"), "<meta name=charset>", false),
            (Some("text/html"), "<meta charset=utf-16>", false),
            (Some("text/html"), late.as_str(), false),
        ] {
            let body = [head.as_bytes(), &text].concat();
            let expect = if is_read { format!("{head}中文").into_bytes() } else { body.clone() };
            assert_eq!(text_of(of.map(str::as_bytes), &body), expect, "{of:?} {head}");
        }
    }

    #[test]
    fn what_is_said_of_a_charset_is_received() {
        for (of, label) in [
            (&b"text/html; charset=GBK"[..], Some(&b"GBK"[..])),
            (b"text/html;Charset=\"utf-16\"", Some(b"utf-16")),
            (b"text/html; a=b ; charset = gb18030 ; c", Some(b"gb18030")),
            (b"text/html; xcharset=gbk", None),
            (b"charset=gbk", None),
            (b"text/html", None),
            (b"", None),
        ] {
            assert_eq!(label_of(of), label, "{}", String::from_utf8_lossy(of));
        }
    }

    /// 中文: the same two characters in each.
    #[test]
    fn the_same_text_comes_out_of_each_charset() {
        let utf16 = [0x2d, 0x4e, 0x87, 0x65];
        let utf16_be = [0x4e, 0x2d, 0x65, 0x87];
        let marked = |mark: &[u8], text: &[u8]| [mark, text].concat();
        let cases: Vec<(Option<&str>, Vec<u8>)> = vec![
            (Some("text/plain; charset=gbk"), vec![0xd6, 0xd0, 0xce, 0xc4]),
            (Some("text/plain; charset=GB2312"), vec![0xd6, 0xd0, 0xce, 0xc4]),
            (Some("text/plain; charset=\"gb18030\""), vec![0xd6, 0xd0, 0xce, 0xc4]),
            (Some("text/plain; charset=big5"), vec![0xa4, 0xa4, 0xa4, 0xe5]),
            (Some("text/plain; charset=shift_jis"), vec![0x92, 0x86, 0x95, 0xb6]),
            (Some("text/plain; charset=euc-kr"), vec![0xf1, 0xe9, 0xd9, 0xfe]),
            (Some("text/plain; charset=utf-16le"), utf16.to_vec()),
            (Some("text/plain; charset=utf-16"), utf16.to_vec()),
            (Some("text/plain; charset=utf-16be"), utf16_be.to_vec()),
            (None, marked(&[0xff, 0xfe], &utf16)),
            (None, marked(&[0xfe, 0xff], &utf16_be)),
            // The mark takes precedence.
            (Some("text/plain; charset=gbk"), marked(&[0xff, 0xfe], &utf16)),
            (Some("text/plain; charset=gbk"), marked(&[0xef, 0xbb, 0xbf], "中文".as_bytes())),
            (Some("text/plain; charset=utf-16be"), marked(&[0xff, 0xfe], &utf16)),
            (Some("text/plain; charset=utf-8"), "中文".as_bytes().to_vec()),
            (Some("text/plain; charset=no-such"), "中文".as_bytes().to_vec()),
            (Some("application/json"), marked(&[0xef, 0xbb, 0xbf], "中文".as_bytes())),
            (None, "中文".as_bytes().to_vec()),
        ];
        for (of, body) in cases {
            assert_eq!(text_of(of.map(str::as_bytes), &body), "中文".as_bytes(), "{of:?} {body:x?}");
        }
        // Invalid bytes stay unchanged where no charset is declared, and never cause an error where one is.
        assert_eq!(text_of(None, &[0x80, 0xff, 0]), &[0x80, 0xff, 0][..]);
        assert_eq!(text_of(Some(b"a/b; charset=gbk"), &[0xd6]), "\u{fffd}".as_bytes());
        assert_eq!(text_of(Some(b"a/b; charset=utf-16le"), &[0x2d, 0x4e, 0x87]), "中\u{fffd}".as_bytes());
        assert_eq!(text_of(Some(b"a/b; charset=iso-8859-1"), b"caf\xe9"), "caf\u{e9}".as_bytes());
        assert_eq!(text_of(Some(b"a/b; charset=gbk"), b"").as_ref(), b"");
    }
}
