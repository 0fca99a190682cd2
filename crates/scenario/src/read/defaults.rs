//! Defaults of the steps. Values that flags have too are parsed by the flags.

use plan::Flags;

use super::{auth, expects, failures};
use crate::file::Defaults;
use crate::keys::{DEFAULTS, Kind, NETWORK, Object};
use crate::reader::{Fields, Read, Reader};
use crate::tree::Node;

/// Sets the flag for the text of a key.
type Put = fn(&mut Flags, String);

/// Sets the flag of a switch.
type Set = fn(&mut Flags);

/// Keys that are flags with a value.
const TEXTS: [(&str, Put); 22] = [
    ("timeout", |flags, text| flags.timeout = Some(text)),
    ("connect_timeout", |flags, text| flags.connect_timeout = Some(text)),
    ("max_redirs", |flags, text| flags.max_redirs = Some(text)),
    ("user", |flags, text| flags.user = Some(text)),
    ("user_agent", |flags, text| flags.user_agent = text),
    ("streams", |flags, text| flags.streams = Some(text)),
    ("cacert", |flags, text| flags.cacert = Some(text)),
    ("cert", |flags, text| flags.cert = Some(text)),
    ("key", |flags, text| flags.key = Some(text)),
    ("sni", |flags, text| flags.sni = Some(text)),
    ("alpn", |flags, text| flags.alpn = Some(text)),
    ("tls_groups", |flags, text| flags.tls_groups = Some(text)),
    ("tls_min", |flags, text| flags.tls_min = Some(text)),
    ("resolve", |flags, text| flags.resolve.push(text)),
    ("connect_to", |flags, text| flags.connect_to.push(text)),
    ("unix_socket", |flags, text| flags.unix_socket = Some(text)),
    ("source_ip", |flags, text| flags.source_ip = Some(text)),
    ("connect_addresses", |flags, text| flags.to = Some(text)),
    ("proto", |flags, text| flags.protos.push(text)),
    ("import_path", |flags, text| flags.import_paths.push(text)),
    ("protoset", |flags, text| flags.protosets.push(text)),
    ("grpc_encoding", |flags, text| flags.grpc_encoding = Some(text)),
];

/// Keys that are flags without a value, the switch value that sets them, and the flags.
const SWITCHES: [(&str, bool, Set, &str); 6] = [
    ("location", true, |flags| flags.location = true, "location"),
    ("keepalive", false, |flags| flags.no_keepalive = true, "no-keepalive"),
    ("retry", false, |flags| flags.no_retry = true, "no-retry"),
    ("insecure", true, |flags| flags.insecure = true, "insecure"),
    ("tls_resumption", false, |flags| flags.no_tls_resumption = true, "no-tls-resumption"),
    ("ws_deflate", true, |flags| flags.ws_deflate = true, "ws-deflate"),
];

/// Keys of `network`, which are flags with a value too.
const NETWORK_TEXTS: [(&str, Put); 10] = [
    ("addresses", |flags, text| flags.addresses = Some(text)),
    ("dns_ttl", |flags, text| flags.dns_ttl = Some(text)),
    ("dns", |flags, text| flags.dns = Some(text)),
    ("connection_requests", |flags, text| flags.connection_requests = Some(text)),
    ("connection_age", |flags, text| flags.connection_age = Some(text)),
    ("keepalive_idle", |flags, text| flags.keepalive_idle = Some(text)),
    ("proxy", |flags, text| flags.proxy = Some(text)),
    ("no_proxy", |flags, text| flags.no_proxy = Some(text)),
    ("proxy_protocol", |flags, text| flags.proxy_protocol = Some(text)),
    ("proxy_protocol_from", |flags, text| flags.proxy_protocol_from = Some(text)),
];

/// The flags of keys with a value.
fn flags(reader: &mut Reader<'_>, fields: &mut Fields<'_>, object: &Object, texts: &[(&'static str, Put)]) -> Flags {
    let mut flags = Flags::default();
    for (key, put) in texts {
        let Some(node) = fields.get(key) else { continue };
        let texts = match object.field(key).map(|field| &field.kind) {
            Some(Kind::OneOrMore(_)) => reader.one_or_more(node, Reader::owned),
            _ => reader.owned(node).into_iter().collect(),
        };
        for text in texts {
            put(&mut flags, text.clone());
            // Parsed by itself, so that an error is reported at its position.
            let mut alone = Flags::default();
            put(&mut alone, text);
            reader.value(node.at, alone.draft());
        }
    }
    flags
}

/// How connections are made, as flags.
pub(super) fn network(reader: &mut Reader<'_>, node: &Node) -> Read<Flags> {
    let mut fields = Fields::open(reader, node, &NETWORK)?;
    let mut flags = flags(reader, &mut fields, &NETWORK, &NETWORK_TEXTS);
    flags.proxy_tunnel = fields.get("proxy_tunnel").and_then(|node| reader.switch(node)) == Some(true);
    fields.close();
    Some(flags)
}

pub(super) fn defaults(reader: &mut Reader<'_>, node: &Node) -> Read<Defaults> {
    let mut fields = Fields::open(reader, node, &DEFAULTS)?;
    let mut defaults = Defaults {
        headers: auth::headers(reader, &mut fields),
        cookies: fields.get("cookies").and_then(|node| reader.switch(node)),
        expect: fields.get("expect").and_then(|node| expects::expect(reader, node, false)).unwrap_or_default(),
        on_failure: fields.get("on_failure").and_then(|node| failures::on_failure(reader, node)),
        ..Defaults::default()
    };
    let mut flags = flags(reader, &mut fields, &DEFAULTS, &TEXTS);
    fields.at_most_one(reader, &["user", "auth"]);
    for (key, when, put, flag) in SWITCHES {
        let Some(node) = fields.get(key) else { continue };
        match reader.switch(node) {
            Some(given) if given == when => put(&mut flags),
            Some(_) => defaults.off.push(flag),
            None => {}
        }
    }
    if let Some(node) = fields.get("http") {
        let words: [(&str, Set); 3] = [
            ("1.0", |flags| flags.http10 = true),
            ("1.1", |flags| flags.http11 = true),
            ("2", |flags| flags.http2 = true),
        ];
        if let Some(put) = reader.word(node, &words) {
            put(&mut flags);
        }
    }
    defaults.max_redirs_at = fields.get("max_redirs").map(|_| fields.place("max_redirs"));
    fields.close();
    defaults.flags = flags.draft().unwrap_or_default();
    defaults.typed = flags;
    Some(defaults)
}
