//! Wrapping of long texts: at blanks, and between Chinese characters, never inside a word.

#[cfg(test)]
mod tests;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters that must not begin a line.
const CLOSING: &str = "，。；：、！？）》”’%…";
/// Characters that must not end a line.
const OPENING: &str = "（《“‘";

/// Wraps a text to lines of at most `columns`. A single word that is wider gets a line of its own.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in pieces(text) {
        let line = lines.last_mut().expect("there is a first line");
        if line.is_empty() {
            line.push_str(piece.trim_start());
        } else if line.width() + piece.trim_end().width() <= columns {
            line.push_str(piece);
        } else {
            line.truncate(line.trim_end().len());
            lines.push(piece.trim_start().to_owned());
        }
    }
    let last = lines.last_mut().expect("there is a first line");
    last.truncate(last.trim_end().len());
    lines
}

/// Wraps items to lines of at most `columns`; an item is never split.
pub(crate) fn wrap_items(items: &[String], between: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.width() + between.width() + item.width() <= columns => {
                line.push_str(between);
                line.push_str(item);
            }
            _ => lines.push(item.clone()),
        }
    }
    lines
}

/// A text truncated to `columns`, with a mark where something is left out.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    for each in text.chars() {
        if short.width() + each.width().unwrap_or(0) + 1 > columns {
            break;
        }
        short.push(each);
    }
    short.push('…');
    short
}

/// The parts of a text between which a line may break.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((_, each)) = chars.next() {
        let Some(&(next_at, next)) = chars.peek() else { break };
        if may_end_between(each, next) {
            pieces.push(&text[begin..next_at]);
            begin = next_at;
        }
    }
    pieces.push(&text[begin..]);
    pieces
}

fn may_end_between(left: char, right: char) -> bool {
    if left == ' ' {
        return right != ' ';
    }
    let is_wide = |each: char| each.width() == Some(2);
    right != ' ' && (is_wide(left) || is_wide(right)) && !CLOSING.contains(right) && !OPENING.contains(left)
}
