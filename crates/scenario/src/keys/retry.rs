//! The keys of a retry.

use super::{Kind, Object, field};

keys! {
    pub(crate) RETRY = "retry", "a retry", "重试";
    "retry": Kind::Count, "The most tries after the first", "首次失败后最多再试几次", needed;
    "after": Kind::Time, "The wait before the first of them [default: 0s]", "第一次重试前的等待 [默认：0s]";
    "backoff": Kind::Text,
        "The factor from one wait to the next, from 1 to 100 [default: 1]",
        "每次等待与上一次之比，1 到 100 [默认：1]";
    "max_wait": Kind::Time, "The longest wait [default: 30s]", "最长等待 [默认：30s]";
    "retry_after": Kind::Switch,
        "Wait as long as the Retry-After header of a 429 or 503 says, at most max_wait [default: false]",
        "按 429 和 503 响应的 Retry-After 等待，但不超过 max_wait [默认：false]";
    "jitter": Kind::Text,
        "How much of each wait is drawn, like 20% for 20% more or less [default: none]",
        "等待时间的随机幅度，如 20% 表示上下浮动 20% [默认：无]";
    "if": Kind::Expression,
        "Try again only when this is true, like: response.status >= 429 [default: after any failure]",
        "仅当条件成立时重试，如：response.status >= 429 [默认：任何失败都重试]";
    "then": Kind::Word(&["next_iteration", "continue", "break", "stop_user", "stop_run"]),
        "What follows the last try [default: next_iteration]",
        "最后一次仍失败时的处理 [默认：next_iteration]";
}
