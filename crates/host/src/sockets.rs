//! Socket statistics of this machine, from the kernel.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// Local ports in use for one remote address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortUse {
    /// All ports in use.
    pub in_use: u64,
    /// Those in TIME_WAIT, which only wait until stray packets are gone.
    pub time_wait: u64,
}

/// The TIME_WAIT state in the kernel's table.
const TIME_WAIT: &str = "06";

/// Local ports in use to a remote address; `None` where the system does not report them. It reads the kernel's whole
/// table.
pub fn ports_to(remote: SocketAddr) -> Option<PortUse> {
    Some(count(&in_table(remote), table_of(remote)?))
}

/// The lines of the kernel's table that contains the connections to an address.
fn table_of(remote: SocketAddr) -> Option<impl Iterator<Item = String>> {
    let table = if remote.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    Some(BufReader::new(File::open(table).ok()?).lines().map_while(Result::ok))
}

fn count(remote: &str, lines: impl Iterator<Item = String>) -> PortUse {
    let mut used = PortUse::default();
    for line in lines {
        // Number, local address, remote address, state.
        let mut fields = line.split_whitespace().skip(2);
        if fields.next() == Some(remote) {
            used.in_use += 1;
            used.time_wait += u64::from(fields.next() == Some(TIME_WAIT));
        }
    }
    used
}

/// An address in the table's form: hexadecimal words in host byte order, and the port.
fn in_table(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let words = octets.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
    let words: String = words.map(|word| format!("{word:08X}")).collect();
    format!("{words}:{:04X}", address.port())
}

/// Number of overflows of accept queues on this machine since boot.
pub fn listen_overflows() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/net/netstat").ok()?;
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let index = names.split_whitespace().position(|name| name == "ListenOverflows")?;
    values.split_whitespace().nth(index)?.parse().ok()
}

/// Whether the address belongs to this machine.
pub fn is_own(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// Other processes may connect to the port too, for example because they used it before: only connections from here
    /// are counted.
    #[test]
    fn connections_are_counted_by_their_remote_end() {
        for listen in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(listen) else { continue };
            let address = listener.local_addr().expect("an address");
            let held: Vec<TcpStream> = (0..7).map(|_| TcpStream::connect(address).expect("a connection")).collect();
            let own: Vec<String> = held.iter().map(|held| in_table(held.local_addr().expect("an address"))).collect();
            let is_own =
                |line: &String| line.split_whitespace().nth(1).is_some_and(|local| own.iter().any(|own| own == local));
            let lines = table_of(address).expect("a table").filter(is_own);
            assert_eq!(count(&in_table(address), lines), PortUse { in_use: 7, time_wait: 0 }, "{listen}");
            assert!(ports_to(address).expect("a table").in_use >= 7, "{listen}");
        }
    }

    #[test]
    fn time_wait_is_reported_apart() {
        let remote = in_table("127.0.0.1:8080".parse().expect("an address"));
        let line = |state: &str| format!("  0: 0100007F:C001 {remote} {state} 00000000:00000000");
        let used = count(&remote, [line("01"), line("06"), line("06"), "garbage".to_owned()].into_iter());
        assert_eq!(used, PortUse { in_use: 3, time_wait: 2 });
    }

    #[test]
    fn the_kernel_counts_overflows() {
        assert!(listen_overflows().is_some());
        assert!(is_own(IpAddr::from([127, 0, 0, 1])) && !is_own(IpAddr::from([192, 0, 2, 1])));
    }
}
