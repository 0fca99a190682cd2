//! The steps of custom protocols, from what those say of themselves.

use std::sync::OnceLock;

use protocol::{About, Key, KeyKind};

use super::common::{DEADLINE, EXPECTS, NAME, ON_FAILURE, TAGS, TAKES, TIMEOUT};
use super::{Field, Kind, Object, field};

/// The key of the server, where it is not the target of the file.
pub(crate) const URL: &str = "url";

static OBJECTS: OnceLock<Vec<Object>> = OnceLock::new();

/// The steps of the protocols that are registered.
pub(super) fn objects() -> &'static [Object] {
    #[cfg(test)]
    protocols::register();
    OBJECTS.get_or_init(|| protocol::registered().iter().map(|protocol| object(protocol.about())).collect())
}

fn object(about: &'static About) -> Object {
    let all: Vec<Field> = about.keys.iter().map(field_of).collect();
    let inner = Object {
        title: leaked(format!("a request of {}", about.title)),
        title_zh: leaked(format!("{} 请求", about.title)),
        id: leaked(format!("{}_request", about.name)),
        fields: all.leak(),
        any_of: &[],
    };
    let main = about.keys.iter().find(|key| key.name == about.main_key);
    let inner = Kind::Object(Box::leak(Box::new(inner)));
    let value = match main.map(|key| kind_of(key.kind)) {
        Some(main) => Kind::Either(vec![main, inner].leak()),
        None => inner,
    };
    let fields = vec![
        field(about.name, value, about.help.en, about.help.zh).needed(),
        NAME,
        field(
            URL,
            Kind::Pattern,
            "The server, when it is not the target of the file",
            "服务端的 URL，不写则为文件的 target",
        ),
        TAKES,
        EXPECTS,
        TIMEOUT,
        DEADLINE,
        TAGS,
        ON_FAILURE,
    ];
    Object {
        title: leaked(format!("a {} step", about.name)),
        title_zh: leaked(format!("{} 步骤", about.name)),
        id: about.name,
        fields: fields.leak(),
        any_of: &[],
    }
}

fn field_of(key: &'static Key) -> Field {
    let field = field(key.name, kind_of(key.kind), key.help.en, key.help.zh);
    if key.is_needed { field.needed() } else { field }
}

fn kind_of(kind: KeyKind) -> Kind {
    match kind {
        KeyKind::Text => Kind::Pattern,
        KeyKind::Number { .. } => Kind::Count,
        KeyKind::Switch => Kind::Switch,
        KeyKind::Words => Kind::OneOrMore(&Kind::Pattern),
        KeyKind::WordLists => Kind::List(&Kind::Either(&[Kind::Pattern, Kind::List(&Kind::Pattern)])),
    }
}

/// Made once for each protocol of the program.
fn leaked(text: String) -> &'static str {
    text.leak()
}
