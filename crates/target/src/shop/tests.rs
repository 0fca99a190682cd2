use super::*;

mod flows;

/// A shop with its users.
struct World {
    state: ShopState,
    shop_thread: ShopThread,
    seen: Vec<Seen>,
    now: Nanos,
}

/// The state of a user.
#[derive(Default)]
struct User {
    cookie: Option<String>,
    token: Option<String>,
    session: String,
    csrf: String,
}

impl World {
    fn new() -> Self {
        Self {
            state: ShopState::default(),
            shop_thread: ShopThread::new(3, 0),
            seen: Vec::new(),
            now: Nanos::from_millis(1_000_000),
        }
    }

    /// The shop for a request.
    fn shop(&mut self, path: CountedPath) -> Shop<'_> {
        Shop {
            shop_thread: &mut self.shop_thread,
            state: &self.state,
            path,
            now: self.now,
            unix_start: Duration::from_secs(784_110_777),
            is_secure: false,
            seen: Seen::default(),
        }
    }

    /// Sends a request as a user: `POST /cart sku=7`.
    fn ask(&mut self, user: &mut User, line: &str) -> Reply {
        self.ask_with(user, line, &[])
    }

    /// The same with additional fields.
    fn ask_with(&mut self, user: &mut User, line: &str, more: &[(&'static str, &str)]) -> Reply {
        let mut parts = line.splitn(3, ' ');
        let (method, target) = (parts.next().expect("a method"), parts.next().expect("a path"));
        let body = parts.next().unwrap_or_default();
        let path = target.split('?').next().expect("a path").trim_start_matches('/');
        let (name, rest) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
        let page = ShopPage::from_path(name, rest).expect("a page").expect("a good name");
        let cookie = user.cookie.as_ref().map(|cookie| ("Cookie", format!("sid={cookie}")));
        let token = user.token.as_ref().map(|token| ("Authorization", format!("Bearer {token}")));
        let kind = body.starts_with('{').then(|| ("Content-Type", "application/json".to_owned()));
        let more = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let fields: Vec<_> = cookie.into_iter().chain(token).chain(kind).chain(more).collect();
        let fields = fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let requested = ShopRequest::read(method, target, fields);
        let mut shop = self.shop(crate::routes::Route::Shop(page).path(method));
        let reply = response(page, &requested, Some(body.as_bytes()), &mut shop);
        let seen = shop.seen;
        self.seen.push(seen);
        if let Some(("Set-Cookie", value)) = &reply.kind.more {
            let value = value.strip_prefix("sid=").and_then(|rest| rest.split(';').next()).expect("our cookie");
            user.cookie = (!value.is_empty()).then(|| value.to_owned());
        }
        if let Some((_, rest)) = text(&reply).split_once("name=\"csrf\" value=\"") {
            user.csrf = rest[..16].to_owned();
        }
        if reply.status == 201 && name == "api" {
            let json = json(&reply);
            user.token = json["token"].as_str().map(str::to_owned);
            user.session = json["session"].as_str().expect("a session").to_owned();
        }
        reply
    }

    /// The statuses of several requests.
    fn statuses(&mut self, user: &mut User, lines: &[&str]) -> Vec<u16> {
        lines.iter().map(|line| self.ask(user, line).status).collect()
    }

    fn logged_in(&mut self, name: &str) -> User {
        let mut user = User::default();
        assert_eq!(self.ask(&mut user, "GET /login").status, 200);
        let form = format!("POST /login user={name}&csrf={}", user.csrf);
        assert_eq!(self.ask(&mut user, &form).status, 302);
        user
    }

    fn count(&self, pick: impl Fn(&Seen) -> bool) -> usize {
        self.seen.iter().filter(|seen| pick(seen)).count()
    }
}

fn text(reply: &Reply) -> &str {
    std::str::from_utf8(&reply.body).expect("text")
}

fn json(reply: &Reply) -> serde_json::Value {
    serde_json::from_slice(&reply.body).expect("JSON")
}

#[test]
fn a_user_logs_in_buys_and_leaves() {
    let (mut world, mut user) = (World::new(), User::default());
    let refused = ["GET /account", "GET /cart", "POST /cart sku=7", "POST /pay", "GET /order", "POST /logout"];
    assert_eq!(world.statuses(&mut user, &refused), [401; 6], "nobody is known yet");
    assert_eq!(world.ask(&mut user, "GET /login").status, 200);
    assert_eq!(world.statuses(&mut user, &refused[..5]), [401; 5], "nor before the login");
    let before = user.cookie.clone().expect("a cookie");
    let form = format!("POST /login csrf={}&user=a%22b&password=x", user.csrf);
    let reply = world.ask(&mut user, &form);
    assert_eq!((reply.status, reply.kind.location), (302, Some("/account")));
    assert_ne!(user.cookie, Some(before.clone()), "the login changes the cookie");
    let mut late = User { cookie: Some(before), ..User::default() };
    assert_eq!(world.ask(&mut late, "GET /account").status, 401, "the cookie from before is none any more");
    let account = world.ask(&mut user, "GET /account?user=a%22b");
    // The login form, five refused requests, one login, and this one.
    assert_eq!(
        (account.status, &json(&account)["user"], &json(&account)["requests"]),
        (200, &"a\"b".into(), &8.into())
    );
    assert_eq!(world.statuses(&mut user, &["POST /pay", "GET /order"]), [409, 404]);
    let lines = ["POST /cart sku=3&count=2", "POST /cart {\"sku\":\"/items/4\"}", "GET /cart"];
    assert_eq!(world.statuses(&mut user, &lines), [200; 3]);
    let paid = world.ask(&mut user, "POST /pay?looks=2");
    assert_eq!(
        (paid.status, &json(&paid)["state"], json(&paid)["total"].as_f64()),
        (202, &"pending".into(), Some(197.90))
    );
    let states: Vec<_> = (0..4).map(|_| json(&world.ask(&mut user, "GET /order"))["state"].clone()).collect();
    assert_eq!(states, ["pending", "paid", "paid", "paid"]);
    assert_eq!(json(&world.ask(&mut user, "GET /cart"))["items"], serde_json::json!([]));
    let left = world.ask(&mut user, "POST /logout");
    assert_eq!((left.status, left.kind.location, &user.cookie), (302, Some("/login"), &None));
    assert_eq!(world.ask(&mut user, "GET /account").status, 401);
    assert_eq!(world.count(|seen| seen.is_mixed), 0);
}

/// A value of one user together with one of another is detected, and changes nothing.
#[test]
fn users_that_are_mixed_up_are_found_out() {
    let mut world = World::new();
    let (mut ann, mut bob) = (world.logged_in("ann"), world.logged_in("bob"));
    assert_eq!(world.statuses(&mut ann, &["POST /api/token user=ann"]), [201]);
    assert_eq!(world.statuses(&mut bob, &["POST /api/token user=bob"]), [201]);
    let (of_ann, of_bob) = (format!("GET /api/sessions/{}", ann.session), format!("GET /api/sessions/{}", bob.session));
    assert_eq!(world.statuses(&mut ann, &[&of_ann, "GET /account?user=ann", "GET /account"]), [200; 3]);
    assert_eq!(world.count(|seen| seen.is_mixed || seen.is_unknown), 0);

    let token_of = |user: &User| User { token: user.token.clone(), ..User::default() };
    let mut both = User { cookie: ann.cookie.clone(), token: bob.token.clone(), ..User::default() };
    let mut found = 0;
    let pages =
        ["GET /account", "GET /cart", "POST /cart sku=1", "POST /pay", "GET /order", "GET /items/7", "POST /logout"];
    assert_eq!(world.statuses(&mut both, &pages), [403; 7]);
    assert_eq!(world.statuses(&mut both, &["GET /login", "POST /api/token user=x", &of_ann, &of_bob]), [403; 4]);
    found += 11;
    assert_eq!(world.count(|seen| seen.is_mixed), found);
    assert_eq!(world.statuses(&mut token_of(&ann), &[&of_ann, &of_bob]), [200, 403]);
    assert_eq!(world.statuses(&mut ann, &["GET /account?user=bob", &of_bob]), [403; 2]);
    // The form of one user, sent by the other.
    world.statuses(&mut ann, &["GET /login"]);
    let (cookie, form) = (bob.cookie.clone(), format!("POST /login user=bob&csrf={}", ann.csrf));
    assert_eq!(world.statuses(&mut bob, &[&form]), [403]);
    found += 4;
    assert_eq!(world.count(|seen| seen.is_mixed), found);
    assert_eq!(bob.cookie, cookie, "nothing has changed");
    assert_eq!(json(&world.ask(&mut bob, "GET /account"))["user"], "bob");
    assert_eq!(json(&world.ask(&mut ann, "GET /cart"))["items"], serde_json::json!([]));
    assert_eq!(world.count(|seen| seen.is_unknown), 0, "all of them are known");
}

#[test]
fn what_is_none_of_ours_is_unknown() {
    let mut world = World::new();
    let ann = world.logged_in("ann");
    let cookie = ann.cookie.clone().expect("a cookie");
    let guess = |at: usize| {
        let mut bytes = cookie.clone().into_bytes();
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        String::from_utf8(bytes).expect("digits")
    };
    let strange = [guess(0), guess(15), guess(16), guess(31), "x".to_owned(), String::new(), format!("{cookie}0")];
    for (count, cookie) in strange.iter().enumerate() {
        let mut user = User { cookie: Some(cookie.clone()), ..User::default() };
        assert_eq!(world.ask(&mut user, "GET /account").status, 401, "{cookie}");
        assert_eq!(world.count(|seen| seen.is_unknown), 2 * count + 1);
        let mut user = User { token: Some(cookie.clone()), cookie: ann.cookie.clone(), ..User::default() };
        assert_eq!(world.ask(&mut user, "GET /account").status, 401, "{cookie}");
        assert_eq!(world.count(|seen| seen.is_unknown), 2 * count + 2);
    }
    let mut late = User { cookie: Some(guess(20)), ..User::default() };
    assert_eq!(
        world.statuses(&mut late, &["GET /items/1", "GET /login"]),
        [200, 200],
        "who lost a session begins anew"
    );
    assert_ne!(late.cookie, Some(guess(20)));
    assert_eq!(world.count(|seen| seen.is_mixed), 0);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut world = World::new();
    let mut ann = world.logged_in("ann");
    assert_eq!(world.ask(&mut ann, "POST /cart sku=1").status, 200);
    let cases = [
        ("POST /items/1", 405),
        ("DELETE /login", 405),
        ("GET /pay", 405),
        ("GET /api/token", 405),
        ("PUT /cart sku=1", 405),
        ("POST /stats/sessions", 405),
        ("HEAD /cart", 200),
        ("GET /items/0", 404),
        ("GET /items/1000001", 404),
        ("GET /items?page=0", 400),
        ("GET /items?page=50001", 400),
        ("GET /items?page=50000", 200),
        ("GET /search", 400),
        ("POST /cart sku=0", 400),
        ("POST /cart count=1", 400),
        ("POST /cart sku=1&count=0", 400),
        ("POST /cart sku=1&count=1001", 400),
        ("POST /cart sku=1&count=1000", 409),
        ("POST /cart {\"sku\":", 400),
        ("POST /cart {\"sku\":[1]}", 400),
        ("POST /pay looks=0", 400),
        ("POST /pay looks=1001", 400),
        ("POST /login user=ann", 400),
        ("POST /login csrf=1", 400),
        ("POST /login csrf=1&user=ann", 403),
        ("POST /api/token", 400),
        ("POST /api/token {\"user\":\"\"}", 400),
    ];
    for (line, status) in cases {
        assert_eq!(world.ask(&mut ann, line).status, status, "{line}");
    }
    let long = |bytes| format!("POST /api/token user={}", "x".repeat(bytes));
    let statuses = [USER_BYTES_MAX, USER_BYTES_MAX + 1].map(|bytes| world.ask(&mut ann, &long(bytes)).status);
    assert_eq!(statuses, [201, 400]);
    let refused = world.ask(&mut ann, "PATCH /cart");
    assert_eq!(refused.kind.more.expect("a field").1, "GET, HEAD, POST, DELETE");
    let requested = ShopRequest::read("POST", "/cart", std::iter::empty());
    let mut shop = Shop { is_secure: true, ..world.shop(CountedPath::default()) };
    assert_eq!(response(ShopPage::Cart, &requested, None, &mut shop).status, 413);
    let login =
        response(ShopPage::Login, &ShopRequest::read("GET", "/login", std::iter::empty()), Some(b""), &mut shop);
    assert!(login.kind.more.expect("a cookie").1.ends_with("; Secure"), "over TLS only");
}

#[test]
fn pages_lead_to_each_other() {
    let (mut world, mut nobody) = (World::new(), User::default());
    let item = world.ask(&mut nobody, "GET /items/7");
    let (text, json) = (text(&item).to_owned(), json(&item));
    assert_eq!((&json["sku"], &json["next"], &json["stock"]), (&7.into(), &"/items/8".into(), &8.into()), "{text}");
    // 100 + 7 * 7919 % 19900.
    assert_eq!(json["price"].as_f64(), Some(157.33), "{text}");
    assert_eq!(item.kind.more.expect("a tag"), ("ETag", "\"7-1\"".into()));
    let links = |html: &str| html.matches("class=\"item\" href=\"/items/").count();
    let [first, last] =
        ["GET /items", "GET /items?page=50000"].map(|line| self::text(&world.ask(&mut nobody, line)).to_owned());
    assert_eq!((links(&first), links(&last)), (20, 20));
    assert!(first.contains("href=\"/items/1\">") && first.contains("rel=\"next\" href=\"/items?page=2\""), "{first}");
    assert!(last.contains("href=\"/items/1000000\">") && last.contains("href=\"/items?page=1\""), "{last}");
    let found = world.ask(&mut nobody, "GET /search?q=%E8%8C%B6%22");
    let again = world.ask(&mut nobody, "GET /search?q=%E8%8C%B6%22");
    assert_eq!(found, again, "the same text finds the same");
    let found = self::json(&found);
    assert_eq!((&found["q"], found["items"].as_array().map(Vec::len)), (&"茶\"".into(), Some(5)));
    for path in found["items"].as_array().expect("paths") {
        let line = format!("GET {}", path.as_str().expect("a path"));
        assert_eq!(world.ask(&mut nobody, &line).status, 200, "{line}");
    }
    assert_eq!(world.seen.iter().filter(|seen| **seen != Seen::default()).count(), 0, "no session began");
}

#[test]
fn sessions_are_reported_one_by_one() {
    let mut world = World::new();
    for number in 0..LISTED_MAX + 5 {
        let mut user = User::default();
        let line = format!("POST /api/token user=u{number}");
        assert_eq!(world.statuses(&mut user, &[&line, "GET /account"]), [201, 200]);
    }
    let reported = json(&world.ask(&mut User::default(), "GET /stats/sessions"));
    let all = reported["sessions"].as_array().expect("a list");
    assert_eq!((all.len(), &reported["left_off"]), (LISTED_MAX, &5.into()));
    assert!(all.iter().all(|session| session["requests"] == 2));
    let users: std::collections::HashSet<&str> = all.iter().filter_map(|session| session["user"].as_str()).collect();
    assert_eq!(users.len(), LISTED_MAX);
}
