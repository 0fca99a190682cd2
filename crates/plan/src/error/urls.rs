//! Errors in a file of URLs.

use crate::errors;

errors! {
    /// An error in a file of URLs.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum UrlsFault;

    /// There is no URL in it.
    Empty;
        "there is no URL in it; write one a line, as: GET http://127.0.0.1:8080/",
        "文件中没有 URL；请每行写一个，如：GET http://127.0.0.1:8080/";
    /// There are too many URLs.
    TooMany { most: usize };
        "there are more than {most} URLs; for more, take paths from a data file in a scenario file (get: /${{paths.path}})",
        "URL 超过 {most} 个；更多的请在场景文件中从数据文件读取路径（get: /${{paths.path}}）";
    /// A method without a URL.
    NoUrl { method: String };
        "{method} is followed by no URL; write: {method} http://127.0.0.1:8080/",
        "{method} 之后没有 URL；请写成：{method} http://127.0.0.1:8080/";
    /// A path without a base URL.
    Relative { path: String };
        "'{path}' is a path; name the server too: onrush --urls FILE http://127.0.0.1:8080",
        "'{path}' 只是路径；请同时给出服务地址：onrush --urls 文件 http://127.0.0.1:8080";
    /// A word that may be a path or a server.
    NoSlash { word: String, base: String };
        "'{word}' has no slash before it; write /{word} for a path of {base}, or http://{word} for another server",
        "'{word}' 前面没有斜杠；{base} 的路径请写成 /{word}，其他服务请写成 http://{word}";
    /// A URL of another protocol.
    NotHttp { url: String };
        "'{url}' is no URL of HTTP; --urls takes http:// and https://",
        "'{url}' 不是 HTTP 的 URL；--urls 只接受 http:// 和 https://";
    /// The file is not text.
    NotText;
        "it is not UTF-8 text; convert it with: iconv -t UTF-8",
        "文件不是 UTF-8 文本；请用 iconv -t UTF-8 转换";
}
