//! `--cluster BUS` and `worker --join nats://...`: one load from many machines, on a bus of NATS.

use std::sync::Arc;

use cluster::Setting;
use cluster::nats::{NatsError, Site, join};
use cluster::team::Workers;
use engine::Team;
use pacing::Nanos;
use report::Language;

use crate::exit::Exit;

/// Workers may still be started by hand, or by others: they are waited for.
const PATIENCE: Nanos = Nanos::from_millis(60_000);
/// Who leads is known to be gone after this.
const TTL: Nanos = Nanos::from_millis(3_000);
/// A worker that reaches nobody starts nothing more after this.
const LEASE: Nanos = Nanos::from_millis(5_000);
/// What was kept while the bus could not be reached is waited for.
const LATE_NEWS: Nanos = Nanos::from_millis(15_000);
/// From the moment when all are ready to the start.
const START_LEAD: Nanos = Nanos::from_millis(2_000);

/// The workers on a bus, led from here, as those of one machine are but for what takes longer between machines.
pub(crate) fn team(bus: &str, setting: Setting, language: Language) -> Result<Arc<dyn Team>, (String, Exit)> {
    let say = |error: NatsError| (said(&error, language), exit_of(&error));
    let site: Site = bus.parse().map_err(say)?;
    let setting = Setting {
        patience: PATIENCE,
        ttl: TTL,
        lease: LEASE,
        late_news: LATE_NEWS,
        closed_is_gone: false,
        start_lead: START_LEAD,
        ..setting
    };
    let workers = Workers::lead(setting, Box::new(|| None), |subjects, inbox| join(&site, subjects, inbox));
    Ok(Arc::new(workers.map_err(say)?))
}

pub(crate) fn exit_of(error: &NatsError) -> Exit {
    if let NatsError::Site { .. } = error { Exit::Usage } else { Exit::System }
}

/// Why there is no bus, in words.
pub(crate) fn said(error: &NatsError, language: Language) -> String {
    let english = error.to_string();
    let chinese = match error {
        NatsError::Site { given } => {
            format!("'{given}' 不是总线地址；请写成 nats://主机:端口/名称，名称只含字母、数字、- 和 _")
        }
        NatsError::Unreachable { site, reason } => {
            format!("无法连接总线 {site}：{}；那里有 nats-server 在运行吗？", report::in_chinese(reason))
        }
        NatsError::Rejected { site, reason } => {
            format!("总线 {site} 拒绝连接：{reason}；请给出用户名和密码：nats://用户:密码@主机:端口")
        }
        NatsError::Old { site, version } => format!("总线 {site} 是 nats-server {version}；需要 2.11 或更新版本"),
        NatsError::Forgetful { site, reason } => {
            format!("总线 {site} 无法保存数据：{reason}；请为 nats-server 启用 JetStream（-js）并留出空间")
        }
        NatsError::System(error) => report::in_chinese(&error.to_string()),
    };
    language.pick(english, chinese)
}
