//! `-C`: from where on a file is asked for, or sent.

use crate::PlanError;
use crate::body_bytes::BodyBytes;
use crate::error::{CurlFault, at};
use crate::redirect::{BodyContent, Field};

/// The value of `-C`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Resume {
    #[default]
    No,
    /// `-`: where the file that is written ends; what is sent begins at its beginning, and says so.
    AtEnd,
    /// After N bytes.
    Behind(u64),
}

impl Resume {
    /// A number of bytes, or `-`.
    pub(super) fn parse(flag: &'static str, text: &str, line: usize) -> Result<Self, PlanError> {
        let wanted = "a number of bytes";
        let wrong = || at(line, CurlFault::Value { flag, value: text.to_owned(), wanted });
        Ok(match text {
            "-" => Self::AtEnd,
            number => match number.parse().map_err(|_| wrong())? {
                0 => Self::No,
                number => Self::Behind(number),
            },
        })
    }

    /// For a URL whose answer is written to this file, by what is sent to it.
    pub(super) fn for_output(self, content: BodyContent, path: Option<&[u8]>) -> Self {
        if self != Self::AtEnd || content == BodyContent::File {
            return self;
        }
        let path = path.and_then(|path| std::str::from_utf8(path).ok()).filter(|path| *path != "-");
        match path.and_then(|path| std::fs::metadata(path).ok()).map_or(0, |file| file.len()) {
            0 => Self::No,
            length => Self::Behind(length),
        }
    }

    /// Cuts the body as curl does, and says what field tells of it. `is_endless`: nobody knows its length beforehand.
    pub(super) fn cut(
        self,
        body: &mut BodyBytes,
        content: BodyContent,
        is_endless: bool,
        line: usize,
    ) -> Result<Option<Field>, PlanError> {
        let from = match (self, content) {
            (Self::No, _) | (Self::AtEnd, BodyContent::None | BodyContent::Data | BodyContent::Parts) => {
                return Ok(None);
            }
            (Self::AtEnd, BodyContent::File) => 0,
            (Self::Behind(from), _) => from,
        };
        let open = format!("{from}-");
        if matches!(content, BodyContent::None | BodyContent::Parts) {
            return Ok(Some(Field::Resumed { open, whole: String::new() }));
        }
        let (length, skipped) = (body.len() as u64, usize::try_from(from).unwrap_or(usize::MAX));
        // Data is cut at its end, though it is said to be cut at its front; and an empty body is whole.
        let left = match (content, length) {
            (_, 0) if !is_endless => 0,
            (_, length) if length <= from && from > 0 => {
                return Err(at(line, CurlFault::Resumed { from, length }));
            }
            (BodyContent::Data, _) => {
                let mut bytes = std::mem::take(body).into_vec();
                bytes.truncate(bytes.len() - skipped);
                *body = bytes.into();
                length - from
            }
            _ => {
                let mut bytes = std::mem::take(body).into_vec();
                drop(bytes.drain(..skipped));
                *body = bytes.into();
                length - from
            }
        };
        let left = if is_endless { -1 } else { i128::from(left) };
        let whole = i128::from(from) + left;
        Ok(Some(Field::Resumed { open, whole: format!("{from}-{}/{whole}", whole - 1) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_body_and_what_is_said_of_it_is_that_of_curl() {
        let file = || b"0123456789".to_vec();
        for (resume, body, content, is_endless, left, whole) in [
            (Resume::Behind(4), file(), BodyContent::File, false, &b"456789"[..], "4-9/10"),
            (Resume::Behind(4), file(), BodyContent::Data, false, b"012345", "4-9/10"),
            (Resume::Behind(9), file(), BodyContent::Data, false, b"0", "9-9/10"),
            (Resume::Behind(4), file(), BodyContent::File, true, b"456789", "4-2/3"),
            (Resume::AtEnd, file(), BodyContent::File, false, b"0123456789", "0-9/10"),
            (Resume::AtEnd, file(), BodyContent::File, true, b"0123456789", "0--2/-1"),
            (Resume::Behind(4), Vec::new(), BodyContent::Data, false, b"", "4-3/4"),
            (Resume::Behind(4), file(), BodyContent::Parts, false, b"0123456789", ""),
            (Resume::Behind(4), Vec::new(), BodyContent::None, false, b"", ""),
        ] {
            let mut cut = BodyBytes::from(body);
            let field = resume.cut(&mut cut, content, is_endless, 0).expect("it is cut");
            let Some(Field::Resumed { whole: said, .. }) = field else { panic!("{resume:?} {content:?}") };
            assert_eq!((&cut[..], said.as_str()), (left, whole), "{resume:?} {content:?}");
        }
        for (resume, content) in
            [(Resume::No, BodyContent::File), (Resume::AtEnd, BodyContent::Data), (Resume::AtEnd, BodyContent::None)]
        {
            let mut body = BodyBytes::from(file());
            assert_eq!(resume.cut(&mut body, content, false, 0), Ok(None), "{resume:?} {content:?}");
            assert_eq!(body[..], file()[..]);
        }
        for (from, content) in [(10, BodyContent::File), (11, BodyContent::Data), (u64::MAX, BodyContent::File)] {
            let error = Resume::Behind(from).cut(&mut file().into(), content, false, 3).expect_err("nothing is left");
            assert!(error.to_string().contains(&format!("-C {from}")), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_written_says_where_it_ends() {
        for (resume, content, path, meant) in [
            (Resume::AtEnd, BodyContent::None, Some(&b"/no/such/file"[..]), Resume::No),
            (Resume::AtEnd, BodyContent::None, None, Resume::No),
            (Resume::AtEnd, BodyContent::None, Some(b"-"), Resume::No),
            (Resume::AtEnd, BodyContent::None, Some(b"\xff"), Resume::No),
            (Resume::AtEnd, BodyContent::File, None, Resume::AtEnd),
            (Resume::Behind(4), BodyContent::None, Some(b"/no/such/file"), Resume::Behind(4)),
        ] {
            assert_eq!(resume.for_output(content, path), meant, "{resume:?} {content:?}");
        }
        let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let length = std::fs::metadata(&own).expect("a file").len();
        let path = own.to_str().expect("text").as_bytes();
        assert_eq!(Resume::AtEnd.for_output(BodyContent::Data, Some(path)), Resume::Behind(length));
    }
}
