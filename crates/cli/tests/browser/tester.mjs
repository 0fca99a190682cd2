// What every page is tried with: one browser, a context of its own for each page, and waits for what is to be seen.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

// What does not come within this time never comes. It is no claim: it ends a test that hangs.
const FAR = 120_000;
// How often a page is looked at. Frames of a page behind another one are not drawn, so nothing waits for frames.
const LOOK_EVERY = 100;

let axeSource = "";

// The browser, driven by what lies in the folder of the tools.
export async function start(tools) {
  const require = createRequire(join(resolve(tools), "/"));
  axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"];
  const executablePath = places.find((path) => path && existsSync(path));
  const args = ["--no-sandbox", "--lang=en"];
  return require("puppeteer-core").launch({ executablePath, args, timeout: FAR, protocolTimeout: FAR });
}

// Waits until `look` gives something true in the page.
export const sees = (page, look, ...values) => page.waitForFunction(look, { polling: LOOK_EVERY }, ...values);

// Waits for a promise, but not for ever.
export function within(what, promise) {
  const never = new Promise((_, fail) => {
    AbortSignal.timeout(FAR).addEventListener("abort", () => fail(new Error(`${what} does not come`)));
  });
  return Promise.race([promise, never]);
}

// Waits until everything that has changed is drawn: in the first frame a chart hears of its new size, in the second it
// draws.
export const settle = (page) => page.evaluate(async () => {
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
});

export async function resize(page, width, height = 900) {
  await page.setViewport({ width, height });
  await sees(page, (wanted) => innerWidth === wanted, width);
}

// What people cannot read or reach. The tester runs it, not the page: the policy of a page may let no other scripts in.
export async function violations(page, options) {
  await page.bringToFront();
  const session = await page.createCDPSession();
  await session.send("Runtime.evaluate", { expression: axeSource });
  await session.detach();
  const found = await page.evaluate((options) => window.axe.run(document, options), options);
  return found.violations;
}

// Nobody is kept out.
export async function isReadable(page, where) {
  const found = await violations(page, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] });
  assert.deepEqual(found.map((one) => [one.id, one.nodes[0].html]), [], where);
}

// A page is no wider than its window; what is wider scrolls by itself.
export async function fits(page, where, widths = [390, 1280]) {
  for (const width of widths) {
    await resize(page, width);
    // Charts follow the window in their next frame.
    const fit = sees(page, () => document.documentElement.scrollWidth <= innerWidth);
    await fit.catch((error) => assert.fail(`${where} at ${width} stays wider than its window: ${error.message}`));
  }
}

export const texts = (page, selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent));

// Tries one page, or several that belong together.
export class Tester {
  complaints = [];

  static async begin(browser, out, wants) {
    mkdirSync(out, { recursive: true });
    return new Tester(browser, await browser.createBrowserContext(), out, wants);
  }

  constructor(browser, context, out, wants) {
    Object.assign(this, { browser, context, out, wants });
  }

  end() {
    return this.context.close();
  }

  // A place in the folder of this test.
  place(name) {
    return join(this.out, name);
  }

  // Opens an address; whatever the page says in the console or fetches from elsewhere is a complaint.
  async open(address, prepare = async () => {}) {
    const page = await this.context.newPage();
    const { protocol, host } = new URL(address);
    const isMeant = (url) => /^(data|blob|about):/.test(url) || url.startsWith(`${protocol}//${host}/`);
    page.on("console", (message) => this.complaints.push(`console ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => this.complaints.push(`page error: ${error.stack || error.message}`));
    page.on("request", (request) => {
      if (!isMeant(request.url())) this.complaints.push(`request: ${request.url()}`);
      if (new URL(request.url()).search.includes("token")) this.complaints.push(`a token in ${request.url()}`);
    });
    page.setDefaultTimeout(FAR);
    await page.setViewport({ width: 1280, height: 900 });
    await prepare(page);
    await page.goto(address);
    return page;
  }

  hasNoComplaints() {
    assert.deepEqual(this.complaints, []);
  }
}
