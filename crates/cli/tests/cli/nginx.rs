//! A real nginx on a free port, with an access log that is counted afterwards.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::seen;

pub(crate) struct Nginx {
    child: Child,
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    pub(crate) url: String,
}

/// The content of the access log.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) body_bytes: u64,
    /// The `traceparent` of each request that has one.
    pub(crate) traces: Vec<String>,
    /// The numbers of the connections that had requests.
    pub(crate) connections: BTreeSet<u64>,
    /// The address in the header of the PROXY protocol, for each request that has one.
    pub(crate) clients: Vec<String>,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

impl Nginx {
    pub(crate) fn start() -> Self {
        Self::with("", "", |_| {})
    }

    /// `listens`: words after the address; `lines`: more for the server; `prepare` fills the folder in which it runs.
    pub(crate) fn with(listens: &str, lines: &str, prepare: impl FnOnce(&Path)) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("onrush-nginx-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        prepare(&folder);
        let port = crate::closed_port();
        let dir = folder.display();
        let config = format!(
            "worker_processes 1; daemon off; pid {dir}/pid; error_log {dir}/error.log; worker_rlimit_nofile 10000; worker_shutdown_timeout 10s;
             events {{ worker_connections 8000; }}
             http {{
               log_format counted '$status $bytes_sent $body_bytes_sent $connection $proxy_protocol_addr $http_traceparent';
               access_log {dir}/access.log counted;
               client_body_temp_path {dir}/a; proxy_temp_path {dir}/b; fastcgi_temp_path {dir}/c; uwsgi_temp_path {dir}/d; scgi_temp_path {dir}/e;
               server {{ listen 127.0.0.1:{port} backlog=4096 {listens}; {lines}
                 location / {{ default_type text/plain; return 200 \"hello from nginx\\n\"; }}
                 location /limited {{ return 429; }} }} }}"
        );
        std::fs::write(folder.join("nginx.conf"), config).expect("a file");
        let program = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
            .into_iter()
            .find(|path| std::path::Path::new(path).exists())
            .expect("nginx is installed: `cargo xtask test` installs it, or: apt-get install nginx-light");
        let child = Command::new(program)
            .args(["-p", &dir.to_string(), "-c", &format!("{dir}/nginx.conf"), "-e", &format!("{dir}/error.log")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx starts");
        let mut nginx = Self { child, folder, port, url: format!("http://127.0.0.1:{port}") };
        seen::wait_for("nginx listens", || {
            if nginx.child.try_wait().expect("a child").is_some() {
                let errors = std::fs::read_to_string(nginx.folder.join("error.log")).unwrap_or_default();
                panic!("nginx does not listen: {errors}");
            }
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        nginx
    }

    /// The number of lines in its log; it is written at once.
    pub(crate) fn logged(&self) -> usize {
        std::fs::read(self.folder.join("access.log")).map_or(0, |log| log.iter().filter(|byte| **byte == b'\n').count())
    }

    /// Lets nginx finish its requests, and reads its log.
    pub(crate) fn stop(mut self) -> Log {
        self.quit();
        let text = std::fs::read_to_string(self.folder.join("access.log")).expect("a log");
        let mut log = Log::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            let numbers: Vec<u64> = words.by_ref().take(4).map(|word| word.parse().expect("a number")).collect();
            log.clients.extend(words.next().filter(|word| *word != "-").map(str::to_owned));
            log.traces.extend(words.filter(|word| *word != "-").map(str::to_owned));
            log.lines += 1;
            log.bytes += numbers[1];
            log.body_bytes += numbers[2];
            log.connections.insert(numbers[3]);
        }
        log
    }
}

impl Nginx {
    /// Stops the master gracefully, which ends its workers: killed, it would leave them behind. Requests in flight have
    /// 10 s.
    fn quit(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Both may only fail when it ends at this moment; then there is nothing to end.
            let _ = Command::new("kill").args(["-QUIT", &self.child.id().to_string()]).status();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.quit();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
