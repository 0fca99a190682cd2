//! A run in which nothing was measured.

use figures::{Note, Run};
use metrics::Failure;

use crate::format::{count, counted, is_of};
use crate::{Language, messages, notes};

/// One line for a run in which no connection was ever established.
pub fn nothing_measured(run: &Run, language: Language) -> String {
    let (started, dropped) = (run.tally.all_started(), run.tally.dropped());
    if started == 0 && run.workers_summary.as_ref().is_some_and(engine::WorkersSummary::has_losses) {
        return language.pick(
            "nothing was measured: all workers were lost before they told anything; look at what ended them".to_owned(),
            "没有测到任何数据：所有工作进程在上报之前就已失联；请检查它们为何结束".to_owned(),
        );
    }
    if started == 0 && !run.plan.warmup.is_zero() {
        let address = messages::place(run);
        return language.pick(
            format!("nothing was measured: no connection to {address} was established in the warm-up; start the server, or check address and port"),
            format!("没有测到任何数据：预热期间未能与 {address} 建立连接；请启动服务，或检查地址和端口"),
        );
    }
    if started == 0 {
        return language.pick(
            "nothing was measured: no request was started; give the load more time or a higher rate".to_owned(),
            "没有测到任何数据：没有发起任何请求；请延长时间或提高速率".to_owned(),
        );
    }
    if dropped > 0 && run.tally.failed == 0 {
        let (said, were) = (counted(started, "start"), is_of(dropped, "was", "were"));
        let (address, started, dropped) = (messages::place(run), count(started), count(dropped));
        return language.pick(
            format!("nothing was measured: no connection to {address} was established, and {dropped} of {said} {were} dropped after --max-lateness; check whether the server accepts connections, or raise --max-lateness"),
            format!("没有测到任何数据：未能与 {address} 建立连接，{started} 个请求中有 {dropped} 个超过 --max-lateness 而放弃；请检查服务端是否接受连接，或增大 --max-lateness"),
        );
    }
    let most = run.tally.failures.iter().max_by_key(|each| each.count).map(|each| each.failure);
    if let Some(Failure::NotFilled) = most {
        let (failed, remedy) = (count(run.tally.failed), messages::failure_remedy(Failure::NotFilled, run, language));
        return language.pick(
            format!("nothing was measured: none of {} could be made; {remedy}", counted(run.tally.failed, "request")),
            format!("没有测到任何数据：{failed} 个请求都无法生成；{remedy}"),
        );
    }
    let tried = run.tally.connections_tried().max(run.tally.attempts());
    let (said, tried) = (counted(tried, "connection"), count(tried));
    let address = messages::place(run);
    match most {
        Some(failure) => {
            let name = messages::failure_in_brackets(failure, language);
            let remedy = match run.notes.iter().find(|note| matches!(note, Note::SpeaksTls)) {
                Some(note) => notes::note_text(note, language),
                None => messages::failure_remedy(failure, run, language),
            };
            language.pick(
                format!("nothing was measured: none of {said} to {address} was established{name}; {remedy}"),
                format!("没有测到任何数据：{tried} 次连接 {address} 均未成功{name}；{remedy}"),
            )
        }
        None => language.pick(
            format!("nothing was measured: no connection to {address} was established before the end of the run; give it more time with -z or --grace"),
            format!("没有测到任何数据：压测结束前未能与 {address} 建立连接；请用 -z 或 --grace 延长时间"),
        ),
    }
}
