//! What included files have: variables, data and fragments.

use super::{data, fragments, variables};
use crate::diagnostic::{IncludeFault, Problem};
use crate::file::{File, Name};
use crate::keys::INCLUDED;
use crate::reader::{Fields, Reader};
use crate::tree::Node;

/// Adds what an included file has. A name that is there already is reported with both places.
pub(super) fn add(reader: &mut Reader<'_>, file: &mut File, node: &Node) {
    let Some(mut fields) = Fields::open(reader, node, &INCLUDED) else { return };
    // The files that it names were read with it.
    fields.get("include").into_iter().for_each(|node| drop(reader.one_or_more(node, Reader::owned)));
    let vars = fields.get("vars").map(|node| variables(reader, node, false)).unwrap_or_default();
    let sets = fields.get("data").map(|node| data::sets(reader, node)).unwrap_or_default();
    let shared = fields.get("fragments").map(|node| fragments::fragments(reader, node)).unwrap_or_default();
    fields.close();
    for variable in vars {
        let known = file.vars.iter().map(|one| &one.name).chain(file.data.iter().map(|one| &one.name));
        if is_free(reader, &variable.name, known) {
            file.vars.push(variable);
        }
    }
    for set in sets {
        let known = file.vars.iter().map(|one| &one.name).chain(file.data.iter().map(|one| &one.name));
        if is_free(reader, &set.name, known) {
            file.data.push(set);
        }
    }
    for fragment in shared {
        if is_free(reader, &fragment.name, file.fragments.iter().map(|one| &one.name)) {
            file.fragments.push(fragment);
        }
    }
}

/// Whether nothing has this name; otherwise it is reported.
fn is_free<'n>(reader: &mut Reader<'_>, name: &Name, mut known: impl Iterator<Item = &'n Name>) -> bool {
    let Some(first) = known.find(|known| known.text == name.text) else { return true };
    let (line, file) = (reader.source.place(first.at.start).line, reader.source.name_at(first.at.start));
    let fault = IncludeFault::Twice { name: name.text.clone(), place: format!("{file}:{line}") };
    reader.found.add(name.at, Problem::Include(fault));
    false
}
