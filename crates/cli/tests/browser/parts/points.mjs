// The last point of all series, put into the charts of the live page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asset } from "./asset.mjs";

const { addPoint } = await asset("web/assets/live.js");

const line = (key, ...y) => ({ key, y });
const charts = () => ({
  span_s: 2, marks: [],
  charts: [
    { id: "rate", t: [0.5, 1.5], series: [line("achieved", 10, 20), { ...line("asked", 1, 2), low: [0, 1], high: [2, 3] }] },
    { id: "times", t: [0.5, 1.5], series: [line("p99", 5, 6)] },
  ],
});
const point = (index, ...charts) => ({ index, from_s: index, span_s: index + 1, marks: 0, charts });
const of = (id, t, ...series) => ({ id, t: [t], series });

test("a point is added to its series, and others have a gap", () => {
  const all = charts();
  assert.ok(addPoint(all, point(2, of("rate", 2.5, line("achieved", 30))), new Set()));
  assert.deepEqual(all.charts[0].t, [0.5, 1.5, 2.5]);
  assert.deepEqual(all.charts[0].series, [line("achieved", 10, 20, 30), { ...line("asked", 1, 2, null), low: [0, 1, null], high: [2, 3, null] }]);
  assert.deepEqual(all.charts[1], { id: "times", t: [0.5, 1.5, 2.5], series: [line("p99", 5, 6, null)] });
  assert.equal(all.span_s, 3);
});

test("the last point may come again, and is another then", () => {
  const all = charts();
  assert.ok(addPoint(all, point(1, of("rate", 1.5, line("achieved", 21), { ...line("asked", 3), low: [2], high: [4] })), new Set()));
  assert.deepEqual(all.charts[0].series, [line("achieved", 10, 21), { ...line("asked", 1, 3), low: [0, 2], high: [2, 4] }]);
  assert.deepEqual([all.charts[0].t, all.charts[1].series[0].y], [[0.5, 1.5], [5, 6]]);
});

test("what does not fit asks for the charts anew", () => {
  const fitting = point(2, of("rate", 2.5, line("achieved", 30)));
  for (const [what, all, given] of [
    ["no charts", null, fitting],
    ["no point", charts(), null],
    ["a point was missed", charts(), { ...fitting, index: 3 }],
    ["an old point", charts(), { ...fitting, index: 0 }],
    ["a mark", charts(), { ...fitting, marks: 1 }],
    ["a new chart", charts(), point(2, of("users", 2.5, line("users", 1)))],
    ["a new series", charts(), point(2, of("rate", 2.5, line("failed", 1)))],
    ["a first heat", charts(), { ...fitting, heat: { t: [2], edges: [1, 2], counts: [[1]] } }],
  ]) assert.equal(addPoint(all, given, new Set()), false, what);
});

test("what the charts leave out is not asked for twice", () => {
  const all = charts();
  const more = point(2, of("users", 2.5, line("users", 1)), of("rate", 2.5, line("failed", 1), line("achieved", 30)));
  assert.ok(addPoint(all, more, new Set(["users", "rate failed"])));
  assert.deepEqual(all.charts.map((chart) => chart.id), ["rate", "times"]);
  assert.deepEqual(all.charts[0].series[0].y, [10, 20, 30]);
});

test("a column of heat stands at its rows, and intervals without answers have one too", () => {
  const all = { ...charts(), heat: { t: [0], width_s: 1, edges: [1, 2, 4, 8], counts: [[1, 2, 3]] } };
  const given = { ...point(2, of("rate", 2.5, line("achieved", 30))), heat: { t: [2], edges: [2, 4, 8], counts: [[7, 9]] } };
  assert.ok(addPoint(all, given, new Set()));
  assert.deepEqual([all.heat.t, all.heat.counts], [[0, 1, 2], [[1, 2, 3], [], [0, 7, 9]]]);
  const wider = { ...point(3, of("rate", 3.5, line("achieved", 30))), heat: { t: [3], edges: [4, 8, 16], counts: [[1, 1]] } };
  assert.equal(addPoint(all, wider, new Set()), false, "rows that the charts have not");
});

test("a spectrum is what the point says of it", () => {
  const curve = (...points) => ({ name: "all", points });
  const all = { ...charts(), spectrum: { curves: [curve([0, 1]), curve([0, 2])] } };
  const given = { ...point(2, of("rate", 2.5, line("achieved", 30))), spectrum: { curves: [curve([0, 3])] } };
  assert.ok(addPoint(all, given, new Set()));
  assert.deepEqual(all.spectrum.curves, [curve([0, 3]), curve([0, 2])]);
});
