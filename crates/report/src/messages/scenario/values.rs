//! Expected and actual values, in Chinese.

use scenario::{ExpressionFault, FoundInstead, Things, Wanted};

pub(super) fn wrong(wanted: Wanted, given: &FoundInstead) -> String {
    let given = match given {
        FoundInstead::Nothing => "而不是空值".to_owned(),
        FoundInstead::List => "而不是列表".to_owned(),
        FoundInstead::Map => "而不是映射".to_owned(),
        FoundInstead::Text(text) => format!("而不是 '{text}'"),
    };
    let (word, example) = match wanted {
        Wanted::Map => ("映射", "请逐行写“键: 值”并缩进"),
        Wanted::List => ("列表", "每项一行，以 '- ' 开头"),
        Wanted::Steps => ("步骤列表", "每个步骤一行，以 '- ' 开头，如：- get: /"),
        Wanted::Text => ("文本", "请写在一行内，必要时加引号"),
        Wanted::TextOrList => ("文本或文本列表", "请写一个文本，或每项一行以 '- ' 开头"),
        Wanted::Switch => (" true 或 false", "请写 true 或 false"),
        Wanted::Number => ("整数", "写法如 200、10k、1_000"),
        Wanted::Time => ("时长", "写法如 500ms、10s、1h30m"),
        Wanted::Rate => ("速率", "写法如 500/s、100/m"),
        Wanted::Stages => ("数字或阶段列表", "写法如 200，或 [\"200:2m\", \"0:30s\"]"),
        Wanted::Rounds => ("重复次数", "写法如 3，或用 1-5 表示随机次数"),
        Wanted::Think => ("思考时间", "写法如 2s、1s-3s、exponential(2s)、normal(2s, 0.5s)、lognormal(2s, 0.4)"),
        Wanted::OnFailure => ("失败后的处理", "可写 next_iteration、continue、stop，或带次数的 retry，如：retry 3"),
        Wanted::Extract => (
            "要提取的内容",
            "写法如 json $.id、regex id=([0-9]+)、header ETag、cookie sid、status、css input[name=csrf] @value",
        ),
        Wanted::Bound => ("限制", "前面要写 <、<=、> 或 >=，如：< 500ms"),
        Wanted::Json => (" JSON 值", "文本请加引号"),
    };
    format!("此处应为{word}，{given}；{example}")
}

pub(super) fn things(things: Things) -> &'static str {
    match things {
        Things::Choices => "分支",
        Things::DataSets => "数据集",
        Things::Headers => "请求头",
        Things::Messages => "消息",
        Things::Scenarios => "场景",
        Things::Stages => "阶段",
        Things::Steps => "步骤",
        Things::Takes => "提取项",
        Things::Variables => "变量",
    }
}

pub(super) fn expression(fault: &ExpressionFault) -> String {
    match fault {
        ExpressionFault::Empty => "此处缺少表达式；写法如：price < 100".to_owned(),
        ExpressionFault::TooLong(most) => format!("表达式最多 {most} 字节；请缩短"),
        ExpressionFault::Quote => "引号没有闭合".to_owned(),
        ExpressionFault::Brackets => "括号不匹配；请用对应的括号闭合".to_owned(),
        ExpressionFault::Slot => "表达式中直接使用变量名；请写 名称，而不是 ${名称}".to_owned(),
        ExpressionFault::Assignment => "'=' 会修改变量，表达式不允许；比较请写 ==".to_owned(),
        ExpressionFault::Operator(word) => format!("'{word}' 前面缺少运算符；可用 &&、||、==、< 等"),
        ExpressionFault::Statement(word) => {
            format!("'{word}' 属于语句，此处只能写一个表达式；请直接写出值，如：price * 2")
        }
        ExpressionFault::Operand(word) => format!("'{word}' 后面缺少值"),
        ExpressionFault::Function(name) => format!(
            "{name}() 这样的函数要单独写在一个 ${{...}} 里；请把变量设为 ${{{name}(...)}} 再使用，或使用 Math.random() 等"
        ),
        ExpressionFault::Word(word, meant) => format!("'{word}' 不是 JavaScript 的运算符；请写 {meant}"),
    }
}
