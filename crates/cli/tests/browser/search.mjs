// Watches a search on its page, and opens pages of searches and sweeps that were written.
import assert from "node:assert/strict";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { fits, isReadable, sees } from "./tester.mjs";

const hasRows = (page, count) => sees(page, (count) => document.querySelectorAll("#search tbody tr").length === count, count);

// `trials`: how many the search has made; one more comes when it is asked for.
export async function search(tester, { link, trials, files }) {
  const page = await tester.open(link);
  await hasRows(page, trials);
  tester.wants("one more trial");
  await hasRows(page, trials + 1);
  // A small and a large point for each.
  assert.equal((await page.$$("#search svg circle")).length, 2 * (trials + 1));
  await isReadable(page, "a search");
  await page.click("#language");
  await sees(page, () => document.querySelector("#search")?.textContent.includes("各次试压"));
  await fits(page, "a search");
  await page.screenshot({ path: tester.place("search.png") });
  await page.close();
  for (const file of files) {
    const written = await tester.open(pathToFileURL(resolve(file)).href);
    assert.ok(await written.$("svg.drawing"), `${file} has its drawing`);
    await isReadable(written, file);
    await fits(written, file);
    await written.screenshot({ path: tester.place(`${basename(file)}.png`), fullPage: true });
    await written.close();
  }
  // No run goes on beside this search, and whoever asks for its charts is told so.
  tester.complaints = tester.complaints.filter((text) => !/the server responded with a status of 409/.test(text));
}
