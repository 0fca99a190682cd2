//! The keys of shared steps.

use super::common::ON_FAILURE_OF_ALL;
use super::{Kind, Object, field};

keys! {
    pub(crate) FRAGMENT = "fragment", "a fragment", "片段";
    "args": Kind::Variables(&Kind::Json),
        "What calls may give it, each with its default; a name without a value has none, and each call must give it",
        "调用时可以传入的参数及其默认值；没有写值的参数没有默认值，每次调用都必须传入";
    "steps": Kind::Steps, "What is done at each call", "每次调用时执行的步骤", needed;
}

/// The steps that call fragments.
static CALLS: [Object; 1] = [Object {
    title: "a do step",
    title_zh: "do 步骤",
    id: "do",
    fields: &[
        field("do", Kind::Text, "Do the steps of this fragment", "执行这个片段（fragments）中的步骤").needed(),
        field(
            "with",
            Kind::Variables(&Kind::Json),
            "Its arguments by name; they hold during this call only",
            "传给片段的参数，只在这次调用中有效",
        ),
        ON_FAILURE_OF_ALL,
    ],
    any_of: &[],
}];

/// The steps that call fragments, by their verbs.
pub(super) fn calls() -> impl Iterator<Item = &'static Object> + Clone {
    CALLS.iter()
}
