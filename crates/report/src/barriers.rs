//! Barrier rounds that went on without some of their users.

use engine::BarrierStats;
use figures::Run;
use serde_json::{Value, json};

use crate::Language;
use crate::format::count;

/// A line for each barrier and reason.
pub(crate) fn missed(run: &Run, language: Language) -> Vec<String> {
    let reported = |BarrierStats { name, users, full, by_time, short }: &BarrierStats| {
        let (users, all) = (count(*users), count(full + by_time + short));
        let by_time = (*by_time > 0).then(|| {
            let rounds = count(*by_time);
            language.pick(
                format!(
                    "{name}: 'within' ended {rounds} of {all} rounds with fewer than {users} users; raise 'within', or lower 'users'"
                ),
                format!("{name}：{all} 批中有 {rounds} 批因 within 到时而放行，不足 {users} 个用户；请增大 within 或减小 users"),
            )
        });
        let short = (*short > 0).then(|| {
            let rounds = count(*short);
            language.pick(
                format!("{name}: {rounds} of {all} rounds had fewer than {users} users; no more of them could come"),
                format!("{name}：{all} 批中有 {rounds} 批不足 {users} 个用户，因为不会再有用户到达"),
            )
        });
        [by_time, short].into_iter().flatten()
    };
    run.met.iter().flat_map(reported).collect()
}

/// All barriers as JSON.
pub(crate) fn value(run: &Run) -> Value {
    let reported = |BarrierStats { name, users, full, by_time, short }: &BarrierStats| json!({ "name": name, "users": users, "full": full, "by_time": by_time, "short": short });
    run.met.iter().map(reported).collect()
}
