//! Errors of names, in Chinese.

use scenario::NameFault;

use super::{listed, meant};

pub(super) fn chinese(fault: &NameFault) -> String {
    match fault {
        NameFault::Bad(name) => {
            format!("'{name}' 不能用作名称；请使用字母、数字和 _，且不能是 JavaScript 的关键字")
        }
        NameFault::Environment => "'env' 表示进程的环境变量；请换一个名称".to_owned(),
        NameFault::OfUser(name) => {
            format!("'{name}' 每个用户各不相同，而这个变量对所有用户相同；请移到 per_user 中")
        }
        NameFault::Twice { name, line } => format!("名称 '{name}' 已在第 {line} 行使用；请换一个"),
        NameFault::Unknown { name, near: Some(near) } => format!("没有名为 '{name}' 的变量或数据；是否想写 '{near}'？"),
        NameFault::Unknown { name, near: None } => {
            format!("没有名为 '{name}' 的变量或数据；请加到 vars 或 data 中，或从响应中提取")
        }
        NameFault::Later { name, line } => format!("'{name}' 在这里还没有值；它在第 {line} 行提取，不早于这个步骤"),
        NameFault::Elsewhere { name, scenario } => {
            format!("'{name}' 由场景 '{scenario}' 提取，其他场景的用户没有它；请在这里或 before 中提取")
        }
        NameFault::Separator { set, column, line, cut, sign } => format!(
            "'{set}' 没有 '{column}' 这一列：第一行是 '{line}'，按 {cut} 分隔；如果各列以 {sign} 分隔，请写 separator: \"{sign}\""
        ),
        NameFault::Headless { set, column, line } => format!(
            "'{set}' 没有 '{column}' 这一列：文件第一行应为列名，而它是：{line}；如果第一行就是数据，请给出列名：columns: [{column}, ...]"
        ),
        NameFault::Column { set, column, near, known } => {
            format!("'{set}' 没有 '{column}' 这一列；现有：{}{}", listed(known), meant(near.as_ref()))
        }
        NameFault::Row(name) => format!("'{name}' 是一整行数据；请写明哪一列，如 ${{{name}.name}}"),
        NameFault::Cycle(names) => format!("这些变量互相引用，都没有值：{}；请给其中一个确定的值", listed(names)),
        NameFault::Series { name, near } => format!("没有名为 '{name}' 的事务、步骤或场景{}", meant(near.as_ref())),
        NameFault::Barrier { name, line } => {
            format!("集合点 '{name}' 在第 {line} 行的 users 或 within 不同；请写成相同的值，或换一个名称")
        }
    }
}
