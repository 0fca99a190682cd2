// The tables below the charts, and the numbers in them.

const none = "–";

export function time(ns) {
  if (ns === null || ns === undefined) return none;
  const [factor, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${Number((ns / factor).toPrecision(4))} ${unit}`;
}

export function count(number) {
  return number === null || number === undefined ? none : Math.round(number).toLocaleString("en-US");
}

export function rate(number) {
  if (number === null || number === undefined) return none;
  return number >= 100 ? count(number) : String(Number(number.toPrecision(3)));
}

export function size(number) {
  if (number === null || number === undefined) return none;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  let left = number;
  while (left >= 1024 && place < units.length - 1) {
    left /= 1024;
    place += 1;
  }
  return `${Number(left.toPrecision(4))} ${units[place]}`;
}

export function clock(seconds) {
  if (seconds === null || seconds === undefined) return none;
  const all = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(all / 3600), Math.floor(all / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(all % 60)}` : `${minutes}:${two(all % 60)}`;
}

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// Cells that begin a row with words have the class `text`.
function table(title, heads, rows, texts = 1) {
  const cell = (tag) => (value, place) => element(tag, place < texts ? { class: "text" } : {}, String(value ?? none));
  const head = element("thead", {}, element("tr", {}, ...heads.map(cell("th"))));
  const body = element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell("td")))));
  const whole = element("table", {}, element("caption", {}, title), head, body);
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, whole);
}

// With what was given up, each as long as it had waited, where there is such a thing. What stalls of the generator made longer is
// marked.
function shown(times, key, words) {
  const incomplete = times?.with_incomplete;
  const whole = incomplete && incomplete[key] !== undefined ? incomplete : times;
  const name = key.replace(/_ns$/, "");
  const mark = whole?.unreliable?.includes(name) ? "!" : "";
  return (whole?.at_least?.includes(name) ? words.at_least : "") + time(whole?.[key]) + mark;
}

export const timeOf = shown;

export function tables(run, words, language) {
  const zh = language === "zh";
  const source = run.report || run.live || {};
  const made = [];
  const elapsed = run.report?.wall_s || run.now_s || 0;
  const parts = (source.scenarios || []).flatMap((scenario) => [
    ...(scenario.steps || []).map((part) => [scenario.name, words.step_kind, part]),
    ...(scenario.transactions || []).map((part) => [scenario.name, words.transaction, part]),
  ]);
  const keys = ["min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns"];
  const names = [words.least, words.mean, "p50", "p90", "p99", "p99.9", words.max];
  if (parts.length) {
    const heads = [words.step, words.kind, words.scenario, words.finished, words.failed, words.per_s, ...names];
    const rows = parts.map(([scenario, kind, part]) => [part.name, kind, scenario, count(part.finished), count(part.failed),
      rate(elapsed ? part.finished / elapsed : null), ...keys.map((key) => shown(part.response_time, key, words))]);
    made.push(table(words.steps, heads, rows, 3));
  }
  const checks = (source.scenarios || []).flatMap((scenario) => (scenario.checks || []).map((one) => [scenario.name, one]));
  if (checks.length) {
    const heads = [words.check, words.scenario, words.passed, words.failed];
    const rows = checks.map(([scenario, one]) => [one.name, scenario, count(one.passed), count(one.failed)]);
    made.push(table(words.checks, heads, rows, 2));
  }
  if (source.addresses?.length) {
    const heads = [words.address, words.address_connections, words.address_requests, words.failed, ...names];
    const rows = source.addresses.map((one) => [zh ? one.text_zh : one.text, count(one.connections), count(one.sent),
      count(one.failed), ...keys.map((key) => shown(one.response_time, key, words))]);
    made.push(table(words.addresses, heads, rows));
  }
  if (source.thresholds?.length) {
    const known = (one) => (one.unit === "ns" ? time(one.value) : one.unit === "ratio" && one.value !== null
      ? `${(one.value * 100).toFixed(3)}%` : rate(one.value));
    const value = (one) => (zh ? one.reason_zh : one.reason) || known(one) + (one.address ? ` (${one.address})` : "");
    const rows = source.thresholds.map((one) => [one.threshold, value(one), one.holds ? words.holds : words.crossed]);
    made.push(table(words.thresholds, [words.condition, words.value, run.report ? "" : words.so_far], rows));
  }
  if (source.failures?.length) {
    const name = (one) => one.reason + (one.detail ? ` (${one.detail})` : "");
    const rows = source.failures.map((one) => {
      const seen = run.met?.get(name(one)) || one;
      return [run.names?.get(name(one)) || name(one), (zh ? one.remedy_zh : one.remedy) || "", count(one.count),
        clock(seen.first_s), clock(seen.last_s)];
    });
    made.push(table(words.failure_table, [words.reason, words.remedy, words.count, words.first, words.last], rows, 2));
  }
  if (source.slowest?.length) {
    const rows = source.slowest.map((one) => [one.step || one.scenario || "", one.trace_id || "", one.status ?? none,
      clock(one.at_s), time(one.response_ns)]);
    made.push(table(words.slowest, [words.step, words.trace, words.status, words.at, words.p99.replace("p99 ", "")], rows, 2));
  }
  if (source.workers?.list?.length) {
    const each = source.workers.list;
    const rows = each.map((one) => [one.name, `${(one.share * 100).toFixed(1)}%`, count(one.started), count(one.failed),
      one.loss_count ? words.was_lost : ""]);
    const rest = (source.workers.count || each.length) - each.length;
    if (rest > 0) rows.push([`+ ${count(rest)}`, "", "", "", ""]);
    made.push(table(words.workers, [words.worker, words.share, words.started, words.failed, ""], rows));
  }
  if (run.events?.length) {
    const rows = run.events.slice(-100).reverse().map((one) => [zh ? one.text_zh : one.text, clock(one.at_s)]);
    made.push(table(words.events, [words.what, words.at], rows));
  }
  return made;
}
