// The charts of a run: time series, heat map, percentile spectrum and the strip of events.
// mount(root, data, words) draws them into `root`; `data` and `words` are made by html/data.rs and words.*.json.

const WORDS = {
  legend: "Legend: {title}",
  events: "Events",
  time: "Time",
  event: "Event",
  detail: "Detail",
  data: "Data of {title}",
  table: "Data as a table",
  thinned: "one row in {n} of {all}",
  percentile: "Percentile",
  requests: "Requests",
  scale: "Requests per cell",
  none: "–",
  empty: "No data",
  between: "{low} to {high}",
  hint: "Drag to zoom in, double-click to zoom out",
  whole: "Show the whole run",
  keys: "Left and right arrow move the cursor, Shift moves faster, Home and End go to the ends. "
    + "Plus and minus zoom, 0 shows the whole run.",
  per_second: "/s",
  stage: "stage",
  change: "change",
  threshold: "threshold",
  stall: "stall",
  abort: "abort",
  note: "note",
};

const HEIGHT = { strip: 50, time: 210, heat: 250, spectrum: 270 };
const LEFT = 62;
const RIGHT = 14;
const PAPER_WIDTH = 700;
const TABLE_ROWS = 600;
const LEVELS = 32;
const COLOURS = 8;
const DASHES = [[7, 4], [2, 3], [10, 3, 2, 3], [14, 4]];

// Paths around the origin, for the canvas (Path2D) as well as for the legends (SVG).
const SHAPES = {
  circle: "M-3.2,0a3.2,3.2 0 1,0 6.4,0a3.2,3.2 0 1,0 -6.4,0Z",
  square: "M-2.8,-2.8h5.6v5.6h-5.6Z",
  triangle: "M0,-3.8L3.8,3H-3.8Z",
  diamond: "M0,-4.2L4.2,0L0,4.2L-4.2,0Z",
  cross: "M-3,-3L3,3M3,-3L-3,3",
  right: "M-3,-4L4,0L-3,4Z",
  bars: "M-3.5,-4h2v8h-2ZM1.5,-4h2v8h-2Z",
};
const MARKERS = [null, "circle", "triangle", "square", "diamond"];
// The preferred style of a role; the second series of a role gets the next free one.
const ROLES = { achieved: 0, failed: 1, p99: 0, p50: 2, p90: 3, p999: 1, users: 4, asked: 7 };
const KINDS = {
  stage: { marker: "right", tone: "text" },
  change: { marker: "diamond", tone: "text" },
  threshold: { marker: "triangle", tone: "bad" },
  stall: { marker: "bars", tone: "unsure" },
  abort: { marker: "cross", tone: "bad" },
  note: { marker: "circle", tone: "text" },
};

let mounted = 0;

export function mount(root, data, words) {
  const view = new View(root, words);
  view.update(data);
  return { update: (next) => view.update(next), destroy: () => view.destroy() };
}

// ---- Small helpers

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const list = (value) => (Array.isArray(value) ? value : []);
const finite = (value) => (Number.isFinite(value) ? value : null);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const ascending = (one, other) => one - other;

function element(tag, attributes = {}, ...children) {
  const space = tag === "svg" || tag === "path" ? "2000/svg" : "1999/xhtml";
  const made = document.createElementNS(`http://www.w3.org/${space}`, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function part(tag, name, more) {
  return element(tag, { class: `chart-${name}`, ...more });
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// The first index whose value is not below `value`, in a sorted list.
function lowerBound(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function nearest(sorted, value) {
  const after = lowerBound(sorted, value);
  if (after === 0) return sorted.length ? 0 : -1;
  return after === sorted.length || value - sorted[after - 1] <= sorted[after] - value ? after - 1 : after;
}

// The least and the greatest of the numbers; on a logarithmic scale only what is above zero counts.
function extremes(columns, log, [first, last] = [0, Infinity]) {
  let low = Infinity;
  let high = -Infinity;
  for (const column of columns) {
    for (let index = first; index <= last && index < column.length; index += 1) {
      const value = column[index];
      if (value === null || (log && value <= 0)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return { low, high };
}

// ---- Numbers as text

const significant = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 });
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const SIZES = {
  s: [[1, " s"], [1e-3, " ms"], [1e-6, " µs"], [1e-9, " ns"]],
  "B/s": [[1024 ** 4, " TiB"], [1024 ** 3, " GiB"], [1024 ** 2, " MiB"], [1024, " KiB"], [1, " B"]],
  "B": [[1024 ** 4, " TiB"], [1024 ** 3, " GiB"], [1024 ** 2, " MiB"], [1024, " KiB"], [1, " B"]],
  "%": [[1, "%"]],
  "": [[1e9, " G"], [1e6, " M"], [1e3, " k"], [1, ""]],
};

function sizeFor(unit, value) {
  const sizes = SIZES[unit] || SIZES[""];
  const enough = value * (1 + 1e-9);
  return sizes.find(([factor]) => enough >= factor) || sizes[value ? sizes.length - 1 : 0];
}

// 99.9997% must not turn into 100%.
function percent(value) {
  const text = String(Number(value.toFixed(3)));
  if (value < 100 && text === "100") return "> 99.999%";
  return value > 0 && text === "0" ? "< 0.001%" : `${text}%`;
}

function exact(value, unit, words) {
  if (value === null) return words.none;
  if (unit === "%") return percent(value);
  const plain = unit !== "s" && unit[0] !== "B" && Math.abs(value) < 1e6;
  const [factor, suffix] = plain ? [1, ""] : sizeFor(unit, Math.abs(value));
  const number = value / factor;
  const text = (Math.abs(number) >= 1000 ? whole : significant).format(number);
  return text + suffix + (unit.endsWith("/s") ? words.per_second : "");
}

// A tick of an axis whose ticks are `step` apart.
function tickText(value, step, [factor, suffix]) {
  if (value === 0) return "0";
  const places = clamp(-Math.floor(Math.log10(step / factor) + 1e-9), 0, 6);
  const options = { minimumFractionDigits: places, maximumFractionDigits: places };
  return (value / factor).toLocaleString("en-US", options) + suffix;
}

function clock(seconds, places = 0) {
  const shown = Math.max(0, Number(seconds.toFixed(places)));
  const minutes = Math.floor(shown / 60);
  const rest = (shown - minutes * 60).toFixed(places).padStart(places ? places + 3 : 2, "0");
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

function quantileText(quantile) {
  if (quantile >= 1) return "100%";
  const nines = Math.floor(-Math.log10(1 - quantile) + 1e-9);
  return `${Number((quantile * 100).toFixed(clamp(nines, 1, 9)))}%`;
}

// ---- Scales and ticks

function scale(low, high, from, to, log = false) {
  const turn = log ? Math.log : (value) => value;
  const start = turn(low);
  const span = turn(high) - start || 1;
  return {
    at: (value) => from + ((turn(log ? Math.max(value, low / 10) : value) - start) / span) * (to - from),
    back: (pixel) => {
      const value = start + ((pixel - from) / (to - from)) * span;
      return log ? Math.exp(value) : value;
    },
  };
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((step) => rough / power <= step * (1 + 1e-9)) || 10);
}

// Percentages near 100 would be a flat line above an axis that begins at zero.
function linearAxis(unit, low, high, room) {
  const bottom = unit === "%" && low > 50 ? Math.min(low, 99) : Math.min(0, low);
  let top = high > bottom ? high : bottom + 1;
  if (unit === "%" && top <= 100) top = 100;
  let size = sizeFor(unit, Math.max(top, -bottom));
  if (size[1] === " k" && top < 10000) size = [1, ""];
  let step = niceStep((top - bottom) / size[0] / room) * size[0];
  if (unit === "" && top >= 1) step = Math.max(step, 1);
  const ticks = [];
  for (let index = Math.floor(bottom / step + 1e-9); index <= Math.ceil(top / step - 1e-9); index += 1) {
    ticks.push({ value: index * step, text: tickText(index * step, step, size) });
  }
  return { low: ticks[0].value, high: ticks[ticks.length - 1].value, ticks, log: false };
}

// Lines at 1, 2 and 5 times a power of ten (at powers of two for bytes); when they are many, only powers have a text.
function logAxis(unit, low, high, room) {
  const [base, digits] = unit[0] === "B" ? [2, [1]] : [10, [1, 2, 5]];
  const bottom = low > 0 ? low * 0.95 : 1e-3;
  const power = (value) => Math.log(value) / Math.log(base);
  const all = [];
  for (let exponent = Math.floor(power(bottom) + 1e-9); exponent <= power(high) + 1; exponent += 1) {
    for (const digit of digits) all.push({ value: digit * base ** exponent, exponent, digit });
  }
  const first = all.filter(({ value }) => value <= bottom * (1 + 1e-9)).length - 1;
  const last = Math.max(first + 1, all.findIndex(({ value }) => value >= high * (1 - 1e-9)));
  const cut = all.slice(first, last + 1);
  const every = Math.ceil(cut.length / digits.length / room);
  const ticks = cut.map(({ value, exponent, digit }) => {
    const named = cut.length <= room + 2 || (digit === 1 && exponent % every === 0);
    return { value, text: named ? tickText(value, value, sizeFor(unit, value)) : "" };
  });
  return { low: cut[0].value, high: cut[cut.length - 1].value, ticks, log: true };
}

function timeTicks(from, to, room) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200];
  const rough = (to - from) / Math.max(room, 1);
  const days = Math.ceil(rough / 86400) * 86400;
  const step = rough <= 1 ? niceStep(rough) : steps.find((candidate) => candidate >= rough) || days;
  const places = step < 1 ? clamp(Math.ceil(-Math.log10(step) - 1e-9), 1, 3) : 0;
  const ticks = [];
  for (let index = Math.ceil(from / step - 1e-9); index * step <= to + step * 1e-6; index += 1) {
    ticks.push({ value: index * step, text: clock(index * step, places) });
  }
  return ticks;
}

// ---- Styles and colours

// Even numbers are solid lines told apart by their marker, odd ones by their dashes.
function styleOf(number) {
  const half = number >> 1;
  const odd = number % 2 === 1;
  return {
    colour: number % COLOURS,
    dash: odd ? DASHES[half % DASHES.length] : [],
    marker: odd && number <= COLOURS ? null : MARKERS[half % MARKERS.length],
  };
}

function stylesFor(series) {
  const used = new Set();
  const wanted = series.map(({ role }) => {
    const number = used.has(ROLES[role]) ? undefined : ROLES[role];
    used.add(number);
    return number;
  });
  return wanted.map((number) => {
    let free = number ?? 0;
    while (number === undefined && used.has(free)) free += 1;
    used.add(free);
    return styleOf(free);
  });
}

function readColours(root) {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const many = (name, count) => Array.from({ length: count }, (_, index) => read(`${name}-${index}`));
  const colours = { series: many("series", COLOURS), heat: ramp(many("heat", 5)), font: `12px ${style.fontFamily}` };
  for (const name of ["text", "grid", "minor", "axis", "surface", "unsure", "bad"]) colours[name] = read(name);
  return colours;
}

// LEVELS colours between the stops, which are written as #rrggbb.
function ramp(stops) {
  const channels = stops.map((stop) => [1, 3, 5].map((start) => parseInt(stop.slice(start, start + 2), 16) || 0));
  return Array.from({ length: LEVELS }, (_, level) => {
    const place = (level / (LEVELS - 1)) * (stops.length - 1);
    const index = Math.min(Math.floor(place), stops.length - 2);
    const mix = (from, channel) => Math.round(from + (channels[index + 1][channel] - from) * (place - index));
    return `rgb(${channels[index].map(mix).join(",")})`;
  });
}

// The picture of a series or of a kind of event in a legend.
function swatch({ colour, dash, marker, tone }) {
  const box = tone ? "-7 -6 14 12" : "-13 -6 26 12";
  const svg = part("svg", "swatch", { viewBox: box, "aria-hidden": "true" });
  svg.style.color = `var(--${tone || `series-${colour}`})`;
  const add = (attributes) => svg.append(element("path", { stroke: "currentColor", ...attributes }));
  if (!tone) add({ d: "M-13,0H13", "stroke-width": "2", "stroke-dasharray": dash.join(" ") || "none" });
  if (marker) add({ d: SHAPES[marker], "stroke-width": "1.5", fill: marker === "cross" ? "none" : "currentColor" });
  return svg;
}

// ---- Strokes

function stamp(pen, shape, x, y, colour) {
  const path = new Path2D(SHAPES[shape]);
  pen.save();
  pen.translate(x, y);
  pen.setLineDash([]);
  pen.lineWidth = 1.5;
  pen.strokeStyle = pen.fillStyle = colour;
  if (shape !== "cross") pen.fill(path);
  pen.stroke(path);
  pen.restore();
}

function line(pen, fromX, fromY, toX, toY) {
  pen.beginPath();
  pen.moveTo(fromX, fromY);
  pen.lineTo(toX, toY);
  pen.stroke();
}

function write(pen, text, x, y, align, baseline = "middle") {
  pen.textAlign = align;
  pen.textBaseline = baseline;
  pen.fillText(text, x, y);
}

function horizontalLines(pen, box, ticks, up, colours) {
  pen.fillStyle = colours.text;
  for (const tick of ticks) {
    const y = Math.round(up.at(tick.value)) + 0.5;
    pen.strokeStyle = tick.text ? colours.grid : colours.minor;
    line(pen, box.left, y, box.right, y);
    write(pen, tick.text, box.left - 8, y, "right");
  }
}

function bottomAxis(pen, box, ticks, across, colours) {
  pen.strokeStyle = colours.axis;
  pen.fillStyle = colours.text;
  line(pen, box.left, box.bottom + 0.5, box.right, box.bottom + 0.5);
  let free = 0;
  for (const tick of ticks) {
    const x = Math.round(across.at(tick.value)) + 0.5;
    const half = pen.measureText(tick.text).width / 2;
    const centre = clamp(x, half + 2, box.width - half - 2);
    line(pen, x, box.bottom, x, box.bottom + 4);
    if (centre - half < free) continue;
    free = centre + half + 8;
    write(pen, tick.text, centre, box.bottom + 7, "center", "top");
  }
}

function clipped(pen, box, action) {
  pen.save();
  pen.beginPath();
  pen.rect(box.left - 1, box.top - 3, box.right - box.left + 2, box.bottom - box.top + 4);
  pen.clip();
  action();
  pen.restore();
}

// ---- The view: all panels, what is shown and where the cursor is

class View {
  panels = new Map();
  hiddenKinds = new Set();
  zoomed = null;
  cursor = null;
  active = null;
  drag = null;
  printing = false;
  frame = 0;
  sayTimer = 0;

  constructor(root, words) {
    this.root = root;
    this.words = { ...WORDS, ...words };
    this.build();
    this.listen();
    this.colours = readColours(root);
  }

  build() {
    mounted += 1;
    this.keysId = `chart-keys-${mounted}`;
    this.reset = part("button", "reset", { type: "button", hidden: "" });
    this.grid = part("div", "grid");
    this.live = part("p", "unseen", { "aria-live": "polite" });
    const tools = part("div", "tools");
    const keys = part("p", "unseen", { id: this.keysId });
    this.reset.append(this.words.whole);
    tools.append(this.words.hint, this.reset);
    keys.append(this.words.keys);
    this.root.replaceChildren(tools, this.grid, this.live, keys);
    this.root.classList.add("charts");
  }

  // All listeners stand at the root, so that panels come and go without listeners of their own.
  listen() {
    this.controller = new AbortController();
    const { signal } = this.controller;
    const on = (target, type, action) => target.addEventListener(type, action.bind(this), { signal, capture: true });
    on(this.root, "pointerdown", this.pointerDown);
    on(this.root, "pointermove", this.pointerMove);
    on(this.root, "pointerup", (event) => this.pointerUp(event, true));
    on(this.root, "pointercancel", (event) => this.pointerUp(event, false));
    on(this.root, "pointerout", this.pointerOut);
    on(this.root, "dblclick", (event) => this.panelAt(event)?.timed && this.zoomOut());
    on(this.root, "keydown", this.keyDown);
    on(this.root, "click", this.click);
    on(this.root, "toggle", (event) => this.each((panel) => event.target === panel.details && panel.showTable()));
    on(window, "resize", this.redraw);
    on(window, "beforeprint", () => this.print(true));
    on(window, "afterprint", () => this.print(false));
    on(matchMedia("(prefers-color-scheme: dark)"), "change", this.recolour);
    this.resized = new ResizeObserver(() => this.printing || this.redraw());
    this.resized.observe(this.root);
    this.themed = new MutationObserver(() => this.recolour());
    this.themed.observe(document.documentElement, { attributeFilter: ["data-theme", "class"] });
  }

  destroy() {
    this.controller.abort();
    this.resized.disconnect();
    this.themed.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.sayTimer);
    this.root.replaceChildren();
    this.root.classList.remove("charts", "chart-paper");
  }

  each(action) {
    for (const panel of this.panels.values()) action(panel);
  }

  update(data) {
    this.begin = finite(data.begin_unix_ms);
    this.marks = list(data.marks).filter((mark) => finite(mark.at_s) !== null)
      .map((mark) => ({ at: mark.at_s, kind: KINDS[mark.kind] ? mark.kind : "note", text: String(mark.text ?? "") }))
      .sort((one, other) => one.at - other.at);
    const ends = list(data.charts).map((chart) => finite(list(chart.t).slice(-1)[0]) || 0);
    this.span = Math.max(finite(data.span_s) || 0, ...ends) || 1;
    if (this.zoomed) this.zoom(...this.zoomed);
    const before = this.panels;
    this.panels = new Map();
    for (const [key, Kind, content] of this.wanted(data)) {
      const panel = before.get(key) || new Kind(this, key.split(" ")[0]);
      this.panels.set(key, panel);
      panel.accept(content);
    }
    const order = [...this.panels.keys()].join("\n");
    if (order !== this.order) this.grid.replaceChildren(...[...this.panels.values()].map((panel) => panel.section));
    this.order = order;
    this.redraw();
  }

  wanted(data) {
    const wanted = list(data.charts).map((chart, index, all) => {
      const twin = all.findIndex((other) => other.id === chart.id) < index;
      return [`time ${chart.id}${twin ? ` ${index}` : ""}`, TimePanel, chart];
    });
    if (this.marks.length) wanted.unshift(["strip", StripPanel, { title: this.words.events }]);
    if (data.heat) wanted.push(["heat", HeatPanel, data.heat]);
    if (data.spectrum) wanted.push(["spectrum", SpectrumPanel, data.spectrum]);
    return wanted;
  }

  // What is shown, in seconds.
  range() {
    return this.zoomed || [0, this.span];
  }

  zoom(from, to) {
    const width = clamp(to - from, Math.max(this.span / 5000, 0.005), this.span);
    const start = clamp(from, 0, this.span - width);
    this.zoomed = width >= this.span * 0.9999 ? null : [start, start + width];
    this.reset.hidden = !this.zoomed;
    this.redraw();
  }

  zoomBy(factor) {
    const [from, to] = this.range();
    const centre = this.cursor === null ? (from + to) / 2 : clamp(this.cursor, from, to);
    const start = centre - (centre - from) * factor;
    this.zoom(start, start + (to - from) * factor);
  }

  zoomOut() {
    this.zoom(0, this.span);
  }

  // Shifts what is shown so that the cursor stays in sight.
  follow() {
    const [from, to] = this.range();
    if (this.cursor !== null && this.cursor < from) this.zoom(this.cursor, this.cursor + (to - from));
    if (this.cursor > to) this.zoom(this.cursor - (to - from), this.cursor);
  }

  visibleMarks() {
    return this.marks.filter((mark) => !this.hiddenKinds.has(mark.kind));
  }

  // At most one announcement in 400 ms, and always the latest.
  say(text) {
    this.saying = text;
    this.sayTimer = this.sayTimer || setTimeout(() => {
      this.sayTimer = 0;
      setText(this.live, this.saying);
    }, 400);
  }

  redraw() {
    this.each((panel) => { panel.stale = true; });
    this.schedule();
  }

  // At most once per animation frame, and only what has changed.
  schedule() {
    if (this.frame || this.controller.signal.aborted) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.drawNow();
    });
  }

  drawNow() {
    this.each((panel) => panel.stale && panel.draw());
    this.each((panel) => panel.box && panel.showCursor());
  }

  recolour() {
    this.colours = readColours(this.root);
    this.redraw();
  }

  print(paper) {
    if (this.printing === paper) return;
    this.printing = paper;
    this.root.classList.toggle("chart-paper", paper);
    this.recolour();
    if (paper) this.drawNow();
  }

  panelAt(event) {
    const plot = event.target instanceof Element && event.target.closest(".chart-plot");
    return [...this.panels.values()].find((panel) => panel.plot === plot && panel.box) || null;
  }

  // Moves the cursor to the pointer; returns the pointer's x within the plot.
  hover(panel, event) {
    const { left, top } = panel.plot.getBoundingClientRect();
    const x = event.clientX - left;
    panel.hover(x, event.clientY - top);
    return x;
  }

  pointerDown(event) {
    const panel = this.panelAt(event);
    if (!panel || event.button !== 0 || !event.isPrimary) return;
    this.drag = { panel, id: event.pointerId, from: this.hover(panel, event), wide: false };
  }

  pointerMove(event) {
    const drag = this.drag && this.drag.id === event.pointerId ? this.drag : null;
    const panel = drag ? drag.panel : this.panelAt(event);
    if (!panel) return;
    const x = this.hover(panel, event);
    if (!drag || !panel.timed || (!drag.wide && Math.abs(x - drag.from) < 5)) return;
    if (!drag.wide) panel.plot.setPointerCapture(event.pointerId);
    drag.wide = true;
    panel.select(drag.from, x);
    drag.to = x;
  }

  pointerUp(event, done) {
    const { drag } = this;
    if (!drag || drag.id !== event.pointerId) return;
    this.drag = null;
    drag.panel.selection.hidden = true;
    if (!done || !drag.wide || Math.abs(drag.to - drag.from) < 5) return;
    const across = drag.panel.across();
    const [from, to] = [across.back(drag.from), across.back(drag.to)].sort(ascending);
    const [first, last] = this.range();
    this.zoom(Math.max(from, first), Math.min(to, last));
  }

  pointerOut(event) {
    const panel = this.panelAt(event);
    if (!panel || this.drag || event.pointerType === "touch") return;
    if (!panel.plot.contains(event.relatedTarget)) panel.put(null);
  }

  keyDown(event) {
    const panel = this.panelAt(event);
    if (panel && !event.ctrlKey && !event.metaKey && !event.altKey && panel.key(event)) event.preventDefault();
  }

  click(event) {
    const button = event.target.closest("button");
    this.each((panel) => panel.legend.contains(button) && panel.flip(button));
    if (button !== this.reset) return;
    this.zoomOut();
    this.grid.querySelector(".chart-plot")?.focus({ preventScroll: true });
  }
}

// ---- What all panels have in common
// A panel has `entries` (name, style) for its legend and `stops`, the positions at which its cursor can stand.
// A position is a time in seconds (a quantile in the spectrum).

class Panel {
  unit = "";
  entries = [];
  stops = [];
  values = new Map();
  hidden = new Set();

  constructor(view, kind) {
    this.view = view;
    this.kind = kind;
    this.timed = kind !== "spectrum";
    this.words = view.words;
    this.build();
  }

  build() {
    this.heading = element("h3");
    this.at = part("span", "at", { "aria-hidden": "true" });
    this.legend = part("div", "legend", { role: "group" });
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.cross = part("div", "cross", { hidden: "" });
    this.selection = part("div", "selection", { hidden: "" });
    this.tip = part("div", "tip", { hidden: "", "aria-hidden": "true" });
    this.plot = part("div", "plot", { tabindex: "0", role: "application", "aria-describedby": this.view.keysId });
    this.plot.append(this.canvas, this.cross, this.selection, this.tip);
    this.scroll = element("div", { class: "scroll", tabindex: "0", role: "region" });
    this.details = part("details", "table");
    this.details.append(element("summary", {}, this.words.table), this.scroll);
    const head = part("div", "head");
    head.append(this.heading, this.at);
    this.section = part("section", `panel chart-${this.kind}`);
    this.section.append(head, this.legend, this.plot, this.details);
    this.pen = this.canvas.getContext("2d");
  }

  accept(content) {
    this.title = String(content.title ?? "");
    this.take(content);
    const signature = JSON.stringify([this.title, this.unit, this.entries.map((entry) => entry.name)]);
    if (signature !== this.signature) this.rename();
    this.signature = signature;
    const label = this.summary().join("; ");
    if (this.plot.getAttribute("aria-label") !== label) this.plot.setAttribute("aria-label", label);
    this.showTable();
  }

  rename() {
    const { title } = this;
    setText(this.heading, title);
    this.legend.setAttribute("aria-label", fill(this.words.legend, { title }));
    this.scroll.setAttribute("aria-label", fill(this.words.data, { title }));
    this.values.clear();
    this.legend.replaceChildren(...this.entries.map((entry) => this.legendKey(entry)));
  }

  legendKey({ name, style, label = name }) {
    const value = part("span", "value", { "aria-hidden": "true" });
    this.values.set(name, value);
    const button = part("button", "key", { type: "button", "data-name": name, "aria-pressed": !this.hidden.has(name) });
    button.append(swatch(style), element("span", {}, label), value);
    return button;
  }

  flip(button) {
    const { name } = button.dataset;
    if (!this.hidden.delete(name)) this.hidden.add(name);
    button.setAttribute("aria-pressed", !this.hidden.has(name));
    this.view.redraw();
  }

  // On paper the canvas is as wide as the page and keeps its proportions.
  draw() {
    this.stale = false;
    const { printing, colours } = this.view;
    const { canvas, pen } = this;
    const width = printing ? PAPER_WIDTH : this.plot.clientWidth;
    const height = HEIGHT[this.kind];
    if (width < 100) return;
    this.ratio = printing ? 2 : clamp(window.devicePixelRatio || 1, 1, 3);
    canvas.width = Math.round(width * this.ratio);
    canvas.height = Math.round(height * this.ratio);
    canvas.style.width = printing ? "100%" : `${width}px`;
    canvas.style.height = printing ? "auto" : `${height}px`;
    pen.scale(this.ratio, this.ratio);
    pen.font = colours.font;
    pen.lineJoin = "round";
    this.box = { left: LEFT, top: 10, right: width - RIGHT, bottom: height - 24, width };
    this.paint(pen, this.box);
  }

  across() {
    return scale(...this.ends(), this.box.left, this.box.right);
  }

  bottomTicks({ left, right }) {
    const [from, to] = this.ends();
    return timeTicks(from, to, Math.floor((right - left) / (clock(to).length > 5 ? 84 : 64)));
  }

  paintMarks(pen, { left, right, top, bottom }) {
    const across = this.across();
    pen.lineWidth = 1;
    pen.globalAlpha = 0.65;
    for (const mark of this.view.visibleMarks()) {
      const x = Math.round(across.at(mark.at)) + 0.5;
      pen.strokeStyle = this.view.colours[KINDS[mark.kind].tone];
      if (x >= left && x <= right + 1) line(pen, x, top, x, bottom);
    }
    pen.globalAlpha = 1;
  }

  paintEmpty(pen, { left, right, top, bottom }) {
    pen.fillStyle = this.view.colours.text;
    write(pen, this.words.empty, (left + right) / 2, (top + bottom) / 2, "center");
  }

  position() {
    return this.view.cursor;
  }

  put(position) {
    this.view.cursor = position === null ? null : clamp(position, 0, this.view.span);
    this.view.active = position === null ? null : this;
    this.view.schedule();
  }

  hover(x) {
    this.put(this.snap(this.across().back(clamp(x, this.box.left, this.box.right))));
  }

  snap(position) {
    return this.stops[nearest(this.stops, position)] ?? position;
  }

  instant(seconds) {
    const [from, to] = this.ends();
    return clock(seconds, to - from < 20 ? 2 : to - from < 300 ? 1 : 0);
  }

  // The time of day in the reader's zone.
  timeOfDay(seconds) {
    const { active, begin } = this.view;
    if (active !== this || !this.timed || begin === null) return "";
    const day = new Date(begin + seconds * 1000);
    return `  (${day.toLocaleTimeString([], { hour12: false, timeZoneName: "short" })})`;
  }

  showCursor() {
    const position = this.position();
    const { view } = this;
    const { left, right } = this.box;
    const x = position === null ? -1 : this.across().at(position);
    const inside = x >= left - 0.5 && x <= right + 0.5;
    this.cross.hidden = !inside;
    this.cover(this.cross, x, 1);
    setText(this.at, position === null ? "" : this.instant(position) + this.timeOfDay(position));
    const readings = position === null ? [] : this.readings(position);
    for (const [name, value] of this.values) {
      setText(value, readings.find((reading) => reading.name === name)?.text ?? "");
    }
    const active = inside && view.active === this;
    const marks = active && this.timed ? this.marksAt(x) : [];
    this.showTip(marks);
    if (!active) return;
    const spoken = readings.filter(({ name }) => !this.hidden.has(name)).map(({ name, text }) => `${name} ${text}`);
    view.say([this.instant(position), ...spoken, ...marks.map((mark) => this.describe(mark))].join("; "));
  }

  readings() {
    return [];
  }

  text(value) {
    return exact(value, this.unit, this.words);
  }

  describe({ kind, text }) {
    return `${this.words[kind]}: ${text}`;
  }

  marksAt(x) {
    const across = this.across();
    return this.view.visibleMarks().filter((mark) => Math.abs(across.at(mark.at) - x) <= 6);
  }

  showTip(marks) {
    this.tip.hidden = !marks.length;
    if (!marks.length) return;
    const lines = marks.slice(0, 4).map((mark) => `${clock(mark.at, 1)}  ${this.describe(mark)}`);
    if (marks.length > 4) lines.push(`+ ${marks.length - 4}`);
    setText(this.tip, lines.join("\n"));
    const x = Math.round(this.across().at(marks[0].at));
    const { width } = this.box;
    const far = x > width / 2;
    Object.assign(this.tip.style, { left: far ? "auto" : `${x + 8}px`, right: far ? `${width - x + 8}px` : "auto" });
  }

  select(from, to) {
    const { left, right } = this.box;
    const ends = [clamp(from, left, right), clamp(to, left, right)].sort(ascending);
    this.selection.hidden = false;
    this.cover(this.selection, ends[0], ends[1] - ends[0]);
  }

  cover(node, left, width) {
    const { top, bottom } = this.box;
    const places = { left: Math.round(left), width, top, height: bottom - top };
    for (const [name, value] of Object.entries(places)) node.style[name] = `${value}px`;
  }

  // Says whether the key was one of ours.
  key({ key, shiftKey }) {
    const { view } = this;
    const step = shiftKey ? 10 : 1;
    const [from, to] = [this.ends()[0] - 1e-9, this.ends()[1] + 1e-9];
    if (key === "ArrowLeft") this.walk(this.position() ?? to, -step);
    else if (key === "ArrowRight") this.walk(this.position() ?? from, step);
    else if (key === "Home") this.walk(from, 1);
    else if (key === "End") this.walk(to, -1);
    else if (key === "Escape" && !view.zoomed) this.put(null);
    else if (key === "Escape" || key === "0") view.zoomOut();
    else if (key === "+" || key === "=") view.zoomBy(0.5);
    else if (key === "-" || key === "_") view.zoomBy(2);
    else return false;
    return true;
  }

  ends() {
    return this.view.range();
  }

  // Along the stops, from a position that may be between two of them.
  walk(start, step) {
    if (!this.stops.length) return;
    const found = lowerBound(this.stops, start) - (step > 0 && !this.stops.includes(start) ? 1 : 0);
    this.put(this.stops[clamp(found + step, 0, this.stops.length - 1)]);
    this.view.follow();
  }

  showTable() {
    if (!this.details.open) return;
    const { columns, rows, row } = this.table();
    const every = Math.max(1, Math.ceil(rows / TABLE_ROWS));
    const thinned = every > 1 ? ` (${fill(this.words.thinned, { n: every, all: rows })})` : "";
    const head = element("tr", {}, ...columns.map((text) => element("th", { scope: "col" }, text)));
    const body = element("tbody");
    for (let index = 0; index < rows; index += every) {
      const [first, ...rest] = row(index);
      const cells = rest.map((text) => element("td", {}, text));
      body.append(element("tr", {}, element("th", { scope: "row" }, first), ...cells));
    }
    this.scroll.replaceChildren(element("table", { class: this.kind === "strip" ? "texts" : "" },
      element("caption", {}, this.title + thinned), element("thead", {}, head), body));
  }
}

// ---- Curves: time series and spectrum
// A series has its positions `xs`, values `y` and maybe a band from `low` to `high`; null is a gap.

class CurvePanel extends Panel {
  shown() {
    return this.entries.filter(({ name }) => !this.hidden.has(name));
  }

  summary() {
    const parts = this.entries.slice(0, 6).map(({ name, y }) => {
      const { low, high } = extremes([y], false);
      if (low > high) return `${name} ${this.words.empty}`;
      const ends = { low: this.text(low), high: this.text(high) };
      return `${name} ${fill(this.words.between, ends)}`;
    });
    return [this.title, ...parts, ...this.limits.map(({ label }) => label)];
  }

  // The indices in sight, and one more at each side so that lines run out of the picture.
  window({ xs }) {
    const [from, to] = this.ends();
    return [Math.max(0, lowerBound(xs, from) - 1), Math.min(xs.length - 1, lowerBound(xs, to))];
  }

  // Limits far above the data do not stretch the axis.
  axis(height) {
    const { log, unit } = this;
    const found = this.shown().map((one) => {
      return extremes([one.y, one.low, one.high].filter(Boolean), log, this.window(one));
    });
    let low = Math.min(...found.map((one) => one.low));
    let high = Math.max(...found.map((one) => one.high));
    if (low > high) [low, high] = log ? [1e-3, 1] : [0, 0];
    const most = high;
    for (const { y } of this.limits) {
      if (y <= 0 || (most > 0 && y > most * (log ? 20 : 2.5))) continue;
      high = Math.max(high, y);
      if (!log || y > low / 20) low = Math.min(low, y);
    }
    return (log ? logAxis : linearAxis)(unit, low, high, Math.max(2, Math.floor(height / 36)));
  }

  paint(pen, box) {
    const { colours } = this.view;
    const across = this.across();
    const axis = this.axis(box.bottom - box.top);
    const up = scale(axis.low, axis.high, box.bottom, box.top, axis.log);
    horizontalLines(pen, box, axis.ticks, up, colours);
    bottomAxis(pen, box, this.bottomTicks(box), across, colours);
    if (!this.entries.some((one) => one.xs.length)) return this.paintEmpty(pen, box);
    clipped(pen, box, () => {
      this.shown().forEach((one) => this.band(pen, one, across, up));
      if (this.timed) this.paintMarks(pen, box);
      this.shown().forEach((one, turn) => this.curve(pen, one, across, up, turn));
    });
    this.paintLimits(pen, box, up);
  }

  band(pen, one, across, up) {
    const { xs, low, high, style } = one;
    if (!low || !high) return;
    pen.fillStyle = this.view.colours.series[style.colour];
    pen.globalAlpha = 0.18;
    pen.beginPath();
    const [first, last] = this.window(one);
    for (let index = first + 1; index <= last; index += 1) {
      if ([low[index - 1], high[index - 1], low[index], high[index]].includes(null)) continue;
      const [from, to] = [across.at(xs[index - 1]), across.at(xs[index])];
      pen.moveTo(from, up.at(low[index - 1]));
      pen.lineTo(from, up.at(high[index - 1]));
      pen.lineTo(to, up.at(high[index]));
      pen.lineTo(to, up.at(low[index]));
    }
    pen.fill();
    pen.globalAlpha = 1;
  }

  // A line with gaps; a point that stands alone becomes a marker. Others are 90 px apart, shifted by series.
  curve(pen, one, across, up, turn) {
    const { xs, y, style } = one;
    const colour = this.view.colours.series[style.colour];
    const [first, last] = this.window(one);
    const gap = (index) => (y[index] ?? null) === null;
    const marked = [];
    let next = LEFT + 20 + (turn * 23) % 90;
    pen.strokeStyle = colour;
    pen.lineWidth = 1.75;
    pen.setLineDash(style.dash);
    pen.beginPath();
    for (let index = first; index <= last; index += 1) {
      if (gap(index)) continue;
      const [x, height] = [across.at(xs[index]), up.at(y[index])];
      if (index === first || gap(index - 1)) pen.moveTo(x, height);
      else pen.lineTo(x, height);
      const alone = gap(index - 1) && gap(index + 1);
      if (!alone && (!style.marker || x < next)) continue;
      marked.push([x, height]);
      next = x + 90;
    }
    pen.stroke();
    pen.setLineDash([]);
    for (const [x, height] of marked) stamp(pen, style.marker || "circle", x, height, colour);
  }

  // Labels stand to the right and to the left in turn; an arrow shows that the limit is out of sight.
  paintLimits(pen, { left, right, top, bottom }, up) {
    const { surface, bad } = this.view.colours;
    pen.lineWidth = 1.25;
    pen.strokeStyle = bad;
    this.limits.forEach((limit, turn) => {
      const y = up.at(limit.y);
      const arrow = y < top - 1 ? " ↑" : y > bottom + 1 ? " ↓" : "";
      const text = `${limit.label ?? ""}${arrow}`;
      const width = pen.measureText(text).width;
      const start = turn % 2 ? left + 6 : right - width - 4;
      const middle = clamp(y - 9, top + 8 + 15 * (turn >> 1), bottom - 8);
      pen.setLineDash([9, 4]);
      if (!arrow) line(pen, left, Math.round(y) + 0.5, right, Math.round(y) + 0.5);
      pen.setLineDash([]);
      pen.globalAlpha = 0.85;
      pen.fillStyle = surface;
      pen.fillRect(start - 4, middle - 7, width + 8, 14);
      pen.globalAlpha = 1;
      pen.fillStyle = bad;
      write(pen, text, start, middle, "left");
    });
  }

  readings(position) {
    return this.entries.map((one) => ({ name: one.name, text: this.text(this.valueAt(one, position)) }));
  }

  table() {
    const { stops, timed, words } = this;
    const places = this.step < 1 ? 2 : this.step < 10 ? 1 : 0;
    const first = (stop) => (timed ? clock(stop, places) : this.instant(stop));
    return {
      columns: [timed ? words.time : words.percentile, ...this.entries.map(({ name }) => name)],
      rows: stops.length,
      row: (index) => [first(stops[index]), ...this.readings(stops[index]).map(({ text }) => text)],
    };
  }
}

class TimePanel extends CurvePanel {
  take(chart) {
    const series = list(chart.series);
    const styles = stylesFor(series);
    const xs = list(chart.t).map((time) => finite(time) ?? 0);
    const column = (values) => xs.map((_, index) => finite(values[index]));
    this.unit = String(chart.unit ?? "");
    this.log = chart.log === true;
    this.stops = xs;
    this.limits = list(chart.limits).filter((limit) => finite(limit.y) !== null);
    this.step = xs.length > 1 ? (xs[xs.length - 1] - xs[0]) / (xs.length - 1) : 1;
    this.entries = series.map(({ name, y, low, high }, index) => ({
      name: String(name ?? index), style: styles[index], xs, y: column(list(y)),
      low: Array.isArray(low) && column(low), high: Array.isArray(high) && column(high),
    }));
  }

  valueAt({ xs, y }, position) {
    const index = nearest(xs, position);
    return index >= 0 && Math.abs(xs[index] - position) <= this.step * 1.5 ? y[index] : null;
  }
}

class SpectrumPanel extends CurvePanel {
  quantile = null;

  take(spectrum) {
    const curves = list(spectrum.curves);
    const styles = stylesFor(curves);
    this.unit = String(spectrum.unit ?? "s");
    this.limits = [];
    this.entries = curves.map((curve, index) => {
      const points = list(curve.points).filter((point) => finite(point[0]) !== null && finite(point[1]) !== null);
      return {
        name: String(curve.name ?? index), style: styles[index],
        xs: points.map((point) => point[0]), y: points.map((point) => point[1]),
      };
    });
    this.stops = [...new Set(this.entries.flatMap(({ xs }) => xs))].sort(ascending);
    const { low, high } = extremes(this.entries.map(({ y }) => y), true);
    this.log = spectrum.log ?? high / low > 50;
  }

  // 1 / (1 - q), logarithmic. 100 % has no place there: it stands a little to the right of all others.
  across() {
    const nines = (quantile) => -Math.log10(1 - quantile);
    const below = this.stops.filter((quantile) => quantile < 1);
    const last = Math.max(1, ...below.map(nines));
    const full = below.length < this.stops.length;
    const right = full ? last * 1.08 + 0.2 : last;
    const plain = scale(0, right, this.box.left, this.box.right);
    return { right, full, at: (quantile) => plain.at(quantile >= 1 ? right : nines(quantile)),
      back: (pixel) => (full && plain.back(pixel) > (last + right) / 2 ? 1 : 1 - 10 ** -plain.back(pixel)) };
  }

  bottomTicks() {
    const { right, full } = this.across();
    const ticks = [0, 0.5];
    for (let nines = 1; nines <= right; nines += 1) ticks.push(1 - 10 ** -nines);
    if (full) ticks.push(1);
    return ticks.map((value) => ({ value, text: quantileText(value) }));
  }

  position() {
    return this.quantile;
  }

  put(quantile) {
    this.quantile = quantile;
    this.view.active = quantile === null ? null : this;
    this.view.schedule();
  }

  ends() {
    return [0, 1];
  }

  instant(quantile) {
    return quantileText(quantile);
  }

  // The first point at or after the quantile: never too small.
  valueAt({ xs, y }, quantile) {
    return y[lowerBound(xs, quantile - 1e-12)] ?? null;
  }

  key(event) {
    if (event.key === "Escape") this.put(null);
    return /^(Arrow(Left|Right)|Home|End)$/.test(event.key) && super.key(event);
  }
}

// ---- The strip of events

class StripPanel extends Panel {
  take() {
    const { marks, hiddenKinds } = this.view;
    this.hidden = hiddenKinds;
    const kinds = Object.keys(KINDS).filter((kind) => marks.some((mark) => mark.kind === kind));
    this.entries = kinds.map((kind) => ({ name: kind, label: this.words[kind], style: KINDS[kind] }));
  }

  summary() {
    const { marks } = this.view;
    const count = (kind) => marks.filter((mark) => mark.kind === kind).length;
    return [this.title, ...this.entries.map(({ name, label }) => `${label} ${count(name)}`)];
  }

  paint(pen, box) {
    const { colours } = this.view;
    const across = this.across();
    const middle = (box.top + box.bottom) / 2;
    const [from, to] = this.ends();
    const marks = this.view.visibleMarks();
    const seen = marks.filter((mark) => mark.at >= from && mark.at <= to);
    this.stops = [...new Set(marks.map((mark) => mark.at))];
    bottomAxis(pen, box, this.bottomTicks(box), across, colours);
    seen.forEach((mark, index) => {
      const x = across.at(mark.at);
      const { marker, tone } = KINDS[mark.kind];
      const next = index + 1 < seen.length ? across.at(seen[index + 1].at) - 6 : box.width;
      stamp(pen, marker, x, middle, colours[tone]);
      pen.fillStyle = colours.text;
      write(pen, this.shorten(pen, mark.text, next - x - 10), x + 8, middle, "left");
    });
  }

  // As much of the text as there is room for.
  shorten(pen, text, room) {
    const { width } = pen.measureText(text);
    const letters = Math.floor((text.length * room) / width) - 2;
    if (width <= room) return text;
    return letters > 2 ? `${text.slice(0, letters)}…` : "";
  }

  // Only near an event.
  snap(position) {
    const stop = super.snap(position);
    const across = this.across();
    return Math.abs(across.at(stop) - across.at(position)) <= 10 ? stop : position;
  }

  table() {
    const { marks } = this.view;
    return {
      columns: [this.words.time, this.words.event, this.words.detail],
      rows: marks.length,
      row: (index) => [clock(marks[index].at, 1), this.words[marks[index].kind], marks[index].text],
    };
  }
}

// ---- Heat map

class HeatPanel extends Panel {
  row = null;

  take(heat) {
    this.unit = String(heat.unit ?? "s");
    this.times = list(heat.t).map((time) => finite(time) ?? 0);
    this.width = finite(heat.width_s) || 1;
    this.stops = this.times.map((time) => time + this.width / 2);
    this.counts = this.times.map((_, index) => list(list(heat.counts)[index]).map((count) => finite(count) || 0));
    this.totals = this.counts.map(sum);
    this.most = Math.max(0, extremes(this.counts, false).high);
    const edges = list(heat.edges).filter((edge) => finite(edge) !== null && edge > 0);
    const rows = Math.max(0, ...this.counts.map((column) => column.length));
    while (edges.length > 1 && edges.length <= rows) edges.push(edges[edges.length - 1] ** 2 / edges[edges.length - 2]);
    this.edges = edges;
    this.rows = Math.max(0, edges.length - 1);
  }

  // The legend is a scale and the count of the cell at the cursor.
  rename() {
    super.rename();
    this.bar = part("canvas", "bar", { width: LEVELS * 4, height: 10, "aria-hidden": "true" });
    this.greatest = element("span");
    const cell = part("span", "value", { "aria-hidden": "true" });
    this.values.set(this.words.requests, cell);
    this.legend.replaceChildren(this.words.scale, " 1", this.bar, this.greatest, cell);
  }

  summary() {
    return [this.title, `${this.words.requests} ${whole.format(sum(this.totals))}`];
  }

  paint(pen, box) {
    const { colours } = this.view;
    const across = this.across();
    this.paintBar();
    bottomAxis(pen, box, this.bottomTicks(box), across, colours);
    if (!this.rows || !this.most) return this.paintEmpty(pen, box);
    const [low, high] = [this.edges[0], this.edges[this.rows]];
    const { ticks } = logAxis(this.unit, low, high, Math.floor((box.bottom - box.top) / 30));
    const inside = ticks.filter(({ value }) => value >= low * 0.999 && value <= high * 1.001);
    horizontalLines(pen, box, inside, this.up(), colours);
    clipped(pen, box, () => {
      this.cells(pen, across, this.up());
      this.paintMarks(pen, box);
    });
  }

  up() {
    return scale(this.edges[0], this.edges[this.rows], this.box.bottom, this.box.top, true);
  }

  // From pale to strong, so that of columns narrower than a pixel the greatest count is seen.
  cells(pen, across, up) {
    const byLevel = Array.from({ length: LEVELS }, () => []);
    const snap = (pixel) => Math.round(pixel * this.ratio) / this.ratio;
    const heights = this.edges.map((edge) => snap(up.at(edge)));
    const [from, to] = this.ends();
    const perLevel = Math.log(Math.max(this.most, 2)) / (LEVELS - 1);
    this.times.forEach((begin, index) => {
      if (begin + this.width < from || begin > to) return;
      const left = snap(across.at(begin));
      const width = Math.max(snap(across.at(begin + this.width)) - left, 1 / this.ratio);
      this.counts[index].forEach((count, row) => {
        const level = clamp(Math.round(Math.log(count) / perLevel), 0, LEVELS - 1);
        if (count > 0) byLevel[level].push([left, heights[row + 1], width, heights[row] - heights[row + 1]]);
      });
    });
    byLevel.forEach((rectangles, level) => {
      pen.fillStyle = this.view.colours.heat[level];
      for (const rectangle of rectangles) pen.fillRect(...rectangle);
    });
  }

  paintBar() {
    const pen = this.bar.getContext("2d");
    this.view.colours.heat.forEach((colour, level) => {
      pen.fillStyle = colour;
      pen.fillRect(level * 4, 0, 4, 10);
    });
    setText(this.greatest, whole.format(this.most));
  }

  hover(x, y) {
    if (this.rows) {
      const value = this.up().back(clamp(y, this.box.top, this.box.bottom));
      this.row = clamp(lowerBound(this.edges, value) - 1, 0, this.rows - 1);
    }
    super.hover(x);
  }

  key(event) {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step) return super.key(event);
    this.row = this.row === null ? 0 : clamp(this.row + step, 0, this.rows - 1);
    this.put(this.position() ?? this.snap(this.ends()[0]));
    return true;
  }

  readings(position) {
    const name = this.words.requests;
    const index = nearest(this.stops, position);
    if (index < 0 || Math.abs(this.stops[index] - position) > this.width) return [];
    const total = whole.format(this.totals[index]);
    if (this.view.active !== this || this.row === null) return [{ name, text: total }];
    const count = whole.format(this.counts[index][this.row] || 0);
    return [{ name, text: `${this.interval(this.row, this.row + 1)}: ${count} / ${total}` }];
  }

  interval(from, to) {
    const [low, high] = [from, Math.min(to, this.rows)].map((row) => this.text(this.edges[row]));
    return fill(this.words.between, { low, high });
  }

  // Neighbouring rows are put together, so that the table has at most twelve columns of counts.
  table() {
    const together = Math.max(1, Math.ceil(this.rows / 12));
    const starts = [];
    for (let row = 0; row < this.rows; row += together) starts.push(row);
    const counts = (column) => starts.map((start) => sum(column.slice(start, start + together)));
    return {
      columns: [this.words.time, this.words.requests, ...starts.map((start) => this.interval(start, start + together))],
      rows: this.times.length,
      row: (index) => [clock(this.times[index], this.width < 1 ? 1 : 0),
        ...[this.totals[index], ...counts(this.counts[index])].map((count) => whole.format(count))],
    };
  }
}
