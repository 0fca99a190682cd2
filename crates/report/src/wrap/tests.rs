use super::*;

#[test]
fn lines_end_between_words() {
    let cases: [(&str, usize, &[&str]); 12] = [
        ("", 10, &[""]),
        ("one two three", 7, &["one two", "three"]),
        ("one two three", 6, &["one", "two", "three"]),
        ("one two three", 13, &["one two three"]),
        ("http://127.0.0.1:8080/ is long", 10, &["http://127.0.0.1:8080/", "is long"]),
        ("a  b", 1, &["a", "b"]),
        ("瓶颈在被测服务", 6, &["瓶颈在", "被测服", "务"]),
        ("瓶颈在被，测服务", 8, &["瓶颈在", "被，测服", "务"]),
        ("瓶颈（详见日志）", 6, &["瓶颈", "（详见", "日志）"]),
        ("共 20 个用户", 6, &["共 20", "个用户"]),
        ("延迟p99为12.3ms，正常", 10, &["延迟p99为", "12.3ms，正", "常"]),
        ("tail ", 4, &["tail"]),
    ];
    for (text, columns, lines) in cases {
        assert_eq!(wrap(text, columns), lines, "{text} in {columns}");
    }
}

#[test]
fn items_stay_whole() {
    let items = ["200: 10".to_owned(), "404: 3".to_owned(), "500: 1".to_owned()];
    assert_eq!(wrap_items(&items, "   ", 16), ["200: 10   404: 3", "500: 1"]);
    assert_eq!(wrap_items(&items, "   ", 3), ["200: 10", "404: 3", "500: 1"]);
    assert!(wrap_items(&[], " ", 3).is_empty());
}

#[test]
fn what_is_cut_says_so() {
    assert_eq!([cut("GET /orders", 11), cut("GET /orders", 6), cut("响应时间", 5)], ["GET /orders", "GET /…", "响应…"]);
}

proptest::proptest! {
    /// Only blanks are dropped, no word is broken, and only a word that is too wide makes a line too wide.
    #[test]
    fn no_word_is_broken(text in "[a-z0-9,./ ]{0,60}[压测，。（）%a-z ]{0,20}", columns in 2usize..40) {
        let lines = wrap(&text, columns);
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        proptest::prop_assert_eq!(bare(&lines.concat()), bare(&text));
        for line in &lines {
            proptest::prop_assert!(line.width() <= columns || pieces(line).len() == 1, "{:?}", line);
        }
        // The position of the next line in the text, derived from what has been shown of it, without blanks.
        let mut rest = text.trim_start_matches(' ');
        for (line, next) in lines.iter().zip(&lines[1..]) {
            let behind = rest.strip_prefix(line.as_str());
            proptest::prop_assert!(behind.is_some(), "{:?} of {:?}", line, text);
            let behind = behind.unwrap_or_default();
            rest = behind.trim_start_matches(' ');
            let (left, right) = (line.chars().last(), next.chars().next());
            let is_word = |each: Option<char>| each.is_some_and(|each| each.is_ascii_alphanumeric());
            proptest::prop_assert!(behind.starts_with(' ') || !(is_word(left) && is_word(right)), "{:?}", lines);
        }
    }
}
