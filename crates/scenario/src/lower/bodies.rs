//! Bodies of requests: constant bytes, or parts that are rendered anew.

use plan::{Filling, Pattern, PatternPart, Rendering, Slot, SlotContext, Unknown, folder_files, path_in_folder};

use super::DynamicParts;
use crate::diagnostic::{DataFault, Problem};
use crate::file::{DataFormat, DataSet, Json, Part, PartValue};
use crate::form::form_escaped;

/// The boundary of multipart forms, a line that usual content does not contain.
const BOUNDARY: &str = "----onrush-5f3a9c1e7b2d4860";

/// The most bytes of all files of a folder together: they are kept in memory, and go to each worker.
const FOLDER_BYTES_MAX: u64 = 256 << 20;

/// Bytes with slots, piece by piece.
#[derive(Default)]
pub(super) struct Pieces {
    parts: Vec<PatternPart>,
    /// File contents, which may be binary, in the place of an empty part without slots.
    rendering: Rendering,
}

impl Pieces {
    fn text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(PatternPart::Text(last)) => last.push_str(text),
            _ => self.parts.push(PatternPart::Text(text.to_owned())),
        }
    }

    /// Adds a pattern whose plain texts are written by `escape`.
    fn pattern(&mut self, pattern: &Pattern, escape: impl Fn(&str) -> String) {
        for part in &pattern.parts {
            match part {
                PatternPart::Text(text) => self.text(&escape(text)),
                PatternPart::Slot(slot) => self.parts.push(PatternPart::Slot(slot.clone())),
            }
        }
    }

    fn add(&mut self, rendering: Rendering, dynamic_parts: &mut DynamicParts<'_>) -> Result<(), Unknown> {
        self.flush(dynamic_parts)?;
        self.rendering = std::mem::take(&mut self.rendering).then(rendering);
        Ok(())
    }

    fn flush(&mut self, dynamic_parts: &mut DynamicParts<'_>) -> Result<(), Unknown> {
        let pattern = Pattern { parts: std::mem::take(&mut self.parts) };
        let rendering = dynamic_parts.naming.rendering(&pattern)?;
        self.rendering = std::mem::take(&mut self.rendering).then(rendering);
        Ok(())
    }

    /// The rendering with resolved names.
    pub(super) fn finish(mut self, dynamic_parts: &mut DynamicParts<'_>) -> Result<Rendering, Problem> {
        self.flush(dynamic_parts)?;
        Ok(self.rendering)
    }
}

impl From<Unknown> for Problem {
    fn from(unknown: Unknown) -> Self {
        Self::Slot { text: unknown.text }
    }
}

/// A text, unchanged.
pub(super) fn text_pieces(pattern: &Pattern) -> Pieces {
    let mut pieces = Pieces::default();
    pieces.pattern(pattern, str::to_owned);
    pieces
}

/// A form in the encoding of browsers.
pub(super) fn form_pieces(fields: &[(String, Pattern)]) -> Pieces {
    let mut pieces = Pieces::default();
    for (number, (name, value)) in fields.iter().enumerate() {
        let between = if number > 0 { "&" } else { "" };
        pieces.text(&format!("{between}{}=", form_escaped(name)));
        pieces.pattern(value, form_escaped);
    }
    pieces
}

/// JSON without blanks between its parts.
pub(super) fn json_pieces(json: &Json) -> Pieces {
    let mut pieces = Pieces::default();
    write_json(json, &mut pieces);
    pieces
}

fn write_json(json: &Json, pieces: &mut Pieces) {
    match json {
        Json::Null => pieces.text("null"),
        Json::Bool(is_so) => pieces.text(if *is_so { "true" } else { "false" }),
        Json::Number(number) => pieces.text(&number.to_string()),
        Json::Digits(digits) => pieces.text(digits),
        Json::Text(pattern) => write_string(pattern, pieces, true),
        Json::List(items) => {
            pieces.text("[");
            for (number, item) in items.iter().enumerate() {
                if number > 0 {
                    pieces.text(",");
                }
                write_json(item, pieces);
            }
            pieces.text("]");
        }
        Json::Map(pairs) => {
            pieces.text("{");
            for (number, (key, value)) in pairs.iter().enumerate() {
                if number > 0 {
                    pieces.text(",");
                }
                write_string(key, pieces, false);
                pieces.text(":");
                write_json(value, pieces);
            }
            pieces.text("}");
        }
    }
}

/// A string. If it is exactly one slot it keeps the type of its value, unless it is a key.
fn write_string(pattern: &Pattern, pieces: &mut Pieces, keeps_type: bool) {
    let place = |slot: &Slot, place| PatternPart::Slot(Slot { place, ..slot.clone() });
    if let [PatternPart::Slot(slot)] = &pattern.parts[..]
        && keeps_type
    {
        return pieces.parts.push(place(slot, SlotContext::JsonValue));
    }
    pieces.text("\"");
    for part in &pattern.parts {
        match part {
            PatternPart::Text(text) => {
                let quoted = serde_json::Value::from(text.as_str()).to_string();
                pieces.text(&quoted[1..quoted.len() - 1]);
            }
            PatternPart::Slot(slot) => pieces.parts.push(place(slot, SlotContext::JsonString)),
        }
    }
    pieces.text("\"");
}

/// A multipart form, and its media type.
pub(super) fn part_pieces(parts: &[Part], dynamic_parts: &mut DynamicParts<'_>) -> Result<(Pieces, String), Problem> {
    let mut pieces = Pieces::default();
    for part in parts {
        pieces.text(&format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(&part.name)));
        match &part.value {
            PartValue::Text(pattern) => {
                pieces.text("\r\n\r\n");
                pieces.pattern(pattern, str::to_owned);
            }
            PartValue::File { path, filename, media_type } => {
                let bytes = dynamic_parts.read(path)?;
                let own = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let name = filename.clone().unwrap_or(own);
                let kind = media_type.as_deref().unwrap_or("application/octet-stream");
                pieces.text(&format!("; filename=\"{}\"\r\nContent-Type: {kind}\r\n\r\n", quoted(&name)));
                pieces.add(Rendering::from_bytes(bytes), dynamic_parts)?;
            }
            PartValue::RowFile { path, filename, media_type } => {
                pieces.text("; filename=\"");
                match filename {
                    Some(name) => pieces.text(&quoted(name)),
                    // No file of a folder has a quote in its name.
                    None => pieces.pattern(&name_of(path), str::to_owned),
                }
                let kind = media_type.as_deref().unwrap_or("application/octet-stream");
                pieces.text(&format!("\"\r\nContent-Type: {kind}\r\n\r\n"));
                let file = dynamic_parts.row_file(path)?;
                pieces.add(file, dynamic_parts)?;
            }
        }
        pieces.text("\r\n");
    }
    pieces.text(&format!("--{BOUNDARY}--\r\n"));
    Ok((pieces, format!("multipart/form-data; boundary={BOUNDARY}")))
}

/// The content of the file of a row.
pub(super) fn file_pieces(path: &Pattern, dynamic_parts: &mut DynamicParts<'_>) -> Result<Pieces, Problem> {
    let mut pieces = Pieces::default();
    let file = dynamic_parts.row_file(path)?;
    pieces.add(file, dynamic_parts)?;
    Ok(pieces)
}

/// The name of the file of a row, in the place of its path.
fn name_of(path: &Pattern) -> Pattern {
    let mut name = path.clone();
    for slot in name.slots_mut() {
        if let Filling::Column(_, column) = &mut slot.filling {
            "name".clone_into(column);
        }
    }
    name
}

impl DynamicParts<'_> {
    /// The content of the file of a row, of which all are known before the run.
    fn row_file(&mut self, path: &Pattern) -> Result<Rendering, Problem> {
        let named =
            path.slots().find_map(|slot| if let Filling::Column(set, _) = &slot.filling { Some(set) } else { None });
        let is_it = |set: &&DataSet| Some(&set.name.text) == named && set.format == DataFormat::Folder;
        let Some(set) = self.file.data.iter().find(is_it) else { return Err(Problem::Data(DataFault::FileSlot)) };
        let shown = set.file.to_string_lossy().into_owned();
        let listed = folder_files(&self.outside.folder.join(&set.file));
        let listed = listed.map_err(|error| {
            let (path, reason) = (shown.clone(), error.to_string());
            Problem::Data(DataFault::NoSuchFolder { path, reason })
        })?;
        if listed.iter().fold(0, |sum: u64, file| sum.saturating_add(file.bytes)) > FOLDER_BYTES_MAX {
            return Err(Problem::Data(DataFault::FolderTooLarge { path: shown, most: FOLDER_BYTES_MAX }));
        }
        let mut files = Vec::with_capacity(listed.len());
        for file in listed {
            files.push((path_in_folder(&shown, &file.name).into(), self.body_of(&set.file.join(&file.name))?));
        }
        Ok(Rendering::of_file(path, files, &mut self.naming)?)
    }
}

/// Quotes a name in a part like browsers do (the HTML standard).
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
