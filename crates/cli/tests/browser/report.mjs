// Tries a report that was written. All that is asserted holds for any report; what is specific comes from the data in
// the file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { moreTests } from "./charts.mjs";
import { fits, resize, sees, settle, texts, violations } from "./tester.mjs";

export async function report(tester, { file }) {
  const html = readFileSync(file, "utf8");
  const packed = html.match(/<script[^>]*id="data"[^>]*>([^<]*)</)[1];
  const data = JSON.parse(gunzipSync(Buffer.from(packed, "base64")));
  const given = { tester, data, html, packed, place: (name) => tester.place(name), address: pathToFileURL(resolve(file)).href };
  const failed = [];
  const tries = async (name, action) => {
    try {
      await action();
      tester.hasNoComplaints();
    } catch (error) {
      failed.push(`${name}: ${error.stack || error}`);
      tester.complaints = [];
    }
  };
  await tries("loads without a word in the console", async () => {
    given.page = await tester.open(given.address);
    await sees(given.page, () => document.querySelector(".chart-panel canvas"));
    await settle(given.page);
  });
  for (const [name, test] of Object.entries({ ...tests, ...moreTests })) await tries(name, () => test(given));
  assert.equal(failed.length, 0, failed.join("\n\n"));
}

const picture = (page, selector) => page.$eval(selector, (canvas) => canvas.toDataURL());

async function plotOf(page, selector) {
  const handle = await page.$(selector);
  await handle.evaluate((node) => node.scrollIntoView({ block: "center" }));
  await settle(page);
  return { handle, ...(await handle.boundingBox()) };
}

// What keeps somebody out.
async function serious(page) {
  const found = await violations(page, { resultTypes: ["violations"] });
  const grave = found.filter(({ impact }) => ["serious", "critical"].includes(impact));
  return grave.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`);
}

const tests = {
  async "every chart is there and painted"({ page, data }) {
    const expected = data.charts.length + (data.heat ? 1 : 0) + (data.spectrum ? 1 : 0) + (data.marks.length ? 1 : 0);
    assert.equal((await page.$$(".chart-panel")).length, expected);
    const colours = await page.$$eval(".chart-plot canvas", (canvases) => canvases.map((canvas) => {
      const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return new Set(pixels).size;
    }));
    for (const count of colours) assert.ok(count > 3, `painted: ${colours}`);
  },

  async "axe-core, both themes, narrow and wide; nothing wider than the page"({ page, place }) {
    for (const [theme, width] of [["light", 390], ["dark", 390], ["light", 1600], ["dark", 1600], ["light", 820]]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await fits(page, theme, [width]);
      await settle(page);
      await page.screenshot({ path: place(`${theme}-${width}.png`), fullPage: true });
      assert.deepEqual(await serious(page), []);
    }
    await page.emulateMediaFeatures([]);
    await resize(page, 1280);
    await settle(page);
  },

  async "colours stand out in both themes"({ page }) {
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

  async "the theme button repaints"({ page }) {
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

  async "one crosshair for all charts"({ page, data, place }) {
    const box = await plotOf(page, ".chart-time .chart-plot");
    await page.mouse.move(box.x + box.width * 0.5, box.y + 80);
    await settle(page);
    const seen = await page.$$eval(".chart-time, .chart-heat, .chart-strip", (panels) => panels.map((panel) => ({
      cross: !panel.querySelector(".chart-cross").hidden, at: panel.querySelector(".chart-at").textContent.split(" ")[0],
    })));
    assert.ok(seen.every(({ cross, at }) => cross && at === seen[0].at && at), JSON.stringify(seen));
    const values = await texts(page, ".chart-time:has(.chart-key) .chart-value");
    assert.ok(values.length && values.every((text) => text), "every series has a reading");
    await page.screenshot({ path: place("crosshair.png") });
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

  async "drag zooms, double click and Escape undo it"({ page, place }) {
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
    await page.screenshot({ path: place("zoomed.png") });
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

  async "the keyboard"({ page }) {
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
    const isSaid = (start) => document.querySelector("[aria-live=polite].chart-unseen").textContent.startsWith(start);
    await sees(page, isSaid, moved.split(" ")[0]);
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

  async "a legend entry hides and shows its series"({ page }) {
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

  async "tables"({ page, place }) {
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
    assert.deepEqual(await serious(page), []);
    await page.screenshot({ path: place("tables.png"), fullPage: true });
    for (const summary of await page.$$(".chart-table summary")) await summary.evaluate((node) => node.click());
  },

  async "copy buttons"({ page }) {
    const commands = await page.$$("pre.command");
    assert.equal((await page.$$("button.copy")).length, commands.length);
    if (!commands.length) return;
    // What it says comes and goes; every text that it has had is kept.
    await page.$eval("button.copy", (button) => {
      const told = [button.textContent];
      new MutationObserver(() => {
        told.push(button.textContent);
        button.dataset.told = new Set(told).size;
      }).observe(button, { childList: true });
    });
    await page.click("button.copy");
    await sees(page, () => document.querySelector("button.copy").dataset.told > 1);
  },

  async "paper is light and as wide as the page"({ page, place }) {
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
    await page.pdf({ path: place("paper.pdf"), format: "A4", printBackground: true });
    const printed = await page.evaluate(() => window.printed);
    assert.deepEqual([printed.width, printed.surface.trim()], [1400, "#ffffff"]);
    // Back to the screen.
    await sees(page, (screen) => document.querySelector(".chart-time canvas").width === screen, screen);
    await page.emulateMediaFeatures([]);
  },
};

function contrast(one, other) {
  const light = (colour) => {
    const [red, green, blue] = [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16) / 255)
      .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}
