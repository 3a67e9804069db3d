package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHTML writes the pages of a run and of a comparison twice, in the same bytes, and
// holds that what is printed is as without them.
func TestHTML(t *testing.T) {
	for name, args := range map[string][]string{
		"run":     {"run", "--set", "requests=200"},
		"compare": {"compare", "--set", "requests=200", "--vary", "enable_chunked_prefill=false,max_num_batched_tokens=512"},
	} {
		t.Run(name, func(t *testing.T) {
			plain := do(t, args...).stdout
			var pages [2]string
			for i := range pages {
				path := filepath.Join(t.TempDir(), "page.html")
				if o := do(t, append(args, "--html", path)...); o.code != 0 || o.stdout != plain {
					t.Errorf("code %d, %q; with a page the same lines are printed as without", o.code, o.stderr)
				}
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				pages[i] = string(b)
			}
			if pages[0] != pages[1] {
				t.Error("the same run gives pages of other bytes")
			}
			for _, want := range []string{"<!doctype html>", "chat with long prompts · servesim " + name, "Slowest requests", `id="life-0-`, "</html>"} {
				if !strings.Contains(pages[0], want) {
					t.Errorf("the page lacks %q", want)
				}
			}
		})
	}
}

// TestPagesAreSmall holds pages below 3 MB, however long runs are, of as many runs as
// the manual says: runs of a thousand seconds fill the cells of time that figures have,
// so that longer ones have no more points.
func TestPagesAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("eight runs take long")
	}
	path := filepath.Join(t.TempDir(), "page.html")
	var sizes []int64
	for _, requests := range []string{"requests=4500", "requests=9000"} {
		ok(t, "compare", "--set", requests, "--vary", "max_num_batched_tokens=256,512,1024,2048,4096,8192,16384,32768", "--html", path)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	if sizes[1] > 3_000_000 || sizes[1] > sizes[0]+sizes[0]/10 {
		t.Errorf("pages have %d bytes, of runs that are twice as long %d; they may have 3,000,000, and little more for more requests", sizes[0], sizes[1])
	}
}

// TestNoGapIsSaid holds that pages of runs without a gap, or without a first token, have
// no empty figure first, and say what there is.
func TestNoGapIsSaid(t *testing.T) {
	for name, c := range map[string]struct{ trace, want, not string }{
		"no gap":    {`{"arrival":0,"prompt":20,"output":1}` + "\n", "Each curve is the share of values that are longer", "Gaps between tokens: when"},
		"no answer": {`{"arrival":0,"prompt":9999999,"output":5}` + "\n", "No request has a first token", "<section class=\"first\""},
	} {
		inFolder(t, map[string]string{"t.jsonl": c.trace})
		ok(t, "run", "--trace", "t.jsonl", "--html", "x.html")
		b, err := os.ReadFile("x.html")
		if err != nil {
			t.Fatal(err)
		}
		if text := string(b); !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%s: the page lacks %q, or has %q", name, c.want, c.not)
		}
	}
}

// TestHTMLFaults holds what is said of pages that can't be.
func TestHTMLFaults(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--html", "-"}, "a page goes to a file"},
		{[]string{"run", "--html", folder}, "is a folder"},
		{[]string{"run", "--html", filepath.Join(folder, "none", "x.html")}, "does not exist"},
		{[]string{"run", "--html", path, "--records", path}, "has that name too"},
		{[]string{"run", "--html", path, "--export", "vllm=" + path}, "give each a file of its own"},
		{[]string{"run", "--html", path, "--print"}, "--print runs nothing"},
		{[]string{"run", "--html", path, "--replications", "2"}, "--html is of one run"},
		{[]string{"compare", "--html", path, "--replications", "2", "--vary", "gpu=h100,b200"}, "--html shows runs one by one"},
		{[]string{"compare", "--html", "-", "--vary", "gpu=h100,b200"}, "a page goes to a file"},
	} {
		if o := do(t, c.args...); o.code != exitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%v: code %d, %q; want %d and %q", c.args, o.code, o.stderr, exitUsage, c.want)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was written all the same")
	}
}

// TestReport writes pages of records, and holds that they show what the run's own page
// does, and what is said of files that can't be shown.
func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	page := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	limits := "ttft <= 500ms, tpot <= 15ms"
	for name, setting := range map[string]string{"a": "enable_chunked_prefill=false", "b": "max_num_batched_tokens=512"} {
		if o := do(t, "run", "--set", "requests=200", "--set", setting, "--goodput", limits, "--percentiles", "50,90,99,99.9,100", "--records", name+".jsonl", "--html", name+".html"); o.code != 0 {
			t.Fatal(o.stderr)
		}
	}
	if o := do(t, "report", "a.jsonl", "-o", "again.html", "--goodput", limits); o.code != 0 || o.stdout != "" {
		t.Fatalf("code %d, %q, %q", o.code, o.stdout, o.stderr)
	}
	figures := func(text string) string {
		_, text, _ = strings.Cut(text, `<h2>Distributions</h2>`)
		text, _, _ = strings.Cut(text, `<h2>Engine</h2>`)
		return text
	}
	if a, b := figures(page("a.html")), figures(page("again.html")); a == "" || a != b {
		t.Error("the page of the records shows other distributions than that of the run")
	}
	if o := do(t, "report", "a.jsonl", "b.jsonl", "-o", "both.html"); o.code != 0 || !strings.Contains(page("both.html"), "From a.jsonl to b.jsonl: P99 worst gap falls ") {
		t.Errorf("code %d, %q", o.code, o.stderr)
	}
	if err := os.WriteFile("broken.jsonl", []byte("{}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"report", "a.jsonl"}, "add -o PAGE.html"},
		{[]string{"report", "-o", "x.html"}, "at least 1 arg"},
		{[]string{"report", "a.jsonl", "-o", "a.jsonl"}, "a run has that name too"},
		{[]string{"report", "broken.jsonl", "none.jsonl", "-o", "x.html"}, "none.jsonl"},
		{[]string{"report", "broken.jsonl", "none.jsonl", "-o", "x.html"}, "broken.jsonl"},
		{[]string{"report", "a.jsonl", "-o", "x.html", "--goodput", "bad"}, "--goodput"},
	} {
		if o := do(t, c.args...); o.code != exitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%v: code %d, %q; want %d and %q", c.args, o.code, o.stderr, exitUsage, c.want)
		}
	}
	if _, err := os.Stat("x.html"); err == nil {
		t.Error("a page was written all the same")
	}
}

// TestTablePages writes the pages of a sweep, a capacity, a fleet, a gate and a comparison
// of hardware, each beside what is printed.
func TestTablePages(t *testing.T) {
	if testing.Short() {
		t.Skip("searches take long")
	}
	inFolder(t, map[string]string{
		"s.toml":    bounded(),
		"gate.toml": gated(),
		"plan.toml": "schema = 1\nscenario = \"s.toml\"\n[grid]\nrate_per_s = [2, 4]\nmax_num_batched_tokens = [512, 2048]\n",
	})
	for name, args := range map[string]string{
		"sweep":    "sweep plan.toml --out out",
		"capacity": "capacity s.toml" + hastily,
		"fleet":    "capacity s.toml --for-rate 20 --requests 1000",
		"gate":     "gate gate.toml",
		"hardware": "hardware h100 b200 --scenario s.toml" + hastily,
	} {
		page := name + ".html"
		plain := ok(t, strings.Fields(args)...)
		if with := ok(t, strings.Fields(args+" --html "+page)...); with != plain {
			t.Errorf("%s: with a page other lines are printed than without", name)
		}
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if !strings.Contains(text, `<p class="verdict"`) || name != "fleet" && !strings.Contains(text, `<figure class="picture`) || !strings.Contains(text, "<pre") {
			t.Errorf("%s: the page has no verdict, no figure or no table", name)
		}
	}
	for _, c := range [][2]string{
		{"sweep plan.toml --html x.html --shard 0/2", "--html and --shard don't go together"},
		{"sweep plan.toml --html x.html --emit slurm", "--html and --emit don't go together"},
		{"capacity s.toml --html -", "a page goes to a file"},
		{"gate g.toml --html x.html --junit x.html", "--junit has that name too"},
	} {
		if o := do(t, strings.Fields(c[0])...); o.code != exitUsage || !strings.Contains(o.stderr, c[1]) {
			t.Errorf("%s: code %d, %q; want %q", c[0], o.code, o.stderr, c[1])
		}
	}
}
