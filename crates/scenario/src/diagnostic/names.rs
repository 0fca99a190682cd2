//! Errors of names: of variables, data, columns, scenarios, steps.

use std::fmt;

use plan::{Builtin, errors, listed};

use super::{meant, said_meant};

errors! {
    /// An error of a name.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum NameFault;

    /// An invalid name.
    Bad(it: String);
        "'{it}' cannot be a name here; use letters, digits and _, and no word of JavaScript",
        "'{it}' 不能用作名称；请使用字母、数字和 _，且不能是 JavaScript 的关键字";
    /// A reserved name.
    Environment;
        "'env' is the environment of the process; choose another name",
        "'env' 表示进程的环境变量；请换一个名称";
    /// A word that stands for what the program knows.
    Reserved(it: String);
        "'{it}' stands for what onrush knows itself ({}); choose another name" [members(it)],
        "'{it}' 表示 onrush 自身提供的值（{}）；请换一个名称" [listed(&members(it))];
    /// Such a word without a member.
    Bare(it: String);
        "'{it}' is several values; write which one: {}" [members(it)],
        "'{it}' 包含多个值；请写明哪一个：{}" [listed(&members(it))];
    /// Such a word with a member that it does not have.
    Member { word: String, member: String, near: Option<String> };
        "'{word}' has no '{member}'; it has: {}{}" [members(word), said_meant(near.as_ref())],
        "'{word}' 没有 '{member}'；可用：{}{}" [listed(&members(word)), meant(near.as_ref())];
    /// A value of users in steps that are done once.
    OfNoUser(it: String);
        "'{it}' is of a user of a scenario, and this is done once; in setup and teardown there are vu.start_time, response and loop",
        "'{it}' 属于场景中的用户，而这里只执行一次；setup 和 teardown 中可用 vu.start_time、response 和 loop";
    /// A value of the run where nothing runs yet.
    BeforeRun(it: String);
        "'{it}' has no value before the run; move this to 'per_user', or set it in a step",
        "'{it}' 在压测开始前没有值；请移到 per_user 中，或在步骤中用 set 赋值";
    /// State that cannot be carried on.
    NotCarried(it: String);
        "'{it}' is a row of data, which iterations take anew; name variables that steps fill, or cookies",
        "'{it}' 是一行数据，每次迭代重新取；请写由步骤赋值的变量，或 cookies";
    /// A name that two things have.
    Twice { name: String, line: usize };
        "'{name}' is the name of something else already, in line {line}; choose another one",
        "名称 '{name}' 已在第 {line} 行使用；请换一个";
    /// A variable common to all users depends on one that is per user.
    OfUser(it: String);
        "'{it}' is another one for each user, and this variable is the same for all; move it to 'per_user'",
        "'{it}' 每个用户各不相同，而这个变量对所有用户相同；请移到 per_user 中";
    /// A name without a definition.
    Unknown { name: String, near: Option<String> };
        "nothing is called '{name}'{}" [near.as_ref().map_or_else(|| "; add it to vars or data, or take it from an answer".to_owned(), |near| format!("; did you mean '{near}'?"))],
        "没有名为 '{name}' 的变量或数据{}" [near.as_ref().map_or_else(|| "；请加到 vars 或 data 中，或从响应中提取".to_owned(), |near| format!("；是否想写 '{near}'？"))];
    /// A name that is used before it has a value.
    Later { name: String, line: usize };
        "'{name}' has no value yet here; it gets one in line {line}, not before this step: fill it before, like - set: {{{name}: null}}",
        "'{name}' 在这里还没有值；它在第 {line} 行才得到值，不早于这个步骤：请先赋值，如 - set: {{{name}: null}}";
    /// A name that another scenario extracts.
    Elsewhere { name: String, scenario: String };
        "'{name}' is taken in scenario '{scenario}', and users of another one do not have it; take it here, or in 'setup'",
        "'{name}' 由场景 '{scenario}' 提取，其他场景的用户没有它；请在这里或 setup 中提取";
    /// No such column; the fields of the file seem to have another separator.
    Separator { set: String, column: String, line: String, cut: &'static str, sign: &'static str };
        "'{set}' has no column '{column}': its first line is '{line}', cut at {cut}; if its fields are cut by {sign}, say so: separator: \"{sign}\"",
        "'{set}' 没有 '{column}' 这一列：第一行是 '{line}'，按 {cut} 分隔；如果各列以 {sign} 分隔，请写 separator: \"{sign}\"";
    /// No such column, and the first line looks like a row.
    Headless { set: String, column: String, line: String };
        "'{set}' has no column '{column}': the first line of its file names its columns, and is: {line}; if that is a row already, name them: columns: [{column}, ...]",
        "'{set}' 没有 '{column}' 这一列：文件第一行应为列名，而它是：{line}；如果第一行就是数据，请给出列名：columns: [{column}, ...]";
    /// No such column.
    Column { set: String, column: String, near: Option<String>, known: String };
        "'{set}' has no column '{column}'; it has: {known}{}" [said_meant(near.as_ref())],
        "'{set}' 没有 '{column}' 这一列；现有：{}{}" [listed(known), meant(near.as_ref())];
    /// A whole row in the place of a single value.
    Row(it: String);
        "'{it}' is a row of data; write which column, like ${{{it}.name}}",
        "'{it}' 是一整行数据；请写明哪一列，如 ${{{it}.name}}";
    /// Variables that depend on each other in a cycle.
    Cycle(it: String);
        "these variables are made of each other, so none has a value: {it}; give one of them a value of its own",
        "这些变量互相引用，都没有值：{}；请给其中一个确定的值" [listed(it)];
    /// A threshold on an unknown name.
    Series { name: String, near: Option<String> };
        "no transaction, step, check, tag or scenario is called '{name}'{}" [said_meant(near.as_ref())],
        "没有名为 '{name}' 的事务、步骤、检查、标签或场景{}" [meant(near.as_ref())];
    /// A figure that has no definition.
    Figure { name: String, near: Option<String> };
        "no figure is called '{name}'{}" [near.as_ref().map_or_else(|| format!("; define it at the top of the file, like figures: {{{name}: counter}}"), |near| format!("; did you mean '{near}'?"))],
        "没有名为 '{name}' 的自定义指标{}" [near.as_ref().map_or_else(|| format!("；请在文件开头定义，如 figures: {{{name}: counter}}"), |near| format!("；是否想写 '{near}'？"))];
    /// A figure with the name of one that every run has.
    FigureOfRun(it: String);
        "'{it}' is a figure of every run, and thresholds would mean that one; choose another name",
        "'{it}' 是每次压测都有的指标，阈值会指向它；请换一个名称";
    /// Barrier steps of one name with different numbers of users, or different times.
    Barrier { name: String, line: usize };
        "'{name}' has other 'users' or another 'within' in line {line}; write the same, or choose another name",
        "集合点 '{name}' 在第 {line} 行的 users 或 within 不同；请写成相同的值，或换一个名称";
}

/// The values that a word of the program has.
fn members(word: &str) -> String {
    let of_word = |name: &&str| name.split_once('.').is_some_and(|(known, _)| known == word);
    Builtin::ALL.iter().map(|(name, _)| *name).filter(of_word).collect::<Vec<_>>().join(", ")
}

/// A loop, by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopWord {
    /// The condition is checked after the steps.
    Until,
    /// The condition is checked before the steps.
    While,
}

impl fmt::Display for LoopWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Until => "'until'",
            Self::While => "'while'",
        })
    }
}
