//! Notes about a load in both languages: the limit, its figure, and the command that helps.

mod names;
#[cfg(test)]
mod tests;

use figures::Note;

use crate::Language;
use crate::format::count;

/// The text of a note while the load runs: its counts may still grow.
pub fn note_so_far(note: &Note, language: Language) -> String {
    let text = note_text(note, language);
    match note {
        Note::Refused { .. } | Note::Descriptors { .. } | Note::ServerLimit { .. } => {
            language.pick(format!("so far: {text}"), format!("截至目前：{text}"))
        }
        Note::LocalPorts { .. } | Note::AcceptQueue { .. } | Note::DelayedAcks { .. } | Note::SpeaksTls => text,
        Note::UsersLeft { .. } | Note::UsersWithoutStop { .. } => text,
        Note::AddressesChanged { .. } | Note::AddressesRefused(_) => text,
        Note::LookupsFailed(_) | Note::OneOfAddresses(_) => text,
    }
}

/// The text of a note.
pub fn note_text(note: &Note, language: Language) -> String {
    let (en, zh) = match note {
        Note::LocalPorts { address, ports } => {
            let (in_use, all, waiting) = (count(ports.in_use), count(ports.all), count(ports.time_wait));
            (
                format!(
                    "{in_use} of {all} ports to {address} are in use, {waiting} of them in TIME_WAIT; widen them with sysctl -w net.ipv4.ip_local_port_range='1024 65535', or keep connections alive"
                ),
                format!(
                    "到 {address} 的 {all} 个本地端口已用 {in_use} 个，其中 {waiting} 个处于 TIME_WAIT；可用 sysctl -w net.ipv4.ip_local_port_range='1024 65535' 扩大范围，或使用长连接"
                ),
            )
        }
        Note::Descriptors { limit, without } => {
            let (limit, without) = (count(*limit), count(*without));
            (
                format!(
                    "all {limit} file descriptors of this process were in use, and {without} connections got none; raise the limit with ulimit -n, use --driver uring where io_uring works, or lower -c"
                ),
                format!(
                    "本进程允许的 {limit} 个文件描述符已全部用完，{without} 个连接因此失败；请用 ulimit -n 调大上限，在支持 io_uring 的系统上使用 --driver uring，或调小 -c"
                ),
            )
        }
        Note::Refused { .. } => return refused(note, language),
        Note::SpeaksTls => (
            "the port speaks TLS, and was asked without it; write https:// (wss://, grpcs://)".to_owned(),
            "该端口使用 TLS，而请求没有加密；请写 https://（wss://、grpcs://）".to_owned(),
        ),
        Note::AcceptQueue { .. } => return accept_queue(note, language),
        Note::DelayedAcks { waited, of } => {
            let (waited, of) = (count(*waited), count(*of));
            (
                format!(
                    "{waited} of {of} responses took 40 to 48 ms and hardly any a little less or more: delayed acknowledgements of TCP, for which a server waits that writes its answer in pieces; set TCP_NODELAY there, or write head and body at once"
                ),
                format!(
                    "{of} 个响应中有 {waited} 个用了 40 至 48 ms，而稍短或稍长的几乎没有：这是 TCP 的延迟确认，服务端分几次写出响应时会等待它；请在服务端设置 TCP_NODELAY，或一次写出响应头和响应体"
                ),
            )
        }
        Note::UsersLeft { .. } | Note::UsersWithoutStop { .. } => return users_gone(note, language),
        Note::AddressesChanged { name, unused, established } => {
            return names::moved(name, unused, *established, language);
        }
        Note::AddressesRefused(name) => return names::refused(name, language),
        Note::LookupsFailed(name) => return names::failed(name, language),
        Note::OneOfAddresses(name) => return names::one_of_several(name, language),
        Note::ServerLimit { cut, open } => {
            let (cut, open) = (count(*cut), count(*open));
            (
                format!(
                    "the server dropped {cut} new connections without a byte while {open} others stayed open: this looks like its own limit of about {open} (ulimit -n of the server, worker_connections of nginx)"
                ),
                format!(
                    "服务端未返回任何数据就断开了 {cut} 个新连接，而另外 {open} 个一直保持：很可能是服务端约 {open} 个连接的上限（服务端的 ulimit -n，或 nginx 的 worker_connections）"
                ),
            )
        }
    };
    language.pick(en, zh)
}

/// New connections were refused, by one address or at several places.
fn refused(note: &Note, language: Language) -> String {
    let (en, zh) = match note {
        Note::Refused { address, count: refused, places } if places.is_empty() => {
            let refused = count(*refused);
            (
                format!(
                    "{address} refused {refused} new connections after it had taken others: it stopped listening, or its accept queue is full and it rejects at once (net.ipv4.tcp_abort_on_overflow)"
                ),
                format!(
                    "{address} 在接受过连接之后又拒绝了 {refused} 个新连接：服务已停止监听，或其 accept 队列已满并直接拒绝（net.ipv4.tcp_abort_on_overflow）"
                ),
            )
        }
        Note::Refused { count: refused, places, .. } => {
            let (refused, places) = (count(*refused), places.join(language.pick(", ", "、")));
            (
                format!(
                    "{refused} new connections were refused by {places}: nobody listens there, or the accept queue is full"
                ),
                format!("{refused} 个新连接被 {places} 拒绝：该处没有服务在监听，或其 accept 队列已满"),
            )
        }
        _ => return String::new(),
    };
    language.pick(en, zh)
}

/// Users left before the load was over, or skipped their `on_stop` steps.
fn users_gone(note: &Note, language: Language) -> String {
    match note {
        Note::UsersLeft { left, of: Some(all) } => {
            let (left, all) = (count(*left), count(*all));
            language.pick(
                format!(
                    "{left} of {all} users left, since a step of theirs failed that says on_failure: stop_user; the load went on without them. To keep them, let that step say on_failure: next_iteration"
                ),
                format!(
                    "{all} 个用户中有 {left} 个因步骤失败而退出（该步骤写了 on_failure: stop_user），之后的负载不再包含他们。如需保留这些用户，请在该步骤写 on_failure: next_iteration"
                ),
            )
        }
        Note::UsersLeft { left, .. } => {
            let left = count(*left);
            language.pick(
                format!(
                    "{left} times a user left, since a step failed that says on_failure: stop_user; under a rate another user took the place of each. To keep them, let that step say on_failure: next_iteration"
                ),
                format!(
                    "用户因步骤失败而退出共 {left} 次（该步骤写了 on_failure: stop_user）；固定速率时由新用户接替。如需保留这些用户，请在该步骤写 on_failure: next_iteration"
                ),
            )
        }
        Note::UsersWithoutStop { users, of } => {
            let of = |between: &str| of.map_or(String::new(), |of| format!("{between}{}", count(of)));
            let users = count(*users);
            language.pick(
                format!(
                    "on_stop was not done for {users}{} users: the budget had no request left for it, or there was no time. Raise requests= in the budget, bound the load with iterations, or raise stop_within in the file",
                    of(" of ")
                ),
                format!(
                    "{users}{} 个用户没有执行 on_stop 中的步骤：请求数已达用量上限，或时间不够。请调大 budget 中的 requests=，改用 iterations 限制负载，或调大文件中的 stop_within",
                    of(" / ")
                ),
            )
        }
        _ => String::new(),
    }
}

/// Connections took longer than the time after which the kernel resends a SYN.
fn accept_queue(note: &Note, language: Language) -> String {
    let Note::AcceptQueue { address, slow, timed_out, overflows, backlog_max } = note else { return String::new() };
    let (slow, failed) = (count(*slow), count(*timed_out));
    let (where_en, where_zh) = match address {
        None => ("one of the targets".to_owned(), "其中一个目标".to_owned()),
        Some(address) => (address.to_string(), address.to_string()),
    };
    let (seen_en, seen_zh) = match *overflows {
        0 => (String::new(), String::new()),
        overflows => {
            let overflows = count(overflows);
            (
                format!(" ({overflows} overflows of accept queues on this machine)"),
                format!("（本机 accept 队列溢出 {overflows} 次）"),
            )
        }
    };
    let now = backlog_max.map_or(String::new(), |limit| format!(" (net.core.somaxconn {limit})"));
    language.pick(
        format!(
            "of the new connections {slow} took more than 1 s and {failed} were not established in time: {where_en} does not accept fast enough, and its accept queue is full{seen_en}; raise the backlog of the server and sysctl -w net.core.somaxconn=65535 there{now}, or open them more slowly with --ramp"
        ),
        format!(
            "新连接中有 {slow} 个用了 1 秒以上，{failed} 个未能按时建立：{where_zh} 接受连接不够快，accept 队列已满{seen_zh}；请在服务端调大 backlog 并执行 sysctl -w net.core.somaxconn=65535{now}，或用 --ramp 放慢建立连接的速度"
        ),
    )
}
