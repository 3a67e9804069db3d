
// Panels: uPlot lays out the axes, zooms and resizes; what is in them is drawn here,
// since each series has points of its own.

// drawn is every panel on the page.
const drawn = [];

// makePanel draws panel in element; its cursor moves with those of the same group.
function makePanel(panel, element, group) {
  const p = { panel, element, group, at: null };
  build(p);
  new ResizeObserver(() => {
    if (element.clientWidth !== p.plot.width || element.clientHeight !== p.plot.height) {
      p.plot.setSize({ width: element.clientWidth, height: element.clientHeight });
    }
  }).observe(element);
  drawn.push(p);
  return p;
}

// build makes the plot of p anew, in the colours of now.
function build(p) {
  const range = p.plot ? p.plot.scales.x : null;
  if (p.plot) p.plot.destroy();
  p.plot = new uPlot(options(p), [[p.panel.x.min, p.panel.x.max], [null, null]], p.element);
  if (range && range.min !== null) p.plot.setScale("x", { min: range.min, max: range.max });
  watch(p);
}

// options returns what uPlot is to do for p.
function options(p) {
  const { x, y } = p.panel;
  return {
    width: p.element.clientWidth, height: p.element.clientHeight,
    legend: { show: false },
    padding: [10, 14, 0, 0],
    scales: {
      x: scale(x, (u, min, max) => [min, max]),
      y: scale(y, () => [y.min, y.max]),
    },
    axes: [axis(x, "x", p), axis(y, "y", p)],
    series: [{}, { paths: () => null, points: { show: false } }],
    cursor: {
      y: false, points: { show: false },
      drag: { x: x.scale !== "names", y: false, setScale: true },
      sync: p.group ? { key: p.group, setSeries: false, scales: ["x", null] } : undefined,
    },
    hooks: { draw: [u => draw(u, p)] },
  };
}

// scale returns the scale of an axis.
function scale(axis, range) {
  const s = { time: false, range };
  if (axis.scale === "log") { s.distr = 3; s.log = 10; }
  if (axis.scale === "names") s.dir = -1;
  return s;
}

// axis returns how an axis looks.
function axis(a, side, p) {
  const out = {
    stroke: style("--axis"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", label: heading(a), labelSize: 18, labelGap: side === "x" ? 0 : 2,
    grid: { stroke: style("--grid"), width: 1 }, ticks: { stroke: style("--grid"), width: 1, size: 4 }, gap: 4,
    values: (u, list) => list.map(v => v === null ? "" : shown(v)),
  };
  if (side === "x") { out.size = 26; out.space = 60; } else { out.size = 52; out.space = 26; }
  if (a.scale === "log") {
    out.splits = (u, i, min, max) => decades(min, max);
    out.filter = (u, list) => list;
    out.values = (u, list) => thinned(u, list, side).map(v => v === null ? "" : shown(v));
  }
  if (a.scale === "names") {
    out.splits = () => a.names.map((_, i) => i);
    const size = side === "y" ? Math.min(p.element.clientWidth * 0.36, 12 + 6.6 * Math.max(...a.names.map(n => n.length))) : 30;
    out.size = size;
    out.values = () => a.names.map(n => n.length * 6.6 > size - 8 && side === "y" ? n.slice(0, Math.max(3, Math.floor(size / 6.6) - 3)) + "…" : n);
    out.grid.show = false;
  }
  return out;
}

// thinned leaves out labels that have no room beside the one before.
function thinned(u, list, side) {
  const room = side === "x" ? 44 : 15;
  let last = NaN;
  return list.map(v => {
    const at = u.valToPos(v, side);
    if (Math.abs(at - last) < room) return null;
    last = at;
    return v;
  });
}

// draw draws what is in a panel.
function draw(u, p) {
  const c = u.ctx, { left, top, width, height } = u.bbox, dpr = devicePixelRatio || 1;
  const X = v => u.valToPos(v, "x", true), Y = v => u.valToPos(v, "y", true);
  c.save();
  c.beginPath();
  c.rect(left, top - 2 * dpr, width, height + 4 * dpr);
  c.clip();
  for (const s of p.panel.series) {
    c.fillStyle = c.strokeStyle = colourOf(s);
    c.lineWidth = (s.x.length > 200 && s.role !== "run" || p.panel.x.scale === "linear" ? 1.3 : 1.75) * dpr;
    c.lineJoin = "round";
    shapes[s.shape](c, s, X, Y, { dpr, floor: top + height, plot: u });
    if (s.low && s.shape !== "bars") whiskers(c, s, X, Y, dpr);
  }
  c.restore();
  marks(u, p, X, Y, dpr);
  if (p.at) ring(c, p, X, Y, dpr);
}

// shapes draw the points of a series.
const shapes = {
  line(c, s, X, Y) {
    c.beginPath();
    s.x.forEach((x, i) => i ? c.lineTo(X(x), Y(s.y[i])) : c.moveTo(X(x), Y(s.y[i])));
    c.stroke();
  },
  steps(c, s, X, Y) {
    c.beginPath();
    s.x.forEach((x, i) => {
      if (!i) return c.moveTo(X(x), Y(s.y[i]));
      c.lineTo(X(x), Y(s.y[i - 1]));
      c.lineTo(X(x), Y(s.y[i]));
    });
    c.stroke();
  },
  dots(c, s, X, Y, { dpr }) {
    const r = (s.role === "usual" ? 1.1 : s.role === "stall" ? 1.8 + 0.6 * s.index : 4) * dpr;
    c.globalAlpha = s.role === "usual" ? 0.7 : 0.9;
    s.x.forEach((x, i) => { c.beginPath(); c.arc(X(x), Y(s.y[i]), r, 0, 7); c.fill(); });
    c.globalAlpha = 1;
  },
  stems(c, s, X, Y, { dpr, floor }) {
    c.lineWidth = 1.1 * dpr;
    c.globalAlpha = 0.5;
    c.beginPath();
    s.x.forEach((x, i) => { c.moveTo(X(x), floor); c.lineTo(X(x), Y(s.y[i])); });
    c.stroke();
    c.globalAlpha = 1;
    s.x.forEach((x, i) => { c.beginPath(); c.arc(X(x), Y(s.y[i]), 2.4 * dpr, 0, 7); c.fill(); });
  },
  bars(c, s, X, Y, { plot }) {
    const thick = Math.abs(plot.valToPos(1, "y", true) - plot.valToPos(0, "y", true)) * 0.62;
    s.y.forEach((y, i) => c.fillRect(X(s.low[i]), Y(y) - thick / 2, X(s.high[i]) - X(s.low[i]), thick));
  },
};

// whiskers draws the intervals of a series.
function whiskers(c, s, X, Y, dpr) {
  c.lineWidth = dpr;
  c.globalAlpha = 0.7;
  c.beginPath();
  s.x.forEach((x, i) => {
    if (s.low[i] === s.high[i]) return;
    c.moveTo(X(x), Y(s.low[i]));
    c.lineTo(X(x), Y(s.high[i]));
  });
  c.stroke();
  c.globalAlpha = 1;
}

// marks draws the lines across a panel, with their labels where there is room.
function marks(u, p, X, Y, dpr) {
  const c = u.ctx, { left, top, width, height } = u.bbox;
  const taken = [];
  c.save();
  c.font = 12 * dpr + "px system-ui, sans-serif";
  c.textAlign = "left";
  c.textBaseline = "alphabetic";
  for (const m of p.panel.marks || []) {
    const colour = m.kind === "limit" ? style("--limit") : m.index >= 0 && p.panel.several ? style("--run" + m.index % 6) : style("--mark");
    const at = m.on === "x" ? X(m.value) : Y(m.value);
    if (p.panel.several && m.index >= 0 && m.on === "x") {
      spot(c, p, m, X, Y, dpr);
      continue;
    }
    if (m.on === "x" ? at < left || at > left + width : at < top || at > top + height) continue;
    c.strokeStyle = c.fillStyle = colour;
    c.lineWidth = dpr;
    c.setLineDash(m.kind === "limit" ? [2 * dpr, 3 * dpr] : m.kind === "worst" ? [] : [6 * dpr, 4 * dpr]);
    c.globalAlpha = 0.75;
    c.beginPath();
    if (m.on === "x") { c.moveTo(at, top); c.lineTo(at, top + height); } else { c.moveTo(left, at); c.lineTo(left + width, at); }
    c.stroke();
    c.globalAlpha = 1;
    label(c, m, m.on === "x" ? at : above(p, at, Y, dpr), u.bbox, taken, dpr);
  }
  c.restore();
}

// above returns where the label of a mark at a height stands: over the highest of the
// marks that lie within a line's height of each other.
function above(p, at, Y, dpr) {
  const heights = p.panel.marks.filter(m => m.on === "y").map(m => Y(m.value)).sort((a, b) => b - a);
  for (const h of heights) if (h < at && at - h < 16 * dpr) at = h;
  return at;
}

// spot marks a value of one of several runs on its line, where labels would hide each
// other.
function spot(c, p, m, X, Y, dpr) {
  const s = p.panel.series.find(s => s.role === "run" && s.index === m.index);
  if (!s || s.shape !== "line") return;
  const i = s.x.findIndex(x => x >= m.value);
  if (i < 0) return;
  const part = i ? (m.value - s.x[i - 1]) / (s.x[i] - s.x[i - 1] || 1) : 0;
  const y = i ? s.y[i - 1] + (s.y[i] - s.y[i - 1]) * part : s.y[0];
  c.fillStyle = style("--back");
  c.strokeStyle = colourOf(s);
  c.lineWidth = 2 * dpr;
  c.beginPath();
  c.arc(X(m.value), Y(y), 4 * dpr, 0, 7);
  c.fill();
  c.stroke();
}

// label writes the label of a mark where none stands yet.
function label(c, m, at, box, taken, dpr) {
  const wide = c.measureText(m.label).width, tall = 14 * dpr, pad = 3 * dpr;
  let x, y;
  if (m.on === "x") {
    x = at + pad + wide > box.left + box.width ? at - pad - wide : at + pad;
    y = box.top + tall - pad;
  } else {
    x = box.left + box.width - wide - pad;
    y = at - pad - tall < box.top ? at + tall - pad / 2 : at - pad;
  }
  const hits = () => taken.find(t => x < t.x + t.w && t.x < x + wide && y - tall < t.y && t.y - t.h < y);
  for (let other = hits(), tries = 0; other && tries < 9; other = hits(), tries++) {
    if (m.on === "x") y += tall;
    else x = other.x - wide - 14 * dpr;
  }
  if (x < box.left || y > box.top + box.height) return;
  taken.push({ x, y, w: wide, h: tall });
  c.save();
  c.fillStyle = style("--back");
  c.globalAlpha = 0.8;
  c.fillRect(x - 2 * dpr, y - tall + 2 * dpr, wide + 4 * dpr, tall);
  c.restore();
  c.fillText(m.label, x, y);
}

// ring shows which point the words are about.
function ring(c, p, X, Y, dpr) {
  const { series, i } = p.at;
  c.save();
  c.strokeStyle = style("--text");
  c.lineWidth = 2 * dpr;
  c.beginPath();
  if (series.shape === "bars") c.rect(X(series.low[i]), Y(series.y[i]) - 9 * dpr, X(series.high[i]) - X(series.low[i]), 18 * dpr);
  else c.arc(X(series.x[i]), Y(series.y[i]), 5 * dpr, 0, 7);
  c.stroke();
  c.restore();
}
