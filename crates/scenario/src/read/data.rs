//! Data files: their settings, and the names of their columns when they can be read.

mod columns;

use std::borrow::Cow;
use std::path::Path;

use encoding_rs::GBK;

use crate::diagnostic::{DataFault, NameFault, Problem, Things, shortened};
use crate::file::{AtEnd, DataFormat, DataSet, Encoding, Name, RowPick, RowShare};
use crate::keys::{DATA, DATA_FORMATS, ENCODINGS};
use crate::reader::{Fields, Read, Reader};
use crate::tree::{Node, Value};

/// The orders of rows, by their words.
const ORDERS: [(&str, RowPick); 3] =
    [("sequential", RowPick::Next), ("random", RowPick::Random), ("by_user", RowPick::ByUser)];

/// The columns of a folder.
const FOLDER_COLUMNS: [&str; 3] = ["path", "name", "bytes"];

/// The number of bytes of a data file that are read for the names of its columns.
const DATA_HEAD_BYTES_MAX: usize = 256 * 1024;

pub(super) fn sets(reader: &mut Reader<'_>, node: &Node) -> Vec<DataSet> {
    let named = super::bounded(reader, node, Things::DataSets, super::NAMES_MAX);
    let sets = named.into_iter().filter_map(|(name, at, node)| {
        let name = reader.name(name, at);
        set(reader, name.unwrap_or_default(), node)
    });
    sets.filter(|set| !set.name.text.is_empty()).collect()
}

fn set(reader: &mut Reader<'_>, name: Name, node: &Node) -> Read<DataSet> {
    // A path alone, without options.
    if matches!(node.value, Value::Scalar(_)) {
        let path = reader.text(node)?;
        let format = format_of(reader, node, path)?;
        let set = DataSet { separator: separator_of(path), ..set_of(name, path, format) };
        return finish(reader, node, set, false);
    }
    let mut fields = Fields::open(reader, node, &DATA)?;
    if let Some(folder) = fields.get("folder") {
        return folder_set(reader, name, &mut fields, folder);
    }
    let file = fields.get("file");
    if file.is_none() {
        reader.found.add(fields.at, Problem::MissingKey { object: &DATA, key: "file" });
    }
    let path = file.and_then(|node| reader.text(node));
    let format = fields.get("format").map(|node| {
        let all = [DataFormat::Csv, DataFormat::Json, DataFormat::JsonLines];
        let words: Vec<_> = DATA_FORMATS.iter().copied().zip(all).collect();
        reader.word(node, &words)
    });
    let format = match (format, path) {
        (Some(format), _) => format,
        (None, Some(path)) => file.and_then(|node| format_of(reader, node, path)),
        (None, None) => None,
    };
    let encoding = fields.get("encoding").and_then(|node| {
        let words: Vec<_> = ENCODINGS.iter().copied().zip([Encoding::Utf8, Encoding::Gbk]).collect();
        reader.word(node, &words)
    });
    let separator = fields.get("separator").and_then(|node| separator(reader, node));
    let (pick, share, at_end) = row_settings(reader, &mut fields);
    let filter = fields.get("filter").and_then(|node| reader.expression(node));
    let (columns, header) = columns::given(reader, &mut fields);
    if format.is_some_and(|format| format != DataFormat::Csv) {
        // JSON is always UTF-8 (RFC 8259 8.1).
        let is_gbk = encoding == Some(Encoding::Gbk);
        let wrong = [
            ("separator", separator.is_some()),
            ("columns", columns.is_some()),
            ("header", header.is_some()),
            ("encoding", is_gbk),
        ];
        for (one, _) in wrong.into_iter().filter(|(_, is_wrong)| *is_wrong) {
            reader.found.add(fields.place(one), Problem::Conflict { one, other: "format" });
        }
    }
    fields.close();
    let (path, format) = path.zip(format)?;
    let set = DataSet {
        encoding: encoding.unwrap_or_default(),
        separator: separator.unwrap_or_else(|| separator_of(path)),
        pick: pick.unwrap_or_default(),
        share: share.unwrap_or_default(),
        at_end: at_end_of(share, at_end),
        filter,
        is_headless: columns.as_ref().is_some_and(|columns| columns.is_headless),
        columns: columns.as_ref().filter(|columns| columns.is_headless).map(|columns| columns.names.clone()),
        numbers: columns.map(|columns| columns.numbers).unwrap_or_default(),
        ..set_of(name, path, format)
    };
    finish(reader, file?, set, separator.is_some())
}

/// The files of a folder as rows.
fn folder_set(reader: &mut Reader<'_>, name: Name, fields: &mut Fields<'_>, node: &Node) -> Read<DataSet> {
    for one in fields.given(&["file", "format", "encoding", "separator", "columns", "header"]) {
        fields.get(one);
        reader.found.add(fields.place(one), Problem::Conflict { one, other: "folder" });
    }
    let (pick, share, at_end) = row_settings(reader, fields);
    let filter = fields.get("filter").and_then(|node| reader.expression(node));
    let path = reader.text(node)?;
    let fault = match reader.files.folder(Path::new(path)) {
        Ok(0) => Some(DataFault::EmptyFolder { path: shortened(path) }),
        Ok(_) => None,
        Err(error) => Some(DataFault::NoSuchFolder { path: shortened(path), reason: error.to_string() }),
    };
    fault.into_iter().for_each(|fault| reader.found.add(node.at, Problem::Data(fault)));
    Some(DataSet {
        pick: pick.unwrap_or_default(),
        share: share.unwrap_or_default(),
        at_end: at_end_of(share, at_end),
        columns: Some(FOLDER_COLUMNS.map(str::to_owned).into()),
        filter,
        ..set_of(name, path, DataFormat::Folder)
    })
}

/// Unique rows do not repeat, unless the file says so.
fn at_end_of(share: Option<RowShare>, at_end: Option<AtEnd>) -> AtEnd {
    at_end.unwrap_or(if share == Some(RowShare::Unique) { AtEnd::Stop } else { AtEnd::default() })
}

/// How rows are taken.
fn row_settings(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> RowSettings {
    let pick = fields.get("order").and_then(|node| reader.word(node, &ORDERS));
    let shares = [("split", RowShare::Split), ("copy", RowShare::Copy), ("unique", RowShare::Unique)];
    let share = fields.get("sharing").and_then(|node| reader.word(node, &shares));
    let ends = [("repeat", AtEnd::Again), ("stop", AtEnd::Stop)];
    let at_end = fields.get("on_end").and_then(|node| reader.word(node, &ends));
    check_order(reader, fields, (pick, share, at_end));
    (pick, share, at_end)
}

/// How rows are taken, as far as that is given.
type RowSettings = (Option<RowPick>, Option<RowShare>, Option<AtEnd>);

/// Reports keys that do not go together with the order of rows.
fn check_order(reader: &mut Reader<'_>, fields: &Fields<'_>, (pick, share, at_end): RowSettings) {
    if pick == Some(RowPick::ByUser) {
        fields.given(&["sharing"]).into_iter().for_each(|one| {
            reader.found.add(fields.place(one), Problem::Conflict { one, other: "order: by_user" });
        });
    }
    if pick == Some(RowPick::Random) {
        // Random rows have no end, and are not distributed.
        fields.given(&["sharing", "on_end"]).into_iter().for_each(|one| {
            reader.found.add(fields.place(one), Problem::Conflict { one, other: "order: random" });
        });
    }
    if (share, at_end) == (Some(RowShare::Unique), Some(AtEnd::Again)) {
        reader.found.add(fields.place("on_end"), Problem::Conflict { one: "on_end: repeat", other: "sharing: unique" });
    }
}

fn set_of(name: Name, path: &str, format: DataFormat) -> DataSet {
    DataSet {
        name,
        file: path.into(),
        format,
        encoding: Encoding::default(),
        separator: b',',
        pick: RowPick::default(),
        share: RowShare::default(),
        at_end: AtEnd::default(),
        columns: None,
        numbers: Vec::new(),
        is_headless: false,
        filter: None,
    }
}

fn format_of(reader: &mut Reader<'_>, node: &Node, path: &str) -> Read<DataFormat> {
    let end = Path::new(path).extension().map(|end| end.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    match end.as_str() {
        "csv" | "tsv" => Some(DataFormat::Csv),
        "json" => Some(DataFormat::Json),
        "jsonl" | "ndjson" => Some(DataFormat::JsonLines),
        _ => reader.emit(node.at, Problem::DataFormat { path: shortened(path) }),
    }
}

fn separator_of(path: &str) -> u8 {
    if path.to_ascii_lowercase().ends_with(".tsv") { b'\t' } else { b',' }
}

fn separator(reader: &mut Reader<'_>, node: &Node) -> Read<u8> {
    match reader.text(node)?.as_bytes() {
        [one] if one.is_ascii() && !one.is_ascii_alphanumeric() && *one != b'"' && *one != b'\n' && *one != b'\r' => {
            Some(*one)
        }
        b"\\t" => Some(b'\t'),
        _ => {
            let given = shortened(reader.raw_text(node)?);
            reader.emit(node.at, Problem::Choice { given, near: None, known: "',' ';' '|' '\\t'".to_owned() })
        }
    }
}

/// Reads the columns of the file. `is_said`: its separator is given.
fn finish(reader: &mut Reader<'_>, node: &Node, mut set: DataSet, is_said: bool) -> Read<DataSet> {
    let path = set.file.to_string_lossy().into_owned();
    let head = match reader.files.head(&set.file, DATA_HEAD_BYTES_MAX) {
        Ok(head) => head,
        Err(error) => {
            reader.found.add(node.at, Problem::DataFile { path: shortened(&path), reason: error.to_string() });
            return Some(set);
        }
    };
    if head.iter().all(u8::is_ascii_whitespace) && head.len() < DATA_HEAD_BYTES_MAX {
        reader.found.add(node.at, Problem::DataEmpty { path: shortened(&path) });
        return Some(set);
    }
    if !is_said && set.format == DataFormat::Csv && set.separator == b',' {
        set.separator = columns::separator(&decoded(&head, set.encoding));
    }
    let found = columns(&head, &set);
    if let (Some(named), Some(found)) = (&set.columns, &found)
        && named.len() != found.len()
    {
        let (path, wanted, found) = (shortened(&path), named.len(), found.len());
        reader.found.add(node.at, Problem::DataColumns { path, wanted, found });
    }
    if !set.is_headless {
        set.columns = found;
    }
    if let Some(columns) = &set.columns {
        for name in set.numbers.iter().filter(|name| !columns.contains(name)) {
            let near = plan::did_you_mean(name, columns.iter().map(String::as_str)).map(str::to_owned);
            let (set, column, known) = (set.name.text.clone(), shortened(name), shortened(&columns.join(", ")));
            reader.found.add(node.at, Problem::Name(NameFault::Column { set, column, near, known }));
        }
    }
    Some(set)
}

/// The columns of each row; `None` when the first row is longer than what was read, or there is none.
fn columns(head: &[u8], set: &DataSet) -> Option<Vec<String>> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let is_whole = head.len() < DATA_HEAD_BYTES_MAX;
    match set.format {
        DataFormat::Csv => csv_columns(&decoded(head, set.encoding), set.separator, is_whole),
        DataFormat::JsonLines => {
            let line = head.split(|byte| *byte == b'\n').find(|line| !line.iter().all(u8::is_ascii_whitespace))?;
            keys(serde_json::from_slice(line).ok()?)
        }
        DataFormat::Json => {
            let start = head.iter().position(|byte| *byte == b'[')?;
            let mut rows = serde_json::Deserializer::from_slice(&head[start + 1..]).into_iter::<serde_json::Value>();
            keys(rows.next()?.ok()?)
        }
        DataFormat::Folder => set.columns.clone(),
    }
}

/// The head of a file in UTF-8. A character that is cut at its end is ignored.
fn decoded(head: &[u8], encoding: Encoding) -> Cow<'_, [u8]> {
    match encoding {
        Encoding::Utf8 => Cow::Borrowed(head),
        Encoding::Gbk => Cow::Owned(GBK.decode_without_bom_handling(head).0.into_owned().into_bytes()),
    }
}

fn keys(row: serde_json::Value) -> Option<Vec<String>> {
    row.as_object().map(|row| row.keys().cloned().collect())
}

/// The fields of the first line (RFC 4180).
fn csv_columns(head: &[u8], separator: u8, is_whole: bool) -> Option<Vec<String>> {
    let (mut fields, mut field, mut rest) = (Vec::new(), Vec::new(), head);
    let mut is_quoted = false;
    loop {
        let Some((byte, after)) = rest.split_first() else {
            if !is_whole || is_quoted {
                return None;
            }
            fields.push(field);
            break;
        };
        rest = after;
        match byte {
            b'"' if is_quoted && rest.first() == Some(&b'"') => {
                field.push(b'"');
                rest = &rest[1..];
            }
            b'"' if is_quoted || field.is_empty() => is_quoted = !is_quoted,
            b'\n' if !is_quoted => {
                fields.push(field);
                break;
            }
            byte if *byte == separator && !is_quoted => fields.push(std::mem::take(&mut field)),
            byte => field.push(*byte),
        }
    }
    let names = fields.into_iter().map(|field| String::from_utf8(field).ok());
    let names: Option<Vec<String>> = names.collect();
    names.map(|names| names.into_iter().map(|name| name.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_first_row() {
        let csv = |text: &str, separator| csv_columns(text.as_bytes(), separator, true);
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(csv("name,pass\r\na,b\r\n", b','), names(&["name", "pass"]));
        assert_eq!(csv("\"a,b\";\"c\"\"d\" ; 价格", b';'), names(&["a,b", "c\"d", "价格"]));
        assert_eq!(csv("\"two\nlines\",b\n1,2", b','), names(&["two\nlines", "b"]));
        assert_eq!(csv("\"open,b\n", b','), None);
        assert_eq!(csv_columns(b"cut,off", b',', false), None);
        let of = |format, text: &str| columns(text.as_bytes(), &set_of(Name::default(), "", format));
        assert_eq!(of(DataFormat::Csv, "\u{feff}a,b\n"), names(&["a", "b"]));
        assert_eq!(of(DataFormat::JsonLines, "\n{\"w\": 1, \"v\": {}}\n{}"), names(&["w", "v"]));
        assert_eq!(of(DataFormat::Json, " [ {\"w\": [1]}, {"), names(&["w"]));
        assert_eq!(of(DataFormat::Json, "{}"), None);
        let gbk = DataSet { encoding: Encoding::Gbk, ..set_of(Name::default(), "", DataFormat::Csv) };
        assert_eq!(columns(b"city,\xbc\xdb\xb8\xf1\n\xb1\xb1\xbe\xa9,1\n", &gbk), names(&["city", "价格"]));
    }
}
