//! One thing has one name in Chinese: docs/terms.zh.md has the names, and here stand the words that lost. Punctuation
//! between Chinese words is full-width.

mod sources;

use sources::{root, tracked};

/// A word that no text has any more, and the one that stands for it.
const LOSERS: [(&str, &str); 69] = [
    ("该压力", "该负载"),
    ("降低压力", "降低负载"),
    ("压力参数", "负载参数"),
    ("应答", "响应"),
    ("回应", "响应"),
    ("期望", "断言、预期"),
    ("检查（expect）", "断言（expect）"),
    ("校验", "断言"),
    ("从响应中取值", "提取"),
    ("时段", "周期"),
    ("停顿", "卡顿、思考时间"),
    ("封闭", "固定并发（闭环模型）"),
    ("闭环压测", "固定并发"),
    ("闭环负载", "固定并发"),
    ("开放模型", "固定速率（开环模型）"),
    ("开放负载", "固定速率"),
    ("轮", "迭代、批"),
    ("启动次数", "发起数"),
    ("启动时刻", "发起时刻"),
    ("启动任何请求", "发起请求"),
    ("停止启动", "停止发起请求"),
    ("次启动", "个请求"),
    ("主导", "主控"),
    ("工作者", "工作进程"),
    ("服务器", "服务端"),
    ("预算", "用量上限"),
    ("额度", "用量上限"),
    ("爬升", "梯度加压"),
    ("逐步启动", "梯度加压"),
    ("逐个加入", "梯度加压"),
    ("陆续加入", "梯度加压"),
    ("超出目标", "不达标"),
    ("达到目标", "达标"),
    ("满足目标", "达标"),
    ("达到阈值", "达标"),
    ("损失", "不达标请求"),
    ("次测试", "次试压"),
    ("次运行", "次压测"),
    ("保存运行", "保存压测记录"),
    ("保存的运行", "压测记录"),
    ("不可信", "不可靠"),
    ("摘要", "汇总"),
    ("正文", "请求体、响应体"),
    ("尾部字段", "trailer"),
    ("跳转", "重定向"),
    ("机密", "敏感信息"),
    ("密钥类", "敏感信息"),
    ("高分位", "百分位"),
    ("描述集", "描述符集"),
    ("描述符", "文件描述符"),
    ("驱动", "I/O 后端"),
    ("保持的连接", "长连接"),
    ("网页", "页面"),
    ("槽", "分片"),
    ("变更", "调整"),
    ("突变", "调整"),
    ("备注", "说明、提示、标记"),
    ("延误", "调度延迟"),
    ("探测", "试探"),
    ("结局", "结果"),
    ("这么多", "N"),
    ("这么久", "N 毫秒"),
    ("归档", "压缩包、打包"),
    ("无法理解", "无法解析"),
    ("/秒", "/s"),
    ("您", "nobody is addressed"),
    ("你", "nobody is addressed"),
    ("我们", "onrush"),
    ("跳过验证", "跳过证书校验"),
];

/// Where a word that lost is a part of another one, and why it stays.
const PARTS: [(&str, &str); 9] = [
    ("轮流", "takes turns"),
    ("DNS 服务器", "is called so by everybody"),
    ("文件描述符", "is the term"),
    ("描述符集", "is the term of protoc"),
    ("直接描述符", "is the term of io_uring"),
    ("步骤摘要", "is the step summary of GitHub"),
    ("探测一次", "is the probe of TCP keep-alive"),
    ("探测包", "is the probe of TCP keep-alive"),
    ("校验和", "is a checksum"),
];

/// A word that lost has its place beside one of these: certificates and digests are verified.
const COMPANIONS: [(&str, &[&str]); 1] = [("校验", &["证书", "SHA-256", "sha256", "insecure"])];

/// Left out: the page that lists the words of others, and the texts of a tool whose output is kept as it is.
const LEFT_OUT: [&str; 2] = ["docs/terms.zh.md", "crates/report/src/tools/gostress.rs"];

fn is_chinese(each: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&each)
}

/// What lost in a line, with what stands for it.
fn losers_in(line: &str) -> Vec<(&'static str, &'static str)> {
    let rest = PARTS.iter().fold(line.to_owned(), |rest, (part, _)| rest.replace(part, "…"));
    let is_excepted = |word: &str| {
        COMPANIONS.iter().any(|(of, with)| *of == word && with.iter().any(|companion| line.contains(companion)))
    };
    LOSERS.into_iter().filter(|(word, _)| rest.contains(word) && !is_excepted(word)).collect()
}

/// Half-width marks between Chinese words, and percentages with a blank. What stands between backticks is code.
fn half_width_in(line: &str) -> Option<String> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let all: Vec<char> = plain.chars().collect();
    all.windows(3).find_map(|three| {
        let is_mark = is_chinese(three[0]) && ",;!?".contains(three[1]) && (is_chinese(three[2]) || three[2] == ' ');
        let is_share = three[0].is_ascii_digit() && three[1] == ' ' && three[2] == '%';
        (is_mark || is_share).then(|| three.iter().collect())
    })
}

/// The lines of a file that people read in Chinese: of Rust what is neither comment nor test.
fn lines<'a>(name: &str, text: &'a str) -> Vec<(usize, &'a str)> {
    let text = match text.split_once("\n#[cfg(test)]") {
        Some((before, _)) if name.ends_with(".rs") => before,
        _ => text,
    };
    let numbered = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    numbered.filter(|(_, line)| line.chars().any(is_chinese) && !line.trim_start().starts_with("//")).collect()
}

fn is_read(name: &str) -> bool {
    let is_page = name == "README.zh.md" || (name.starts_with("docs/") && name.ends_with(".zh.md"));
    let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
    let is_text = name.starts_with("crates/")
        && (name.contains("/src/") || name.contains("/assets/"))
        && [".rs", ".js", ".json", ".html"].iter().any(|end| name.ends_with(end));
    (is_page || (is_text && !is_test)) && !LEFT_OUT.contains(&name)
}

/// The files of the project that hold Chinese texts.
fn files() -> Vec<String> {
    tracked().into_iter().filter(|name| is_read(name)).collect()
}

#[test]
fn one_thing_has_one_name_in_chinese() {
    let (mut wrong, mut pages, mut sources) = (Vec::new(), 0, 0);
    for name in files() {
        let text = std::fs::read_to_string(root().join(&name)).expect("UTF-8");
        let lines = lines(&name, &text);
        *(if name.ends_with(".md") { &mut pages } else { &mut sources }) += usize::from(!lines.is_empty());
        for (number, line) in lines {
            let lost = losers_in(line).into_iter();
            wrong.extend(
                lost.map(|(word, better)| format!("{name}:{number}: {word} is {better} here: {}", line.trim())),
            );
        }
    }
    assert!(wrong.is_empty(), "{} words that lost (docs/terms.zh.md):\n{}", wrong.len(), wrong.join("\n"));
    assert!(pages > 20 && sources > 80, "only {pages} pages and {sources} sources were read");
}

#[test]
fn chinese_punctuation_is_full_width() {
    let mut wrong = Vec::new();
    for name in files() {
        let text = std::fs::read_to_string(root().join(&name)).expect("UTF-8");
        for (number, line) in lines(&name, &text) {
            wrong.extend(half_width_in(line).map(|said| format!("{name}:{number}: '{said}': {}", line.trim())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_that_lost_are_found() {
    let words = |line: &str| losers_in(line).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
    assert_eq!(words("服务端没有应答，结果不可信"), ["应答", "不可信"]);
    assert_eq!(words("各连接轮流使用，共三轮"), ["轮"]);
    assert_eq!(words("文件描述符和描述符集"), [""; 0]);
    assert_eq!(words("描述符用完"), ["描述符"]);
    assert_eq!(words("不校验服务端证书"), [""; 0]);
    assert_eq!(words("校验响应体"), ["校验"]);
    for (line, said) in [("甲,乙", Some("甲,乙")), ("甲`a, 乙`丙", None), ("占 98 % 的", Some("8 %")), ("甲，乙", None)]
    {
        assert_eq!(half_width_in(line).as_deref(), said, "{line}");
    }
    let source = "const A: &str = \"应答\";\n// 应答\n#[cfg(test)]\nmod tests { \"应答\" }\n";
    assert_eq!(lines("a.rs", source), [(1, "const A: &str = \"应答\";")]);
}

/// Each term that won stands in the table, and each part that is excepted holds a word that lost.
#[test]
fn the_table_has_the_terms() {
    let table = std::fs::read_to_string(root().join("docs/terms.zh.md")).expect("UTF-8");
    for term in ["响应", "断言", "周期", "卡顿", "思考时间", "迭代", "主控进程", "达标", "试压", "用量上限", "梯度加压"]
    {
        assert!(table.contains(&format!("| {term}")), "{term}");
    }
    for (part, reason) in PARTS {
        assert!(!reason.is_empty() && LOSERS.iter().any(|(word, _)| part.contains(word)), "{part}");
    }
}
