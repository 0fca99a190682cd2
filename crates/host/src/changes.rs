//! Kernel settings that can be raised, and restored.

use crate::capacity::{LimitKind, Settings, Situation, limits};

/// Ports below this range belong to listeners.
const PORTS_WIDE: &str = "1024 65535";
/// An accept queue that is long enough for any burst of connections.
const QUEUE_WIDE: u64 = 65_535;
/// Number of connections from which the queues of a server matter.
const MANY: u64 = 10_000;

/// A change of a kernel setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name for sysctl.
    pub key: &'static str,
    /// The new value.
    pub value: String,
    /// The old value.
    pub was: String,
}

impl Change {
    fn new(key: &'static str, value: impl ToString) -> Self {
        let was = std::fs::read_to_string(path_of(key)).unwrap_or_default();
        let was = was.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { key, value: value.to_string(), was }
    }

    /// The command that applies it.
    pub fn command(&self) -> String {
        format!("sysctl -w {}='{}'", self.key, self.value)
    }

    /// The line of a file in /etc/sysctl.d that makes it permanent.
    pub fn line(&self) -> String {
        format!("{} = {}", self.key, self.value)
    }

    /// The command that reverts it.
    pub fn undo(&self) -> String {
        format!("sysctl -w {}='{}'", self.key, self.was)
    }

    /// Applies the change.
    ///
    /// # Errors
    /// The system refuses.
    pub fn apply(&self) -> Result<(), std::io::Error> {
        std::fs::write(path_of(self.key), format!("{}\n", self.value))
    }
}

fn path_of(key: &str) -> String {
    format!("/proc/sys/{}", key.replace('.', "/"))
}

/// The changes that `wanted` connections need.
pub fn changes(settings: &Settings, situation: Situation, wanted: u64) -> Vec<Change> {
    let with_room = wanted.saturating_add(wanted / 10).saturating_add(1_000);
    let mut all = Vec::new();
    for limit in limits(settings, situation).iter().filter(|limit| limit.connections < wanted) {
        match limit.kind {
            LimitKind::Ports => all.push(Change::new("net.ipv4.ip_local_port_range", PORTS_WIDE)),
            LimitKind::SystemFiles => {
                let open = settings.files_open.unwrap_or(0);
                all.push(Change::new("fs.file-max", with_room.saturating_mul(2).saturating_add(open)));
            }
            LimitKind::Conntrack => {
                let used = settings.conntrack_count.unwrap_or(0);
                all.push(Change::new("net.netfilter.nf_conntrack_max", with_room.saturating_add(used)));
            }
            LimitKind::Descriptors if settings.nr_open.is_some_and(|most| most < with_room) => {
                all.push(Change::new("fs.nr_open", with_room));
            }
            LimitKind::Descriptors | LimitKind::Memory => {}
        }
    }
    all.retain(|change| change.was != change.value);
    let is_below = |setting: Option<u64>, wanted: u64| setting.is_some_and(|setting| setting < wanted);
    if situation.is_server && wanted >= MANY {
        if is_below(settings.somaxconn, QUEUE_WIDE) {
            all.push(Change::new("net.core.somaxconn", QUEUE_WIDE));
        }
        if settings.syncookies == Some(0) && is_below(settings.syn_backlog, QUEUE_WIDE) {
            all.push(Change::new("net.ipv4.tcp_max_syn_backlog", QUEUE_WIDE));
        }
    }
    if is_below(settings.orphans_max, wanted) {
        all.push(Change::new("net.ipv4.tcp_max_orphans", with_room));
    }
    // Not tcp_max_tw_buckets: above it TIME_WAIT is skipped, and nothing waits or fails.
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_those_that_are_needed() {
        let settings = Settings {
            ports: Some((32_768, 60_999)),
            somaxconn: Some(4_096),
            syncookies: Some(1),
            orphans_max: Some(131_072),
            tw_buckets_max: Some(131_072),
            nofile_hard: Some(1_024),
            nr_open: Some(1_048_576),
            is_root: true,
            ..Settings::default()
        };
        let client = Situation { is_server: false, takes_descriptors: true, has_both_ends: false, pairs: 1 };
        let keys = |situation, wanted| -> Vec<&str> {
            changes(&settings, situation, wanted).iter().map(|one| one.key).collect()
        };
        assert_eq!(keys(client, 1_000), Vec::<&str>::new());
        assert_eq!(keys(client, 30_000), ["net.ipv4.ip_local_port_range"]);
        let server = Situation { is_server: true, ..client };
        assert_eq!(keys(server, 30_000), ["net.core.somaxconn"]);
        let million = ["fs.nr_open", "net.core.somaxconn", "net.ipv4.tcp_max_orphans"];
        assert_eq!(keys(server, 1_000_000), million);
        let key = |change: &Change| change.key;
        let least = Settings {
            ports: Some((60_000, 60_999)),
            somaxconn: Some(1),
            syn_backlog: Some(1),
            syncookies: Some(0),
            orphans_max: Some(1),
            tw_buckets_max: Some(1),
            fin_timeout: Some(600),
            tw_reuse: Some(0),
            netdev_backlog: Some(1),
            rmem_max: Some(1),
            wmem_max: Some(1),
            optmem_max: Some(1),
            tcp_mem: Some([1, 1, 1]),
            tcp_rmem: Some([1, 1, 1]),
            tcp_wmem: Some([1, 1, 1]),
            file_max: Some(1),
            files_open: Some(1),
            conntrack_max: Some(1),
            conntrack_count: Some(1),
            is_root: false,
            ..settings.clone()
        };
        // What the table of doctor calls of no effect on the number of connections is never advised.
        let useful = [
            "net.ipv4.ip_local_port_range",
            "fs.file-max",
            "net.netfilter.nf_conntrack_max",
            "fs.nr_open",
            "net.core.somaxconn",
            "net.ipv4.tcp_max_syn_backlog",
            "net.ipv4.tcp_max_orphans",
        ];
        let mut advised = std::collections::BTreeSet::new();
        for (is_server, takes_descriptors, has_both_ends) in
            [(false, false, false), (false, true, true), (true, false, true), (true, true, false), (true, true, true)]
        {
            for wanted in [1, 1_000, 30_000, 1_000_000, u64::from(u32::MAX)] {
                let situation = Situation { is_server, takes_descriptors, has_both_ends, pairs: 1 };
                advised.extend(changes(&least, situation, wanted).iter().map(key));
            }
        }
        assert!(advised.iter().all(|key| useful.contains(key)), "{advised:?}");
        assert_eq!(advised.len(), useful.len(), "{advised:?}");
        let change = Change { key: "net.core.somaxconn", value: "9".to_owned(), was: "4".to_owned() };
        assert_eq!(change.command(), "sysctl -w net.core.somaxconn='9'");
        assert_eq!(change.undo(), "sysctl -w net.core.somaxconn='4'");
        assert_eq!(change.line(), "net.core.somaxconn = 9");
    }
}
