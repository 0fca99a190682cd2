//! How a load is carried out, and where its figures go.

use super::{Kind, Row, flag, modes};

/// Threads and driver.
pub(super) const ENGINE: &[Row] = &[
    flag("apply", Kind::Switch, modes::DOCTOR).help(
        "Make the changes of sysctl now, and say how each is undone; files are left alone",
        "立即执行 sysctl 修改，并给出撤销命令；不修改任何文件",
    ),
    flag("json", Kind::Switch, modes::DOCTOR).help("Print JSON", "输出 JSON"),
    flag("threads", Kind::Number("N"), modes::LOADS).help(
        "Threads that make the load [default: the cores that this process may use]",
        "压测线程数 [默认：本进程可用的核数]",
    ),
    flag("pin-threads", Kind::Switch, modes::RUN)
        .help("Keep each thread on a core of its own", "把每个线程绑定到各自的核"),
    flag("driver", Kind::Choice("DRIVER", &["auto", "uring", "poll"]), modes::DRIVING).help(
        "How sockets are driven: auto, uring or poll [default: auto, io_uring where it works]",
        "套接字驱动：auto、uring 或 poll [默认：auto，能用 io_uring 时使用它]",
    ),
];

/// What is printed, where, and in which language.
pub(super) const VIEW: &[Row] = &[
    flag("output", Kind::Choice("FORMAT", &["text", "json"]), modes::SHOWN)
        .help("What stdout gets: text or json [default: text]", "标准输出的格式：text 或 json [默认：text]"),
    flag("json", Kind::Text("FILE"), modes::SHOWN)
        .help("Write the JSON report to a file too", "同时把 JSON 报告写入文件"),
    flag("quiet", Kind::Switch, modes::SHOWN).help("Only the summary, no table", "只显示汇总，不显示表格"),
    flag("no-color", Kind::Switch, modes::SHOWN).help("No colors", "不使用颜色"),
    flag("lang", Kind::Choice("LANG", &["zh", "en"]), modes::ALL).help(
        "Language: zh or en [default: from LC_ALL, LC_MESSAGES, LANG]",
        "语言：zh 或 en [默认：取自 LC_ALL、LC_MESSAGES、LANG]",
    ),
    flag("help", Kind::Help, modes::ALL).short('h').help("Show this help", "显示本帮助"),
    flag("version", Kind::Version, modes::TOP).short('V').help("Show the version", "显示版本"),
];
