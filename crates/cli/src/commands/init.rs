//! `onrush init`: a scenario file from a URL or from curl commands. Nothing is sent.

use std::io::{Error, ErrorKind, Write};
use std::path::Path;

use plan::{Plan, Request, Step, Target};
use report::{BinaryBody, Language, ScenarioFile};
use scenario::{Files, Lowering, Outside};

use crate::exit::Exit;
use crate::options::args::{InitArgs, USER_AGENT};
use crate::options::usage;
use crate::output;

/// Writes the file, and reports what it cannot express.
pub(crate) fn init(args: &InitArgs) -> Exit {
    let language = usage::language();
    match made(args, language) {
        Ok((file, left_out)) => {
            let written = match &args.out {
                None => output::to_stdout(&file.text, language),
                Some(path) => write(path, &file.text, args.force, language),
            };
            if written == Exit::Done {
                say_secrets(&file, language);
                left_out.iter().for_each(|line| output::complain(line));
            }
            written
        }
        Err(text) => {
            output::complain(&text);
            Exit::Usage
        }
    }
}

/// The file, and the parts of the commands that it lacks.
fn made(args: &InitArgs, language: Language) -> Result<(ScenarioFile, Vec<String>), String> {
    let in_words = |error: &plan::PlanError| report::plan_error(error, language);
    let url = args.flags.url.as_deref().map(str::trim);
    let name = args.out.as_deref().unwrap_or(language.pick("FILE", "文件"));
    if let Some(word) = url.filter(|word| usage::is_bare_word(word)) {
        return Err(usage::say_bare_word(word, language));
    }
    if let Some(text) = url.and_then(|url| report::messaging_scenario_file(url, name, language)) {
        let secrets = Vec::new();
        return Ok((ScenarioFile { text, secrets }, Vec::new()));
    }
    if url.is_none() && args.flags.curl.is_none() && args.flags.curl_file.is_none() {
        return Err(language
            .pick(
                "no URL given; try: onrush init http://127.0.0.1:8080/ -o first.yaml",
                "没有给出 URL；例如：onrush init http://127.0.0.1:8080/ -o first.yaml",
            )
            .to_owned());
    }
    if args.out.is_none() && args.flags.curl.iter().flatten().any(|word| word == b"-o" || word == b"--output") {
        output::note(language.pick(
            "onrush: -o behind curl is curl's, and has no effect here; write: onrush init -o FILE curl ...",
            "onrush：curl 之后的 -o 属于 curl，在这里不起作用；请写成：onrush init -o 文件 curl ...",
        ));
    }
    let plan = args.flags.draft().and_then(|draft| draft.plan()).map_err(|error| in_words(&error))?;
    let file = report::scenario_file(&plan, USER_AGENT, name, language).map_err(|BinaryBody(number)| {
        language.pick(
            format!(
                "the body of request {number} is not text; leave it out here, and write 'body: {{file: PATH}}' into the file"
            ),
            format!("第 {number} 个请求的请求体不是文本；请先去掉它，再在文件中写 'body: {{file: 路径}}'"),
        )
    })?;
    let left_out = differences(&plan, &file, language);
    Ok((file, left_out))
}

/// No data files: a new file has none.
struct NoFiles;

impl Files for NoFiles {
    fn head(&self, _: &Path, _: usize) -> Result<Vec<u8>, Error> {
        Err(ErrorKind::NotFound.into())
    }
}

/// The differences between the file and the commands, a line for each; the file is read as a run would read it.
fn differences(plan: &Plan, file: &ScenarioFile, language: Language) -> Vec<String> {
    let environment = |name: &str| file.secrets.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let outside = Outside {
        environment: &environment,
        interpreters: None,
        schemas: &[],
        folder: Path::new(""),
        user_agent: USER_AGENT,
        lists: None,
    };
    let read = scenario::parse("init", &file.text, &NoFiles);
    let again = read.and_then(|opened| Lowering::new(&opened, &outside)?.run(&[]).map(|lowered| lowered.plan));
    let again = match again {
        Ok(again) => again,
        // What a file cannot express at all is reported as for any file.
        Err(mistakes) => return vec![report::scenario_mistakes(&mistakes, language).replace('\n', " ")],
    };
    let parts = |plan: &Plan| -> Vec<(Step, Target)> {
        let scenario = &plan.scenarios[0];
        scenario.steps.iter().map(|step| (step.clone(), scenario.targets[step.target].clone())).collect()
    };
    let mut lines: Vec<String> = parts(plan)
        .iter()
        .enumerate()
        .filter(|(_, (step, _))| holds_secret(&step.request))
        .map(|(number, _)| {
            let number = number + 1;
            language.pick(
                format!("the URL or the body of step {number} holds what looks like a secret: keep the file to yourself, or put it into a variable"),
                format!("第 {number} 步的 URL 或请求体中似乎有敏感信息：请勿外传此文件，或改用变量"),
            )
        })
        .collect();
    for (number, (requested, read)) in parts(plan).iter().zip(&parts(&again)).enumerate() {
        let what: Vec<String> = unlike(requested, read, language);
        if !what.is_empty() {
            let (number, what) = (number + 1, what.join(language.pick(", ", "、")));
            lines.push(language.pick(
                format!(
                    "step {number} of the file differs from the command in: {what}; change it by hand where it matters"
                ),
                format!("文件的第 {number} 步与命令不同之处：{what}；如有影响请手工修改"),
            ));
        }
    }
    lines
}

/// Whether the request has a secret that stays in the file; it is reported by name.
fn holds_secret(request: &Request) -> bool {
    let body = String::from_utf8_lossy(&request.body);
    plan::masked(&request.path) != request.path || plan::masked(&body) != body
}

/// The differences between a step of the file and its command.
fn unlike((requested, to): &(Step, Target), (read, of_file): &(Step, Target), language: Language) -> Vec<String> {
    let fields = |request: &Request| {
        let mut fields: Vec<(String, Vec<u8>)> = request.headers.clone();
        fields.iter_mut().for_each(|(name, _)| name.make_ascii_lowercase());
        fields.sort();
        fields
    };
    let (own, other) = (fields(&requested.request), fields(&read.request));
    // A value that is generated for each request does not exist yet.
    let is_filled = |name: &str| {
        let place = read.request.headers.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
        place.is_some_and(|place| {
            read.dynamic_parts
                .as_ref()
                .is_some_and(|dynamic_parts| dynamic_parts.headers.iter().any(|(number, _)| *number == place))
        })
    };
    let mut names: Vec<String> = own
        .iter()
        .filter(|field| !other.contains(field) && !is_filled(&field.0))
        .chain(other.iter().filter(|field| !own.contains(field) && !is_filled(&field.0)))
        .map(|(name, _)| name.clone())
        .collect();
    names.dedup();
    let mut what = names;
    let pick = |english: &str, chinese: &str| language.pick(english, chinese).to_owned();
    let wrong = [
        (requested.request.method != read.request.method, pick("the method", "方法")),
        (requested.request.path != read.request.path, pick("the path", "路径")),
        (requested.request.body != read.request.body, pick("the body", "请求体")),
        (
            requested.request.version != read.request.version || to.protocol != of_file.protocol,
            pick("the version of HTTP", "HTTP 版本"),
        ),
        ((&to.host, to.port) != (&of_file.host, of_file.port), pick("the server", "服务端")),
        (to.tls != of_file.tls, pick("the settings of TLS", "TLS 设置")),
        ((&to.dial, &to.unix) != (&of_file.dial, &of_file.unix), pick("the way to the server", "连接方式")),
        (
            requested.timeout != read.timeout || requested.connect_timeout != read.connect_timeout,
            pick("the timeouts", "超时"),
        ),
        (requested.keep_alive != read.keep_alive, pick("keep-alive", "长连接")),
    ];
    what.extend(wrong.into_iter().filter(|(is_wrong, _)| *is_wrong).map(|(_, name)| name));
    what
}

/// Writes the file; an existing one is kept, unless it may be replaced.
fn write(path: &str, text: &str, force: bool, language: Language) -> Exit {
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => {
            output::note(&language.pick(
                format!("wrote {path}; next: onrush run {path} --debug"),
                format!("已写入 {path}；下一步：onrush run {path} --debug"),
            ));
            Exit::Done
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            output::complain(&language.pick(
                format!("{path} is there already; choose another name, or add --force to replace it"),
                format!("{path} 已存在；请换一个名称，或加上 --force 覆盖它"),
            ));
            Exit::Usage
        }
        Err(error) => {
            output::complain(&output::cannot_write(path, &error, language));
            Exit::System
        }
    }
}

/// Reports the environment variables that the file needs.
fn say_secrets(file: &ScenarioFile, language: Language) {
    if file.secrets.is_empty() {
        return;
    }
    let names: Vec<&str> = file.secrets.iter().map(|(name, _)| name.as_str()).collect();
    let sets: Vec<String> = names.iter().map(|name| format!("{name}='...'")).collect();
    let (names, sets) = (names.join(language.pick(", ", "、")), sets.join(" "));
    output::note(&language.pick(
        format!("secrets are not in the file; set them before a run: export {sets} (it reads {names})"),
        format!("文件中不含敏感信息；运行前请设置环境变量：export {sets}（文件读取 {names}）"),
    ));
}
