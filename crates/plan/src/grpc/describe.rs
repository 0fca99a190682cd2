//! Descriptions for users, in the syntax of a `.proto` file.

use std::fmt::Write;

use prost_reflect::{
    Cardinality, DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor,
    SerializeOptions, ServiceDescriptor,
};

use super::Schema;
use crate::PlanError;

/// The depth to which nested messages are written out.
const DEPTH_MAX: usize = 16;

impl Schema {
    /// Describes a service, a method, a message or an enum.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn describe(&self, symbol: &str) -> Result<String, PlanError> {
        let symbol = symbol.trim_start_matches(['.', '/']);
        if let Some(service) = self.pool.get_service_by_name(symbol) {
            return Ok(describe_service(&service));
        }
        if let Some(message) = self.pool.get_message_by_name(symbol) {
            return Ok(describe_message(&message));
        }
        if let Some(kind) = self.pool.get_enum_by_name(symbol) {
            let mut text = String::new();
            write_enum(&kind, 0, &mut text);
            return Ok(text);
        }
        if let Some((service, method)) = symbol.rsplit_once(['/', '.'])
            && self.pool.get_service_by_name(service).is_some()
        {
            return Ok(describe_method(&self.method(service, method)?));
        }
        Err(PlanError::NoSymbol { symbol: symbol.to_owned(), known: self.services().join(", ") })
    }
}

fn describe_service(service: &ServiceDescriptor) -> String {
    let mut text = format!("service {} {{\n", service.name());
    for method in service.methods() {
        text.push_str("  ");
        text.push_str(&signature(&method));
    }
    text.push_str("}\n");
    text
}

fn signature(method: &MethodDescriptor) -> String {
    let part = |is_stream: bool, kind: MessageDescriptor| {
        format!("{}{}", if is_stream { "stream " } else { "" }, kind.full_name())
    };
    let (input, output) =
        (part(method.is_client_streaming(), method.input()), part(method.is_server_streaming(), method.output()));
    format!("rpc {}({input}) returns ({output});\n", method.name())
}

/// The method, both messages, and a sample request.
fn describe_method(method: &MethodDescriptor) -> String {
    let (input, output) = (method.input(), method.output());
    let mut text = signature(method);
    text.push('\n');
    text.push_str(&describe_message(&input));
    if input != output {
        text.push('\n');
        text.push_str(&describe_message(&output));
    }
    let options = SerializeOptions::new().skip_default_fields(false);
    let mut json = Vec::new();
    let written =
        DynamicMessage::new(input).serialize_with_options(&mut serde_json::Serializer::new(&mut json), &options);
    if written.is_ok() {
        write!(text, "\n-d '{}'\n", String::from_utf8_lossy(&json)).unwrap_or_default();
    }
    text
}

fn describe_message(message: &MessageDescriptor) -> String {
    let mut text = String::new();
    write_message(message, 0, &mut text);
    text
}

fn write_message(message: &MessageDescriptor, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    text.push_str(&format!("{indent}message {} {{\n", message.name()));
    if depth < DEPTH_MAX {
        for inner in message.child_messages().filter(|inner| !inner.is_map_entry()) {
            write_message(&inner, depth + 1, text);
        }
        message.child_enums().for_each(|inner| write_enum(&inner, depth + 1, text));
    }
    for field in message.fields().filter(|field| in_oneof(field).is_none()) {
        text.push_str(&format!("{indent}  {}\n", describe_field(&field)));
    }
    for oneof in message.oneofs().filter(|oneof| !oneof.is_synthetic()) {
        text.push_str(&format!("{indent}  oneof {} {{\n", oneof.name()));
        oneof.fields().for_each(|field| text.push_str(&format!("{indent}    {}\n", describe_field(&field))));
        text.push_str(&format!("{indent}  }}\n"));
    }
    text.push_str(&format!("{indent}}}\n"));
}

fn in_oneof(field: &FieldDescriptor) -> Option<prost_reflect::OneofDescriptor> {
    field.containing_oneof().filter(|oneof| !oneof.is_synthetic())
}

fn describe_field(field: &FieldDescriptor) -> String {
    let (name, number) = (field.name(), field.number());
    if field.is_map()
        && let Kind::Message(entry) = field.kind()
    {
        let (key, value) = (entry.map_entry_key_field(), entry.map_entry_value_field());
        return format!("map<{}, {}> {name} = {number};", name_of(&key.kind()), name_of(&value.kind()));
    }
    let label = match field.cardinality() {
        Cardinality::Repeated => "repeated ",
        Cardinality::Required => "required ",
        Cardinality::Optional if field.field_descriptor_proto().proto3_optional() => "optional ",
        Cardinality::Optional => "",
    };
    format!("{label}{} {name} = {number};", name_of(&field.kind()))
}

fn name_of(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(kind) => kind.full_name().to_owned(),
        plain => format!("{plain:?}").to_ascii_lowercase(),
    }
}

fn write_enum(kind: &EnumDescriptor, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    text.push_str(&format!("{indent}enum {} {{\n", kind.name()));
    for value in kind.values() {
        text.push_str(&format!("{indent}  {} = {};\n", value.name(), value.number()));
    }
    text.push_str(&format!("{indent}}}\n"));
}
