//! What cannot be taken from an answer, in both languages: what is wrong, and what to do.

use plan::{NotTaken, TakeError};

use crate::Language;

/// One line.
pub fn take_error(error: &TakeError, language: Language) -> String {
    match language {
        Language::En => error.to_string(),
        Language::Zh => match error {
            TakeError::Path { path, reason } => {
                format!("'{path}' 不是有效的 JSON 路径：{reason}；请写成 $.items[0].id 的形式（RFC 9535）")
            }
            TakeError::Pattern { pattern, reason } => {
                format!("'{pattern}' 不是有效的正则表达式：{reason}；请写成 id=([0-9]+) 的形式")
            }
            TakeError::Selector { selector, reason } => {
                format!("'{selector}' 不是有效的 CSS 选择器：{reason}；请写成 input[name=csrf] 的形式")
            }
            TakeError::NoSelectors => {
                "当前构建不支持 CSS 选择器；请改用 regex 提取，或使用 onrush 安装包，或加上 --features css 重新构建"
                    .to_owned()
            }
        },
    }
}

/// Why a step found nothing, as a part of a line.
pub fn not_taken(why: &NotTaken, language: Language) -> String {
    match language {
        Language::En => why.to_string(),
        Language::Zh => match why {
            NotTaken::Nothing => "没有找到".to_owned(),
            NotTaken::NoJson { reason } => format!("响应体不是 JSON（{reason}）"),
            NotTaken::TooLarge { form } => format!("响应体按 {form} 解析占用内存过多"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_in_both_languages() {
        let (what, reason) = (|| "w_h_a_t".to_owned(), || "b_e_c_a_u_s_e".to_owned());
        for error in [
            TakeError::Path { path: what(), reason: reason() },
            TakeError::Pattern { pattern: what(), reason: reason() },
            TakeError::Selector { selector: what(), reason: reason() },
            TakeError::NoSelectors,
        ] {
            let (english, chinese) = (take_error(&error, Language::En), take_error(&error, Language::Zh));
            assert!(english.is_ascii() && english.contains("; "), "{english}");
            assert!(chinese.contains('；'), "{chinese}");
            for word in [what(), reason()] {
                assert_eq!(english.contains(&word), chinese.contains(&word), "{chinese}");
            }
        }
        for why in [NotTaken::Nothing, NotTaken::NoJson { reason: reason() }, NotTaken::TooLarge { form: "HTML" }] {
            let (english, chinese) = (not_taken(&why, Language::En), not_taken(&why, Language::Zh));
            assert_eq!(english.contains(&reason()), chinese.contains(&reason()), "{chinese}");
            assert!(!chinese.is_ascii() && english.is_ascii(), "{chinese}");
        }
    }
}
