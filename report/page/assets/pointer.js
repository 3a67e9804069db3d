
// Pointer and keyboard: which point is asked about, and what is said of it.

// watch lets the plot of p be asked.
function watch(p) {
  const over = p.plot.over;
  let downAt = null;
  over.addEventListener("mousemove", e => point(p, nearest(p, e.offsetX, e.offsetY)));
  over.addEventListener("mouseleave", () => point(p, null));
  over.addEventListener("mousedown", e => { downAt = [e.clientX, e.clientY]; });
  over.addEventListener("click", e => {
    if (downAt && Math.hypot(e.clientX - downAt[0], e.clientY - downAt[1]) < 4) follow(p);
  });
}

// nearest returns the point of p nearest to a place of its plot, or null.
function nearest(p, left, top) {
  const u = p.plot;
  let best = null, least = 40 * 40;
  for (const series of p.panel.series) {
    if (series.shape === "bars") {
      const thick = Math.abs(u.valToPos(1, "y") - u.valToPos(0, "y")) * 0.31;
      series.y.forEach((y, i) => {
        const on = left >= u.valToPos(series.low[i], "x") && left < u.valToPos(series.high[i], "x");
        if (on && Math.abs(top - u.valToPos(y, "y")) <= thick) { best = { series, i }; least = 0; }
      });
      continue;
    }
    const joined = series.shape === "line" || series.shape === "steps";
    series.x.forEach((x, i) => {
      const dx = u.valToPos(x, "x") - left, dy = u.valToPos(series.y[i], "y") - top;
      // On a line what counts is the instant, among lines the nearest of them.
      const d = joined ? Math.min(1600, dx * dx) + dy * dy / 16 : dx * dx + dy * dy;
      if (d < least && dx * dx < 1600) { best = { series, i }; least = d; }
    });
  }
  return best;
}

// point says what there is to say of a point of p, or nothing if that is null.
function point(p, at) {
  const same = p.at && at && p.at.series === at.series && p.at.i === at.i;
  if (same || !p.at && !at) return;
  p.at = at;
  p.plot.redraw(false);
  const tip = tipOf(p);
  tip.hidden = !at;
  if (!at) return;
  const words = wordsOf(p, at);
  tip.replaceChildren();
  words.forEach((w, i) => {
    const line = document.createElement(i ? "span" : "b");
    line.textContent = w;
    tip.append(line);
    if (i && i + 1 < words.length) tip.append(document.createElement("br"));
  });
  place(p, tip, at);
  return words;
}

// wordsOf returns the lines that tell of a point.
function wordsOf(p, { series, i }) {
  const { x, y } = p.panel, words = [];
  if (series.shape === "bars") {
    words.push(series.label, y.names[series.y[i]] + ": " + measured(series.high[i] - series.low[i], x));
  } else {
    words.push(measured(series.y[i], y) + (series.label ? " · " + series.label : ""));
    words.push(x.label + " " + measured(series.x[i], x));
    if (series.low && series.low[i] !== series.high[i]) words.push("95 % interval " + shown(series.low[i]) + " to " + measured(series.high[i], y));
  }
  if (series.notes && series.notes[i]) words.push(series.notes[i]);
  if (lifeFor(p, { series, i })) words.push("Click or press Enter: the life of a request that it concerns");
  return words;
}

// tipOf returns the box of words of p.
function tipOf(p) {
  let tip = p.element.querySelector(".tip");
  if (!tip) {
    tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("aria-hidden", "true");
    p.element.append(tip);
  }
  return tip;
}

// place puts the box of words beside its point, within the plot.
function place(p, tip, { series, i }) {
  const u = p.plot, over = u.over;
  const x = over.offsetLeft + u.valToPos(series.shape === "bars" ? (series.low[i] + series.high[i]) / 2 : series.x[i], "x");
  const y = over.offsetTop + u.valToPos(series.y[i], "y");
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(0, Math.min(p.element.clientWidth - w, x + 12 + w > p.element.clientWidth ? x - w - 12 : x + 12)) + "px";
  tip.style.top = Math.max(-8, Math.min(p.element.clientHeight - h, y - h - 10)) + "px";
}

// lifeFor returns the life on the page of the request that a point is due to, or of
// one that its prompt delayed; null if there is none.
function lifeFor(p, { series, i }) {
  const id = series.ids ? series.ids[i] : -1;
  if (id === undefined || id < 0) return null;
  const lives = page.lives.filter(l => l.run === p.panel.run);
  return lives.find(l => l.id === id) || lives.find(l => l.by.includes(id)) || null;
}

// follow opens the life that the point under the pointer leads to.
function follow(p) {
  const life = p.at && lifeFor(p, p.at);
  if (!life) return;
  const element = document.getElementById("life-" + life.run + "-" + life.id);
  element.open = true;
  element.scrollIntoView({ block: "start" });
  element.querySelector("summary").focus({ preventScroll: true });
}

// keys lets the keyboard ask: left and right go along a series, up and down to the
// next one, plus and minus zoom.
function keys(p) {
  p.element.addEventListener("keydown", e => {
    const list = p.panel.series.filter(s => s.x.length > 0 || s.y.length > 0);
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    if (e.key === "Escape") return void point(p, null);
    if (e.key === "Enter") return void follow(p);
    if (e.key === "+" || e.key === "-") return zoom(p, e.key === "+" ? 0.5 : 2);
    if (!moves[e.key] || !list.length) return;
    e.preventDefault();
    const [across, along] = moves[e.key];
    let k = p.at ? list.indexOf(p.at.series) : 0, i = p.at ? p.at.i + along : 0;
    k = (k + across + list.length) % list.length;
    i = Math.max(0, Math.min(list[k].y.length - 1, i));
    const words = point(p, { series: list[k], i });
    if (words) document.getElementById("said").textContent = words.join(", ");
  });
  p.element.addEventListener("blur", () => point(p, null));
}

// zoom shows a part of the x axis of p around the point asked about, or its middle.
function zoom(p, by) {
  const { x } = p.panel, s = p.plot.scales.x;
  if (x.scale === "names") return;
  const to = x.scale === "log" ? Math.log : v => v, from = x.scale === "log" ? Math.exp : v => v;
  const low = to(s.min), high = to(s.max);
  const middle = p.at ? to(p.at.series.x[p.at.i]) : (low + high) / 2, half = (high - low) / 2 * by;
  p.plot.setScale("x", { min: Math.max(x.min, from(middle - half)), max: Math.min(x.max, from(middle + half)) });
}
