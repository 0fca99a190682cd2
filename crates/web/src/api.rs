//! The HTTP API; `docs/web.md` describes it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequest, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use report::Language;
use serde_json::{Value, json};

use crate::auth;
use crate::error::{ApiError, as_json};
use crate::hub::{Hub, StartState};
use crate::run::Run;
use crate::run_requests::{Reply, RunRequest};

/// The interval of heartbeats on an idle stream.
const BEAT: Duration = Duration::from_secs(10);
/// The most words of a run that is started.
const WORDS_MAX: usize = 200;
/// The most bytes of a body; with its head it is below what a connection may send.
const BODY_BYTES_MAX: usize = 32 * 1024;
/// The most characters of a mark.
const MARK_CHARS_MAX: usize = 200;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const CSV: &str = "text/csv; charset=utf-8";

/// The page, in a language until its reader chooses the other one.
fn page_in(language: Language) -> String {
    let other = language.pick("lang=\"en\"", "lang=\"zh-CN\"");
    include_str!("../assets/index.html").replacen("lang=\"en\"", other, 1)
}

pub(crate) fn router(hub: &Hub, token: Arc<str>) -> Router {
    let file = |kind: &'static str, text: &'static str| get(async move || ([(header::CONTENT_TYPE, kind)], text));
    let page = page_in(hub.offer().language);
    Router::new()
        .route("/", get(async move || ([(header::CONTENT_TYPE, HTML)], page)))
        .route("/icon.svg", file("image/svg+xml", include_str!("../assets/icon.svg")))
        .route("/page.js", file(SCRIPT, include_str!("../assets/page.js")))
        .route("/tables.js", file(SCRIPT, include_str!("../assets/tables.js")))
        .route("/live.js", file(SCRIPT, include_str!("../assets/live.js")))
        .route("/search.js", file(SCRIPT, include_str!("../assets/search.js")))
        .route("/words.js", file(SCRIPT, include_str!("../assets/words.js")))
        .route("/charts.js", file(SCRIPT, report::CHARTS_MODULE))
        .route("/words.zh.json", file("application/json", report::CHART_WORDS_ZH))
        .route("/report.css", file(STYLE, report::STYLE))
        .route("/page.css", file(STYLE, include_str!("../assets/page.css")))
        .route("/api/run", get(run))
        .route("/api/run/charts", get(charts))
        .route("/api/run/changes", post(change))
        .route("/api/run/stop", post(stop))
        .route("/api/run/marks", post(mark))
        .route("/api/run/report.json", get(report_json))
        .route("/api/run/report.html", get(report_html))
        .route("/api/run/intervals.csv", get(intervals))
        .route("/api/run/steps.csv", get(steps))
        .route("/api/run/failures.csv", get(failures))
        .route("/api/runs", post(start))
        .route("/api/search", get(search))
        .route("/api/search.html", get(search_part))
        .route("/api/events", get(events))
        .fallback(async || {
            let (text, zh) = (
                "there is nothing at this path; docs/web.md names those that there are",
                "没有这个路径；可用路径见 docs/web.zh.md",
            );
            ApiError::new(StatusCode::NOT_FOUND, "no_such_path", text, zh)
        })
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(hub.clone())
        .layer(from_fn_with_state(token, auth::authorize))
}

type RequestParts = Query<std::collections::HashMap<String, String>>;

fn language_of(requested: &RequestParts) -> Language {
    if requested.get("lang").is_some_and(|lang| lang.starts_with("zh")) { Language::Zh } else { Language::En }
}

/// The JSON of a body; null for an empty one.
struct BodyRead(Value);

impl<S: Send + Sync> FromRequest<S> for BodyRead {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let body = Bytes::from_request(request, state).await.map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                let (text, zh) = ("a body has 32 KiB at most", "请求体最多 32 KiB");
                return ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", text, zh);
            }
            ApiError::wrong("the body did not come as a whole", "请求体不完整")
        })?;
        if body.is_empty() {
            return Ok(Self(json!({})));
        }
        let no_json =
            |error| ApiError::wrong(&format!("this is no JSON: {error}"), &format!("请求体不是有效的 JSON：{error}"));
        serde_json::from_slice(&body).map(Self).map_err(no_json)
    }
}

async fn run(State(hub): State<Hub>) -> Response {
    as_json(&hub.value())
}

/// The search or sweep of the runs, or null.
async fn search(State(hub): State<Hub>) -> Response {
    as_json(&hub.lock().whole.clone())
}

/// The same as a part of a page; empty for null.
async fn search_part(State(hub): State<Hub>, requested: RequestParts) -> Response {
    let whole = hub.lock().whole.clone();
    let part = if whole.is_null() { String::new() } else { report::part_of_page(&whole, language_of(&requested)) };
    ([(header::CONTENT_TYPE, HTML)], part).into_response()
}

async fn events(State(hub): State<Hub>) -> Response {
    match hub.listen() {
        Some(events) => Sse::new(events).keep_alive(KeepAlive::new().interval(BEAT)).into_response(),
        None => {
            let (text, zh) = ("too many pages are open; close some", "打开的页面太多；请关闭一些");
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_pages", text, zh).into_response()
        }
    }
}

/// The response about the current run.
fn with_run(hub: &Hub, of: impl FnOnce(&Run) -> Result<Response, ApiError>) -> Response {
    let state = hub.lock();
    let found = state.run.as_ref().ok_or_else(ApiError::nothing_runs).and_then(of);
    found.unwrap_or_else(IntoResponse::into_response)
}

async fn charts(State(hub): State<Hub>, requested: RequestParts) -> Response {
    with_run(&hub, |run| Ok(as_json(&run.charts(language_of(&requested)))))
}

async fn change(State(hub): State<Hub>, BodyRead(body): BodyRead) -> Result<Response, ApiError> {
    hub.change(body).map(|response| as_json(&response))
}

async fn stop(State(hub): State<Hub>, BodyRead(body): BodyRead) -> Result<Response, ApiError> {
    let state = hub.stop(body["at_once"] == true)?;
    Ok(as_json(&json!({"state": state})))
}

async fn mark(State(hub): State<Hub>, BodyRead(body): BodyRead) -> Result<Response, ApiError> {
    let text: String =
        body["text"].as_str().unwrap_or_default().trim().chars().filter(|one| !one.is_control()).collect();
    if text.is_empty() || text.chars().count() > MARK_CHARS_MAX {
        return Err(ApiError::wrong(
            &format!("'text' wants 1 to {MARK_CHARS_MAX} characters"),
            &format!("'text' 需要 1 到 {MARK_CHARS_MAX} 个字符"),
        ));
    }
    let mut state = hub.lock();
    let run = state.going()?;
    let now = run.control.next_instant().max(run.now());
    let event = run.mark(now, &text);
    state.publish_news("state", |_, news| news["event"] = event);
    Ok(as_json(&json!({"at_s": now.as_secs_f64()})))
}

/// The report, as soon as there is one.
fn report_of(run: &Run) -> Result<(&Value, &Value), ApiError> {
    run.report().ok_or_else(|| {
        if run.has_failed() {
            let (text, zh) =
                ("the run failed, and has no report; its events say why", "压测失败，没有报告；原因见事件");
            return ApiError::new(StatusCode::CONFLICT, "no_report", text, zh);
        }
        let (text, zh) = ("the report is there when the run is over", "压测结束后才有报告");
        ApiError::new(StatusCode::CONFLICT, "not_over", text, zh)
    })
}

async fn report_json(State(hub): State<Hub>) -> Response {
    with_run(&hub, |run| Ok(as_json(report_of(run)?.0)))
}

async fn report_html(State(hub): State<Hub>, requested: RequestParts) -> Response {
    with_run(&hub, |run| {
        let (report, charts) = report_of(run)?;
        let page = report::html_report(report, charts, language_of(&requested));
        // It is downloaded, not displayed.
        let headers = [(header::CONTENT_TYPE, HTML), (header::CONTENT_DISPOSITION, "attachment; filename=report.html")];
        Ok((headers, page).into_response())
    })
}

fn csv(text: String) -> Response {
    ([(header::CONTENT_TYPE, CSV)], text).into_response()
}

async fn intervals(State(hub): State<Hub>) -> Response {
    with_run(&hub, |run| Ok(csv(report::intervals_csv(&run.charts_value()))))
}

async fn steps(State(hub): State<Hub>) -> Response {
    with_run(&hub, |run| Ok(csv(report::steps_csv(&run.tables()["scenarios"]))))
}

async fn failures(State(hub): State<Hub>) -> Response {
    with_run(&hub, |run| Ok(csv(report::failures_csv(&run.tables()["failures"]))))
}

async fn start(
    State(hub): State<Hub>,
    ConnectInfo(who): ConnectInfo<auth::Who>,
    BodyRead(body): BodyRead,
) -> Result<Response, ApiError> {
    let Some(requests) = hub.offer().requests.clone() else {
        let (text, zh) = (
            "this run was started by its own command; 'onrush web' starts runs from a page",
            "该压测由命令行启动；要从页面启动请使用 'onrush web'",
        );
        return Err(ApiError::new(StatusCode::CONFLICT, "no_starts", text, zh));
    };
    let words: Option<Vec<String>> = body["words"]
        .as_array()
        .filter(|words| (1..=WORDS_MAX).contains(&words.len()))
        .and_then(|words| words.iter().map(|word| word.as_str().map(str::to_owned)).collect());
    let Some(words) = words.filter(|words| words.iter().all(|word| !word.contains('\0'))) else {
        return Err(ApiError::wrong(
            "'words' wants the words of a command line, like [\"-q\", \"500\", \"-z\", \"1m\", \"http://127.0.0.1:8080/\"]",
            "'words' 需要命令行参数列表，如 [\"-q\", \"500\", \"-z\", \"1m\", \"http://127.0.0.1:8080/\"]",
        ));
    };
    {
        let mut state = hub.lock();
        if state.request != StartState::None {
            let (text, zh) = match state.going() {
                Ok(_) => ("a run goes on; stop it first", "已有压测正在进行；请先停止"),
                Err(_) => ("a run begins or ends just now; try again when it has", "压测正在启动或收尾；请稍后再试"),
            };
            return Err(ApiError::new(StatusCode::CONFLICT, "runs_already", text, zh));
        }
        state.request = StartState::Starting;
    }
    // A run may take its time until it begins.
    who.serve();
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let language = if body["lang"] == "zh" { Language::Zh } else { Language::En };
    if requests.send(RunRequest { words, language, response: Reply::new(sender) }).is_err() {
        hub.done("");
    }
    match receiver.await {
        Ok(Ok(())) => Ok(as_json(&json!({"run": hub.lock().number}))),
        Ok(Err(text)) => Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "not_started", &text, &text)),
        Err(_) => Err(ApiError::new(StatusCode::CONFLICT, "server_closing", "onrush is ending", "onrush 正在退出")),
    }
}
