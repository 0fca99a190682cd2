// Tries a report in Chromium: node try.mjs report.html out-folder
// Everything that is asserted holds for any report; what is specific comes from the data inside the file.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import puppeteer from "puppeteer-core";

const [file, out] = process.argv.slice(2);
if (!file || !out) {
  console.error("usage: node try.mjs report.html out-folder");
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const html = readFileSync(file, "utf8");
const address = pathToFileURL(resolve(file)).href;
const packed = html.match(/<script[^>]*id="data"[^>]*>([^<]*)</)[1];
const data = JSON.parse(gunzipSync(Buffer.from(packed, "base64")));
const script = html.match(/<script type="module">([\s\S]*?)<\/script>/)[1];
const style = html.match(/<style>([\s\S]*?)<\/style>/)[1];
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));
// A machine that is busy elsewhere takes its time.
const PATIENCE = 300_000;
const browser = await puppeteer.launch({ executablePath, args: ["--no-sandbox"], timeout: PATIENCE, protocolTimeout: PATIENCE });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const complaints = [];

async function open(source = address, prepare = async () => {}) {
  const page = await browser.newPage();
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`page error: ${error.stack || error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|about|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  page.setDefaultTimeout(PATIENCE);
  await page.setViewport({ width: 1280, height: 900 });
  await prepare(page);
  await page.goto(source);
  await settle(page);
  return page;
}

async function settle(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30)))));
}

const picture = (page, selector) => page.$eval(selector, (canvas) => canvas.toDataURL());
const texts = (page, selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent));

async function plotOf(page, selector) {
  const handle = await page.$(selector);
  await handle.evaluate((node) => node.scrollIntoView({ block: "center" }));
  await settle(page);
  return { handle, ...(await handle.boundingBox()) };
}

const tests = {
  async "every chart is there and painted"(page) {
    const expected = data.charts.length + (data.heat ? 1 : 0) + (data.spectrum ? 1 : 0) + (data.marks.length ? 1 : 0);
    assert.equal((await page.$$(".chart-panel")).length, expected);
    const colours = await page.$$eval(".chart-plot canvas", (canvases) => canvases.map((canvas) => {
      const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return new Set(pixels).size;
    }));
    for (const count of colours) assert.ok(count > 3, `painted: ${colours}`);
  },

  async "axe-core, both themes, narrow and wide; nothing wider than the page"(page) {
    await page.evaluate(axeSource);
    for (const [theme, width] of [["light", 390], ["dark", 390], ["light", 1600], ["dark", 1600], ["light", 820]]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.setViewport({ width, height: 900 });
      await settle(page);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${wide} px too wide at ${width}`);
      await page.screenshot({ path: join(out, `${theme}-${width}.png`), fullPage: true });
      const found = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
        return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`);
      });
      if (found.length) console.log(`  axe ${theme} ${width}:\n    ${found.join("\n    ")}`);
      assert.deepEqual(found.filter((one) => /^(serious|critical)/.test(one)), []);
    }
    await page.emulateMediaFeatures([]);
    await page.setViewport({ width: 1280, height: 900 });
    await settle(page);
  },

  async "colours stand out in both themes"(page) {
    for (const theme of ["light", "dark"]) {
      await page.evaluate((name) => { document.documentElement.dataset.theme = name; }, theme);
      const colours = await page.evaluate(() => {
        const style = getComputedStyle(document.documentElement);
        const names = [..."01234567"].map((digit) => `--series-${digit}`);
        return Object.fromEntries(["--surface", "--text", "--bad", "--unsure", ...names]
          .map((name) => [name, style.getPropertyValue(name).trim()]));
      });
      for (const [name, colour] of Object.entries(colours)) {
        if (name === "--surface") continue;
        const least = name.startsWith("--series") ? 3 : 4.5;
        const ratio = contrast(colour, colours["--surface"]);
        assert.ok(ratio >= least, `${theme} ${name} ${ratio.toFixed(2)}`);
      }
    }
    await page.evaluate(() => { delete document.documentElement.dataset.theme; });
  },

  async "the theme button repaints"(page) {
    const seen = new Set();
    for (let turn = 0; turn < 3; turn += 1) {
      seen.add(await page.evaluate(() => document.documentElement.dataset.theme || "auto"));
      await page.click("header button.theme");
    }
    assert.deepEqual([...seen].sort(), ["auto", "dark", "light"]);
    const pictures = [];
    for (const theme of ["light", "dark"]) {
      await page.evaluate((name) => { document.documentElement.dataset.theme = name; }, theme);
      await settle(page);
      pictures.push(await picture(page, ".chart-time canvas"));
    }
    assert.notEqual(pictures[0], pictures[1]);
    await page.evaluate(() => { delete document.documentElement.dataset.theme; });
    await settle(page);
  },

  async "one crosshair for all charts"(page) {
    const box = await plotOf(page, ".chart-time .chart-plot");
    await page.mouse.move(box.x + box.width * 0.5, box.y + 80);
    await settle(page);
    const seen = await page.$$eval(".chart-time, .chart-heat, .chart-strip", (panels) => panels.map((panel) => ({
      cross: !panel.querySelector(".chart-cross").hidden, at: panel.querySelector(".chart-at").textContent.split(" ")[0],
    })));
    assert.ok(seen.every(({ cross, at }) => cross && at === seen[0].at && at), JSON.stringify(seen));
    const values = await texts(page, ".chart-time:has(.chart-key) .chart-value");
    assert.ok(values.length && values.every((text) => text), "every series has a reading");
    await page.screenshot({ path: join(out, "crosshair.png") });
    if (data.heat) {
      const heat = await plotOf(page, ".chart-heat .chart-plot");
      await page.mouse.move(heat.x + heat.width * 0.4, heat.y + 120);
      await settle(page);
      assert.match((await texts(page, ".chart-heat .chart-value"))[0], /\d.*\d/);
    }
    if (data.spectrum) {
      const spectrum = await plotOf(page, ".chart-spectrum .chart-plot");
      await page.mouse.move(spectrum.x + spectrum.width * 0.6, spectrum.y + 120);
      await settle(page);
      assert.match((await texts(page, ".chart-spectrum .chart-at"))[0], /%/);
    }
    await page.mouse.move(2, 2);
    await settle(page);
    assert.ok(await page.$$eval(".chart-cross", (crosses) => crosses.every((cross) => cross.hidden)), "gone on leaving");
  },

  async "drag zooms, double click and Escape undo it"(page) {
    const before = await picture(page, ".chart-time canvas");
    const hidden = () => page.$eval(".chart-reset", (button) => button.hidden);
    const drag = async () => {
      const box = await plotOf(page, ".chart-time .chart-plot");
      await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.5, box.y + 70, { steps: 4 });
      await page.mouse.move(box.x + box.width * 0.7, box.y + 70, { steps: 4 });
      assert.equal(await page.$eval(".chart-time .chart-selection", (node) => node.hidden), false);
      await page.mouse.up();
      await settle(page);
      assert.equal(await hidden(), false);
      assert.notEqual(await picture(page, ".chart-time canvas"), before);
      return box;
    };
    const box = await drag();
    await page.screenshot({ path: join(out, "zoomed.png") });
    await page.mouse.click(box.x + box.width / 2, box.y + 60, { count: 2 });
    await settle(page);
    assert.equal(await hidden(), true);
    assert.equal(await picture(page, ".chart-time canvas"), before);
    await drag();
    await page.keyboard.press("Escape");
    assert.equal(await hidden(), true);
    await drag();
    await page.click(".chart-reset");
    assert.equal(await hidden(), true);
    await page.mouse.move(2, 2);
  },

  async "the keyboard"(page) {
    const plot = await page.$(".chart-time .chart-plot");
    await plot.focus();
    const at = async () => (await settle(page), (await texts(page, ".chart-time .chart-at"))[0]);
    const cross = () => page.$eval(".chart-time .chart-cross", (node) => node.getBoundingClientRect().left);
    await page.keyboard.press("Home");
    const home = await at();
    const start = await cross();
    for (let press = 0; press < 3; press += 1) await page.keyboard.press("ArrowRight");
    await at();
    await page.keyboard.down("Shift");
    for (let press = 0; press < 3; press += 1) await page.keyboard.press("ArrowRight");
    await page.keyboard.up("Shift");
    const moved = await at();
    assert.ok((await cross()) > start);
    assert.notEqual(moved, home);
    await pause(600);
    const said = (await texts(page, "[aria-live=polite].chart-unseen"))[0];
    assert.ok(said.startsWith(moved.split(" ")[0]), `${said} / ${moved}`);
    await page.keyboard.press("End");
    assert.ok((await at()) !== home);
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    assert.equal(await page.$eval(".chart-reset", (button) => button.hidden), false);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await settle(page);
    assert.equal(await page.$eval(".chart-time .chart-cross", (node) => node.hidden), false);
    await page.keyboard.press("-");
    await page.keyboard.press("0");
    assert.equal(await page.$eval(".chart-reset", (button) => button.hidden), true);
    for (const kind of ["strip", "heat", "spectrum"]) {
      const other = await page.$(`.chart-${kind} .chart-plot`);
      if (!other) continue;
      await other.focus();
      for (const key of ["Home", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowDown", "End", "ArrowLeft"]) await page.keyboard.press(key);
      await settle(page);
      assert.ok((await texts(page, `.chart-${kind} .chart-at`))[0], kind);
      if (kind === "strip") assert.equal(await page.$eval(".chart-strip .chart-tip", (tip) => tip.hidden), false);
      await page.keyboard.press("Escape");
    }
    await plot.focus();
    await page.keyboard.press("Escape");
    await settle(page);
    assert.ok(await page.$$eval(".chart-cross", (crosses) => crosses.every((one) => one.hidden)));
  },

  async "a legend entry hides and shows its series"(page) {
    const before = await picture(page, ".chart-time canvas");
    const key = await page.$(".chart-time .chart-key");
    const pressed = () => key.evaluate((node) => node.getAttribute("aria-pressed"));
    await key.click();
    await page.mouse.move(2, 2);
    await settle(page);
    assert.equal(await pressed(), "false");
    assert.notEqual(await picture(page, ".chart-time canvas"), before);
    await key.focus();
    await page.keyboard.press("Space");
    await settle(page);
    assert.equal(await pressed(), "true");
    assert.equal(await picture(page, ".chart-time canvas"), before);
  },

  async "tables"(page) {
    assert.equal((await page.$$(".chart-table table")).length, 0, "made when first opened");
    for (const summary of await page.$$(".chart-table summary")) await summary.evaluate((node) => node.click());
    await settle(page);
    const tables = await page.$$eval(".chart-table table", (all) => all.map((table) => ({
      rows: table.tBodies[0].rows.length, caption: Boolean(table.caption?.textContent),
      heads: [...table.tHead.rows[0].cells].every((cell) => cell.scope === "col"),
      sides: [...table.tBodies[0].rows].every((row) => row.cells[0].scope === "row" && row.cells.length === table.tHead.rows[0].cells.length),
    })));
    assert.equal(tables.length, (await page.$$(".chart-panel")).length);
    for (const table of tables) assert.ok(table.rows <= 600 && table.caption && table.heads && table.sides, JSON.stringify(table));
    await page.evaluate(axeSource);
    const serious = await page.evaluate(async () => (await window.axe.run(document)).violations
      .filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => `${id} ${nodes[0].html}`));
    assert.deepEqual(serious, []);
    await page.screenshot({ path: join(out, "tables.png"), fullPage: true });
    for (const summary of await page.$$(".chart-table summary")) await summary.evaluate((node) => node.click());
  },

  async "copy buttons"(page) {
    const commands = await page.$$("pre.command");
    assert.equal((await page.$$("button.copy")).length, commands.length);
    if (!commands.length) return;
    const before = (await texts(page, "button.copy"))[0];
    await page.click("button.copy");
    await pause(300);
    assert.notEqual((await texts(page, "button.copy"))[0], before);
  },

  async "paper is light and as wide as the page"(page) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await settle(page);
    await page.evaluate(() => {
      window.printed = null;
      window.addEventListener("beforeprint", () => {
        const canvas = document.querySelector(".chart-time canvas");
        window.printed = { width: canvas.width, surface: getComputedStyle(document.getElementById("charts")).getPropertyValue("--surface") };
      });
    });
    const screen = await page.$eval(".chart-time canvas", (canvas) => canvas.width);
    await page.pdf({ path: join(out, "paper.pdf"), format: "A4", printBackground: true });
    await settle(page);
    const printed = await page.evaluate(() => window.printed);
    assert.deepEqual([printed.width, printed.surface.trim()], [1400, "#ffffff"]);
    assert.equal(await page.$eval(".chart-time canvas", (canvas) => canvas.width), screen, "back to the screen");
    await page.emulateMediaFeatures([]);
  },
};

const moreTests = {
  async "broken data or an old browser: one line, no error"() {
    const broken = join(out, "broken.html");
    writeFileSync(broken, html.replace(packed, "AAAA"));
    const old = (page) => page.evaluateOnNewDocument(() => { delete window.DecompressionStream; });
    for (const [source, prepare] of [[pathToFileURL(resolve(broken)).href], [address, old]]) {
      const page = await open(source, prepare);
      await pause(100);
      assert.equal((await page.$$("#charts canvas")).length, 0);
      assert.ok((await texts(page, "#charts"))[0].trim().length > 10);
      await page.close();
    }
  },

  async "1,000 updates do not leak; destroy leaves nothing"() {
    const page = await blank();
    await page.evaluate((first) => { window.handle = window.mount(document.getElementById("root"), first); }, data);
    const measure = async () => {
      const session = await page.createCDPSession();
      await session.send("HeapProfiler.collectGarbage");
      await session.send("HeapProfiler.collectGarbage");
      const { JSHeapUsedSize, Nodes, JSEventListeners } = await page.metrics();
      await session.detach();
      return { heap: JSHeapUsedSize / 1e6, nodes: Nodes, listeners: JSEventListeners };
    };
    const updates = (count) => page.evaluate(async (all, times) => {
      for (let turn = 0; turn < times; turn += 1) {
        const charts = turn % 10 === 0 ? all.charts.slice(1) : all.charts;
        window.handle.update({ ...all, charts, heat: turn % 2 ? all.heat : null });
        if (turn % 5 === 0) await new Promise(requestAnimationFrame);
      }
      window.handle.update(all);
      await new Promise(requestAnimationFrame);
    }, data, count);
    await updates(100);
    const before = await measure();
    await updates(1000);
    const after = await measure();
    console.log(`  before ${JSON.stringify(before)}\n  after  ${JSON.stringify(after)}`);
    assert.ok(after.heap < before.heap + 3, "heap");
    assert.ok(after.nodes < before.nodes + 100, "nodes");
    assert.equal(after.listeners, before.listeners);
    await page.evaluate(() => window.handle.destroy());
    assert.equal(await page.$eval("#root", (root) => root.childNodes.length), 0);
    await page.close();
  },

  // What the lines cost when they are drawn bare is the measure, both in the time that the thread had the processor:
  // a machine that is busy elsewhere, or slow, is no fault of the charts.
  async "20 charts of 600 points cost less than 20 times their bare lines"() {
    const page = await blank();
    await page.evaluate(async () => {
      const t = Array.from({ length: 600 }, (_, index) => index + 0.5);
      const series = ["asked", "achieved", "p99"].map((role, k) => ({ name: role, role, y: t.map((x) => 100 + k * 20 + 10 * Math.sin(x)) }));
      const charts = Array.from({ length: 20 }, (_, index) => ({ id: `c${index}`, title: `chart ${index}`, unit: "s", log: index % 2 === 1, t, series, limits: [] }));
      const data = { span_s: 600, charts, heat: null, spectrum: null, marks: [] };
      const made = window.mount(document.getElementById("root"), data);
      const canvases = charts.map(() => Object.assign(document.createElement("canvas"), { width: 1200, height: 240 }));
      const lines = () => {
        for (const canvas of canvases) {
          const context = canvas.getContext("2d");
          context.clearRect(0, 0, 1200, 240);
          for (const { y } of series) {
            context.beginPath();
            y.forEach((value, place) => context.lineTo(place * 2, value));
            context.stroke();
          }
        }
      };
      const frame = (act) => new Promise((done) => requestAnimationFrame(() => { act(); done(); }));
      window.drawn = () => {
        made.update(data);
        return frame(() => {});
      };
      window.bare = () => frame(lines);
      await new Promise((done) => setTimeout(done, 300));
    });
    const session = await page.createCDPSession();
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const spent = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "ScriptDuration").value;
    const least = { drawn: Infinity, bare: Infinity };
    for (let turn = 0; turn < 30; turn += 1) {
      for (const what of ["drawn", "bare"]) {
        const before = await spent();
        await page.evaluate((name) => window[name](), what);
        least[what] = Math.min(least[what], (await spent()) - before);
      }
    }
    console.log(`  ${(least.drawn * 1e3).toFixed(1)} ms, bare lines ${(least.bare * 1e3).toFixed(1)} ms`);
    assert.ok(least.bare > 0 && least.drawn > least.bare && least.drawn < 20 * least.bare);
    await page.close();
  },

  async "strange data raises nothing"() {
    const page = await blank();
    await page.evaluate(async () => {
      const root = document.getElementById("root");
      const chart = (more) => ({ id: "x", title: "<img src=x>", unit: "s", log: false, t: [0, 1, 2], series: [{ name: "a", role: "p99", y: [1] }], limits: [], ...more });
      const strange = [
        {}, { span_s: 0, charts: [], marks: [] }, { span_s: null, charts: [chart({})], marks: [{ at_s: null }, { at_s: 1 }] },
        { span_s: 1e9, charts: [chart({}), chart({ log: true, unit: "B/s" }), chart({ unit: "%", series: [{ name: "a", y: [100, 100, 100] }] })] },
        { span_s: 3, charts: [chart({ log: true, series: [{ name: "a", y: [0, -1, 0] }, { name: "a", y: [1e-9, 1e9, 5] }] })] },
        { span_s: 3, charts: [chart({ unit: "?", series: [{ name: "a", y: [-5, 1e12, null], low: [], high: [1] }], limits: [{ y: -3 }, { y: 0, label: "zero" }] })] },
        { span_s: 3, charts: [chart({ t: [1], series: [{ name: "one", y: [0] }] })], heat: { t: [0], edges: [], counts: [] }, spectrum: { curves: [] } },
        { span_s: 3, charts: [], heat: { title: "h", t: [0, 1, 2], width_s: 1, edges: [0.1, 0.2], counts: [[5], null, [0]] }, spectrum: { title: "s", curves: [{ name: "c", points: [[0, 0], [1, 0]] }] } },
        { span_s: 0.01, charts: [chart({ t: [0, 0.004, 0.008], unit: "1/s" })], marks: [{ at_s: 0.005, kind: "?", text: "x".repeat(500) }] },
      ];
      for (const data of strange) {
        const handle = window.mount(root, data, null);
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
        for (const plot of root.querySelectorAll(".chart-plot")) {
          const { left, top } = plot.getBoundingClientRect();
          plot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: left + 150, clientY: top + 20 }));
          for (const key of ["ArrowRight", "ArrowUp", "Home", "End", "+", "ArrowLeft", "-", "0", "Escape"]) {
            plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          }
        }
        for (const details of root.querySelectorAll("details")) details.open = true;
        for (const next of strange) handle.update(next);
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
        if (root.querySelector("img")) throw new Error("a title became HTML");
        handle.destroy();
      }
    });
    await page.close();
  },
};

// A page of its own with the module of the report and its style, but without a report.
async function blank() {
  const page = await open("about:blank");
  await page.setContent(`<!doctype html><html lang="en"><title>t</title><style>${style}</style><div id="root"></div>`);
  await page.addScriptTag({ type: "module", content: `${script}\nwindow.mount = mount;` });
  await page.waitForFunction(() => window.mount);
  return page;
}

function contrast(one, other) {
  const light = (colour) => {
    const [red, green, blue] = [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16) / 255)
      .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

let failed = 0;
async function run(name, action) {
  complaints.length = 0;
  try {
    await action();
    assert.deepEqual(complaints, []);
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n  ${error.stack || error}`);
  }
}

let page;
await run("loads without a word in the console", async () => { page = await open(); await pause(300); });
for (const [name, test] of Object.entries(tests)) await run(name, () => test(page));
for (const [name, test] of Object.entries(moreTests)) await run(name, test);
await browser.close();
console.log(failed ? `${failed} failed` : "all passed");
process.exit(failed ? 1 : 0);
