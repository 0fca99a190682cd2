//! Command lines of gRPC that are refused.

/// A command line, whose words in capitals the test replaces; the exit code, and what is said in English and Chinese.
pub(super) type Mistake = (&'static [&'static str], i32, &'static str, &'static str);

pub(super) const MISTAKES: &[Mistake] = &[
    (
        &["NO_METHOD"],
        2,
        "has no method 'SayGoodbye'; it has: SayHello, SayHellos",
        "没有方法 'SayGoodbye'；现有方法：SayHello",
    ),
    (&["UNKNOWN"], 2, "knows no 'no.Such'; it has: ApiServer, hello.Greeter", "没有 'no.Such'；现有服务：ApiServer"),
    (&["OWN_UNKNOWN"], 2, "knows no 'no.Such'", "没有 'no.Such'"),
    (&["SERVICE"], 2, "names no method", "不是方法名"),
    (&["SAY", "-d", "{\"name\":5}"], 2, "line 1, column 9: invalid type", "第 1 行第 9 列"),
    (&["SAY", "-d", "{\n \"nam\": \"x\"}"], 2, "line 2, column 6: unrecognized field name 'nam'", "第 2 行第 6 列"),
    (&["SAY", "-d", "{\"name\":"], 2, "hello.HelloRequest: line 1", "hello.HelloRequest 不符"),
    (&["CHAT", "-d", "LINES"], 2, "line 2, column 9", "第 2 行第 9 列"),
    (&["SAY", "-d", "{} {}"], 2, "takes one message, and -d has 2", "只接收一条消息，-d 却有 2 条"),
    (&["ZOO", "-d", "word"], 2, "line 1, column 1", "第 1 行第 1 列"),
    (&["SILENT"], 3, "does not offer server reflection", "没有开启服务端反射"),
    (&["REFUSED"], 3, "cannot ask 127.0.0.1", "无法向 127.0.0.1"),
    (&["SAY", "--proto", "BROKEN"], 2, "broken.proto:3:14: expected an integer", "broken.proto:3:14"),
    (&["SAY", "--proto", "EDITION"], 2, "is written in an edition", "使用了 Protobuf edition"),
    (&["SAY", "--proto", "LONELY"], 2, "lonely.proto:2:1: import 'nowhere/at/all.proto' not found", "lonely.proto:2:1"),
    (&["SAY", "--proto", "/no/such.proto"], 2, "cannot read the file '/no/such.proto' given to --proto", "无法读取"),
    (&["SAY", "--protoset", "NOISE"], 2, "is no set of descriptions", "不是描述符集"),
    (
        &["SAY", "--proto", "HELLO", "--protoset", "NOISE"],
        2,
        "--proto and --protoset cannot",
        "--proto 和 --protoset 不能",
    ),
    (&["SAY", "--import-path", "/tmp"], 2, "--import-path needs --proto", "--import-path 需要同时用 --proto"),
    (&["--proto", "HELLO", "http://a/"], 2, "--proto needs a grpc://", "--proto 需要 grpc://"),
    (
        &["SAY", "--message-interval", "1s"],
        2,
        "--message-interval needs a method that takes a stream",
        "--message-interval 只能用于",
    ),
    (&["SAY", "--grpc-encoding", "zstd"], 2, "one of gzip, identity", "可选：gzip、identity"),
    (&["SAY", "-X", "GET"], 2, "a gRPC call is a POST over HTTP/2", "通过 HTTP/2 发送的 POST"),
    (&["SAY", "--http1.1"], 2, "--http1.1 and grpc:// cannot", "--http1.1 和 grpc:// 不能"),
    (&["SAY", "--expect-status", "200"], 2, "statuses of gRPC like OK,NOT_FOUND", "gRPC 状态"),
    (&["grpc", "list", "http://a/"], 2, "is not of gRPC", "不是 gRPC 地址"),
    (&["grpc", "list"], 2, "try: onrush grpc list grpc://", "例如：onrush grpc list grpc://"),
    (&["grpc"], 2, "a command is missing", "缺少命令"),
    (&["grpc", "describe", "ADDRESS", "hello.Nobody"], 2, "knows no 'hello.Nobody'", "没有 'hello.Nobody'"),
    (
        &["grpc", "describe", "--proto", "HELLO", "hello.Nobody"],
        2,
        "nothing is called 'hello.Nobody'",
        "没有名为 'hello.Nobody'",
    ),
];
