//! The queries of GraphQL that the target understands: one field `item` with the argument `id`, and a selection of its
//! fields.

use std::fmt;

/// The longest query: beyond it a list of tokens would take much memory.
const QUERY_BYTES_MAX: usize = 8 * 1024;

/// A field of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemField {
    Id,
    Name,
    Price,
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument<'a> {
    /// A variable, by its name.
    Variable(&'a str),
    /// A number, or a text without its quotes.
    Literal(&'a str),
}

/// A query for an item.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ItemQuery<'a> {
    pub(crate) id: Argument<'a>,
    pub(crate) fields: Vec<ItemField>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryToken<'a> {
    Name(&'a str),
    Sign(u8),
    Literal(&'a str),
}

impl fmt::Display for QueryToken<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::Literal(text) => write!(out, "\"{text}\""),
            Self::Sign(sign) => write!(out, "'{}'", char::from(*sign)),
        }
    }
}

impl<'a> ItemQuery<'a> {
    /// # Errors
    /// Why it is not understood.
    pub(crate) fn parse(text: &'a str) -> Result<Self, String> {
        if text.len() > QUERY_BYTES_MAX {
            return Err(format!("a query has at most {QUERY_BYTES_MAX} bytes"));
        }
        let tokens = tokens(text)?;
        let mut rest = QueryTokens { rest: &tokens };
        let variables = rest.operation()?;
        rest.sign(b'{')?;
        match rest.name()? {
            "item" => {}
            name => return Err(format!("Cannot query field \"{name}\" on type \"Query\".")),
        }
        let id = rest.argument(&variables)?;
        let fields = rest.fields()?;
        rest.sign(b'}')?;
        match rest.rest {
            [] => Ok(Self { id, fields }),
            _ => Err("there is something behind the query".to_owned()),
        }
    }
}

/// The tokens that were not read yet.
struct QueryTokens<'t, 'a> {
    rest: &'t [QueryToken<'a>],
}

impl<'a> QueryTokens<'_, 'a> {
    fn next(&mut self) -> Result<QueryToken<'a>, String> {
        let (first, rest) = self.rest.split_first().ok_or("the query is broken off")?;
        self.rest = rest;
        Ok(*first)
    }

    fn is_next(&self, sign: u8) -> bool {
        self.rest.first() == Some(&QueryToken::Sign(sign))
    }

    fn sign(&mut self, expected: u8) -> Result<(), String> {
        match self.next()? {
            QueryToken::Sign(sign) if sign == expected => Ok(()),
            other => Err(format!("Syntax Error: expected '{}', found {other}", char::from(expected))),
        }
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.next()? {
            QueryToken::Name(name) => Ok(name),
            other => Err(format!("Syntax Error: expected a name, found {other}")),
        }
    }

    /// Reads `query Item($id: ID!)`, which may be left out; returns the names of its variables.
    fn operation(&mut self) -> Result<Vec<&'a str>, String> {
        let mut variables = Vec::new();
        if self.is_next(b'{') {
            return Ok(variables);
        }
        match self.name()? {
            "query" => {}
            other => return Err(format!("'{other}' is not understood: ask with a query")),
        }
        if let Some(QueryToken::Name(_)) = self.rest.first() {
            self.next()?;
        }
        if self.is_next(b'(') {
            self.next()?;
            while !self.is_next(b')') {
                self.sign(b'$')?;
                variables.push(self.name()?);
                self.sign(b':')?;
                self.name()?;
                if self.is_next(b'!') {
                    self.next()?;
                }
            }
            self.next()?;
        }
        Ok(variables)
    }

    /// Reads `(id: $id)` or `(id: 7)`.
    fn argument(&mut self, variables: &[&str]) -> Result<Argument<'a>, String> {
        self.sign(b'(')?;
        match self.name()? {
            "id" => {}
            name => return Err(format!("Unknown argument \"{name}\" on field \"Query.item\".")),
        }
        self.sign(b':')?;
        let value = match self.next()? {
            QueryToken::Literal(text) => Argument::Literal(text),
            QueryToken::Sign(b'$') => Argument::Variable(self.name()?),
            other => return Err(format!("Syntax Error: expected an ID, found {other}")),
        };
        if let Argument::Variable(name) = value
            && !variables.contains(&name)
        {
            return Err(format!("Variable \"${name}\" is not defined."));
        }
        self.sign(b')')?;
        Ok(value)
    }

    /// Reads `{ name price }`. A field that is named twice is given once.
    fn fields(&mut self) -> Result<Vec<ItemField>, String> {
        self.sign(b'{')?;
        let mut fields = Vec::new();
        while !self.is_next(b'}') {
            let field = match self.name()? {
                "id" => ItemField::Id,
                "name" => ItemField::Name,
                "price" => ItemField::Price,
                name => return Err(format!("Cannot query field \"{name}\" on type \"Item\".")),
            };
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        self.next()?;
        if fields.is_empty() { Err("Syntax Error: an item has no fields here".to_owned()) } else { Ok(fields) }
    }
}

/// Splits a query; blanks, commas and comments separate tokens.
fn tokens(text: &str) -> Result<Vec<QueryToken<'_>>, String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.bytes().next() {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let word = || rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        let length = match first {
            b' ' | b'\t' | b'\r' | b'\n' | b',' => 1,
            b'#' => rest.find('\n').unwrap_or(rest.len()),
            b'{' | b'}' | b'(' | b')' | b':' | b'$' | b'!' => {
                found.push(QueryToken::Sign(first));
                1
            }
            b'0'..=b'9' => {
                found.push(QueryToken::Literal(&rest[..word()]));
                word()
            }
            b'"' => {
                let end = rest[1..].find('"').ok_or("Syntax Error: a text has no end")?;
                found.push(QueryToken::Literal(&rest[1..=end]));
                end + 2
            }
            _ if is_word(first) => {
                found.push(QueryToken::Name(&rest[..word()]));
                word()
            }
            _ => {
                let other = rest.chars().next().unwrap_or_default();
                return Err(format!("Syntax Error: '{}' is not understood", other.escape_default()));
            }
        };
        rest = &rest[length..];
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queries_for_items_are_read() {
        let both = vec![ItemField::Name, ItemField::Price];
        let of_variable = |fields| ItemQuery { id: Argument::Variable("id"), fields };
        let literal = |text| ItemQuery { id: Argument::Literal(text), fields: vec![ItemField::Id] };
        let cases = [
            ("query Item($id: ID!) { item(id: $id) { name price } }", of_variable(both.clone())),
            ("query($id:ID){item(id:$id){name,price,name}}#end", of_variable(both)),
            ("# first\n{ item(id: 7) { id } }", literal("7")),
            ("query { item(id: \"/items/7\") { id } }", literal("/items/7")),
            ("{ item(id: \"\") { id } }", literal("")),
        ];
        for (text, expect) in cases {
            assert_eq!(ItemQuery::parse(text), Ok(expect), "{text}");
        }
    }

    #[test]
    fn other_queries_are_refused() {
        let cases = [
            ("", "broken off"),
            ("mutation { item(id: 7) { id } }", "'mutation'"),
            ("{ items { id } }", "\"items\""),
            ("{ item(name: 7) { id } }", "\"name\""),
            ("{ item(id: $id) { id } }", "not defined"),
            ("{ item(id: 7) { stock } }", "\"stock\""),
            ("{ item(id: 7) { } }", "no fields"),
            ("{ item(id: 7) { id } } {", "behind"),
            ("{ item(id: [7]) { id } }", "'['"),
            ("{ item(id: \"7) { id } }", "no end"),
            ("{ item(id: id) { id } }", "an ID"),
            ("{ é }", "\\u{e9}"),
        ];
        for (text, expect) in cases {
            let why = ItemQuery::parse(text).expect_err(text);
            assert!(why.contains(expect), "{text}: {why}");
        }
        assert!(ItemQuery::parse(&" ".repeat(QUERY_BYTES_MAX + 1)).is_err());
    }

    /// A query that is broken off is refused, wherever it ends.
    #[test]
    fn queries_have_an_end() {
        let whole = "query Item($id: ID!) { item(id: $id) { name price } }";
        assert!(ItemQuery::parse(whole).is_ok());
        for end in 0..whole.len() {
            assert!(ItemQuery::parse(&whole[..end]).is_err(), "{end}");
        }
    }

    proptest! {
        /// Clients may send anything; what is understood has at least one field.
        #[test]
        fn whatever_comes_is_read_or_refused(text in "[{}()$!:a-b\"# é7]{0,20}|(query|item|id|name|[{}()$:]| ){0,20}") {
            prop_assert!(ItemQuery::parse(&text).is_ok_and(|query| !query.fields.is_empty())
                || ItemQuery::parse(&text).is_err_and(|why| !why.is_empty()));
        }
    }
}
