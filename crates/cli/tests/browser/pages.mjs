// Starts the browser once and tries pages in it: node pages.mjs folder-of-the-tools
// Each line that it reads is a page: {"name", "script", "out", "given"}. For each it writes one line when it knows:
// `ok NAME`, or `failed NAME: WHY`, where WHY is a JSON string. Until then a script may say `wants NAME: WHAT`.
// It ends when there are no more lines, and the browser with it.
import { createInterface } from "node:readline";
import { live } from "./live.mjs";
import { report } from "./report.mjs";
import { search } from "./search.mjs";
import { Tester, start } from "./tester.mjs";

const SCRIPTS = { live, report, search };
const browser = await start(process.argv[2]);
const lines = createInterface({ input: process.stdin });
// Whoever asks has no more pages, or is gone and hears nothing.
process.stdout.on("error", () => {});
lines.once("close", async () => {
  await browser.close();
  process.exit();
});
for await (const line of lines) {
  const { name, script, out, given } = JSON.parse(line);
  const tester = await Tester.begin(browser, out, (what) => console.log(`wants ${name}: ${what}`));
  try {
    await SCRIPTS[script](tester, given);
    tester.hasNoComplaints();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`failed ${name}: ${JSON.stringify(String(error.stack || error))}`);
  } finally {
    // A browser that is gone has none of it.
    await tester.end().catch(() => {});
  }
}
