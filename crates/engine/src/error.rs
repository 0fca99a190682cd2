//! Errors of the engine.

use plan::errors;

errors! {
    /// Why a run could not be carried out.
    #[derive(Debug)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum RunError;

    /// The kernel provides no poller, no thread or no memory.
    System(it: std::io::Error);
        "the engine cannot work on this system: {it}; raise its limits (ulimit -n, memory) or lower --threads",
        "引擎无法在此系统上运行：{it}；请调大上限（ulimit -n、内存）或减少 --threads";
    /// Addresses of the load cannot be used.
    Places(it: crate::PlacesError);
        "{it}",
        "{}" [it.chinese()];
    /// A thread could not be bound to a core.
    Pin { core: usize, reason: std::io::Error };
        "a thread could not be pinned to core {core}: {reason}; run without --pin-threads",
        "无法把线程绑定到核心 {core}：{reason}；请去掉 --pin-threads";
    /// A plan has expressions, and there is no evaluator.
    NoInterpreter;
        "the plan has expressions, and this build has no JavaScript; build it with --features script",
        "场景中用到了表达式，但此程序构建时不含 JavaScript；请用 --features script 重新构建";
    /// An expression is invalid.
    Expression { reason: String };
        "an expression cannot be used: {reason}",
        "表达式无法使用：{reason}";
    /// The remote workers cannot carry it out.
    RemoteBackend(it: BackendFault);
        "{it}",
        "{}" [it.chinese()];
}

impl From<std::io::Error> for RunError {
    fn from(error: std::io::Error) -> Self {
        Self::System(error)
    }
}

impl From<crate::PlacesError> for RunError {
    fn from(error: crate::PlacesError) -> Self {
        Self::Places(error)
    }
}

impl From<BackendFault> for RunError {
    fn from(error: BackendFault) -> Self {
        Self::RemoteBackend(error)
    }
}

errors! {
    /// Why remote workers cannot carry out a run.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum BackendFault;

    /// Too few workers joined.
    TooFew { there: usize, wanted: usize, waited_s: u64 };
        "{there} of {wanted} workers are there after {waited_s} s; start more of them, or ask for fewer with --workers",
        "等待 {waited_s} 秒后，{wanted} 个工作进程中只有 {there} 个就位；请启动更多，或用 --workers 减少数量";
    /// Some workers did not become ready.
    Unready { unready: usize, of: usize };
        "{unready} of {of} workers did not get ready in time; look at what they print, and start them again",
        "{of} 个工作进程中有 {unready} 个未能按时就绪；请查看它们的输出并重新启动";
    /// A worker has another version.
    Version { worker: String, theirs: String, ours: String };
        "worker {worker} is onrush {theirs} and this one is {ours}; use the same version everywhere",
        "工作进程 {worker} 的 onrush 版本是 {theirs}，此处是 {ours}；请在所有机器上使用同一版本";
    /// A worker is not allowed to load the target.
    Target { worker: String, target: String, allowed: String };
        "worker {worker} may not load {target}, only {allowed}; start it with --allow-host {target} if it should",
        "工作进程 {worker} 不允许压测 {target}，只允许 {allowed}；如需允许，请用 --allow-host {target} 启动它";
    /// A worker has another plan than it should.
    Plan { worker: String, reason: String };
        "worker {worker} cannot use the plan: {reason}; run it again, with the same version everywhere",
        "工作进程 {worker} 无法使用该计划：{reason}；请在所有机器上使用同一版本，然后重试";
    /// A worker cannot get the plan.
    Missing { worker: String };
        "worker {worker} cannot get the plan: it is not on the bus, or cannot be read there; run it again, and leave what the cluster keeps there alone",
        "工作进程 {worker} 取不到压测计划：总线上没有，或无法读取；请重试，且不要改动该集群在总线上保存的内容";
    /// A worker received a different plan.
    Damaged { worker: String };
        "worker {worker} got something else than this plan: its hash is another; run it again, and look who else writes to the bus",
        "工作进程 {worker} 取到的不是本次计划：哈希不符；请重试，并检查还有谁在写这条总线";
    /// The clock offset of a worker could not be measured.
    Clock { worker: String };
        "worker {worker} got too few answers to tell the time; look at the network between it and the bus",
        "工作进程 {worker} 收到的响应太少，无法校准时间；请检查它与总线之间的网络";
    /// The machine of a worker refuses what the load needs.
    System { worker: String, reason: String };
        "worker {worker} cannot carry out its part: {reason}",
        "工作进程 {worker} 无法执行分配给它的部分：{reason}";
    /// Workers do not support this.
    Undivided { what: &'static str };
        "{what} cannot be divided over workers; run it without --workers",
        "{what} 无法分配给多个工作进程；请不带 --workers 运行";
    /// The bus cannot be used.
    Bus { reason: String };
        "the bus of the workers cannot be used: {reason}",
        "无法使用工作进程的总线：{reason}";
    /// There is no leader of a run that could be taken over.
    NoRun { waited_s: u64 };
        "after {waited_s} s nobody on the bus leads a run of this load; start it there with the same command, without --standby",
        "等待 {waited_s} 秒后，总线上仍没有此负载的主控进程；请用同样的命令（不带 --standby）启动它";
    /// Another leader has taken the run over.
    Replaced;
        "this one was out of reach, and another onrush has taken the run over (--standby); the report is there",
        "本进程曾失联，另一个 onrush（--standby）已接管压测，报告在那里";
    /// The run that was to be taken over is over.
    Elsewhere;
        "the leader has ended the run, and has its report",
        "主控进程已结束本次压测，报告在它那里";
    /// It was stopped before it began.
    Stopped;
        "stopped before the load began, so nothing was measured",
        "压测开始前已停止，没有进行测量";
}
