//! A system that refuses io_uring, by a seccomp filter as in containers: the run goes on with poll and reports that.

#![cfg(target_os = "linux")]
#![expect(unsafe_code, reason = "a seccomp filter is installed between fork and exec")]

#[macro_use]
extern crate claims;

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// Makes io_uring_setup fail with EPERM and allows everything else.
fn forbid_io_uring() -> Result<(), std::io::Error> {
    let statement = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: both calls take plain values and a program that lives until they return.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) != 0
    };
    if refused { Err(std::io::Error::last_os_error()) } else { Ok(()) }
}

fn onrush_without_io_uring(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_onrush"));
    command.args(args).env("LANG", "C.UTF-8").env_remove("LC_ALL");
    // SAFETY: the hook calls prctl only, which is safe between fork and exec.
    unsafe { command.pre_exec(forbid_io_uring) };
    command.output().expect("the binary starts")
}

#[test]
fn the_run_goes_on_with_poll_and_says_so() {
    let output = onrush_without_io_uring(&["demo", "-z", "200ms", "--quiet"]);
    let page = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(page.contains("driver poll (io_uring is not available: Operation not permitted"), "{page}");
}

#[test]
fn who_insists_is_reported() {
    let output = onrush_without_io_uring(&["demo", "--driver", "uring"]);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), complaint.lines().count()), (Some(4), 1), "{output:?}");
    assert!(
        complaint.contains("--driver uring does not work here") && complaint.contains("use --driver poll"),
        "{complaint}"
    );
}
