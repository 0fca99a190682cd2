//! Errors of extractions from a response, in both languages: cause and remedy.

use plan::{ExtractError, NotExtracted};

use crate::Language;

/// The error in one line.
pub fn extract_error(error: &ExtractError, language: Language) -> String {
    language.pick(error.to_string(), error.chinese())
}

/// The reason why a step extracted nothing, as a part of a line.
pub fn not_extracted(why: &NotExtracted, language: Language) -> String {
    language.pick(why.to_string(), why.chinese())
}

/// The reason why an exchange could not be made, or an extraction failed: our texts in Chinese, others unchanged.
pub(crate) fn why_in_chinese(why: &str) -> String {
    const WORDS: [(&str, &str); 18] = [
        ("it is not a JavaScript expression:", "不是有效的 JavaScript 表达式："),
        (
            "this build evaluates no expressions; build it with --features script",
            "当前构建不支持表达式；请加上 --features script 重新构建",
        ),
        ("it gives a function, which is not a value;", "结果是函数，不是值；"),
        (
            "give a number, a text, true, false, null, an array or an object",
            "请给出数字、文本、true、false、null、数组或对象",
        ),
        (
            "the connection of this conversation was lost in a step before, so nothing was sent; let the conversation end there ('on_failure: next_iteration'), or open another one",
            "此会话的连接已在之前的步骤中断开，因此没有发送；请让会话在那里结束（on_failure: next_iteration），或另开一个会话",
        ),
        ("per_user:", "per_user："),
        ("nothing is there", "没有找到"),
        ("the body is no JSON", "响应体不是 JSON"),
        ("the body takes too much memory as", "响应体占用内存过多："),
        (
            "a value for a header has a line end; take it without, or encode it",
            "请求头的值中有换行；请去掉换行或先编码",
        ),
        (
            "leads neither to the target nor to one of 'origins'; add its origin there, like https://cdn.example",
            "既不属于 target，也不属于 origins 中的任何一个；请把它的源加进 origins，如 https://cdn.example",
        ),
        ("there is no row", "没有数据行"),
        ("random() wants whole numbers, the smaller first, not", "random() 需要整数且较小的在前，而不是"),
        ("it is no message of the method:", "不符合该方法的消息格式："),
        ("it threw:", "抛出异常："),
        ("it took longer than 50ms; do less in it", "执行超过 50ms；请减少其中的计算"),
        ("of memory; do less in it", "内存；请减少其中的计算"),
        ("it wanted more than", "所需超过"),
    ];
    let why = match why.strip_prefix("take ").and_then(|rest| rest.split_once(": ")) {
        Some((name, rest)) => format!("提取 {name}：{rest}"),
        None => why.to_owned(),
    };
    WORDS.iter().fold(why, |text, (english, chinese)| text.replace(english, chinese))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_nothing_was_taken_is_said_in_chinese() {
        for (why, chinese) in [
            ("take m: nothing is there (json $.token)", "提取 m：没有找到 (json $.token)"),
            ("it threw: x is not defined", "抛出异常： x is not defined"),
            ("it took longer than 50ms; do less in it", "执行超过 50ms；请减少其中的计算"),
            ("what a server says", "what a server says"),
        ] {
            assert_eq!(why_in_chinese(why), chinese);
        }
    }

    #[test]
    fn each_is_reported_in_both_languages() {
        let (what, reason) = (|| "w_h_a_t".to_owned(), || "b_e_c_a_u_s_e".to_owned());
        for error in [
            ExtractError::Path { path: what(), reason: reason() },
            ExtractError::Pattern { pattern: what(), reason: reason() },
            ExtractError::Selector { selector: what(), reason: reason() },
            ExtractError::NoSelectors,
        ] {
            let (english, chinese) = (extract_error(&error, Language::En), extract_error(&error, Language::Zh));
            assert!(english.is_ascii() && english.contains("; "), "{english}");
            assert!(chinese.contains('；'), "{chinese}");
            for word in [what(), reason()] {
                assert_eq!(english.contains(&word), chinese.contains(&word), "{chinese}");
            }
        }
        for why in
            [NotExtracted::Nothing, NotExtracted::NoJson { reason: reason() }, NotExtracted::TooLarge { form: "HTML" }]
        {
            let (english, chinese) = (not_extracted(&why, Language::En), not_extracted(&why, Language::Zh));
            assert_eq!(english.contains(&reason()), chinese.contains(&reason()), "{chinese}");
            assert!(!chinese.is_ascii() && english.is_ascii(), "{chinese}");
        }
    }
}
