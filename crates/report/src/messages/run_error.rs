//! The reason why a run does not begin.

use engine::{BackendFault, PlacesError, RunError};

use super::in_chinese;
use crate::Language;

/// The error of a system that the engine cannot run on.
pub fn run_error(error: &RunError, language: Language) -> String {
    match (language, error) {
        (Language::En, error) => error.to_string(),
        (Language::Zh, RunError::System(reason)) => {
            in_chinese(&format!("引擎无法在此系统上运行：{reason}；请调大上限（ulimit -n、内存）或减少 --threads"))
        }
        (Language::Zh, RunError::Places(PlacesError::NotOurs { address })) => {
            format!("{address} 不是本机地址；请用 ip address 查看，或添加：ip address add {address} dev ...")
        }
        (Language::Zh, RunError::Places(PlacesError::Families { from, to })) => {
            format!("无法从 {from} 连接 {to}：一个是 IPv4，另一个是 IPv6；请使用同一种地址")
        }
        (Language::Zh, RunError::Pin { core, reason }) => {
            in_chinese(&format!("无法把线程绑定到核心 {core}：{reason}；请去掉 --pin-threads"))
        }
        (Language::Zh, RunError::NoInterpreter) => {
            "场景中用到了表达式，但此程序构建时不含 JavaScript；请用 --features script 重新构建".to_owned()
        }
        (Language::Zh, RunError::RemoteBackend(fault)) => team_fault(fault),
        (Language::Zh, RunError::Expression { reason }) => in_chinese(&format!("表达式无法使用：{reason}")),
    }
}

/// The reason why the workers cannot carry out a run.
fn team_fault(fault: &BackendFault) -> String {
    match fault {
        BackendFault::TooFew { there, wanted, waited_s } => {
            format!(
                "等待 {waited_s} 秒后，{wanted} 个工作进程中只有 {there} 个就位；请启动更多，或用 --workers 减少数量"
            )
        }
        BackendFault::Unready { unready, of } => {
            format!("{of} 个工作进程中有 {unready} 个未能按时就绪；请查看它们的输出并重新启动")
        }
        BackendFault::Version { worker, theirs, ours } => {
            format!("工作进程 {worker} 的 onrush 版本是 {theirs}，此处是 {ours}；请在所有机器上使用同一版本")
        }
        BackendFault::Target { worker, target, allowed } => {
            format!(
                "工作进程 {worker} 不允许压测 {target}，只允许 {allowed}；如需允许，请用 --allow-host {target} 启动它"
            )
        }
        BackendFault::Plan { worker, reason } => {
            format!("工作进程 {worker} 无法使用该计划：{}；请在所有机器上使用同一版本，然后重试", in_chinese(reason))
        }
        BackendFault::Missing { worker } => {
            format!(
                "工作进程 {worker} 取不到压测计划：总线上没有，或无法读取；请重试，且不要改动该集群在总线上保存的内容"
            )
        }
        BackendFault::Damaged { worker } => {
            format!("工作进程 {worker} 取到的不是本次计划：哈希不符；请重试，并检查还有谁在写这条总线")
        }
        BackendFault::Clock { worker } => {
            format!("工作进程 {worker} 收到的响应太少，无法校准时间；请检查它与总线之间的网络")
        }
        BackendFault::System { worker, reason } => {
            format!("工作进程 {worker} 无法执行分配给它的部分：{}", in_chinese(reason))
        }
        BackendFault::Undivided { what } => format!("{what} 无法分配给多个工作进程；请不带 --workers 运行"),
        BackendFault::Bus { reason } => format!("无法使用工作进程的总线：{}", in_chinese(reason)),
        BackendFault::NoRun { waited_s } => {
            format!("等待 {waited_s} 秒后，总线上仍没有此负载的主控进程；请用同样的命令（不带 --standby）启动它")
        }
        BackendFault::Replaced => "本进程曾失联，另一个 onrush（--standby）已接管压测，报告在那里".to_owned(),
        BackendFault::Elsewhere => "主控进程已结束本次压测，报告在它那里".to_owned(),
        BackendFault::Stopped => "压测开始前已停止，没有进行测量".to_owned(),
    }
}
