// What the page knows of the run: asked once, then kept up to date by the stream of events.

export class Refused extends Error {
  constructor(status, body) {
    super(body.text || `HTTP ${status}`);
    this.status = status;
    this.body = body;
  }
}

// The token comes behind the # of the link, which no server sees, and stays in this tab.
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token") || "";
}

export class Api {
  constructor(token) {
    this.token = token;
  }

  async fetch(path, options = {}) {
    const headers = { ...options.headers, authorization: `Bearer ${this.token}` };
    const answer = await fetch(path, { ...options, headers, cache: "no-store", redirect: "error" });
    if (answer.ok) return answer;
    let body = {};
    try {
      body = await answer.json();
    } catch {
      // It says nothing that could be shown.
    }
    throw new Refused(answer.status, body);
  }

  async get(path) {
    return (await this.fetch(path)).json();
  }

  async post(path, body) {
    const headers = { "content-type": "application/json" };
    return (await this.fetch(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
  }

  // Reads the stream of events until it ends; `hear(kind, data)` for each.
  async listen(hear, signal) {
    const answer = await this.fetch("/api/events", { signal });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      let end;
      while ((end = rest.indexOf("\n\n")) >= 0) {
        const lines = rest.slice(0, end).split("\n");
        rest = rest.slice(end + 2);
        const kind = lines.find((line) => line.startsWith("event: "))?.slice(7);
        const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
        if (kind) hear(kind, data ? JSON.parse(data) : {});
      }
    }
  }
}

// Puts the last point of all series into the charts. False: the charts must be read anew.
export function addPoint(charts, point, unknown) {
  if (!charts?.charts || !point?.charts) return false;
  const length = Math.max(0, ...charts.charts.map((chart) => chart.t.length));
  const { index } = point;
  if (index !== length && index !== length - 1) return false;
  if ((charts.marks?.length ?? 0) !== point.marks) return false;
  for (const chart of point.charts) {
    const known = charts.charts.find((one) => one.id === chart.id);
    if (!known) {
      if (unknown.has(chart.id)) continue;
      return false;
    }
    known.t[index] = chart.t[0];
    for (const line of chart.series) {
      const same = known.series.find((one) => one.key === line.key);
      if (!same) {
        if (unknown.has(`${chart.id} ${line.key}`)) continue;
        return false;
      }
      for (const column of ["y", "low", "high"]) {
        if (same[column] || line[column]) (same[column] ||= same.y.slice())[index] = (line[column] || line.y)[0];
      }
    }
  }
  for (const known of charts.charts) {
    // What this point says nothing of has a gap.
    const time = point.charts.find((one) => one.t.length)?.t[0];
    if (known.t.length === index && time !== undefined) known.t[index] = time;
    for (const line of known.series) {
      for (const column of ["y", "low", "high"]) if (line[column] && line[column].length <= index) line[column][index] = null;
    }
  }
  charts.span_s = point.span_s;
  if (point.spectrum && charts.spectrum) {
    charts.spectrum.curves.forEach((curve, place) => { curve.points = point.spectrum.curves[place]?.points || curve.points; });
  }
  return addHeat(charts, point, index);
}

function addHeat(charts, point, index) {
  const { heat } = charts;
  if (!heat) return !point.heat;
  // Intervals without answers have columns too.
  for (let place = heat.t.length; place <= index; place += 1) {
    heat.t[place] = place === index ? point.from_s : heat.t[place - 1] + heat.width_s;
    heat.counts[place] = [];
  }
  if (!point.heat) return true;
  const same = (one, other) => Math.abs(one / other - 1) < 1e-3;
  const first = heat.edges.findIndex((edge) => same(edge, point.heat.edges[0]));
  if (first < 0 || first + point.heat.edges.length > heat.edges.length) return false;
  const column = new Array(heat.edges.length - 1).fill(0);
  point.heat.counts[0].forEach((count, row) => { column[first + row] = count; });
  heat.t[index] = point.heat.t[0];
  heat.counts[index] = column;
  heat.width_s = Math.max(heat.width_s, point.heat.width_s);
  return true;
}
