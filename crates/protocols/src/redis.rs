//! Redis: commands as arrays of words, alone or as a pipeline, over RESP2 or RESP3; and a small server.
//!
//! - `resp`: where replies end; `connection`: the client's machine; `view`: replies as JSON
//! - `service`: the server; `store`: its data

mod connection;
mod resp;
mod service;
mod store;
mod view;

use std::sync::Arc;

use protocol::{
    About, Class, Connection, Endpoint, IdleState, Key, KeyKind, Mistake, OwnFailure, Phrase, Protocol, Request,
    Scheme, Service, Stage, StepFields, TextHandle, Texts,
};

use connection::{Client, Opening, Step};

/// Redis as a protocol of this program.
pub(crate) const PROTOCOL: Redis = Redis;

/// Maximum commands of a pipeline: all their replies are in flight at a time.
const COMMANDS_MAX: usize = 10_000;
/// Maximum length of a step's name.
const NAME_BYTES_MAX: usize = 40;

// The positions of the failures.
const REPLY: u8 = 0;
const LOGIN: u8 = 1;
const DATABASE: u8 = 2;
const TOO_LARGE: u8 = 3;
const VERSION: u8 = 4;
const REFUSED: u8 = 5;

static ABOUT: About = About {
    name: "redis",
    title: "Redis",
    help: Phrase {
        en: "Send a command, or several as a pipeline", zh: "发送一条命令，或以 pipeline 发送多条命令"
    },
    schemes: &[Scheme::stream("redis", "redis://", 6379), Scheme::stream("rediss", "rediss://", 6379).over_tls()],
    keys: &[
        Key::new(
            "command",
            KeyKind::WordLists,
            "A command as words, or several such lists: a pipeline, which is one request",
            "一条命令的各个词，或多条命令的列表：作为一个请求的 pipeline",
        )
        .needed(),
        Key::new(
            "resp",
            KeyKind::Number { min: 2, max: 3 },
            "Version of RESP; with 3 a connection begins with HELLO 3 [default: 2]",
            "RESP 版本；为 3 时连接以 HELLO 3 开始 [默认：2]",
        )
        .of_connection(),
    ],
    main_key: "command",
    failures: &[
        failure(
            ("redis-reply", Stage::Exchanging),
            ("the response is not a reply of Redis (RESP)", "响应不符合 Redis 协议（RESP）"),
            (
                "check host, port, and whether TLS is needed (rediss://)",
                "检查主机、端口，以及是否需要 TLS（rediss://）",
            ),
        ),
        failure(
            ("redis-login", Stage::Connecting),
            ("the server refused AUTH, or HELLO for this user", "服务端拒绝了 AUTH，或拒绝了该用户的 HELLO"),
            ("check user and password: redis://user:password@host", "检查用户名和密码：redis://user:password@host"),
        ),
        failure(
            ("redis-database", Stage::Connecting),
            ("the server refused SELECT", "服务端拒绝了 SELECT"),
            (
                "check the database in the URL (redis://host/0), the password, and the setting `databases` of the server",
                "检查 URL 中的数据库编号（redis://host/0）、密码，以及服务端的 `databases` 设置",
            ),
        ),
        failure(
            ("redis-too-large", Stage::Exchanging),
            (
                "a reply exceeds a limit: 512 MiB a string, 64 KiB a line, 32 levels, 4,294,967,295 elements",
                "响应超出上限：字符串 512 MiB、行 64 KiB、嵌套 32 层、元素 4294967295 个",
            ),
            ("request less at a time, as with LRANGE or SCAN", "减少单次读取的数据量，例如使用 LRANGE 或 SCAN"),
        ),
        failure(
            ("redis-version", Stage::Connecting),
            ("the server does not know HELLO 3", "服务端不支持 HELLO 3"),
            ("leave out resp: 3; Redis knows it since version 6", "去掉 resp: 3；Redis 从版本 6 起支持"),
        ),
        failure(
            ("redis-refused", Stage::Connecting),
            (
                "the server accepts no further client (maxclients), or none from this machine (protected mode)",
                "服务端不再接受客户端（maxclients），或不接受来自本机的客户端（protected mode）",
            ),
            (
                "use fewer connections (-c), raise the setting `maxclients`, or set a password on the server",
                "减少连接数（-c），调高 `maxclients` 设置，或在服务端设置密码",
            ),
        ),
    ],
};

type Pair = (&'static str, &'static str);

const fn failure((name, stage): (&'static str, Stage), cause: Pair, remedy: Pair) -> OwnFailure {
    OwnFailure {
        name,
        class: Class::FailedUnanswered,
        stage,
        cause: Phrase { en: cause.0, zh: cause.1 },
        remedy: Phrase { en: remedy.0, zh: remedy.1 },
        section: None,
    }
}

/// The protocol of Redis.
pub(crate) struct Redis;

impl Protocol for Redis {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prepare(&self, endpoint: &Endpoint, fields: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
        let opening = Arc::new(opening(endpoint, fields.number("resp") == Some(3))?);
        let commands = fields.word_lists("command");
        if commands.len() > COMMANDS_MAX {
            let en = format!("a pipeline has at most {COMMANDS_MAX} commands, not {}: use more steps", commands.len());
            let zh = format!("一个 pipeline 最多 {COMMANDS_MAX} 条命令，这里有 {} 条：请分成多个步骤", commands.len());
            return Err(mistake(en, zh));
        }
        if commands.is_empty() && !fields.only_connects() {
            check_command(&[], fields)?;
        }
        commands.iter().try_for_each(|command| check_command(command, fields))?;
        let name = name_of(&commands, fields);
        Ok(Box::new(Commands { commands, name, opening }))
    }

    fn serve(&self) -> Option<Box<dyn Service>> {
        Some(Box::new(service::Server::default()))
    }
}

fn mistake(en: impl Into<String>, zh: impl Into<String>) -> Mistake {
    Mistake { key: Some("command"), en: en.into(), zh: zh.into() }
}

/// The commands that a connection to this URL begins with.
fn opening(endpoint: &Endpoint, is_resp3: bool) -> Result<Opening, Mistake> {
    let number = endpoint.path.strip_prefix('/').unwrap_or(&endpoint.path);
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let database = number.parse::<u16>().ok().filter(|_| is_number);
    if !number.is_empty() && database.is_none() {
        let en = format!("the path of a redis URL is a database from 0 to 65535, not '{number}': redis://host:6379/0");
        let zh = format!("redis URL 的路径应为 0 到 65535 的数据库编号，而不是 '{number}'：redis://host:6379/0");
        return Err(Mistake { key: None, en, zh });
    }
    let (user, password) = (endpoint.user.as_bytes(), endpoint.password.as_deref().map(str::as_bytes));
    if !user.is_empty() && password.is_none() {
        let en = "the URL has a user but no password: write redis://user:password@host, or redis://:password@host";
        let zh = "URL 中有用户名但没有密码：应为 redis://user:password@host，或 redis://:password@host";
        return Err(Mistake { key: None, en: en.to_owned(), zh: zh.to_owned() });
    }
    let mut opening = Opening::default();
    let mut add = |step: Step, words: &[&[u8]]| {
        write_command(words.iter().copied(), &mut opening.bytes);
        opening.steps.push(step);
    };
    let name_or_default: &[u8] = if user.is_empty() { b"default" } else { user };
    match password {
        Some(password) if is_resp3 => add(Step::Hello, &[b"HELLO", b"3", b"AUTH", name_or_default, password]),
        None if is_resp3 => add(Step::Hello, &[b"HELLO", b"3"]),
        Some(password) if user.is_empty() => add(Step::Auth, &[b"AUTH", password]),
        Some(password) => add(Step::Auth, &[b"AUTH", user, password]),
        None => {}
    }
    if let Some(database) = database {
        // Redis takes no zeros before a number.
        add(Step::Select, &[b"SELECT", database.to_string().as_bytes()]);
    }
    Ok(opening)
}

/// Refuses commands whose replies could not be matched.
fn check_command(command: &[TextHandle], fields: &StepFields<'_>) -> Result<(), Mistake> {
    let word = |at: usize| {
        let text = command.get(at).and_then(|text| fields.constant(*text));
        text.map(|text| String::from_utf8_lossy(text).to_ascii_uppercase())
    };
    if command.is_empty() || word(0).is_some_and(|first| first.is_empty()) {
        return Err(mistake(
            "a command is empty: its first word is its name, as in [GET, key]",
            "命令为空：第一个词是命令名，例如 [GET, key]",
        ));
    }
    let Some(first) = word(0) else { return Ok(()) };
    let (en, zh) = match first.as_str() {
        "SUBSCRIBE" | "PSUBSCRIBE" | "SSUBSCRIBE" | "UNSUBSCRIBE" | "PUNSUBSCRIBE" | "SUNSUBSCRIBE" | "MONITOR"
        | "SYNC" | "PSYNC" => (
            "does not have exactly one reply: leave it out, and load with PUBLISH, or read with XREAD",
            "并非恰好返回一个响应：请去掉；可用 PUBLISH 加压，或用 XREAD 读取",
        ),
        "SELECT" | "AUTH" => (
            "is for a whole connection: leave it out, and write the URL as redis://user:password@host/database",
            "作用于整个连接：请去掉，并把 URL 写成 redis://用户名:密码@主机/数据库",
        ),
        "QUIT" | "RESET" => (
            "ends the state of a connection: leave it out; connections are closed by themselves",
            "会结束连接的状态：请去掉；连接会自动关闭",
        ),
        "HELLO" => ("begins a connection: leave it out, and set resp: 3", "用于连接开始时：请去掉，并设置 resp: 3"),
        "CLIENT" if word(1).is_some_and(|second| second == "REPLY") => {
            ("REPLY changes which commands have replies: leave it out", "REPLY 会改变哪些命令有响应：请去掉")
        }
        _ => return Ok(()),
    };
    Err(mistake(format!("{first} {en}"), format!("{first} {zh}")))
}

/// The first word, and the number of further commands.
fn name_of(commands: &[Vec<TextHandle>], fields: &StepFields<'_>) -> String {
    let more = if commands.len() > 1 { format!(" +{}", commands.len() - 1) } else { String::new() };
    let first = commands.first().and_then(|command| command.first()).map_or(&[][..], |text| fields.written(*text));
    let first = String::from_utf8_lossy(&first[..first.len().min(NAME_BYTES_MAX)]).to_ascii_uppercase();
    let mut name = first.replace(char::is_control, "?");
    while name.len() + more.len() > NAME_BYTES_MAX {
        name.pop();
    }
    name + &more
}

/// Appends a command.
fn write_command<'a>(words: impl ExactSizeIterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    resp::write_count(b'*', words.len(), out);
    words.for_each(|word| resp::write_bulk(word, out));
}

/// The commands of a step.
struct Commands {
    commands: Vec<Vec<TextHandle>>,
    name: String,
    opening: Arc<Opening>,
}

impl Request for Commands {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn messages(&self) -> u32 {
        self.commands.len() as u32
    }

    fn connect(&self, _number: u64) -> Connection {
        Box::new(Client::new(self.opening.clone(), 0))
    }

    fn resume(&self, _idle: IdleState) -> Connection {
        Box::new(Client::new(self.opening.clone(), self.opening.steps.len()))
    }

    fn write(&self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        for command in &self.commands {
            write_command(command.iter().map(|word| texts.get(*word)), out);
        }
    }

    fn view_request(&self, request: &[u8], json: &mut Vec<u8>) {
        // Commands are written as replies are: arrays of bulk strings.
        view::view(request, json);
    }

    fn view(&self, response: &[u8], json: &mut Vec<u8>) {
        view::view(response, json);
    }
}

#[cfg(test)]
mod tests;
