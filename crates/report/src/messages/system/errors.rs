//! The errors of the system: what they are called in Chinese, and what helps against them.

use crate::texts;
use Doing::{Connect, Listen, Read, Write};

/// What somebody was doing; the same error has another remedy elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Waiting for connections.
    Listen,
    /// Making one.
    Connect,
    /// Reading a file.
    Read,
    /// Writing one.
    Write,
}

/// Names that stand without a number: of the library, and of our own drivers.
pub(super) const NAMED: &[(&str, i32)] = &[
    ("address already in use", 98),
    ("address in use", 98),
    ("address not available", 99),
    ("no local port or address is available", 99),
    ("connection refused", 111),
    ("connection reset by peer", 104),
    ("connection reset", 104),
    ("connection aborted", 103),
    ("not connected", 107),
    ("timed out in the kernel", 110),
    ("timed out", 110),
    ("no route to host", 113),
    ("host unreachable", 113),
    ("network unreachable", 101),
    ("network down", 100),
    ("permission denied", 13),
    ("entity not found", 2),
    ("no such file or directory", 2),
    ("entity already exists", 17),
    ("file exists", 17),
    ("is a directory", 21),
    ("not a directory", 20),
    ("no storage space", 28),
    ("no space left on device", 28),
    ("quota exceeded", 122),
    ("read-only filesystem or storage medium", 30),
    ("file too large", 27),
    ("no more descriptors", 24),
    ("too many open files", 24),
    ("out of memory", 12),
    ("broken pipe", 32),
    ("resource busy", 16),
    ("operation would block", 11),
    ("operation interrupted", 4),
];

texts! {
    /// What helps; `None` where that is a matter of what was done.
    pub(super) optional fn remedy(number: i32, doing: Doing) of (number, doing);
    (98, Listen) =>
        "another program listens there: ss -ltnp shows which; end it, or choose another port",
        "该端口已有程序在监听：用 ss -ltnp 查看是哪一个；请结束它，或换一个端口";
    (99, Listen) =>
        "this machine has no such address: ip addr lists those that it has",
        "本机没有这个地址：用 ip addr 查看本机地址";
    (1 | 13, Listen) =>
        "ports below 1024 are for root alone: choose one from 1024 on",
        "小于 1024 的端口只有 root 能用：请改用 1024 及以上的端口";
    (97, Listen | Connect) =>
        "this system has no addresses of that kind: write one of IPv4",
        "系统不支持这种地址：请改用 IPv4 地址";
    (111, Connect) =>
        "nothing listens there: start it, or check the port",
        "那里没有程序在监听：请先启动，或检查端口";
    (110, Connect) =>
        "the host or a firewall does not answer: check the address, and what filters the way to it",
        "主机或防火墙没有响应：请检查地址和途中的防火墙";
    (100 | 101 | 112 | 113, Connect) =>
        "no way leads there: check the address, and the routes of this machine (ip route)",
        "没有通往该地址的路由：请检查地址和本机路由（ip route）";
    (103 | 104, Connect) =>
        "what listens there broke off: check that it is the right port, and its log",
        "对端中断了连接：请检查端口是否正确，并查看其日志";
    (2, Write) =>
        "its folder is not there: make it (mkdir -p), or choose another place",
        "所在目录不存在：请先创建（mkdir -p），或换一个位置";
    (2, Read) =>
        "check the path; one that is relative begins in the current folder",
        "请检查路径；相对路径从当前目录开始";
    (1 | 13, Write) =>
        "you may not write there: change its permissions, or choose another place",
        "没有写入权限：请修改权限，或换一个位置";
    (1 | 13, Read) =>
        "you may not read it: change its permissions (chmod), or run as who may",
        "没有读取权限：请修改权限（chmod），或换用有权限的用户运行";
    (28, Write) =>
        "the disk is full: make room (df -h shows where), or choose another place",
        "磁盘已满：请清理（df -h 查看各分区），或换一个位置";
    (122, Write) =>
        "your quota on this disk is used up: make room, or choose another place",
        "磁盘配额已用完：请清理，或换一个位置";
    (30, Write) => "its file system is read-only: choose another place", "文件系统只读：请换一个位置";
    (27, Write) =>
        "it is larger than the file system or ulimit -f allows: choose another place",
        "超过文件系统或 ulimit -f 允许的大小：请换一个位置";
    (21, Read | Write) => "it is a folder: name a file", "这是目录：请写文件名";
    (20, Read | Write) =>
        "a part of the path is a file, not a folder: check the path",
        "路径中有一段是文件，不是目录：请检查路径";
    (36, Read | Write) => "the name is too long: choose a shorter one", "名称过长：请换一个较短的名称";
    (40, Read | Write) => "links lead in a circle there: check the path", "符号链接循环：请检查路径";
    (5, Read | Write) => "the disk reports a fault: see dmesg", "磁盘报告故障：请查看 dmesg";
    (24, _) =>
        "this process may open no more files and connections: raise ulimit -n",
        "本进程可打开的文件和连接已达上限：请调大 ulimit -n";
    (23, _) =>
        "this system may open no more files: raise it with sysctl fs.file-max",
        "系统可打开的文件已达上限：请调大 sysctl fs.file-max";
    (12, _) => "memory is used up: free some, or ask for less", "内存已用完：请释放内存，或减小规模";
}

/// The common errors of Linux (errno.h).
pub(super) fn chinese(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "操作不允许",
        2 => "没有该文件或目录",
        3 => "没有该进程",
        4 => "系统调用被中断",
        5 => "输入输出错误",
        6 => "没有该设备或地址",
        7 => "参数列表过长",
        9 => "文件描述符无效",
        11 => "资源暂时不可用",
        12 => "内存不足",
        13 => "权限不足",
        14 => "地址错误",
        16 => "设备或资源忙",
        17 => "文件已存在",
        18 => "跨设备链接",
        19 => "没有该设备",
        20 => "不是目录",
        21 => "是一个目录",
        22 => "参数无效",
        23 => "系统打开的文件过多",
        24 => "进程打开的文件过多",
        26 => "文件正在被执行",
        27 => "文件过大",
        28 => "磁盘空间不足",
        29 => "无法定位",
        30 => "文件系统只读",
        32 => "管道已断开",
        36 => "文件名过长",
        38 => "系统不支持该功能",
        40 => "符号链接层数过多",
        71 => "协议错误",
        88 => "不是套接字",
        90 => "消息过长",
        92 => "协议选项不可用",
        93 => "协议不支持",
        95 => "操作不支持",
        97 => "地址族不支持",
        98 => "地址已被占用",
        99 => "无法使用该地址",
        100 => "网络已断开",
        101 => "网络不可达",
        102 => "网络连接被重置",
        103 => "连接被中止",
        104 => "连接被对端重置",
        105 => "没有可用的缓冲区",
        107 => "套接字未连接",
        110 => "连接超时",
        111 => "连接被拒绝",
        112 => "主机已关闭",
        113 => "没有到主机的路由",
        122 => "超出磁盘配额",
        _ => return None,
    })
}
