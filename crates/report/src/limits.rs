//! The limits of this machine in words, and how to widen them.

use host::{Limit, LimitKind, Settings};

use crate::Language;
use crate::format::{bytes, count};

/// The name of a limit.
pub(crate) fn limit_name(kind: LimitKind, language: Language) -> &'static str {
    match kind {
        LimitKind::Descriptors => language.pick("open files of a process (nofile)", "进程可打开的文件数（nofile）"),
        LimitKind::SystemFiles => {
            language.pick("open files of the machine (fs.file-max)", "整机可打开的文件数（fs.file-max）")
        }
        LimitKind::Ports => language.pick("local ports (ip_local_port_range)", "本地端口（ip_local_port_range）"),
        LimitKind::Conntrack => language.pick("tracked connections (nf_conntrack_max)", "连接跟踪（nf_conntrack_max）"),
        LimitKind::Memory => language.pick("memory", "内存"),
    }
}

/// The figures of a limit.
pub(crate) fn limit_figures(kind: LimitKind, settings: &Settings, language: Language) -> String {
    let known = |number: Option<u64>| number.map_or("-".to_owned(), count);
    match kind {
        LimitKind::Descriptors => {
            let (soft, hard) = (known(settings.nofile_soft), known(settings.nofile_hard));
            language.pick(format!("soft {soft}, hard {hard}"), format!("软限制 {soft}，硬限制 {hard}"))
        }
        LimitKind::SystemFiles => {
            let (most, open) = (known(settings.file_max), known(settings.files_open));
            language.pick(format!("{most}, of which {open} are open"), format!("{most}，已打开 {open}"))
        }
        LimitKind::Ports => {
            let (first, last) = settings.ports.unwrap_or_default();
            let each = known(settings.ports_each());
            language.pick(
                format!("{first} to {last}: {each} for each pair of addresses"),
                format!("{first} 到 {last}：每对地址 {each} 个"),
            )
        }
        LimitKind::Conntrack => {
            let (most, used) = (known(settings.conntrack_max), known(settings.conntrack_count));
            language.pick(format!("{most}, of which {used} are taken"), format!("{most}，已用 {used}"))
        }
        LimitKind::Memory => {
            let size = |number: Option<u64>| number.map_or("-".to_owned(), |number| bytes(number as f64));
            let (available, total) = (size(settings.memory_available), size(settings.memory_total));
            language.pick(format!("{available} of {total} available"), format!("{total} 中可用 {available}"))
        }
    }
}

/// A remedy that widens a limit.
pub(crate) struct Remedy {
    /// Whether all of the commands are needed, or one of them.
    pub(crate) title: &'static str,
    pub(crate) commands: Vec<String>,
    /// A risk of the remedy.
    pub(crate) warning: Option<&'static str>,
}

/// Remedies that widen it for `wanted` connections, the quickest first.
pub(crate) fn remedies(kind: LimitKind, settings: &Settings, wanted: u64, language: Language) -> Vec<Remedy> {
    let with_room = wanted.saturating_add(wanted / 10).saturating_add(1_000);
    let one = language.pick("run", "执行");
    let any = language.pick("any one of these", "以下任选其一");
    let plain = |title, commands| Remedy { title, commands, warning: None };
    match kind {
        LimitKind::Descriptors => descriptors(settings, with_room, language),
        LimitKind::SystemFiles => {
            let most = with_room.saturating_add(settings.files_open.unwrap_or(0));
            vec![plain(one, vec![format!("sysctl -w fs.file-max={most}")])]
        }
        LimitKind::Ports => vec![Remedy {
            title: any,
            commands: vec![
                "sysctl -w net.ipv4.ip_local_port_range='1024 65535'".to_owned(),
                language
                    .pick(
                        "more addresses of this machine: --source-ip 10.0.0.2-10.0.0.9 (or auto)",
                        "使用更多本机地址：--source-ip 10.0.0.2-10.0.0.9（或 auto）",
                    )
                    .to_owned(),
                language
                    .pick("more ports of the target: --connect-addresses :8001-8016", "使用更多目标端口：--connect-addresses :8001-8016")
                    .to_owned(),
            ],
            warning: Some(language.pick(
                "careful: servers on this machine that listen on a port of the wider range may find it taken; list their ports in net.ipv4.ip_local_reserved_ports first",
                "注意：本机服务监听的端口若落入新范围，可能被占用；请先把这些端口写入 net.ipv4.ip_local_reserved_ports",
            )),
        }],
        LimitKind::Conntrack => vec![plain(
            any,
            vec![
                format!("sysctl -w net.netfilter.nf_conntrack_max={with_room}"),
                "iptables -t raw -A PREROUTING -p tcp -j NOTRACK".to_owned(),
            ],
        )],
        LimitKind::Memory => vec![plain(
            any,
            vec![
                language
                    .pick("another machine for a part of the connections", "把一部分连接放到另一台机器上")
                    .to_owned(),
                language.pick("less memory for other programs here", "减少本机其他程序的内存占用").to_owned(),
            ],
        )],
    }
}

fn descriptors(settings: &Settings, with_room: u64, language: Language) -> Vec<Remedy> {
    let mut all = Vec::new();
    if settings.nr_open.is_some_and(|most| most < with_room) {
        all.push(Remedy {
            title: language.pick("first", "首先"),
            commands: vec![format!("sysctl -w fs.nr_open={with_room}")],
            warning: None,
        });
    }
    all.push(Remedy {
        title: language.pick("one of these, by how the program is started", "按程序的启动方式，任选其一"),
        commands: vec![
            format!("ulimit -n {with_room}"),
            format!("/etc/security/limits.conf: * hard nofile {with_room}"),
            format!("systemd: LimitNOFILE={with_room}"),
            format!("docker run --ulimit nofile={with_room}:{with_room}"),
        ],
        warning: Some(language.pick(
            "careful: a nofile in limits.conf above fs.nr_open locks people out at their next login; fs.nr_open must stay as large after a reboot",
            "注意：limits.conf 中的 nofile 若大于 fs.nr_open，下次将无法登录；重启后 fs.nr_open 也须保持足够大",
        )),
    });
    all
}

/// A line before a run that requests more than this machine carries.
pub fn limit_warning(limit: &Limit, settings: &Settings, wanted: u64, language: Language) -> String {
    let (name, figures) = (limit_name(limit.kind, language), limit_figures(limit.kind, settings, language));
    let remedies = remedies(limit.kind, settings, wanted, language);
    let command = remedies.into_iter().flat_map(|remedy| remedy.commands).next().unwrap_or_default();
    let (carried, requested) = (count(limit.connections), count(wanted));
    language.pick(
        format!("this machine carries about {carried} of the {requested} connections: {name}: {figures}; widen it: {command} (other ways and what to mind: onrush doctor -c {wanted})"),
        format!("本机大约只能承载 {requested} 个连接中的 {carried} 个：{name}：{figures}；放宽：{command}（其他办法和注意事项：onrush doctor -c {wanted}）"),
    )
}
