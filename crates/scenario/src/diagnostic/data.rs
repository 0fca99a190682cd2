//! Errors of data: folders, filters, and columns as lists.

use plan::errors;

errors! {
    /// An error of data.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum DataFault;

    /// A folder that cannot be read.
    NoSuchFolder { path: String, reason: String };
        "cannot read the folder '{path}': {reason}; paths begin at the folder of this file",
        "无法读取目录 '{path}'：{reason}；路径相对于本文件所在的目录";
    /// A folder without files.
    EmptyFolder { path: String };
        "the folder '{path}' has no files; put some into it; hidden files and folders in it are left out",
        "目录 '{path}' 中没有文件；请放入文件；隐藏文件和子目录不计";
    /// A folder with more bytes than a run keeps.
    FolderTooLarge { path: String, most: u64 };
        "the files of the folder '{path}' have more than {most} bytes together; name a smaller folder",
        "目录 '{path}' 中的文件总大小超过 {most} 字节；请使用较小的目录";
    /// A file that is only known while users run.
    FileSlot;
        "a file must be known before the run; write its path, or ${{photos.path}} where 'photos' is a folder in 'data': photos: {{folder: photos}}",
        "文件必须在运行前确定；请写出路径，或写 ${{photos.path}}，其中 photos 是 data 中的目录：photos: {{folder: photos}}";
    /// A path of data that is no folder.
    NotFolder { set: String };
        "'{set}' is no folder, so its rows name no files that are known before the run; write it in 'data' as {set}: {{folder: PATH}}",
        "'{set}' 不是目录，各行所指的文件在运行前无法确定；请在 data 中写成 {set}: {{folder: 路径}}";
    /// A name in a filter that is none of its columns.
    FilterName { set: String, name: String };
        "a filter sees its own columns only, and '{name}' is none of them; write them as {set}.NAME or {set}[\"FIRST NAME\"]",
        "filter 只能使用自己的列，而 '{name}' 不是；请写成 {set}.列名 或 {set}[\"列 名\"]";
    /// A filter that needs JavaScript.
    NotPlain;
        "a filter is a plain comparison: columns, numbers, texts, + - * / %, == != < > <= >=, && || !, and methods like .includes('x'); write it with these",
        "filter 只能是简单的比较：列、数字、文本、+ - * / %、== != < > <= >=、&& || !，以及 .includes('x') 等方法；请改用这些";
    /// A list of what is no data.
    NoList { set: String };
        "'[]' makes a list of all values of a column, and '{set}' is no data; leave it out, or write [0] for one item",
        "'[]' 表示一列的所有值，而 '{set}' 不是数据集；请去掉它，或用 [0] 表示某一项";
    /// An error in the rows.
    Rows { reason: String };
        "{reason}",
        "{reason}";
    /// Rows of users where no user ever ends.
    NoEndAtRate { set: String };
        "'{set}' has 'order: by_user' and 'on_end: stop', and the users of a load by rate do not end; write on_end: repeat, or a load with 'users'",
        "'{set}' 为 order: by_user 且 on_end: stop，而使用 rate 的负载中用户不会结束；请写 on_end: repeat，或在 load 中使用 users";
}
