//! Overrides of the command line: values of variables, and flags.

mod flags;

use plan::{Pattern, TextContext};

pub use flags::FlagFault;

use crate::diagnostic::{DiagnosticSink, Problem};
use crate::file::{File, Json, Scenario, Variable};
use crate::source::Span;

/// The name that sets the base of relative URLs.
pub(crate) const TARGET: &str = "target";

/// The variable of this name: of the file, or of a scenario as in `shoppers.name`.
fn variable_of<'f>(file: &'f mut File, name: &str) -> Option<&'f mut Variable> {
    let is_it = |variable: &&mut Variable, name: &str| variable.name.text == name;
    if let Some((scenario, own)) = name.rsplit_once('.') {
        let scenario = file.scenarios.iter_mut().find(|one| one.name.text == scenario)?;
        return scenario.vars.iter_mut().find(|variable| is_it(variable, own));
    }
    file.vars.iter_mut().find(|variable| is_it(variable, name))
}

/// Sets a variable that the file has, or its target. A text in the file stays text; in the place of any other value a
/// number, true, false or null is parsed as that.
pub(crate) fn set(file: &mut File, name: &str, value: &str, found: &mut DiagnosticSink) {
    let is_target = name == TARGET && !file.vars.iter().any(|variable| variable.name.text == name);
    if is_target {
        match Pattern::parse(value, TextContext::Url) {
            Ok(target) => {
                file.target = Some(target);
                file.scenarios.iter_mut().for_each(|scenario| scenario.target = None);
            }
            Err(error) => found.add(Span::default(), Problem::Pattern(error.fault)),
        }
        return;
    }
    let Some(Variable { value: own, .. }) = variable_of(file, name) else {
        let given = file.vars.iter().map(|variable| variable.name.text.clone());
        let of_scenario = |scenario: &Scenario| {
            let name_of = |variable: &Variable| format!("{}.{}", scenario.name.text, variable.name.text);
            scenario.vars.iter().map(name_of).collect::<Vec<_>>()
        };
        let of_scenarios = file.scenarios.iter().flat_map(of_scenario);
        let names: Vec<String> = given.chain([TARGET.to_owned()]).chain(of_scenarios).collect();
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
