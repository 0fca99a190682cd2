//! What requests are counted by: their method and the template of their path, without numbers, names and query.

use std::fmt;

/// The methods that are counted apart.
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"];

/// The names by which `/stats` counts requests.
pub(crate) const NAMES: [&str; 39] = [
    "/",
    "/bytes",
    "/chunked",
    "/delay",
    "/status",
    "/echo",
    "/close",
    "/drop",
    "/stats",
    "not found",
    "bad request",
    "/serial",
    "/stall",
    "/fail",
    "/drip",
    "grpc",
    "/conns",
    "/redirect",
    "/login",
    "/logout",
    "/account",
    "/api/token",
    "/api/sessions",
    "/items",
    "/search",
    "/cart",
    "/pay",
    "/order",
    "/stats/sessions",
    "/queue",
    "/gate",
    "gate orders",
    "/api/items",
    "/limited",
    "/oauth/token",
    "/graphql",
    "/files",
    "/stats/books",
    "/room",
];

/// Templates of paths, each with the index of its name. The first ones are those of [`NAMES`], in the same order; the
/// others share a name.
pub(crate) const TEMPLATES: [(&str, usize); NAMES.len() + 4] = [
    ("/", 0),
    ("/bytes/{n}", 1),
    ("/chunked/{n}", 2),
    ("/delay/{ms}", 3),
    ("/status/{status}", 4),
    ("/echo", 5),
    ("/close", 6),
    ("/drop", 7),
    ("/stats", 8),
    ("not found", 9),
    ("bad request", 10),
    ("/serial/{ms}", 11),
    ("/stall/{ms}/{ms}", 12),
    ("/fail/{percent}", 13),
    ("/drip/{n}/{ms}", 14),
    ("grpc", 15),
    ("/conns", 16),
    ("/redirect/{n}", 17),
    ("/login", 18),
    ("/logout", 19),
    ("/account", 20),
    ("/api/token", 21),
    ("/api/sessions/{session}", 22),
    ("/items", 23),
    ("/search", 24),
    ("/cart", 25),
    ("/pay", 26),
    ("/order", 27),
    ("/stats/sessions", 28),
    ("/queue/{n}/{ms}", 29),
    ("/gate/{name}", 30),
    ("/gate/{name}/open", 31),
    ("/api/items", 32),
    ("/limited", 33),
    ("/oauth/token", 34),
    ("/graphql", 35),
    ("/files", 36),
    ("/stats/books", 37),
    ("/room/{id}", 38),
    ("/items/{id}", 23),
    ("/files/{id}", 36),
    ("/queue/log", 29),
    ("/gate/{name}/waiting", 31),
];

/// Indexes of templates that share a name with another.
pub(crate) const ITEM: usize = NAMES.len();
pub(crate) const FILE: usize = NAMES.len() + 1;
pub(crate) const QUEUE_LOG: usize = NAMES.len() + 2;
pub(crate) const GATE_WAITING: usize = NAMES.len() + 3;

/// The method and the template of a path: a position among counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountedPath(u16);

impl CountedPath {
    /// Number of positions.
    pub(crate) const COUNT: usize = METHODS.len() * TEMPLATES.len();

    /// `template`: its index in [`TEMPLATES`].
    pub(crate) fn new(method: &str, template: usize) -> Self {
        let method = METHODS.iter().position(|known| *known == method).unwrap_or(METHODS.len() - 1);
        Self((method * TEMPLATES.len() + template) as u16)
    }

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u16).map(Self)
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The index of its name in [`NAMES`].
    pub(crate) fn name(self) -> usize {
        TEMPLATES[self.index() % TEMPLATES.len()].1
    }
}

impl fmt::Display for CountedPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, template) = (self.index() / TEMPLATES.len(), self.index() % TEMPLATES.len());
        write!(out, "{} {}", METHODS[method], TEMPLATES[template].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_begin_with_their_names() {
        for (index, (template, name)) in TEMPLATES.iter().enumerate() {
            let is_own = index >= NAMES.len() || *name == index;
            let begins = template.starts_with(NAMES[*name]) || NAMES[*name] == "gate orders";
            assert!(is_own && begins, "{template} {name}");
        }
    }

    #[test]
    fn methods_are_counted_apart() {
        let shown = |method: &str, template| CountedPath::new(method, template).to_string();
        assert_eq!(shown("GET", ITEM), "GET /items/{id}");
        assert_eq!(shown("HEAD", ITEM), "HEAD /items/{id}");
        assert_eq!([shown("BREW", 5), shown("get", 5)], ["other /echo", "other /echo"]);
        assert_eq!(CountedPath::new("POST", FILE).name(), CountedPath::new("GET", 36).name());
        let all: std::collections::BTreeSet<String> = CountedPath::all().map(|path| path.to_string()).collect();
        assert_eq!(all.len(), CountedPath::COUNT);
    }
}
