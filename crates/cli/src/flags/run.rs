//! Flags of the engine, and of the output.

use super::Mode::{Compare, Ctl, Doctor, History, Init, Recover, Report, Run, Top, Worker};
use super::{Kind, Row, flag, modes};

/// Flags of threads, driver and workers.
pub(super) const ENGINE: &[Row] = &[
    flag("apply", Kind::Switch, &[Doctor]).help(
        "Make the sysctl changes now and show how to undo each; files are not changed",
        "立即执行 sysctl 修改，并给出撤销命令；不修改任何文件",
    ),
    flag("json", Kind::Switch, &[Doctor]).help("Print JSON", "输出 JSON"),
    flag("workers", Kind::Number("N"), modes::LOADS).help(
        "Divide the load over N processes of this machine, each with its own descriptors and a share of the threads",
        "把负载分给本机的 N 个工作进程，各有自己的文件描述符和线程",
    ),
    flag("cluster", Kind::Text("BUS"), modes::LOADS).help(
        "Divide the load over workers that joined this bus, nats:// or tls://HOST:PORT/NAME; --workers N waits for N [default: 1]",
        "分布式压测：把负载分给已加入此总线（nats:// 或 tls://主机:端口/名称）的工作进程；--workers N 表示等到 N 个 [默认：1]",
    ),
    flag("hosts", Kind::Text("HOSTS"), modes::LOADS).help(
        "Divide the load over workers that are started over ssh: HOST,HOST or @FILE with one in each line; onrush is copied there",
        "分布式压测：通过 ssh 在这些主机上启动工作进程、分担负载：HOST,HOST 或 @FILE（每行一个）；会把 onrush 复制过去",
    ),
    flag("ssh", Kind::Text("COMMAND"), modes::LOADS)
        .help("The command that gets to --hosts, with its flags [default: ssh]", "连接 --hosts 所用的命令及其参数 [默认：ssh]"),
    flag("on-worker-loss", Kind::Choice("WHAT", &["rebalance", "continue", "fail"]), &[Run]).help(
        "When a worker is lost: the others get its share, nobody does, or the run ends [default: rebalance]",
        "有工作进程失联时：rebalance（其余进程接手）、continue（无人接手，继续）或 fail（结束压测）[默认：rebalance]",
    ),
    flag("min-workers", Kind::Number("N"), &[Run]).help(
        "End the run when fewer workers than N have been left for 15 s [default: 1]",
        "剩余工作进程少于 N 个达 15 秒时结束压测 [默认：1]",
    ),
    flag("standby", Kind::Switch, &[Run]).help(
        "With --cluster: run as a hot standby, and take over when the leader is lost",
        "与 --cluster 一起使用：作为备用主控待命，主控进程消失时接管",
    ),
    flag("journal", Kind::Text("DIR"), modes::PINNED).help(
        "Where what is told on a bus is kept on this machine too, for onrush recover: up to 64 MiB for each run, the last 8 of a name; none for nowhere [default: ~/.local/share/onrush/journals]",
        "本地留存目录：总线上传送的数据在本机另存一份，供 onrush recover 还原：每次压测最多 64 MiB，同名目录保留最近 8 个；none 表示不保存 [默认：~/.local/share/onrush/journals]",
    ),
    flag("join", Kind::Text("BUS"), &[Worker])
        .common()
        .help("The bus of the run: nats:// or tls://HOST:PORT/NAME, or unix:PATH", "压测所用的总线：nats:// 或 tls://主机:端口/名称，或 unix:路径"),
    flag("name", Kind::Text("NAME"), &[Worker])
        .common()
        .help("What it is called in reports [default: host and process]", "在报告中的名称 [默认：主机名和进程号]"),
    flag("allow-host", Kind::List("HOST"), &[Worker]).common().help(
        "A host or address that it may load, any for all; repeatable [default: this machine and private networks]",
        "允许压测的主机或地址，any 表示不限；可重复 [默认：本机和私有网络]",
    ),
    flag("threads", Kind::Number("N"), modes::THREADED).help(
        "Threads that generate the load [default: the cores available to this process]",
        "压测线程数 [默认：本进程可用的核数]",
    ),
    flag("pin-threads", Kind::Switch, modes::PINNED)
        .help("Pin each thread to a core of its own", "把每个线程绑定到各自的核"),
    flag("driver", Kind::Choice("DRIVER", &["auto", "uring", "poll"]), modes::DRIVING).page().help(
        "How sockets are driven: auto, uring or poll [default: auto, which is io_uring where it works]",
        "网络 I/O 后端：auto、uring（io_uring）或 poll（epoll）[默认：auto，优先使用 io_uring]",
    ),
];

/// Flags of output, its destination, and its language.
pub(super) const VIEW: &[Row] = &[
    flag("output", Kind::Choice("FORMAT", &["text", "json"]), modes::PRINTED)
        .short('o')
        .common()
        .help("Format of stdout: text or json [default: text]", "标准输出的格式：text 或 json [默认：text]"),
    flag("out", Kind::Text("FILE"), &[Init])
        .short('o')
        .common()
        .help("Write to FILE [default: stdout]", "写入 FILE [默认：标准输出]"),
    flag("force", Kind::Switch, &[Init]).common().help("Replace FILE if it is there", "FILE 已存在时覆盖"),
    flag("json", Kind::Text("FILE"), modes::PRINTED)
        .help("Also write the JSON report to a file", "同时把 JSON 报告写入文件"),
    flag("journals", Kind::Words("JOURNAL"), &[Recover]).common().help(
        "Journal folders of the workers and of the leader of one run",
        "各工作进程和主控进程为同一次压测留存数据的目录",
    ),
    flag("run", Kind::Word("RUN"), &[Report]).common().help(
        "A run that was kept: its name, the beginning of it, last, last~1, or its folder",
        "压测记录：名称或其开头、last、last~1，或其目录",
    ),
    flag("runs", Kind::Words("RUN"), &[Compare]).common().help(
        "Two runs that were kept, or those of the first side: names, the beginning of them, last, last~1, or folders",
        "两条压测记录，或第一组的各条记录：名称或其开头、last、last~1，或目录",
    ),
    flag("others", Kind::Behind("RUN"), &[Compare]).help(
        "The runs of the second side, behind --: the runs of each side are pooled, with what differs between them",
        "写在 -- 之后的第二组记录：每组合并计算，组内各次之间的差异也计入波动",
    ),
    flag("json", Kind::Switch, modes::PAST).common().help("Print JSON", "输出 JSON"),
    flag("trend", Kind::Switch, &[History]).common().help(
        "Show where runs of one plan changed for good",
        "找出同一计划的各次压测从哪一次起明显变化",
    ),
    flag("html", Kind::Text("FILE"), modes::PAGED).help(
        "Write the report as one HTML file with charts, which needs no network",
        "把报告写成一个带图表的 HTML 文件，无需网络即可查看",
    ),
    flag("save", Kind::Switch, modes::FRONTS).help(
        "Do not begin unless all runs can be kept [default: they are kept where that is possible]",
        "无法保存各次压测时不开始 [默认：能保存时保存]",
    ),
    flag("save", Kind::Switch, modes::KEPT).help(
        "Keep the run as a folder, for history and compare; scenario files do so by themselves",
        "保存本次压测（一个目录），供 history 和 compare 使用；场景文件默认保存",
    ),
    flag("no-save", Kind::Switch, modes::SAVED).help("Do not keep the run", "不保存本次压测"),
    flag("baseline", Kind::Text("RUN"), modes::KEPT).help(
        "Compare with an earlier run: its name, last, or its folder",
        "基线：与之前的一次压测比较：名称、last，或目录",
    ),
    flag("fail-if", Kind::FreeList("DIFFERENCE"), modes::COMPARING).help(
        "Exit with 1 when the second run differs so, by more than its noise: 'p99(response_time) > +10%', 'rate < -5%'",
        "与基线相比出现这样的变化且超出波动范围时，退出码为 1：'p99(response_time) > +10%'、'rate < -5%'",
    ),
    flag("web", Kind::Switch, modes::SAVED).help(
        "Show the run on a page that changes and stops it too; the link with its token is printed",
        "用 Web 页面查看本次压测，也可在页面上调整和停止；启动时会打印带令牌的链接",
    ),
    flag("screen", Kind::Switch, modes::LOADS).help(
        "Show the run in the whole terminal, with charts; keys pause it, change it and stop it",
        "用整个终端显示本次压测，带图表；可用按键暂停、调整和停止",
    ),
    flag("do", Kind::Words("DO"), &[Ctl]).help(
        "What to do: run, events, report, charts, rate N/s, users N, pause, resume, end, stop, mark TEXT, start -- WORDS",
        "要做的操作：run、events、report、charts、rate N/s、users N、pause、resume、end、stop、mark 文字、start -- 参数",
    ),
    flag("page", Kind::Text("LINK"), &[Ctl]).help(
        "The link of the page, or its address with the token in ONRUSH_WEB_TOKEN [default: http://127.0.0.1:8089/]",
        "页面链接；也可只写地址，令牌放在 ONRUSH_WEB_TOKEN 中 [默认：http://127.0.0.1:8089/]",
    ),
    flag("over", Kind::Number("TIME"), &[Ctl])
        .help("Go to the new rate or users evenly over this time", "在这段时间内均匀变化到新的速率或用户数"),
    flag("scenario", Kind::Text("NAME"), &[Ctl])
        .help("Which scenario to change, where there are several", "有多个场景时，要调整的场景"),
    flag("at-once", Kind::Switch, &[Ctl])
        .help("Stop without waiting for what is in flight", "立即停止，不等待在途请求"),
    flag("web-listen", Kind::Text("ADDRESS:PORT"), modes::WATCHED)
        .help("Where the page is [default: 127.0.0.1:8089]", "页面的监听地址 [默认：127.0.0.1:8089]"),
    flag("hdr", Kind::Text("FILE"), modes::JUDGED).help(
        "Write the percentiles to FILE, and the intervals to FILE with the extension .hlog, for HdrHistogram tools",
        "把百分位写入 FILE，把各周期写入扩展名为 .hlog 的同名文件，供 HdrHistogram 工具使用",
    ),
    flag("export", Kind::List("KIND=WHERE"), modes::LOADS).help(
        "Give the figures to other programs while the load runs: prometheus=ADDRESS:PORT, remote-write=URL, otlp=URL, influx=URL, statsd=HOST:PORT, dogstatsd=HOST:PORT, csv=FILE, junit=FILE or github; may be repeated",
        "数据导出，压测期间供监控等程序使用：prometheus=地址:端口、remote-write=URL、otlp=URL、influx=URL、statsd=主机:端口、dogstatsd=主机:端口、csv=文件、junit=文件 或 github；可重复",
    ),
    flag("export-wait", Kind::Number("TIME"), modes::LOADS).help(
        "How long exports may take when the run is over; a page of Prometheus is not kept longer for its last reader [default: 5s, and 15s for a page]",
        "压测结束后导出最多还可用多久；也是 Prometheus 抓取端点等待最后一次抓取的上限 [默认：5s，抓取端点为 15s]",
    ),
    flag("slowest", Kind::Number("N"), &[Run]).page().help(
        "Show the N slowest requests with their instants, up to 1000",
        "显示最慢的 N 个请求及其时刻，最多 1000 个",
    ),
    flag("log", Kind::Text("FILE"), &[Run]).help(
        "Write a line for each request: JSON, or CSV when the name ends in .csv. Lines that come faster than they are written are left out and counted",
        "为每个请求写一行日志：JSON，文件名以 .csv 结尾时为 CSV；来不及写入的行会被略去并计数",
    ),
    flag("log-only", Kind::Choice("WHICH", &["failed"]), &[Run]).help(
        "Log only these requests: failed, which includes dropped and unfinished ones",
        "只记录这些请求：failed（失败，含丢弃和未完成的）",
    ),
    flag("log-share", Kind::Text("SHARE"), &[Run]).help(
        "Log this share of the requests, drawn at random from --seed: 1%, 0.01 [default: 100%]",
        "只记录这个比例的请求，按 --seed 随机抽取：1%、0.01 [默认：100%]",
    ),
    flag("trace", Kind::Switch, &[Run]).page().help(
        "Name a trace in each request (traceparent, W3C Trace Context); --slowest and --log have its id, so that it is found in the traces of the servers",
        "每个请求携带追踪标识（traceparent，W3C Trace Context）；--slowest 与 --log 会给出其 trace id，便于在服务端的链路追踪中查找",
    ),
    flag("interval", Kind::Number("TIME"), modes::LOADS).page().help(
        "Time between two lines of the table [default: 1s]",
        "表格每行的周期 [默认：1s]",
    ),
    flag("debug", Kind::Switch, &[Run]).brief(
        "Send one request and show all of it",
        "只发送一个请求，完整显示收发的内容",
    ).help(
        "Send one request (of each step), show everything that was sent and received, and exit",
        "只发送一个请求（每个步骤各一个），完整显示收发的内容，然后退出",
    ),
    flag("show-failures", Kind::Switch, &[Run]).help(
        "Show up to 10 failures: the redirects on the way, and what was received (the first 1 KB of a body)",
        "显示最多 10 个失败：经过的重定向，以及收到的内容（响应体前 1 KB）",
    ),
    flag("show-secrets", Kind::Switch, modes::JUDGED).help(
        "Show secrets (Authorization, cookies, tokens, passwords), which are masked by default",
        "显示敏感信息（Authorization、Cookie、令牌、密码），默认一律隐藏",
    ),
    flag("full", Kind::Switch, modes::SHOWN).page().help(
        "Show every line of the summary: also delays too short to matter, empty lists, and the histogram on any terminal",
        "显示汇总的全部内容：包括可忽略的延迟、空的列表，以及任意终端上的直方图",
    ),
    flag("quiet", Kind::Switch, modes::PRINTED).help("Show only the summary, no table", "只显示汇总，不显示表格"),
    flag("quiet", Kind::Switch, &[Worker]).help("Say nothing of what goes on", "不显示进展"),
    flag("no-color", Kind::Switch, modes::PRINTED)
        .help("Use no colors; NO_COLOR is respected too", "不使用颜色；也可设置 NO_COLOR"),
    flag("config", Kind::Text("FILE"), modes::DRIVING).help(
        "Read flags from FILE, a line each, like: connections = 100. The command line comes first, then variables like ONRUSH_CONNECTIONS=100, then the file",
        "从 FILE 读取参数，每行一个，如 connections = 100；优先级：命令行、ONRUSH_CONNECTIONS=100 这样的环境变量、文件",
    ),
    flag("lang", Kind::Choice("LANG", &["zh", "en"]), modes::ALL).help(
        "Language: zh or en [default: from LC_ALL, LC_MESSAGES, LANG]",
        "语言：zh 或 en [默认：取自 ONRUSH_LANG、LC_ALL、LC_MESSAGES、LANG]",
    ),
    flag("help", Kind::Help, modes::ALL).short('h').brief(
        "Show common flags (-h), or all (--help)",
        "显示常用参数（-h）或全部参数（--help）",
    )
        .help("Show the common flags (-h), or all of them (--help)", "显示常用参数（-h），或全部参数（--help）"),
    flag("version", Kind::Version, &[Top]).short('V').help("Show the version", "显示版本"),
];
