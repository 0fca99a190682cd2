// Scales, ticks, numbers and styles of charts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset } from "./asset.mjs";

const NAMES = ["clock", "exact", "extremes", "linearAxis", "logAxis", "lowerBound", "nearest", "percent", "quantileText", "ramp",
  "scale", "stylesFor", "timeTicks"];
const charts = await asset("report/assets/charts.js", NAMES);

const words = { none: "–", per_second: "/s" };
const ticks = (axis) => axis.ticks.map(({ text }) => text);

test("a number is not rounded to what it is not", () => {
  for (const [value, unit, wanted] of [
    [null, "s", "–"], [0, "s", "0 s"], [0.0123456, "s", "12.35 ms"], [1234.5, "s", "1,235 s"], [1.5e-9, "s", "1.5 ns"],
    [1536, "B/s", "1.5 KiB/s"], [1024 ** 3, "B", "1 GiB"], [999_999, "1/s", "999,999/s"], [1.5e6, "1/s", "1.5 M/s"], [12.3456, "", "12.35"],
    [99.9999, "%", "> 99.999%"], [100, "%", "100%"], [0.0001, "%", "< 0.001%"], [0, "%", "0%"], [12.3456, "%", "12.346%"],
  ]) assert.equal(charts.exact(value, unit, words), wanted, `${value} ${unit}`);
});

test("a clock and a quantile have the digits that tell them apart", () => {
  for (const [given, wanted] of [[[0], "0:00"], [[61.26, 1], "1:01.3"], [[59.999, 2], "1:00.00"], [[3661], "1:01:01"], [[-1], "0:00"]]) {
    assert.equal(charts.clock(...given), wanted);
  }
  for (const [given, wanted] of [[0, "0%"], [0.5, "50%"], [0.99, "99%"], [0.99999, "99.999%"], [1, "100%"]]) {
    assert.equal(charts.quantileText(given), wanted);
  }
});

test("an axis has round ticks, and everything lies between its ends", () => {
  assert.deepEqual(ticks(charts.linearAxis("s", 0, 0.012, 5)), ["0", "5 ms", "10 ms", "15 ms"]);
  assert.deepEqual(ticks(charts.linearAxis("", 0, 3, 10)), ["0", "1", "2", "3"], "no half users");
  assert.deepEqual(ticks(charts.linearAxis("%", 99.5, 99.9, 4)).at(-1), "100.0%", "no more than all");
  assert.deepEqual(ticks(charts.logAxis("s", 0.001, 1, 10)).filter(Boolean).at(-1), "1 s");
  for (const make of [charts.linearAxis, charts.logAxis]) {
    for (const unit of ["s", "B/s", "%", "1/s", ""]) {
      for (let power = -6; power < 9; power += 1) {
        for (const [low, high] of [[10 ** power, 3 * 10 ** power], [10 ** power, 10 ** (power + 4)], [10 ** power, 10 ** power]]) {
          if (unit === "%" && high > 100) continue;
          const axis = make(unit, low, high, 6);
          assert.ok(axis.low <= low && axis.high >= high * (1 - 1e-9), `${unit} ${low} ${high}: ${JSON.stringify(axis)}`);
          assert.ok(axis.ticks.length >= 2 && axis.ticks.length < 60, `${unit} ${low} ${high}: ${axis.ticks.length}`);
          const values = axis.ticks.map(({ value }) => value);
          assert.deepEqual(values, [...values].sort((one, other) => one - other));
        }
      }
    }
  }
});

test("ticks of time are in sight, and as many as there is room for", () => {
  for (const span of [0.01, 0.5, 1, 7, 60, 3600, 86_400, 1e9]) {
    for (const from of [0, span / 3]) {
      const made = charts.timeTicks(from, from + span, 8);
      assert.ok(made.length >= 1 && made.length <= 10, `${span}: ${made.length}`);
      assert.ok(made.every(({ value }) => value >= from - 1e-6 * span && value <= from + span * (1 + 1e-5)), String(span));
    }
  }
  assert.deepEqual(charts.timeTicks(0, 60, 6).map(({ text }) => text), ["0:00", "0:10", "0:20", "0:30", "0:40", "0:50", "1:00"]);
});

test("a scale goes there and back", () => {
  for (const log of [false, true]) {
    const scale = charts.scale(1, 1000, 500, 10, log);
    assert.deepEqual([scale.at(1), scale.at(1000)].map(Math.round), [500, 10]);
    for (const value of [1, 2.5, 70, 1000]) assert.ok(Math.abs(scale.back(scale.at(value)) / value - 1) < 1e-9);
  }
});

test("a place in a sorted list is found", () => {
  const sorted = [1, 2, 4, 8];
  assert.deepEqual([0, 1, 3, 8, 9].map((value) => charts.lowerBound(sorted, value)), [0, 0, 2, 3, 4]);
  assert.deepEqual([0, 1.4, 3, 6.1, 9].map((value) => charts.nearest(sorted, value)), [0, 0, 1, 3, 3]);
  assert.deepEqual([charts.lowerBound([], 1), charts.nearest([], 1)], [0, -1]);
});

test("extremes leave out gaps, and on a logarithmic scale what is not above zero", () => {
  const columns = [[null, 0, 5], [-1, 3, null]];
  assert.deepEqual(charts.extremes(columns, false), { low: -1, high: 5 });
  assert.deepEqual(charts.extremes(columns, true), { low: 3, high: 5 });
  assert.deepEqual(charts.extremes(columns, false, [1, 1]), { low: 0, high: 3 });
});

test("series are told apart, and a role has its style", () => {
  const looks = (roles) => charts.stylesFor(roles.map((role) => ({ role }))).map((style) => JSON.stringify(style));
  const many = looks(["p99", "p50", "p99", undefined, "users", undefined, "asked", "p50"]);
  assert.equal(new Set(many).size, many.length);
  assert.deepEqual(looks(["p50", "p99"]), looks(["p99", "p50"]).reverse());
});

test("colours of heat go from one stop to the other", () => {
  const made = charts.ramp(["#000000", "#ffffff", "#ff0000"]);
  assert.deepEqual([made[0], made.at(-1)], ["rgb(0,0,0)", "rgb(255,0,0)"]);
  assert.equal(new Set(made).size, made.length);
});
