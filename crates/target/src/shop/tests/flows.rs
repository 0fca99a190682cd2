//! What scenarios with state need beyond the shop: tokens with a lifetime, clients with credentials, limits, lists with
//! an end, GraphQL, files, and books.

use super::*;

/// Books as JSON.
fn books(world: &World) -> serde_json::Value {
    let mut json = "{".to_owned();
    world.state.books.push_json(&mut json);
    json.push('}');
    serde_json::from_str(&json).expect("JSON")
}

/// A field of a response.
fn field<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    reply.kind.more.as_ref().filter(|(known, _)| *known == name).map(|(_, value)| &**value)
}

#[test]
fn a_token_holds_for_its_lifetime() {
    let (mut world, mut ann) = (World::new(), User::default());
    let given = world.ask(&mut ann, "POST /api/token?ttl=2 {\"user\":\"ann\"}");
    assert_eq!((given.status, &json(&given)["expires_in"], &json(&given)["user"]), (201, &2.into(), &"ann".into()));
    let mut by_token = User { token: ann.token.clone(), ..User::default() };
    let mut by_cookie = User { cookie: ann.cookie.clone(), ..User::default() };
    let account = "GET /account?user=ann";
    for user in [&mut ann, &mut by_token, &mut by_cookie] {
        assert_eq!(world.ask(user, account).status, 200);
    }
    world.now += Nanos::from_millis(1_999);
    assert_eq!(world.ask(&mut by_token, account).status, 200);
    world.now += Nanos::from_millis(1);
    for user in [&mut ann, &mut by_token] {
        let reply = world.ask(user, account);
        assert_eq!((reply.status, field(&reply, "WWW-Authenticate")), (401, Some("Bearer error=\"invalid_token\"")));
    }
    assert_eq!(world.ask(&mut by_cookie, account).status, 200, "the session goes on");
    assert_eq!(world.count(|seen| seen.is_unknown), 2);
    // The session of the cookie gets another token.
    let again = world.ask(&mut by_cookie, "POST /api/token?ttl=0.5 {\"user\":\"ann\"}");
    assert_eq!((json(&again)["expires_in"].as_f64(), by_cookie.session == ann.session), (Some(0.5), true));
    assert_eq!(world.ask(&mut by_cookie, account).status, 200);
    let bad = ["ttl=0", "ttl=86400.001", "ttl=x", "ttl="].map(|query| format!("POST /api/token?{query} user=ann"));
    assert_eq!(bad.map(|line| world.ask(&mut User::default(), &line).status), [400; 4]);
    let forever = world.ask(&mut User::default(), "POST /api/token user=ann");
    assert_eq!(json(&forever).get("expires_in"), None);
}

#[test]
fn clients_get_tokens_for_their_credentials() {
    let mut world = World::new();
    // client:secret
    let basic = [("Authorization", "Basic Y2xpZW50OnNlY3JldA==")];
    let line = "POST /oauth/token grant_type=client_credentials&scope=orders";
    let given = world.ask_with(&mut User::default(), line, &basic);
    let body = json(&given);
    assert_eq!((given.status, field(&given, "Cache-Control")), (200, Some("no-store")), "{body}");
    let members = ["token_type", "expires_in", "scope"].map(|name| body[name].to_string());
    assert_eq!(members, ["\"Bearer\"", "3600", "\"orders\""]);
    let mut client = User { token: body["access_token"].as_str().map(str::to_owned), ..User::default() };
    assert_eq!(json(&world.ask(&mut client, "GET /account"))["user"], "client");
    let in_form = "POST /oauth/token?ttl=1 client_id=a&client_secret=b&grant_type=client_credentials";
    let given = world.ask(&mut User::default(), in_form);
    assert_eq!((given.status, &json(&given)["expires_in"]), (200, &1.into()));
    let refused = world.ask(&mut User::default(), line);
    assert_eq!((refused.status, field(&refused, "WWW-Authenticate")), (401, Some("Basic realm=\"clients\"")));
    assert_eq!(json(&refused)["error"], "invalid_client");
    for (line, fields, status) in [
        // client: and :secret
        (line, [("Authorization", "Basic Y2xpZW50Og==")], 401),
        (line, [("Authorization", "Basic OnNlY3JldA==")], 401),
        (line, [("Authorization", "Basic ?")], 401),
        ("POST /oauth/token grant_type=password", basic, 400),
        ("POST /oauth/token scope=orders", basic, 400),
        ("POST /oauth/token?ttl=0 grant_type=client_credentials", basic, 400),
        ("POST /oauth/token {", basic, 400),
        ("GET /oauth/token", basic, 405),
    ] {
        assert_eq!(world.ask_with(&mut User::default(), line, &fields).status, status, "{line} {fields:?}");
    }
}

#[test]
fn who_is_over_the_limit_is_given_a_time() {
    let (mut world, mut nobody) = (World::new(), User::default());
    let mut ann = world.logged_in("ann");
    let line = "GET /limited?per_s=2";
    assert_eq!(world.statuses(&mut nobody, &[line; 3]), [200, 200, 429]);
    assert_eq!(world.statuses(&mut User::default(), &[line]), [429], "all clients without a session have one limit");
    let replies = [(); 2].map(|()| world.ask(&mut nobody, line));
    // The clock is 1,000 s after its start, and the next request is admitted 500 ms later.
    let times = [Some("1"), Some("Sun, 06 Nov 1994 08:49:38 GMT")];
    assert_eq!([&replies[0], &replies[1]].map(|reply| field(reply, "Retry-After")), times);
    assert_eq!(world.statuses(&mut ann, &[line; 3]), [200, 200, 429], "a session has its own");
    world.now += Nanos::from_millis(500);
    assert_eq!(world.statuses(&mut nobody, &[line; 2]), [200, 429]);
    assert_eq!(world.statuses(&mut ann, &[line; 2]), [200, 429]);
    world.now += Nanos::from_millis(10_000);
    assert_eq!(world.statuses(&mut nobody, &["GET /limited"; 11])[9..], [200, 429]);
    assert_eq!(world.statuses(&mut nobody, &["GET /limited?per_s=0", "GET /limited?per_s=1000001"]), [400; 2]);
}

#[test]
fn lists_have_an_end() {
    let (mut world, mut nobody) = (World::new(), User::default());
    let pages = [1, 5, 6].map(|page| {
        let html = text(&world.ask(&mut nobody, &format!("GET /items?page={page}&last=5"))).to_owned();
        let list = json(&world.ask(&mut nobody, &format!("GET /api/items?page={page}&last=5")));
        let items = list["items"].as_array().expect("items").clone();
        assert_eq!((html.matches("class=\"item\"").count(), &list["page"]), (items.len(), &page.into()));
        let next = list["next"].as_u64();
        let link = next.map(|next| format!("<a rel=\"next\" href=\"/items?page={next}&amp;last=5\">"));
        assert_eq!(html.contains("rel=\"next\""), link.is_some_and(|link| html.contains(&link)));
        (items.len(), next)
    });
    assert_eq!(pages, [(20, Some(2)), (20, None), (0, None)]);
    let list = json(&world.ask(&mut nobody, "GET /api/items"));
    assert_eq!(list["items"][6], serde_json::json!({"sku": 7, "path": "/items/7", "price": 157.33}));
    assert_eq!(json(&world.ask(&mut nobody, "GET /api/items?page=50000"))["next"], 1);
    let bad = ["GET /items?last=0", "GET /api/items?last=x", "GET /api/items?page=0", "GET /items?page=1&last=50001"];
    assert_eq!(world.statuses(&mut nobody, &bad), [400; 4]);
}

#[test]
fn a_search_knows_the_sum_of_its_prices() {
    let (mut world, mut nobody) = (World::new(), User::default());
    let found = json(&world.ask(&mut nobody, "GET /search?q=lamp"));
    let cents = |value: &serde_json::Value| (value.as_f64().expect("a price") * 100.0).round() as u64;
    let paths = found["items"].as_array().expect("paths").iter().filter_map(serde_json::Value::as_str);
    let prices = paths.map(|path| cents(&json(&world.ask(&mut nobody, &format!("GET {path}")))["price"]));
    assert_eq!(prices.sum::<u64>(), cents(&found["total"]));
}

/// The SHA-256 of [`QUERY`].
fn hash() -> String {
    files::sha256(QUERY.as_bytes())
}

const QUERY: &str = "query Item($id: ID!) { item(id: $id) { name price } }";

#[test]
fn queries_are_persisted() {
    let (mut world, mut nobody) = (World::new(), User::default());
    let persisted = serde_json::json!({"persistedQuery": {"version": 1, "sha256Hash": hash()}});
    let mut ask = |body: serde_json::Value| {
        let reply = world.ask(&mut nobody, &format!("POST /graphql {body}"));
        assert_eq!(reply.status, 200, "{body}");
        json(&reply)
    };
    let by_hash = serde_json::json!({"variables": {"id": 7}, "extensions": persisted});
    let code = |response: &serde_json::Value| response["errors"][0]["extensions"]["code"].clone();
    assert_eq!(code(&ask(by_hash.clone())), "PERSISTED_QUERY_NOT_FOUND");
    let other = serde_json::json!({"query": "{ item(id: 7) { id } }", "extensions": persisted});
    assert_eq!(code(&ask(other)), "PERSISTED_QUERY_HASH_MISMATCH");
    assert_eq!(code(&ask(by_hash.clone())), "PERSISTED_QUERY_NOT_FOUND", "nothing was stored");
    let both = serde_json::json!({"query": QUERY, "variables": {"id": "7"}, "extensions": persisted});
    let expect = serde_json::json!({"data": {"item": {"name": "item 7", "price": 157.33}}});
    assert_eq!([ask(both), ask(by_hash)], [expect.clone(), expect]);
    let by_hand = |id: serde_json::Value| serde_json::json!({"query": QUERY, "variables": {"id": id}});
    assert_eq!(ask(by_hand(0.into())), serde_json::json!({"data": {"item": null}}));
    assert_eq!(code(&ask(by_hand(serde_json::Value::Null))), "BAD_USER_INPUT");
    let others = [serde_json::json!({"query": "{ users { name } }"}), serde_json::json!({})];
    assert!(others.map(&mut ask).iter().all(|response| response["errors"][0]["message"].is_string()));
    let lines = ["POST /graphql query=x", "POST /graphql {", "GET /graphql"];
    assert_eq!(world.statuses(&mut nobody, &lines), [415, 400, 405]);
}

#[test]
fn files_come_back() {
    let (mut world, mut nobody) = (World::new(), User::default());
    let stored = world.ask(&mut nobody, "POST /files abc");
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(stored.status, 201);
    assert_eq!(json(&stored), serde_json::json!({"id": 1, "bytes": 3, "sha256": sha256}));
    let form = [("Content-Type", "multipart/form-data; boundary=x")];
    let body = "--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\n\
        --x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f.jpg\"\r\n\r\n12345\r\n--x--\r\n";
    let stored = world.ask_with(&mut nobody, &format!("POST /files {body}"), &form);
    assert_eq!((stored.status, &json(&stored)["id"], &json(&stored)["bytes"]), (201, &2.into(), &5.into()));
    let cut = world.ask_with(&mut nobody, &format!("POST /files {}", &body[..body.len() - 9]), &form);
    assert_eq!(cut.status, 400);
    let file = world.ask(&mut nobody, "GET /files/1");
    let tag = format!("\"{sha256}\"");
    assert_eq!((file.status, text(&file), field(&file, "ETag")), (200, "abc", Some(tag.as_str())));
    let again = world.ask_with(&mut nobody, "GET /files/1", &[("If-None-Match", &tag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(text(&world.ask(&mut nobody, "GET /files/2")), "12345");
    let others = ["GET /files/3", "GET /files/0", "GET /files", "POST /files/1", "DELETE /files/1"];
    assert_eq!(world.statuses(&mut nobody, &others), [404, 404, 405, 405, 405]);
}

/// Each request of a session stands in the books of the session, and from the login on in those of its user.
#[test]
fn books_agree_to_the_last_request() {
    let mut world = World::new();
    let (mut ann, mut bob) = (world.logged_in("ann"), User::default());
    world.statuses(&mut bob, &["POST /api/token user=bob", "GET /account", "GET /search?q=x", "GET /account?user=ann"]);
    world.statuses(&mut ann, &["GET /account", "GET /account", "POST /api/token user=ann", "POST /logout"]);
    world.statuses(&mut ann, &["GET /account", "GET /search?q=x"]);
    world.statuses(
        &mut User { cookie: bob.cookie.clone(), token: Some("x".to_owned()), ..User::default() },
        &["GET /account"],
    );
    let books = books(&world);
    let of_ann = serde_json::json!({"requests": 5, "paths": {"GET /account": 2, "POST /login": 1, "POST /logout": 1,
        "POST /api/token": 1}});
    let of_bob = serde_json::json!({"requests": 4, "paths": {"GET /account": 2, "GET /search": 1,
        "POST /api/token": 1}});
    assert_eq!(books["users"], serde_json::json!({"ann": of_ann, "bob": of_bob}));
    assert_eq!(books["sessions"][&bob.session], of_bob);
    let by_session = &books["sessions"][&ann.session];
    assert_eq!((&by_session["requests"], &by_session["paths"]["GET /login"]), (&6.into(), &1.into()), "it has ended");
    assert_eq!((&books["users_rest"], &books["sessions_rest"]), (&0.into(), &0.into()));
}
