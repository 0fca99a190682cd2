//! `onrush serve`: the built-in target, until it is stopped.

mod custom;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc::channel;

use plan::{PlanError, parse_count, parse_duration};
use report::{Doing, Language};
use target::{Behavior, Certificate, ServeError, ServeOptions, Server};
use wire::tls::ServerConfig;

use crate::commands::run;
use crate::exit::Exit;
use crate::options::args::ServeArgs;
use crate::options::parse_addr::read_address;
use crate::options::usage;
use crate::output;
use crate::session::signals;

const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

pub(crate) fn serve(args: &ServeArgs) -> Exit {
    let language = usage::language();
    let options = match server_options(args, language) {
        Ok(options) => options,
        Err((text, exit)) => {
            output::complain(&text);
            return exit;
        }
    };
    let server = match Server::start(&options) {
        Ok(server) => server,
        Err(error) => {
            output::complain(&serve_error(&error, language));
            return if matches!(error, ServeError::Protocol(_)) { Exit::Usage } else { Exit::System };
        }
    };
    let (stop, stopped) = channel();
    let watching =
        signals::watch(move || stop.send(()).unwrap_or_default(), || std::process::exit(Exit::Stopped as i32));
    if let Err(error) = watching {
        output::complain(&serve_error(&ServeError::System(error), language));
        return Exit::System;
    }
    let scheme = custom::scheme(options.protocol.as_deref(), options.tls.is_some());
    let address = server.address();
    let and_tcp = server.tcp_address().map_or(String::new(), |tcp| {
        language.pick(format!("listening on tcp://{tcp}\n"), format!("正在监听 tcp://{tcp}\n"))
    });
    let line = language.pick(
        format!("listening on {scheme}://{address}/\n{and_tcp}"),
        format!("正在监听 {scheme}://{address}/\n{and_tcp}"),
    );
    // A server is of use without a reader of this line.
    output::write_stdout(&line, language);
    // The sender lives as long as its thread, which never ends by itself.
    let _ = stopped.recv();
    let stats = server.stats_json();
    server.stop();
    output::note(stats.trim_end());
    Exit::Done
}

/// The options of the server; or the error, and its exit code.
fn server_options(args: &ServeArgs, language: Language) -> Result<ServeOptions, (String, Exit)> {
    let wrong = |text: String| (text, Exit::Usage);
    let listen = args.listen.as_deref().map_or(Some(LISTEN_DEFAULT), read_address).ok_or_else(|| {
        let value = args.listen.as_deref().unwrap_or_default();
        wrong(language.pick(
            format!("--listen wants an address and a port like 127.0.0.1:8080 or :8080, not '{value}'"),
            format!("--listen 的值 '{value}' 无效：应为 127.0.0.1:8080 或 :8080 这样的地址和端口"),
        ))
    })?;
    let threads = custom::check(args).and_then(|()| run::threads(args.threads.as_deref()));
    let read = threads.and_then(|threads| Ok((threads, behavior(args)?)));
    let (threads, behavior) = match read.map_err(|error| wrong(report::plan_error(&error, language)))? {
        // Each thread of a custom protocol has a service of its own, with its own data.
        (_, behavior) if args.protocol.is_some() && args.threads.is_none() => (1, behavior),
        read => read,
    };
    let tls = tls(args, listen.ip(), language).map_err(wrong)?;
    let tcp = args.tcp.as_deref().map(|text| tcp_address(text, listen, language)).transpose().map_err(wrong)?;
    host::raise_descriptor_limit();
    let driver = driver::choose(args.driver.choice())
        .map_err(|error| (report::driver_error(&error, language), Exit::System))?
        .kind;
    Ok(ServeOptions { listen, threads, driver, behavior, tls, tcp, protocol: args.protocol.clone() })
}

/// The address for plain TCP; or the error.
fn tcp_address(text: &str, listen: SocketAddr, language: Language) -> Result<SocketAddr, String> {
    match read_address(text) {
        // A port alone means the address of the other listener.
        Some(address) if text.parse::<u16>().is_ok() => Ok(SocketAddr::new(listen.ip(), address.port())),
        Some(address) => Ok(address),
        None => Err(language.pick(
            format!("--tcp wants a port like 9000 or an address like 127.0.0.1:9000, not '{text}'"),
            format!("--tcp 的值 '{text}' 无效：应为 9000 这样的端口或 127.0.0.1:9000 这样的地址"),
        )),
    }
}

/// The TLS server configuration, if wanted; or the error.
fn tls(args: &ServeArgs, address: IpAddr, language: Language) -> Result<Option<ServerConfig>, String> {
    let given = [("--cert", args.cert.is_some()), ("--key", args.key.is_some())];
    if let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given && !args.is_tls) {
        return Err(language.pick(format!("{flag} needs --tls"), format!("{flag} 需要同时给出 --tls")));
    }
    if args.cert.is_none() && args.key.is_some() {
        return Err(language.pick("--key needs --cert", "--key 需要同时给出 --cert").to_owned());
    }
    if !args.is_tls {
        return Ok(None);
    }
    let read = |flag: &str, path: &String| {
        std::fs::read(path).map_err(|reason| {
            let otherwise = ("check the path", "请检查路径");
            let why = report::system_fault(&reason.to_string(), Doing::Read, otherwise, language);
            language.pick(
                format!("cannot read the file '{path}' given to {flag}: {why}"),
                format!("无法读取 {flag} 指定的文件 '{path}'：{why}"),
            )
        })
    };
    let certificate = match &args.cert {
        None => Certificate::self_signed(address),
        Some(cert) => Ok(Certificate {
            chain: read("--cert", cert)?,
            key: args.key.as_ref().map_or_else(|| read("--cert", cert), |key| read("--key", key))?,
        }),
    };
    let with_alpn = args.protocol.is_none();
    let config = certificate.and_then(if with_alpn { Certificate::config } else { Certificate::config_without_alpn });
    config.map(Some).map_err(|error| report::tls_error(&error.into(), language))
}

/// The behavior of all connections.
fn behavior(args: &ServeArgs) -> Result<Behavior, PlanError> {
    let usual = Behavior::default();
    let number = |flag, text: &Option<String>, least, most| {
        text.as_deref().map(|text| parse_count(flag, text, least, most)).transpose()
    };
    let delay = args.accept_delay.as_deref().map(|text| parse_duration("--accept-delay", text)).transpose()?;
    Ok(Behavior {
        seed: number("--seed", &args.seed, 0, u64::MAX)?.unwrap_or(usual.seed),
        accept_delay: delay.unwrap_or(usual.accept_delay),
        push: args
            .push
            .as_deref()
            .map(|text| plan::parse_duration("--push", text))
            .transpose()?
            .filter(|span| !span.is_zero()),
        is_proxy: args.as_proxy,
        close_after: number("--close-after", &args.close_after, 1, u64::from(u32::MAX))?.map(|count| count as u32),
    })
}

/// The error message of `serve` and `demo`.
pub(crate) fn serve_error(error: &ServeError, language: Language) -> String {
    match (language, error) {
        (_, ServeError::Listen { address, reason }) => {
            let otherwise = ("choose another address", "请换一个地址");
            let why = report::system_fault(&reason.to_string(), Doing::Listen, otherwise, language);
            language.pick(
                format!("cannot listen on {address}: {why} (--listen)"),
                format!("无法监听 {address}：{why}（--listen）"),
            )
        }
        (_, ServeError::Protocol(error)) => custom::explain(error, language),
        (Language::En, error) => error.to_string(),
        (Language::Zh, ServeError::System(reason)) => report::in_chinese(&format!(
            "被测服务无法在此系统上运行：{reason}；请调大上限（ulimit -n、内存）或减少 --threads"
        )),
    }
}
