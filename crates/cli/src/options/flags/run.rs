//! Flags of the engine, and of the output.

use super::Mode::{Compare, Ctl, Doctor, History, Init, Recover, Report, Run, Top, Worker};
use super::{Kind, Row, flag, modes};

flags! {
    /// Flags of threads, driver and workers.
    pub(super) ENGINE;
    "apply": Kind::Switch, &[Doctor];
        "Make the sysctl changes now and show how to undo each; files are not changed",
        "立即执行 sysctl 修改，并给出撤销命令；不修改任何文件";
    "json": Kind::Switch, &[Doctor];
        "Print JSON", "输出 JSON";
    "workers": Kind::Number("N"), modes::LOADS;
        "Divide the load over N processes of this machine, each with its own descriptors and a share of the threads",
        "把负载分给本机的 N 个工作进程，各有自己的文件描述符和线程";
    "cluster": Kind::Text("BUS"), modes::LOADS;
        "Divide the load over workers that joined this bus, nats:// or tls://HOST:PORT/NAME; --workers N waits for N [default: 1]",
        "分布式压测：把负载分给已加入此总线（nats:// 或 tls://主机:端口/名称）的工作进程；--workers N 表示等到 N 个 [默认：1]";
    "hosts": Kind::Text("HOSTS"), modes::LOADS;
        "Divide the load over workers that are started over ssh: HOST,HOST or @FILE with one in each line; onrush is copied there",
        "分布式压测：通过 ssh 在这些主机上启动工作进程、分担负载：HOST,HOST 或 @FILE（每行一个）；会把 onrush 复制过去";
    "ssh": Kind::Text("COMMAND"), modes::LOADS;
        "The command that gets to --hosts, with its flags [default: ssh]",
        "连接 --hosts 所用的命令及其参数 [默认：ssh]";
    "on-worker-loss": Kind::Choice("WHAT", &["rebalance", "continue", "fail"]), &[Run];
        "When a worker is lost: the others get its share, nobody does, or the run ends [default: rebalance]",
        "有工作进程失联时：rebalance（其余进程接手）、continue（无人接手，继续）或 fail（结束压测）[默认：rebalance]";
    "min-workers": Kind::Number("N"), &[Run];
        "End the run when fewer workers than N have been left for 15 s [default: 1]",
        "剩余工作进程少于 N 个达 15 秒时结束压测 [默认：1]";
    "standby": Kind::Switch, &[Run];
        "With --cluster: run as a hot standby, and take over when the leader is lost",
        "与 --cluster 一起使用：作为备用主控待命，主控进程消失时接管";
    "journal": Kind::Text("DIR"), modes::PINNED;
        "Where what is told on a bus is kept on this machine too, for onrush recover: up to 64 MiB for each run, the last 8 of a name; none for nowhere [default: ~/.local/share/onrush/journals]",
        "本地留存目录：总线上传送的数据在本机另存一份，供 onrush recover 还原：每次压测最多 64 MiB，同名目录保留最近 8 个；none 表示不保存 [默认：~/.local/share/onrush/journals]";
    "join": Kind::Text("BUS"), &[Worker], common;
        "The bus of the run: nats:// or tls://HOST:PORT/NAME, or unix:PATH",
        "压测所用的总线：nats:// 或 tls://主机:端口/名称，或 unix:路径";
    "name": Kind::Text("NAME"), &[Worker], common;
        "What it is called in reports [default: host and process]", "在报告中的名称 [默认：主机名和进程号]";
    "allow-host": Kind::List("HOST"), &[Worker], common;
        "A host or address that it may load, any for all; repeatable [default: this machine and private networks]",
        "允许压测的主机或地址，any 表示不限；可重复 [默认：本机和私有网络]";
    "threads": Kind::Number("N"), modes::THREADED;
        "Threads that generate the load [default: the cores available to this process]",
        "压测线程数 [默认：本进程可用的核数]";
    "pin-threads": Kind::Switch, modes::PINNED;
        "Pin each thread to a core of its own", "把每个线程绑定到各自的核";
    "driver": Kind::Choice("DRIVER", &["auto", "uring", "poll"]), modes::DRIVING, page;
        "How sockets are driven: auto, uring or poll [default: auto, which is io_uring where it works]",
        "网络 I/O 后端：auto、uring（io_uring）或 poll（epoll）[默认：auto，优先使用 io_uring]";
}

flags! {
    /// Flags of output, its destination, and its language.
    pub(super) VIEW;
    "output" / 'o': Kind::Choice("FORMAT", &["text", "json"]), modes::PRINTED, common;
        "Format of stdout: text or json [default: text]", "标准输出的格式：text 或 json [默认：text]";
    "out" / 'o': Kind::Text("FILE"), &[Init], common;
        "Write to FILE [default: stdout]", "写入 FILE [默认：标准输出]";
    "force": Kind::Switch, &[Init], common;
        "Replace FILE if it is there", "FILE 已存在时覆盖";
    "json": Kind::Text("FILE"), modes::PRINTED;
        "Also write the JSON report to a file", "同时把 JSON 报告写入文件";
    "journals": Kind::Words("JOURNAL"), &[Recover], common;
        "Journal folders of the workers and of the leader of one run",
        "各工作进程和主控进程为同一次压测留存数据的目录";
    "run": Kind::Word("RUN"), &[Report], common;
        "A run that was kept: its name, the beginning of it, last, last~1, or its folder",
        "压测记录：名称或其开头、last、last~1，或其目录";
    "runs": Kind::Words("RUN"), &[Compare], common;
        "Two runs that were kept, or those of the first side: names, the beginning of them, last, last~1, or folders",
        "两条压测记录，或第一组的各条记录：名称或其开头、last、last~1，或目录";
    "others": Kind::Behind("RUN"), &[Compare];
        "The runs of the second side, behind --: the runs of each side are pooled, with what differs between them",
        "写在 -- 之后的第二组记录：每组合并计算，组内各次之间的差异也计入波动";
    "json": Kind::Switch, modes::PAST, common;
        "Print JSON", "输出 JSON";
    "trend": Kind::Switch, &[History], common;
        "Show where runs of one plan changed for good", "找出同一计划的各次压测从哪一次起明显变化";
    "html": Kind::Text("FILE"), modes::PAGED;
        "Write the report as one HTML file with charts, which needs no network",
        "把报告写成一个带图表的 HTML 文件，无需网络即可查看";
    "save": Kind::Switch, modes::FRONTS;
        "Do not begin unless all runs can be kept [default: they are kept where that is possible]",
        "无法保存各次压测时不开始 [默认：能保存时保存]";
    "save": Kind::Switch, modes::KEPT;
        "Keep the run as a folder, for history and compare; scenario files do so by themselves",
        "保存本次压测（一个目录），供 history 和 compare 使用；场景文件默认保存";
    "no-save": Kind::Switch, modes::SAVED;
        "Do not keep the run", "不保存本次压测";
    "baseline": Kind::Text("RUN"), modes::KEPT;
        "Compare with an earlier run: its name, last, or its folder",
        "基线，即要与之比较的压测记录：名称、last 或目录";
    "fail-if": Kind::FreeList("DIFFERENCE"), modes::COMPARING;
        "Exit with 1 when the second run differs so, by more than its noise: 'p99(response_time) > +10%', 'rate < -5%'",
        "与基线相比出现这样的变化且超出波动范围时，退出码为 1：'p99(response_time) > +10%'、'rate < -5%'";
    "web": Kind::Switch, modes::SAVED;
        "Show the run on a page that changes and stops it too; the link with its token is printed",
        "用 Web 页面查看本次压测，也可在页面上调整和停止；启动时会打印带令牌的链接";
    "screen": Kind::Switch, modes::LOADS;
        "Show the run in the whole terminal, with charts; keys pause it, change it and stop it",
        "用整个终端显示本次压测，带图表；可用按键暂停、调整和停止";
    "do": Kind::Words("DO"), &[Ctl];
        "What to do: run, events, report, charts, rate N/s, users N, pause, resume, end, stop, mark TEXT, start -- WORDS",
        "要做的操作：run、events、report、charts、rate N/s、users N、pause、resume、end、stop、mark 文字、start -- 参数";
    "page": Kind::Text("LINK"), &[Ctl];
        "The link of the page, or its address with the token in ONRUSH_WEB_TOKEN [default: http://127.0.0.1:8089/]",
        "页面链接；也可只写地址，令牌放在 ONRUSH_WEB_TOKEN 中 [默认：http://127.0.0.1:8089/]";
    "over": Kind::Number("TIME"), &[Ctl];
        "Go to the new rate or users evenly over this time", "在这段时间内均匀变化到新的速率或用户数";
    "scenario": Kind::Text("NAME"), &[Ctl];
        "Which scenario to change, where there are several", "有多个场景时，要调整的场景";
    "at-once": Kind::Switch, &[Ctl];
        "Stop without waiting for what is in flight", "立即停止，不等待在途请求";
    "web-listen": Kind::Text("ADDRESS:PORT"), modes::WATCHED;
        "Where the page is [default: 127.0.0.1:8089]", "页面的监听地址 [默认：127.0.0.1:8089]";
    "hdr": Kind::Text("FILE"), modes::JUDGED;
        "Write the percentiles to FILE, and the intervals to FILE with the extension .hlog, for HdrHistogram tools",
        "把百分位写入 FILE，把各周期写入扩展名为 .hlog 的同名文件，供 HdrHistogram 工具使用";
    "export": Kind::List("KIND=WHERE"), modes::LOADS;
        "Give the figures to other programs while the load runs: prometheus=ADDRESS:PORT, remote-write=URL, otlp=URL, influx=URL, statsd=HOST:PORT, dogstatsd=HOST:PORT, csv=FILE, junit=FILE or github; may be repeated",
        "数据导出，压测期间供监控等程序使用：prometheus=地址:端口、remote-write=URL、otlp=URL、influx=URL、statsd=主机:端口、dogstatsd=主机:端口、csv=文件、junit=文件 或 github；可重复";
    "export-wait": Kind::Number("TIME"), modes::LOADS;
        "How long exports may take when the run is over; a page of Prometheus is not kept longer for its last reader [default: 5s, and 15s for a page]",
        "压测结束后，导出剩余数据最多用多久；也是 Prometheus 抓取端点等待最后一次抓取的上限 [默认：5s，抓取端点为 15s]";
    "slowest": Kind::Number("N"), &[Run], page;
        "Show the N slowest requests with their instants, up to 1000", "显示最慢的 N 个请求及其时刻，最多 1000 个";
    "log": Kind::Text("FILE"), &[Run];
        "Write a line for each request: JSON, or CSV when the name ends in .csv. Lines that come faster than they are written are left out and counted",
        "为每个请求写一行日志：JSON，文件名以 .csv 结尾时为 CSV；来不及写入的行会被略去并计数";
    "log-only": Kind::Choice("WHICH", &["failed"]), &[Run];
        "Log only these requests: failed, which includes dropped and unfinished ones",
        "只记录这些请求：failed（失败，含丢弃和未完成的）";
    "log-share": Kind::Text("SHARE"), &[Run];
        "Log this share of the requests, drawn at random from --seed: 1%, 0.01 [default: 100%]",
        "只记录这个比例的请求，按 --seed 随机抽取：1%、0.01 [默认：100%]";
    "trace": Kind::Switch, &[Run], page;
        "Name a trace in each request (traceparent, W3C Trace Context); --slowest and --log have its id, so that it is found in the traces of the servers",
        "每个请求携带追踪标识（traceparent，W3C Trace Context）；--slowest 与 --log 会给出其 trace id，便于在服务端的链路追踪中查找";
    "interval": Kind::Number("TIME"), modes::LOADS, page;
        "Time between two lines of the table [default: 1s]", "表格每行的周期 [默认：1s]";
    "debug": Kind::Switch, &[Run];
        brief "Send one request and show all of it", "只发送一个请求，完整显示收发的内容";
        "Send one request (of each step), show everything that was sent and received, and exit",
        "只发送一个请求（每个步骤各一个），完整显示收发的内容，然后退出";
    "show-failures": Kind::Switch, &[Run];
        "Show up to 10 failures: the redirects on the way, and what was received (the first 1 KB of a body)",
        "显示最多 10 个失败：经过的重定向，以及收到的内容（响应体前 1 KB）";
    "show-secrets": Kind::Switch, modes::JUDGED;
        "Show secrets (Authorization, cookies, tokens, passwords), which are masked by default",
        "显示敏感信息（Authorization、Cookie、令牌、密码），默认一律隐藏";
    "full": Kind::Switch, modes::SHOWN, page;
        "Show every line of the summary: also delays too short to matter, empty lists, and the histogram on any terminal",
        "显示汇总的全部内容：包括可忽略的延迟、空的列表，以及任意终端上的直方图";
    "quiet": Kind::Switch, modes::PRINTED;
        "Show only the summary, no table", "只显示汇总，不显示表格";
    "quiet": Kind::Switch, &[Worker];
        "Say nothing of what goes on", "不显示进展";
    "no-color": Kind::Switch, modes::PRINTED;
        "Use no colors; NO_COLOR is respected too", "不使用颜色；也可设置 NO_COLOR";
    "config": Kind::Text("FILE"), modes::DRIVING;
        "Read flags from FILE, a line each, like: connections = 100. The command line comes first, then variables like ONRUSH_CONNECTIONS=100, then the file",
        "从 FILE 读取参数，每行一个，如 connections = 100；优先级：命令行、ONRUSH_CONNECTIONS=100 这样的环境变量、文件";
    "lang": Kind::Choice("LANG", &["zh", "en"]), modes::ALL;
        "Language: zh or en [default: by ONRUSH_LANG, LC_ALL, LC_MESSAGES, LANG]",
        "语言：zh 或 en [默认：取自 ONRUSH_LANG、LC_ALL、LC_MESSAGES、LANG]";
    "help" / 'h': Kind::Help, modes::ALL;
        brief "Show common flags (-h), or all (--help)", "显示常用参数（-h）或全部参数（--help）";
        "Show the common flags (-h), or all of them (--help)", "显示常用参数（-h），或全部参数（--help）";
    "version" / 'V': Kind::Version, &[Top];
        "Show the version", "显示版本";
}
