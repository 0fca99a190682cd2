//! Which variables an expression uses.

/// The names that occur in an expression, by their places in `names`. Some may be there that are not used, as in a comment; none that
/// is used is left out. A name with a point is a column of a row; where a row is used as a whole, all its columns are.
pub(crate) fn used(text: &str, names: &[&str]) -> Vec<usize> {
    let words = words(text);
    let is_there = |name: &str| words.iter().any(|word| word.name == name && !word.is_member);
    let is_used = |name: &&&str| match name.split_once('.') {
        None => is_there(name),
        Some((row, column)) => words.iter().any(|word| {
            word.name == row
                && !word.is_member
                && word.member.is_none_or(|member| member == column || !is_known(row, member, names))
        }),
    };
    names.iter().enumerate().filter(|(_, name)| is_used(name)).map(|(place, _)| place).collect()
}

fn is_known(row: &str, column: &str, names: &[&str]) -> bool {
    names.iter().any(|name| name.split_once('.') == Some((row, column)))
}

struct Word<'a> {
    name: &'a str,
    /// It stands behind a point.
    is_member: bool,
    /// What stands behind a point behind it.
    member: Option<&'a str>,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let is_of_name = |each: char| each.is_alphanumeric() || each == '_' || each == '$';
    let mut words: Vec<Word<'_>> = Vec::new();
    // What stands between the last word and here, without spaces.
    let (mut between, mut rest) = (String::new(), text);
    while let Some(first) = rest.chars().next() {
        if !is_of_name(first) {
            if !first.is_whitespace() {
                between.push(first);
            }
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(|each| !is_of_name(each)).unwrap_or(rest.len());
        let name = &rest[..end];
        rest = &rest[end..];
        // `...a` spreads a, and is no member.
        let is_member = (between.ends_with('.') && !between.ends_with("..")) || between.ends_with("?.");
        if is_member
            && matches!(between.as_str(), "." | "?.")
            && let Some(last) = words.last_mut()
        {
            last.member = Some(name);
        }
        words.push(Word { name, is_member, member: None });
        between.clear();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_found() {
        let names = ["price", "users.name", "users.age", "$x", "价格", "toString"];
        let cases: [(&str, &[&str]); 15] = [
            ("1 + 2", &[]),
            ("price", &["price"]),
            ("price<100&&$x", &["price", "$x"]),
            ("prices + xprice + price2", &[]),
            ("users.name", &["users.name"]),
            ("users . age > 3", &["users.age"]),
            ("users?.age", &["users.age"]),
            ("users", &["users.name", "users.age"]),
            ("users['name']", &["users.name", "users.age"]),
            ("Object.keys(users).length", &["users.name", "users.age"]),
            ("users.length", &["users.name", "users.age"]),
            ("[...users]", &["users.name", "users.age"]),
            ("a.price + a.users.name", &[]),
            ("价格 * 2", &["价格"]),
            ("`${price}` + x.toString()", &["price"]),
        ];
        for (text, expect) in cases {
            let found: Vec<&str> = used(text, &names).into_iter().map(|place| names[place]).collect();
            assert_eq!(found, expect, "{text}");
        }
    }
}
