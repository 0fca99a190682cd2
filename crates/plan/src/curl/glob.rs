//! Braces and brackets of URLs, as curl reads them: `{a,b}`, `[1-9]`, `[01-10:3]` and `[a-z]` stand for several texts.

use crate::curl_url::ipv6_end;

/// Why a pattern is not expanded: it cannot be read, or yields too many URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoGlob {
    Unread,
    TooMany,
}

/// All texts that a pattern stands for, the last part changing first; at most `most`. A sign behind a backslash is itself, and so are
/// `[]` and an address of IPv6.
pub(super) fn expand(pattern: &str, most: usize) -> Result<Vec<String>, NoGlob> {
    let mut all = vec![String::new()];
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let (texts, behind) = match first {
            '{' => set(&rest[1..]).ok_or(NoGlob::Unread)?,
            '[' if rest.starts_with("[]") => (vec!["[]".to_owned()], &rest[2..]),
            '[' => match ipv6_end(rest) {
                Some(end) => (vec![rest[..end].to_owned()], &rest[end..]),
                None => range(&rest[1..], most)?,
            },
            '}' | ']' => return Err(NoGlob::Unread),
            '\\' if rest[1..].starts_with(['[', ']', '{', '}']) => (vec![rest[1..2].to_owned()], &rest[2..]),
            each => (vec![each.to_string()], &rest[each.len_utf8()..]),
        };
        rest = behind;
        if let [only] = texts.as_slice() {
            all.iter_mut().for_each(|text| text.push_str(only));
            continue;
        }
        if all.len().saturating_mul(texts.len()) > most {
            return Err(NoGlob::TooMany);
        }
        all = all.iter().flat_map(|front| texts.iter().map(move |text| format!("{front}{text}"))).collect();
    }
    Ok(all)
}

/// `a,b}`: each of them, and what stands behind.
fn set(text: &str) -> Option<(Vec<String>, &str)> {
    let (mut all, mut one) = (Vec::new(), String::new());
    let mut signs = text.char_indices();
    while let Some((place, sign)) = signs.next() {
        match sign {
            '\\' => one.push(signs.next()?.1),
            ',' => all.push(std::mem::take(&mut one)),
            '}' if place == 0 => return None,
            '}' => {
                all.push(one);
                return Some((all, &text[place + 1..]));
            }
            '{' | '[' | ']' => return None,
            sign => one.push(sign),
        }
    }
    None
}

/// `1-9]`, `01-10:3]` or `a-z]`: each of them, and what stands behind.
fn range(text: &str, most: usize) -> Result<(Vec<String>, &str), NoGlob> {
    let read = || {
        let (inner, behind) = text.split_once(']')?;
        let (span, step) = match inner.split_once(':') {
            Some((span, step)) => (span, step.parse::<u64>().ok()?),
            None => (inner, 1),
        };
        let (from, to) = span.split_once('-')?;
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let (least, greatest, width) = if is_digits(from) && is_digits(to) {
            let width = if from.starts_with('0') { from.len() } else { 0 };
            (from.parse().ok()?, to.parse().ok()?, Some(width))
        } else {
            let ([from], [to]) = (from.as_bytes(), to.as_bytes()) else { return None };
            let are_letters = from.is_ascii_alphabetic() && to.is_ascii_alphabetic();
            are_letters.then_some((u64::from(*from), u64::from(*to), None))?
        };
        let span = u64::checked_sub(greatest, least)?;
        let is_step = if span == 0 { step == 1 } else { (1..=span).contains(&step) };
        is_step.then_some((least, span, step, width, behind))
    };
    let (least, span, step, width, behind) = read().ok_or(NoGlob::Unread)?;
    if span / step >= most as u64 {
        return Err(NoGlob::TooMany);
    }
    let text = |number: u64| match width {
        Some(width) => format!("{number:0width$}"),
        None => char::from(number as u8).to_string(),
    };
    Ok(((0..=span / step).map(|turn| text(least + turn * step)).collect(), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_what_curl_makes_of_them() {
        for (pattern, all) in [
            ("h/a", "h/a"),
            ("h/{a,b}", "h/a h/b"),
            ("h/{b}", "h/b"),
            ("h/{a,}x", "h/ax h/x"),
            ("h/[1-3]", "h/1 h/2 h/3"),
            ("h/[1-1]", "h/1"),
            ("h/[08-11]", "h/08 h/09 h/10 h/11"),
            ("h/[1-10:4]", "h/1 h/5 h/9"),
            ("h/[a-c]", "h/a h/b h/c"),
            ("h/[a-g:3]", "h/a h/d h/g"),
            ("h/{a,b}[1-2]", "h/a1 h/a2 h/b1 h/b2"),
            (r"h/\[1\]\{a\}", "h/[1]{a}"),
            (r"h/{a\,b,c}", "h/a,b h/c"),
            ("h/a[]?b[]=1", "h/a[]?b[]=1"),
            ("[::1]:80/{a,b}", "[::1]:80/a [::1]:80/b"),
            ("[fe80::1%25eth0]/", "[fe80::1%25eth0]/"),
            ("h/a%5b1%5d?x%5B%5D=1", "h/a%5b1%5d?x%5B%5D=1"),
            ("中[1-2]文", "中1文 中2文"),
            (r"h/a\b", r"h/a\b"),
        ] {
            let texts = expand(pattern, 10).unwrap_or_else(|fault| panic!("{pattern}: {fault:?}"));
            assert_eq!(texts.join(" "), all, "{pattern}");
        }
        for pattern in [
            "h/[1]",
            "h/{}",
            "h/}",
            "h/]",
            "h/[",
            "h/{a",
            "h/[3-1]",
            "h/[1-3:0]",
            "h/[1-3:3]",
            "h/[a-3]",
            "h/[1-1:2]",
            "h/{a{b}}",
            "h/{a[1-2]}",
            "h/[1-2",
            "h/[-]",
            "h/[a-bc]",
            "h/[-1-2]",
            "h/{a\\",
            "h/[1-99999999999999999999]",
        ] {
            assert_eq!(expand(pattern, 10), Err(NoGlob::Unread), "{pattern}");
        }
        for pattern in ["h/[1-11]", "h/[1-5]{a,b,c}", "h/[0-18446744073709551615]"] {
            assert_eq!(expand(pattern, 10), Err(NoGlob::TooMany), "{pattern}");
        }
    }
}
