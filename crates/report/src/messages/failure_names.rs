//! What failures are called in Chinese, beside the name that reports, metrics and thresholds have.

use metrics::Failure;

pub(super) fn chinese(failure: Failure) -> &'static str {
    match failure {
        Failure::Unreachable => "主机不可达",
        Failure::Permission => "没有权限",
        Failure::NoConsent => "未经授权",
        Failure::ConnectRefused => "连接被拒绝",
        Failure::ConnectTimeout => "建立连接超时",
        Failure::NoLocalPort => "本地端口耗尽",
        Failure::NoDescriptor => "文件描述符耗尽",
        Failure::Reset => "连接被重置",
        Failure::ClosedEarly => "响应前连接被关闭",
        Failure::Timeout => "超时",
        Failure::Protocol(_) => "协议错误",
        Failure::Tls(_) => "TLS 失败",
        Failure::StreamReset(_) => "流被重置",
        Failure::Goaway => "服务端拒绝新请求",
        Failure::GrpcStatus(_) => "gRPC 状态不符",
        Failure::Status | Failure::CallHttp(_) => "状态码不符",
        Failure::BodyLimit => "响应体过大",
        Failure::Check | Failure::TimeCheck | Failure::SizeCheck => "断言失败",
        Failure::Dns => "域名解析失败",
        Failure::Redirect => "重定向失败",
        Failure::NotTaken => "提取失败",
        Failure::NotFilled => "请求无法生成",
        Failure::LoopLimit => "循环次数超限",
        Failure::WebSocketClose(_) => "WebSocket 被关闭",
        Failure::NoFirstAnswer => "首个请求没有响应",
        Failure::Os(_) => "系统错误",
    }
}
