//! The limits of this machine, as a page and as JSON.

mod rows;

use driver::DriverSelection;
use host::{Change, Limit, LimitKind, Settings, Situation};
use serde_json::{Value, json};

use crate::format::{Align, count, counted, pad};
use crate::limits::{limit_figures, limit_name, remedies};
use crate::screen::Screen;

/// The result of a checkup.
#[derive(Clone, Debug)]
pub struct Checkup<'a> {
    /// The current settings.
    pub settings: &'a Settings,
    /// The kind of the connections.
    pub situation: Situation,
    /// The wanted number of connections, if given.
    pub wanted: Option<u64>,
    /// The limits of the connections, the tightest first.
    pub limits: &'a [Limit],
    /// The limits that settings can widen.
    pub changes: &'a [Change],
    /// The socket driver selected on this machine.
    pub driver: &'a DriverSelection,
}

impl Checkup<'_> {
    /// The number of connections that this machine carries; `None` where the system does not say.
    pub fn carries(&self) -> Option<u64> {
        self.limits.first().map(|limit| limit.connections)
    }

    /// Whether it carries the wanted number.
    pub fn is_enough(&self) -> bool {
        self.wanted.is_none_or(|wanted| self.carries().is_none_or(|carries| carries >= wanted))
    }

    /// The page, with a line end.
    pub fn text(&self, screen: &Screen) -> String {
        let language = screen.language;
        let mut page = rows::table(&self.rows(language), screen);
        page.push('\n');
        let side = match self.situation.is_server {
            true => language.pick("connections that it accepts", "作为服务端接受的连接"),
            false => language.pick("connections that it opens", "作为客户端发起的连接"),
        };
        rows::line(&mut page, 0, &language.pick(format!("What limits {side}:"), format!("{side}受限于：")), screen);
        for limit in self.limits {
            let (name, figures) =
                (limit_name(limit.kind, language), limit_figures(limit.kind, self.settings, language));
            let number = pad(&count(limit.connections), 14, Align::Right);
            let text = language.pick(format!("{name}: {figures}"), format!("{name}：{figures}"));
            rows::beside(&mut page, &format!("{number} "), &text, screen);
        }
        if let Some(tightest) = self.limits.first() {
            let said = counted(tightest.connections, "connection");
            let (carries, name) = (count(tightest.connections), limit_name(tightest.kind, language));
            let text = language.pick(
                format!("This machine carries {said}. The tightest limit: {name}."),
                format!("本机可承载 {carries} 个连接，瓶颈是{name}。"),
            );
            rows::line(&mut page, 0, &text, screen);
        }
        if let Some(wanted) = self.wanted {
            self.advice(wanted, &mut page, screen);
        }
        page
    }

    /// Whether the wanted number fits, and what to do when it does not.
    fn advice(&self, wanted: u64, page: &mut String, screen: &Screen) {
        let (language, requested) = (screen.language, count(wanted));
        if self.is_enough() && self.changes.is_empty() {
            return rows::line(
                page,
                0,
                &language.pick(format!("{requested} fit."), format!("{requested} 个没有问题。")),
                screen,
            );
        }
        page.push('\n');
        let title = match self.is_enough() {
            true => language
                .pick(format!("{requested} fit; worth changing:"), format!("{requested} 个可以承载；建议调整：")),
            false => language.pick(format!("For {requested}:"), format!("要承载 {requested} 个：")),
        };
        rows::line(page, 0, &title, screen);
        for limit in self.limits.iter().filter(|limit| limit.connections < wanted) {
            let name = limit_name(limit.kind, language);
            for remedy in remedies(limit.kind, self.settings, wanted, language) {
                rows::line(
                    page,
                    2,
                    &language.pick(format!("{name}, {}:", remedy.title), format!("{name}，{}：", remedy.title)),
                    screen,
                );
                // A command is copied unchanged.
                remedy.commands.iter().for_each(|command| page.push_str(&format!("    {command}\n")));
                if let Some(warning) = remedy.warning {
                    rows::line(page, 4, warning, screen);
                }
            }
        }
        if self.changes.is_empty() {
            return;
        }
        let title = language.pick("Settings for now (how to undo each in brackets):", "立即生效（括号内为撤销命令）：");
        rows::line(page, 0, title, screen);
        for change in self.changes {
            page.push_str(&format!("  {}   ({})\n", change.command(), change.undo()));
        }
        let title = language
            .pick("To keep them, in /etc/sysctl.d/90-onrush.conf:", "永久生效，写入 /etc/sysctl.d/90-onrush.conf：");
        rows::line(page, 0, title, screen);
        self.changes.iter().for_each(|change| page.push_str(&format!("  {}\n", change.line())));
    }

    /// The JSON, with a line end.
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
