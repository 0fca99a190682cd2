// The live page: what runs, and what can be done with it.
import { mount } from "./charts.js";
import { Api, Refused, addPoint, takeToken } from "./live.js";
import { Search } from "./search.js";
import { clock, count, element, rate, size, tables, time, timeOf } from "./tables.js";
import { WORDS } from "./words.js";

const $ = (id) => document.getElementById(id);
const api = new Api(takeToken());
const page = document.documentElement;
const THEMES = ["auto", "light", "dark"];

// The language of onrush, until the reader chooses the other one.
let language = localStorage.getItem("language") || (page.lang.startsWith("zh") ? "zh" : "en");
let theme = localStorage.getItem("theme") || "auto";
let words = WORDS[language];
let run = null;
const search = new Search(api, $("search"));
let charts = null;
let drawn = null;
let unknown = new Set();
let met = new Map();
let loading = null;
let hasEnded = false;
let lastStart = null;
let shownControl = "";
const kept = new Map();

// ---- What is heard

async function loadAll() {
  const [next, chartData] = [await api.get("/api/run"), await loadCharts()];
  if (run && run.run !== next.run) met = new Map();
  run = next;
  charts = chartData;
  unknown = new Set();
  if (run.whole) await search.refresh(language);
  show();
}

async function loadCharts() {
  try {
    return await api.get(`/api/run/charts?lang=${language}`);
  } catch (error) {
    if (error instanceof Refused && error.status === 409) return null;
    throw error;
  }
}

// One reading at a time; a request during it gets the next one.
function reload() {
  if (loading) {
    loading.again = true;
    return;
  }
  loading = { again: false };
  loadAll().catch(tell).finally(() => {
    const { again } = loading;
    loading = null;
    if (again) reload();
  });
}

function hear(kind, data) {
  if (kind === "server_closing") {
    hasEnded = true;
    // What is wanted of it is here first; then nobody waits for this page.
    keeping.finally(() => stream?.abort());
    return;
  }
  if (kind === "search") {
    keeping = Promise.allSettled([keeping, search.refresh(language)]);
    return;
  }
  if (kind === "reload" || kind === "over" || !run || data.run !== run.run) {
    if (kind === "over") keeping = keepFiles(data.is_server_closing);
    reload();
    return;
  }
  const { point, event, ...news } = data;
  // What is being read may be older than this.
  if (loading && (event || news.state !== run.state)) loading.again = true;
  Object.assign(run, news);
  if (event) run.events = [...run.events.slice(-499), event];
  if (run.plan?.kind === "hold") reloadSlowly();
  else if (point && !addPoint(charts, point, unknown)) refreshCharts(point);
  show();
}

// Series that are not among those that are drawn are asked for once.
let refreshing = false;
async function refreshCharts(point) {
  if (refreshing) return;
  refreshing = true;
  try {
    charts = await loadCharts();
    for (const chart of point.charts || []) {
      const known = charts?.charts?.find((one) => one.id === chart.id);
      if (!known) unknown.add(chart.id);
      for (const line of chart.series) {
        if (known && !known.series.some((one) => one.key === line.key)) unknown.add(`${chart.id} ${line.key}`);
      }
    }
    show();
  } catch (error) {
    tell(error);
  } finally {
    refreshing = false;
  }
}

// The stream was lost, and that is what is told.
let isBroken = false;
let slowTimer = 0;
function reloadSlowly() {
  slowTimer ||= setTimeout(async () => {
    slowTimer = 0;
    charts = await loadCharts().catch(() => charts);
    show();
  }, 500);
}

let keeping = Promise.resolve();
// A program that ends takes its report with it, so the page has it before.
async function keepFiles(isServerClosing) {
  if (!isServerClosing) return;
  for (const [name, path] of files()) {
    try {
      kept.set(name, await (await api.fetch(path)).blob());
    } catch {
      // What is not there is not offered.
    }
  }
}

let stream = null;
async function listen() {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    const controller = new AbortController();
    stream = controller;
    try {
      await api.listen((kind, data) => {
        wait = 500;
        if (isBroken) tell(null);
        isBroken = false;
        hear(kind, data);
      }, controller.signal);
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return askForToken();
      if (!hasEnded) tell(error);
    }
    controller.abort();
    if (hasEnded) {
      run &&= { ...run, isGone: true };
      show();
      return undefined;
    }
    isBroken = true;
    tell(new Error(words.broken));
    await new Promise((wake) => setTimeout(wake, wait));
  }
}

// ---- What is shown

function tell(error) {
  const box = $("trouble");
  const zh = error instanceof Refused && language === "zh" && error.body.text_zh;
  box.textContent = error ? zh || error.message : "";
  box.hidden = !error;
}

function askForToken() {
  const input = element("input", { type: "password", class: "long", "aria-label": words.no_token, autocomplete: "off" });
  const form = element("form", { class: "row" }, element("label", {}, words.no_token, input),
    element("button", { type: "submit", class: "strong" }, words.open));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("token", input.value.trim());
    location.reload();
  });
  $("control").replaceChildren(form);
}

function show() {
  page.lang = language === "zh" ? "zh-CN" : "en";
  $("language").textContent = words.language;
  $("theme").textContent = words[`theme_${theme}`];
  if (theme === "auto") delete page.dataset.theme;
  else page.dataset.theme = theme;
  if (!run) return;
  const { plan } = run;
  $("title").textContent = plan?.target || "onrush";
  document.title = `${words[run.state]} - ${plan?.target || "onrush"}`;
  const text = plan ? (plan.scenarios.length ? plan.scenarios : [plan]).map((one) => (language === "zh" ? one.text_zh : one.text)).join("; ") : "";
  $("state").textContent = [run.isGone ? words.lost : words[run.state], text].filter(Boolean).join(" · ");
  showVerdict();
  showTiles();
  showControl();
  showStart();
  showCharts();
  for (const one of run.live?.failures || []) met.set(one.reason, one);
  showTables();
  showDownloads();
}

// Tables are made anew; where one was scrolled to stays, and what had the focus has it.
function showTables() {
  const root = $("tables");
  const label = (box) => box.getAttribute("aria-label");
  const before = new Map([...root.children].map((box) => [label(box), box]));
  const focused = [...root.children].find((box) => box === document.activeElement);
  // The charts have the names of failures in the language of the page.
  const lines = charts?.charts?.find((one) => one.id === "failures")?.series || [];
  const names = new Map(lines.map((line) => [line.key, line.name]));
  const made = tables({ ...run, met, names }, words, language);
  const places = made.map((box) => before.get(label(box))).map((box) => [box?.scrollLeft || 0, box?.scrollTop || 0]);
  root.replaceChildren(...made);
  made.forEach((box, index) => {
    [box.scrollLeft, box.scrollTop] = places[index];
    if (focused && label(box) === label(focused)) box.focus({ preventScroll: true });
  });
}

function showVerdict() {
  const box = $("verdict");
  const verdict = run.report?.verdict;
  box.hidden = !verdict;
  if (box.hidden) return;
  box.className = `verdict ${verdict.tone || "unsure"}`;
  const title = language === "zh" ? verdict.title_zh : verdict.title;
  const text = language === "zh" ? verdict.text_zh : verdict.text;
  box.replaceChildren(element("h2", {}, title), element("p", {}, text || ""));
}

function tile(name, value, small = "") {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value, element("small", {}, small)));
}

function showTiles() {
  const { live, report } = run;
  const made = [];
  if (live?.hold) {
    const row = live.hold;
    made.push(tile(words.connections, count(row.open), `${count(row.connecting)} …`), tile(words.lost_connections, count(row.lost)),
      tile(words.p99, time(row.response_time?.p99_ns)), tile(words.elapsed, clock(run.now_s)));
  } else if (live?.now) {
    const { now, total } = live;
    const times = report?.response_time || now.response_time;
    const requests = report?.requests || total;
    made.push(
      tile(words.rate, rate(report ? report.requests_per_s : now.requests_per_s), asked()),
      tile(words.p99, timeOf(times, "p99_ns", words), `p50 ${timeOf(times, "p50_ns", words)}`),
      tile(words.failures, count(requests.failed), report ? "" : `${rate(now.failed_per_s)} /s`),
      tile(words.total, count(total.finished), `${size(total.bytes_received)}`),
      tile(words.users, count(now.users), `${count(now.in_flight)} ${words.in_flight}`),
      tile(words.elapsed, clock(report ? report.wall_s : run.now_s), `${words.lateness} ${time(now.lateness_p99_ns)}`),
    );
  }
  $("tiles").replaceChildren(...made);
}

function asked() {
  const rates = run.scenarios.filter((one) => one.kind === "rate");
  if (run.report) return run.report.requested_per_s ? `/ ${rate(run.report.requested_per_s)}` : "";
  return rates.length ? `/ ${rate(rates.reduce((all, one) => all + (one.is_paused ? 0 : one.now), 0))}` : "";
}

function showCharts() {
  const root = $("charts");
  if (!charts) {
    drawn?.destroy();
    drawn = null;
    return;
  }
  drawn ||= mount(root, charts, chartWords);
  drawn.update(charts);
}

let chartWords = {};
async function loadChartWords() {
  chartWords = language === "zh" ? await (await fetch("/words.zh.json")).json() : {};
}

// ---- What is done

function button(name, act, kind = "") {
  const made = element("button", { type: "button", ...(kind && { class: kind }) }, name);
  made.addEventListener("click", () => act().catch(failed));
  return made;
}

function failed(error) {
  tell(error);
  // Somebody else was first: what it is now is shown, and what was said stays.
  if (error instanceof Refused && error.status === 409) reload();
}

async function change(what) {
  tell(null);
  const { revision } = await api.post("/api/run/changes", { revision: run.revision, ...what });
  run.revision = Math.max(run.revision, revision);
}

function field(name, attributes = {}) {
  return element("input", { name, autocomplete: "off", spellcheck: "false", ...attributes });
}

// Empties what was sent; what somebody has typed in since then stays.
function emptied(...inputs) {
  const sent = inputs.map((input) => input.value);
  return () => inputs.forEach((input, place) => {
    if (input.value === sent[place]) input.value = "";
  });
}

function showControl() {
  const box = $("control");
  const goesOn = ["running", "paused", "warming_up", "stopping"].includes(run.state) && !run.isGone;
  // What somebody types in stays.
  const now = JSON.stringify([language, goesOn, run.state, run.run, run.scenarios.map((one) => [one.name, one.kind, one.is_paused])]);
  box.hidden = !goesOn;
  if (now !== shownControl) makeControl(box);
  shownControl = now;
  for (const one of run.scenarios) {
    const shown = box.querySelector(`[data-scenario="${CSS.escape(one.name)}"]`);
    shown.textContent = `${words.now} ${rate(one.now)}${one.kind === "rate" ? "/s" : ""}`;
  }
}

function makeControl(box) {
  const rows = run.scenarios.map((one) => changeRow(one));
  const buttons = element("div", { class: "buttons" });
  if (run.plan?.kind === "load") {
    // One that is paused in its warm-up pauses when that is over.
    buttons.append(run.scenarios.every((one) => one.is_paused) ? button(words.resume, () => change({ change: "resume" }), "strong")
      : button(words.pause, () => change({ change: "pause" })));
  }
  buttons.append(button(words.stop, () => api.post("/api/run/stop", {}), "stop"),
    button(words.at_once, () => api.post("/api/run/stop", { at_once: true }), "stop"), markForm());
  box.replaceChildren(...rows, buttons);
}

function changeRow(one) {
  const isRate = one.kind === "rate";
  const to = field("to", { class: "short", required: "", placeholder: isRate ? "2000/s" : "200" });
  const over = field("over", { class: "short", placeholder: "10s" });
  const name = isRate ? words.new_rate : words.new_users;
  const form = element("form", { class: "row" },
    element("label", {}, run.scenarios.length > 1 ? `${one.name}: ${name}` : name, to),
    element("label", {}, words.over_time, over),
    element("button", { type: "submit", class: "strong" }, words.change),
    element("span", { "data-scenario": one.name }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const what = { change: one.kind, to: to.value.trim(), scenario: one.name };
    if (over.value.trim()) what.over = over.value.trim();
    change(what).then(emptied(to, over), failed);
  });
  return form;
}

function markForm() {
  const text = field("text", { class: "short", required: "", maxlength: "200", placeholder: words.mark_text, "aria-label": words.mark_text });
  const form = element("form", { class: "row" }, text, element("button", { type: "submit" }, words.mark));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    api.post("/api/run/marks", { text: text.value.trim() }).then(emptied(text), failed);
  });
  return form;
}

let shownStart = "";
function showStart() {
  const box = $("start");
  const may = run.can_start && (run.state === "idle" || run.state === "over") && !run.isGone;
  box.hidden = !may;
  const now = JSON.stringify([language, run.files]);
  if (now === shownStart) return;
  shownStart = now;
  box.replaceChildren(element("h2", {}, words.start), urlForm(), ...(run.files.length ? [fileForm()] : []), wordsForm());
  if (lastStart) box.append(button(words.again, () => start(lastStart)));
}

function urlForm() {
  const fields = {
    url: field("url", { class: "long", required: "", placeholder: "http://127.0.0.1:8080/" }),
    rate: field("rate", { class: "short", placeholder: "500/s" }),
    users: field("users", { class: "short", placeholder: "50" }),
    duration: field("duration", { class: "short", placeholder: "1m" }),
    method: field("method", { class: "short", placeholder: "GET" }),
    threshold: field("threshold", { class: "short", placeholder: "p99(response_time) < 100ms" }),
    consent: field("consent", { class: "short" }),
    headers: element("textarea", { name: "headers", rows: "2" }),
    body: element("textarea", { name: "body", rows: "2" }),
  };
  const named = { url: words.url, rate: words.load_rate, users: words.load_users, duration: words.duration, method: words.method,
    threshold: words.threshold, consent: words.consent, headers: words.headers, body: words.body };
  const form = element("form", { class: "row", id: "url-form" },
    ...Object.entries(fields).map(([name, input]) => element("label", {}, named[name], input)),
    element("button", { type: "submit", class: "strong" }, words.start));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const value = (name) => fields[name].value.trim();
    const made = [];
    const add = (flag, name) => value(name) && made.push(`${flag}=${value(name)}`);
    add("--rate", "rate");
    add("--connections", "users");
    add("--duration", "duration");
    add("--method", "method");
    add("--threshold", "threshold");
    value("headers").split("\n").map((line) => line.trim()).filter(Boolean).forEach((line) => made.push(`--header=${line}`));
    if (fields.body.value) made.push(`--data=${fields.body.value}`);
    value("consent").split(/[\s,，]+/).filter(Boolean).forEach((host) => made.push(`--allow-host=${host}`));
    start([...made, value("url")]).catch(failed);
  });
  return form;
}

function fileForm() {
  const select = element("select", { name: "file", "aria-label": words.file }, ...run.files.map((name) => element("option", {}, name)));
  const form = element("form", { class: "row", id: "file-form" }, element("label", {}, words.file, select),
    element("button", { type: "submit", class: "strong" }, words.start));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    start([select.value]).catch(failed);
  });
  return form;
}

function wordsForm() {
  const input = field("words", { class: "long", required: "", placeholder: "-q 500/s -z 1m http://127.0.0.1:8080/" });
  const form = element("form", { class: "row", id: "words-form" }, element("label", {}, words.words, input),
    element("button", { type: "submit", class: "strong" }, words.start));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    start(split(input.value)).catch(failed);
  });
  return form;
}

// As a shell would, with quotes and backslashes.
function split(text) {
  const found = text.match(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g) || [];
  const made = found.map((word) => word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g,
    (_, plain, quoted, escaped) => plain ?? escaped ?? quoted.replace(/\\(.)/g, "$1")));
  return made[0] === "onrush" ? made.slice(1) : made;
}

async function start(made) {
  tell(null);
  await api.post("/api/runs", { words: made, lang: language });
  // The form is made anew, with a button for the same again; after a refusal it keeps what was typed in.
  lastStart = made;
  shownStart = "";
  reload();
}

// ---- Downloads

function files() {
  return [["steps.csv", "/api/run/steps.csv"], ["failures.csv", "/api/run/failures.csv"],
    ["intervals.csv", "/api/run/intervals.csv"], ["report.json", "/api/run/report.json"],
    ["report.html", `/api/run/report.html?lang=${language}`]];
}

function showDownloads() {
  const box = $("downloads");
  const isOver = run.state === "over";
  if (!run.plan) return box.replaceChildren();
  const names = { "steps.csv": words.steps_csv, "failures.csv": words.failures_csv, "intervals.csv": words.intervals_csv,
    "report.json": words.json, "report.html": words.html };
  const now = JSON.stringify([language, isOver, run.isGone, [...kept.keys()]]);
  if (box.dataset.shown === now) return undefined;
  box.dataset.shown = now;
  const made = files().map(([name, path]) => {
    const one = button(names[name], () => download(name, path));
    one.disabled = run.isGone ? !kept.has(name) : name.startsWith("report") && !isOver;
    if (one.disabled) one.title = words.after;
    return one;
  });
  box.replaceChildren(element("h2", {}, words.downloads), element("div", { class: "buttons" }, ...made));
  return undefined;
}

async function download(name, path) {
  const blob = kept.get(name) || await (await api.fetch(path)).blob();
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// ---- Begin

$("language").addEventListener("click", async () => {
  language = language === "zh" ? "en" : "zh";
  localStorage.setItem("language", language);
  words = WORDS[language];
  await loadChartWords();
  drawn?.destroy();
  drawn = null;
  if (hasEnded) show();
  else reload();
});
$("theme").addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  localStorage.setItem("theme", theme);
  show();
});
show();
await loadChartWords();
listen();
