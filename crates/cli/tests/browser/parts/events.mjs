// What the live page hears of the stream of events, and how it asks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset } from "./asset.mjs";

const { Api, Refused, takeToken } = await asset("web/assets/live.js");
const { Search } = await asset("web/assets/search.js");

const STREAM = 'event: reload\ndata: {}\n\n: a comment\n\nevent: state\ndata: {"text":\ndata: "运行中"}\n\nevent: over\n\nevent: cut\ndata: {';
const HEARD = [["reload", {}], ["state", { text: "运行中" }], ["over", {}]];

// Answers each request with what is given, and keeps what was asked.
function answering(answer) {
  const asked = [];
  globalThis.fetch = async (path, options) => {
    asked.push([path, options]);
    return answer();
  };
  return asked;
}

async function heard(parts) {
  const body = new ReadableStream({
    start(controller) {
      parts.forEach((part) => controller.enqueue(part));
      controller.close();
    },
  });
  answering(() => new Response(body));
  const all = [];
  await new Api("secret").listen((kind, data) => all.push([kind, data]));
  return all;
}

test("a stream is heard however it is cut, and what is not whole is not heard", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    assert.deepEqual(await heard([bytes.slice(0, cut), bytes.slice(cut)]), HEARD, `cut at ${cut}`);
  }
  assert.deepEqual(await heard([...bytes].map((byte) => Uint8Array.of(byte))), HEARD);
});

test("every request has the token, and no redirect takes it elsewhere", async () => {
  const asked = answering(() => Response.json({ revision: 1 }));
  const api = new Api("secret");
  assert.deepEqual(await api.get("/api/run"), { revision: 1 });
  assert.deepEqual(await api.post("/api/run/stop", { at_once: true }), { revision: 1 });
  assert.deepEqual(asked.map(([path]) => path), ["/api/run", "/api/run/stop"]);
  for (const [, options] of asked) {
    assert.equal(options.headers.authorization, "Bearer secret");
    assert.deepEqual([options.redirect, options.cache], ["error", "no-store"]);
  }
  assert.deepEqual([asked[1][1].method, asked[1][1].body], ["POST", '{"at_once":true}']);
});

test("a refusal says what the server says, or its status", async () => {
  for (const [body, message] of [['{"text": "nothing runs"}', "nothing runs"], ["<html>", "HTTP 409"]]) {
    answering(() => new Response(body, { status: 409 }));
    await assert.rejects(new Api("").get("/"), (error) => error instanceof Refused && error.status === 409 && error.message === message);
  }
});

test("the token goes from the address into the tab", () => {
  const kept = new Map();
  globalThis.sessionStorage = { setItem: (name, value) => kept.set(name, value), getItem: (name) => kept.get(name) ?? null };
  const shown = [];
  globalThis.history = { replaceState: (_state, _title, path) => shown.push(path) };
  globalThis.location = { hash: "", pathname: "/" };
  assert.equal(takeToken(), "");
  globalThis.location.hash = "#token=abc";
  assert.equal(takeToken(), "abc");
  globalThis.location.hash = "";
  assert.deepEqual([takeToken(), shown], ["abc", ["/"]]);
});

test("whoever asks for a search while it is read has the next reading", async () => {
  const readings = [];
  const api = {
    fetch: (path) => new Promise((come) => readings.push({ path, give: (text) => come({ text: async () => text }) })),
  };
  const place = { hidden: false, innerHTML: "" };
  const search = new Search(api, place);
  const first = search.refresh("en");
  search.refresh("en");
  search.refresh("zh");
  assert.equal(readings.length, 1, "one at a time");
  readings[0].give("");
  await first;
  assert.deepEqual([place.hidden, readings.length], [true, 2]);
  const next = search.going;
  readings[1].give("<p>");
  await next;
  assert.equal(readings[1].path, "/api/search.html?lang=zh");
  assert.deepEqual([place.hidden, place.innerHTML, readings.length, search.going], [false, "<p>", 2, null]);
});
