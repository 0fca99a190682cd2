//! Flags of searches, sweeps, and capacity estimates.

use super::Mode::{Capacity, FindMax, Sweep};
use super::{Kind, Row, flag, modes};

flags! {
    /// Flags of searches and sweeps. The command line of the load follows, as for `run` or `hold`.
    pub(super) ROWS;
    "words": Kind::Words("URL"), modes::FRONTS, common;
        "What to load, with any flags of onrush run: a URL, a scenario file, a curl command; or the word hold with a URL and flags of onrush hold",
        "要压测的内容，可带 onrush run 的任意参数：URL、场景文件或 curl 命令；或 hold 一词加 URL 及 onrush hold 的参数";
    "goal": Kind::FreeList("GOAL"), &[FindMax], common;
        "What the load must meet, as a percentile or a share; repeatable [default: 'p99(response_time) < 500ms', and 'failed / done < 1%' unless a goal names failures]",
        "达标条件（SLO），为百分位或比例，可重复 [默认：'p99(response_time) < 500ms'；没有关于失败的条件时另加 'failed / done < 1%']";
    "vary": Kind::Choice("WHAT", &["rate", "users"]), &[FindMax], common;
        "What to vary: rate or users [default: rate; users for a file of closed loads]",
        "要改变的量：rate（速率）或 users（用户数）[默认：rate；场景文件全为固定用户数时为 users]";
    "budget": Kind::Number("TIME"), &[FindMax], common;
        "How long the search may take; less time gives wider bounds, as honest ones [default: 12m]",
        "搜索时限；越短，上下界相距越远 [默认：12m]";
    "trials": Kind::Number("N"), &[FindMax];
        "End the search after this many trials, with what was found by then",
        "试压次数的上限；用完后结束搜索，并给出当时的结果";
    "start": Kind::Number("LOAD"), &[FindMax];
        "The first load: a rate, or a number of users or connections [default: 10/s, 1 user, 100 connections]",
        "起始负载：速率、用户数或连接数 [默认：10/s、1 个用户、100 个连接]";
    "max": Kind::Number("LOAD"), &[FindMax];
        "The largest load to try [default: 1000000/s, 10000 users, 1000000 connections]",
        "尝试的最大负载 [默认：1000000/s、10000 个用户、1000000 个连接]";
    "vary": Kind::FreeList("NAME=VALUES"), &[Sweep], common;
        "A flag of the load, or a variable of a scenario file, and its values; repeatable: connections=10,100,1000. Switches take on and off; url takes paths; keepalive=on,off is short for --no-keepalive",
        "要改变的参数（或场景文件的变量）及其取值，可重复：connections=10,100,1000。开关取 on 和 off；url 取路径；keepalive=on,off 对应 --no-keepalive";
    "repeat": Kind::Number("N"), &[Sweep], common;
        "Runs of each combination, in random order [default: 3]", "每种组合压测的次数，顺序随机 [默认：3]";
    "best": Kind::Choice("BY", &["rate", "p50", "p99"]), &[Sweep];
        "What the best combination is judged by: rate, p50 or p99 [default: p99 at a given rate, rate otherwise]",
        "按什么评判最佳组合：rate、p50 或 p99 [默认：指定速率时为 p99，否则为 rate]";
}

flags! {
    /// Flags of capacity estimates.
    pub(super) CAPACITY;
    "page-views": Kind::Number("N"), &[Capacity], common;
        "Page views in the time of --period, like 30M", "在 --period 时间内的页面浏览量（PV），如 30M";
    "requests-per-view": Kind::Number("N"), &[Capacity];
        "Requests that a page view makes [default: 1]", "每次浏览产生的请求数 [默认：1]";
    "peak": Kind::Text("SHARE:TIME"), &[Capacity], common;
        "How views bunch: this share of them comes in this share of the time [default: 80%:20%]",
        "浏览的集中程度：这一比例的浏览发生在这一比例的时间内 [默认：80%:20%]";
    "period": Kind::Number("TIME"), &[Capacity], common;
        "The time in which the views come [default: 24h]", "这些浏览所在的时间范围 [默认：24h]";
    "rate": Kind::Number("RATE"), &[Capacity], common;
        "Requests per second at the peak, where they are known, like 1400/s", "已知的峰值每秒请求数，如 1400/s";
    "per-machine": Kind::Number("RATE"), &[Capacity], common;
        "What one machine takes, like 69/s", "单台机器可承受的速率，如 69/s";
    "from": Kind::Text("FILE"), &[Capacity], common;
        "Take what one machine takes from the JSON report of a find-max, or from its folder",
        "从 find-max 的 JSON 报告或其目录读取单机可承受的速率";
    "max-utilization": Kind::Text("SHARE"), &[Capacity];
        "How busy a machine may be: as many machines as that needs are told too [default: 75%]",
        "每台机器的最高利用率；同时给出所需的机器数 [默认：75%]";
    "users": Kind::Number("N"), &[Capacity];
        "Users at the same time; with two of rate, response and think time Little's law gives the third",
        "同时在线的用户数；与速率、响应时间、思考时间中的两项一起，按利特尔法则求出另一项";
    "response": Kind::Number("TIME"), &[Capacity];
        "Mean response time, like 200ms", "平均响应时间，如 200ms";
    "think": Kind::Number("TIME"), &[Capacity];
        "Mean think time between two requests of a user, like 5s", "同一用户两次请求之间的平均思考时间，如 5s";
    "cores": Kind::Number("N"), &[Capacity];
        "Cores of a machine; with --wait-time and --cpu-time: how many threads",
        "单机 CPU 核数；配合 --wait-time 和 --cpu-time 求线程数";
    "wait-time": Kind::Number("TIME"), &[Capacity];
        "How long a request waits for others, like 90ms", "一个请求等待其他服务的时间，如 90ms";
    "cpu-time": Kind::Number("TIME"), &[Capacity];
        "How long a request computes, like 10ms", "一个请求占用 CPU 的时间，如 10ms";
    "response-bytes": Kind::Number("BYTES"), &[Capacity];
        "Bytes of an answer with its headers, like 20KiB", "一个响应（含响应头）的字节数，如 20KiB";
    "connections": Kind::Number("N"), &[Capacity];
        "Connections that are held, for ports and memory", "长连接数，用于计算端口和内存";
    "connection-bytes": Kind::Number("BYTES"), &[Capacity];
        "Memory of a connection in the kernel and in the program [default: 4400]",
        "每个连接在内核和程序中占用的内存 [默认：4400]";
    "ports": Kind::Number("N"), &[Capacity];
        "Local ports that a client address has [default: those of this machine]",
        "每个客户端地址可用的本地端口数 [默认：本机的数量]";
}
