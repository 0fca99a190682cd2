//! System errors in both languages, by their number.

use std::io::Error;

/// A Chinese text with English reasons of the system and of libraries: known ones are translated too.
pub fn in_chinese(text: &str) -> String {
    let mut text = text.to_owned();
    for number in numbers_in(&text) {
        if let Some(reason) = chinese(number) {
            let english = Error::from_raw_os_error(number).to_string();
            text = text.replace(&english, &format!("{reason}（os error {number}）"));
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

/// The common errors of Linux (errno.h).
fn chinese(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "操作不允许",
        2 => "没有该文件或目录",
        3 => "没有该进程",
        4 => "系统调用被中断",
        5 => "输入输出错误",
        6 => "没有该设备或地址",
        7 => "参数列表过长",
        9 => "文件描述符无效",
        11 => "资源暂时不可用",
        12 => "内存不足",
        13 => "权限不足",
        14 => "地址错误",
        16 => "设备或资源忙",
        17 => "文件已存在",
        18 => "跨设备链接",
        19 => "没有该设备",
        20 => "不是目录",
        21 => "是一个目录",
        22 => "参数无效",
        23 => "系统打开的文件过多",
        24 => "进程打开的文件过多",
        26 => "文件正在被执行",
        27 => "文件过大",
        28 => "磁盘空间不足",
        29 => "无法定位",
        30 => "文件系统只读",
        32 => "管道已断开",
        36 => "文件名过长",
        38 => "系统不支持该功能",
        40 => "符号链接层数过多",
        71 => "协议错误",
        88 => "不是套接字",
        90 => "消息过长",
        92 => "协议选项不可用",
        93 => "协议不支持",
        95 => "操作不支持",
        97 => "地址族不支持",
        98 => "地址已被占用",
        99 => "无法使用该地址",
        100 => "网络已断开",
        101 => "网络不可达",
        102 => "网络连接被重置",
        103 => "连接被中止",
        104 => "连接被对端重置",
        105 => "没有可用的缓冲区",
        107 => "套接字未连接",
        110 => "连接超时",
        111 => "连接被拒绝",
        112 => "主机已关闭",
        113 => "没有到主机的路由",
        122 => "超出磁盘配额",
        _ => return None,
    })
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
