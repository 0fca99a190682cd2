//! What is legal in a file and probably wrong. Warnings change no exit code.

mod comments;
mod flow;
mod state;
mod texts;

use plan::errors;

use crate::Opened;
use crate::file::Step;
use crate::source::Span;

/// The most warnings that are kept of one file.
const WARNINGS_MAX: usize = 20;

/// A warning at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The position.
    pub at: Span,
    /// What is probably wrong.
    pub concern: Concern,
}

errors! {
    /// What is probably wrong, with its remedy.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum Concern;

    /// A variable that nothing uses.
    Unused { name: String };
        "nothing uses '{name}'; take it out, or write ${{{name}}} where it belongs",
        "没有任何地方使用 '{name}'；请去掉，或在需要处写 ${{{name}}}";
    /// A variable that is set once and forgotten at the next iteration.
    NotCarried { name: String };
        "'{name}' is set under a condition that should hold once, and each iteration begins as after on_start; write carry_state: [{name}]",
        "'{name}' 在只应成立一次的条件下赋值，而每次迭代都从 on_start 之后的状态开始；请写 carry_state: [{name}]";
    /// A step behind one that always ends.
    NotReached { verb: &'static str };
        "this step is never reached: '{verb}' before it always ends; put that under an 'if', or take the steps behind it out",
        "这个步骤永远不会执行：前面的 '{verb}' 总会结束；请把它放在 if 中，或去掉后面的步骤";
    /// `+` between a number and a text.
    TextPlusNumber { name: String };
        "'{name}' is a text, so + writes digits one behind the other (\"8\" + 1 is \"81\"); take it with as: number",
        "'{name}' 是文本，+ 会把数字连在一起（\"8\" + 1 得到 \"81\"）；请在提取时写 as: number";
    /// A text that ends at a comment.
    Comment { text: String };
        "the text ends before the #, which begins a comment; if '{text}' belongs to it, put all of it in quotes",
        "文本在 # 之前结束，# 之后是注释；如果 '{text}' 也是内容，请给整个文本加引号";
}

impl Opened {
    /// The warnings of a file that was read without errors, in the order of the file.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut all = Vec::new();
        state::unused(&self.file, &mut all);
        state::not_carried(&self.file, &mut all);
        flow::not_reached(&self.file, &mut all);
        texts::added(&self.file, &mut all);
        comments::cut(&self.source, &mut all);
        all.sort_by_key(|warning| warning.at);
        all.dedup();
        all.truncate(WARNINGS_MAX);
        all
    }
}

/// All lists of steps of a file.
fn lists(file: &crate::file::File) -> impl Iterator<Item = &[Step]> {
    let of_scenarios = file.scenarios.iter().flat_map(|one| [&one.start, &one.steps, &one.stop]);
    [&file.before].into_iter().chain(of_scenarios).chain([&file.after]).map(Vec::as_slice)
}

/// Visits each step, nested ones included.
fn each<'f>(steps: &'f [Step], see: &mut dyn FnMut(&'f Step)) {
    for step in steps {
        see(step);
        step.inner().into_iter().for_each(|steps| each(steps, see));
    }
}
