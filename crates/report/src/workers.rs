//! The workers that carried out a run, where several processes or machines did.

use engine::{StartAccounting, WorkerResult, WorkersSummary};
use serde_json::{Value, json};

use crate::Language;
use crate::format::{count, counted, is_of, percent, time};

/// The number of slots of a whole load.
const SLOTS: f64 = pacing::SLOT_COUNT as f64;
/// The most workers that are listed individually; of more, the first of them.
const REPORTED_MAX: usize = 8;

/// Lines for the user: all workers, each of them, and undelivered starts.
pub(crate) fn reported(workers_summary: Option<&WorkersSummary>, language: Language) -> Vec<String> {
    let Some(workers_summary) = workers_summary else { return Vec::new() };
    let mut lines = vec![all(workers_summary, language)];
    lines.extend(late(workers_summary, language));
    lines.extend(workers_summary.workers.iter().take(REPORTED_MAX).map(|worker| one(worker, language)));
    let rest = workers_summary.workers.len().saturating_sub(REPORTED_MAX);
    if rest > 0 {
        lines.push(language.pick(format!("and {rest} more"), format!("另有 {rest} 个")));
    }
    lines
}

fn all(workers_summary: &WorkersSummary, language: Language) -> String {
    let workers = workers_summary.workers.len();
    let late = workers_summary.workers.iter().filter_map(|worker| worker.began_late).max().unwrap_or_default();
    let error = workers_summary.workers.iter().filter_map(|worker| worker.clock_error).max().unwrap_or_default();
    language.pick(
        format!(
            "{}; each began at most {} late by its clock, which is wrong by {} at most",
            counted(workers as u64, "worker"),
            time(late.as_nanos() as f64),
            time(error.as_nanos() as f64)
        ),
        format!(
            "{workers} 个工作进程；各自开始时间最多晚 {}，时钟误差最多 {}",
            time(late.as_nanos() as f64),
            time(error.as_nanos() as f64)
        ),
    )
}

/// The leader did not keep up.
fn late(workers_summary: &WorkersSummary, language: Language) -> Option<String> {
    let late = workers_summary.received_late;
    let span = (!late.is_zero()).then(|| time(late.as_nanos() as f64))?;
    Some(language.pick(
        format!(
            "worker data was processed up to {span} late: the leader, the bus or the network is too slow for this number of workers; \
             nothing is missing of it"
        ),
        format!("工作进程的数据最多迟 {span} 才处理：主控进程、总线或网络跟不上工作进程上报的数据；数据没有缺失"),
    ))
}

/// A change of the load reached some workers late; `None` when all followed in time.
pub(crate) fn changed_late(workers_summary: Option<&WorkersSummary>, language: Language) -> Option<String> {
    let workers_summary = workers_summary?;
    let late = workers_summary.changed_late;
    let span = (!late.is_zero()).then(|| time(late.as_nanos() as f64))?;
    let late_change_delta = workers_summary.books.late_change_delta;
    let (said, starts) = (counted(late_change_delta.unsigned_abs(), "start"), count(late_change_delta.unsigned_abs()));
    let (more, more_zh) = match late_change_delta {
        0 => (String::new(), String::new()),
        1.. => (format!(", {said} more than planned"), format!("，比计划多发起 {starts} 个请求")),
        _ => (format!(", {said} fewer than planned"), format!("，比计划少发起 {starts} 个请求")),
    };
    Some(language.pick(
        format!(
            "a change of the load reached some of them up to {span} late: until then they went on as before{more}; the leader, \
             the bus or the machine was slow or out of reach"
        ),
        format!("负载调整最多迟 {span} 才到达部分工作进程，在此之前它们按原负载执行{more_zh}；主控进程、总线或机器曾失联或过慢"),
    ))
}

fn one(worker: &WorkerResult, language: Language) -> String {
    let WorkerResult { name, slots, started, failed, cpu, losses, bus_was_full, .. } = worker;
    let part = percent(u64::from(*slots), SLOTS as u64);
    let started = count(*started);
    let mut text = language.pick(
        format!("{name}: {part} of the load, {started} started, {} failed", count(*failed)),
        format!("{name}：负载的 {part}，发起 {started}，失败 {}", count(*failed)),
    );
    // A lost worker has not reported it.
    if cpu.total_ns() > 0 {
        let cpu = time(cpu.total_ns() as f64);
        text.push_str(&language.pick(format!(", CPU {cpu}"), format!("，CPU {cpu}")));
    }
    if *losses > 0 {
        text.push_str(language.pick("; was lost", "；曾失联"));
    }
    if *bus_was_full {
        text.push_str(language.pick("; the bus had no room for what it told", "；总线已满，数据曾无法写入"));
    }
    text
}

/// Undelivered and unaccounted starts; `None` when all is accounted for.
pub(crate) fn missed(workers_summary: Option<&WorkersSummary>, language: Language) -> Option<String> {
    let workers_summary = workers_summary?;
    let StartAccounting { undelivered, unaccounted, stalled, .. } = workers_summary.books;
    if !workers_summary.has_losses() {
        return None;
    }
    if undelivered == 0 && unaccounted == 0 {
        let lost = workers_summary.workers.iter().filter(|worker| worker.losses > 0).count();
        return Some(language.pick(
            format!(
                "{lost} of {} were lost: what they had was not done, or done later by others",
                workers_summary.workers.len()
            ),
            format!(
                "{} 个工作进程中有 {lost} 个失联：它们承担的部分没有执行，或稍后由其他进程执行",
                workers_summary.workers.len()
            ),
        ));
    }
    let (said, were) = (counted(undelivered, "start"), is_of(undelivered, "was", "were"));
    let made = is_of(unaccounted, "it was", "they were");
    let (undelivered, unaccounted) = (count(undelivered), count(unaccounted));
    let mut text = language.pick(
        format!("workers were lost: {said} {were} due while no worker had the slots, of {unaccounted} it is not known whether {made} made"),
        format!(
            "有工作进程失联：{undelivered} 个请求未执行（到期时没有进程承担），{unaccounted} 个未知（是否发起过不清楚）"
        ),
    );
    if !stalled.is_zero() {
        let span = time(stalled.as_nanos() as f64);
        text.push_str(&language.pick(
            format!("; for {span} the load stalled: the leader, or the bus, was out of reach"),
            format!("；负载中断了 {span}：主控进程或总线失联"),
        ));
    }
    Some(text)
}

/// The connections of a hold whose outcome is unknown.
pub(crate) fn missed_held(workers_summary: Option<&WorkersSummary>, language: Language) -> Option<String> {
    let workers_summary = workers_summary.filter(|workers_summary| workers_summary.has_losses())?;
    let lost = workers_summary.workers.iter().filter(|worker| worker.losses > 0).count();
    let unaccounted = count(workers_summary.books.unaccounted);
    Some(language.pick(
        format!(
            "{lost} of {} {} lost or left; of {} nobody knows what became",
            counted(workers_summary.workers.len() as u64, "worker"),
            is_of(lost as u64, "was", "were"),
            counted(workers_summary.books.unaccounted, "connection")
        ),
        format!("{} 个工作进程中有 {lost} 个失联或退出；{unaccounted} 个连接的结果未知", workers_summary.workers.len()),
    ))
}

/// The workers as JSON; null where threads of one process carried out the run.
pub(crate) fn value(workers_summary: Option<&WorkersSummary>) -> Value {
    let Some(WorkersSummary { workers, books, received_late, changed_late }) = workers_summary else {
        return Value::Null;
    };
    json!({
        "undelivered": books.undelivered,
        "unaccounted": books.unaccounted,
        "late_change_delta": books.late_change_delta,
        "stalled_s": books.stalled.as_secs_f64(),
        "ingest_delay_s": received_late.as_secs_f64(),
        "change_delay_s": changed_late.as_secs_f64(),
        "list": each(workers),
    })
}

/// The same for a hold.
pub(crate) fn held_value(workers_summary: Option<&WorkersSummary>) -> Value {
    let Some(WorkersSummary { workers, books, received_late, .. }) = workers_summary else { return Value::Null };
    let late = received_late.as_secs_f64();
    json!({
        "unaccounted": books.unaccounted,
        "unaccounted_responses": books.unaccounted_responses,
        "ingest_delay_s": late,
        "list": each(workers),
    })
}

/// The most workers that are listed individually while a load goes on; of more, the first of them.
const LIVE_MAX: usize = 64;

/// The workers of a load, as far as known by now; null where threads of one process carry it out.
pub fn live_workers(workers: &[WorkerResult]) -> Value {
    if workers.is_empty() {
        return Value::Null;
    }
    let worker = |worker: &WorkerResult| {
        json!({
            "name": worker.name,
            "share": f64::from(worker.slots) / SLOTS,
            "started": worker.started,
            "failed": worker.failed,
            "loss_count": worker.losses,
        })
    };
    json!({
        "count": workers.len(),
        "lost": workers.iter().filter(|worker| worker.losses > 0).count(),
        "list": workers.iter().take(LIVE_MAX).map(worker).collect::<Value>(),
    })
}

/// The message that a worker was lost, while the load goes on.
pub fn lost_worker(name: &str, language: Language) -> String {
    language.pick(
        format!("worker {name} was lost: what is due at it until others have it counts as undelivered"),
        format!("工作进程 {name} 失联：在其他进程接手之前，由它承担、其间到期的请求计为未执行（undelivered）"),
    )
}

/// The message that a worker was lost, during a hold.
pub fn lost_holder(name: &str, language: Language) -> String {
    language.pick(
        format!("worker {name} was lost: until it tells more, nobody knows what became of its connections"),
        format!("工作进程 {name} 失联：在收到它的数据之前，它的连接状况未知"),
    )
}

fn each(workers: &[WorkerResult]) -> Value {
    let worker = |worker: &WorkerResult| {
        json!({
            "name": worker.name,
            "share": f64::from(worker.slots) / SLOTS,
            "threads": worker.threads,
            "started": worker.started,
            "failed": worker.failed,
            "cpu_s": Some(worker.cpu.total_ns()).filter(|spent| *spent > 0).map(|spent| spent as f64 / 1e9),
            "clock_error_s": worker.clock_error.map(|error| error.as_secs_f64()),
            "start_delay_s": worker.began_late.map(|late| late.as_secs_f64()),
            "loss_count": worker.losses,
            "bus_was_full": worker.bus_was_full,
        })
    };
    workers.iter().map(worker).collect()
}

#[cfg(test)]
mod tests {
    use pacing::Nanos;

    use super::*;

    #[test]
    fn a_change_that_came_late_is_reported() {
        let of = |late_change_delta, late| {
            let books = StartAccounting { late_change_delta, ..StartAccounting::default() };
            WorkersSummary { books, changed_late: Nanos::from_millis(late).as_duration(), ..WorkersSummary::default() }
        };
        let reported = |late_change_delta, late, language| {
            changed_late(Some(&of(late_change_delta, late)), language).unwrap_or_default()
        };
        let more = "2.50s late: until then they went on as before, 1,234 starts more than planned;";
        assert!(reported(1_234, 2_500, Language::En).contains(more));
        assert!(reported(-7, 2_500, Language::En).contains("as before, 7 starts fewer than planned;"));
        // Users have no planned starts.
        assert!(reported(0, 2_500, Language::En).contains("went on as before;"));
        assert_eq!(reported(0, 0, Language::En), "");
        assert!(reported(-7, 2_500, Language::Zh).contains("按原负载执行，比计划少发起 7 个请求；"));
        let value = value(Some(&of(-7, 2_500)));
        assert_eq!((&value["late_change_delta"], &value["change_delay_s"]), (&json!(-7), &json!(2.5)));
    }
}
