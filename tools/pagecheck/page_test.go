package pagecheck

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// blank says which canvas has nothing on it, or axes alone.
const blank = `[...document.querySelectorAll(".plot canvas")].map((c, i) => {
	const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, colours = new Set();
	let n = 0;
	for (let k = 0; k < d.length; k += 4) if (d[k + 3]) { n++; colours.add(d[k] + "," + d[k + 1] + "," + d[k + 2] + "," + d[k + 3]); }
	return n < 500 || colours.size < 8 ? "canvas " + i + " has " + n + " pixels in " + colours.size + " colours; " : "";
}).join("") || (document.querySelectorAll(".plot canvas").length ? "" : "no canvas")`

// spilt says what is wider than the window, or lies over something else.
const spilt = `(() => {
	const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
	if (wide > 0) return "the page is " + wide + " pixels wider than its window";
	const list = [...document.querySelectorAll("h1, h2, h3, h4, .verdict, .why, .reading, .note, .caption, .plot, .still, .legend li, nav a, #theme, .wide, pre, summary, .facts dt, .facts dd, .track, .axis")]
		.map(e => ({ e, r: e.getBoundingClientRect() })).filter(x => x.r.width > 0 && x.r.height > 0 && x.e.checkVisibility());
	for (const { e, r } of list) {
		if (r.left < -0.5 || r.right > document.documentElement.clientWidth + 0.5) return e.tagName + " " + e.className + " leaves the window: " + r.left + " to " + r.right;
	}
	for (let i = 0; i < list.length; i++) for (let k = i + 1; k < list.length; k++) {
		const a = list[i].r, b = list[k].r;
		if (list[i].e.contains(list[k].e) || list[k].e.contains(list[i].e)) continue;
		if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5) {
			return list[i].e.tagName + " " + list[i].e.textContent.slice(0, 40) + " lies over " + list[k].e.tagName + " " + list[k].e.textContent.slice(0, 40);
		}
	}
	return "";
})()`

// faint says which text has less contrast to what is behind it than WCAG AA asks for:
// 4.5 to 1.
const faint = `(() => {
	const rgb = text => text.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4)).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
	for (const e of document.querySelectorAll("h1, h2, h3, h4, p, a, li, th, td, dt, dd, summary, button, footer, caption, .brand, .ranks, .axis span")) {
		if (!e.checkVisibility()) continue;
		const a = light(rgb(getComputedStyle(e).color)), b = light(behind(e));
		const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (contrast < 4.5) return e.tagName + " " + e.className + " " + e.textContent.slice(0, 40) + ": " + contrast.toFixed(2);
	}
	return "";
})()`

// dumb says which picture or control has no name for those who don't see it.
const dumb = `[...document.querySelectorAll("img, svg[role=img], .plot, button")].filter(e => !(e.alt || e.ariaLabel || e.textContent.trim()))
	.map(e => e.tagName + " " + e.className).join(", ")`

// at returns where in the window a point of a drawn panel is that find chooses, and
// scrolls there.
func at(find string) string {
	return `(() => {
	for (const p of drawn) for (const series of p.panel.series) for (let i = 0; i < series.x.length; i++) {
		if (series.shape === "bars" || !(` + find + `)) continue;
		p.element.scrollIntoView({ block: "center" });
		const r = p.plot.over.getBoundingClientRect();
		return [r.left + p.plot.valToPos(series.x[i], "x"), r.top + p.plot.valToPos(series.y[i], "y")];
	}
	return [];
})()`
}

// look checks what every page has to stand: at every width, in both colours.
func look(x *tab, name string) {
	x.t.Helper()
	x.expect("canvases", blank)
	x.expect("names", dumb)
	for _, width := range []int64{360, 768, 1600} {
		x.do(chromedp.EmulateViewport(width, 900))
		x.settle()
		x.expect("layout", spilt)
		x.shot(name+map[int64]string{360: "-narrow", 768: "-middle", 1600: "-wide"}[width], true)
	}
	x.do(chromedp.EmulateViewport(1440, 900))
	x.expect("contrast, light", faint)
	x.do(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}))
	x.settle()
	x.expect("dark colours", `document.documentElement.dataset.theme === "dark" ? "" : "the page stays light"`)
	x.expect("contrast, dark", faint)
	x.expect("canvases, dark", blank)
	x.shot(name+"-dark", false)
	x.do(chromedp.Focus(chromedp.CSS("#theme")), chromedp.KeyEvent(kb.Enter))
	x.expect("the switch of colours", `document.documentElement.dataset.theme === "light" ? "" : "the page stays dark"`)
	x.quiet()
}

// plain checks what a page is without scripts.
func plain(t *testing.T, x *tab, path, name string) {
	t.Helper()
	x.do(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Navigate("file://"+path), chromedp.WaitReady(chromedp.CSS("#main")))
	for _, width := range []int64{360, 1600} {
		x.do(chromedp.EmulateViewport(width, 900))
		x.expect("layout without scripts", spilt)
	}
	x.expect("without scripts", `(() => {
	const seen = e => e.checkVisibility() && e.getBoundingClientRect().height > 20;
	if (document.querySelector(".plot") && [...document.querySelectorAll(".plot")].some(seen)) return "empty plots are shown";
	if (![...document.querySelectorAll(".still")].every(e => seen(e) && e.naturalWidth > 0)) return "a still figure isn't shown";
	if (document.querySelectorAll(".still").length !== document.querySelectorAll(".picture").length) return "a figure has no still one";
	if (![...document.querySelectorAll("main table, main pre")].some(seen)) return "no table is shown";
	if (seen(document.getElementById("theme"))) return "a button is shown that does nothing";
	return "";
})()`)
	x.shot(name+"-plain", true)
	x.do(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false}))
}

// drill checks that points say what they are, by pointer and by keyboard, and lead to
// the lives of requests.
func drill(x *tab, name string) {
	x.t.Helper()
	place := ask[[]float64](x, at("lifeFor(p, { series, i })"))
	if len(place) != 2 {
		x.t.Fatal("no point leads to a life")
	}
	x.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, place[0], place[1]))
	x.expect("words of a point", `(() => {
	const tip = [...document.querySelectorAll(".tip")].find(e => !e.hidden);
	if (!tip) return "no words";
	const r = tip.getBoundingClientRect();
	if (r.left < 0 || r.right > innerWidth) return "the words leave the window";
	return /ms/.test(tip.textContent) && /life/.test(tip.textContent) ? "" : tip.textContent;
})()`)
	x.shot(name+"-point", false)
	x.do(chromedp.MouseClickXY(place[0], place[1]))
	opened := `(() => {
	const e = document.activeElement.closest("details.life");
	if (!e || !e.open) return "no life is open";
	const r = e.getBoundingClientRect();
	return r.top >= -1 && r.top < innerHeight && e.querySelector(".track path") && e.querySelector("tbody tr") ? "" : "the life isn't in sight, or empty";
})()`
	x.expect("the life behind a point", opened)
	x.shot(name+"-life", false)
	ask[any](x, `document.querySelectorAll("details").forEach(e => { e.open = false; }); scrollTo(0, 0); document.querySelector(".plot").focus(); 0`)
	x.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	x.expect("words by keyboard", `[...document.querySelectorAll(".tip")].some(e => !e.hidden) && document.getElementById("said").textContent ? "" : "none"`)
	x.do(chromedp.KeyEvent("+"))
	x.expect("zoom by keyboard", `(() => { const s = drawn[0].plot.scales.x, a = drawn[0].panel.x; return s.max - s.min < 0.6 * (a.max - a.min) ? "" : "the axis is as long as before"; })()`)
	x.do(chromedp.KeyEvent(kb.Escape))
	x.expect("no words after Escape", `[...document.querySelectorAll(".tip")].every(e => e.hidden) ? "" : "they stay"`)
	x.quiet()
}

// TestComparison opens the page of the comparison that the README begins with.
func TestComparison(t *testing.T) {
	ctx := browser(t)
	path := written(t, "compare", "--vary", "enable_chunked_prefill=false,max_num_batched_tokens=512")
	x := newTab(t, ctx, path, 1440, 900)
	x.expect("the first screen", `(() => {
	const plots = [...document.querySelectorAll(".first .plot")];
	if (plots.length !== 4) return plots.length + " plots, want a timeline and a distribution of each run";
	return plots.every(e => e.getBoundingClientRect().bottom <= innerHeight) && document.querySelector(".verdict").textContent ? "" : "a plot takes scrolling";
})()`)
	x.shot("compare", false)
	look(x, "compare")
	drill(x, "compare")
	plain(t, x, path, "compare")
}

// TestReplay opens the page of a replay of a recorded trace.
func TestReplay(t *testing.T) {
	trace, err := filepath.Abs("../../../shared/traces/azure/AzureLLMInferenceTrace_conv.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trace); err != nil {
		t.Skip("there is no ../shared with the Azure trace")
	}
	ctx := browser(t)
	path := written(t, "run", "--trace", trace, "--model", "Llama-3.1-8B", "--gpu", "h100", "--tp", "1", "--dtype", "bf16")
	x := newTab(t, ctx, path, 1440, 900)
	x.shot("replay", false)
	look(x, "replay")
	drill(x, "replay")
	plain(t, x, path, "replay")
}
