//! A freeradius on free ports, which ends with the value.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::seen::wait_for;
use crate::{ChildGuard, Folder, closed_port};

/// What it shares with its clients.
pub(super) const SECRET: &str = "s~3cr3t";

const CONFIG: &str = r#"
prefix = /usr
libdir = /usr/lib/freeradius
name = radiusd
run_dir = DIR
logdir = DIR
cleanup_delay = 5
max_requests = 65536
hostname_lookups = no
proxy_requests = no
security {
  max_attributes = 200
  reject_delay = 0
  status_server = no
}
log {
  destination = files
  file = DIR/log
}
thread pool {
  start_servers = 2
  max_servers = 2
  min_spare_servers = 1
  max_spare_servers = 2
  max_requests_per_server = 0
  max_queue_size = 65536
}
client local {
  ipaddr = 127.0.0.1
  secret = SECRET
  require_message_authenticator = yes
}
modules {
  pap { }
  chap { }
  files {
    filename = DIR/users
  }
  detail requested {
    filename = DIR/requested
    header = "%t"
  }
  detail accepted {
    filename = DIR/accepted
    header = "%t"
  }
  detail rejected {
    filename = DIR/rejected
    header = "%t"
  }
  detail accounting {
    filename = DIR/accounting
    header = "%t"
  }
}
server default {
  listen {
    type = auth
    ipaddr = 127.0.0.1
    port = AUTH
    recv_buff = 1048576
  }
  listen {
    type = acct
    ipaddr = 127.0.0.1
    port = ACCT
    recv_buff = 1048576
  }
  authorize {
    requested
    chap
    files
    pap
  }
  authenticate {
    Auth-Type PAP {
      pap
    }
    Auth-Type CHAP {
      chap
    }
  }
  post-auth {
    accepted
    Post-Auth-Type REJECT {
      rejected
    }
  }
  preacct {
  }
  accounting {
    accounting
  }
}
server control {
  listen {
    type = control
    socket = DIR/control
    mode = rw
  }
}
"#;

/// The attributes of a packet, by their names.
pub(super) type Record = BTreeMap<String, String>;

/// The server.
pub(super) struct FreeRadius {
    _child: ChildGuard,
    folder: Folder,
    pub(super) auth_port: u16,
    acct_port: u16,
}

impl FreeRadius {
    /// `users`: names and passwords.
    pub(super) fn start(users: &[(&str, &str)]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let folder = Folder::new(&format!("radius-server-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let (auth_port, acct_port) = (closed_port(), closed_port());
        let config = CONFIG.replace("DIR", &folder.0.display().to_string()).replace("SECRET", SECRET);
        let config = config.replace("AUTH", &auth_port.to_string()).replace("ACCT", &acct_port.to_string());
        folder.file("radiusd.conf", config);
        let line = |(name, password): &(&str, &str)| {
            format!("{name} Cleartext-Password := \"{password}\"\n\tReply-Message = \"welcome {name}\"\n")
        };
        folder.file("users", users.iter().map(line).collect::<String>());
        let mut command = Command::new("/usr/sbin/freeradius");
        command.args(["-f", "-d", &folder.0.display().to_string()]);
        let child = ChildGuard::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let server = Self { _child: child, folder, auth_port, acct_port };
        let log = server.folder.path("log");
        wait_for("freeradius is ready", || {
            std::fs::read_to_string(&log).is_ok_and(|log| log.contains("Ready to process requests"))
        });
        server
    }

    pub(super) fn url(&self, login: &str) -> String {
        format!("radius://{login}127.0.0.1:{}", self.auth_port)
    }

    pub(super) fn acct_url(&self) -> String {
        format!("radius-acct://127.0.0.1:{}", self.acct_port)
    }

    /// The packets that it wrote to one of its files: requests to `requested` and `accounting`, responses to `accepted` and
    /// `rejected`.
    pub(super) fn records(&self, file: &str) -> Vec<Record> {
        let text = std::fs::read_to_string(self.folder.path(file)).unwrap_or_default();
        let record = |block: &str| -> Record {
            let pairs = block.lines().filter_map(|line| line.strip_prefix('\t')?.split_once(" = "));
            pairs.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned())).collect()
        };
        text.split("\n\n").filter(|block| !block.trim().is_empty()).map(record).collect()
    }

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path("log")).expect("a log")
    }

    /// A count of its client, as `dup`; `kind`: `auth` or `acct`.
    #[track_caller]
    pub(super) fn stat(&self, kind: &str, name: &str) -> u64 {
        let words = ["-f", &self.folder.path("control"), "-e", &format!("stats client {kind} 127.0.0.1")];
        let done = Command::new("radmin").args(words).output().expect("the package of the server has it");
        let stats = String::from_utf8(done.stdout).expect("UTF-8");
        let value = stats.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        value.unwrap_or_else(|| panic!("no {name}: {stats}")).trim().parse().expect("a number")
    }
}
