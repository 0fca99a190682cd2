//! Full-width characters and quotation marks of a Chinese input method, typed in place of plain ones.

use crate::Language;

/// The plain character that a full-width one stands for.
pub(super) fn plain_of(wide: char) -> Option<char> {
    let is_wide = ('！'..='～').contains(&wide);
    let plain = is_wide.then(|| char::from_u32(u32::from(wide) - 0xFEE0)).flatten();
    plain.filter(char::is_ascii_graphic)
}

/// The end of a message about such a character.
pub(super) fn wide(each: char, language: Language) -> Option<String> {
    if let Some(plain) = plain_of(each) {
        return Some(language.pick(
            format!("; '{each}' is a full-width character, write '{plain}'"),
            format!("；'{each}' 是全角字符，请改为半角的 '{plain}'"),
        ));
    }
    "“”‘’「」".contains(each).then(|| {
        language.pick(
            format!("; {each} is a quotation mark of printed text, leave it out"),
            format!("；{each} 是中文引号，请去掉"),
        )
    })
}
