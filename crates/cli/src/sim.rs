//! `onrush sim cluster`: a benchmark of a bus and its leader with very many workers that make no load.

use report::Language;

use crate::args::SimArgs;
use crate::exit::Exit;
use crate::{output, usage};

pub(crate) fn sim(args: &SimArgs) -> Exit {
    let language = usage::language();
    output::complained(run(args, language))
}

fn run(args: &SimArgs, language: Language) -> Result<Exit, (String, Exit)> {
    let what = args.what.as_deref().unwrap_or_default();
    if what != "cluster" {
        let text = language.pick(
            format!("onrush sim tries out: cluster. Not '{what}'; write onrush sim cluster"),
            format!("onrush sim 不能试验 '{what}'；请写 onrush sim cluster"),
        );
        return Err((text, Exit::Usage));
    }
    bus_benchmark::run(args, language)
}

#[cfg(not(feature = "nats"))]
mod bus_benchmark {
    use super::{Exit, Language, SimArgs};

    pub(super) fn run(_: &SimArgs, language: Language) -> Result<Exit, (String, Exit)> {
        Err((crate::workers::without_nats("sim cluster", language), Exit::Usage))
    }
}

#[cfg(feature = "nats")]
mod bus_benchmark {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use cluster::bus_benchmark::{BenchmarkOrder, BenchmarkOutcome, BusBenchmarkError, Moment, WorkerFault, try_out};
    use engine::{BackendFault, RunError, StopHandle};
    use host::ProcessUsage;
    use metrics::Distribution;
    use serde_json::{Value, json};

    use super::{Exit, Language, SimArgs, output};
    use crate::bus::OwnBus;
    use crate::{on_bus, signals};

    const WORKERS_USUAL: u64 = 1_000;
    /// Each worker has a descriptor here, and one at the server.
    const WORKERS_MAX: u64 = 18_000;
    const DURATION_USUAL: Duration = Duration::from_secs(12);
    const SECONDS_MAX: u64 = 3_600;
    /// Descriptors of a process besides those of workers.
    const OTHERS_OPEN: u64 = 200;
    /// The time within which all workers must be present.
    const PATIENCE: Duration = Duration::from_secs(120);

    /// The polling interval of our own server.
    const LOOKS_EVERY: Duration = Duration::from_millis(200);

    /// The usage of the server, if it was started here.
    #[derive(Clone, Copy, Default)]
    struct Took {
        before: Duration,
        after: Duration,
        most_bytes: u64,
    }

    impl Took {
        fn look(&mut self, spent: Option<ProcessUsage>, is_first: bool) {
            let Some(ProcessUsage { cpu, resident_bytes }) = spent else { return };
            if is_first {
                self.before = cpu;
            }
            self.after = cpu;
            self.most_bytes = self.most_bytes.max(resident_bytes);
        }
    }

    pub(super) fn run(args: &SimArgs, language: Language) -> Result<Exit, (String, Exit)> {
        let usage = |error: &plan::PlanError| (report::plan_error(error, language), Exit::Usage);
        let workers = args.workers.as_deref();
        let workers = workers.map_or(Ok(WORKERS_USUAL), |text| plan::parse_count("--workers", text, 1, WORKERS_MAX));
        let workers = workers.map_err(|error| usage(&error))?;
        let duration = args.duration.as_deref();
        let duration = duration.map_or(Ok(DURATION_USUAL), |text| plan::parse_duration("-z", text));
        let duration = duration.map_err(|error| usage(&error))?;
        let seconds = duration.as_secs();
        if duration.subsec_nanos() > 0 || !(1..=SECONDS_MAX).contains(&seconds) {
            let text = language.pick("-z wants whole seconds from 1s to 1h", "-z 需要 1s 到 1h 的整秒时长");
            return Err((text.to_owned(), Exit::Usage));
        }
        let open = host::raise_descriptor_limit();
        if open < workers + OTHERS_OPEN {
            let text = language.pick(
                format!("{workers} workers need {} open files, and this process may have {open}; raise it with ulimit -n, or try fewer", workers + OTHERS_OPEN),
                format!("{workers} 个工作进程需要打开 {} 个文件，本进程最多 {open} 个；请用 ulimit -n 提高上限，或减少数量", workers + OTHERS_OPEN),
            );
            return Err((text, Exit::System));
        }
        let stop = StopHandle::default();
        let (first, again) = (stop.clone(), stop.clone());
        let requested = signals::watch(move || first.stop(), move || again.abort());
        let requested = requested.map_err(|error| of_system(&error, language))?;
        let own = match &args.cluster {
            Some(_) => None,
            None => Some(OwnBus::start(&requested, language)?),
        };
        if requested.is_requested() {
            return Ok(Exit::Stopped);
        }
        let bus_url = args.cluster.as_deref().or(own.as_ref().map(|own| own.bus_url.as_str())).unwrap_or_default();
        let bus_url = bus_url.parse().map_err(|error| (on_bus::said(&error, language), Exit::Usage))?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let who = crate::workers::id();
        let order = BenchmarkOrder { bus_url, who, workers: workers as usize, seconds, patience: PATIENCE, version };
        let mut took = Took::default();
        let mut reported = 0;
        let watched = Watched::default();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| watched.watch(own.as_ref(), &stop, language));
            let outcome = try_out(&order, &stop, |moment| {
                took.look(own.as_ref().and_then(OwnBus::spent), matches!(moment, Moment::Ready(_)));
                tell(moment, workers, &mut reported, language);
            });
            watched.is_over.store(true, Ordering::Relaxed);
            outcome
        });
        if let Some(reason) = watched.ended.into_inner().ok().flatten() {
            return Err((reason, Exit::System));
        }
        let outcome = outcome.map_err(|error| said(&error, requested.is_requested(), language))?;
        let took = own.is_some().then_some(took);
        let text = if args.is_json {
            format!("{:#}\n", value(&outcome, workers, took))
        } else {
            text(&outcome, workers, took, language)
        };
        let wrote = output::to_stdout(&text, language);
        if wrote != Exit::Done {
            return Ok(wrote);
        }
        Ok(match is_whole(&outcome) {
            _ if requested.is_requested() => Exit::Stopped,
            true => Exit::Done,
            false => Exit::Unmet,
        })
    }

    /// Whether nothing was lost or counted twice, and no worker was lost.
    fn is_whole(outcome: &BenchmarkOutcome) -> bool {
        outcome.made == outcome.counted && outcome.is_same && outcome.lost == 0 && outcome.fault_count == 0
    }

    /// Prints progress now and then.
    fn tell(moment: Moment, workers: u64, reported: &mut usize, language: Language) {
        match moment {
            Moment::There(there) => {
                // In steps of a quarter.
                let quarter = there * 4 / (workers as usize).max(1);
                if quarter > *reported {
                    *reported = quarter;
                    output::note(&language.pick(
                        format!("{there} of {workers} workers are there"),
                        format!("{workers} 个工作进程中已到 {there} 个"),
                    ));
                }
            }
            Moment::Ready(after) => {
                let after = after.as_secs_f64();
                output::note(&language.pick(format!("ready after {after:.1} s"), format!("{after:.1} 秒后就绪")));
            }
            Moment::Second(_) => {}
        }
    }

    /// A watchdog of our own server: without it no event comes any more.
    #[derive(Default)]
    struct Watched {
        is_over: AtomicBool,
        ended: Mutex<Option<String>>,
    }

    impl Watched {
        fn watch(&self, own: Option<&OwnBus>, stop: &StopHandle, language: Language) {
            let Some(own) = own else { return };
            while !self.is_over.load(Ordering::Relaxed) {
                if let Some(reason) = own.ended(language) {
                    *self.ended.lock().expect("no holder of the lock panics") = Some(reason);
                    return stop.abort();
                }
                std::thread::sleep(LOOKS_EVERY);
            }
        }
    }

    /// The error message of a failed benchmark.
    fn said(error: &BusBenchmarkError, was_requested: bool, language: Language) -> (String, Exit) {
        match error {
            // The fault of a worker is more specific than the failed run.
            BusBenchmarkError::Run { first: Some(fault), .. } if !was_requested => {
                (wrong(fault, language), Exit::System)
            }
            BusBenchmarkError::Bus(error) => (on_bus::said(error, language), on_bus::exit_of(error)),
            BusBenchmarkError::Run { error: error @ RunError::RemoteBackend(BackendFault::Stopped), .. } => {
                (report::run_error(error, language), Exit::Stopped)
            }
            BusBenchmarkError::Run { error, .. } => (report::run_error(error, language), Exit::System),
            BusBenchmarkError::System(error) => of_system(error, language),
            BusBenchmarkError::Plan(error) => (report::plan_error(error, language), Exit::Usage),
        }
    }

    fn of_system(error: &std::io::Error, language: Language) -> (String, Exit) {
        let text = error.to_string();
        (language.pick(text.clone(), report::in_chinese(&text)), Exit::System)
    }

    /// The message for a worker fault.
    fn wrong(fault: &WorkerFault, language: Language) -> String {
        match fault {
            WorkerFault::Bus(error) => on_bus::said(error, language),
            WorkerFault::GivenUp => language.pick(
                "a worker did not reach the leader in time: the bus, this machine or both have too much to do"
                    .to_owned(),
                "有工作进程未能及时联系到主控进程：总线或本机（或两者）负荷过重".to_owned(),
            ),
        }
    }

    fn lag(lags: &Distribution, share: f64) -> Duration {
        Duration::from_nanos(lags.quantile(share).unwrap_or_default())
    }

    fn text(outcome: &BenchmarkOutcome, workers: u64, took: Option<Took>, language: Language) -> String {
        let BenchmarkOutcome { with_part, lags, made, counted, undelivered, unknown, lost, .. } = outcome;
        let (ready, batches) = (outcome.ready_after.as_secs_f64(), lags.count());
        let size = outcome.bytes / batches.max(1);
        let millis = |share| lag(lags, share).as_secs_f64() * 1e3;
        let (half, most_of, all) = (millis(0.5), millis(0.99), millis(1.0));
        let buckets = match (outcome.is_same, language.pick(true, false)) {
            (true, true) => "the same, bucket for bucket",
            (true, false) => "逐桶一致",
            (false, true) => "NOT the same",
            (false, false) => "不一致",
        };
        let rest =
            if (*with_part as u64) < workers { language.pick(", the others stand by", "，其余待命") } else { "" };
        let mut text = language.pick(
            format!(
                "Workers       {workers}, ready after {ready:.1} s; {with_part} had a part{rest}\n\
                 Sent          {batches} batches of {size} bytes; received after p50 {half:.0} ms, p99 {most_of:.0} ms, at most {all:.0} ms\n\
                 Starts        {made} made up, {counted} counted; undelivered {undelivered}, unknown {unknown}; {lost} workers were lost\n\
                 Times         merged and made up: {buckets}\n"
            ),
            format!(
                "工作进程    {workers} 个，{ready:.1} 秒后就绪；{with_part} 个承担负载{rest}\n\
                 上报数据    {batches} 批，每批 {size} 字节；读取延迟 p50 {half:.0} ms，p99 {most_of:.0} ms，最大 {all:.0} ms\n\
                 发起次数    模拟 {made}，统计到 {counted}；无人承担 {undelivered}，未知 {unknown}；{lost} 个工作进程失联\n\
                 时间分布    合并结果与模拟数据：{buckets}\n"
            ),
        );
        if let Some(took) = took {
            let (cores, mib) = (cores(outcome, took), took.most_bytes >> 20);
            text.push_str(&language.pick(
                format!("nats-server   {cores:.2} cores, {mib} MiB at most\n"),
                format!("nats-server 占用 {cores:.2} 核，内存最多 {mib} MiB\n"),
            ));
        }
        for fault in &outcome.faults {
            text.push_str(&format!("{}\n", wrong(fault, language)));
        }
        text
    }

    fn cores(outcome: &BenchmarkOutcome, took: Took) -> f64 {
        took.after.saturating_sub(took.before).as_secs_f64() / outcome.span.as_secs_f64().max(1e-3)
    }

    fn value(outcome: &BenchmarkOutcome, workers: u64, took: Option<Took>) -> Value {
        let lag = |share| lag(&outcome.lags, share).as_secs_f64();
        json!({
            "schema": "onrush-sim-cluster-1",
            "workers": workers,
            "with_part": outcome.with_part,
            "ready_after_s": outcome.ready_after.as_secs_f64(),
            "span_s": outcome.span.as_secs_f64(),
            "batches": outcome.lags.count(),
            "bytes": outcome.bytes,
            "heard_after_s": { "p50": lag(0.5), "p99": lag(0.99), "max": lag(1.0) },
            "made": outcome.made,
            "counted": outcome.counted,
            "undelivered": outcome.undelivered,
            "unknown": outcome.unknown,
            "lost": outcome.lost,
            "same_buckets": outcome.is_same,
            "faults": outcome.fault_count,
            "server": took.map(|took| json!({ "cores": cores(outcome, took), "most_bytes": took.most_bytes })),
        })
    }
}
