//! YAML syntax errors in plain words: the parser distinguishes more kinds than there are remedies.

use plan::errors;

errors! {
    /// A YAML syntax error, or a YAML feature that is not supported.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum SyntaxFault;

    /// A tab in the place of blanks.
    Tab;
        "a tab cannot indent; use spaces",
        "不能用制表符缩进；请使用空格";
    /// A character of a Chinese input method, or a typographic quote.
    Wide(it: char, other: &'static str);
        "'{it}' is a full-width or typographic sign, which is text for YAML; write {other} instead",
        "'{it}' 是全角或排版符号；请改为半角的 {other}";
    /// Unquoted text within braces or brackets that contains some itself.
    TextInFlow;
        "within braces and brackets, text with [ ] {{ }} , or @ needs quotes, like {{csrf: \"css input[name=csrf] @value\"}}",
        "在花括号或方括号中，含有 [ ] {{ }} , 或 @ 的文本要加引号，如 {{csrf: \"css input[name=csrf] @value\"}}";
    /// Wrong indentation.
    Indentation;
        "the indentation does not fit the lines above; what belongs together begins in the same column",
        "缩进与上面的行不一致；同一层的内容要从同一列开始";
    /// A line without its colon, or with one too many.
    Colon;
        "'key: value' is expected here; write a space behind the colon, and quotes around text that holds ': '",
        "此处应为“键: 值”；冒号后要有空格，含有 ': ' 的文本要加引号";
    /// A key where none is allowed.
    KeyHere;
        "a key cannot stand here; look at the indentation, and put text that holds ': ' in quotes",
        "此处不能有键；请检查缩进，含有 ': ' 的文本要加引号";
    /// A dash where none is allowed.
    DashHere;
        "a list cannot begin here; its dashes begin in one column, in lines of their own",
        "此处不能开始列表；每个 '-' 各占一行，并从同一列开始";
    /// A bracket or brace without its partner.
    Unclosed(it: char);
        "the '{it}' that was opened here is not closed; close it, or put the text in quotes",
        "此处的 '{it}' 没有闭合；请补上对应的括号，若是文本请加引号";
    /// A bracket or brace that closes nothing.
    Mismatch;
        "this bracket does not match what is open; close each with its own kind",
        "此括号与前面的不匹配；请用对应的括号闭合";
    /// A list or a map in brackets without a comma.
    Comma;
        "a comma or the closing bracket is missing here",
        "此处缺少逗号或右括号";
    /// A quote without its partner.
    Quote;
        "the quote is not closed; close it, and write it twice within single quotes",
        "引号没有闭合；请补上，单引号中的单引号要写两次";
    /// Text after a quoted text.
    BehindQuote;
        "there is text behind the closing quote; put all of it within the quotes",
        "右引号后面还有文本；请把全部文本写在引号中";
    /// An invalid escape.
    Escape;
        "unknown escape in double quotes; write a backslash twice, or use single quotes",
        "双引号中有未知的转义；反斜杠要写两次，或改用单引号";
    /// A character that cannot begin a text.
    Character(it: char);
        "text cannot begin with '{it}' here; put it in quotes",
        "此处的文本不能以 '{it}' 开头；请加引号";
    /// An invalid head of a block scalar.
    Block;
        "behind | or > only a digit, + or - may follow; the text begins in the next line, indented by spaces",
        "| 或 > 后面只能写数字、+ 或 -；文本从下一行开始，并用空格缩进";
    /// An unknown alias.
    Alias;
        "no anchor of this name stands above; write &name in front of the value that *name repeats",
        "上面没有这个名称的锚点；请在 *名称 所重复的值前面写 &名称";
    /// An alias within its own anchor.
    AliasCycle;
        "this alias stands within its own anchor, so it would never end; move one of them",
        "这个别名位于它自己的锚点之内，会无限循环；请移动其中一个";
    /// Aliases that make the file too large.
    TooLarge(it: usize);
        "aliases make more than {it} values of this file; write fewer of them",
        "展开别名后，文件中的值超过 {it} 个；请减少别名";
    /// Aliases that make the file too large.
    TooManyBytes(it: usize);
        "aliases make more than {it} bytes of this file; write fewer of them",
        "展开别名后，文件超过 {it} 字节；请减少别名";
    /// Lists and maps nested too deeply.
    TooDeep(it: usize);
        "lists and maps lie in each other more than {it} deep; make it simpler",
        "列表和映射的嵌套超过 {it} 层；请简化";
    /// Several documents.
    Documents;
        "a file holds one document; remove '---' and what follows, or make two files",
        "一个文件只能有一个文档；请去掉 '---' 及其后的内容，或拆成两个文件";
    /// `%YAML` and the like.
    Directive;
        "directives (%) are not supported; remove the line",
        "不支持以 % 开头的指令；请去掉这一行";
    /// `!!str` and the like.
    Tag;
        "what begins with ! is a tag for YAML, which is not supported; put text in quotes, like: if: \"!done\"",
        "YAML 把 ! 开头的内容当作标签，这里不支持；文本请加引号，如 if: \"!done\"";
    /// A key that is no text.
    Key;
        "a key is text; put it in quotes",
        "键必须是文本；请加引号";
    /// `{{name}}` without quotes.
    Braces;
        "{{{{ }}}} is a map within a map for YAML, and not a slot here; write \"${{name}}\" in quotes",
        "{{{{ }}}} 在 YAML 中是嵌套的映射，不是占位符；请写成带引号的 \"${{名称}}\"";
    /// `${name}` without quotes, within braces or brackets.
    SlotInFlow;
        "within braces and brackets, text with ${{name}} needs quotes",
        "在花括号或方括号中，含有 ${{名称}} 的文本要加引号";
    /// `<<` with a value that is no map.
    Merge;
        "'<<' takes a map, or a list of maps, to be added here",
        "'<<' 的值必须是映射或映射的列表";
    /// Any other error.
    Other;
        "this is not YAML; look at indentation, quotes and colons",
        "不是有效的 YAML；请检查缩进、引号和冒号";
}
