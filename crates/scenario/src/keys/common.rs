//! Keys that several objects have.

use super::{Field, Kind, Object, RETRY, field};

pub(crate) const DATA_FORMATS: &[&str] = &["csv", "json", "jsonl"];
pub(crate) const ENCODINGS: &[&str] = &["utf-8", "gbk"];

pub(super) const STEPS_FIELD: Field =
    field("steps", Kind::Steps, "What is done, one after the other", "依次执行的步骤");
pub(super) const HEADERS: Field = field(
    "headers",
    Kind::Named(&Kind::Either(&[Kind::Pattern, Kind::Nothing])),
    "Headers by name; values may have slots. null leaves a header out, also one of the defaults; \"\" sends it empty",
    "请求头，字段名即名称；值中可以有占位符。null 表示去掉该请求头（包括默认设置中的），\"\" 表示发送空值",
);

pub(super) const ON_FAILURE: Field = field(
    "on_failure",
    Kind::Either(&[Kind::Text, Kind::Object(&RETRY)]),
    "What follows a failure: next_iteration, continue, break (leave the loop), stop_user, stop_run, 'retry N', or {retry: N, after: 1s, backoff: 2, then: continue} [default: next_iteration]",
    "失败之后：next_iteration（结束本次迭代）、continue（继续）、break（跳出循环）、stop_user（用户退出）、stop_run（结束压测）、'retry N'（重试），或 {retry: N, after: 1s, backoff: 2, then: continue} [默认：next_iteration]",
);

pub(super) const ON_FAILURE_OF_ALL: Field = field(
    "on_failure",
    Kind::Either(&[Kind::Text, Kind::Object(&RETRY)]),
    "What follows a failure in these steps that would end the iteration: 'retry N' or {retry: N, after: 1s, then: continue} does all of them again; continue, break, stop_user and stop_run follow at once [default: next_iteration]",
    "这些步骤中出现会结束迭代的失败之后：'retry N' 或 {retry: N, after: 1s, then: continue} 把它们整体重做；continue、break、stop_user、stop_run 则立即生效 [默认：next_iteration]",
);

pub(super) const NAME: Field =
    field("name", Kind::Text, "The series that it is counted in", "统计时使用的名称；同名的合并统计");
pub(super) const TIMEOUT: Field = field("timeout", Kind::Time, "From sent to done", "请求的超时");
pub(super) const DEADLINE: Field = field(
    "deadline",
    Kind::Time,
    "A success later than this counts as missed, not as failed; the first step of an iteration in a load by rate has it from the planned start, and is dropped if it cannot be sent by then",
    "截止时间：晚于它的成功计为超过截止时间，不算失败；固定速率下，每次迭代的第一步从计划的发起时刻算起，届时仍未发出则丢弃",
);
pub(super) const TAGS: Field = field(
    "tags",
    Kind::Named(&Kind::Text),
    "Tags by key, like {kind: api}; a threshold may be of all steps with one: p99(response_time, kind=api)",
    "标签，如 {kind: api}；阈值可以针对带有某个标签的所有步骤：p99(response_time, kind=api)",
);
pub(super) const TAKES: Field = field(
    "extract",
    Kind::Variables(&Kind::Either(&[Kind::Text, Kind::Object(&TAKE)])),
    "Values to take from the answer, by the variable that they go into: json $.id, regex id=([0-9]+), header ETag, cookie sid, status, css input[name=csrf] @value, body, url, url /code=([^&]+)/",
    "提取（关联）：从响应中取出的值，字段名即变量名：json $.id、regex id=([0-9]+)、header ETag、cookie sid、status、css input[name=csrf] @value、body、url、url /code=([^&]+)/",
);
pub(super) const EXPECTS: Field =
    field("expect", Kind::Object(&EXPECT), "What a good answer is", "断言：响应应满足的条件");

keys! {
    pub(crate) EXPECT = "expect", "an expectation", "断言";
    "status": Kind::OneOrMore(&Kind::Text),
        "Statuses of a success, like 200,300-399; of a call: OK, NOT_FOUND",
        "算作成功的状态码，如 200,300-399；gRPC 调用：OK、NOT_FOUND";
    "body": Kind::OneOrMore(&Kind::Text), "Text in the body, or /pattern/", "响应体应包含的文本，或 /正则/";
    "header": Kind::OneOrMore(&Kind::Text),
        "A header: Name, 'Name: value' or 'Name: /pattern/'",
        "响应头：Name、'Name: value' 或 'Name: /正则/'";
    "json": Kind::OneOrMore(&Kind::Text),
        "A path in JSON, like $.code == 200, $.id == ${id}, $.items count > 2, $.name contains 'a', $.name matches /^A/, $.id exists",
        "JSON 路径，如 $.code == 200、$.id == ${id}、$.items count > 2、$.name contains 'a'、$.name matches /^A/、$.id exists";
    "time": Kind::OneOrMore(&Kind::Text), "The response time, like < 500ms", "响应时间，如 < 500ms";
    "size": Kind::OneOrMore(&Kind::Text),
        "The size of the body, like < 10KiB or == ${bytes}",
        "响应体大小，如 < 10KiB 或 == ${bytes}";
    "not": Kind::Object(&ABSENT), "What a good answer does not have", "响应中不应出现的内容";
}

keys! {
    pub(crate) ABSENT = "not", "what must not be there", "不应出现的内容", any of ["body", "header", "json"];
    "body": Kind::OneOrMore(&Kind::Text), "Text, or /pattern/", "文本，或 /正则/";
    "header": Kind::OneOrMore(&Kind::Text),
        "A header: Name, 'Name: value' or 'Name: /pattern/'",
        "响应头：Name、'Name: value' 或 'Name: /正则/'";
    "json": Kind::OneOrMore(&Kind::Text),
        "A path in JSON that matches nothing, like $.errors, or none like $.state == 'failed'",
        "不应有匹配的 JSON 路径，如 $.errors、$.state == 'failed'";
}

keys! {
    pub(crate) TAKE = "extract", "an extraction", "提取", any of ["json", "regex", "header", "cookie", "status", "css", "body", "url"];
    "json": Kind::Text, "A path into JSON (RFC 9535)", "JSON 路径（RFC 9535）";
    "regex": Kind::Text, "A pattern; its first group is taken", "正则表达式，取第一个分组";
    "header": Kind::Text, "A header of the answer", "响应头";
    "cookie": Kind::Text, "A cookie that the answer sets", "响应设置的 Cookie";
    "status": Kind::Switch, "true: the status", "true：状态码";
    "css": Kind::Text, "A selector, with @attribute behind it or without", "CSS 选择器，后面可加 @属性";
    "body": Kind::Switch, "true: the whole body, or the message", "true：整个响应体或消息";
    "url": Kind::Text,
        "true: the URL that answered, after redirects; or /pattern/: the first group of it in that URL",
        "true：最终响应的 URL（重定向之后）；或 /正则/：该 URL 中的第一个分组";
    "from": Kind::Text,
        "The variable whose text is looked at in the place of the response, with json, regex, css or body",
        "从该变量的文本（而不是响应）中提取，用于 json、regex、css 或 body";
    "which": Kind::Text,
        "Which of several: first, last, all, random, a number from 1 on, or count for how many there are [default: first]",
        "有多个时取哪个：first、last、all、random、从 1 开始的序号，或 count（个数）[默认：first]";
    "default": Kind::Json,
        "The value when nothing is found [default: the step fails]",
        "找不到时的值 [默认：步骤失败]";
    "as": Kind::Word(&["text", "number"]),
        "number: a text is read as a number, and one that is none fails the step",
        "number：把文本转为数字，不是数字则步骤失败";
    "from_failed": Kind::Switch,
        "Also take it from a response that failed its expectations [default: false]",
        "响应未满足断言时也提取 [默认：false]";
}

keys! {
    pub(crate) CHOICE = "choice", "a choice", "分支";
    "weight": Kind::Count, "How often, beside the weights of the others", "与其他分支相比的权重", needed;
    "steps": Kind::MaybeSteps, "What is done then; none does nothing", "选中时执行的步骤；可以为空", needed;
}

keys! {
    pub(crate) MEET = "barrier_point", "a barrier", "集合点";
    "name": Kind::Text,
        "The name of the place; one name is one place, in all scenarios",
        "集合点名称；同名即为同一个集合点，可跨场景", needed;
    "users": Kind::Count,
        "How many users make a round; all go on when the last of them arrives",
        "一批的用户数；最后一个到达时一起放行", needed;
    "within": Kind::Time,
        "The longest wait after the first arrival, also when users are missing [default: wait for all]",
        "第一个用户到达后最长等待多久，到时即放行 [默认：等到人齐]";
}

keys! {
    pub(crate) RECEIVE = "received", "a receive step", "接收步骤";
    "within": Kind::Time, "How long to wait", "等待时间";
    "expect": Kind::Object(&EXPECT),
        "What the message must be; others are let go by",
        "消息应满足的条件，其他消息会被跳过";
    TAKES;
}

keys! {
    pub(crate) MESSAGE = "message", "a message", "消息", any of ["text", "json", "hex", "file"];
    "text": Kind::Pattern, "A text with slots", "文本，可以有占位符";
    "json": Kind::Json, "JSON with slots in its strings", "JSON，字符串中可以有占位符";
    "hex": Kind::Text, "Bytes in hexadecimal digits, like 0a ff", "十六进制字节，如 0a ff";
    "file": Kind::Text, "The content of a file", "文件内容";
    "type": Kind::Word(&["text", "binary", "ping"]),
        "As what it is sent [default: text]",
        "发送的类型 [默认：text]";
}

keys! {
    pub(crate) PART = "part", "a part of a form", "表单字段";
    "file": Kind::Text, "The file that is sent", "要上传的文件", needed;
    "filename": Kind::Text, "What it is called to the server", "发给服务端的文件名";
    "type": Kind::Text, "Its media type", "媒体类型";
}

keys! {
    pub(crate) FILE_BODY = "file_body", "a body", "请求体";
    "file": Kind::Text, "The file that is sent as it is", "原样发送的文件", needed;
}
