//! YAML syntax errors, in Chinese.

use scenario::SyntaxFault;

pub(super) fn chinese(fault: &SyntaxFault) -> String {
    let text = match fault {
        SyntaxFault::Tab => "不能用制表符缩进；请使用空格",
        SyntaxFault::Wide(wide, plain) => return format!("'{wide}' 是全角或排版符号；请改为半角的 {plain}"),
        SyntaxFault::TextInFlow => {
            "在花括号或方括号中，含有 [ ] { } , 或 @ 的文本要加引号，如 {csrf: \"css input[name=csrf] @value\"}"
        }
        SyntaxFault::Indentation => "缩进与上面的行不一致；同一层的内容要从同一列开始",
        SyntaxFault::Colon => "此处应为“键: 值”；冒号后要有空格，含有 ': ' 的文本要加引号",
        SyntaxFault::KeyHere => "此处不能有键；请检查缩进，含有 ': ' 的文本要加引号",
        SyntaxFault::DashHere => "此处不能开始列表；每个 '-' 各占一行，并从同一列开始",
        SyntaxFault::Unclosed(open) => {
            return format!("此处的 '{open}' 没有闭合；请补上对应的括号，若是文本请加引号");
        }
        SyntaxFault::Mismatch => "此括号与前面的不匹配；请用对应的括号闭合",
        SyntaxFault::Comma => "此处缺少逗号或右括号",
        SyntaxFault::Quote => "引号没有闭合；请补上，单引号中的单引号要写两次",
        SyntaxFault::BehindQuote => "右引号后面还有文本；请把全部文本写在引号中",
        SyntaxFault::Escape => "双引号中有未知的转义；反斜杠要写两次，或改用单引号",
        SyntaxFault::Character(character) => {
            return format!("此处的文本不能以 '{character}' 开头；请加引号");
        }
        SyntaxFault::Block => "| 或 > 后面只能写数字、+ 或 -；文本从下一行开始，并用空格缩进",
        SyntaxFault::Alias => "上面没有这个名称的锚点；请在 *名称 所重复的值前面写 &名称",
        SyntaxFault::AliasCycle => "这个别名位于它自己的锚点之内，会无限循环；请移动其中一个",
        SyntaxFault::TooLarge(most) => return format!("展开别名后，文件中的值超过 {most} 个；请减少别名"),
        SyntaxFault::TooManyBytes(most) => return format!("展开别名后，文件超过 {most} 字节；请减少别名"),
        SyntaxFault::TooDeep(most) => return format!("列表和映射的嵌套超过 {most} 层；请简化"),
        SyntaxFault::Documents => "一个文件只能有一个文档；请去掉 '---' 及其后的内容，或拆成两个文件",
        SyntaxFault::Directive => "不支持以 % 开头的指令；请去掉这一行",
        SyntaxFault::Tag => "YAML 把 ! 开头的内容当作标签，这里不支持；文本请加引号，如 if: \"!done\"",
        SyntaxFault::Key => "键必须是文本；请加引号",
        SyntaxFault::Braces => "{{ }} 在 YAML 中是嵌套的映射，不是占位符；请写成带引号的 \"${名称}\"",
        SyntaxFault::SlotInFlow => "在花括号或方括号中，含有 ${名称} 的文本要加引号",
        SyntaxFault::Merge => "'<<' 的值必须是映射或映射的列表",
        SyntaxFault::Other => "不是有效的 YAML；请检查缩进、引号和冒号",
    };
    text.to_owned()
}
