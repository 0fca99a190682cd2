//! YAML syntax errors in plain words: the parser distinguishes more kinds than there are remedies.

/// A YAML syntax error, or a YAML feature that is not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxFault {
    /// A tab in the place of blanks.
    #[error("a tab cannot indent; use spaces")]
    Tab,
    /// A character of a Chinese input method, or a typographic quote.
    #[error("'{0}' is a full-width or typographic sign, which is text for YAML; write {1} instead")]
    Wide(char, &'static str),
    /// Unquoted text within braces or brackets that contains some itself.
    #[error(
        "within braces and brackets, text with [ ] {{ }} , or @ needs quotes, like {{csrf: \"css input[name=csrf] @value\"}}"
    )]
    TextInFlow,
    /// Wrong indentation.
    #[error("the indentation does not fit the lines above; what belongs together begins in the same column")]
    Indentation,
    /// A line without its colon, or with one too many.
    #[error("'key: value' is expected here; write a space behind the colon, and quotes around text that holds ': '")]
    Colon,
    /// A key where none is allowed.
    #[error("a key cannot stand here; look at the indentation, and put text that holds ': ' in quotes")]
    KeyHere,
    /// A dash where none is allowed.
    #[error("a list cannot begin here; its dashes begin in one column, in lines of their own")]
    DashHere,
    /// A bracket or brace without its partner.
    #[error("the '{0}' that was opened here is not closed; close it, or put the text in quotes")]
    Unclosed(char),
    /// A bracket or brace that closes nothing.
    #[error("this bracket does not match what is open; close each with its own kind")]
    Mismatch,
    /// A list or a map in brackets without a comma.
    #[error("a comma or the closing bracket is missing here")]
    Comma,
    /// A quote without its partner.
    #[error("the quote is not closed; close it, and write it twice within single quotes")]
    Quote,
    /// Text after a quoted text.
    #[error("there is text behind the closing quote; put all of it within the quotes")]
    BehindQuote,
    /// An invalid escape.
    #[error("unknown escape in double quotes; write a backslash twice, or use single quotes")]
    Escape,
    /// A character that cannot begin a text.
    #[error("text cannot begin with '{0}' here; put it in quotes")]
    Character(char),
    /// An invalid head of a block scalar.
    #[error("behind | or > only a digit, + or - may follow; the text begins in the next line, indented by spaces")]
    Block,
    /// An unknown alias.
    #[error("no anchor of this name stands above; write &name in front of the value that *name repeats")]
    Alias,
    /// An alias within its own anchor.
    #[error("this alias stands within its own anchor, so it would never end; move one of them")]
    AliasCycle,
    /// Aliases that make the file too large.
    #[error("aliases make more than {0} values of this file; write fewer of them")]
    TooLarge(usize),
    /// Aliases that make the file too large.
    #[error("aliases make more than {0} bytes of this file; write fewer of them")]
    TooManyBytes(usize),
    /// Lists and maps nested too deeply.
    #[error("lists and maps lie in each other more than {0} deep; make it simpler")]
    TooDeep(usize),
    /// Several documents.
    #[error("a file holds one document; remove '---' and what follows, or make two files")]
    Documents,
    /// `%YAML` and the like.
    #[error("directives (%) are not supported; remove the line")]
    Directive,
    /// `!!str` and the like.
    #[error("what begins with ! is a tag for YAML, which is not supported; put text in quotes, like: if: \"!done\"")]
    Tag,
    /// A key that is no text.
    #[error("a key is text; put it in quotes")]
    Key,
    /// `{{name}}` without quotes.
    #[error("{{{{ }}}} is a map within a map for YAML, and not a slot here; write \"${{name}}\" in quotes")]
    Braces,
    /// `${name}` without quotes, within braces or brackets.
    #[error("within braces and brackets, text with ${{name}} needs quotes")]
    SlotInFlow,
    /// `<<` with a value that is no map.
    #[error("'<<' takes a map, or a list of maps, to be added here")]
    Merge,
    /// Any other error.
    #[error("this is not YAML; look at indentation, quotes and colons")]
    Other,
}
