//! The keys of control flow and of users' state: loops, values that are set, checks, planned ends.

use super::common::{NAME, ON_FAILURE, STEPS_FIELD};
use super::{Field, Kind, Object, field};

const EVERY: Field = field(
    "every",
    Kind::Time,
    "Rounds begin this far apart at least; no pause follows the last",
    "相邻两次循环的开始时刻至少相隔多久；最后一次之后不等待",
);
const MAX_ROUNDS: Field =
    field("max_rounds", Kind::Count, "The step fails after N rounds", "最多循环次数，达到后步骤失败");
const WITHIN: Field = field(
    "within",
    Kind::Time,
    "No round begins after this time, and the step fails; this or max_rounds is needed",
    "超过此时间不再开始新的循环，步骤失败；within 和 max_rounds 至少要有一个",
);

/// What a planned end takes: nothing, or a text for the reader of the file.
const REMARK: Kind = Kind::Either(&[Kind::Text, Kind::Nothing]);

keys! {
    pub(crate) COOKIES = "cookie_change", "a change of cookies", "Cookie 的修改", any of ["set", "clear"];
    "set": Kind::Named(&Kind::Pattern),
        "Cookies by name, sent to the host of the scenario's target; values may have slots",
        "要设置的 Cookie，字段名即名称；会发往场景 target 的主机；值中可以有占位符";
    "clear": Kind::Switch, "true: remove all cookies of the user first", "true：先清除该用户的所有 Cookie";
}

pub(super) const FLOW: [Object; 14] = steps! {
    "for_each" {
        "for_each": Kind::Expression,
            "One round for each item of this list, like: items",
            "对该列表的每一项循环一次，如：items", needed;
        "as": Kind::Text, "The variable that has the item", "存放当前项的变量名", needed;
        "at_once": Kind::Count,
            "Up to N items at a time, each with its requests; what responses give is set when all have ended",
            "最多 N 项并行，每项发送各自的请求；从响应中提取的值在全部结束后才生效";
        EVERY;
        ON_FAILURE;
        STEPS_FIELD, needed;
    }
    "repeat" {
        "repeat": Kind::Text,
            "N times: 3, 1-5 for a number that is drawn, or \"${n}\"",
            "重复次数：3，或用 1-5 表示随机，或 \"${n}\"", needed;
        EVERY;
        ON_FAILURE;
        STEPS_FIELD, needed;
    }
    "during" {
        "during": Kind::Time, "Repeat for this time; the last round is finished", "在这段时间内重复，最后一次会做完", needed;
        EVERY;
        ON_FAILURE;
        STEPS_FIELD, needed;
    }
    "until" {
        "until": Kind::Expression,
            "Repeat until this is true; it is looked at after the steps",
            "重复到条件成立为止；在步骤之后判断", needed;
        MAX_ROUNDS;
        WITHIN;
        EVERY;
        ON_FAILURE;
        STEPS_FIELD, needed;
    }
    "while" {
        "while": Kind::Expression,
            "Repeat while this is true; it is looked at before the steps",
            "条件成立时重复；在步骤之前判断", needed;
        MAX_ROUNDS;
        WITHIN;
        EVERY;
        ON_FAILURE;
        STEPS_FIELD, needed;
    }
    "set" {
        "set": Kind::Variables(&Kind::Json),
            "Give variables of the user values; texts may have slots, and a text that is one slot keeps the type: \"${page + 1}\"",
            "给用户的变量赋值；文本中可以有占位符，只含一个占位符的文本保留其类型：\"${page + 1}\"", needed;
    }
    "record" {
        "record": Kind::Named(&Kind::Json),
            "Give figures of the file values, like {basket: \"${total}\", orders: 1}",
            "记录自定义指标的值，如 {basket: \"${total}\", orders: 1}", needed;
    }
    "cookies" {
        "cookies": Kind::Object(&COOKIES),
            "Set cookies of the user, or clear them",
            "设置或清除用户的 Cookie", needed;
    }
    "check" {
        "check": Kind::Expression,
            "A condition that should be true, like: page == 6. It is counted by itself, and is no request",
            "应当成立的条件，如：page == 6；单独统计，不算请求", needed;
        NAME;
        ON_FAILURE;
    }
    "break" {
        "break": REMARK, "Leave the innermost loop", "跳出最内层的循环", needed;
    }
    "continue" {
        "continue": REMARK, "Go on with the next round of the innermost loop", "进入最内层循环的下一次", needed;
    }
    "next_iteration" {
        "next_iteration": REMARK, "End this iteration, which is no failure", "结束本次迭代，不算失败", needed;
    }
    "stop_user" {
        "stop_user": REMARK,
            "End this iteration, and the user leaves; with a rate only the iteration ends",
            "结束本次迭代，该用户退出；使用 rate 时只结束本次迭代", needed;
    }
    "stop_run" {
        "stop_run": REMARK,
            "End the run for this reason, as after Ctrl-C, with exit code 1",
            "以此原因结束整个压测，如同按下 Ctrl-C，退出码为 1", needed;
    }
};
