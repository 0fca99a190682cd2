//! The commands and what they mean to people, in both languages; their flags stand in `flags`.
//! Help, completions and manual come from here.

use clap::Command;
use report::Language;

use crate::flags::{self, Mode};

/// English and Chinese.
type Text = (&'static str, &'static str);

const ABOUT: Text = (
    "onrush is a load generator whose numbers are true.\nIt sends requests to a server and shows what came back, second by second and in sum.",
    "onrush 是一个数据真实可信的压测工具。\n它向服务端发送请求，逐秒显示结果，并在结束时给出汇总。",
);

const EXAMPLES: Text = (
    "Examples:
  onrush demo                                   a first look, against a server of its own
  onrush http://127.0.0.1:8080/                 50 connections for 10 seconds
  onrush -c 100 -n 100000 http://127.0.0.1/     100,000 requests over 100 connections
  onrush -z 1m -H 'Cookie: a=b' localhost:8080  a minute with a header of your own
  onrush -d @order.json -H 'Content-Type: application/json' http://127.0.0.1/orders
  onrush -q 5000 -z 1m --threshold 'p99(response_time) < 200ms' http://127.0.0.1/
  onrush grpc://127.0.0.1:8080/hello.Greeter/SayHello -d '{\"name\": \"world\"}'
  onrush hold -c 100000 --every 30s ws://127.0.0.1:8080/
  onrush -c 100 -z 30s curl 'http://127.0.0.1/api' -H 'Cookie: a=b' --data-raw '{}'   a command of curl as it is
  onrush as wrk -t2 -c100 -d30s --latency http://127.0.0.1/   and of wrk, wrk2, ab, hey, oha, webbench, go-stress-testing
  onrush --output json -z 5s http://127.0.0.1/ | jq .requests_per_s

Exit codes: 0 done, 1 an expectation (--expect-...), threshold or self-test failed, 2 wrong usage, 3 nothing could be measured,
4 a report could not be written or the system refused, 130 stopped by the user.",
    "示例：
  onrush demo                                   快速体验，压测自带的服务
  onrush http://127.0.0.1:8080/                 50 个连接，持续 10 秒
  onrush -c 100 -n 100000 http://127.0.0.1/     100 个连接，共 100,000 个请求
  onrush -z 1m -H 'Cookie: a=b' localhost:8080  持续一分钟，带自定义请求头
  onrush -d @order.json -H 'Content-Type: application/json' http://127.0.0.1/orders
  onrush -q 5000 -z 1m --threshold 'p99(response_time) < 200ms' http://127.0.0.1/
  onrush grpc://127.0.0.1:8080/hello.Greeter/SayHello -d '{\"name\": \"world\"}'
  onrush hold -c 100000 --every 30s ws://127.0.0.1:8080/
  onrush -c 100 -z 30s curl 'http://127.0.0.1/api' -H 'Cookie: a=b' --data-raw '{}'   直接使用 curl 命令
  onrush as wrk -t2 -c100 -d30s --latency http://127.0.0.1/   也支持 wrk2、ab、hey、oha、webbench、go-stress-testing
  onrush --output json -z 5s http://127.0.0.1/ | jq .requests_per_s

退出码：0 完成；1 未达到期望（--expect-...）、阈值或自检未通过；2 用法错误；3 没有测到任何数据；
4 报告无法写出或系统不允许运行；130 被用户中止。",
);

/// The text of a command.
pub(crate) fn about(command: &str) -> Text {
    match command {
        "run" => ("Load a URL (the word run may be left out)", "压测一个 URL（run 可以省略）"),
        "demo" => (
            "Start a server on a free local port, load it for 5 seconds, show table and summary",
            "在空闲的本地端口启动服务，压测 5 秒，显示表格和汇总",
        ),
        "serve" => (
            "Serve WebSocket (an echo on any path) and paths with known behaviour to load: / /bytes/N /chunked/N /delay/MS /delay/uniform/LOW-HIGH /delay/lognormal/MEDIAN,SIGMA /serial/MS (one at a time) /stall/AFTER/FOR (all stand still, ms) /fail/PERCENT[/STATUS] /drip/PIECES/MS /status/N /redirect/N /echo /close /drop /stats /conns; HTTP/2 too, and gRPC: hello.Greeter, with reflection",
            "启动行为已知的被测服务，任意路径可作 WebSocket 回显：/ /bytes/N /chunked/N /delay/毫秒 /delay/uniform/最短-最长 /delay/lognormal/中位数,SIGMA /serial/毫秒（一次只处理一个） /stall/多久之后/多久（整体停顿，毫秒） /fail/百分比[/状态码] /drip/块数/毫秒 /status/N /redirect/N /echo /close /drop /stats /conns；也支持 HTTP/2 和 gRPC（hello.Greeter，带反射）",
        ),
        "hold" => (
            "Hold many connections: open them at a pace, keep them, speak on them, close them in order; a million on one machine",
            "保持大量长连接：按节奏建立、保持、收发消息、正常关闭；单机可达百万",
        ),
        "doctor" => (
            "Say how many connections this machine carries, what is the narrowest, and how to widen it",
            "检查本机能承载多少连接、瓶颈在哪里、如何放宽",
        ),
        "selftest" => (
            "Load a server of known behaviour and compare every figure with what it must be; under a minute",
            "压测行为已知的服务，把每项数据与理论值对比；不到一分钟",
        ),
        "grpc" => (
            "Ask a gRPC server what services it has (server reflection), or read it from .proto files",
            "查询 gRPC 服务端有哪些服务（服务端反射），或从 .proto 文件读取",
        ),
        "list" => (
            "List the services, or the methods of one: onrush grpc list grpc://host:port [package.Service]",
            "列出所有服务，或某个服务的方法：onrush grpc list grpc://主机:端口 [包名.服务]",
        ),
        "describe" => (
            "Describe a service, method, message or enum, with a -d to begin with: onrush grpc describe grpc://host:port package.Service/Method",
            "查看服务、方法、消息或枚举的定义，并给出 -d 的样例：onrush grpc describe grpc://主机:端口 包名.服务/方法",
        ),
        "completions" => ("Print the completions of a shell", "输出 shell 补全脚本"),
        "man" => ("Print the manual page", "输出 man 手册页"),
        _ => ABOUT,
    }
}

/// The commands, in the order of the help.
pub(crate) const COMMANDS: [(&str, Mode); 9] = [
    ("run", Mode::Run),
    ("demo", Mode::Demo),
    ("serve", Mode::Serve),
    ("hold", Mode::Hold),
    ("doctor", Mode::Doctor),
    ("selftest", Mode::Selftest),
    ("grpc", Mode::Grpc),
    ("completions", Mode::Completions),
    ("man", Mode::Man),
];

/// The questions of `grpc`.
pub(crate) const QUESTIONS: [&str; 2] = ["list", "describe"];

/// The command line with its texts in a language.
pub(crate) fn command(language: Language) -> Command {
    let commands = COMMANDS.map(|(name, mode)| match mode {
        Mode::Grpc => one(name, mode, language)
            .subcommands(QUESTIONS.map(|question| one(question, Mode::Ask, language)))
            .subcommand_required(true)
            .arg_required_else_help(true),
        _ => one(name, mode, language),
    });
    one("onrush", Mode::Top, language)
        .version(env!("CARGO_PKG_VERSION"))
        .args_conflicts_with_subcommands(true)
        .disable_help_subcommand(true)
        .subcommands(commands)
        .after_help(language.pick(EXAMPLES.0, EXAMPLES.1))
}

fn one(name: &'static str, mode: Mode, language: Language) -> Command {
    let (usage, commands) = language.pick(("Usage:", "Commands"), ("用法：", "命令"));
    let (english, chinese) = about(name);
    Command::new(name)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .about(language.pick(english, chinese))
        .help_template(format!("{{about}}\n\n{usage} {{usage}}\n\n{{all-args}}\n\n{{after-help}}"))
        .subcommand_help_heading(commands)
        .args(flags::rows(mode).iter().map(|row| row.arg(language)))
}

#[cfg(test)]
mod tests;
