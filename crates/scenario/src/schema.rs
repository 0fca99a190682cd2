//! The JSON Schema of the file, made from the tables of the reader: editors complete and check with it.
//!
//! It is looser than the reader where a schema cannot express a rule, and never stricter.

use serde_json::{Map, Value, json};

use crate::keys::{FILE, Field, Kind, Object, steps};

/// A name that slots and expressions can use.
const NAME_PATTERN: &str = r"^[\p{L}_][\p{L}\p{N}_]*$";
/// A number, optionally with a unit after it.
const MEASURE_PATTERN: &str = r"^\s*[0-9]";

/// The JSON Schema (draft 2020-12) of scenario files.
pub fn schema() -> Value {
    let mut definitions = Definitions::default();
    let root = definitions.reference(&FILE);
    let steps: Vec<Value> = steps().map(|step| definitions.reference(step)).collect();
    definitions.all.insert("step".to_owned(), json!({ "type": "object", "oneOf": steps }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario file of onrush",
        "description": "What users do, for: onrush check FILE",
        "$ref": root["$ref"],
        "$defs": definitions.sorted(),
    })
}

#[derive(Default)]
struct Definitions {
    all: Map<String, Value>,
}

impl Definitions {
    /// The definitions by name, so that a change is easy to locate.
    fn sorted(self) -> Map<String, Value> {
        let mut all: Vec<(String, Value)> = self.all.into_iter().collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all.into_iter().collect()
    }

    fn reference(&mut self, object: &'static Object) -> Value {
        if !self.all.contains_key(object.id) {
            // The entry exists before it is filled, since steps are nested in steps.
            self.all.insert(object.id.to_owned(), Value::Null);
            let made = self.object(object);
            self.all.insert(object.id.to_owned(), made);
        }
        json!({ "$ref": format!("#/$defs/{}", object.id) })
    }

    fn object(&mut self, object: &'static Object) -> Value {
        let mut properties = Map::new();
        for field in object.fields {
            properties.insert(field.name.to_owned(), self.field(field));
        }
        let needed: Vec<&str> = object.fields.iter().filter(|field| field.is_needed).map(|field| field.name).collect();
        let mut made = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !needed.is_empty() {
            made["required"] = json!(needed);
        }
        if !object.any_of.is_empty() {
            made["anyOf"] = object.any_of.iter().map(|name| json!({ "required": [name] })).collect();
        }
        made
    }

    fn field(&mut self, field: &'static Field) -> Value {
        let mut made = json!({ "description": field.english });
        if let (Value::Object(made), Value::Object(kind)) = (&mut made, self.kind(&field.kind)) {
            made.extend(kind);
        }
        made
    }

    fn kind(&mut self, kind: &'static Kind) -> Value {
        match kind {
            Kind::Nothing => json!({ "type": "null" }),
            Kind::Text | Kind::Pattern | Kind::Expression => json!({ "type": ["string", "number", "boolean"] }),
            Kind::Switch => json!({ "type": "boolean" }),
            Kind::Count => json!({ "type": ["integer", "string"], "minimum": 0, "pattern": MEASURE_PATTERN }),
            Kind::Time | Kind::Rate => {
                json!({ "type": ["number", "string"], "minimum": 0, "pattern": MEASURE_PATTERN })
            }
            Kind::Word(words) => {
                let texts = words.iter().map(|word| json!(word));
                let numbers = words.iter().filter_map(|word| word.parse::<f64>().ok()).map(|number| json!(number));
                json!({ "enum": texts.chain(numbers).collect::<Vec<_>>() })
            }
            Kind::Json => json!({}),
            Kind::OneOrMore(kind) => {
                let one = self.kind(kind);
                json!({ "anyOf": [one, { "type": "array", "items": one }] })
            }
            Kind::List(kind) => json!({ "type": "array", "items": self.kind(kind) }),
            Kind::Named(kind) => json!({ "type": "object", "additionalProperties": self.kind(kind) }),
            Kind::Variables(kind) => json!({
                "type": "object",
                "propertyNames": { "pattern": NAME_PATTERN },
                "additionalProperties": self.kind(kind),
            }),
            Kind::Object(object) => self.reference(object),
            Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(|kind| self.kind(kind)).collect::<Vec<_>>() }),
            Kind::Steps => json!({ "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/step" } }),
            Kind::MaybeSteps => json!({ "type": "array", "items": { "$ref": "#/$defs/step" } }),
        }
    }
}
