//! Errors of steps that change the cookies of a user.

use plan::errors;

errors! {
    /// An error of a `cookies` step.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CookieFault;

    /// Cookies are off.
    Off;
        "cookies are off here (cookies: false), so users keep none; take that out of the defaults, or send a header: headers: {{Cookie: a=b}}",
        "此处关闭了 Cookie（cookies: false），用户不会保存 Cookie；请从默认设置中去掉，或直接发送请求头：headers: {{Cookie: a=b}}";
    /// A name that no cookie has.
    Name(it: String);
        "'{it}' cannot be the name of a cookie; use letters, digits, - and _",
        "'{it}' 不能用作 Cookie 名称；请使用字母、数字、- 和 _";
    /// `clear: false` alone.
    Nothing;
        "this step changes no cookie; write clear: true, or set: {{lang: de}}",
        "这个步骤没有改变任何 Cookie；请写 clear: true，或 set: {{lang: de}}";
}
