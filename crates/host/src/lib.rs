//! The machine: cores, limits, CPU time and memory of this process; sockets, addresses and the network link.
//!
//! `capacity` reads the limits and computes how many connections they allow; `changes` are the commands that raise
//! them. Nothing here changes the system; limits and the pinning to cores change this process only.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod addresses;
mod capacity;
mod changes;
mod cores;
mod limits;
mod link;
mod memory;
mod pipe;
mod sockets;
mod spent;
mod terminal;
mod trust;

pub use addresses::addresses_towards;
pub use capacity::{Limit, LimitKind, Settings, Situation, limits};
pub use changes::{Change, changes};
pub use cores::{allowed_cores, pin_to_core};
pub use limits::{descriptors, local_port_range, raise_descriptor_limit, somaxconn};
pub use link::{Link, link_to};
pub use memory::{KernelMemory, Memory, PAGE_BYTES, kernel_memory, memory};
pub use pipe::open_special;
pub use sockets::{PortUse, is_own, listen_overflows, ports_to};
pub use spent::{
    CpuTime, MachineTime, ProcessUsage, machine_time, process_cpu_time, resident_bytes, spent_of, thread_cpu_ns,
    thread_run_delay_ns,
};
pub use terminal::terminal_size;
pub use trust::trusted_certificates;
