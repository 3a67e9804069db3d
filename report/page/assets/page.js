
// The page: makes the figures, their legends, and the switch of colours.

const page = JSON.parse(document.getElementById("data").textContent);

// setTheme shows the page in light or dark colours.
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const button = document.getElementById("theme");
  button.textContent = dark ? "Light" : "Dark";
  button.setAttribute("aria-label", dark ? "Show in light colours" : "Show in dark colours");
  drawn.forEach(build);
  legends();
}

// legends names the series of each figure, once each.
function legends() {
  document.querySelectorAll(".picture").forEach((element, k) => {
    const list = element.querySelector(".legend"), seen = new Set();
    list.replaceChildren();
    for (const panel of page.figures[k].panels) {
      for (const s of panel.series) {
        const key = s.role + s.index + s.label;
        if (!s.label || seen.has(key)) continue;
        seen.add(key);
        const item = document.createElement("li"), swatch = document.createElement("i");
        swatch.style.color = colourOf(s);
        item.append(swatch, s.label);
        list.append(item);
      }
    }
  });
}

// groupOf names the panels of a figure whose cursors go together: those with the same
// axis of x.
function groupOf(k, panel) {
  return panel.x.scale === "names" ? "" : k + panel.x.label + panel.x.unit;
}

document.querySelectorAll(".picture").forEach((element, k) => {
  const figure = page.figures[k], panels = element.querySelector(".panels");
  const alike = ["ccdf", "ecdf", "blame", "bars"].includes(figure.kind);
  const widths = figure.widths && figure.widths.length ? figure.widths : Array(figure.columns).fill(1);
  panels.style.gridTemplateColumns = alike ? "repeat(auto-fit, minmax(min(100%, " + (figure.kind === "blame" || figure.kind === "bars" ? 520 : 330) + "px), 1fr))" :
    widths.map(w => "minmax(0, " + w + "fr)").join(" ");
  element.querySelectorAll(".plot").forEach((plot, i) => {
    const panel = figure.panels[i];
    panel.several = new Set((panel.marks || []).map(m => m.index).filter(k => k >= 0)).size > 1;
    keys(makePanel(panel, plot, groupOf(k, panel)));
  });
});

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", e => setTheme(e.matches));
setTheme(prefersDark.matches);
document.getElementById("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
document.documentElement.dataset.ready = "yes";
