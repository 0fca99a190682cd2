//! Machines of an isolated network: namespaces on a bridge in a namespace of its own. It needs root and `ip`.

use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

static NETS: AtomicU32 = AtomicU32::new(0);

/// A network; it is removed with the value, and its machines too.
pub(crate) struct Net {
    name: String,
    hosts: usize,
}

fn ip(words: &[&str]) {
    let done = Command::new("ip").args(words).output().expect("ip of iproute2");
    assert!(done.status.success(), "ip {words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

impl Net {
    /// A network of this many machines, numbered from 1.
    pub(crate) fn new(hosts: usize) -> Self {
        let net =
            Self { name: format!("onrush{}x{}", std::process::id(), NETS.fetch_add(1, Ordering::Relaxed)), hosts };
        let bridge = net.name.as_str();
        ip(&["netns", "add", bridge]);
        ip(&["-n", bridge, "link", "add", "middle", "type", "bridge"]);
        ip(&["-n", bridge, "link", "set", "middle", "up"]);
        for host in 1..=hosts {
            let (own, port) = (net.host(host), format!("port{host}"));
            ip(&["netns", "add", &own]);
            let far = ["peer", "name", &port, "netns", bridge];
            ip(&[&["-n", &own, "link", "add", "eth0", "type", "veth"][..], &far].concat());
            ip(&["-n", bridge, "link", "set", &port, "master", "middle", "up"]);
            ip(&["-n", &own, "addr", "add", &format!("{}/16", net.address(host)), "dev", "eth0"]);
            ip(&["-n", &own, "link", "set", "eth0", "up"]);
            ip(&["-n", &own, "link", "set", "lo", "up"]);
        }
        net
    }

    fn host(&self, host: usize) -> String {
        format!("{}-{host}", self.name)
    }

    /// The number of machines.
    pub(crate) fn hosts(&self) -> usize {
        self.hosts
    }

    /// The address of a machine.
    pub(crate) fn address(&self, host: usize) -> String {
        format!("10.99.{}.{}", host / 250, host % 250 + 1)
    }

    /// Gives a machine more addresses, and all ports of each for connections.
    pub(crate) fn has_many_addresses(&self, host: usize, count: usize) {
        for number in 1..=count {
            ip(&["-n", &self.host(host), "addr", "add", &format!("10.99.{}.{number}/16", 100 + host), "dev", "eth0"]);
        }
        let mut set = Command::new("sysctl");
        set.args(["-qw", "net.ipv4.ip_local_port_range=1024 65535"]);
        assert!(self.on(host, &set).status().expect("sysctl of procps").success());
    }

    /// Blocks traffic from one machine to an address, and the replies, until it is mended.
    pub(crate) fn cut_from(&self, host: usize, address: &str) {
        ip(&["-n", &self.host(host), "route", "add", "blackhole", address]);
    }

    pub(crate) fn mend_to(&self, host: usize, address: &str) {
        ip(&["-n", &self.host(host), "route", "delete", "blackhole", address]);
    }

    /// Disconnects a machine.
    pub(crate) fn cut(&self, host: usize) {
        ip(&["-n", &self.name, "link", "set", &format!("port{host}"), "down"]);
    }

    pub(crate) fn mend(&self, host: usize) {
        ip(&["-n", &self.name, "link", "set", &format!("port{host}"), "up"]);
    }

    /// Runs a function on a machine, on a thread of its own that ends with it.
    pub(crate) fn inside<T: Send>(&self, host: usize, does: impl FnOnce() -> T + Send) -> T {
        let place = std::fs::File::open(format!("/run/netns/{}", self.host(host))).expect("it is there");
        std::thread::scope(|scope| {
            let done = scope.spawn(|| {
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(place.as_fd(), kind).expect("root may");
                does()
            });
            done.join().expect("it does not panic")
        })
    }

    /// The same command, on a machine of the network. The process is that of the command.
    pub(crate) fn on(&self, host: usize, command: &Command) -> Command {
        let mut on = Command::new("ip");
        on.args(["netns", "exec", &self.host(host)]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => on.env(name, value),
                None => on.env_remove(name),
            };
        }
        on
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        // A machine that was not made need not be removed.
        for host in 1..=self.hosts {
            let _ = Command::new("ip").args(["netns", "delete", &self.host(host)]).output();
        }
        let _ = Command::new("ip").args(["netns", "delete", &self.name]).output();
    }
}
