//! Flags of other load generators, curl and JMeter, and their equivalents here.

use report::Language;

/// The equivalent of a foreign flag.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meant {
    /// This flag.
    Flag(&'static str),
    /// Something else: in English, in Chinese.
    Said(&'static str, &'static str),
}

use Meant::{Flag, Said};

const PERCENTILES: Meant = Said("percentiles are always shown; leave it out", "百分位总会显示；去掉即可");
const SCRIPTS: Meant = Said(
    "scripts are not supported; several requests come from a file of curl commands: --curl FILE",
    "不支持脚本；多个请求请写成 curl 命令文件：--curl FILE",
);
const TO_SEE: Meant = Said(
    "--debug shows one exchange in full, --show-failures what fails",
    "--debug 完整显示一次请求，--show-failures 显示失败的请求",
);
const HTTP3: Meant = Said("HTTP/3 is not supported; use --http2", "不支持 HTTP/3；请用 --http2");
const REPORTS: Meant = Said(
    "write a report with --json FILE, or for a program: --output json",
    "用 --json FILE 写出报告；给程序用：--output json",
);
const LOOPS: Meant = Said(
    "-n N counts what all users do together, --requests-each N what each of them does, as JMeter's loop count",
    "-n N 是所有用户合计的数量，--requests-each N 是每个用户的数量（相当于 JMeter 的循环次数）",
);
const TIMES: Meant = Said("the timeout is -t TIME, the duration -z TIME", "超时是 -t 时间，持续时间是 -z 时间");

const PORT: Meant = Said("the port stands in the URL: http://host:port/path", "端口写在 URL 里：http://主机:端口/路径");

/// Foreign names, and their equivalents.
const TABLE: &[(&[&str], Meant)] = &[
    (&["--concurrency", "--concurrent", "--vus", "--users", "--clients", "--conns", "--parallel"], Flag("-c N")),
    (&["--rps", "--qps", "--tps", "--throughput", "--request-rate", "--target-rate", "-R", "-r"], Flag("-q RATE")),
    (&["--number", "--num", "--count", "--total", "--num-requests"], Flag("-n N")),
    (&["--loops", "--loop", "--iterations", "--loop-count"], LOOPS),
    (&["--time", "--run-time", "--runtime", "--duration-seconds", "--test-time", "--span"], Flag("-z TIME")),
    (&["--max-time", "--request-timeout", "--read-timeout", "--socket-timeout", "-s"], Flag("-t TIME")),
    (&["--time-limit", "--timelimit", "-T"], TIMES),
    (
        &["--body", "--payload", "--post", "--post-data", "--data-raw", "--data-binary", "--body-string"],
        Flag("-d DATA"),
    ),
    (&["--body-file", "--data-file", "--post-file", "--upload-file"], Flag("-d @FILE")),
    (&["--json-body", "--content-type"], Flag("-H 'Content-Type: application/json' -d DATA")),
    (&["--headers", "--add-header", "--request-header"], Flag("-H 'Name: value'")),
    (&["--request", "--http-method", "--verb", "-m"], Flag("-X METHOD")),
    (&["--cookies", "-C"], Flag("-b 'name=value'")),
    (&["--auth", "--basic-auth", "--basic", "-a", "--username", "--credentials"], Flag("-u NAME:PASSWORD")),
    (&["--agent", "--useragent", "-U"], Flag("-A NAME")),
    (&["--form-data", "--multipart", "--form-string"], Flag("-F name=value")),
    (
        &[
            "--no-tls-verify",
            "--skip-tls-verify",
            "--insecure-skip-tls-verify",
            "--no-verify",
            "--no-check-certificate",
            "--tls-skip-verify",
            "--ssl-insecure",
        ],
        Flag("--insecure"),
    ),
    (&["--ca", "--cafile", "--ca-cert", "--tls-ca"], Flag("--cacert FILE")),
    (&["--follow", "--follow-redirects", "--redirect"], Flag("--location")),
    (&["--redirects", "--max-redirects"], Flag("--location --max-redirs N")),
    (
        &["--disable-keepalive", "--no-keep-alive", "--disable-keep-alive", "--close", "--no-connection-reuse"],
        Flag("--no-keepalive"),
    ),
    (
        &["--keepalive", "--keep-alive", "-K"],
        Said(
            "connections are kept unless --no-keepalive is given; leave it out",
            "默认就是长连接（短连接用 --no-keepalive）；去掉即可",
        ),
    ),
    (&["--h2", "--http2-prior-knowledge", "-2"], Flag("--http2")),
    (&["--h1", "--http1", "--http11", "-1"], Flag("--http1.1")),
    (&["--http10", "-0"], Flag("--http1.0")),
    (&["--http3", "--h3", "--quic", "-3"], HTTP3),
    (&["--max-concurrent-streams", "--multiplex", "--pipeline"], Flag("--http2 --streams N")),
    (&["--ramp-up", "--rampup", "--ramp-up-time", "--hatch-rate", "--spawn-rate"], Flag("--ramp RATE")),
    (&["--stage", "--steps", "--load-profile"], Flag("--stages TARGET:TIME,...")),
    (&["--warm-up", "--warmup-time", "--warmup-duration"], Flag("--warmup TIME")),
    (&["--latency", "--latencies", "--print-latency", "--percentiles", "--histogram"], PERCENTILES),
    (&["--proxy-url", "--http-proxy", "--socks5", "-x"], Flag("--proxy URL")),
    (&["--script", "--lua", "-f", "--file", "--testplan"], SCRIPTS),
    (&["--verbose", "--print", "--dump", "-v", "-i", "--include"], TO_SEE),
    (&["--report", "--out", "--summary-export", "--csv", "--output-file", "-g", "-e"], REPORTS),
    (&["--silent", "--no-progress", "--no-tui", "--disable-tui"], Flag("--quiet")),
    (&["--thread", "--cpus", "--cpu", "--procs", "--processes"], Flag("--threads N")),
    (
        &["--think-time", "--delay", "--sleep", "--wait", "--pause"],
        Said("users do not pause; ask for a rate instead: -q RATE", "用户没有思考时间；请改用固定速率：-q 速率"),
    ),
    (
        &["--slo", "--fail-on", "--assert", "--max-p99", "--thresholds"],
        Flag("--threshold 'p99(response_time) < 200ms'"),
    ),
    (&["--status", "--ok-status", "--expected-status", "--success-codes"], Flag("--expect-status 200,300-399")),
    (&["--add-host"], Flag("--resolve HOST:PORT:ADDRESS")),
    (&["--dns-server", "--dns-servers", "--resolver", "--lookup"], Flag("--dns SERVER")),
    (&["--bind", "--interface", "--local-address", "--local-addr", "-B"], Flag("--source-ip ADDRESSES")),
    (
        &["--url", "--target", "--uri", "--address"],
        Said(
            "the URL stands without a flag: onrush http://host:port/path",
            "URL 不需要参数名：onrush http://主机:端口/路径",
        ),
    ),
    (&["--import-proto", "--proto-file", "--protofile"], Flag("--proto FILE")),
    (
        &["--call", "--rpc"],
        Said(
            "the method stands in the URL: grpc://host:port/package.Service/Method",
            "方法写在 URL 中：grpc://主机:端口/包名.服务/方法",
        ),
    ),
    (&["--metadata", "--rpc-header"], Flag("-H 'name: value'")),
    (
        &["--plaintext", "--no-tls", "--no-ssl"],
        Said(
            "the scheme says so: grpc:// or http:// for none, grpcs:// or https:// for TLS",
            "由协议决定：不加密用 grpc://、http://，TLS 用 grpcs://、https://",
        ),
    ),
    (
        &["--tls", "--ssl", "--https"],
        Said("the scheme says so: https://, wss:// or grpcs://", "由协议决定：https://、wss:// 或 grpcs://"),
    ),
    (&["--language", "--locale"], Flag("--lang en|zh")),
    (&["--colour", "--color", "--no-colour"], Flag("--no-color")),
    (&["--dry-run", "--once"], Flag("--debug")),
    (
        &["--daemon", "--distributed", "--master", "--agents", "--nodes"],
        Said("several machines: --hosts A,B or --cluster BUS", "多台机器：--hosts A,B 或 --cluster 总线"),
    ),
    (&["--compressed", "--gzip", "--accept-encoding"], Flag("-H 'Accept-Encoding: gzip'")),
    (&["--referer", "--referrer"], Flag("-H 'Referer: URL'")),
    (&["--bearer", "--token", "--oauth2-bearer"], Flag("-H 'Authorization: Bearer TOKEN'")),
    (&["--fail", "--strict-mode"], Flag("--strict")),
];

/// The equivalent of a foreign flag.
pub(super) fn meant(flag: &str, command: &str) -> Option<Meant> {
    let name = flag.split_once('=').map_or(flag, |(name, _)| name);
    if ["--port", "-p", "--bind", "--addr", "--address", "--host"].contains(&name) {
        match command {
            "serve" => return Some(Flag("--listen ADDRESS:PORT")),
            "" | "run" if name == "--port" => return Some(PORT),
            _ => {}
        }
    }
    TABLE.iter().find(|(names, _)| names.contains(&name)).map(|(_, meant)| *meant)
}

impl Meant {
    /// As the end of a sentence.
    pub(super) fn say(self, language: Language) -> String {
        match self {
            Flag(flag) => language.pick(format!("here it is {flag}"), format!("在这里是 {flag}")),
            Said(english, chinese) => language.pick(english, chinese).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plan::{did_you_mean, distance};

    use super::*;
    use crate::options::flags::{Mode, rows};

    #[test]
    fn no_flag_of_ours_is_taken_for_one_of_others_and_what_is_named_is_ours() {
        let own: BTreeSet<String> = [Mode::Top, Mode::Hold, Mode::Serve]
            .into_iter()
            .flat_map(rows)
            .flat_map(|row| [Some(format!("--{}", row.name)), row.short.map(|short| format!("-{short}"))])
            .flatten()
            .collect();
        let mut seen = BTreeSet::new();
        let flags: Vec<_> = rows(Mode::Top).into_iter().filter(|row| !row.is_word()).collect();
        for (names, meant) in TABLE {
            for name in *names {
                assert!(seen.insert(*name), "{name} twice");
                assert!(!flags.iter().any(|row| format!("--{}", row.name) == *name), "{name} is ours");
                assert!(
                    !flags.iter().any(|row| row.short.is_some_and(|short| format!("-{short}") == *name)),
                    "{name} is ours"
                );
            }
            let text = [Language::En, Language::Zh].map(|language| meant.say(language)).join(" ");
            let named = text.split(|each: char| !(each.is_ascii_alphanumeric() || "-.".contains(each)));
            for flag in named.filter(|word| word.starts_with('-')) {
                assert!(own.contains(flag), "{flag}, named for {names:?}, is none of ours");
            }
        }
    }

    #[test]
    fn near_words_are_near() {
        assert_eq!((distance("srve", "serve"), distance("versoin", "version"), distance("", "abc")), (1, 1, 3));
        let commands = ["serve", "hold", "demo", "doctor"];
        for (word, meant) in [
            ("srve", Some("serve")),
            ("holdd", Some("hold")),
            ("docter", Some("doctor")),
            ("a", None),
            ("myhost", None),
        ] {
            assert_eq!(did_you_mean(word, commands), meant, "{word}");
        }
    }
}
