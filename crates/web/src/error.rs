//! Errors of refused requests.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// A JSON response.
pub(crate) fn as_json(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// The error of a refused request: a status, a stable name, and the remedy, in both languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub(crate) status: StatusCode,
    /// The stable name.
    pub code: &'static str,
    /// The text in English.
    pub text: String,
    /// The text in Chinese.
    pub text_zh: String,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, text: &str, text_zh: &str) -> Self {
        Self { status, code, text: text.to_owned(), text_zh: text_zh.to_owned() }
    }

    /// An invalid request.
    pub(crate) fn wrong(text: &str, text_zh: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "wrong_request", text, text_zh)
    }

    /// The search or sweep decides what its runs do.
    pub(crate) fn part_of_a_whole() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "part_of_a_whole",
            "this run is a part of a search or a sweep, which decides its load; it can be stopped",
            "这次压测属于一次搜索或扫描，负载由后者决定；可以停止",
        )
    }

    /// There is no suitable run.
    pub(crate) fn nothing_runs() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "nothing_runs",
            "nothing runs here; start a load first",
            "当前没有正在进行的压测；请先启动",
        )
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = json!({"error": self.code, "text": self.text, "text_zh": self.text_zh});
        (self.status, as_json(&body)).into_response()
    }
}
