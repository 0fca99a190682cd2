//! Validation of descriptors from untrusted servers, because the library that reads them trusts its input.

use std::collections::BTreeMap;

use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

/// The maximum depth of imports.
const IMPORT_DEPTH_MAX: u32 = 200;

/// The error in the files, in words.
pub(super) fn check(files: &[FileDescriptorProto]) -> Result<(), String> {
    for file in files {
        let name = file.name();
        if !matches!(file.syntax.as_deref(), None | Some("proto2" | "proto3")) {
            return Err(format!("'{name}' has the unknown syntax '{}'", file.syntax()));
        }
        let count = file.dependency.len();
        let is_import = |index: &i32| usize::try_from(*index).is_ok_and(|index| index < count);
        if !file.public_dependency.iter().chain(&file.weak_dependency).all(is_import) {
            return Err(format!("'{name}' passes on an import that it does not have"));
        }
        names_are_words(file)?;
    }
    imports_end(files)
}

/// Checks that no file imports itself, directly or indirectly.
fn imports_end(files: &[FileDescriptorProto]) -> Result<(), String> {
    let by_name: BTreeMap<&str, &FileDescriptorProto> = files.iter().map(|file| (file.name(), file)).collect();
    // Files that were visited completely; an unfinished visit is `None`.
    let mut seen: BTreeMap<&str, Option<()>> = BTreeMap::new();
    for file in files {
        let mut path = vec![(file, 0)];
        while let Some((file, next)) = path.pop() {
            let name = file.name();
            if next == 0 && seen.contains_key(name) {
                match seen[name] {
                    Some(_) => continue,
                    None => return Err(format!("'{name}' imports itself")),
                }
            }
            seen.entry(name).or_insert(None);
            if path.len() >= IMPORT_DEPTH_MAX as usize {
                return Err(format!("imports are deeper than {IMPORT_DEPTH_MAX}"));
            }
            match file.dependency.get(next) {
                Some(import) => {
                    path.push((file, next + 1));
                    if let Some(import) = by_name.get(import.as_str()) {
                        path.push((import, 0));
                    }
                }
                None => {
                    seen.insert(name, Some(()));
                }
            }
        }
    }
    Ok(())
}

/// Whether it is a letter or `_`, then those and digits: valid in a `.proto` file, and safe on a screen.
fn is_word(name: &str) -> bool {
    let is_letter = |each: char| each.is_ascii_alphabetic() || each == '_';
    name.starts_with(is_letter) && name.chars().all(|each| is_letter(each) || each.is_ascii_digit())
}

fn names_are_words(file: &FileDescriptorProto) -> Result<(), String> {
    let package = file.package();
    if !package.is_empty() && !package.split('.').all(is_word) {
        return Err(not_a_word(package));
    }
    let services = file
        .service
        .iter()
        .flat_map(|service| std::iter::once(service.name()).chain(service.method.iter().map(|method| method.name())));
    let all = services.chain(file.extension.iter().map(|extension| extension.name()));
    if let Some(name) = all.into_iter().find(|name| !is_word(name)) {
        return Err(not_a_word(name));
    }
    file.enum_type.iter().try_for_each(check_enum)?;
    file.message_type.iter().try_for_each(check_message)
}

fn not_a_word(name: &str) -> String {
    format!("'{}' is not a name", name.escape_debug())
}

fn check_message(message: &DescriptorProto) -> Result<(), String> {
    let names = std::iter::once(message.name())
        .chain(message.field.iter().map(|field| field.name()))
        .chain(message.oneof_decl.iter().map(|oneof| oneof.name()))
        .chain(message.extension.iter().map(|extension| extension.name()));
    if let Some(name) = names.into_iter().find(|name| !is_word(name)) {
        return Err(not_a_word(name));
    }
    if message.options.as_ref().is_some_and(|options| options.map_entry()) && !is_map_entry(message) {
        return Err(format!("'{}' is no entry of a map", message.name()));
    }
    message.enum_type.iter().try_for_each(check_enum)?;
    // They are no deeper than the Protobuf messages that contained them.
    message.nested_type.iter().try_for_each(check_message)
}

/// Whether it is a map entry with a valid key, and a value.
fn is_map_entry(message: &DescriptorProto) -> bool {
    let [key, value] = &message.field[..] else { return false };
    let is_key =
        !matches!(key.r#type(), Type::Double | Type::Float | Type::Bytes | Type::Message | Type::Group | Type::Enum);
    let is_one = |field: &FieldDescriptorProto, name: &str, number: i32| {
        field.name() == name && field.number() == number && field.label() == Label::Optional
    };
    is_key
        && key.r#type.is_some()
        && value.r#type() != Type::Group
        && is_one(key, "key", 1)
        && is_one(value, "value", 2)
}

/// Removes what a compiler has not resolved: options as text, and source positions.
pub(super) fn strip(file: &mut FileDescriptorProto) {
    file.source_code_info = None;
    file.syntax = file.syntax.take().filter(|syntax| !syntax.is_empty());
    file.options = None;
    file.extension.iter_mut().for_each(|field| field.options = None);
    file.enum_type.iter_mut().for_each(strip_enum);
    file.message_type.iter_mut().for_each(strip_message);
    for service in &mut file.service {
        service.options = None;
        service.method.iter_mut().for_each(|method| method.options = None);
    }
}

fn strip_message(message: &mut DescriptorProto) {
    if let Some(options) = &mut message.options {
        options.uninterpreted_option.clear();
    }
    for field in message.field.iter_mut().chain(&mut message.extension) {
        if let Some(options) = &mut field.options {
            options.uninterpreted_option.clear();
        }
    }
    message.oneof_decl.iter_mut().for_each(|oneof| oneof.options = None);
    message.extension_range.iter_mut().for_each(|range| range.options = None);
    message.enum_type.iter_mut().for_each(strip_enum);
    message.nested_type.iter_mut().for_each(strip_message);
}

fn strip_enum(kind: &mut EnumDescriptorProto) {
    kind.options = None;
    kind.value.iter_mut().for_each(|value| value.options = None);
}

fn check_enum(kind: &EnumDescriptorProto) -> Result<(), String> {
    let mut names = std::iter::once(kind.name()).chain(kind.value.iter().map(|value| value.name()));
    names.find(|name| !is_word(name)).map_or(Ok(()), |name| Err(not_a_word(name)))
}
