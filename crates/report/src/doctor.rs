//! What this machine allows, as a page and as JSON.

use std::fmt::Write;

use driver::{Chosen, Kind};
use host::{Change, Limit, LimitKind, Settings, Situation};
use serde_json::{Value, json};

use crate::Language;
use crate::capacity::{limit_commands, limit_figures, limit_name};
use crate::format::{Align, bytes, count, pad};

/// What was looked at.
#[derive(Clone, Debug)]
pub struct Checkup<'a> {
    /// What holds now.
    pub settings: &'a Settings,
    /// What the connections are of.
    pub situation: Situation,
    /// How many are wanted, if somebody said so.
    pub wanted: Option<u64>,
    /// What bounds them, the narrowest first.
    pub limits: &'a [Limit],
    /// What can be widened by settings.
    pub changes: &'a [Change],
    /// What drives sockets here.
    pub driver: &'a Chosen,
}

/// A setting, its value, and what it means.
type Row = (&'static str, String, &'static str, &'static str);

const NAME_WIDTH: usize = 30;
const VALUE_WIDTH: usize = 26;

impl Checkup<'_> {
    /// Connections that this machine carries; `None` where the system does not say.
    pub fn carries(&self) -> Option<u64> {
        self.limits.first().map(|limit| limit.connections)
    }

    /// As many as are wanted.
    pub fn is_enough(&self) -> bool {
        self.wanted.is_none_or(|wanted| self.carries().is_none_or(|carries| carries >= wanted))
    }

    fn rows(&self) -> Vec<Row> {
        let all = self.settings;
        let known = |number: Option<u64>| {
            number.map_or(
                "-".to_owned(),
                |number| if number == u64::MAX { "unlimited".to_owned() } else { count(number) },
            )
        };
        let three = |numbers: Option<[u64; 3]>| {
            numbers.map_or("-".to_owned(), |numbers| numbers.map(|number| number.to_string()).join(" "))
        };
        let size = |number: Option<u64>| number.map_or("-".to_owned(), |number| bytes(number as f64));
        let ports = all.ports.map_or("-".to_owned(), |(first, last)| format!("{first}-{last}"));
        let (nofile_en, nofile_zh) = match self.driver.kind {
            Kind::Uring => (
                "onrush on io_uring needs none for a connection; most servers need one each",
                "onrush 使用 io_uring 时连接不占文件描述符；多数服务端每个连接占一个",
            ),
            Kind::Poll => ("one for each connection", "每个连接占一个"),
        };
        let mut rows: Vec<Row> = vec![
            ("nofile soft", known(all.nofile_soft), "raised to the hard one by onrush", "onrush 会提高到硬限制"),
            ("nofile hard", known(all.nofile_hard), nofile_en, nofile_zh),
            (
                "fs.nr_open",
                known(all.nr_open),
                "the most that nofile may be: a larger nofile in limits.conf locks people out at their next login",
                "nofile 的上限：limits.conf 中写得比它大，下次就无法登录",
            ),
            (
                "fs.file-max",
                known(all.file_max),
                "files of the whole machine; beyond it ENFILE, but not for root",
                "整机文件数；超过后返回 ENFILE，root 不受限",
            ),
            ("nproc", known(all.nproc), "threads of a user; connections need none", "用户的线程数；连接不占用"),
            (
                "ip_local_port_range",
                ports,
                "ports for each pair of a source address and a target port, not for the machine",
                "每一对（源地址，目标端口）的端口数，不是整机的",
            ),
            (
                "somaxconn",
                known(all.somaxconn),
                "cuts the accept queue that a server asks for; overflows show as slow connects",
                "限制服务端申请的 accept 队列；溢出表现为连接变慢",
            ),
            (
                "tcp_max_syn_backlog",
                known(all.syn_backlog),
                "matters only with tcp_syncookies = 0",
                "仅在 tcp_syncookies = 0 时有意义",
            ),
            (
                "tcp_syncookies",
                known(all.syncookies),
                "leave it on: without it a full queue drops connections",
                "保持开启：关闭后队列满时会丢弃连接",
            ),
            (
                "netdev_max_backlog",
                known(all.netdev_backlog),
                "packets that wait for a core (loopback too); not the ring of the network card",
                "等待 CPU 处理的包数（包括回环）；不是网卡队列",
            ),
            (
                "tcp_mem",
                three(all.tcp_mem),
                "pages of data that waits in buffers; idle connections take none",
                "缓冲区中等待的数据页数；空闲连接不占用",
            ),
            (
                "tcp_rmem",
                three(all.tcp_rmem),
                "the middle one is the default of TCP; smaller saves nothing on idle connections",
                "中间的值是 TCP 默认值；调小不会节省空闲连接的内存",
            ),
            ("tcp_wmem", three(all.tcp_wmem), "as tcp_rmem, for sending", "同 tcp_rmem，用于发送"),
            (
                "rmem_max / wmem_max",
                format!("{} / {}", known(all.rmem_max), known(all.wmem_max)),
                "only for programs that set their buffers themselves",
                "仅影响自行设置缓冲区的程序",
            ),
            ("optmem_max", known(all.optmem_max), "no bound for connections", "与连接数无关"),
            (
                "nf_conntrack",
                format!("{} / {}", known(all.conntrack_count), known(all.conntrack_max)),
                "when it is full, packets are dropped; '-' where nothing is tracked",
                "满了就丢包；'-' 表示没有启用",
            ),
            (
                "tcp_max_orphans",
                known(all.orphans_max),
                "beyond it closing connections are reset",
                "超过后正在关闭的连接会被重置",
            ),
            (
                "tcp_max_tw_buckets",
                known(all.tw_buckets_max),
                "beyond it TIME_WAIT is skipped; no queue",
                "超过后跳过 TIME_WAIT；不是队列",
            ),
            (
                "tcp_tw_reuse",
                known(all.tw_reuse),
                "for connections that this machine opens; 2: on loopback only",
                "仅用于本机发起的连接；2 表示仅回环",
            ),
            (
                "tcp_tw_recycle",
                if all.has_tw_recycle { "there" } else { "gone" }.to_owned(),
                "gone since Linux 4.12; it broke clients behind NAT",
                "Linux 4.12 起已移除；它会破坏 NAT 后的客户端",
            ),
            (
                "tcp_fin_timeout",
                known(all.fin_timeout),
                "does not shorten TIME_WAIT, which is always 60 s",
                "不会缩短 TIME_WAIT，它固定为 60 秒",
            ),
            (
                "tcp_keepalive",
                three(all.keepalive),
                "time, probes, interval; only of sockets that ask for it",
                "时间、次数、间隔；仅对主动启用的套接字有效",
            ),
            (
                "memory",
                format!("{} / {}", size(all.memory_available), size(all.memory_total)),
                "available / all, of the machine or the control group",
                "可用 / 总量，取整机与 cgroup 中较小者",
            ),
        ];
        let io_uring = match all.io_uring_disabled {
            Some(0) | None => self.driver.kind.name().to_owned(),
            Some(number) => format!("{} (io_uring_disabled={number})", self.driver.kind.name()),
        };
        rows.push(("io_uring", io_uring, "what drives sockets: uring or poll", "套接字驱动：uring 或 poll"));
        rows
    }

    /// The page, with a line end.
    pub fn text(&self, language: Language) -> String {
        let mut page = String::new();
        let mut line = |text: String| writeln!(page, "{text}").expect("writing to a string does not fail");
        for (name, value, en, zh) in self.rows() {
            let (name, value) = (pad(name, NAME_WIDTH, Align::Left), pad(&value, VALUE_WIDTH, Align::Left));
            line(format!("{name}{value} {}", language.pick(en, zh)));
        }
        line(String::new());
        let side = match self.situation.is_server {
            true => language.pick("connections that it accepts", "作为服务端接受的连接"),
            false => language.pick("connections that it opens", "作为客户端发起的连接"),
        };
        line(language.pick(format!("What bounds {side}:"), format!("{side}受限于：")));
        for limit in self.limits {
            let (name, figures) =
                (limit_name(limit.kind, language), limit_figures(limit.kind, self.settings, language));
            line(format!("  {} {name}: {figures}", pad(&count(limit.connections), 14, Align::Right)));
        }
        if let Some(narrowest) = self.limits.first() {
            let (carries, name) = (count(narrowest.connections), limit_name(narrowest.kind, language));
            line(language.pick(
                format!("This machine carries {carries} connections. The narrowest: {name}."),
                format!("本机可承载 {carries} 个连接。最窄处：{name}。"),
            ));
        }
        let Some(wanted) = self.wanted else { return page };
        let asked = count(wanted);
        if self.is_enough() && self.changes.is_empty() {
            line(language.pick(format!("{asked} fit."), format!("{asked} 个没有问题。")));
            return page;
        }
        line(String::new());
        line(match self.is_enough() {
            true => language.pick(format!("{asked} fit; worth changing:"), format!("{asked} 个可以承载；建议调整：")),
            false => language.pick(format!("For {asked}:"), format!("要承载 {asked} 个：")),
        });
        for limit in self.limits.iter().filter(|limit| limit.connections < wanted) {
            for command in limit_commands(limit.kind, self.settings, wanted, language) {
                line(format!("  {command}"));
            }
        }
        if !self.changes.is_empty() {
            line(language.pick("Settings for now (undo in brackets):", "立即生效（括号内为撤销）：").to_owned());
            for change in self.changes {
                line(format!("  {}   ({})", change.command(), change.undo()));
            }
            line(
                language
                    .pick("To stay, in /etc/sysctl.d/90-onrush.conf:", "永久生效，写入 /etc/sysctl.d/90-onrush.conf：")
                    .to_owned(),
            );
            for change in self.changes {
                line(format!("  {}", change.line()));
            }
        }
        page
    }

    /// The same for programs, with a line end.
    pub fn json(&self) -> String {
        let all = self.settings;
        let kind = |kind: LimitKind| match kind {
            LimitKind::Descriptors => "descriptors",
            LimitKind::SystemFiles => "system-files",
            LimitKind::Ports => "ports",
            LimitKind::Conntrack => "conntrack",
            LimitKind::Memory => "memory",
        };
        let limits: Vec<Value> = self
            .limits
            .iter()
            .map(|limit| json!({"kind": kind(limit.kind), "connections": limit.connections}))
            .collect();
        let changes: Vec<Value> = self
            .changes
            .iter()
            .map(|change| json!({"key": change.key, "value": change.value, "was": change.was}))
            .collect();
        let report = json!({
            "schema": 1,
            "kind": "doctor",
            "is_server": self.situation.is_server,
            "wanted": self.wanted,
            "carries": self.carries(),
            "narrowest": self.limits.first().map(|limit| kind(limit.kind)),
            "is_enough": self.is_enough(),
            "limits": limits,
            "changes": changes,
            "settings": {
                "nofile_soft": all.nofile_soft,
                "nofile_hard": all.nofile_hard,
                "nr_open": all.nr_open,
                "file_max": all.file_max,
                "files_open": all.files_open,
                "nproc": all.nproc,
                "ip_local_port_range": all.ports.map(|(first, last)| [first, last]),
                "ports_reserved": all.ports_reserved,
                "somaxconn": all.somaxconn,
                "tcp_max_syn_backlog": all.syn_backlog,
                "tcp_syncookies": all.syncookies,
                "netdev_max_backlog": all.netdev_backlog,
                "tcp_mem": all.tcp_mem,
                "tcp_rmem": all.tcp_rmem,
                "tcp_wmem": all.tcp_wmem,
                "rmem_max": all.rmem_max,
                "wmem_max": all.wmem_max,
                "optmem_max": all.optmem_max,
                "nf_conntrack_max": all.conntrack_max,
                "nf_conntrack_count": all.conntrack_count,
                "tcp_max_orphans": all.orphans_max,
                "tcp_max_tw_buckets": all.tw_buckets_max,
                "tcp_tw_reuse": all.tw_reuse,
                "has_tcp_tw_recycle": all.has_tw_recycle,
                "tcp_fin_timeout": all.fin_timeout,
                "tcp_keepalive": all.keepalive,
                "io_uring_disabled": all.io_uring_disabled,
                "driver": self.driver.kind.name(),
                "memory_total": all.memory_total,
                "memory_available": all.memory_available,
            },
        });
        format!("{report:#}\n")
    }
}
