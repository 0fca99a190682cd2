//! `--cluster BUS` and `worker --join nats://...`: one load from many machines, on a NATS bus.

use std::sync::Arc;
use std::sync::mpsc::channel;

use cluster::LeaderSettings;
use cluster::coordinator::{Complain, FindEndedWorker, Keeping, Workers};
use cluster::journal::Journals;
use cluster::nats::{BusUrl, NatsError, Role, join};
use pacing::Nanos;
use report::Language;

use crate::exit::Exit;
use crate::output;
use crate::workers::journals;

/// The lease of a leader on a bus of several servers.
const TTL_OF_SEVERAL: Nanos = Nanos::from_millis(15_000);

/// Leads the workers on a bus from here.
pub(crate) fn lead(
    bus: &str,
    setting: LeaderSettings,
    find_ended_worker: FindEndedWorker,
    journals: Option<Journals>,
    language: Language,
) -> Result<Workers, (String, Exit)> {
    let say = |error: NatsError| (said(&error, language), exit_of(&error));
    let bus_url: BusUrl = bus.parse().map_err(say)?;
    // Several servers need a while to elect another writer, and meanwhile no lease is renewed.
    let ttl = if bus_url.replicas() > 1 { TTL_OF_SEVERAL } else { setting.ttl };
    let setting = LeaderSettings { ttl, ..setting };
    let complain: Complain = Arc::new(move |stopped| {
        let (path, reason) = stopped.reported();
        output::note(&format!("onrush: {}", journals::not_kept(&path, reason.as_deref(), language)));
    });
    let keeping = journals.map(|journals| Keeping { journals, complain });
    Workers::lead(setting, find_ended_worker, keeping, |subjects, inbox| join(&bus_url, Role::Leads, subjects, inbox))
        .map_err(say)
}

/// The seed of the run that a standby would take over; `None` if it has none.
pub(crate) fn seed_of_run(bus: &str, patience: Nanos, language: Language) -> Result<Option<u64>, (String, Exit)> {
    let say = |error: NatsError| (said(&error, language), exit_of(&error));
    let bus_url: BusUrl = bus.parse().map_err(say)?;
    let (sender, events) = channel();
    let inbox = Box::new(move |event| sender.send(event).is_ok());
    let mut bus = join(&bus_url, Role::Leads, Vec::new(), inbox).map_err(say)?;
    cluster::coordinator::seed_of_run(bus.as_mut(), &events, patience.as_duration())
        .map_err(|fault| (report::run_error(&fault.into(), language), Exit::System))
}

pub(crate) fn exit_of(error: &NatsError) -> Exit {
    if let NatsError::BusUrl { .. } = error { Exit::Usage } else { Exit::System }
}

/// The message of a bus error.
pub(crate) fn said(error: &NatsError, language: Language) -> String {
    let english = error.to_string();
    let chinese = match error {
        NatsError::BusUrl { given } => {
            format!(
                "'{given}' 不是总线地址；请写成 nats://主机:端口/名称（多个节点用逗号分隔），名称只含字母、数字、- 和 _；或 tls://主机:端口/名称?ca=文件&cert=文件&key=文件"
            )
        }
        NatsError::Tls { bus_url, reason } => {
            format!(
                "无法与总线 {bus_url} 建立 TLS：{}；请写成 tls://主机:端口/名称，主机须与其证书一致；系统不认识签发者时加 ?ca=文件，它要求客户端证书时加 &cert=文件&key=文件",
                report::in_chinese(reason)
            )
        }
        NatsError::Unreachable { bus_url, reason } => {
            format!("无法连接总线 {bus_url}：{}；那里有 nats-server 在运行吗？", report::in_chinese(reason))
        }
        NatsError::Rejected { bus_url, reason } => {
            format!("总线 {bus_url} 拒绝连接：{reason}；请在主机前写上用户名和密码，如 用户:密码@主机（@ 写成 %40）")
        }
        NatsError::Forbidden { bus_url, reason } => {
            format!(
                "总线 {bus_url} 不允许此操作：{reason}；工作进程的地址只供 onrush worker 加入一个集群，主控进程请使用主控的地址"
            )
        }
        NatsError::Old { bus_url, version } => format!("总线 {bus_url} 是 nats-server {version}；需要 2.11 或更新版本"),
        NatsError::Forgetful { bus_url, reason } => {
            format!("总线 {bus_url} 无法保存数据：{reason}；请为 nats-server 启用 JetStream（-js）并留出空间")
        }
        NatsError::System(error) => report::in_chinese(&error.to_string()),
    };
    language.pick(english, chinese)
}
