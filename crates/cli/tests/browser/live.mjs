// Starts, changes, pauses, resumes and stops a load from its page, with a second page beside it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resize, fits, isReadable, sees, within } from "./tester.mjs";

const WANTED = ["steps.csv", "failures.csv", "intervals.csv", "report.json", "report.html"];
const BUTTONS = ["Steps (CSV)", "Failures (CSV)", "Intervals (CSV)", "Report (JSON)", "Report (HTML)"];
// The tiles of the page, by their place.
const RATE = 1;
const TOTAL = 4;

// Waits for a state of the run; what the page shows instead is in the error.
const until = async (page, wanted) => {
  try {
    await sees(page, (wanted) => document.querySelector("#state")?.textContent.startsWith(wanted), wanted);
  } catch (error) {
    const shown = await page.evaluate(() => ["#state", "#trouble"].map((part) => document.querySelector(part)?.textContent).join(" | "));
    throw new Error(`waited for "${wanted}" and saw "${shown}"`, { cause: error });
  }
};
const fill = (page, selector, text) => page.$eval(selector, (input, text) => { input.value = text; }, text);
const send = (page, selector) => page.$eval(selector, (form) => form.requestSubmit());
const trouble = (page) => page.$eval("#trouble", (box) => (box.hidden ? "" : box.textContent));
const isTold = (page, text) => sees(page, (text) => document.querySelector("#trouble").textContent.includes(text), text);
const press = (page, name) => page.evaluate((name) => {
  const found = [...document.querySelectorAll("button")].find((one) => one.textContent === name && !one.disabled);
  if (!found) throw new Error(`no button ${name}`);
  found.click();
}, name);
const tile = (page, place) => page.$eval(`.tiles div:nth-child(${place}) dd`, (tile) => tile.firstChild.textContent);
const total = async (page) => Number((await tile(page, TOTAL)).replaceAll(",", ""));

// Waits until a tile shows this.
const shows = (page, place, wanted) => sees(page, (place, wanted) => {
  return document.querySelector(`.tiles div:nth-child(${place}) dd`)?.firstChild.textContent === wanted;
}, place, wanted);

// Waits until so many more requests are over: the page is told of them interval by interval.
const goesOn = (page, before, more) => sees(page, (place, least) => {
  const shown = document.querySelector(`.tiles div:nth-child(${place}) dd`)?.firstChild.textContent;
  return Number(shown?.replaceAll(",", "")) >= least;
}, TOTAL, before + more);

// Counts the answers that the page has read, where the tester can see it. When the count is seen, all that an answer
// leads to is done.
const countsAnswers = (page) => page.evaluateOnNewDocument(() => {
  const { json } = Response.prototype;
  Response.prototype.json = async function read() {
    const value = await json.call(this);
    const { dataset } = document.documentElement;
    if (this.url.endsWith("/api/run/changes")) dataset.answers = Number(dataset.answers || 0) + 1;
    return value;
  };
});

// Holds the answer to a change back until what is given is called; then the page has read it.
async function holdsBack(page) {
  const session = await page.createCDPSession();
  const held = new Promise((come) => session.once("Fetch.requestPaused", come));
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*/api/run/changes", requestStage: "Response" }] });
  return async () => {
    const { requestId } = await within("the answer to a change", held);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.answers), undefined, "nothing is read yet");
    await session.send("Fetch.continueRequest", { requestId });
    await sees(page, () => document.documentElement.dataset.answers === "1");
    await session.send("Fetch.disable");
    await session.detach();
  };
}

// What the target has counted.
async function counted(target) {
  const stats = await (await fetch(new URL("/stats", target))).json();
  return stats.requests_by_path["/"] || 0;
}

// Waits for so many intervals more that a page is told of.
async function intervals({ host, link }, count) {
  const authorization = `Bearer ${new URLSearchParams(new URL(link).hash.slice(1)).get("token")}`;
  const answer = await fetch(`http://${host}/api/events`, { headers: { authorization } });
  let told = "";
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    told += part;
    if (told.split("event: interval\n").length > count) return;
  }
  assert.fail(`the stream ends:\n${told}`);
}

// Starts that a schedule of rates asks for: instants, and the rate from each on.
function starts(rates, until) {
  const ends = [...rates.slice(1).map(([at]) => at), until];
  return rates.reduce((sum, [from, rate], place) => sum + Math.max(0, Math.min(ends[place], until) - from) * rate, 0);
}

export async function live(tester, { paged, target }) {
  const { link } = paged;
  const second = await tester.open(link);
  const page = await tester.open(link, countsAnswers);
  await until(page, "nothing runs");
  assert.ok(!(await page.evaluate(() => location.href)).includes("token"), "the token stays in the address");
  await isReadable(page, "before a run");
  await start(page, second, target);
  await change(page, second);
  await pause(page, second, { paged, target });
  await translate(page, second);

  await press(page, "Stop");
  await until(page, "over");
  await until(second, "已结束");
  await sees(page, () => !document.querySelector("#verdict").hidden);
  await isReadable(page, "at the end");
  await download(tester, page);
  await adds(tester, page, target);
  // A refusal is a complaint of the browser, and meant.
  tester.complaints = tester.complaints.filter((text) => !/the server responded with a status of (400|409|422)/.test(text));
}

async function start(page, second, target) {
  // A host that is public wants consent, and says so.
  await fill(page, "#url-form [name=url]", "http://93.184.216.34/");
  await fill(page, "#url-form [name=rate]", "5/s");
  await fill(page, "#url-form [name=duration]", "1s");
  await send(page, "#url-form");
  await isTold(page, "--allow-host");

  await fill(page, "#url-form [name=url]", target);
  await fill(page, "#url-form [name=rate]", "500/s");
  await fill(page, "#url-form [name=duration]", "1h");
  await send(page, "#url-form");
  for (const one of [page, second]) {
    await until(one, "running");
    await sees(one, () => document.querySelector(".chart-panel canvas"));
  }
  assert.equal(await trouble(page), "");
}

async function change(page, second) {
  const release = await holdsBack(page);
  await fill(page, "#control [name=to]", "2000/s");
  await send(page, "#control form");
  await sees(second, () => document.querySelector("[data-scenario]")?.textContent.includes("2,000/s"));
  // The answer comes late; what is typed in meanwhile stays.
  await fill(page, "#control [name=to]", "soon");
  await release();
  assert.equal(await page.$eval("#control [name=to]", (input) => input.value), "soon");
  await send(page, "#control form");
  await isTold(page, "soon");
  await goesOn(page, await total(page), 1000);
}

async function pause(page, second, { paged, target }) {
  await press(second, "Pause");
  await until(page, "paused");
  // What was in flight has ended before an interval in which nothing ends.
  await shows(page, RATE, "0");
  const before = await counted(target);
  await within("two intervals of the pause", intervals(paged, 2));
  assert.equal(await counted(target), before, "something was started in a pause");
  await press(page, "Resume");
  await until(second, "running");
  await goesOn(page, await total(page), 1000);
  await fill(page, "#control [name=text]", "a mark of ours");
  await press(page, "Add a mark");
  await sees(page, () => document.querySelector("#tables").textContent.includes("a mark of ours"));
  await isReadable(page, "while it runs");
}

// The second page, in the other language and on a phone.
async function translate(page, second) {
  await press(second, "中文");
  await until(second, "运行中");
  await press(second, "主题：跟随系统");
  assert.equal(await second.evaluate(() => document.documentElement.dataset.theme), "light");
  await press(second, "主题：浅色");
  assert.equal(await second.evaluate(() => document.documentElement.dataset.theme), "dark");
  await isReadable(second, "in Chinese, dark");
  await fits(second, "in Chinese", [390]);
  if (process.env.PICTURES) {
    await second.screenshot({ path: `${process.env.PICTURES}/live.zh.png` });
    await page.screenshot({ path: `${process.env.PICTURES}/live.png` });
  }
  await resize(second, 1280);
}

// Everything that the page offers is there when it is over.
async function download(tester, page) {
  const session = await tester.browser.target().createCDPSession();
  const { id: browserContextId } = tester.context;
  const wanted = { behavior: "allow", browserContextId, downloadPath: tester.out, eventsEnabled: true };
  await session.send("Browser.setDownloadBehavior", wanted);
  for (const [place, name] of BUTTONS.entries()) {
    const begun = new Promise((come) => session.once("Browser.downloadWillBegin", come));
    const done = new Promise((come) => {
      session.on("Browser.downloadProgress", ({ state }) => state === "completed" && come());
    });
    await press(page, name);
    assert.equal((await within(name, begun)).suggestedFilename, WANTED[place]);
    await within(`the whole of ${name}`, done);
    session.removeAllListeners("Browser.downloadProgress");
  }
  await session.detach();
}

// What the target has counted is what the report and the page say, and it is no more than was asked for.
async function adds(tester, page, target) {
  const report = JSON.parse(readFileSync(tester.place("report.json"), "utf8"));
  const { started, succeeded } = report.requests;
  assert.equal(await counted(target), started);
  assert.equal(await total(page), started);
  const changes = report.changes.map(({ change, to, at_s }) => ({ change, to, at_s }));
  assert.deepEqual(changes.map((one) => one.change), ["rate", "pause", "resume"]);
  // Until the last answer; `changes_hold_to_the_start` has the exact sum of a load that is ended by its plan.
  const at = changes.map((one) => one.at_s);
  const most = starts([[0, 500], [at[0], 2000], [at[1], 0], [at[2], 2000]], report.wall_s);
  assert.ok(started <= most + 1, `${started} of ${most}`);
  assert.ok(readFileSync(tester.place("steps.csv"), "utf8").includes(String(succeeded)));
  assert.ok(readFileSync(tester.place("report.html"), "utf8").includes("<!doctype html>"));
}
