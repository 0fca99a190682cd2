//! Packets as JSON.

use protocol::push_json_text;

use super::dictionary::{write_hexadecimal, write_name, write_value_as_json};
use super::packet::{Attributes, CHAP_PASSWORD, HEADER_BYTES, USER_PASSWORD, VENDOR_SPECIFIC, code_name, packet_of};

/// What attributes of the same name have in common: the type, and the vendor with its type.
type AttributeKey = (u8, Option<(u32, u8)>);

/// Writes a packet: its code as status, and its attributes; those that are repeated as lists.
pub(super) fn view(datagram: &[u8], json: &mut Vec<u8>) {
    let packet = packet_of(datagram).unwrap_or(datagram);
    json.extend_from_slice(b"{\"status\":");
    let code = packet.first().copied().unwrap_or_default();
    match code_name(code) {
        Some(name) => push_json_text(name.as_bytes(), json),
        None => push_json_text(format!("Code-{code}").as_bytes(), json),
    }
    json.extend_from_slice(b",\"attributes\":{");
    let mut attributes = Vec::new();
    if packet.len() > HEADER_BYTES {
        Attributes::of(packet).for_each(|(kind, value)| split(kind, value, &mut attributes));
    }
    // The sort is stable: values of one name stay in their order.
    attributes.sort_by_key(|(name, _)| *name);
    for (at, group) in attributes.chunk_by(|one, next| one.0 == next.0).enumerate() {
        if at > 0 {
            json.push(b',');
        }
        write_group(group, json);
    }
    json.extend_from_slice(b"}}");
}

/// Adds an attribute, or those of a vendor in it.
fn split<'a>(kind: u8, value: &'a [u8], attributes: &mut Vec<(AttributeKey, &'a [u8])>) {
    let whole = attributes.len();
    if let (VENDOR_SPECIFIC, Some((vendor, inner))) = (kind, value.split_first_chunk()) {
        let mut inner = Attributes::within(inner);
        let vendor = u32::from_be_bytes(*vendor);
        attributes.extend(inner.by_ref().map(|(kind, value)| ((VENDOR_SPECIFIC, Some((vendor, kind))), value)));
        if inner.is_at_end() && attributes.len() > whole {
            return;
        }
        attributes.truncate(whole);
    }
    attributes.push(((kind, None), value));
}

fn write_group(group: &[(AttributeKey, &[u8])], json: &mut Vec<u8>) {
    let Some(((kind, vendor), _)) = group.first() else { return };
    match vendor {
        Some((vendor, own)) => push_json_text(format!("{vendor}.{own}").as_bytes(), json),
        None => write_name(*kind, json),
    }
    json.push(b':');
    if group.len() > 1 {
        json.push(b'[');
    }
    for (at, (_, value)) in group.iter().enumerate() {
        if at > 0 {
            json.push(b',');
        }
        match (*kind, vendor) {
            (_, Some(_)) => write_hexadecimal(value, json),
            // What a password can be guessed from is not shown either.
            (USER_PASSWORD | CHAP_PASSWORD, None) => push_json_text(b"***", json),
            (kind, None) => write_value_as_json(kind, value, json),
        }
    }
    if group.len() > 1 {
        json.push(b']');
    }
}
