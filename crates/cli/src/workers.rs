//! `--workers N`: the load is carried out by other processes of this machine, which this one starts, leads and ends.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use cluster::local::LocalBus;
use cluster::team::Workers;
use cluster::{OnLoss, Setting};
use engine::{Order, RunError, Team, TeamFault};
use pacing::Nanos;
use plan::{Plan, PlanError, parse_count};
use report::Language;

use crate::args::EngineArgs;
use crate::exit::Exit;
use crate::wishes::Wishes;

/// More processes than anybody starts on one machine.
const WORKERS_MAX: u64 = 256;
/// Each has a slot of the load at least.
const CLUSTER_WORKERS_MAX: u64 = pacing::SLOT_COUNT as u64;
/// Workers that do not end by themselves are ended after this.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// Who carries out the load, if somebody else does. Or what is said instead.
pub(crate) fn team(
    plan: &Plan,
    engine: &EngineArgs,
    threads: usize,
    wishes: &Wishes,
    language: Language,
) -> Result<Option<Arc<dyn Team>>, (String, Exit)> {
    let given =
        [("--on-worker-loss", engine.on_worker_loss.is_some()), ("--min-workers", engine.min_workers.is_some())];
    let is_alone = engine.workers.is_none() && engine.cluster.is_none();
    if let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given && is_alone) {
        let text = language.pick(
            format!("{flag} needs --workers or --cluster"),
            format!("{flag} 需要同时给出 --workers 或 --cluster"),
        );
        return Err((text, Exit::Usage));
    }
    // One exchange of each step is shown by itself.
    if is_alone || wishes.is_debug() {
        return Ok(None);
    }
    if let Some(fault) = cluster::team::undivided(plan, wishes.tracing.is_logged()) {
        return Err((report::run_error(&fault.into(), language), Exit::Usage));
    }
    let say = |error: &PlanError| (report::plan_error(error, language), Exit::Usage);
    let most = if engine.cluster.is_some() { CLUSTER_WORKERS_MAX } else { WORKERS_MAX };
    let count = engine.workers.as_deref().map_or(Ok(1), |text| parse_count("--workers", text, 1, most));
    let count = count.map_err(|error| say(&error))? as usize;
    let least = engine.min_workers.as_deref().map(|text| parse_count("--min-workers", text, 1, count as u64));
    let least = least.transpose().map_err(|error| say(&error))?.unwrap_or(1) as usize;
    let on_loss = match engine.on_worker_loss.as_deref() {
        Some("continue") => OnLoss::Continue,
        Some("fail") => OnLoss::Fail,
        _ => OnLoss::Rebalance,
    };
    let wanted = Wanted { count, least, on_loss };
    if let Some(bus) = &engine.cluster {
        return on_bus(bus, wanted.setting(), language).map(Some);
    }
    let team = LocalTeam::start(&wanted, threads, engine).map_err(|reason| {
        let text = language.pick(
            format!("the workers cannot be started: {reason}; run without --workers"),
            format!("无法启动工作进程：{}；请不带 --workers 运行", report::in_chinese(&reason.to_string())),
        );
        (text, Exit::System)
    })?;
    Ok(Some(Arc::new(team)))
}

/// How many workers are wanted, and what becomes of the load when some are lost.
struct Wanted {
    count: usize,
    least: usize,
    on_loss: OnLoss,
}

impl Wanted {
    /// How workers of this machine are led.
    fn setting(&self) -> Setting {
        Setting {
            who: drawn(2),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workers: self.count,
            patience: Nanos::from_millis(20_000),
            min_workers: self.least,
            on_loss: self.on_loss,
            ttl: Nanos::from_millis(1_500),
            lease: Nanos::from_millis(5_000),
            late_news: Nanos::from_millis(5_000),
            closed_is_gone: true,
            start_lead: Nanos::from_millis(300),
            is_alone: true,
        }
    }
}

#[cfg(feature = "nats")]
use crate::on_bus::team as on_bus;

/// What a build without NATS says.
#[cfg(not(feature = "nats"))]
fn on_bus(_bus: &str, _setting: Setting, language: Language) -> Result<Arc<dyn Team>, (String, Exit)> {
    Err((without_nats("--cluster", language), Exit::Usage))
}

#[cfg(not(feature = "nats"))]
pub(crate) fn without_nats(flag: &str, language: Language) -> String {
    language.pick(
        format!("{flag} with a bus of NATS is not in this build of onrush; take a package or the image, or build it with --features nats"),
        format!("此 onrush 构建不支持 {flag} 使用 NATS 总线；请使用安装包或镜像，或用 --features nats 构建"),
    )
}

/// Processes of this machine, and the bus between them.
#[derive(Debug)]
struct LocalTeam {
    /// They are led first to last: the field order is that of their ends.
    workers: Workers,
    children: Arc<Mutex<Vec<Child>>>,
    /// Behind the workers, who need it to the end.
    _bus: Kept,
    /// Behind the bus, which lies in it.
    _folder: OwnFolder,
}

/// The bus lives as long as this.
struct Kept(#[expect(dead_code, reason = "it is there to be dropped")] LocalBus);

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("bus")
    }
}

/// A number that nobody else has, by the time and this process.
fn drawn(salt: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = now.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32);
    let unit = pacing::Random::of_stream(seed, salt).unit();
    (unit * u64::MAX as f64) as u64 ^ seed
}

pub(crate) fn id() -> u64 {
    drawn(1)
}

impl LocalTeam {
    fn start(wanted: &Wanted, threads: usize, engine: &EngineArgs) -> Result<Self, std::io::Error> {
        let (setting, count) = (wanted.setting(), wanted.count);
        let folder = OwnFolder(own_folder()?);
        let path = folder.0.join("bus");
        let bus = LocalBus::open(&path)?;
        let children = Arc::new(Mutex::new(Vec::new()));
        let known = children.clone();
        let look = Box::new(move || ended(&mut known.lock().expect("no holder of the lock panics")));
        let workers =
            Workers::lead(setting, look, |subjects, inbox| Ok::<_, std::io::Error>(bus.client(subjects, inbox)))?;
        let team = Self { workers, children, _bus: Kept(bus), _folder: folder };
        for number in 1..=count {
            // The threads are dealt out; each has one at least.
            let own = (threads / count + usize::from(number <= threads % count)).max(1);
            let child = spawn(&path, number, own, engine)?;
            team.children.lock().expect("no holder of the lock panics").push(child);
        }
        Ok(team)
    }
}

/// A worker that ended before the load began.
fn ended(children: &mut [Child]) -> Option<TeamFault> {
    let ended = children.iter_mut().enumerate().find_map(|(place, child)| Some((place, child.try_wait().ok()??)));
    ended.map(|(place, status)| {
        let worker = format!("worker-{}", place + 1);
        TeamFault::System { worker, reason: format!("it ended ({status})") }
    })
}

/// A folder that nobody else may open; it goes with this.
#[derive(Debug)]
struct OwnFolder(PathBuf);

/// A new folder that nobody else may open.
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
    // Who may be loaded was asked here.
    command.args(["--allow", "any", "--quiet"]);
    if let Some(driver) = engine.driver.name() {
        command.args(["--driver", driver]);
    }
    // Variables of ours are flags, of another command.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ONRUSH_")) {
        command.env_remove(name);
    }
    if engine.pin_threads {
        command.arg("--pin-threads");
    }
    // Ctrl-C is for who leads; a page that reads our output has nothing from them.
    command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    command.spawn()
}

impl Team for LocalTeam {
    fn begin(&self, order: Order) -> Result<Nanos, RunError> {
        self.workers.begin(order)
    }

    fn heard_within(&self) -> Nanos {
        self.workers.heard_within()
    }
}

impl Drop for LocalTeam {
    fn drop(&mut self) {
        self.workers.close();
        let since = Instant::now();
        for child in self.children.lock().expect("no holder of the lock panics").iter_mut() {
            while since.elapsed() < ENDS_WITHIN && matches!(child.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(5));
            }
            // One that is over already has nothing to be ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
