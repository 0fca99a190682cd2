//! Limits of either side, met on purpose: ports, a server that cuts off, a full accept queue.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;

use rustix::net::{AddressFamily, SocketType};

use super::{alone, onrush, report, text};

/// Sixty ports in a network of its own, and no connection is kept: they are used up at once.
#[test]
fn ports_that_are_used_up_are_told_with_the_figure() {
    let _alone = alone();
    let program = env!("CARGO_BIN_EXE_onrush");
    let script = format!(
        "ip link set lo up; echo '50000 50059' > /proc/sys/net/ipv4/ip_local_port_range; \
         {program} serve --listen 127.0.0.1:8080 --threads 1 > /dev/null 2> /dev/null & \
         served=$!; sleep 1; \
         {program} -c 100 -n 3000 --source-ip 127.0.0.1 --output json --interval 200ms http://127.0.0.1:8080/delay/100; \
         code=$?; kill $served; exit $code"
    );
    let ran = Command::new("unshare").args(["--net", "bash", "-c", &script]).env("LANG", "C.UTF-8").output();
    let ran = ran.expect("unshare starts");
    let said = text(&ran.stderr);
    assert!(said.contains("60 of 60 ports to 127.0.0.1:8080 are in use"), "{ran:?}");
    assert!(said.contains("sysctl -w net.ipv4.ip_local_port_range="), "{said}");
    let document = text(&ran.stdout);
    let json = &document[document.find('{').expect("a report")..];
    let report: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(report["verdict"]["limit"], "ports_or_descriptors", "{}", report["verdict"]);
    assert_eq!(report["verdict"]["is_spoiled"], true);
    assert_eq!(report["notes"][0]["kind"], "local-ports");
    assert!(report["failures"].as_array().is_some_and(|all| all.iter().any(|each| each["reason"] == "no-local-port")));
}

/// A server that keeps twenty connections and ends every other one at once.
#[test]
fn a_server_that_cuts_off_at_a_number_is_told() {
    let _alone = alone();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let mut kept = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            if kept.len() >= 20 {
                continue;
            }
            let mut own = stream.try_clone().expect("a stream");
            kept.push(stream);
            std::thread::spawn(move || {
                let mut bytes = [0; 4_096];
                while own.read(&mut bytes).is_ok_and(|count| count > 0) {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    if own.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                        break;
                    }
                }
            });
        }
    });
    let url = format!("http://{address}/");
    let ran =
        onrush(&["-c", "22", "-z", "2s", "--interval", "300ms", "--output", "json", &url]).output().expect("it starts");
    assert!(text(&ran.stderr).contains("while 20 others stayed open"), "{:?}", text(&ran.stderr));
    let report = report(&ran);
    let notes = report["notes"].as_array().expect("a list");
    assert!(notes.iter().any(|note| note["kind"] == "server-limit"), "{notes:?}");
    assert!(report["verdict"]["unanswered"].as_u64() > Some(100), "{}", report["verdict"]);
}

/// A server that listens with the shortest queue and never accepts: the first are established, the others wait for an answer to
/// their SYN.
#[test]
fn a_full_accept_queue_is_told() {
    let _alone = alone();
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port");
    rustix::net::listen(&socket, 1).expect("it listens");
    let address = SocketAddr::try_from(rustix::net::getsockname(&socket).expect("an address")).expect("an address");
    let url = format!("http://{address}/");
    let args =
        ["-c", "20", "-z", "3s", "--connect-timeout", "1500ms", "-t", "2s", "--grace", "1s", "--output", "json", &url];
    let ran = onrush(&args).output().expect("it starts");
    let said = text(&ran.stderr);
    assert!(said.contains("its accept queue is full") && said.contains("overflows of accept queues"), "{said}");
    assert!(said.contains("net.core.somaxconn"), "{said}");
    assert_eq!(report(&ran)["notes"][0]["kind"], "accept-queue");
}
