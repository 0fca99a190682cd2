// Numbers in the tables of the live page, and the words around them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset } from "./asset.mjs";

const { time, count, rate, size, clock, timeOf } = await asset("web/assets/tables.js");
const { WORDS } = await asset("web/assets/words.js");

const none = "–";

function holds(write, cases) {
  for (const [given, wanted] of cases) assert.equal(write(given), wanted, String(given));
}

test("times have four digits and a unit", () => holds(time, [
  [0, "0 ns"], [999, "999 ns"], [1000, "1 µs"], [999_999, "1000 µs"], [1e6, "1 ms"], [12_345_678, "12.35 ms"], [1.5e9, "1.5 s"],
  [3.6e12, "3600 s"], [null, none], [undefined, none],
]));

test("counts are whole and have commas", () => holds(count, [[0, "0"], [999, "999"], [1234567, "1,234,567"], [2.6, "3"], [null, none]]));

test("rates have three digits, and all that are before the point", () => holds(rate, [
  [0, "0"], [0.01234, "0.0123"], [9.876, "9.88"], [99.96, "100"], [100, "100"], [12345.6, "12,346"], [undefined, none],
]));

test("sizes are in powers of 1,024", () => holds(size, [
  [0, "0 B"], [1023, "1023 B"], [1024, "1 KiB"], [1536, "1.5 KiB"], [1024 ** 4, "1 TiB"], [1024 ** 5, "1024 TiB"], [null, none],
]));

test("a clock has hours when there are some, and never goes below zero", () => holds(clock, [
  [0, "0:00"], [59.99, "0:59"], [61, "1:01"], [3599, "59:59"], [3600, "1:00:00"], [36_061, "10:01:01"], [-1, "0:00"], [null, none],
]));

test("a time with what was given up in it says when it is a lower bound", () => {
  const words = { at_least: "≥ " };
  const incomplete = { p50_ns: 2e6, p99_ns: 5e9, at_least: ["p99"] };
  assert.equal(timeOf({ p99_ns: 1e6 }, "p99_ns", words), "1 ms");
  assert.equal(timeOf({ p99_ns: 1e6, with_incomplete: incomplete }, "p99_ns", words), "≥ 5 s");
  assert.equal(timeOf({ p50_ns: 1e6, with_incomplete: incomplete }, "p50_ns", words), "2 ms");
  assert.equal(timeOf({ max_ns: 7e6, with_incomplete: incomplete }, "max_ns", words), "7 ms");
  assert.equal(timeOf(undefined, "p99_ns", words), none);
});

test("a time that stalls of the generator made longer is marked", () => {
  const words = { at_least: "≥ " };
  const incomplete = { p50_ns: 2e6, p99_ns: 5e9, at_least: ["p99"], unreliable: ["p99"] };
  assert.equal(timeOf({ p99_ns: 1e6, unreliable: ["p99", "max"] }, "p99_ns", words), "1 ms!");
  assert.equal(timeOf({ p50_ns: 1e6, unreliable: ["p99", "max"] }, "p50_ns", words), "1 ms");
  assert.equal(timeOf({ p99_ns: 1e6, unreliable: [], with_incomplete: incomplete }, "p99_ns", words), "≥ 5 s!");
});

test("both languages say the same things", () => {
  assert.deepEqual(Object.keys(WORDS.zh).sort(), Object.keys(WORDS.en).sort());
  for (const words of Object.values(WORDS)) assert.ok(Object.values(words).every((text) => text.trim()));
});
