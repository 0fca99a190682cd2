// Starts, changes, pauses, resumes and stops a load from the page: node steer.mjs link target out-folder
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const [link, target, out] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
// A machine that is busy elsewhere takes its time.
const PATIENCE = 200_000;
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--lang=en"], timeout: PATIENCE, protocolTimeout: PATIENCE });
const complaints = [];
const origin = new URL(link).origin;

async function open() {
  const page = await browser.newPage();
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`page error: ${error.stack || error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(data|blob|about):/.test(url)) complaints.push(`request: ${url}`);
    if (new URL(url).search.includes("token")) complaints.push(`a token in ${url}`);
  });
  page.setDefaultTimeout(PATIENCE);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(link);
  return page;
}

// Frames of a page behind another one are not drawn, so nothing waits for frames.
const sees = (page, look, ...values) => page.waitForFunction(look, { polling: 100 }, ...values);
const until = (page, wanted) => sees(page, (wanted) => document.querySelector("#state")?.textContent.startsWith(wanted), wanted);
const fill = (page, selector, text) => page.$eval(selector, (input, text) => { input.value = text; }, text);
const send = (page, selector) => page.$eval(selector, (form) => form.requestSubmit());
const press = (page, name) => page.evaluate((name) => {
  const found = [...document.querySelectorAll("button")].find((one) => one.textContent === name && !one.disabled);
  if (!found) throw new Error(`no button ${name}`);
  found.click();
}, name);
// Holds answers back, until what is given is called; then the page has them.
async function holdsBack(page, urlPattern) {
  const session = await page.createCDPSession();
  const held = [];
  session.on("Fetch.requestPaused", ({ requestId }) => held.push(requestId));
  await session.send("Fetch.enable", { patterns: [{ urlPattern, requestStage: "Response" }] });
  return async () => {
    for (const until = Date.now() + PATIENCE; held.length === 0;) {
      assert.ok(Date.now() < until, "no answer comes");
      await new Promise((wake) => setTimeout(wake, 20));
    }
    const come = page.waitForResponse((answer) => answer.request().method() === "POST");
    for (const requestId of held) await session.send("Fetch.continueRequest", { requestId });
    await session.send("Fetch.disable");
    await (await come).text();
    await new Promise((wake) => setTimeout(wake, 300));
    await session.detach();
  };
}
const trouble = (page) => page.$eval("#trouble", (box) => (box.hidden ? "" : box.textContent));

async function axe(page, where) {
  // By the tester, not by the page: its policy lets no script of others in.
  await page.bringToFront();
  const session = await page.createCDPSession();
  await session.send("Runtime.evaluate", { expression: axeSource });
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }));
  assert.deepEqual(found.violations.map((one) => [one.id, one.nodes[0].html]), [], where);
}

try {
  const second = await open();
  const page = await open();
  await until(page, "nothing runs");
  assert.ok(!(await page.evaluate(() => location.href)).includes("token"), "the token stays in the address");
  await axe(page, "before a run");

  // A host that is public wants consent, and says so.
  await fill(page, "#url-form [name=url]", "http://93.184.216.34/");
  await fill(page, "#url-form [name=rate]", "5/s");
  await fill(page, "#url-form [name=duration]", "1s");
  await send(page, "#url-form");
  await sees(page, () => document.querySelector("#trouble").textContent.includes("--i-may-load"));

  await fill(page, "#url-form [name=url]", target);
  await fill(page, "#url-form [name=rate]", "500/s");
  await fill(page, "#url-form [name=duration]", "5m");
  await send(page, "#url-form");
  for (const one of [page, second]) {
    await until(one, "running");
    await sees(one, () => document.querySelector(".chart-panel canvas"));
  }
  assert.equal(await trouble(page), "");

  const release = await holdsBack(page, "*/api/run/changes");
  await fill(page, "#control [name=to]", "2000/s");
  await send(page, "#control form");
  await sees(second, () => document.querySelector("[data-scenario]")?.textContent.includes("2,000/s"));
  // The answer comes late; what is typed in meanwhile stays.
  await fill(page, "#control [name=to]", "soon");
  await release();
  assert.equal(await page.$eval("#control [name=to]", (input) => input.value), "soon");
  await send(page, "#control form");
  await sees(page, () => document.querySelector("#trouble").textContent.includes("soon"));
  await new Promise((wake) => setTimeout(wake, 2000));

  await press(second, "Pause");
  await until(page, "paused");
  await new Promise((wake) => setTimeout(wake, 1000));
  await press(page, "Resume");
  await until(second, "running");
  await fill(page, "#control [name=text]", "a mark of ours");
  await press(page, "Add a mark");
  await sees(page, () => document.querySelector("#tables").textContent.includes("a mark of ours"));
  await axe(page, "while it runs");
  await new Promise((wake) => setTimeout(wake, 1500));

  await press(second, "中文");
  await until(second, "运行中");
  await press(second, "主题：自动");
  assert.equal(await second.evaluate(() => document.documentElement.dataset.theme), "light");
  await press(second, "主题：浅色");
  assert.equal(await second.evaluate(() => document.documentElement.dataset.theme), "dark");
  await axe(second, "in Chinese, dark");
  await second.setViewport({ width: 390, height: 800 });
  await new Promise((wake) => setTimeout(wake, 300));
  const [wide, room] = await second.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= room, `${wide} px on a phone of ${room}`);
  if (process.env.PICTURES) {
    await second.screenshot({ path: join(process.env.PICTURES, "live.zh.png") });
    await page.screenshot({ path: join(process.env.PICTURES, "live.png") });
  }

  await press(page, "Stop");
  await until(page, "over");
  await until(second, "已结束");
  await sees(page, () => !document.querySelector("#verdict").hidden);
  await axe(page, "at the end");

  const session = await browser.target().createCDPSession();
  await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: out });
  const wanted = ["steps.csv", "failures.csv", "intervals.csv", "report.json", "report.html"];
  for (const name of ["Steps (CSV)", "Failures (CSV)", "Intervals (CSV)", "Report (JSON)", "Report (HTML)"]) {
    await press(page, name);
    await new Promise((wake) => setTimeout(wake, 200));
  }
  for (let tries = 0; tries < 100 && !wanted.every((name) => readdirSync(out).includes(name)); tries += 1) {
    await new Promise((wake) => setTimeout(wake, 100));
  }
  const report = JSON.parse(readFileSync(join(out, "report.json"), "utf8"));
  const tiles = await page.$$eval(".tiles dd", (all) => all.map((one) => one.firstChild.textContent));
  const changes = report.changes.map(({ change, to, at_s }) => ({ change, to, at_s }));
  assert.deepEqual(changes.map(({ change }) => change), ["rate", "pause", "resume"]);
  assert.ok(readFileSync(join(out, "steps.csv"), "utf8").includes(String(report.requests.succeeded)));
  assert.ok(readFileSync(join(out, "report.html"), "utf8").includes("<!doctype html>"));
  // A refusal is a complaint of the browser, and meant.
  const unmeant = complaints.filter((text) => !/the server responded with a status of (400|409|422)/.test(text));
  assert.deepEqual(unmeant, []);
  console.log(JSON.stringify({ shown: tiles[3], report: { ...report.requests, wall_s: report.wall_s }, changes }));
} finally {
  await browser.close();
}
