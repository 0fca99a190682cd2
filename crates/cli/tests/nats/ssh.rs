//! Workers that are started over ssh, on machines in namespaces that each have an sshd of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::Worker;
use super::binary::{onrush, report, text};
use super::net::Net;
use super::seen::wait_for;

/// The machine of the target; those of the workers come after it.
const TARGET: usize = 1;
const FIRST: usize = 2;

/// Machines with sshd, and a target; all of it is removed with the value.
struct Machines {
    net: Net,
    hosts: usize,
    folder: PathBuf,
    children: Vec<Child>,
    _alone: MutexGuard<'static, ()>,
}

/// Sites come one after the other: the program is copied to twenty machines, and its copies would make the others wait.
static ALONE: Mutex<()> = Mutex::new(());
/// Each site has a folder of its own.
static SITES: AtomicU32 = AtomicU32::new(0);

fn key(path: &PathBuf) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.expect("ssh-keygen of openssh-client").success());
}

/// The processes that a process started itself.
fn children_of(process: u32) -> Vec<Pid> {
    let listed = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)).collect()
}

impl Machines {
    fn with(hosts: usize) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let net = Net::new(hosts + 1);
        let number = SITES.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("onrush-ssh-{}-{number}", std::process::id()));
        // A process of this number may have left its folder when it was ended.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("it is ours");
        fs::create_dir_all("/run/sshd").expect("what sshd wants");
        let (host_key, own_key) = (folder.join("host"), folder.join("own"));
        key(&host_key);
        key(&own_key);
        let mut site = Self { net, hosts, folder, children: Vec::new(), _alone: alone };
        let at = |name: &str| site.folder.join(name).display().to_string();
        let config = format!(
            "Host *\n User root\n IdentityFile {}\n IdentitiesOnly yes\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n",
            at("own")
        );
        fs::write(at("config"), config).expect("a file");
        let mut daemons = Vec::new();
        for host in FIRST..FIRST + hosts {
            let (address, cache) = (site.net.address(host), at(&format!("cache-{host}")));
            let config = format!(
                "ListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\nMaxStartups 100\nSetEnv XDG_CACHE_HOME={cache}\n",
                at("host"),
                at("own.pub")
            );
            let path = at(&format!("sshd-{host}"));
            fs::write(&path, config).expect("a file");
            let mut sshd = Command::new("/usr/sbin/sshd");
            sshd.args(["-D", "-f", &path]);
            let daemon = site.net.on(host, &sshd).stderr(Stdio::null()).spawn();
            daemons.push(daemon.expect("sshd of openssh-server; cargo xtask test --long installs it"));
        }
        site.children = daemons;
        let address = site.net.address(TARGET);
        let serve = onrush(&["serve", "--listen", &format!("{address}:80"), "--threads", "1"]);
        let served = site.net.on(TARGET, &serve).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        site.children.push(served.expect("it starts"));
        for host in FIRST..FIRST + hosts {
            let words =
                ["-F", &at("config"), "-o", "BatchMode=yes", &site.net.address(host), "true"].map(str::to_owned);
            let mut ssh = Command::new("ssh");
            ssh.args(words);
            let begun = Instant::now();
            while !site.net.on(TARGET, &ssh).output().expect("ssh").status.success() {
                assert!(begun.elapsed() < Duration::from_secs(30), "no sshd on {host}");
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        site
    }

    fn all(&self) -> String {
        let hosts: Vec<String> = (FIRST..FIRST + self.hosts).map(|host| self.net.address(host)).collect();
        hosts.join(",")
    }

    /// A load on the target, led from its machine.
    fn load(&self, hosts: &str, words: &[&str]) -> Output {
        self.leads(hosts, words).output().expect("it starts")
    }

    fn leads(&self, hosts: &str, words: &[&str]) -> Command {
        let ssh = format!("ssh -F {}", self.folder.join("config").display());
        let url = format!("http://{}/", self.net.address(TARGET));
        let all = [&["--output", "json", "--hosts", hosts, "--ssh", &ssh][..], words, &[&url]].concat();
        let mut done = self.net.on(TARGET, &onrush(&all));
        done.stdin(Stdio::null());
        done
    }

    /// Requests that the target had.
    fn requests(&self) -> u64 {
        let mut ask = Command::new("curl");
        ask.args(["-s", &format!("http://{}/stats", self.net.address(TARGET))]);
        let said = self.net.on(TARGET, &ask).output().expect("curl").stdout;
        let stats: serde_json::Value = serde_json::from_slice(&said).expect("JSON");
        stats["requests_by_path"]["/"].as_u64().unwrap_or_default()
    }

    /// Running workers, by the flag that all of them have.
    fn workers(&self) -> Vec<String> {
        let cache = format!("{}/cache-", self.folder.display());
        let mut found = Vec::new();
        for process in fs::read_dir("/proc").expect("processes").flatten() {
            let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
            if words.starts_with(cache.as_bytes()) {
                found.push(String::from_utf8_lossy(&words).replace('\0', " "));
            }
        }
        found
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for child in &mut self.children {
            // The processes of its sessions: on a machine that was cut off they would wait for hours. A worker that is
            // left is not ended here, but found.
            let sessions = children_of(child.id());
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
            for session in sessions {
                let _ = kill_process(session, Signal::KILL);
            }
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Twenty machines make exactly the planned starts; nothing of them is left, and the second time nothing is copied.
#[test]
fn twenty_machines() {
    let site = Machines::with(20);
    for round in 1..=2 {
        let done = site.load(&site.all(), &["--rate", "1000", "-z", "4s"]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let report = report(&done);
        let each = report["workers"]["list"].as_array().expect("workers").clone();
        assert_eq!(each.len(), 20, "{report:#}");
        assert_eq!(report["requests"]["started"], 4_000, "{report:#}");
        assert_eq!(site.requests(), 4_000 * round);
        wait_for("no worker is left", || site.workers().is_empty());
        for host in FIRST..FIRST + 20 {
            let cache = site.folder.join(format!("cache-{host}/onrush"));
            let copies: Vec<_> = fs::read_dir(cache).expect("a copy").flatten().collect();
            assert_eq!(copies.len(), 1, "{copies:?}");
            // A second copy would be newer than this.
            let used = fs::File::open(copies[0].path()).expect("a file");
            let before = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
            if round == 1 {
                used.set_modified(before).expect("its time can be set");
            } else {
                assert_eq!(used.metadata().expect("facts").modified().expect("a time"), before);
            }
        }
    }
}

/// The cable of the leader is pulled: workers receive nothing, start nothing after a while, and end.
#[test]
fn workers_of_a_machine_that_is_gone_end() {
    let site = Machines::with(2);
    let mut leads = site.leads(&site.all(), &["--rate", "50", "-z", "150s"]);
    let leads = leads.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut leads = Worker(leads);
    wait_for("the load begins", || site.requests() > 50);
    site.net.cut(TARGET);
    let begun = Instant::now();
    while !site.workers().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(80), "{:?}", site.workers());
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(begun.elapsed() > Duration::from_secs(40), "they wait for a while: {:?}", begun.elapsed());
    kill_process(Pid::from_child(&leads.0), Signal::INT).expect("it is there");
    assert!(leads.0.wait().expect("it ends").code().is_some_and(|code| code != 0));
}

/// Impossible combinations are reported, and nothing is left half begun.
#[test]
fn what_does_not_fit_is_said() {
    let site = Machines::with(2);
    let there = site.net.address(FIRST);
    let nobody = format!("{there},10.99.9.9");
    let cases: [(&str, &[&str], &str, &str); 6] = [
        (&nobody, &[], "no worker on 10.99.9.9", "10.99.9.9 上无法启动工作进程"),
        ("host,-oProxyCommand=x", &[], "is no host", "不是主机"),
        ("@/nowhere", &[], "a host in each line", "每行一个主机"),
        (",", &[], "names 0 hosts", "给出了 0 个主机"),
        (&there, &["--workers", "2"], "leave it out", "请去掉 --workers"),
        (&there, &["--ssh", "nossh"], "install ssh", "nossh"),
    ];
    for (hosts, words, english, chinese) in cases {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let is_other = words.first() == Some(&"--ssh");
            let all = [words, &["--lang", language, "-n", "10"]].concat();
            let done = if is_other {
                let url = format!("http://{}/", site.net.address(TARGET));
                let all = [&all[..], &["--hosts", hosts, &url]].concat();
                site.net.on(TARGET, &onrush(&all)).output().expect("it starts")
            } else {
                site.load(hosts, &all)
            };
            let said = text(&done.stderr);
            assert!(!done.status.success(), "{hosts}: {said}");
            assert!(language == "zh" && is_other || said.contains(says), "{hosts} {words:?}: {said}");
        }
    }
    assert_eq!(site.requests(), 0, "nothing was sent");
    wait_for("no worker is left", || site.workers().is_empty());
}
