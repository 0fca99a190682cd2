//! Errors of files that a file brings in.

use plan::{errors, listed};

errors! {
    /// An error of an included file.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum IncludeFault;

    /// A path out of the folder of the file.
    Outside { path: String };
        "'{path}' leads out of the folder of this file; put the file in that folder, and write its name",
        "'{path}' 不在本文件所在的目录中；请把文件放到该目录，并只写相对路径";
    /// A file that cannot be read.
    Unreadable { path: String, reason: String };
        "cannot include '{path}': {reason}; paths begin at the folder of the scenario file",
        "无法引入 '{path}'：{reason}；路径相对于场景文件所在的目录";
    /// Files that include each other in a cycle.
    Cycle(it: String);
        "these files include each other without end: {it}; take one 'include' out",
        "这些文件互相引入，没有终点：{}；请去掉其中一个 include" [listed(it)];
    /// Includes within includes beyond the limit.
    TooDeep(it: usize);
        "files include each other more than {it} deep here; include them in fewer steps",
        "此处文件的嵌套引入超过 {it} 层；请减少层数";
    /// More files than allowed.
    TooMany(it: usize);
        "more than {it} files are included; put several into one",
        "引入的文件超过 {it} 个；请合并其中一些";
    /// A name that two files have.
    Twice { name: String, place: String };
        "'{name}' is the name of something else already, in {place}; choose another one",
        "名称 '{name}' 已在 {place} 使用；请换一个";
}
