//! `onrush worker`: carries out parts of loads that another onrush leads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cluster::bus::{Bus, Inbox};
use cluster::local;
use cluster::protocol::Refusal;
use cluster::worker_runtime::{WorkerEnvironment, WorkerEvent, WorkerIdentity, WorkerRuntime};
use driver::Choice;
use engine::{DataSources, HoldOptions, RequestLogConfig, ResolveError, Resolved, RunOptions};
use feed::Feed;
use plan::{Hold, Plan, Target, TargetPolicy};
use report::Language;
use wire::tls::ClientConfig;

use crate::commands::run;
use crate::exit::Exit;
use crate::options::args::WorkerArgs;
use crate::options::usage;
use crate::output;
use crate::session::data_sources::data_sources;
use crate::session::signals;
use crate::workers;
use crate::workers::ANY;
use crate::workers::journals;

pub(crate) fn worker(args: &WorkerArgs) -> Exit {
    let language = usage::language();
    let way = match BusChoice::parse(args.join.as_deref().unwrap_or_default(), language) {
        Ok(way) => way,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage;
        }
    };
    let threads = match run::threads(args.engine.threads.as_deref()) {
        Ok(threads) => threads,
        Err(error) => {
            output::complain(&report::plan_error(&error, language));
            return Exit::Usage;
        }
    };
    let journals = match journals::journals(args.engine.journal.as_deref(), !way.is_local(), language) {
        Ok(journals) => journals,
        Err((text, exit)) => {
            output::complain(&text);
            return exit;
        }
    };
    host::raise_descriptor_limit();
    let place: Arc<dyn WorkerEnvironment> = Arc::new(WorkerPlace {
        threads,
        choice: args.engine.driver.choice(),
        pins_threads: args.engine.pin_threads,
        allow: args.allow.clone(),
        is_quiet: args.is_quiet,
        language,
    });
    let folder = match way.folder() {
        Ok(folder) => folder,
        Err(reason) => {
            output::complain(&language.pick(
                format!("no folder for what a run needs: {reason}; set TMPDIR to one that can be written"),
                format!("无法创建临时目录：{}；请把 TMPDIR 设为可写的目录", report::in_chinese(&reason.to_string())),
            ));
            return Exit::System;
        }
    };
    let setting = WorkerIdentity {
        id: workers::id(),
        name: args.name.clone().unwrap_or_else(own_name),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        weight: u32::try_from(threads).unwrap_or(u32::MAX),
        goes_with_leader: way.is_local(),
        folder: folder.clone(),
        journals,
    };
    let exit = work(&way, setting, &place, language);
    // Files written for one run are of no further use.
    let _ = std::fs::remove_dir_all(&folder);
    // The last worker removes the bus of a leader that was killed.
    if let BusChoice::Local(path) = &way
        && std::os::unix::net::UnixStream::connect(path).is_err()
    {
        let _ = std::fs::remove_file(path);
        let _ = path.parent().map(std::fs::remove_dir);
    }
    exit
}

/// The bus to join.
enum BusChoice {
    Local(PathBuf),
    #[cfg(feature = "nats")]
    Nats(Box<cluster::nats::BusUrl>),
}

impl BusChoice {
    fn parse(join: &str, language: Language) -> Result<Self, String> {
        if join.starts_with("nats://") || join.starts_with("tls://") {
            #[cfg(feature = "nats")]
            return match join.parse() {
                Ok(bus_url) => Ok(Self::Nats(Box::new(bus_url))),
                Err(error) => Err(crate::workers::on_bus::said(&error, language)),
            };
            #[cfg(not(feature = "nats"))]
            return Err(workers::without_nats("--join", language));
        }
        match join.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            Some(path) => Ok(Self::Local(path.into())),
            None => {
                // Credentials are not shown.
                let join = join.rsplit_once('@').map_or(join.to_owned(), |(_, after)| format!("***@{after}"));
                Err(language.pick(
                    format!("--join wants the bus of a run, like nats://HOST:4222/NAME, tls://HOST:4222/NAME or unix:/tmp/run/bus, not '{join}'"),
                    format!("--join 的值 '{join}' 无效：应为压测所用的总线，如 nats://主机:4222/名称、tls://主机:4222/名称 或 unix:/tmp/run/bus"),
                ))
            }
        }
    }

    /// The private folder for files of rows.
    fn folder(&self) -> Result<PathBuf, std::io::Error> {
        match self {
            // Next to the bus: other users have no access, and the leader removes all of it.
            Self::Local(path) => {
                let beside = path.parent().unwrap_or(Path::new("/"));
                Ok(beside.join(format!("rows-{:016x}", workers::id())))
            }
            #[cfg(feature = "nats")]
            Self::Nats(_) => workers::own_folder(),
        }
    }

    fn is_local(&self) -> bool {
        matches!(self, Self::Local(_))
    }

    fn join(&self, subjects: Vec<String>, inbox: Inbox, language: Language) -> Result<Box<dyn Bus>, String> {
        match self {
            Self::Local(path) => local::join(path, subjects, inbox).map_err(|reason| {
                let path = path.display();
                language.pick(
                    format!("no bus at {path}: {reason}; start the run that leads first"),
                    format!("{path} 处没有总线：{}；请先启动主控进程", report::in_chinese(&reason.to_string())),
                )
            }),
            #[cfg(feature = "nats")]
            Self::Nats(bus_url) => cluster::nats::join(bus_url, cluster::nats::Role::Works, subjects, inbox)
                .map_err(|error| crate::workers::on_bus::said(&error, language)),
        }
    }
}

fn work(way: &BusChoice, setting: WorkerIdentity, place: &Arc<dyn WorkerEnvironment>, language: Language) -> Exit {
    let folder = setting.folder.clone();
    let hand = WorkerRuntime::new(setting, place);
    let stop = hand.stop_handle();
    let has_joined = Arc::new(AtomicBool::new(false));
    let is_there = has_joined.clone();
    let first = move || {
        if is_there.load(Ordering::Relaxed) {
            return stop.stop();
        }
        // It only waits for a bus: there is nothing to release.
        let _ = std::fs::remove_dir_all(folder);
        std::process::exit(Exit::Stopped as i32);
    };
    let watched = signals::watch(first, || std::process::exit(Exit::Stopped as i32));
    if let Err(error) = watched {
        output::complain(&language.pick(
            format!("signals cannot be watched: {error}"),
            format!("无法监听信号：{}", report::in_chinese(&error.to_string())),
        ));
        return Exit::System;
    }
    if !way.is_local() {
        place.report(&WorkerEvent::Joins);
    }
    match way.join(hand.subjects(), hand.inbox(), language) {
        Ok(bus) => {
            has_joined.store(true, Ordering::Relaxed);
            hand.work(bus);
        }
        Err(text) => {
            output::complain(&text);
            return Exit::System;
        }
    }
    if watched.is_ok_and(|requested| requested.is_requested()) { Exit::Stopped } else { Exit::Done }
}

/// The default name of a worker.
fn own_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}-{}", host.trim(), std::process::id())
}

/// The environment of a worker on this machine.
struct WorkerPlace {
    threads: usize,
    choice: Choice,
    pins_threads: bool,
    allow: Vec<String>,
    is_quiet: bool,
    language: Language,
}

impl WorkerPlace {
    /// The target policy of this worker, independent of the leader.
    fn target_policy(&self) -> Option<TargetPolicy> {
        let is_any = self.allow.iter().any(|host| host == ANY);
        let named = self.allow.clone().into();
        let target_policy = if self.allow.is_empty() { TargetPolicy::Near(named) } else { TargetPolicy::Only(named) };
        (!is_any).then_some(target_policy)
    }

    /// The address of a target, as resolved here.
    fn way(&self, target: &Target, patience: Duration) -> Result<(Resolved, Option<ClientConfig>), Refusal> {
        let system = |reason: String| Refusal::System { reason };
        let resolved = engine::resolve(target, patience).map_err(|error| match error {
            ResolveError::Consent { .. } => {
                let allowed = if self.allow.is_empty() {
                    "this machine and private networks".to_owned()
                } else {
                    self.allow.join(", ")
                };
                Refusal::Target { target: target.host.clone(), allowed }
            }
            error => system(error.to_string()),
        })?;
        let tls = engine::client_tls(target).map_err(|error| system(error.to_string()))?;
        Ok((resolved, tls))
    }
}

impl WorkerEnvironment for WorkerPlace {
    fn prepare(&self, plan: Plan, feeds: Vec<Feed>, slowest: usize) -> Result<(Plan, RunOptions), Refusal> {
        let system = |reason: String| Refusal::System { reason };
        let mut plan = match self.target_policy() {
            Some(target_policy) => plan.reaching(&target_policy),
            None => plan,
        };
        let mut routes = Vec::new();
        for scenario in &mut plan.scenarios {
            let connect_timeout = scenario.steps.first().map_or(Duration::ZERO, |step| step.connect_timeout);
            for target in &mut scenario.targets {
                let way = self.way(target, connect_timeout)?;
                *target = way.0.complete(target.clone());
                routes.push(way);
            }
        }
        let names = routes.iter().map(|(resolved, _)| resolved.addresses.clone()).collect();
        let mut routes = routes.into_iter().map(|(resolved, tls)| (resolved.address, tls));
        let Some((address, tls)) = routes.next() else { return Err(system("a plan without a target".to_owned())) };
        let driver = driver::choose(self.choice).map_err(|error| system(error.to_string()))?;
        let options = RunOptions {
            address,
            tls,
            others: routes.collect(),
            names,
            threads: self.threads,
            pins_threads: self.pins_threads,
            driver,
            log_config: RequestLogConfig { slowest, log: None },
            data_sources: cluster::encoding::data_sources(feeds, &usual()),
            backend: None,
        };
        Ok((plan, options))
    }

    fn prepare_to_hold(&self, mut plan: Hold) -> Result<(Hold, HoldOptions), Refusal> {
        let system = |reason: String| Refusal::System { reason };
        if let Some(target_policy) = self.target_policy() {
            plan.target.target_policy = target_policy;
        }
        let (resolved, tls) = self.way(&plan.target, plan.step.connect_timeout)?;
        let driver = driver::choose(self.choice).map_err(|error| system(error.to_string()))?;
        let (address, names) = (resolved.address, resolved.addresses);
        let options = HoldOptions { address, names, tls, threads: self.threads, driver, backend: None };
        options.places(&plan).map_err(|error| system(error.to_string()))?;
        Ok((plan, options))
    }

    fn report(&self, notice: &WorkerEvent) {
        if let Some(text) = said(notice, self.language).filter(|_| !self.is_quiet) {
            output::note(&format!("onrush: {text}"));
        }
    }
}

fn usual() -> DataSources {
    data_sources()
}

/// The text of a notice.
fn said(notice: &WorkerEvent, language: Language) -> Option<String> {
    Some(match notice {
        WorkerEvent::Joins => language.pick(
            "goes to the bus; waits for the leader, which makes the cluster there".to_owned(),
            "正在连接总线；集群由主控进程建立，等待中".to_owned(),
        ),
        WorkerEvent::Joined => {
            language.pick("on the bus, waiting for a run".to_owned(), "已连上总线，等待压测".to_owned())
        }
        WorkerEvent::Cut => language.pick("the bus is gone".to_owned(), "总线已断开".to_owned()),
        WorkerEvent::Ready => language.pick("ready for a run".to_owned(), "已就绪".to_owned()),
        WorkerEvent::Refused(refusal) => {
            let reason = refused(refusal, language);
            language.pick(format!("takes no part in the run: {reason}"), format!("不参加本次压测：{reason}"))
        }
        WorkerEvent::Began(slots) => {
            let share = f64::from(*slots) / 40.96;
            language.pick(format!("has {share:.1} % of the load"), format!("承担 {share:.1}% 的负载"))
        }
        WorkerEvent::Ended => language.pick("its part is over".to_owned(), "承担的负载已结束".to_owned()),
        WorkerEvent::GivenUp => language.pick(
            "was out of reach for too long, so nobody counts on its part any more; it begins anew".to_owned(),
            "失联过久，其结果不再计入；现在重新加入".to_owned(),
        ),
        WorkerEvent::Broken(reason) => {
            let zh = report::in_chinese(reason);
            language.pick(format!("cannot carry out its part: {reason}"), format!("无法执行分配到的部分：{zh}"))
        }
        WorkerEvent::Full => language.pick(
            "the bus has no room for what it has to tell; it keeps it, and tries again".to_owned(),
            "总线已满，暂存待发数据并重试".to_owned(),
        ),
        WorkerEvent::NotKept { path, reason } => journals::not_kept(path, reason.as_deref(), language),
        WorkerEvent::Unanswered => language.pick(
            "the leader does not answer: it is gone, unreachable or overloaded; nothing starts until it does"
                .to_owned(),
            "主控进程没有响应：可能已退出、失联或负荷过重；恢复之前不发起请求".to_owned(),
        ),
    })
}

fn refused(refusal: &Refusal, language: Language) -> String {
    match refusal {
        Refusal::Version { worker, leader } => language.pick(
            format!("it is onrush {worker}, and the leader is {leader}; use the same version"),
            format!("本机 onrush 版本是 {worker}，主控进程是 {leader}；请使用同一版本"),
        ),
        Refusal::Plan { reason } => reason.clone(),
        Refusal::Missing => language.pick(
            "the plan is not on the bus, or cannot be read there".to_owned(),
            "总线上没有压测计划，或无法读取".to_owned(),
        ),
        Refusal::Damaged => language.pick(
            "what came is not the plan that was announced: its hash is another".to_owned(),
            "收到的压测计划与公布的不一致（哈希不符）".to_owned(),
        ),
        Refusal::Target { target, allowed } => language.pick(
            format!("it may not load {target}, only {allowed}; start it with --allow-host {target} if it should"),
            format!("不允许压测 {target}，只允许 {allowed}；如需允许，请加上 --allow-host {target}"),
        ),
        Refusal::Clock => language
            .pick("it got too few answers to tell the time".to_owned(), "收到的响应太少，无法校准时间".to_owned()),
        Refusal::System { reason } => reason.clone(),
    }
}
