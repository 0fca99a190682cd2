//! Expected kinds of values, and actual values.

use std::fmt;

use plan::{OwnKind, errors};

/// Makes the expected kinds of values from their rows: what each is called, and how it is written, in English and in
/// Chinese.
macro_rules! wanted {
    ($($kind:ident: $word:literal, $example:literal; $word_zh:literal, $example_zh:literal;)+) => {
        /// An expected kind of value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "its texts say what each is")]
        pub enum Wanted {
            $($kind,)+
        }

        impl Wanted {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            /// What it is called, and how it is written.
            pub(super) fn texts(self) -> [&'static str; 2] {
                match self {
                    $(Self::$kind => [$word, $example],)+
                }
            }

            fn texts_in_chinese(self) -> [&'static str; 2] {
                match self {
                    $(Self::$kind => [$word_zh, $example_zh],)+
                }
            }
        }
    };
}

wanted! {
    Map: "a map", "write 'key: value' in lines of their own, indented";
        "映射", "请逐行写“键: 值”并缩进";
    List: "a list", "write a line with '- ' for each item";
        "列表", "每项一行，以 '- ' 开头";
    Steps: "a list of steps", "write a line with '- ' for each step, like: - get: /";
        "步骤列表", "每个步骤一行，以 '- ' 开头，如：- get: /";
    Text: "text", "write it in one line, in quotes if need be";
        "文本", "请写在一行内，必要时加引号";
    TextOrList: "text, or a list of texts", "write one text, or a line with '- ' for each";
        "文本或文本列表", "请写一个文本，或每项一行以 '- ' 开头";
    Switch: "true or false", "write true or false";
        " true 或 false", "请写 true 或 false";
    Number: "a whole number", "write it like 200, 10k or 1_000";
        "整数", "写法如 200、10k、1_000";
    Origin: "an origin", "write scheme and host, and a port if it is another, like https://cdn.example";
        "源", "请写协议和主机，端口非默认时加上端口，如 https://cdn.example";
    Time: "a time", "write it like 500ms, 10s or 1h30m";
        "时长", "写法如 500ms、10s、1h30m";
    Rate: "a rate", "write it like 500/s or 100/m";
        "速率", "写法如 500/s、100/m";
    Stages: "a number, or a list of stages", "write it like 200, or [\"200:2m\", \"0:30s\"]";
        "数字或阶段列表", "写法如 200，或 [\"200:2m\", \"0:30s\"]";
    Rounds: "a number of rounds", "write it like 3, 1-5 for a number that is drawn, or \"${n}\"";
        "重复次数", "写法如 3，或用 1-5 表示随机次数，或 \"${n}\"";
    Items: "an expression that gives a list", "write it like items, or order.items; a list of its own belongs into 'vars' or 'set'";
        "得到列表的表达式", "写法如 items、order.items；固定的列表请写在 vars 或 set 中";
    Factor: "a factor from 1 to 100", "write it like 2 or 1.5";
        " 1 到 100 的倍数", "写法如 2、1.5";
    Carried: "true, false, or a list of names", "write true, or names like [token, cookies]";
        " true、false 或名称列表", "请写 true，或 [token, cookies] 这样的名称列表";
    Think: "a think time", "write it like 2s, 1s-3s, exponential(2s), normal(2s, 0.5s) or lognormal(2s, 0.4)";
        "思考时间", "写法如 2s、1s-3s、exponential(2s)、normal(2s, 0.5s)、lognormal(2s, 0.4)";
    OnFailure: "what follows a failure", "write next_iteration, continue, break, stop_user, stop_run, 'retry 3', or a map like {retry: 3, after: 1s}";
        "失败后的处理", "可写 next_iteration、continue、break、stop_user、stop_run、'retry 3'，或 {retry: 3, after: 1s} 这样的映射";
    Extract: "what to take", "write it like json $.id, regex id=([0-9]+), header ETag, cookie sid, status, url, or css input[name=csrf] @value";
        "要提取的内容", "写法如 json $.id、regex id=([0-9]+)、header ETag、cookie sid、status、url、css input[name=csrf] @value";
    Bound: "a bound", "write it with <, <=, >, >= or == in front, like: < 500ms";
        "限制", "前面要写 <、<=、>、>= 或 ==，如：< 500ms";
    Credentials: "a user with a password, or a token", "write basic: \"user:password\", or bearer: \"${token}\"";
        "用户名和密码，或令牌", "写法如 basic: \"user:password\" 或 bearer: \"${token}\"";
    Tag: "a part of a tag", "write letters, digits, '_', '-' or '.', like {kind: api}; 'address' is taken";
        "标签的一部分", "只能用字母、数字、'_'、'-'、'.'，如 {kind: api}；不能用 address";
    FigureStep: "a number above zero", "write it like 0.01, 1 or 1000";
        "大于 0 的数字", "写法如 0.01、1、1000";
    FigureUnit: "a short unit", "write it like EUR, ms or items";
        "简短的单位", "写法如 EUR、ms、items";
    Json: "a value of JSON", "write text in quotes";
        " JSON 值", "文本请加引号";
}

/// The value that was found instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundInstead {
    /// No value.
    Nothing,
    /// A list.
    List,
    /// A map.
    Map,
    /// This text.
    Text(String),
}

/// The most characters of a text in a message.
const SHOWN_CHARS_MAX: usize = 60;

impl FoundInstead {
    /// A text, shortened for display.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(shortened(text))
    }
}

/// A text for a message: one line, of bounded length.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown: String =
        text.chars().take(SHOWN_CHARS_MAX).map(|each| if each.is_control() { ' ' } else { each }).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}

/// What is expected, and what is there, in Chinese.
pub(super) fn wrong_in_chinese(wanted: Wanted, given: &FoundInstead) -> String {
    let given = match given {
        FoundInstead::Nothing => "而不是空值".to_owned(),
        FoundInstead::List => "而不是列表".to_owned(),
        FoundInstead::Map => "而不是映射".to_owned(),
        FoundInstead::Text(text) => format!("而不是 '{text}'"),
    };
    let [word, example] = wanted.texts_in_chinese();
    format!("此处应为{word}，{given}；{example}")
}

/// What cannot be a value, in Chinese.
pub(super) fn no_value_in_chinese(given: &FoundInstead) -> String {
    match given {
        FoundInstead::Nothing => "空值不能作为".to_owned(),
        FoundInstead::List => "列表不能作为".to_owned(),
        FoundInstead::Map => "映射不能作为".to_owned(),
        FoundInstead::Text(text) => format!("'{text}' 不能作为"),
    }
}

/// The values of a kind of figures, in both languages.
pub(super) fn values_of(kind: OwnKind) -> [&'static str; 2] {
    match kind {
        OwnKind::Counter | OwnKind::Trend => {
            ["a number of at least 0, like 1 or \"${total}\"", "不小于 0 的数字，如 1 或 \"${total}\""]
        }
        OwnKind::Share => ["true or false, like \"${stock > 0}\"", " true 或 false，如 \"${stock > 0}\""],
        OwnKind::Gauge => ["a number, like \"${queue}\"", "数字，如 \"${queue}\""],
    }
}

impl fmt::Display for FoundInstead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => out.write_str("nothing"),
            Self::List => out.write_str("a list"),
            Self::Map => out.write_str("a map"),
            Self::Text(text) => write!(out, "'{text}'"),
        }
    }
}

errors! {
    /// An error in an expression.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ExpressionFault;

    /// The expression is empty.
    Empty;
        "an expression is missing here; write one like: price < 100",
        "此处缺少表达式；写法如：price < 100";
    /// The expression is longer than the limit.
    TooLong(it: usize);
        "an expression has at most {it} bytes; make it shorter",
        "表达式最多 {it} 字节；请缩短";
    /// A string without an end.
    Quote;
        "the quote is not closed",
        "引号没有闭合";
    /// Unbalanced brackets.
    Brackets;
        "the brackets do not match; close each with its own kind",
        "括号不匹配；请用对应的括号闭合";
    /// A slot, which is no part of the language.
    Slot;
        "an expression has the variables as its names; write name, not ${{name}}",
        "表达式中直接使用变量名；请写 名称，而不是 ${{名称}}";
    /// `=` alone.
    Assignment;
        "'=' changes a variable, which expressions cannot; write == to compare",
        "'=' 会修改变量，表达式不允许；比较请写 ==";
    /// Two values without an operator between them.
    Operator(it: String);
        "an operator is missing before '{it}'; write &&, ||, ==, < or another one",
        "'{it}' 前面缺少运算符；可用 &&、||、==、< 等";
    /// `let x = 1; x`
    Statement(it: String);
        "'{it}' belongs to a statement, and one expression stands here; write the value itself, like: price * 2",
        "'{it}' 属于语句，此处只能写一个表达式；请直接写出值，如：price * 2";
    /// An operator without a value.
    Operand(it: String);
        "a value is missing behind '{it}'",
        "'{it}' 后面缺少值";
    /// `and`, `or`, `not`.
    Word(it: String, other: &'static str);
        "'{it}' is no operator of JavaScript; write {other}",
        "'{it}' 不是 JavaScript 的运算符；请写 {other}";
    /// `random(1,10)` within an expression.
    Function(it: String);
        "{it}() counts in the whole run, so it stands alone; set a variable to ${{{it}(...)}} and use that",
        "{it}() 在整个压测中计数，必须单独使用；请先用 set 把变量设为 ${{{it}(...)}} 再使用该变量";
}

errors! {
    /// The kinds of things with a limit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "its texts say what each is")]
    pub enum Things;

    Choices;
        "choices", "分支";
    Cookies;
        "cookies", "Cookie";
    DataSets;
        "data sets", "数据集";
    Figures;
        "figures", "自定义指标";
    Fragments;
        "fragments", "片段";
    Headers;
        "headers", "请求头";
    Messages;
        "messages", "消息";
    Origins;
        "origins", "源";
    Scenarios;
        "scenarios", "场景";
    Stages;
        "stages", "阶段";
    Steps;
        "steps", "步骤";
    QueryFields;
        "fields of a query", "查询参数";
    Tags;
        "tags", "标签";
    Takes;
        "takes", "提取项";
    Variables;
        "variables", "变量";
}
