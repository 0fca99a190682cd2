//! Errors of shared steps and their calls.

use plan::{errors, listed};

use super::{meant, said_meant};

errors! {
    /// An error of a fragment, or of a call of one.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum FragmentFault;

    /// A call of a fragment that the file does not have.
    Unknown { name: String, near: Option<String> };
        "no fragment is called '{name}'{}" [near.as_ref().map_or_else(|| "; add it under 'fragments' at the top".to_owned(), |near| format!("; did you mean '{near}'?"))],
        "没有名为 '{name}' 的片段{}" [near.as_ref().map_or_else(|| "；请在文件开头的 fragments 中定义".to_owned(), |near| format!("；是否想写 '{near}'？"))];
    /// An argument that the fragment does not take.
    NoArgument { fragment: String, name: String, near: Option<String>, known: String };
        "'{fragment}' takes no argument '{name}'; it takes: {}{}" [if known.is_empty() { "none" } else { known }, said_meant(near.as_ref())],
        "片段 '{fragment}' 没有参数 '{name}'；可用：{}{}" [if known.is_empty() { "无".to_owned() } else { listed(known) }, meant(near.as_ref())];
    /// A call without an argument that has no default.
    Missing { fragment: String, name: String };
        "'{fragment}' needs its argument '{name}', which has no default; add it here, as in with: {{{name}: VALUE}}",
        "片段 '{fragment}' 的参数 '{name}' 没有默认值；请在此传入，如 with: {{{name}: 值}}";
    /// Fragments that call each other in a cycle.
    Cycle(it: String);
        "these fragments call each other without end: {it}; take one of the calls out",
        "这些片段互相调用，没有终点：{}；请去掉其中一个调用" [listed(it)];
    /// Calls in calls beyond the limit.
    TooDeep(it: usize);
        "fragments call each other more than {it} deep here; do it with fewer",
        "此处片段的嵌套调用超过 {it} 层；请减少层数";
    /// An extraction into an argument.
    IntoArgument { name: String };
        "'{name}' is an argument, which holds during the call only; take the value into another name",
        "'{name}' 是片段的参数，只在调用中有效；请把值提取到其他名称";
}
