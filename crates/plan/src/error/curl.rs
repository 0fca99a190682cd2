//! Errors in a curl command.

use super::PlanError;
use crate::errors;

errors! {
    /// An error in a curl command.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the texts name each field")]
    pub enum CurlFault;

    /// An unterminated quote.
    Quote { quote: &'static str };
        "the quote {quote} does not end; close it, or write it as \\{quote}",
        "引号 {quote} 没有结束；请补上，或写成 \\{quote}";
    /// Syntax that needs a running shell.
    Shell { what: String };
        "'{what}' needs a running shell, and nothing is run here; write what it stands for",
        "'{what}' 需要由 shell 执行，而这里不执行任何命令；请直接写出它的值";
    /// A command of another program.
    NotCurl { word: String };
        "'{word}' is not curl; only curl commands are understood here, take the rest out",
        "'{word}' 不是 curl；这里只能写 curl 命令，请去掉其他内容";
    /// The command is empty.
    Empty;
        "there is no curl command in it; write one for each line, like: curl http://127.0.0.1:8080/",
        "没有 curl 命令；请每行写一条，如：curl http://127.0.0.1:8080/";
    /// There are too many.
    TooMany { most: usize };
        "there are more than {most} commands and URLs; take fewer",
        "命令和 URL 超过 {most} 条；请减少";
    /// A flag that curl does not have, or that is not known here.
    Unknown { flag: String };
        "the flag {flag} of curl is not known here; leave it out, or see the list in docs/come-as-you-are.md",
        "不认识 curl 的参数 {flag}；请去掉，支持的参数见 docs/come-as-you-are.zh.md";
    /// An ambiguous abbreviation of a flag.
    Ambiguous { flag: String, one: &'static str, other: &'static str };
        "the flag {flag} may be {one} or {other}; write it out",
        "参数 {flag} 可能是 {one} 或 {other}；请写完整";
    /// A flag without its value.
    NoValue { flag: String };
        "the flag {flag} of curl wants a value behind it; add it",
        "curl 的参数 {flag} 后面需要一个值；请补上";
    /// An invalid value.
    Value { flag: &'static str, value: String, wanted: &'static str };
        "the flag {flag} of curl wants {wanted}, not '{value}'",
        "curl 的参数 {flag} 的值 '{value}' 无效：应为{}" [wanted_in_chinese(wanted)];
    /// A command without a URL.
    NoUrl;
        "the curl command has no URL; add one, like: curl http://127.0.0.1:8080/",
        "curl 命令中没有 URL；请加上，如：curl http://127.0.0.1:8080/";
    /// A proxy of an unknown kind.
    Proxy { flag: &'static str };
        "{flag}: a load goes through proxies of HTTP, HTTPS and SOCKS5; name one with -x or --socks5",
        "{flag}：压测只支持 HTTP、HTTPS 和 SOCKS5 代理；请用 -x 或 --socks5 给出";
    /// A jar for cookies of responses.
    Jar { flag: &'static str };
        "{flag}: cookies of answers are not kept yet; leave it out, and write cookies with -b 'name=value'",
        "{flag}：暂不保存响应中的 Cookie；请去掉，并用 -b '名称=值' 写明 Cookie";
    /// An unsupported authentication method.
    Auth { flag: &'static str };
        "{flag}: this way of authentication is not known here; use -u name:password, --oauth2-bearer or -H",
        "{flag}：不支持这种认证方式；请使用 -u 用户名:密码、--oauth2-bearer 或 -H";
    /// A flag without a meaning for a load that would change what is sent.
    Refused { flag: &'static str };
        "{flag} of curl has no counterpart in a load; leave it out",
        "curl 的参数 {flag} 在压测中没有对应的含义；请去掉";
    /// Braces and brackets of which curl makes no URLs.
    Glob { url: String };
        "'{url}' has braces or brackets that cannot be read; write {{a,b}} or [1-9], or add -g to mean them as they are",
        "'{url}' 中的花括号或方括号写法不对；请写成 {{a,b}} 或 [1-9]，或加上 -g 表示其本身";
    /// Two ways to choose a method.
    Conflict { one: &'static str, other: &'static str };
        "{one} and {other} cannot both be there; leave one out",
        "{one} 与 {other} 不能同时使用；请去掉其中一个";
    /// Bytes that are not text.
    NotText { flag: String };
        "the value of {flag} is no UTF-8; save the file as UTF-8",
        "{flag} 的值不是 UTF-8；请把文件保存为 UTF-8";
    /// Text that a browser copies for another program.
    Foreign { what: &'static str };
        "this is {what}, not curl; choose \"Copy as cURL (bash)\" in the browser",
        "这是 {what} 的写法，不是 curl 命令；请在浏览器中选择“复制为 cURL (bash)”（Copy as cURL (bash)）";
    /// Text with two bytes per character.
    Wide;
        "the file is UTF-16; save it as UTF-8, or choose \"Copy as cURL (bash)\" in the browser and paste it into a new file",
        "文件是 UTF-16 编码；请另存为 UTF-8，或在浏览器中选择“复制为 cURL (bash)”（Copy as cURL (bash)）后粘贴到新文件";
    /// A body of unknown length with HTTP/1.0.
    Chunks10;
        "HTTP/1.0 knows no chunks, and no length is said; leave -0 out, or give -T a file and no Transfer-Encoding",
        "HTTP/1.0 不支持分块传输，而请求体长度未知；请去掉 -0，或用 -T 给出文件并去掉 Transfer-Encoding";
    /// What would be left out of a body is all of it.
    Resumed { from: u64, length: u64 };
        "-C {from} leaves nothing of the {length} bytes that are to be sent; name fewer, or leave -C out",
        "-C {from} 之后没有内容可发：请求体共 {length} 字节；请改小，或去掉 -C";
    /// What onrush speaks, though not by a command of curl.
    OtherLoad { url: String, scheme: String };
        "a curl command is for http:// and https:// here; for {scheme}:// leave out the word curl: onrush {url}",
        "curl 命令在这里只用于 http:// 和 https://；{scheme}:// 请去掉 curl 一词：onrush {url}";
    /// A password that would have to be asked for.
    NoPassword;
        "-u wants name:password here, since nobody is asked; write name: for an empty password",
        "-u 需要 用户名:密码，因为这里不会询问；密码为空时请写 用户名:";
}

/// A fault at its line.
pub(crate) fn at(line: usize, fault: CurlFault) -> PlanError {
    PlanError::Curl { line, fault: Box::new(fault) }
}

/// The position of an error, as the beginning of a message.
pub(super) fn line_before(line: usize) -> String {
    if line == 0 { "curl: ".to_owned() } else { format!("line {line}: ") }
}

pub(super) fn line_in_chinese(line: usize) -> String {
    if line == 0 { "curl：".to_owned() } else { format!("第 {line} 行：") }
}

/// The expected argument of a flag of curl.
pub(super) fn wanted_in_chinese(wanted: &'static str) -> &'static str {
    match wanted {
        "a number, or -1 for no bound" => "数字，或用 -1 表示不限",
        "seconds, like 5 or 2.5" => "秒数，如 5 或 2.5",
        "a number of bytes" => "字节数",
        "http or https" => " http 或 https",
        "a type like ;type=text/plain" => "形如 ;type=text/plain 的类型",
        "the encoder base64, 8bit, 7bit or binary" => "base64、8bit、7bit 或 binary 编码方式",
        "name=content or name=@file" => "名称=内容 或 名称=@文件",
        "a part that is no group of parts" => "单个部分（不支持嵌套的部分）",
        other => other,
    }
}

impl PlanError {
    /// The same error at its line.
    #[must_use]
    pub fn at_line(self, line: usize) -> Self {
        match self {
            Self::Curl { .. } | Self::AtLine { .. } => self,
            inner => Self::AtLine { line, inner: Box::new(inner) },
        }
    }

    /// The same error in a file.
    #[must_use]
    pub fn in_file(self, path: &str) -> Self {
        Self::InFile { path: path.to_owned(), inner: Box::new(self) }
    }

    /// The same error for a form, where the user wrote no curl command.
    #[must_use]
    pub(crate) fn in_form(self) -> Self {
        match self {
            Self::AtLine { line: 0, inner } => *inner,
            Self::Curl { line: 0, fault } => match *fault {
                CurlFault::Value { value, wanted, .. } => Self::FormPart { value, wanted },
                fault => Self::Curl { line: 0, fault: Box::new(fault) },
            },
            other => other,
        }
    }
}
