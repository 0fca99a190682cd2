//! Parsing of the text of each flag into its type.

use std::time::Duration;

use super::custom::{request_of, status_words};
use super::time_as_data::refuse_time_as_data;
use super::{Flags, HoldFlags};
use crate::address::Scheme;
use crate::curl::command_of_form;
use crate::draft::{
    Body, CallOptions, Commands, Connection, HoldDraft, Load, MessagingOptions, ProxyRequest, REQUESTS_MAX,
    RESPONSE_BYTES_MAX, Ramp, Request, ResponseChecks, Security, Stages, flag_of,
};
use crate::endpoints::{parse_places, parse_sources, parse_unix_socket};
use crate::names::{ADDRESS_CHOICES, NameOptions, parse_dns_server, parse_lookup_again};
use crate::proxy::{exceptions_of, parse_header_sources};
use crate::route_overrides::{ConnectTo, Resolve, RouteOverrides};
use crate::text::{MILLI, parse_span};
use crate::{
    Address, Arrivals, Budget, CONNECTION_TIME_MIN, CaptureOptions, ConnectionLimits, Draft, Header, HeaderCheck,
    HoldWork, INTERVAL_MIN, JsonCheck, MESSAGE_BYTES_MAX, MessageKind, Need, PlanError, Proxy, ProxyHeaderVersion,
    ProxyOptions, Remedy, ResponseEnd, STREAMS_MAX, StatusSet, TextCheck, TlsVersion, USERS_MAX, Version, parse_count,
    parse_duration, parse_rate, parse_stages, parse_user_stages,
};

/// The seed of random starts: they are the same in each run, so that two runs can be compared.
const ARRIVALS_SEED: u64 = 1;
/// The default seed of random bytes.
const SEED_DEFAULT: u64 = 1;
/// The longest delimiter; the parser that searches for it has the same limit.
const DELIMITER_BYTES_MAX: usize = 64;
/// The longest ALPN name (RFC 7301, 3.1).
const ALPN_NAME_BYTES_MAX: usize = 255;

/// An optional typed text.
type Typed = Option<String>;

pub(super) fn draft(flags: &Flags) -> Result<Draft, PlanError> {
    refuse_time_as_data(flags, "-z")?;
    values(flags)
}

/// Parses each value.
fn values(flags: &Flags) -> Result<Draft, PlanError> {
    if let Some((url, user)) = flags.url.as_deref().and_then(Address::without_user) {
        // As curl: a flag takes precedence.
        let user = flags.user.clone().or(Some(user));
        return values(&Flags { url: Some(url), user, ..flags.clone() });
    }
    let url = flags.url.as_deref().map(Address::parse).transpose()?;
    let scheme = url.as_ref().map_or(Scheme::Http, |url| url.scheme);
    if let Some(url) = url.as_ref().filter(|_| !flags.form.is_empty()) {
        return form(flags, url);
    }
    if !flags.form.is_empty() {
        return Err(PlanError::Needs { flag: "--form", needed: Need::Http });
    }
    Ok(Draft {
        commands: commands(flags)?,
        request: request(flags, scheme)?,
        responses: responses(flags, scheme)?,
        connection: connection(flags)?,
        load: load(flags)?,
        grace: time("--grace", &flags.grace)?,
        interval: span("--interval", &flags.interval, INTERVAL_MIN)?,
        capture_options: CaptureOptions { ignores_failures: flags.ignores_failures, ..CaptureOptions::default() },
        consents: flags.consents.clone(),
        budget: read(&flags.budget, Budget::parse)?.unwrap_or_default(),
        url,
    })
}

pub(super) fn hold_draft(flags: &HoldFlags) -> Result<HoldDraft, PlanError> {
    refuse_time_as_data(&flags.common, "--hold")?;
    Ok(HoldDraft {
        common: values(&flags.common)?,
        duration: time("--hold", &flags.hold)?,
        work: work(flags)?,
        reconnects: flags.reconnect,
    })
}

fn read<T>(text: &Typed, read: impl Fn(&str) -> Result<T, PlanError>) -> Result<Option<T>, PlanError> {
    text.as_deref().map(read).transpose()
}

fn all<T>(texts: &[String], read: impl Fn(&str) -> Result<T, PlanError>) -> Result<Vec<T>, PlanError> {
    texts.iter().map(|text| read(text)).collect()
}

fn time(flag: &'static str, text: &Typed) -> Result<Option<Duration>, PlanError> {
    read(text, |text| parse_duration(flag, text))
}

fn span(flag: &'static str, text: &Typed, least: Duration) -> Result<Option<Duration>, PlanError> {
    read(text, |text| parse_span(flag, text, least))
}

fn count(flag: &'static str, text: &Typed, least: u64, most: u64) -> Result<Option<u64>, PlanError> {
    read(text, |text| parse_count(flag, text, least, most))
}

fn rate(flag: &'static str, text: &Typed) -> Result<Option<u64>, PlanError> {
    read(text, |text| parse_rate(flag, text))
}

/// One of a set of words.
fn choice<T: Copy>(flag: &'static str, text: &Typed, words: &[(&str, T)], choices: &'static str) -> FlagChoice<T> {
    read(text, |text| match words.iter().find(|(word, _)| *word == text) {
        Some((_, value)) => Ok(*value),
        None => Err(PlanError::Choice { flag, value: text.to_owned(), choices }),
    })
}

type FlagChoice<T> = Result<Option<T>, PlanError>;

/// At most one of several flags.
fn at_most_one(given: &[(&'static str, bool)], remedy: Remedy) -> Result<(), PlanError> {
    let mut given = given.iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| *flag);
    match (given.next(), given.next()) {
        (Some(one), Some(other)) => Err(PlanError::Conflict { one, other, remedy }),
        _ => Ok(()),
    }
}

fn commands(flags: &Flags) -> Result<Option<Commands>, PlanError> {
    let given =
        [("curl", flags.curl.is_some()), ("--curl", flags.curl_file.is_some()), ("--urls", flags.urls.is_some())];
    at_most_one(&given, Remedy::InCurl)?;
    let words = flags.curl.clone().map(Commands::Words);
    let file = flags.curl_file.clone().map(|path| Commands::File { path, leads_to: None });
    Ok(words.or(file).or_else(|| flags.urls.clone().map(|path| Commands::Urls { path })))
}

/// A form, by a command of curl.
fn form(flags: &Flags, url: &Address) -> Result<Draft, PlanError> {
    if url.scheme != Scheme::Http {
        return Err(PlanError::Needs { flag: "--form", needed: Need::Http });
    }
    let conflict = [
        ("-d", flags.data.is_some()),
        ("--curl", flags.curl.is_some() || flags.curl_file.is_some()),
        ("--urls", flags.urls.is_some()),
    ];
    if let Some((one, _)) = conflict.into_iter().find(|(_, is_given)| *is_given) {
        return Err(PlanError::Conflict { one, other: "--form", remedy: Remedy::OneBody });
    }
    let (parts, headers) = (flags.form.iter().map(String::as_str), headers(flags)?);
    let mut words = command_of_form(parts, &headers, flags.method.as_deref(), url.to_string());
    if flags.user_agent.is_empty() {
        words.extend([b"-A".to_vec(), Vec::new()]);
    }
    let rest = Flags {
        url: None,
        method: None,
        headers: Vec::new(),
        user: None,
        cookies: Vec::new(),
        host: None,
        form: Vec::new(),
        curl: Some(words),
        ..flags.clone()
    };
    let mut draft = values(&rest)?;
    draft.commands = draft.commands.map(|commands| match commands {
        Commands::Words(words) => Commands::Form(words),
        file => file,
    });
    Ok(draft)
}

/// The headers, including those of dedicated flags.
fn headers(flags: &Flags) -> Result<Vec<Header>, PlanError> {
    let mut all = all(&flags.headers, Header::parse)?;
    if let Some(user) = &flags.user {
        if !user.contains(':') {
            return Err(PlanError::User);
        }
        // As curl: an explicit header takes precedence.
        if !all.iter().any(|header| header.is("authorization")) {
            all.push(Header::basic(user));
        }
    }
    if !flags.cookies.is_empty() && !all.iter().any(|header| header.is("cookie")) {
        all.push(Header::parse(&format!("Cookie: {}", flags.cookies.join("; ")))?);
    }
    if let Some(host) = &flags.host {
        if all.iter().any(|header| header.is("host")) {
            return Err(PlanError::Conflict { one: "--host", other: "-H 'Host: ...'", remedy: Remedy::OneHost });
        }
        all.push(Header::parse(&format!("Host: {host}"))?);
    }
    Ok(all)
}

fn load(flags: &Flags) -> Result<Load, PlanError> {
    let poisson = Arrivals::Poisson { seed: ARRIVALS_SEED };
    Ok(Load {
        connections: count("-c", &flags.connections, 1, USERS_MAX)?,
        requests: count("-n", &flags.requests, 1, REQUESTS_MAX)?,
        requests_each: count("--requests-each", &flags.requests_each, 1, REQUESTS_MAX)?,
        duration: span("-z", &flags.duration, MILLI)?,
        rate: rate("-q", &flags.rate)?,
        stages: stages(flags)?,
        ramp: read(&flags.ramp, ramp)?,
        rendezvous: flags.rendezvous,
        arrivals: choice(
            "--arrivals",
            &flags.arrivals,
            &[("even", Arrivals::Even), ("poisson", poisson)],
            "even, poisson",
        )?,
        max_lateness: span("--max-lateness", &flags.max_lateness, MILLI)?,
        preconnect: flags.preconnect,
        warmup: time("--warmup", &flags.warmup)?,
        shuffle: flags.shuffle,
    })
}

/// A rate like `100/s`, or a time like `10s`. A bare number is a rate.
fn ramp(text: &str) -> Result<Ramp, PlanError> {
    let is_time = parse_duration("--ramp", text).is_ok() && text.trim().ends_with(|last: char| last.is_alphabetic());
    match is_time {
        true => parse_span("--ramp", text, MILLI).map(Ramp::Over),
        false => parse_rate("--ramp", text).map(Ramp::Rate),
    }
}

fn stages(flags: &Flags) -> Result<Option<Stages>, PlanError> {
    if flags.stages.is_some() && flags.user_stages.is_some() {
        return Err(PlanError::Conflict { one: "--stages", other: "--user-stages", remedy: Remedy::StagesSayUsers });
    }
    let of_users = read(&flags.user_stages, |text| parse_user_stages(text).map(Stages::Users))?;
    Ok(of_users.or(read(&flags.stages, |text| parse_stages(text).map(Stages::Rate))?))
}

/// Flags that become headers say who a user of HTTP is: a custom protocol has keys of its own for that.
fn refuse_users_of_http(flags: &Flags, scheme: Scheme) -> Result<(), PlanError> {
    let Scheme::Custom(own) = scheme else { return Ok(()) };
    let given = [("-u", flags.user.is_some()), ("-b", !flags.cookies.is_empty()), ("--host", flags.host.is_some())];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((one, _)) => Err(PlanError::Conflict { one, other: own.prefix, remedy: Remedy::CustomIsNoHttp }),
        None => Ok(()),
    }
}

fn request(flags: &Flags, scheme: Scheme) -> Result<Request, PlanError> {
    refuse_users_of_http(flags, scheme)?;
    Ok(Request {
        method: flags.method.clone(),
        headers: headers(flags)?,
        body: body(flags, scheme)?,
        user_agent: flags.user_agent.clone(),
        timeout: span("-t", &flags.timeout, MILLI)?,
        deadline: span("--deadline", &flags.deadline, MILLI)?,
        pause: Duration::ZERO,
        messaging: messaging(flags)?,
        call: CallOptions {
            protos: flags.protos.clone(),
            import_paths: flags.import_paths.clone(),
            protosets: flags.protosets.clone(),
            interval: time("--message-interval", &flags.message_interval)?,
            gzip: choice(
                "--grpc-encoding",
                &flags.grpc_encoding,
                &[("identity", false), ("gzip", true)],
                "gzip, identity",
            )?,
        },
        custom: request_of(&flags.custom, scheme)?,
    })
}

/// `@file` is read unchanged; everything else is the body itself. Messages may be written in hexadecimal digits.
fn body(flags: &Flags, scheme: Scheme) -> Result<Option<Body>, PlanError> {
    if flags.seed.is_some() && flags.data_bytes.is_none() && flags.log_share.is_none() {
        return Err(PlanError::Needs { flag: "--seed", needed: Need::DataBytes });
    }
    let seed = count("--seed", &flags.seed, 0, u64::MAX)?.unwrap_or(SEED_DEFAULT);
    let random = count("--data-bytes", &flags.data_bytes, 1, MESSAGE_BYTES_MAX)?;
    let is_messaging = scheme.is_messaging();
    match (flags.data.as_deref(), random) {
        (Some(_), Some(_)) => {
            let (one, other, remedy) = ("-d", "--data-bytes", Remedy::OneMessage);
            Err(PlanError::Conflict { one, other, remedy })
        }
        (None, random) => Ok(random.map(|count| Body::Random { count, seed })),
        (Some(text), None) => Ok(Some(match (text.strip_prefix('@'), text.strip_prefix("hex:")) {
            (Some(path), _) => Body::File(path.to_owned()),
            (None, Some(digits)) if is_messaging => Body::Binary(read_hex(digits)?),
            _ => Body::Bytes(text.as_bytes().to_vec().into()),
        })),
    }
}

fn messaging(flags: &Flags) -> Result<MessagingOptions, PlanError> {
    let kinds = [("text", MessageKind::Text), ("binary", MessageKind::Binary), ("ping", MessageKind::Ping)];
    Ok(MessagingOptions {
        kind: choice("--ws-type", &flags.ws_type, &kinds, "text, binary, ping")?,
        end: response_end(flags)?,
        subprotocols: flags.subprotocols.clone(),
        deflate: flags.ws_deflate,
    })
}

fn response_end(flags: &Flags) -> Result<Option<ResponseEnd>, PlanError> {
    let ends = [
        read(&flags.until, |text| match unescape(text) {
            Some(bytes) if (1..=DELIMITER_BYTES_MAX).contains(&bytes.len()) => Ok(ResponseEnd::Until(bytes)),
            _ => Err(PlanError::Until { value: text.to_owned(), most: DELIMITER_BYTES_MAX }),
        })?,
        count("--read-bytes", &flags.read_bytes, 1, RESPONSE_BYTES_MAX)?.map(ResponseEnd::Bytes),
        read(&flags.length_prefix, read_length_prefix)?,
        flags.no_response.then_some(ResponseEnd::None),
    ];
    let mut ends = ends.into_iter().flatten();
    match (ends.next(), ends.next()) {
        (Some(one), Some(other)) => {
            let (one, other, remedy) = (flag_of(&one), flag_of(&other), Remedy::OneEnd);
            Err(PlanError::Conflict { one, other, remedy })
        }
        (end, _) => Ok(end),
    }
}

fn responses(flags: &Flags, scheme: Scheme) -> Result<ResponseChecks, PlanError> {
    let status = if scheme == Scheme::Grpc { StatusSet::parse_grpc } else { StatusSet::parse };
    let words = status_words(flags.expect_status.as_deref(), scheme)?;
    Ok(ResponseChecks {
        status: if words.is_empty() { read(&flags.expect_status, status)? } else { None },
        status_words: words,
        bodies: all(&flags.expect_body, |text| TextCheck::parse("--expect-body", text))?,
        headers: all(&flags.expect_headers, HeaderCheck::parse)?,
        json: all(&flags.expect_json, JsonCheck::parse)?,
        location: flags.location,
        max_redirs: count("--max-redirs", &flags.max_redirs, 0, u64::from(u32::MAX))?.map(|count| count as u32),
    })
}

fn connection(flags: &Flags) -> Result<Connection, PlanError> {
    let versions = [
        ("--http1.0", flags.http10, Version::Http10),
        ("--http1.1", flags.http11, Version::Http11),
        ("--http2", flags.http2, Version::Http2),
    ];
    at_most_one(&versions.map(|(flag, is_given, _)| (flag, is_given)), Remedy::OneVersion)?;
    let requested = versions.into_iter().find(|(_, is_given, _)| *is_given).map(|(.., version)| version);
    Ok(Connection {
        connect_timeout: span("--connect-timeout", &flags.connect_timeout, MILLI)?,
        no_keepalive: flags.no_keepalive,
        no_retry: flags.no_retry,
        version: requested,
        streams: count("--streams", &flags.streams, 1, STREAMS_MAX)?,
        security: security(flags)?,
        sources: read(&flags.source_ip, parse_sources)?,
        places: read(&flags.to, parse_places)?.unwrap_or_default(),
        names: NameOptions {
            addresses: choice("--addresses", &flags.addresses, &ADDRESS_CHOICES, "one-family, all, first")?
                .unwrap_or_default(),
            again: read(&flags.dns_ttl, parse_lookup_again)?.unwrap_or_default(),
            server: read(&flags.dns, parse_dns_server)?,
        },
        limits: ConnectionLimits {
            requests: count("--connection-requests", &flags.connection_requests, 1, u64::from(u32::MAX))?
                .map(|count| count as u32),
            age: span("--connection-age", &flags.connection_age, CONNECTION_TIME_MIN)?,
            idle: span("--keepalive-idle", &flags.keepalive_idle, CONNECTION_TIME_MIN)?,
        },
        route_overrides: RouteOverrides {
            resolve: all(&flags.resolve, Resolve::parse)?,
            connect_to: all(&flags.connect_to, ConnectTo::parse)?,
            unix: read(&flags.unix_socket, parse_unix_socket)?,
            ..RouteOverrides::default()
        },
        proxy: proxy(flags)?,
    })
}

/// The value of `--proxy` for none.
const NO_PROXY: &str = "none";

/// The proxies of a load, and the header of the PROXY protocol.
fn proxy(flags: &Flags) -> Result<ProxyRequest, PlanError> {
    let named = flags.proxy.as_deref().filter(|text| *text != NO_PROXY);
    if named.is_some() && flags.proxy_from_env {
        return Err(PlanError::Conflict { one: "--proxy", other: "--proxy-from-env", remedy: Remedy::OneWay });
    }
    let proxies = match named {
        Some(text) => ProxyOptions::all(Proxy::parse(text)?, Vec::new()),
        None if flags.proxy.is_none() && flags.proxy_from_env => {
            ProxyOptions::from_variables(|name| std::env::var(name).ok())?
        }
        None => ProxyOptions::default(),
    };
    let versions = [("v1", ProxyHeaderVersion::V1), ("v2", ProxyHeaderVersion::V2)];
    Ok(ProxyRequest {
        proxies,
        exceptions: flags.no_proxy.as_deref().map(exceptions_of),
        tunnels: flags.proxy_tunnel,
        header: choice("--proxy-protocol", &flags.proxy_protocol, &versions, "v1, v2")?,
        clients: read(&flags.proxy_protocol_from, parse_header_sources)?.unwrap_or_default(),
    })
}

fn security(flags: &Flags) -> Result<Security, PlanError> {
    let versions = [("1.2", TlsVersion::Tls12), ("1.3", TlsVersion::Tls13)];
    Ok(Security {
        insecure: flags.insecure,
        cacert: flags.cacert.clone(),
        cert: flags.cert.clone(),
        key: flags.key.clone(),
        sni: flags.sni.clone(),
        alpn: read(&flags.alpn, |text| {
            let names = list(text);
            let is_good = !names.is_empty() && names.iter().all(|name| name.len() <= ALPN_NAME_BYTES_MAX);
            let choices = "h2, http/1.1";
            let wrong = || PlanError::Choice { flag: "--alpn", value: text.to_owned(), choices };
            is_good.then_some(names).ok_or_else(wrong)
        })?,
        groups: flags.tls_groups.as_deref().map(list),
        least: choice("--tls-min", &flags.tls_min, &versions, "1.2, 1.3")?,
        no_resumption: flags.no_tls_resumption,
    })
}

fn work(flags: &HoldFlags) -> Result<HoldWork, PlanError> {
    let requested =
        [("--every", flags.every.is_some()), ("--once", flags.once), ("--receive-only", flags.receive_only)];
    at_most_one(&requested, Remedy::OneWork)?;
    let every = read(&flags.every, |text| {
        let part = |text: &str| parse_span("--every", text, MILLI);
        let Some((least, most)) = text.split_once('-') else { return part(text).map(HoldWork::Every) };
        match (part(least)?, part(most)?) {
            (least, most) if least <= most => Ok(HoldWork::Pause { least, most }),
            _ => Err(PlanError::Duration { flag: "--every", value: text.to_owned() }),
        }
    })?;
    Ok(every.unwrap_or(if flags.once { HoldWork::Once } else { HoldWork::Nothing }))
}

/// Words separated by commas.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn read_length_prefix(text: &str) -> Result<ResponseEnd, PlanError> {
    let (digits, is_little_endian) = text.strip_suffix("le").map_or((text, false), |digits| (digits, true));
    let width = match digits {
        "1" => 1,
        "2" => 2,
        "4" => 4,
        "8" => 8,
        _ => {
            let (flag, choices) = ("--length-prefix", "1, 2, 4, 8, 2le, 4le, 8le");
            return Err(PlanError::Choice { flag, value: text.to_owned(), choices });
        }
    };
    Ok(ResponseEnd::LengthPrefix { width, is_little_endian })
}

/// Pairs of hexadecimal digits; spaces between them are ignored.
fn read_hex(text: &str) -> Result<Vec<u8>, PlanError> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2 && !text.starts_with('+'))?;
        u8::from_str_radix(text, 16).ok()
    };
    digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>().ok_or_else(|| PlanError::Hex { value: text.to_owned() })
}

/// Resolves escapes for bytes that cannot be typed: `\n`, `\r`, `\t`, `\0`, `\\`, `\xHH`.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match rest.next()? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'0' => 0,
            b'\\' => b'\\',
            b'x' => {
                let pair = [rest.next()?, rest.next()?];
                let text = std::str::from_utf8(&pair).ok().filter(|text| !text.starts_with('+'))?;
                u8::from_str_radix(text, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(out)
}
