//! The commands, each under its name.

pub(crate) mod bus;
pub(crate) mod capacity;
pub(crate) mod check;
pub(crate) mod compat;
pub(crate) mod completions;
pub(crate) mod ctl;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod find_max;
pub(crate) mod grpc;
pub(crate) mod headless;
pub(crate) mod history;
pub(crate) mod hold;
pub(crate) mod init;
pub(crate) mod recover;
pub(crate) mod run;
pub(crate) mod run_file;
pub(crate) mod selftest;
pub(crate) mod serve;
pub(crate) mod sweep;
pub(crate) mod web;
pub(crate) mod worker;
