// Watches a search on its page, and opens pages that were written: node search.mjs link out-folder page.html...
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [link, out, ...files] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
// A machine that is busy elsewhere takes its time.
const PATIENCE = 200_000;
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox", "--lang=en"], timeout: PATIENCE, protocolTimeout: PATIENCE });
const complaints = [];

async function open(address, origin) {
  const page = await browser.newPage();
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`page error: ${error.stack || error.message}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !/^(data|blob|about):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  page.setDefaultTimeout(PATIENCE);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(address);
  return page;
}

const sees = (page, look, ...values) => page.waitForFunction(look, { polling: 100 }, ...values);

async function axe(page, where) {
  await page.bringToFront();
  const session = await page.createCDPSession();
  await session.send("Runtime.evaluate", { expression: axeSource });
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }));
  assert.deepEqual(found.violations.map((one) => [one.id, one.nodes[0].html]), [], where);
}

// A page is no wider than its window; what is wider scrolls by itself.
async function fits(page, where) {
  for (const width of [390, 1280]) {
    await page.setViewport({ width, height: 900 });
    // Charts follow the window in their next frame.
    const fit = sees(page, () => document.documentElement.scrollWidth <= innerWidth);
    await fit.catch((error) => assert.fail(`${where} at ${width} stays wider than its window: ${error.message}`));
  }
}

try {
  const page = await open(link, new URL(link).origin);
  const rows = () => document.querySelectorAll("#search tbody tr").length;
  await sees(page, () => document.querySelectorAll("#search tbody tr").length >= 2);
  const before = await page.evaluate(rows);
  await sees(page, (before) => document.querySelectorAll("#search tbody tr").length > before, before);
  await sees(page, () => document.querySelector("#search svg circle"));
  await axe(page, "a search");
  await page.click("#language");
  await sees(page, () => document.querySelector("#search")?.textContent.includes("各次测试"));
  await fits(page, "a search");
  await page.screenshot({ path: join(out, "search.png") });
  await page.close();
  for (const file of files) {
    const page = await open(pathToFileURL(resolve(file)).href, "file:");
    assert.ok(await page.$("svg.drawing"), `${file} has its drawing`);
    await axe(page, file);
    await fits(page, file);
    await page.screenshot({ path: join(out, `${basename(file)}.png`), fullPage: true });
    await page.close();
  }
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
