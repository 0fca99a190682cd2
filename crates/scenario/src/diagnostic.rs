//! Diagnostics of a file: typed, each with its position. The texts here are English; views have others.

mod cookies;
mod data;
mod flags;
mod fragments;
mod includes;
mod names;
mod syntax;
mod values;

pub use cookies::CookieFault;
pub use data::DataFault;
pub use flags::as_keys;
pub use fragments::FragmentFault;
pub use includes::IncludeFault;
pub use names::{LoopWord, NameFault};
pub use syntax::SyntaxFault;
pub(crate) use values::shortened;
pub use values::{ExpressionFault, FoundInstead, Things, Wanted};
use values::{no_value_in_chinese, values_of, wrong_in_chinese};

use metrics::ThresholdFault;
use plan::{ExtractError, OwnKind, PatternFault, PlanError, errors, listed};

use crate::keys::Object;
use crate::source::{Source, Span};

/// The most diagnostics that are kept of one file; the others are counted.
pub const MISTAKES_MAX: usize = 100;

/// An invalid file with its diagnostics.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The file.
    pub source: Box<Source>,
    /// The diagnostics in the order of the file; at most [`MISTAKES_MAX`].
    pub all: Vec<Diagnostic>,
    /// The number of further ones.
    pub more: usize,
}

/// An error at a position.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{fault}")]
pub struct Diagnostic {
    /// The position.
    pub at: Span,
    /// The fault.
    pub fault: Problem,
}

errors! {
    /// The kind of an error, with its remedy.
    #[derive(Clone, Debug, PartialEq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum Problem;

    /// The file cannot be read.
    File { reason: String };
        "cannot read the file: {reason}; check its path",
        "无法读取文件：{reason}";
    /// The file is too large.
    FileTooLarge { most: usize };
        "the file has more than {most} bytes; move long lists into data files",
        "文件超过 {most} 字节；请把很长的列表移到数据文件中";
    /// The file is not UTF-8.
    NotUtf8;
        "the file is not UTF-8; save it as UTF-8",
        "文件不是 UTF-8；请另存为 UTF-8";
    /// The file is not valid YAML.
    Syntax(it: SyntaxFault);
        "{it}",
        "{}" [it.chinese()];
    /// An unknown key.
    UnknownKey { key: String, object: &'static Object, near: Option<String>, belongs: Option<&'static Object>, known: String };
        "'{key}' is no key of {}{}" [object.title, said_near(near.as_ref(), *belongs, known)],
        "{}没有 '{key}' 这个字段{}" [within(object), near_in_chinese(near.as_ref(), *belongs, known)];
    /// A duplicate key.
    DuplicateKey { key: String, first: usize };
        "'{key}' stands here again; it is in line {first} already: write it once",
        "'{key}' 重复，第 {first} 行已有；请只写一次";
    /// A required key is missing.
    MissingKey { object: &'static Object, key: &'static str };
        "{} needs '{key}'; add it" [object.title],
        "{}缺少 '{key}'；请补上" [within(object)];
    /// Two keys that exclude each other.
    Conflict { one: &'static str, other: &'static str };
        "'{one}' and '{other}' do not go together; leave one of them out",
        "'{one}' 和 '{other}' 不能同时使用；请去掉其中一个";
    /// A key that has no effect without another.
    Needs { key: &'static str, needed: &'static str };
        "'{key}' needs '{needed}' beside it; add that, or leave it out",
        "'{key}' 需要与 '{needed}' 一起使用；请补上 '{needed}'，或去掉 '{key}'";
    /// A value of the wrong kind.
    Wrong { wanted: Wanted, given: FoundInstead };
        "{} belongs here, not {given}; {}" [wanted.texts()[0], wanted.texts()[1]],
        "{}" [wrong_in_chinese(*wanted, given)];
    /// A word that some programs read as true or false, and others do not.
    Boolean { given: String };
        "'{given}' is true or false for some programs and text for others; write true or false, or '{given}' in quotes for text",
        "'{given}' 在有的程序中是布尔值，在有的程序中是文本；布尔值请写 true 或 false，文本请加引号";
    /// A number that some programs read in base 8 or 16.
    Octal { given: String };
        "'{given}' means different numbers to different programs; write it in decimal digits, or in quotes for text",
        "'{given}' 在不同程序中是不同的数字；请写十进制数字，文本请加引号";
    /// A value that the grammar of the flags refuses.
    Value(it: PlanError);
        "{}" [as_keys(&it.to_string())],
        "{}" [as_keys(&it.chinese())];
    /// An invalid extraction.
    Extract(it: ExtractError);
        "{it}",
        "{}" [it.chinese()];
    /// A word that is none of a fixed set.
    Choice { given: String, near: Option<String>, known: String };
        "'{given}' is none of {known}{}" [said_meant(near.as_ref())],
        "'{given}' 无效；可选：{}{}" [listed(known), meant(near.as_ref())];
    /// An error in a text with slots.
    Pattern(it: PatternFault);
        "{it}",
        "{}" [it.chinese()];
    /// A slot in a place that allows none.
    SlotHere;
        "slots are not filled in here; write the text itself",
        "此处不支持占位符；请直接写出文本";
    /// A slot in a pattern, which is made once.
    SlotInPattern;
        "slots are not filled in within /.../; compare with a text, or write the pattern itself",
        "/.../ 中不支持占位符；请与文本比较，或直接写出正则";
    /// A slot left of the value of an expectation.
    SlotLeft;
        "slots stand on the right side of an expectation, as in $.id == ${{id}} or 'X-Id: ${{id}}'",
        "断言中的占位符只能写在右侧，如 $.id == ${{id}} 或 'X-Id: ${{id}}'";
    /// An error in an expression.
    Expression(it: ExpressionFault);
        "{it}",
        "{}" [it.chinese()];
    /// An error in a threshold.
    Threshold(it: ThresholdFault);
        "{it}",
        "{it}";
    /// A step without a verb.
    NoVerb { known: String };
        "this step does nothing that is known; it needs one of: {known}",
        "这个步骤没有说明要做什么；需要以下之一：{}" [listed(known)];
    /// A verb without its colon.
    BareVerb { verb: &'static str };
        "a step is a key with its value; write '{verb}:', with the colon",
        "步骤要写成“键: 值”；请写 '{verb}:'，带上冒号";
    /// A step with two verbs.
    TwoVerbs { one: &'static str, other: &'static str };
        "a step does one thing, and this one has '{one}' and '{other}'; make it two steps",
        "一个步骤只做一件事，这里同时有 '{one}' 和 '{other}'；请拆成两个步骤";
    /// A message step outside of a connection.
    NotInConversation { verb: &'static str };
        "'{verb}' belongs into the steps of a websocket or tcp step; put it there",
        "'{verb}' 只能写在 websocket 或 tcp 步骤的 steps 中；请移到那里";
    /// A step that cannot run in parallel.
    NotParallel { verb: &'static str, key: &'static str };
        "'{verb}' cannot be under way beside others; '{key}' takes requests and calls only",
        "'{verb}' 不能并行；{key} 中只能有请求和 gRPC 调用";
    /// A reaction to the failure of one of several concurrent steps.
    NotOfOne { key: &'static str };
        "of steps under way at the same time, one alone can only say 'continue'; put this beside '{key}'",
        "并行的步骤各自只能写 continue；请把它写在 {key} 旁边";
    /// A list that must not be empty.
    Empty { object: &'static Object, key: &'static str };
        "{} has no {key}; add at least one" [object.title],
        "{}的 {key} 为空；请至少写一项" [within(object)];
    /// More items than allowed.
    TooMany { what: Things, most: usize };
        "there are more than {most} {what}; make it fewer",
        "{}超过 {most} 个；请减少" [what.chinese()];
    /// A scenario that never sends a request.
    Idle { scenario: String };
        "the steps of '{scenario}' never send anything; add a step like: get: /",
        "场景 '{scenario}' 的步骤不发送任何内容；请加上一个步骤，如：get: /";
    /// A loop without a limit.
    LoopWithoutEnd(it: LoopWord);
        "this {it} could go on for ever; add 'max_rounds' or 'within', the rounds or the time after which the step fails",
        "这个 {it} 可能永远循环；请加上 max_rounds（最多循环次数）或 within（最长时间），达到后步骤失败";
    /// The end of a loop, or of its round, outside any loop.
    NoLoop { word: &'static str };
        "'{word}' stands in no loop; put it into the steps of for_each, repeat, during, until or while, or write next_iteration",
        "'{word}' 不在循环中；请写在 for_each、repeat、during、until 或 while 的 steps 里，或改用 next_iteration";
    /// A planned end in a place that has nothing of its kind.
    NoSuchEnd { word: &'static str, place: &'static str };
        "'{word}' has nothing to end in '{place}'; put it into 'steps', or stop the run with 'stop_run'",
        "'{place}' 中没有 '{word}' 可以结束的对象；请移到 steps 中，或用 stop_run 结束压测";
    /// A deadline of a step that no iteration has.
    NoDeadline { place: &'static str };
        "a deadline is of the steps of an iteration, and not of '{place}'; leave it out here, or write 'timeout' for a limit",
        "deadline 只用于迭代中的步骤，不能用于 '{place}'；请去掉，需要限时的话改用 timeout";
    /// A figure in steps that are no part of the measured load.
    NotRecorded { place: &'static str };
        "'record' counts nothing in '{place}', which is done once and is not measured; put it into the steps of a scenario",
        "'{place}' 只执行一次，不计入测量，record 在这里不起作用；请移到场景的步骤中";
    /// What can never be a value of a figure.
    NoValueOf { name: String, kind: OwnKind, given: FoundInstead };
        "{given} is no value of '{name}'; a {} takes {}" [kind.name(), values_of(*kind)[0]],
        "{} '{name}' 的值；{} 接受{}" [no_value_in_chinese(given), kind.name(), values_of(*kind)[1]];
    /// A retry of something that would fail again.
    NoRetry { verb: &'static str };
        "'{verb}' would look at the same values again; put the retry at the request before it, or write 'until' with 'within'",
        "'{verb}' 再次判断的仍是同样的值；请在它之前的请求上重试，或使用带 within 的 until";
    /// A load without an end.
    LoadWithoutEnd;
        "this load never ends; add 'for', 'iterations' or 'iterations_per_user', or give stages with their times",
        "这个负载没有终点；请加上 for、iterations 或 iterations_per_user，或写出带时间的阶段";
    /// A relative URL without a target.
    NoTarget { url: String };
        "'{url}' is relative, and there is no target; add 'target: https://host' at the top, or write the whole URL",
        "'{url}' 是相对地址，但没有 target；请在文件开头加上 target: https://主机，或写完整的 URL";
    /// A URL with a scheme of another protocol.
    Scheme { url: String, verb: &'static str };
        "'{url}' is not for a '{verb}' step; it takes {}" [schemes_of(verb)],
        "'{url}' 不能用于 '{verb}' 步骤；请使用{}" [schemes_in_chinese(verb)];
    /// A variable that the command line sets, and the file does not have.
    NoVariable { name: String, known: String };
        "--var {name}: the file has no variable '{name}'; it has: {known}",
        "--var {name}：文件中没有变量 '{name}'；可用：{}" [listed(known)];
    /// A data set with unique rows, used by two scenarios.
    UniqueTwice { set: String };
        "'{set}' has 'sharing: unique', and another scenario uses it too, which would use its rows again; give each scenario rows of its own",
        "'{set}' 为 sharing: unique，而另一个场景也在使用它，各行会被再次使用；请为每个场景准备各自的数据";
    /// Rows by user in a load by rate, whose users only carry what comes.
    RowsOfUsers { set: String };
        "'{set}' has 'order: by_user', and the users of a load by rate only carry the iterations that come; write 'connections: N' beside the load, 'users' in it, or another order",
        "'{set}' 为 order: by_user，而使用 rate 的负载中用户只承载到来的迭代；请在 load 旁写上 connections: N，或在 load 中使用 users，或换一种 order";
    /// A threshold on a part with an abort clause.
    AbortOfPart;
        "a threshold of one step, transaction or scenario is judged at the end; leave 'abort' out, or the name",
        "针对单个步骤、事务或场景的阈值在结束时判定；请去掉 abort，或去掉名称";
    /// A barrier that can never have all of its users.
    MeetingTooLarge { name: String, users: u64, most: u64 };
        "'{name}' waits for {users} users, and at most {most} can come; write a smaller number, or raise the users of the load",
        "集合点 '{name}' 等待 {users} 个用户，但最多只有 {most} 个；请减小该数量，或增加用户数";
    /// A variable host.
    HostSlot { text: String };
        "'${{{text}}}' stands where the host is, which must be known before the run; name a variable of 'vars' that no step takes, or ${{env.NAME}}",
        "'${{{text}}}' 位于主机部分，必须在运行前确定；请使用 vars 中不被任何步骤提取的变量，或 ${{env.名称}}";
    /// A slot in the place of a method name.
    MethodSlot;
        "slots are not filled in here: a step calls one method; write a step for each",
        "此处不支持占位符：一个步骤只调用一个方法；请为每个方法写一个步骤";
    /// A slot without a meaning.
    Slot { text: String };
        "nobody knows what '${{{text}}}' is; use a variable, a column or a function",
        "无法识别 '${{{text}}}'；请使用变量、数据列或函数";
    /// An environment variable that is not set.
    Unset { name: String };
        "the environment has no variable {name}; set it before: {name}=VALUE onrush ...",
        "没有设置环境变量 {name}；请先设置：{name}=值 onrush ...";
    /// A variable without a value.
    Constant { name: String, reason: String };
        "'{name}' cannot be reckoned: {reason}",
        "无法计算变量 '{name}'：{reason}";
    /// An expression that is not valid JavaScript.
    Script { reason: String };
        "{reason}",
        "表达式无法编译：{reason}";
    /// A program beyond its limits.
    Program { fault: plan::ProgramFault };
        "the steps of this scenario are too many, or lie too deep in each other; cut it into several scenarios",
        "这个场景的步骤过多或嵌套过深；请拆成多个场景";
    /// A data file that cannot be read.
    DataFile { path: String, reason: String };
        "cannot read the data file '{path}': {reason}; paths begin at the folder of this file",
        "无法读取数据文件 '{path}'：{reason}；路径相对于本文件所在的目录";
    /// A data file of an unknown kind.
    DataFormat { path: String };
        "nobody knows what '{path}' holds; its name ends in .csv, .tsv, .json or .jsonl, or 'format' says it",
        "无法判断 '{path}' 的格式；文件名应以 .csv、.tsv、.json 或 .jsonl 结尾，或用 format 指明";
    /// A data file without rows.
    DataEmpty { path: String };
        "the data file '{path}' has no rows; the first line of a CSV file names its columns",
        "数据文件 '{path}' 没有数据行；CSV 的第一行是列名";
    /// A data file whose rows have more or fewer fields than there are column names.
    DataColumns { path: String, wanted: usize, found: usize };
        "'columns' names {wanted}, and the first line of '{path}' has {found} of them; name each, or set 'separator'",
        "columns 写了 {wanted} 列，而 '{path}' 的第一行有 {found} 列；请写出每一列，或设置 separator";
    /// An error of data.
    Data(it: DataFault);
        "{it}",
        "{}" [it.chinese()];
    /// An error of a change of cookies.
    Cookies(it: CookieFault);
        "{it}",
        "{}" [it.chinese()];
    /// An error of a fragment, or of a call of one.
    Fragment(it: FragmentFault);
        "{it}",
        "{}" [it.chinese()];
    /// An error of an included file.
    Include(it: IncludeFault);
        "{it}",
        "{}" [it.chinese()];
    /// An error of a name.
    Name(it: NameFault);
        "{it}",
        "{}" [it.chinese()];
}

/// The hint after the message of an unknown key.
fn said_near(near: Option<&String>, belongs: Option<&Object>, known: &str) -> String {
    match (near, belongs) {
        (Some(near), _) => format!("; did you mean '{near}'?"),
        (None, Some(object)) => format!("; it belongs {}", place_of(object)),
        (None, None) => format!("; it has: {known}"),
    }
}

/// The location of an object's keys.
fn place_of(object: &Object) -> String {
    match object.id {
        "file" => "at the top of the file".to_owned(),
        "scenario" => "into a scenario, beside 'load' and 'steps'".to_owned(),
        "load" | "run" | "defaults" | "expect" | "extract" | "data" | "choose" => format!("under '{}'", object.id),
        _ => "into a step, in a list under 'steps'".to_owned(),
    }
}

/// The hint after a message, where something similar is known.
fn said_meant(near: Option<&String>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

/// The URL schemes of a step.
fn schemes_of(verb: &str) -> String {
    if let Some(protocol) = protocol::by_name(verb) {
        return prefixes(protocol, " or ");
    }
    let all = match verb {
        "grpc" => "grpc:// or grpcs://, or a path of the target that begins with /",
        "websocket" => "ws:// or wss://, or a path of the target that begins with /",
        "tcp" => "tcp://host:port",
        _ => "http:// or https://, or a path of the target that begins with /",
    };
    all.to_owned()
}

/// How the URLs of a custom protocol begin.
fn prefixes(protocol: &dyn protocol::Protocol, between: &str) -> String {
    protocol.about().schemes.iter().map(|scheme| scheme.prefix).collect::<Vec<_>>().join(between)
}

fn near_in_chinese(near: Option<&String>, belongs: Option<&Object>, known: &str) -> String {
    match (near, belongs) {
        (Some(near), _) => format!("；是否想写 '{near}'？"),
        (None, Some(object)) => format!("；它应写在{}", place_in_chinese(object)),
        (None, None) => format!("；可用：{}", listed(known)),
    }
}

/// The location of an object's keys, in Chinese.
fn place_in_chinese(object: &Object) -> String {
    match object.id {
        "file" => "文件的最外层".to_owned(),
        "scenario" => "场景中，与 load、steps 并列".to_owned(),
        "load" | "run" | "defaults" | "expect" | "extract" | "data" | "choose" => format!(" {} 下面", object.id),
        _ => "步骤中，即 steps 下的列表里".to_owned(),
    }
}

/// Where a key was looked for, in Chinese.
fn within(object: &Object) -> String {
    match object.id {
        "load" | "run" | "defaults" | "expect" | "extract" | "data" | "choose" => format!("{} 下", object.id),
        _ => format!("{}中", object.title_zh),
    }
}

/// The suggestion of what is probably meant, in Chinese.
fn meant(near: Option<&String>) -> String {
    near.map_or_else(String::new, |near| format!("；是否想写 '{near}'？"))
}

fn schemes_in_chinese(verb: &str) -> &'static str {
    match verb {
        "grpc" => " grpc://、grpcs://，或以 / 开头的相对路径",
        "websocket" => " ws://、wss://，或以 / 开头的相对路径",
        "tcp" => " tcp://主机:端口",
        _ => " http://、https://，或以 / 开头的相对路径",
    }
}

impl Problem {
    /// A text that should be an origin.
    pub(crate) fn not_an_origin(text: &str) -> Self {
        Self::Wrong { wanted: Wanted::Origin, given: FoundInstead::text(&plan::masked_url(text)) }
    }

    /// Whether the error is independent of the rest of the file, also of what was not read.
    pub(crate) fn stands_alone(&self) -> bool {
        !matches!(
            self,
            Self::MissingKey { .. }
                | Self::Needs { .. }
                | Self::NoVerb { .. }
                | Self::Empty { .. }
                | Self::Idle { .. }
                | Self::LoopWithoutEnd(_)
                | Self::LoadWithoutEnd
                | Self::NoTarget { .. }
                | Self::Name(_)
                | Self::Fragment(_)
                | Self::Wrong { .. }
                | Self::Value(_)
        )
    }
}

/// Collects diagnostics while a file is read.
#[derive(Debug, Default)]
pub(crate) struct DiagnosticSink {
    all: Vec<Diagnostic>,
    more: usize,
}

impl DiagnosticSink {
    pub(crate) fn add(&mut self, at: Span, fault: Problem) {
        let mistake = Diagnostic { at, fault };
        if self.all.contains(&mistake) {
            // An alias repeats the same text.
            return;
        }
        match self.all.len() < MISTAKES_MAX {
            true => self.all.push(mistake),
            false => self.more += 1,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether another diagnostic would be kept. If not, the suggestion for it, which takes long to find, is not
    /// needed.
    pub(crate) fn has_room(&self) -> bool {
        self.all.len() < MISTAKES_MAX
    }

    /// Counts a diagnostic without keeping it.
    pub(crate) fn count(&mut self) {
        self.more += 1;
    }

    /// Drops the diagnostics that may follow from the unread rest of the file.
    pub(crate) fn keep_what_stands_alone(&mut self, behind: usize) {
        self.all.retain(|mistake| mistake.fault.stands_alone() && mistake.at.end <= behind);
    }

    /// Moves all positions.
    pub(crate) fn shift(&mut self, by: usize) {
        self.all.iter_mut().for_each(|mistake| mistake.at = mistake.at.shifted(by));
    }

    /// Adds the diagnostics of another sink.
    pub(crate) fn join(&mut self, other: Self) {
        self.more += other.more;
        other.all.into_iter().for_each(|mistake| self.add(mistake.at, mistake.fault));
    }

    /// The diagnostics in the order of the file.
    pub(crate) fn into_mistakes(mut self, source: Source) -> Diagnostics {
        self.all.sort_by_key(|mistake| mistake.at);
        Diagnostics { source: Box::new(source), all: self.all, more: self.more }
    }
}
