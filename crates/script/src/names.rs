//! The variables that an expression uses.

/// The names that occur in an expression, as indices of `names`. It may include unused ones, as in a comment, but never
/// omits a used one. A name with a dot is a column of a row; where a row is used as a whole, all its columns are
/// included.
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
    /// Whether it follows a dot.
    is_member: bool,
    /// The name that follows it after a dot.
    member: Option<&'a str>,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let is_of_name = |each: char| each.is_alphanumeric() || each == '_' || each == '$';
    let mut words: Vec<Word<'_>> = Vec::new();
    // The characters between the last word and here, without whitespace.
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
        // `...a` is a spread of `a`, not a member.
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
