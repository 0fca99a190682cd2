//! Words of the program itself in slots and expressions: `vu`, `response` and `loop`, each with a member.

use plan::{Builtin, did_you_mean};

use crate::diagnostic::{NameFault, Problem, shortened};

/// Where a text stands: not everything is known everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Before the run: nothing.
    Nothing,
    /// In steps that are done once: nothing about users.
    Run,
    /// In steps of users: everything.
    User,
}

/// What is wrong with a word and its member.
pub(super) fn fault(word: &str, member: Option<&str>, known: Known) -> Option<Problem> {
    let Some(member) = member else { return Some(Problem::Name(NameFault::Bare(word.to_owned()))) };
    let whole = format!("{word}.{member}");
    let Some((_, builtin)) = Builtin::ALL.iter().find(|(name, _)| *name == whole) else {
        let members = Builtin::ALL.iter().filter_map(|(name, _)| name.split_once('.'));
        let members = members.filter(|(known, _)| *known == word).map(|(_, member)| member);
        let near = did_you_mean(member, members).map(|near| format!("{word}.{near}"));
        return Some(Problem::Name(NameFault::Member { word: word.to_owned(), member: shortened(member), near }));
    };
    match (known, builtin) {
        (Known::Nothing, _) => Some(Problem::Name(NameFault::BeforeRun(whole))),
        (
            Known::Run,
            Builtin::VuId
            | Builtin::VuIteration
            | Builtin::VuScenario
            | Builtin::VuScenarioIteration
            | Builtin::VuWorker,
        ) => Some(Problem::Name(NameFault::OfNoUser(whole))),
        _ => None,
    }
}
