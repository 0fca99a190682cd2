//! Messages about flags, in words of the file: its keys have the names of the long flags, with `_`.

/// Words with another name in the file, and that name.
const WORDS: [(&str, &str); 13] = [
    ("--expect-", ""),
    ("-d hex: wants", "hex wants"),
    ("-d hex: 的值", "hex 的值"),
    ("'hex:0a ff'", "'0a ff'"),
    ("write it like -H 'Name: value'", "a name has letters, digits and hyphens"),
    ("请写成 -H 'Name: value' 的形式", "名称只能有字母、数字和连字符"),
    (
        "send them with -u NAME:PASSWORD, or with -H 'Authorization: ...'",
        "send them with headers: {Authorization: ...}, or as 'user' of the defaults",
    ),
    (
        "请改用 -u 用户名:密码 或 -H 'Authorization: ...' 发送",
        "请改用 headers: {Authorization: ...} 或 defaults 中的 user",
    ),
    ("write a word like GET or POST after -X", "write a word and the URL, like: PROPFIND /files"),
    ("请在 -X 后写 GET、POST 之类的单词", "请写成“方法 URL”的形式，如：PROPFIND /files"),
    ("-u wants", "user wants"),
    ("-u 需要", "user 需要"),
    ("-t ", "timeout "),
];

/// The text of a flag message in the words of the file.
pub fn as_keys(text: &str) -> String {
    let text = WORDS.iter().fold(text.to_owned(), |text, (flag, word)| match *flag {
        // A hyphen and a letter may be a part of a word.
        "-t " if !text.starts_with(flag) => text,
        flag => text.replace(flag, word),
    });
    let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(at) = rest.find("--") {
        out.push_str(&rest[..at]);
        let name = &rest[at + 2..];
        let end = name.find(|each: char| !each.is_ascii_lowercase() && each != '-').unwrap_or(name.len());
        match end {
            0 => out.push_str("--"),
            _ => out.push_str(&name[..end].replace('-', "_")),
        }
        rest = &name[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_keys() {
        for (flag, key) in [
            ("--expect-json 'x' is no check", "json 'x' is no check"),
            ("--connect-timeout wants a time", "connect_timeout wants a time"),
            ("-t wants a time", "timeout wants a time"),
            ("for wants a time, not '-t '", "for wants a time, not '-t '"),
            ("a -- b", "a -- b"),
        ] {
            assert_eq!(as_keys(flag), key);
        }
    }
}
