//! What the system says, in both languages: reasons by their number, as the kernel gives them, or by the names that programs give them.

mod errors;

use std::io::Error;

pub use errors::Doing;
use errors::{NAMED, chinese, remedy};

use crate::Language;

/// A reason of the system with its remedy, for somebody who was doing this; `otherwise` where nothing more is known of it.
pub fn system_fault(reason: &str, doing: Doing, otherwise: (&str, &str), language: Language) -> String {
    let number = numbers_in(reason).into_iter().next().or_else(|| number_named(reason));
    let (en, zh) = number.and_then(|number| remedy(number, doing)).unwrap_or(otherwise);
    language.pick(format!("{reason}; {en}"), format!("{}；{zh}", in_chinese(reason)))
}

/// The number of an error that stands by its name alone at the end of a text.
fn number_named(text: &str) -> Option<i32> {
    let is_it = |name: &str| text.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with(' '));
    let named = NAMED.iter().find(|(name, _)| is_it(name)).map(|(_, number)| *number);
    named.or_else(|| number_of(text)).filter(|number| *number > 0)
}

/// The number in words of ours: `error 28 of the operating system`.
fn number_of(text: &str) -> Option<i32> {
    text.strip_suffix(" of the operating system")?.rsplit_once("error ")?.1.parse().ok()
}

/// A text in which a name stands by itself: not as a part of other words, or of a path.
fn replace_alone(text: &str, name: &str, instead: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(place) = rest.find(name) {
        let (before, behind) = (&rest[..place], &rest[place + name.len()..]);
        let begins = before.is_empty() && out.is_empty() || before.ends_with([' ', '：', '（', '(', '；']);
        let ends = behind.is_empty() || behind.starts_with([';', '；', '，', '。', '）', ')', ',', '\n']);
        out.push_str(before);
        out.push_str(if begins && ends { instead } else { name });
        rest = behind;
    }
    out + rest
}

/// A text in Chinese, in which reasons of the system and of libraries are English: they become Chinese too, as far as they are known.
pub fn in_chinese(text: &str) -> String {
    let mut text = text.to_owned();
    for number in numbers_in(&text) {
        if let Some(reason) = chinese(number) {
            let english = Error::from_raw_os_error(number).to_string();
            text = text.replace(&english, &format!("{reason}（os error {number}）"));
        }
    }
    if let Some((before, behind)) = text.split_once(" of the operating system")
        && let Some((start, number)) = before.rsplit_once("error ")
        && let Ok(number) = number.parse()
    {
        let reason = chinese(number).unwrap_or("系统错误");
        text = format!("{start}{reason}（os error {number}）{behind}");
    }
    for (name, number) in NAMED {
        if let Some(reason) = chinese(*number).filter(|_| text.contains(name)) {
            text = replace_alone(&text, name, reason);
        }
    }
    LIBRARIES.iter().fold(text, |text, (english, chinese)| text.replace(english, chinese))
}

/// The numbers of system errors in a text.
fn numbers_in(text: &str) -> Vec<i32> {
    let parts = text.split("(os error ").skip(1);
    parts.filter_map(|rest| rest.split_once(')')?.0.parse().ok()).collect()
}

/// Messages of libraries about URLs, JSON and patterns.
const LIBRARIES: &[(&str, &str)] = &[
    ("relative URL without a base", "缺少协议和主机"),
    ("a file is there that is no report of onrush", "那里已有别的文件，不是 onrush 的报告"),
    ("nobody reads this pipe", "没有程序在读取这个管道"),
    ("two reports would go into it", "两份报告会写入同一个文件"),
    ("at position ", "位置 "),
    (", parser error", "，语法错误"),
    (
        ", which imports find first; name its folder first with --import-path, or rename one of them",
        " 遮盖（import 会先找到后者）；请先用 --import-path 给出其目录，或改名",
    ),
    (" is hidden by ", " 被 "),
    (", in dot member name, ", "，点号后的成员名："),
    (", in long-hand segment, ", "，方括号中："),
    (", in non surrogate, ", "，Unicode 转义："),
    (", in unicode sequence, ", "，Unicode 转义："),
    ("expected an ending quote", "缺少右引号"),
    ("expected closing ']'", "缺少 ]"),
    ("long hand segment contained more than one selector", "方括号中有多个选择器"),
    ("long hand segment contained no selectors", "方括号中没有选择器"),
    ("must start with lowercase alpha or '_'", "应以小写字母或 '_' 开头"),
    ("the provided integer was outside the valid range", "整数超出范围"),
    ("cannot convert a literal value to NodesType", "此处不能使用常量"),
    ("descendant segments are not singular", "此处不能使用 .."),
    ("filter segments are not singular", "此处不能使用过滤条件"),
    ("slice segments are not singular", "此处不能使用切片"),
    ("wildcard segments are not singular", "此处不能使用 *"),
    ("function with incorrect return type used", "函数的返回类型不符"),
    ("function name '", "函数 '"),
    ("' is not defined", "' 不存在"),
    ("invalid character class range, the start must be <= the end", "字符范围的起点大于终点"),
    ("invalid repetition count range, the start must be <= the end", "重复次数的起点大于终点"),
    ("invalid range boundary, must be a literal", "字符范围的边界必须是字符"),
    ("invalid escape sequence found in character class", "方括号中的转义无效"),
    ("invalid Unicode character class", "Unicode 字符类无效"),
    ("invalid hexadecimal digit", "十六进制数字无效"),
    ("invalid capture group character", "捕获组名称含有无效字符"),
    ("empty capture group name", "捕获组名称为空"),
    ("unclosed capture group name", "捕获组名称没有闭合"),
    ("duplicate capture group name", "捕获组名称重复"),
    ("unrecognized escape sequence", "无法识别的转义"),
    ("incomplete escape sequence, reached end of pattern prematurely", "转义不完整"),
    ("unclosed counted repetition", "重复次数没有闭合"),
    ("repetition quantifier expects a valid decimal", "重复次数应为数字"),
    ("unrecognized flag", "无法识别的标志"),
    ("expected flag but got end of regex", "标志不完整"),
    ("look-around, including look-ahead and look-behind, is not supported", "不支持环视（(?=…)、(?!…) 等）"),
    ("backreferences are not supported", "不支持反向引用（\\1 等）"),
    ("：error: ", "："),
    ("it begins with a quotation mark of printed text", "开头是中文引号，请去掉或改用英文引号"),
    ("it is a path and names no host", "这是路径，没有主机"),
    ("exactly two slashes stand behind the scheme", "协议后应为两个斜杠 //"),
    ("invalid international domain name", "国际化域名无效"),
    ("invalid port number", "端口无效"),
    ("invalid IPv4 address", "IPv4 地址无效"),
    ("invalid IPv6 address", "IPv6 地址无效"),
    ("invalid domain character", "域名含有无效字符"),
    ("empty host", "主机为空"),
    ("EOF while parsing a value", "内容提前结束，缺少值"),
    ("EOF while parsing an object", "内容提前结束，对象不完整"),
    ("EOF while parsing a list", "内容提前结束，数组不完整"),
    ("EOF while parsing a string", "内容提前结束，字符串不完整"),
    ("expected value", "此处应为一个值"),
    ("expected ident", "此处的单词有误"),
    ("expected `,` or `}`", "此处应为 , 或 }"),
    ("expected `,` or `]`", "此处应为 , 或 ]"),
    ("expected `:`", "此处应为 :"),
    ("key must be a string", "键必须是字符串"),
    ("trailing characters", "末尾有多余内容"),
    ("trailing comma", "末尾有多余的逗号"),
    ("invalid escape", "转义无效"),
    ("invalid number", "数字无效"),
    ("number out of range", "数字超出范围"),
    ("control character (\\u0000-\\u001F) found while parsing a string", "字符串中含有控制字符"),
    ("unclosed group", "括号没有闭合"),
    ("unopened group", "多出了右括号"),
    ("unclosed character class", "方括号没有闭合"),
    ("repetition operator missing expression", "重复符号前缺少内容"),
    ("failed to lookup address information: ", ""),
    ("failed to lookup address information", "域名解析失败"),
    ("Name or service not known", "域名不存在"),
    ("Temporary failure in name resolution", "域名解析暂时失败"),
    ("No address associated with hostname", "域名没有对应的地址"),
    ("failed to fill whole buffer", "内容不完整"),
    ("stream did not contain valid UTF-8", "内容不是有效的 UTF-8"),
    ("address already in use", "端口已被占用"),
    ("unrecognized field name '", "没有这个字段：'"),
];

#[test]
fn names_of_errors_become_chinese_where_they_stand_alone() {
    for (name, number) in NAMED {
        let said = in_chinese(&format!("无法监听 127.0.0.1:80：{name}；请检查"));
        assert!(!said.replace("127.0.0.1", "").chars().any(|each| each.is_ascii_alphabetic()), "{said}");
        assert!(said.contains(chinese(*number).expect("a row")), "{said}");
    }
    for kept in ["无法读取 '/tmp/permission denied/x'", "主机 connection refused.example", "xtimed out"] {
        assert_eq!(in_chinese(kept), kept);
    }
    assert_eq!(in_chinese("a：error 28 of the operating system；b"), "a：磁盘空间不足（os error 28）；b");
    assert_eq!(in_chinese("error x of the operating system"), "error x of the operating system");
    assert_eq!(in_chinese("listen tcp: bind: address already in use"), "listen tcp: bind: 地址已被占用");
}

#[test]
fn each_reason_has_a_remedy_of_its_own_where_one_is_known() {
    let said = |number: i32, doing: Doing| {
        let reason = Error::from_raw_os_error(number).to_string();
        let [english, chinese] =
            [Language::En, Language::Zh].map(|language| system_fault(&reason, doing, ("else", "否则"), language));
        assert!(english.starts_with(&format!("{reason}; ")) && !chinese.contains(&reason), "{english} {chinese}");
        (english, chinese)
    };
    for (number, doing, en, zh) in [
        (98, Doing::Listen, "ss -ltnp", "ss -ltnp"),
        (99, Doing::Listen, "ip addr", "ip addr"),
        (13, Doing::Listen, "below 1024", "1024"),
        (97, Doing::Listen, "IPv4", "IPv4"),
        (111, Doing::Connect, "nothing listens there", "没有程序"),
        (110, Doing::Connect, "firewall", "防火墙"),
        (113, Doing::Connect, "ip route", "ip route"),
        (101, Doing::Connect, "ip route", "ip route"),
        (104, Doing::Connect, "right port", "端口"),
        (2, Doing::Write, "its folder is not there", "目录不存在"),
        (2, Doing::Read, "check the path", "检查路径"),
        (13, Doing::Write, "you may not write there", "没有写入权限"),
        (1, Doing::Read, "you may not read it", "没有读取权限"),
        (28, Doing::Write, "df -h", "df -h"),
        (122, Doing::Write, "quota", "配额"),
        (30, Doing::Write, "read-only", "只读"),
        (21, Doing::Write, "name a file", "文件名"),
        (20, Doing::Read, "not a folder", "不是目录"),
        (36, Doing::Write, "shorter", "较短"),
        (24, Doing::Read, "ulimit -n", "ulimit -n"),
        (24, Doing::Connect, "ulimit -n", "ulimit -n"),
        (23, Doing::Listen, "fs.file-max", "fs.file-max"),
        (5, Doing::Read, "dmesg", "dmesg"),
        (12, Doing::Write, "memory", "内存"),
        (71, Doing::Connect, "else", "否则"),
    ] {
        let (english, chinese) = said(number, doing);
        assert!(english.contains(en) && chinese.contains(zh), "{number} {doing:?}: {english} {chinese}");
    }
    // Ports are no matter of files, and the other way round.
    assert!(said(98, Doing::Write).0.ends_with("; else") && said(28, Doing::Listen).0.ends_with("; else"));
    for (reason, number) in
        [("address already in use", 98), ("error 28 of the operating system", 28), ("x: timed out", 110)]
    {
        assert_eq!(number_named(reason), Some(number), "{reason}");
    }
    for reason in ["", "no", "error x of the operating system", "overtimed out"] {
        assert_eq!(number_named(reason), None, "{reason}");
    }
}

#[test]
fn reasons_of_the_system_and_of_libraries_become_chinese() {
    for number in [1, 2, 5, 12, 13, 20, 21, 22, 24, 28, 30, 32, 38, 98, 99, 101, 104, 110, 111, 113] {
        let said = in_chinese(&format!("无法读取：{}；请检查", Error::from_raw_os_error(number)));
        assert!(said.contains(&format!("（os error {number}）")), "{said}");
        assert!(!said.replace("os error", "").chars().any(|each| each.is_ascii_alphabetic()), "{said}");
    }
    let both = format!("{} 和 {}", Error::from_raw_os_error(2), Error::from_raw_os_error(98));
    assert_eq!(in_chinese(&both), "没有该文件或目录（os error 2） 和 地址已被占用（os error 98）");
    assert_eq!(in_chinese("端口：invalid port number；请检查"), "端口：端口无效；请检查");
    assert_eq!(in_chinese("no such thing"), "no such thing", "what is not known stays");
    assert_eq!(in_chinese("odd (os error 4095)"), "odd (os error 4095)");
    assert_eq!(in_chinese("(os error"), "(os error");
}
