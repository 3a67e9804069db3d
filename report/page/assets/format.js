
"use strict";
// Numbers and colours for people.

// shown writes v with about four digits, thousands grouped.
function shown(v) {
  if (v === 0) return "0";
  const a = Math.abs(v);
  const digits = a >= 999.5 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(a)));
  let text = v.toFixed(Math.min(12, digits));
  if (text.includes(".")) text = text.replace(/\.?0+$/, "");
  const [whole, part] = text.split(".");
  return whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",") + (part ? "." + part : "");
}

// measured writes v with the unit of an axis.
function measured(v, axis) { return shown(v) + (axis.unit ? " " + axis.unit : ""); }

// heading writes what an axis shows.
function heading(axis) { return axis.label ? axis.label + (axis.unit ? ", " + axis.unit : "") : ""; }

// style returns a colour of the style sheet.
function style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

// colourOf returns that of a series.
function colourOf(series) {
  const several = { run: 6, percentile: 5, stall: 5, cause: 18, usual: 2 };
  const n = several[series.role];
  return style("--" + series.role + (n ? series.index % n : "")) || style("--run0");
}

// decades returns the ticks of a logarithmic axis from one value to another: as many
// parts of each decade as it takes for four of them, or equal steps where even tenths
// of a decade are too coarse.
function decades(min, max) {
  for (const steps of [[1], [1, 3], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5]]) {
    const list = [];
    for (let e = Math.floor(Math.log10(min)) - 1; e <= Math.ceil(Math.log10(max)); e++) {
      for (const s of steps) {
        const v = Number((s * Math.pow(10, e)).toPrecision(3));
        if (v >= min * 0.999 && v <= max * 1.001) list.push(v);
      }
    }
    if (list.length >= 4) return list;
  }
  const raw = (max - min) / 5, unit = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = unit * [1, 2, 5, 10].find(k => k * unit >= raw), list = [];
  for (let v = Math.ceil(min / step) * step; v <= max; v += step) list.push(Number(v.toPrecision(6)));
  return list;
}
