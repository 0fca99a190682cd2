//! Workers that this process leads. `--workers N`: processes of this machine, which it starts and ends. `--hosts`:
//! processes of other machines, which it starts over ssh. `--cluster`: those on a bus.

pub(crate) mod journals;
#[cfg(feature = "nats")]
pub(crate) mod on_bus;
mod ssh;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use cluster::coordinator::{FindEndedWorker, Workers};
use cluster::local::LocalBus;
use cluster::{LeaderSettings, OnLoss};
use engine::{BackendFault, HoldBackend, HoldBegun, HoldOrder, RemoteBackend, RemoteRun, RunError};
use pacing::Nanos;
use plan::{Hold, Load, Plan, PlanError, Scenario, Target, TargetPolicy, UserShape, parse_count};
use report::Language;

use crate::exit::Exit;
use crate::options::args::EngineArgs;
use crate::session::run_settings::RunSettings;
use ssh::{BusAccess, HOSTS_MAX, RemoteWorker, SshSetup};

/// The most processes on one machine.
const WORKERS_MAX: u64 = 256;
/// The wildcard for all hosts.
pub(crate) const ANY: &str = "any";
/// Each worker has at least one slot of the load.
const CLUSTER_WORKERS_MAX: u64 = pacing::SLOT_COUNT as u64;
/// The time after which workers that do not end by themselves are killed.
const ENDS_WITHIN: Duration = Duration::from_secs(1);
/// The same for remote workers.
const ENDS_REMOTE_WITHIN: Duration = Duration::from_secs(3);
/// The lease of a worker: without contact for this long it starts nothing more.
const LEASE: Nanos = Nanos::from_millis(5_000);
/// How long workers of other machines are waited for; they may be started by hand, or by other programs.
const PATIENCE_REMOTE: Nanos = Nanos::from_millis(60_000);
/// The lease of a leader of other machines.
const TTL_REMOTE: Nanos = Nanos::from_millis(3_000);
/// How long reports from an interrupted bus connection are awaited.
const LATE_NEWS_REMOTE: Nanos = Nanos::from_millis(15_000);
/// Time from the moment when all are ready to the start.
const START_LEAD_REMOTE: Nanos = Nanos::from_millis(2_000);
/// All started hosts can be workers of one load.
const _: () = core::assert!(HOSTS_MAX as u64 <= WORKERS_MAX);

/// The remote workers of a load, if there are any; or the error message.
pub(crate) fn backend(
    plan: &Plan,
    engine: &EngineArgs,
    threads: usize,
    settings: &RunSettings,
    language: Language,
) -> Result<Option<Arc<dyn RemoteBackend>>, (String, Exit)> {
    // A debug run shows one exchange of each step, without workers.
    let is_apart = is_alone(engine, language)? || settings.is_debug();
    if let Some(text) = engine.standby.then(|| cannot_stand_by(plan, engine, language)).flatten() {
        return Err((text, Exit::Usage));
    }
    if is_apart {
        return Ok(None);
    }
    if let Some(fault) = cluster::coordinator::undivided(plan, settings.tracing.is_logged()) {
        return Err((report::run_error(&fault.into(), language), Exit::Usage));
    }
    let targets = plan.scenarios.iter().flat_map(|scenario| &scenario.targets);
    let mut backend = own_backend(&allowed_by(targets), engine, threads, language)?;
    backend.workers.judge_by(settings.thresholds.iter().map(|threshold| threshold.text.clone()).collect());
    Ok(Some(Arc::new(backend)))
}

/// The remote workers of held connections, if there are any; or the error message.
pub(crate) fn hold_backend(
    plan: &Hold,
    engine: &EngineArgs,
    threads: usize,
    language: Language,
) -> Result<Option<Arc<dyn HoldBackend>>, (String, Exit)> {
    if is_alone(engine, language)? {
        return Ok(None);
    }
    let backend = own_backend(&allowed_by([&plan.target]), engine, threads, language)?;
    Ok(Some(Arc::new(backend)))
}

/// Whether no workers are used; then flags that need them are wrong.
fn is_alone(engine: &EngineArgs, language: Language) -> Result<bool, (String, Exit)> {
    let given =
        [("--on-worker-loss", engine.on_worker_loss.is_some()), ("--min-workers", engine.min_workers.is_some())];
    if engine.journal.is_some() && engine.cluster.is_none() {
        let text = language.pick("--journal needs --cluster", "--journal 需要同时给出 --cluster");
        return Err((text.to_owned(), Exit::Usage));
    }
    if engine.ssh.is_some() && engine.hosts.is_none() {
        let text = language.pick("--ssh needs --hosts", "--ssh 需要同时给出 --hosts");
        return Err((text.to_owned(), Exit::Usage));
    }
    let is_alone = engine.workers.is_none() && engine.cluster.is_none() && engine.hosts.is_none();
    if let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given && is_alone) {
        let text = language.pick(
            format!("{flag} needs --workers, --hosts or --cluster"),
            format!("{flag} 需要同时给出 --workers、--hosts 或 --cluster"),
        );
        return Err((text, Exit::Usage));
    }
    Ok(is_alone)
}

/// The requested workers.
fn own_backend(
    allowed: &[String],
    engine: &EngineArgs,
    threads: usize,
    language: Language,
) -> Result<LocalWorkers, (String, Exit)> {
    let say = |error: &PlanError| (report::plan_error(error, language), Exit::Usage);
    let most = if engine.cluster.is_some() { CLUSTER_WORKERS_MAX } else { WORKERS_MAX };
    let hosts = engine.hosts.as_deref().map(|given| ssh::hosts(given, language)).transpose();
    let hosts = hosts.map_err(|text| (text, Exit::Usage))?;
    if hosts.is_some() && engine.workers.is_some() {
        let text = language.pick(
            "--workers counts processes of this machine; with --hosts there is one worker on each host, so leave it out",
            "--workers 是本机的进程数；使用 --hosts 时每个主机一个工作进程，请去掉 --workers",
        );
        return Err((text.to_owned(), Exit::Usage));
    }
    let usual = hosts.as_ref().map_or(1, |hosts| hosts.len() as u64);
    let count = engine.workers.as_deref().map_or(Ok(usual), |text| parse_count("--workers", text, 1, most));
    let count = count.map_err(|error| say(&error))? as usize;
    let least = engine.min_workers.as_deref().map(|text| parse_count("--min-workers", text, 1, count as u64));
    let least = least.transpose().map_err(|error| say(&error))?.unwrap_or(1) as usize;
    let on_loss = match engine.on_worker_loss.as_deref() {
        Some("continue") => OnLoss::Continue,
        Some("fail") => OnLoss::Fail,
        _ => OnLoss::Rebalance,
    };
    let journals = journals::journals(engine.journal.as_deref(), engine.cluster.is_some(), language)?;
    let wanted = WorkerPlan { count, least, on_loss, is_standby: engine.standby };
    let backend: Result<LocalWorkers, std::io::Error> = match (&engine.cluster, &hosts) {
        (Some(bus), _) => {
            let processes = WorkerProcesses::default();
            // A standby that takes the run over reads all reports.
            let setting = LeaderSettings { is_alone: false, ..wanted.remote() };
            let workers = on_bus(bus, setting, processes.ended_worker(), journals, language)?;
            let backend = LocalWorkers { workers, processes, _bus: None, _folder: None };
            if let Some(hosts) = &hosts {
                backend.sends_for(hosts, (BusAccess::Away(bus), allowed), engine, language)?;
            }
            Ok(backend)
        }
        (None, Some(hosts)) => match LocalWorkers::around_a_bus(wanted.remote()) {
            Ok((backend, path)) => {
                // Target consent was checked here, and no other process has access to the bus.
                backend.sends_for(hosts, (BusAccess::Socket(&path), &[ANY.to_owned()]), engine, language)?;
                Ok(backend)
            }
            Err(reason) => Err(reason),
        },
        (None, None) => LocalWorkers::here(&wanted, threads, engine),
    };
    backend.map_err(|reason| {
        let text = language.pick(
            format!("the workers cannot be started: {reason}"),
            format!("无法启动工作进程：{}", report::in_chinese(&reason.to_string())),
        );
        (text, Exit::System)
    })
}

/// Why a load cannot have a standby, if so.
fn cannot_stand_by(plan: &Plan, engine: &EngineArgs, language: Language) -> Option<String> {
    let waits = |scenario: &Scenario| matches!(scenario.load, Load::Closed { shape: UserShape::Rendezvous, .. });
    if engine.cluster.is_none() || engine.hosts.is_some() {
        return Some(language.pick(
            "--standby needs --cluster, and workers that others start".to_owned(),
            "--standby 需要 --cluster，且工作进程由他处启动".to_owned(),
        ));
    }
    (plan.scenarios.iter().any(waits) || !plan.barriers.is_empty()).then(|| {
        language.pick(
            "--standby: a load whose users wait for each other (--rendezvous, meet) cannot be taken over".to_owned(),
            "--standby：用户相互等待的负载（--rendezvous、barrier）无法接管".to_owned(),
        )
    })
}

/// The allowed targets of workers on a shared bus: those of the plan, and hosts with the user's consent.
fn allowed_by<'a>(targets: impl IntoIterator<Item = &'a Target>) -> Vec<String> {
    let mut all = BTreeSet::new();
    for target in targets {
        all.insert(target.host.clone());
        if let TargetPolicy::Near(named) = &target.target_policy {
            all.extend(named.iter().cloned());
        }
    }
    all.into_iter().collect()
}

/// The number of workers, and what happens when some are lost.
struct WorkerPlan {
    count: usize,
    least: usize,
    on_loss: OnLoss,
    is_standby: bool,
}

impl WorkerPlan {
    /// Leader settings for workers of other machines: everything takes longer between machines.
    fn remote(&self) -> LeaderSettings {
        LeaderSettings {
            patience: PATIENCE_REMOTE,
            ttl: TTL_REMOTE,
            late_news: LATE_NEWS_REMOTE,
            closed_is_gone: false,
            start_lead: START_LEAD_REMOTE,
            ..self.setting()
        }
    }

    /// Leader settings for workers of this machine.
    fn setting(&self) -> LeaderSettings {
        LeaderSettings {
            who: drawn(2),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workers: self.count,
            patience: Nanos::from_millis(20_000),
            min_workers: self.least,
            on_loss: self.on_loss,
            ttl: Nanos::from_millis(1_500),
            lease: LEASE,
            late_news: Nanos::from_millis(5_000),
            closed_is_gone: true,
            start_lead: Nanos::from_millis(300),
            is_standby: self.is_standby,
            is_alone: true,
        }
    }
}

#[cfg(feature = "nats")]
use crate::workers::on_bus::{lead as on_bus, seed_of_run};

/// The error of a build without NATS.
#[cfg(not(feature = "nats"))]
fn seed_of_run(_bus: &str, _patience: Nanos, language: Language) -> Result<Option<u64>, (String, Exit)> {
    Err((without_nats("--cluster", language), Exit::Usage))
}

/// The error of a build without NATS.
#[cfg(not(feature = "nats"))]
fn on_bus(
    _bus: &str,
    _setting: LeaderSettings,
    _find_ended_worker: FindEndedWorker,
    _journals: Option<cluster::journal::Journals>,
    language: Language,
) -> Result<Workers, (String, Exit)> {
    Err((without_nats("--cluster", language), Exit::Usage))
}

#[cfg(not(feature = "nats"))]
pub(crate) fn without_nats(flag: &str, language: Language) -> String {
    language.pick(
        format!("{flag} with a bus of NATS is not in this build of onrush; take a package or the image, or build it with --features nats"),
        format!("此 onrush 构建不支持 {flag} 使用 NATS 总线；请使用安装包或镜像，或用 --features nats 构建"),
    )
}

/// Workers that were started from here.
#[derive(Clone, Debug, Default)]
struct WorkerProcesses(Arc<Mutex<Vec<RemoteWorker>>>);

impl WorkerProcesses {
    fn add(&self, workers: impl IntoIterator<Item = RemoteWorker>) {
        self.0.lock().expect("no holder of the lock panics").extend(workers);
    }

    /// Checks for workers that have ended before the load began: they are not waited for.
    fn ended_worker(&self) -> FindEndedWorker {
        let known = self.0.clone();
        Box::new(move || {
            let mut all = known.lock().expect("no holder of the lock panics");
            let (worker, reason) = all.iter_mut().find_map(|one| Some((one.name.clone(), one.ended()?)))?;
            Some(BackendFault::System { worker, reason })
        })
    }

    /// Ends all of them; remote ones concurrently.
    fn end(&self) {
        let all = std::mem::take(&mut *self.0.lock().expect("no holder of the lock panics"));
        let within = if all.iter().any(RemoteWorker::is_far) { ENDS_REMOTE_WITHIN } else { ENDS_WITHIN };
        ssh::end(all, within);
    }
}

/// Workers, and the bus between them if it is in this process.
#[derive(Debug)]
struct LocalWorkers {
    /// Dropped first: the field order is the order of their ends.
    workers: Workers,
    processes: WorkerProcesses,
    /// Dropped after the workers, which need the bus to the end.
    _bus: Option<BusGuard>,
    /// Dropped after the bus, whose socket is in it.
    _folder: Option<OwnFolder>,
}

/// Keeps the bus alive.
struct BusGuard(#[expect(dead_code, reason = "it is there to be dropped")] LocalBus);

impl std::fmt::Debug for BusGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("bus")
    }
}

/// A unique number, from the time and the id of this process.
fn drawn(salt: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = now.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32);
    let unit = pacing::Random::for_stream(seed, salt).unit();
    (unit * u64::MAX as f64) as u64 ^ seed
}

/// The seed of a run without a given one: short enough to be typed.
pub(crate) fn drawn_seed() -> u64 {
    drawn(2) >> 32
}

/// The seed of a file without one. A standby takes that of the run that it would take over.
pub(crate) fn seed_for(engine: &EngineArgs, language: Language) -> Result<u64, (String, Exit)> {
    let of_run = match &engine.cluster {
        Some(bus) if engine.standby => seed_of_run(bus, PATIENCE_REMOTE, language)?,
        _ => None,
    };
    Ok(of_run.unwrap_or_else(drawn_seed))
}

pub(crate) fn id() -> u64 {
    drawn(1)
}

impl LocalWorkers {
    /// A bus of this process, and its path.
    fn around_a_bus(setting: LeaderSettings) -> Result<(Self, PathBuf), std::io::Error> {
        let folder = OwnFolder::new()?;
        let path = folder.0.join("bus");
        let bus = LocalBus::open(&path)?;
        let processes = WorkerProcesses::default();
        let workers = Workers::lead(setting, processes.ended_worker(), None, |subjects, inbox| {
            Ok::<_, std::io::Error>(bus.client(subjects, inbox))
        })?;
        Ok((Self { workers, processes, _bus: Some(BusGuard(bus)), _folder: Some(folder) }, path))
    }

    /// Starts processes of this machine.
    fn here(wanted: &WorkerPlan, threads: usize, engine: &EngineArgs) -> Result<Self, std::io::Error> {
        let (backend, path) = Self::around_a_bus(wanted.setting())?;
        let count = wanted.count;
        for number in 1..=count {
            // The threads are divided; each has one at least.
            let own = (threads / count + usize::from(number <= threads % count)).max(1);
            let child = spawn(&path, number, own, engine)?;
            backend.processes.add([RemoteWorker::near(child, format!("worker-{number}"))]);
        }
        Ok(backend)
    }

    /// Starts workers of other machines.
    fn sends_for(
        &self,
        hosts: &[String],
        (bus, allow): (BusAccess<'_>, &[String]),
        engine: &EngineArgs,
        language: Language,
    ) -> Result<(), (String, Exit)> {
        let mut flags: Vec<String> = allow.iter().map(|host| format!("--allow-host={host}")).collect();
        flags.push("--quiet".to_owned());
        let values = [("--threads", engine.threads.as_deref()), ("--driver", engine.driver.name())];
        for (flag, value) in values {
            flags.extend(value.iter().flat_map(|value| [flag, value].map(str::to_owned)));
        }
        if engine.pin_threads {
            flags.push("--pin-threads".to_owned());
        }
        let ssh = engine.ssh.as_deref().unwrap_or("ssh");
        let journey = SshSetup { ssh, bus, flags, number: drawn(4) };
        let workers = ssh::start(hosts, &journey).map_err(|failed| (failed.said(ssh, language), Exit::System))?;
        self.processes.add(workers);
        Ok(())
    }
}

/// A private folder; it is removed with the value.
#[derive(Debug)]
pub(crate) struct OwnFolder(PathBuf);

impl OwnFolder {
    pub(crate) fn new() -> Result<Self, std::io::Error> {
        own_folder().map(Self)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// A new private folder.
pub(crate) fn own_folder() -> Result<PathBuf, std::io::Error> {
    use std::os::unix::fs::DirBuilderExt;
    let folder = std::env::temp_dir().join(format!("onrush-{:016x}", drawn(3)));
    let named = |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", folder.display()));
    std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(named)?;
    Ok(folder)
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn spawn(path: &std::path::Path, number: usize, threads: usize, engine: &EngineArgs) -> Result<Child, std::io::Error> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("worker").arg("--join").arg(format!("unix:{}", path.display()));
    command.arg("--name").arg(format!("worker-{number}")).arg("--threads").arg(threads.to_string());
    // Target consent was checked here.
    command.args(["--allow-host", "any", "--quiet"]);
    if let Some(driver) = engine.driver.name() {
        command.args(["--driver", driver]);
    }
    // Our variables are flags, of another command.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ONRUSH_")) {
        command.env_remove(name);
    }
    if engine.pin_threads {
        command.arg("--pin-threads");
    }
    // Ctrl-C is for the leader; a page that reads our output gets nothing from workers.
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command.spawn()
}

impl RemoteBackend for LocalWorkers {
    fn begin(&self, order: RemoteRun) -> Result<Nanos, RunError> {
        self.workers.begin(order)
    }

    fn goes_on_alone(&self) -> bool {
        self.workers.goes_on_alone()
    }

    fn received_within(&self) -> Nanos {
        self.workers.received_within()
    }
}

impl HoldBackend for LocalWorkers {
    fn begin_to_hold(&self, order: HoldOrder) -> Result<HoldBegun, RunError> {
        self.workers.begin_to_hold(order)
    }
}

impl Drop for LocalWorkers {
    fn drop(&mut self) {
        self.workers.close();
        self.processes.end();
    }
}
