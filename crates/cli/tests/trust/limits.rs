//! Limits of either side, reached on purpose: ports, a server that cuts off, a full accept queue.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Pid, Signal, kill_process};

use crate::seen::wait_for;
use crate::{onrush, report, text};

/// Two files for the output of a load: its report and its errors, in this order.
fn files(name: &str) -> [PathBuf; 2] {
    ["json", "err"].map(|end| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{end}")))
}

/// A load that is ended with the test, however that ends.
struct Going(Child);

impl Drop for Going {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sixty ports in a network of its own, a hundred users, and a gate at which those with a port wait. It is opened after
/// the report that there are no more: a failing test closes the pipe, and that opens it too.
#[test]
fn ports_that_are_used_up_are_reported_with_the_figure() {
    let program = env!("CARGO_BIN_EXE_onrush");
    let [out, err] = files("ports");
    // Nothing of an earlier run is read.
    std::fs::write(&err, "").expect("a file");
    // The server prints when it listens, and our line opens the gate: for that there are ports again.
    let script = format!(
        "ip link set lo up; cd /proc/sys/net/ipv4; echo '50000 50059' > ip_local_port_range; \
         exec 3< <(exec {program} serve --listen 127.0.0.1:8080 --threads 1 2> /dev/null); served=$!; read -r _ <&3; \
         {program} -c 100 -n 100 -t 1h --source-ip 127.0.0.1 --output json --interval 300ms --strict \
             http://127.0.0.1:8080/gate/ports < /dev/null > {out} 2> {err} & load=$!; \
         read -r _; echo '50000 60000' > ip_local_port_range; exec 4<> /dev/tcp/127.0.0.1/8080; \
         printf 'POST /gate/ports/open HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' >&4; \
         cat <&4 > /dev/null; wait $load; code=$?; kill $served; exit $code",
        out = out.display(),
        err = err.display(),
    );
    let mut unshare = Command::new("unshare");
    let mut child = unshare.args(["--net", "bash", "-c", &script]).env("LANG", "C.UTF-8").stdin(Stdio::piped()).spawn();
    let child = child.as_mut().expect("unshare starts");
    let said = || std::fs::read_to_string(&err).unwrap_or_default();
    wait_for("all ports are in use", || said().contains("60 of 60 ports to 127.0.0.1:8080 are in use"));
    child.stdin.take().expect("a pipe").write_all(b"open\n").expect("somebody reads");
    let code = child.wait().expect("it ends").code();
    assert!(said().contains("sysctl -w net.ipv4.ip_local_port_range="), "{}", said());
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&out).expect("a file")).expect("JSON");
    assert_eq!((&report["verdict"]["is_unreliable"], code), (&true.into(), Some(1)), "--strict");
    assert_eq!(report["verdict"]["kind"], "ports_or_descriptors", "{}", report["verdict"]);
    assert_eq!(report["notes"][0]["kind"], "local-ports");
    let failures = report["failures"].as_array().expect("a list").iter();
    let without = failures.filter(|each| each["reason"] == "no-local-port").filter_map(|each| each["count"].as_u64());
    assert_eq!((without.sum::<u64>(), &report["requests"]["succeeded"]), (40, &60.into()), "{}", report["failures"]);
}

/// Responds to the requests of a connection until it ends.
fn response_all(mut stream: TcpStream) {
    let mut bytes = [0; 4_096];
    while stream.read(&mut bytes).is_ok_and(|count| count > 0) {
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
            break;
        }
    }
}

/// A server that keeps twenty connections and ends every other one at once. The load has an hour, and is stopped after
/// the report.
#[test]
fn a_server_that_cuts_off_at_a_number_is_reported() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let cut = Arc::new(AtomicU64::new(0));
    let count = cut.clone();
    std::thread::spawn(move || {
        let mut kept = 0;
        for stream in listener.incoming().map_while(Result::ok) {
            if kept < 20 {
                kept += 1;
                std::thread::spawn(move || response_all(stream));
            } else {
                drop(stream);
                count.fetch_add(1, Ordering::Release);
            }
        }
    });
    let [out, err] = files("cut-off");
    let url = format!("http://{address}/");
    let mut load = onrush(&["-c", "22", "-z", "1h", "--interval", "100ms", "--output", "json", &url]);
    load.stdout(File::create(&out).expect("a file")).stderr(File::create(&err).expect("a file"));
    let mut going = Going(load.spawn().expect("it starts"));
    wait_for("a hundred were cut off, and it is told", || {
        let said = std::fs::read_to_string(&err).unwrap_or_default();
        cut.load(Ordering::Acquire) > 100 && said.contains("while 20 others stayed open")
    });
    let pid = Pid::from_raw(i32::try_from(going.0.id()).expect("a process")).expect("a process");
    kill_process(pid, Signal::INT).expect("it runs");
    assert_eq!(going.0.wait().expect("it ends").code(), Some(130));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&out).expect("a file")).expect("JSON");
    let notes = report["notes"].as_array().expect("a list");
    assert!(notes.iter().any(|note| note["kind"] == "server-limit"), "{notes:?}");
    assert!(report["verdict"]["unanswered"].as_u64() >= Some(100), "{}", report["verdict"]);
}

/// A server that listens with the shortest queue and never accepts: the first are established, the others wait for a
/// reply to their SYN.
#[test]
fn a_full_accept_queue_is_reported() {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port");
    rustix::net::listen(&socket, 1).expect("it listens");
    let address = SocketAddr::try_from(rustix::net::getsockname(&socket).expect("an address")).expect("an address");
    let url = format!("http://{address}/");
    let words = ["-c", "20", "-n", "20", "--connect-timeout", "300ms", "-t", "300ms", "--output", "json", &url];
    let ran = onrush(&words).output().expect("it starts");
    let said = text(&ran.stderr);
    assert!(said.contains("its accept queue is full") && said.contains("overflows of accept queues"), "{said}");
    assert!(said.contains("net.core.somaxconn"), "{said}");
    let report = report(&ran);
    assert_eq!(report["notes"][0]["kind"], "accept-queue");
    // There is no response: each request ended in one of the two timeouts.
    assert_eq!((&report["requests"]["started"], &report["requests"]["failed"]), (&20.into(), &20.into()));
}
