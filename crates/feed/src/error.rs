//! Errors of a data file: where, why, and what to do.

use std::fmt;
use std::path::PathBuf;

use plan::errors;

use crate::{COLUMNS_MAX, ROW_BYTES_MAX};

/// Maximum column names listed in an error.
const NAMES_SAID_MAX: usize = 12;

/// The error of a file that cannot be used, or can no longer be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FeedError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, where the row or the error begins.
    pub line: Option<u64>,
    /// The fault.
    pub fault: FeedFault,
}

impl fmt::Display for FeedError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(out, ", line {line}")?;
        }
        write!(out, ": {}", self.fault)
    }
}

errors! {
    /// The fault of a file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum FeedFault;

    /// It cannot be opened.
    Open { reason: String };
        "cannot be opened: {reason}; check the path, and that this user may read the file",
        "无法打开：{reason}；请检查路径，并确认当前用户有读取权限";
    /// It was opened and cannot be read.
    Read { reason: String };
        "cannot be read: {reason}; copy the file to a local disk and name that",
        "无法读取：{reason}；请把文件复制到本地磁盘后再使用";
    /// It is a folder.
    Directory;
        "is a directory; name a file in it",
        "这是一个目录；请指定其中的文件";
    /// It is a pipe, a socket or a device.
    NotRegular;
        "is no regular file, so it cannot be read more than once; write its rows to a file and name that",
        "这不是普通文件，无法反复读取；请先把数据写入普通文件，再指定该文件";
    /// The thread that reads it cannot be started.
    Thread { reason: String };
        "no thread could be started to read it: {reason}; raise the limit of processes (ulimit -u)",
        "无法创建读取文件的线程：{reason}；请调高进程数上限（ulimit -u）";
    /// It has changed since the run began.
    Changed;
        "has changed since it was opened; do not write to it during a run, or name a copy",
        "文件在打开后被修改；压测期间请勿写入，或改用它的副本";
    /// It has no rows.
    NoRows;
        "has no rows; add one; the first line of a CSV file names its columns, unless columns: [...] does",
        "没有数据行；请至少添加一行；CSV 首行是列名，除非在场景文件中另行给出";
    /// A row has too few or too many fields.
    Fields { found: usize, wanted: usize };
        "{found} fields, but there are {wanted} columns; a field that contains the separator, a quote or a line end needs double quotes around it",
        "这一行有 {found} 个字段，而列数为 {wanted}；字段中含有分隔符、双引号或换行时，请用双引号括起来";
    /// A folder without files.
    NoFiles;
        "has no files; put some into it; hidden files and folders in it are left out",
        "目录中没有文件；请放入文件；隐藏文件和子目录不计";
    /// A filter that keeps no row.
    NoneKept;
        "its filter keeps no row; compare with values that the file has, with the same letters and spaces",
        "filter 没有保留任何一行；请与文件中实际的值比较，注意大小写和空格";
    /// A filter without a value for a row.
    Filter { reason: String };
        "the filter has no value here: {reason}; change it so that it suits each row",
        "filter 在这一行没有值：{reason}；请修改，使其适用于每一行";
    /// A column with more values than a list has.
    ListTooLong { rows: u64, most: usize };
        "as a list a column has {rows} values, and {most} is the most; keep fewer rows by 'filter'",
        "作为列表的列有 {rows} 个值，最多 {most} 个；请用 filter 减少行数";
    /// A quoted field does not end.
    OpenQuote;
        "the row has a double quote that is not closed; close it, and write a quote inside quotes twice",
        "这一行有未闭合的双引号；请补上，引号内的双引号要写两遍";
    /// A value that is no number, in a column of numbers.
    NoNumber { name: String, value: String };
        "'{value}' in the column \"{name}\" is no number; correct the row, or leave the column a text",
        "列“{name}”中的 '{value}' 不是数字；请修正这一行，或将该列作为文本";
    /// A row exceeds the length limit.
    RowTooLong;
        "the row is longer than {} MiB; check its quotes or brackets, or shorten it" [ROW_BYTES_MAX >> 20],
        "这一行超过 {} MiB；请检查引号或括号是否成对，或缩短内容" [ROW_BYTES_MAX >> 20];
    /// The file exceeds the limit of columns.
    ColumnsTooMany;
        "more than {COLUMNS_MAX} columns; check the separator, or leave columns out",
        "列数超过 {COLUMNS_MAX}；请检查分隔符，或去掉不用的列";
    /// Two columns have the same name.
    ColumnTwice { name: String };
        "two columns are called \"{name}\"; give each its own name",
        "有两列同名：“{name}”；请改成不同的名称";
    /// A requested column does not exist.
    ColumnMissing { name: String, columns: Vec<String> };
        "there is no column \"{name}\"; the columns are {}" [said(columns)],
        "没有“{name}”这一列；现有的列：{}" [columns_in_chinese(columns)];
    /// An object lacks a key that the first one has.
    KeyMissing { name: String };
        "the object has no \"{name}\", which the first one has; add it, with null where there is none",
        "此对象缺少首个对象中有的“{name}”；请补上，没有值时写 null";
    /// An object has a key that the first one does not have.
    KeyUnknown { name: String };
        "the object has \"{name}\", which the first one does not have; add it there, with null where there is none",
        "此对象有“{name}”，而首个对象没有；请在首个对象中补上，没有值时写 null";
    /// Bytes that are not valid in the charset.
    Text { charset: &'static str };
        "this is not {charset}; save the file as UTF-8, or for CSV name its charset, for example gbk",
        "内容不是有效的 {charset}；请将文件另存为 UTF-8，CSV 也可以指定其编码，例如 gbk";
    /// A byte order mark of UTF-16 or UTF-32.
    Wide;
        "this is UTF-16 or UTF-32; save the file as UTF-8",
        "文件编码为 UTF-16 或 UTF-32；请另存为 UTF-8";
    /// An unsupported charset.
    Charset { name: String };
        "the charset \"{name}\" is not known or cannot be read row by row; save the file as UTF-8",
        "编码“{name}”未知，或无法逐行读取；请将文件另存为 UTF-8";
    /// An invalid separator.
    Separator { found: char };
        "{found:?} cannot separate fields; take one character of ASCII that is no quote and no line end",
        "{found:?} 不能用作分隔符；请使用一个 ASCII 字符，不能是双引号或换行";
    /// Not JSON.
    Json { reason: String };
        "this is not JSON: {reason}; correct the row",
        "不是有效的 JSON：{reason}；请修正这一行";
    /// Not an array of objects.
    NoArray;
        "this is no array of objects; put [ and ] around all and commas between, or for an object on each line name the format jsonl",
        "内容不是由对象组成的数组；请用 [ 和 ] 括住全部内容并用逗号分隔，若每行一个对象，请将格式指定为 jsonl";
    /// A row that is not an object.
    NoObject;
        "the row is no object; write it as {{\"name\": value, ...}}",
        "这一行不是对象；请写成 {{\"名称\": 值}}";
    /// An array that does not end.
    Cut;
        "the file ends inside the array; write the whole file again",
        "文件在数组结束之前中断；请重新写出完整的文件";
    /// Content after the array.
    AfterEnd;
        "there is more after the end of the array; put all rows into one array",
        "数组结束后还有内容；请把所有数据放进同一个数组";
}

/// The names as readable text.
fn said(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SAID_MAX).map(String::as_str).collect();
    let more = names.len().saturating_sub(NAMES_SAID_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

fn columns_in_chinese(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SAID_MAX).map(String::as_str).collect();
    let rest = if names.len() > NAMES_SAID_MAX { format!(" 等 {} 列", names.len()) } else { String::new() };
    format!("{}{rest}", shown.join("、"))
}
