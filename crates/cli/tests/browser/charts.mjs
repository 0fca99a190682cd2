// What is tried beside a report: a file that is broken, and its charts on a page of their own.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { sees, settle, texts } from "./tester.mjs";

// Of the charts of `mountsCharts`.
const LINES = 20 * 3;

export const moreTests = {
  async "broken data or an old browser: one line, no error"({ tester, html, packed, address }) {
    const broken = tester.place("broken.html");
    writeFileSync(broken, html.replace(packed, "AAAA"));
    const old = (page) => page.evaluateOnNewDocument(() => { delete window.DecompressionStream; });
    for (const [source, prepare] of [[pathToFileURL(resolve(broken)).href], [address, old]]) {
      const page = await tester.open(source, prepare);
      await sees(page, () => document.querySelector("#charts").textContent.trim().length > 10);
      assert.equal((await texts(page, "#charts")).length, 1);
      assert.equal((await page.$$("#charts canvas")).length, 0);
      await page.close();
    }
  },

  async "1,000 updates do not leak; destroy leaves nothing"({ tester, html, data }) {
    const page = await blank(tester, html);
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
    const grown = `${JSON.stringify(before)} to ${JSON.stringify(after)}`;
    assert.ok(after.heap < before.heap + 3, `heap: ${grown}`);
    assert.ok(after.nodes < before.nodes + 100, `nodes: ${grown}`);
    assert.equal(after.listeners, before.listeners);
    await page.evaluate(() => window.handle.destroy());
    assert.equal(await page.$eval("#root", (root) => root.childNodes.length), 0);
    await page.close();
  },

  async "a frame draws every chart that has changed, once"({ tester, html }) {
    const page = await blank(tester, html);
    await countsDrawings(page);
    await mountsCharts(page, 600);
    const since = (act) => page.evaluate(async (act) => {
      const { canvases } = window.drawn;
      canvases.length = 0;
      window.drawn.calls = 0;
      const nodes = document.querySelectorAll("*").length;
      await window.inFrames(() => window[act]());
      const more = document.querySelectorAll("*").length - nodes;
      return { drawings: canvases.length, canvases: new Set(canvases).size, calls: window.drawn.calls, more };
    }, act);
    const once = await since("updateOnce");
    assert.deepEqual([once.drawings, once.canvases, once.more], [20, 20, 0]);
    // Axes and markers are less than the lines themselves.
    assert.ok(once.calls > LINES * 600 && once.calls < 2 * LINES * 600, `${once.calls} calls`);
    const often = await since("updateOften");
    assert.deepEqual(often, once);
    // A cursor that moves draws no chart.
    const moved = await since("moveCursor");
    assert.deepEqual([moved.drawings, moved.more], [0, 0]);
    assert.equal(await page.$$eval(".chart-cross", (all) => all.filter((one) => !one.hidden).length), 20);
    await page.close();
  },

  // Counted are the blocks of the script that are run: these are as many on a machine that is slow, or busy elsewhere.
  async "20 charts of 600 points run at most 25 blocks of script for a point, and twice the points are twice the work"({ tester, html }) {
    const page = await blank(tester, html);
    const session = await page.createCDPSession();
    await session.send("Profiler.enable");
    await session.send("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    const blocks = async () => {
      await session.send("Profiler.takePreciseCoverage");
      await page.evaluate(() => window.inFrames(window.updateOnce));
      const { result } = await session.send("Profiler.takePreciseCoverage");
      const ours = result.filter(({ url }) => url.endsWith("charts.js")).flatMap(({ functions }) => functions);
      return ours.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0);
    };
    const cost = {};
    for (const points of [600, 1200]) {
      await mountsCharts(page, points);
      cost[points] = await blocks();
    }
    const told = JSON.stringify(cost);
    assert.ok(cost[600] > LINES * 600 && cost[600] <= 25 * LINES * 600, told);
    assert.ok(cost[1200] > 1.5 * cost[600] && cost[1200] < 2.2 * cost[600], told);
    await page.close();
  },

  async "strange data raises nothing"({ tester, html }) {
    const page = await blank(tester, html);
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
        await window.inFrames(() => {});
        for (const plot of root.querySelectorAll(".chart-plot")) {
          const { left, top } = plot.getBoundingClientRect();
          plot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: left + 150, clientY: top + 20 }));
          for (const key of ["ArrowRight", "ArrowUp", "Home", "End", "+", "ArrowLeft", "-", "0", "Escape"]) {
            plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          }
        }
        for (const details of root.querySelectorAll("details")) details.open = true;
        for (const next of strange) handle.update(next);
        await window.inFrames(() => {});
        if (root.querySelector("img")) throw new Error("a title became HTML");
        handle.destroy();
      }
    });
    await page.close();
  },
};

// A page of its own with the module of the report and its style, but without a report.
async function blank(tester, html) {
  const script = html.match(/<script type="module">([\s\S]*?)<\/script>/)[1];
  const style = html.match(/<style>([\s\S]*?)<\/style>/)[1];
  const page = await tester.open("about:blank");
  await page.setContent(`<!doctype html><html lang="en"><title>t</title><style>${style}</style><div id="root"></div>`);
  const content = `${script}\nwindow.mount = mount;\n//# sourceURL=charts.js`;
  await page.addScriptTag({ type: "module", content });
  await sees(page, () => window.mount);
  await page.evaluate(() => {
    // Does something in a frame, and comes back when all that follows from it is drawn.
    window.inFrames = async (act) => {
      await new Promise(requestAnimationFrame);
      act();
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    };
  });
  return page;
}

// 20 charts with 3 series each, and what updates them.
async function mountsCharts(page, points) {
  await page.evaluate((points) => {
    const t = Array.from({ length: points }, (_, index) => index + 0.5);
    const series = ["asked", "achieved", "p99"].map((role, k) => ({ name: role, role, y: t.map((x) => 100 + k * 20 + 10 * Math.sin(x)) }));
    const charts = Array.from({ length: 20 }, (_, index) => ({ id: `c${index}`, title: `chart ${index}`, unit: "s", log: index % 2 === 1, t, series, limits: [] }));
    const data = { span_s: points, charts, heat: null, spectrum: null, marks: [] };
    window.made?.destroy();
    window.made = window.mount(document.getElementById("root"), data);
    window.updateOnce = () => window.made.update(data);
    window.updateOften = () => { for (let turn = 0; turn < 10; turn += 1) window.made.update(data); };
    window.moveCursor = () => {
      const plot = document.querySelector(".chart-plot");
      const { left, top } = plot.getBoundingClientRect();
      plot.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: left + 150, clientY: top + 20 }));
    };
  }, points);
  await settle(page);
}

// From now on the page counts what is drawn: a canvas begins anew when its width is set.
async function countsDrawings(page) {
  await page.evaluate(() => {
    window.drawn = { canvases: [], calls: 0 };
    const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
    const set = function set(value) {
      window.drawn.canvases.push(this);
      width.set.call(this, value);
    };
    Object.defineProperty(HTMLCanvasElement.prototype, "width", { ...width, set });
    const { prototype } = CanvasRenderingContext2D;
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (typeof value !== "function" || name === "constructor") continue;
      prototype[name] = function counted(...words) {
        window.drawn.calls += 1;
        return value.apply(this, words);
      };
    }
  });
}
