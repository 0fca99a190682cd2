use std::net::IpAddr;

use wire::dns::{AddressKind, Answer, Question};

/// Any bytes as the answer of a name server: addresses are of the kind that was asked for and in the message, and an
/// alias is a name that can be asked for.
pub fn dns(input: &[u8]) {
    let Some((&kind, message)) = input.split_first() else { return };
    let kind = if kind % 2 == 0 { AddressKind::V4 } else { AddressKind::V6 };
    let id = message.get(..2).map_or(0, |id| u16::from_be_bytes([id[0], id[1]]));
    let question = Question::new(id, "shop.example", kind).expect("a name");
    let answer = question.read(message);
    assert_eq!(question.read(message), answer);
    match answer {
        Ok(Answer::Addresses(addresses, ttl)) => {
            assert!(!addresses.is_empty() && addresses.len() < message.len() && ttl <= i32::MAX as u32);
            for address in addresses {
                let bytes = match address {
                    IpAddr::V4(address) => address.octets().to_vec(),
                    IpAddr::V6(address) => address.octets().to_vec(),
                };
                assert_eq!(address.is_ipv4(), kind == AddressKind::V4);
                assert!(message.windows(bytes.len()).any(|part| part == bytes));
            }
        }
        Ok(Answer::Alias(name, _)) => {
            let next = Question::new(id, &name, kind);
            // A label may have any bytes; a name of text that DNS can have is the same again.
            let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic()) && !name.is_empty();
            let has_empty_label = name.contains("..") || name.starts_with('.') || name.ends_with('.');
            assert!(!is_plain || has_empty_label || next.is_some() || name.len() > 253, "{name}");
        }
        Ok(_) | Err(_) => {}
    }
}
