//! Values of flags.

use plan::{CustomRequest, FieldValue, shell_words};

use crate::{Key, KeyKind, Mistake};

/// The value of a key, from the values of its flag.
pub(crate) fn value_of_flag(
    flag: &str,
    key: &Key,
    values: &[String],
    request: &mut CustomRequest,
) -> Result<FieldValue, Mistake> {
    let once = || match values {
        [one] => Ok(one.as_str()),
        _ => Err(mistake(key, format!("--{flag} is given more than once"), format!("--{flag} 出现了多次"))),
    };
    match key.kind {
        KeyKind::Text => once().map(|text| request.text(text.as_bytes())),
        KeyKind::Switch => Ok(FieldValue::Switch(true)),
        KeyKind::Number { min, max } => {
            let text = once()?;
            let number = text.trim().parse().ok().filter(|number| (min..=max).contains(number));
            number.map(FieldValue::Number).ok_or_else(|| {
                let en = format!("--{flag} wants a number from {min} to {max}, not '{text}'");
                mistake(key, en, format!("--{flag} 的值 '{text}' 无效：应为 {min} 到 {max} 之间的整数"))
            })
        }
        KeyKind::Words => words(flag, key, once()?, request),
        KeyKind::WordLists => {
            let lists = values.iter().map(|text| words(flag, key, text, request));
            lists.collect::<Result<_, _>>().map(FieldValue::List)
        }
    }
}

fn words(flag: &str, key: &Key, text: &str, request: &mut CustomRequest) -> Result<FieldValue, Mistake> {
    if text.contains("${") {
        let en = format!("--{flag} has no slots like ${{x}}; write a scenario file for them");
        let zh = format!("--{flag} 不支持 ${{x}} 这样的占位符；请改用场景文件");
        return Err(mistake(key, en, zh));
    }
    let Some(words) = shell_words(text.as_bytes()) else {
        let en =
            format!("--{flag} wants words as in a shell, with quotes where a word has spaces or ;|&, not '{text}'");
        let zh = format!("--{flag} 的值 '{text}' 无效：应像 shell 命令一样以空格分隔，含空格或 ;|& 的词加引号");
        return Err(mistake(key, en, zh));
    };
    Ok(FieldValue::List(words.iter().map(|word| request.text(word)).collect()))
}

fn mistake(key: &Key, en: String, zh: String) -> Mistake {
    Mistake { key: Some(key.name), en, zh }
}
