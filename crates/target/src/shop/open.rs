//! Pages that need no session.

use std::sync::Arc;

use super::cart::{Item, Price};
use super::files::StoredFile;
use super::limited::{PER_S_MAX, PER_S_USUAL};
use super::multipart;
use super::pages::{self, ItemsPage, ShopPage};
use super::reply::{JSON, LOST, Reply, TEXT, bad, html, json, number, refusal, refused, unchanged, unknown};
use super::requested::{BodyForm, FormFields, ShopRequest};
use super::{Shop, Who, graphql, tokens, unread};
use crate::respond::Kind;

/// The response of a page to a client with a session or without.
pub(super) fn response(page: ShopPage, requested: &ShopRequest, body: &[u8], who: &Who, shop: &mut Shop<'_>) -> Reply {
    match page {
        ShopPage::Item(number) => item(number, requested),
        ShopPage::Search => {
            let Some(text) = requested.query("q") else { return bad("ask like /search?q=tea") };
            json(200, pages::found(&text))
        }
        ShopPage::Limited => limited(requested, who, shop),
        ShopPage::OAuthToken => match FormFields::read(requested.form, body) {
            Ok(said) => tokens::give_to_client(requested, &said, shop),
            Err(why) => unread(why),
        },
        ShopPage::GraphQl if requested.form != BodyForm::Json => {
            refusal(415, "a JSON object is read here, by its Content-Type")
        }
        ShopPage::GraphQl => graphql::response(body, &shop.state.queries),
        ShopPage::Files => upload(requested, body, shop),
        ShopPage::File(number) => download(number, requested, shop),
        _ => items(page, requested),
    }
}

fn item(number: u32, requested: &ShopRequest) -> Reply {
    let Some(item) = Item::new(number) else { return refusal(404, "there is no such item") };
    let kind = Kind::new(JSON).with("ETag", item.tag());
    if requested.has(&item.tag()) {
        return unchanged(kind);
    }
    let (price, stock, next) = (Price(item.cents()), item.stock(), item.next());
    let body = format!(
        "{{\"sku\":{item},\"name\":\"item {item}\",\"price\":{price},\"stock\":{stock},\"next\":\"/items/{next}\"}}\n"
    );
    Reply { status: 200, kind, body: body.into_bytes() }
}

fn items(page: ShopPage, requested: &ShopRequest) -> Reply {
    let page_number = requested.query("page").map_or(Some(1), |text| number(&text, pages::COUNT));
    let last = requested.query("last").map(|text| number(&text, pages::COUNT));
    match (page_number, last) {
        (None, _) => bad("page is from 1 to 50000"),
        (_, Some(None)) => bad("last is from 1 to 50000"),
        (Some(number), last) => {
            let items = ItemsPage { page: number, last: last.flatten() };
            if page == ShopPage::ItemsJson { json(200, items.to_json()) } else { html(items.to_html()) }
        }
    }
}

/// A page with a limit: that of the session, or the common one of all clients without a session.
fn limited(requested: &ShopRequest, who: &Who, shop: &Shop<'_>) -> Reply {
    let per_s = requested.query("per_s").map_or(Some(PER_S_USUAL), |text| number(&text, PER_S_MAX));
    let Some(per_s) = per_s else { return bad("per_s is from 1 to 1000000") };
    let admitted = match who {
        Who::Known(id) => shop.state.sessions.visit(*id, |session| session.limit.admit(per_s, shop.now)),
        _ => Some(shop.state.limit.lock().expect("no holder of the lock panics").admit(per_s, shop.now)),
    };
    match admitted {
        Some(Ok(())) => Reply { status: 200, kind: Kind::new(TEXT), body: b"within the limit\n".to_vec() },
        Some(Err(over)) => {
            let retry_after = over.retry_after(shop.unix_start + shop.now.as_duration());
            refused(429, Kind::new(TEXT).with("Retry-After", retry_after), "over the limit")
        }
        None => unknown(LOST),
    }
}

/// Stores the file of a form with files, or the body itself.
fn upload(requested: &ShopRequest, body: &[u8], shop: &Shop<'_>) -> Reply {
    let content = match &requested.boundary {
        Some(boundary) => multipart::file(boundary, body),
        None => Some(body),
    };
    let Some(content) = content else { return bad("the form has no file, or is broken off") };
    let file = Arc::new(StoredFile::new(content));
    let id = shop.state.files.lock().expect("no holder of the lock panics").store(file.clone());
    json(201, format!("{{\"id\":{id},\"bytes\":{},\"sha256\":\"{}\"}}\n", file.bytes.len(), file.sha256))
}

fn download(number: u64, requested: &ShopRequest, shop: &Shop<'_>) -> Reply {
    let file = shop.state.files.lock().expect("no holder of the lock panics").find(number);
    let Some(file) = file else { return refusal(404, "there is no such file, or no longer") };
    let kind = Kind::new("application/octet-stream").with("ETag", file.tag());
    if requested.has(&file.tag()) {
        return unchanged(kind);
    }
    Reply { status: 200, kind, body: file.bytes.to_vec() }
}
