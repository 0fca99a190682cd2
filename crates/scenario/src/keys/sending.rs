//! Keys for credentials and for fields of the query.

use super::{Field, Kind, Object, field};

keys! {
    pub(crate) AUTH = "auth", "the credentials", "认证信息", any of ["basic", "bearer"];
    "basic": Kind::Pattern,
        "User and password, as in user:password; slots are filled before they are encoded",
        "用户名和密码，如 user:password；先替换占位符，再编码";
    "bearer": Kind::Pattern, "A token, like ${token}", "令牌，如 ${token}";
}

pub(super) const AUTH_KEY: Field = field(
    "auth",
    Kind::Object(&AUTH),
    "Credentials in the header Authorization: {basic: \"user:password\"} or {bearer: \"${token}\"}. 'headers: {Authorization: null}' leaves those of the defaults out",
    "请求头 Authorization 中的认证信息：{basic: \"user:password\"} 或 {bearer: \"${token}\"}。用 'headers: {Authorization: null}' 去掉默认设置中的认证",
);

/// The value of a field of the query.
const VALUE: Kind = Kind::Either(&[Kind::Pattern, Kind::Nothing]);

pub(super) const QUERY_KEY: Field = field(
    "query",
    Kind::Named(&Kind::Either(&[VALUE, Kind::List(&VALUE)])),
    "Fields that are added to the query of the URL, encoded as in forms; a list repeats its name, and null leaves a field out",
    "加到 URL 查询字符串中的参数，按表单方式编码；列表会重复参数名，null 表示不发送该参数",
);
