//! The settings of the machine, one per row, and their meanings.

use driver::Kind;
use unicode_width::UnicodeWidthStr;

use super::Checkup;
use crate::Language;
use crate::format::{Align, bytes, count, pad};
use crate::screen::Screen;
use crate::wrap::wrap;

/// A setting, its value, and its meaning.
pub(super) type Row = (&'static str, String, &'static str, &'static str);

/// With less room beside a setting, its meaning is printed below it.
const MEANING_WIDTH_MIN: usize = 30;
const INDENT: usize = 4;

/// All rows, in columns.
pub(super) fn table(rows: &[Row], screen: &Screen) -> String {
    let widest = |of: fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0) + 2;
    let (names, values) = (widest(|row| row.0.width()), widest(|row| row.1.width()));
    let mut page = String::new();
    for (name, value, en, zh) in rows {
        let meaning = screen.language.pick(*en, *zh);
        let head = format!("{}{}", pad(name, names, Align::Left), pad(value, values, Align::Left));
        if screen.columns().is_none_or(|columns| columns >= names + values + MEANING_WIDTH_MIN) {
            beside(&mut page, &head, meaning, screen);
        } else {
            page.push_str(&format!("{}\n", head.trim_end()));
            line(&mut page, INDENT, meaning, screen);
        }
    }
    page
}

/// A text that wraps beside a head.
pub(super) fn beside(page: &mut String, head: &str, text: &str, screen: &Screen) {
    let lines = match screen.columns() {
        Some(columns) => wrap(text, columns.saturating_sub(head.width())),
        None => vec![text.to_owned()],
    };
    let blank = " ".repeat(head.width());
    for (number, line) in lines.iter().enumerate() {
        page.push_str(&format!("{}{line}\n", if number == 0 { head } else { &blank }));
    }
}

/// An indented text, on as many lines as it needs.
pub(super) fn line(page: &mut String, indent: usize, text: &str, screen: &Screen) {
    let lines = match screen.columns() {
        Some(columns) => wrap(text, columns.saturating_sub(indent)),
        None => vec![text.to_owned()],
    };
    lines.iter().for_each(|line| page.push_str(&format!("{}{line}\n", " ".repeat(indent))));
}

impl Checkup<'_> {
    /// All settings.
    #[expect(clippy::too_many_lines, reason = "a table: one row for each setting")]
    pub(super) fn rows(&self, language: Language) -> Vec<Row> {
        let all = self.settings;
        let known = |number: Option<u64>| {
            number.map_or("-".to_owned(), |number| {
                if number == u64::MAX { language.pick("unlimited", "不限").to_owned() } else { count(number) }
            })
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
            (
                language.pick("nofile soft", "nofile 软限制"),
                known(all.nofile_soft),
                "onrush raises it to the hard limit",
                "onrush 会提高到硬限制",
            ),
            (language.pick("nofile hard", "nofile 硬限制"), known(all.nofile_hard), nofile_en, nofile_zh),
            (
                "fs.nr_open",
                known(all.nr_open),
                "the maximum for nofile: a larger nofile in limits.conf locks people out at their next login",
                "nofile 的上限：limits.conf 中写得比它大，下次就无法登录",
            ),
            (
                "fs.file-max",
                known(all.file_max),
                "open files of the whole machine; beyond it ENFILE, except for root",
                "整机文件数；超过后返回 ENFILE，root 不受限",
            ),
            ("nproc", known(all.nproc), "threads per user; connections need none", "用户的线程数；连接不占用"),
            (
                "ip_local_port_range",
                ports,
                "ports per pair of source address and target port, not per machine",
                "每个（源地址，目标地址，目标端口）组合的端口数，不是整机的",
            ),
            (
                "somaxconn",
                known(all.somaxconn),
                "caps the accept queue of a server; overflows show as slow connects",
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
                "keep it on: without it a full queue drops connections",
                "保持开启：关闭后队列满时会丢弃连接",
            ),
            (
                "netdev_max_backlog",
                known(all.netdev_backlog),
                "packets waiting for a core (loopback too); not the ring of the network card",
                "等待 CPU 处理的包数（包括回环）；不是网卡队列",
            ),
            (
                "tcp_mem",
                three(all.tcp_mem),
                "pages of data waiting in buffers; idle connections use none",
                "缓冲区中等待的数据页数；空闲连接不占用",
            ),
            (
                "tcp_rmem",
                three(all.tcp_rmem),
                "the middle value is the TCP default; a smaller one saves nothing on idle connections",
                "中间的值是 TCP 默认值；调小不会节省空闲连接的内存",
            ),
            ("tcp_wmem", three(all.tcp_wmem), "like tcp_rmem, for sending", "同 tcp_rmem，用于发送"),
            (
                "rmem_max / wmem_max",
                format!("{} / {}", known(all.rmem_max), known(all.wmem_max)),
                "only for programs that set their own buffers",
                "仅影响自行设置缓冲区的程序",
            ),
            ("optmem_max", known(all.optmem_max), "does not limit connections", "与连接数无关"),
            (
                "nf_conntrack",
                format!("{} / {}", known(all.conntrack_count), known(all.conntrack_max)),
                "when full, packets are dropped; '-' if nothing is tracked",
                "满了就丢包；'-' 表示没有启用",
            ),
            (
                "tcp_max_orphans",
                known(all.orphans_max),
                "beyond it, closing connections are reset",
                "超过后正在关闭的连接会被重置",
            ),
            (
                "tcp_max_tw_buckets",
                known(all.tw_buckets_max),
                "beyond it, TIME_WAIT is skipped; not a queue",
                "超过后跳过 TIME_WAIT，不会阻塞；不是队列",
            ),
            (
                "tcp_tw_reuse",
                known(all.tw_reuse),
                "for outgoing connections; 2: on loopback only",
                "仅用于本机发起的连接；2 表示仅回环",
            ),
            (
                "tcp_tw_recycle",
                if all.has_tw_recycle { language.pick("there", "存在") } else { language.pick("gone", "已移除") }
                    .to_owned(),
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
                "time, probes, interval; only for sockets that enable it",
                "时间、次数、间隔；仅对主动启用的套接字有效",
            ),
            (
                language.pick("memory", "内存"),
                format!("{} / {}", size(all.memory_available), size(all.memory_total)),
                "available / total, of the machine or the control group",
                "可用 / 总量，取整机与 cgroup 中较小者",
            ),
        ];
        let io_uring = match all.io_uring_disabled {
            Some(0) | None => self.driver.kind.name().to_owned(),
            Some(number) => format!("{} (io_uring_disabled={number})", self.driver.kind.name()),
        };
        rows.push(("io_uring", io_uring, "how sockets are driven: uring or poll", "网络 I/O 后端：uring 或 poll"));
        rows
    }
}
