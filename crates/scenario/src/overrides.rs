//! Overrides of the command line: values of variables, and flags.

mod flags;

use plan::{Pattern, TextContext};

pub use flags::FlagFault;

use crate::diagnostic::{DiagnosticSink, Problem};
use crate::file::{File, Json, Name, Variable};
use crate::source::Span;

/// The name that sets the base of relative URLs.
pub(crate) const TARGET: &str = "target";

/// Sets a variable that the file has, or its target. A text in the file stays text; in the place of any other value a
/// number, true, false or null is parsed as that.
pub(crate) fn set(file: &mut File, name: &str, value: &str, found: &mut DiagnosticSink) {
    let known = file.vars.iter_mut().find(|variable| variable.name.text == name);
    if known.is_none() && name == TARGET {
        match Pattern::parse(value, TextContext::Url) {
            Ok(target) => file.target = Some(target),
            Err(error) => found.add(Span::default(), Problem::Pattern(error.fault)),
        }
        return;
    }
    let Some(Variable { value: own, .. }) = known else {
        let given = file.vars.iter().map(|variable| &variable.name);
        let names: Vec<&str> = given.map(|Name { text, .. }| text.as_str()).chain([TARGET]).collect();
        let fault = Problem::NoVariable { name: name.to_owned(), known: names.join(", ") };
        return found.add(Span::default(), fault);
    };
    let is_text = own.as_text().is_some();
    *own = match serde_json::from_str(value) {
        _ if is_text => Json::Text(Pattern::plain(value)),
        Ok(serde_json::Value::Number(number)) => Json::from_number(value.trim()).unwrap_or(Json::Number(number)),
        Ok(serde_json::Value::Bool(is_so)) => Json::Bool(is_so),
        Ok(serde_json::Value::Null) => Json::Null,
        _ => Json::Text(Pattern::plain(value)),
    };
}
