package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servesim/report/figure"
)

// plotted writes the records of two small runs, and the results of a sweep of four, into
// the working folder.
func plotted(t *testing.T) {
	t.Helper()
	inFolder(t, map[string]string{
		"s.toml": small,
		"p.toml": "schema = 1\nscenario = \"s.toml\"\n[set]\ngoodput = \"ttft:500\"\n[grid]\nrate_per_s = [2, 4]\nmax_num_batched_tokens = [512, 2048]\n",
	})
	ok(t, "run", "s.toml", "--records", "a.jsonl")
	ok(t, "run", "s.toml", "--set", "max_num_batched_tokens=256", "--records", "b.jsonl")
	ok(t, "sweep", "p.toml")
	text, err := os.ReadFile("a.jsonl")
	if err == nil {
		text = bytes.Replace(text, []byte(`"requests_only":false`), []byte(`"requests_only":true`), 1)
		err = os.WriteFile("r.jsonl", text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPlotEveryKind draws each kind in a format, twice, without a word.
func TestPlotEveryKind(t *testing.T) {
	plotted(t)
	begin := map[string]string{"svg": "<svg ", "pdf": "%PDF-", "png": "\x89PNG"}
	for i, k := range figure.Kinds() {
		form := []string{"svg", "pdf"}[i%2]
		if k.Name == "pareto" {
			form = "png"
		}
		args := []string{"plot", k.Name, "a.jsonl", "b.jsonl", "-o"}
		if k.Table {
			args = []string{"plot", k.Name, "p.sweep/results.json", "-o"}
		}
		var first []byte
		for _, name := range []string{"one." + form, "two." + strings.ToUpper(form)} {
			if out := ok(t, append(args, name)...); out != "" {
				t.Errorf("plot %s prints %q", k.Name, out)
			}
			text, err := os.ReadFile(name)
			if err != nil || !strings.HasPrefix(string(text), begin[form]) {
				t.Fatalf("plot %s: %v, %d bytes, want a picture as %s", k.Name, err, len(text), form)
			}
			if first != nil && !bytes.Equal(first, text) {
				t.Errorf("plot %s gives other bytes the second time", k.Name)
			}
			first = text
		}
	}
}

// TestPlotSources: a measured run and a capacity are drawn too, and standard input.
func TestPlotSources(t *testing.T) {
	plotted(t)
	ok(t, "analyze", "a.jsonl", "--export", "vllm=v.json")
	ok(t, "plot", "ccdf", "a.jsonl", "v.json", "-o", "x.svg", "--goodput", "ttft:500, itl p99 <= 40ms", "--metrics", "ttft,itl")
	text, err := os.ReadFile("x.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">v.json<", "limit 500 ms", "limit P99 40 ms", "20 requests"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	answer := ok(t, "capacity", "s.toml", "--json", "--requests", "1000", "--resolution", "40", "--goodput", "ttft p99 <= 2s")
	if err := os.WriteFile("c.json", []byte(answer), 0o600); err != nil {
		t.Fatal(err)
	}
	ok(t, "plot", "hockeystick", "c.json", "-o", "y.svg", "--metrics", "tpot")
}

// TestPlotFaults says what is wrong, all of it, and leaves no picture.
func TestPlotFaults(t *testing.T) {
	plotted(t)
	for args, wants := range map[string][]string{
		"nothing a.jsonl -o x.svg":                                     {`"nothing"`, "stalls, timeline, ecdf"},
		"stalls a.jsonl":                                               {"-o is missing", "-o stalls.svg"},
		"stalls a.jsonl -o x.gif":                                      {"-o x.gif", ".svg, .png or .pdf"},
		"stalls a.jsonl -o a.jsonl":                                    {"must end in", "is a file that is read"},
		"stalls a.jsonl -o x.svg --metrics ttft --where a=b":           {"no choice of metrics", "--where chooses points"},
		"ecdf a.jsonl -o x.svg --metrics ttft,foo":                     {`found "foo"`, "itl"},
		"blame a.jsonl -o x.svg --metrics itl":                         {`found "itl"`, "max_gap"},
		"cost p.sweep/results.json -o x.svg --metrics ttft,tpot":       {"shows one"},
		"ecdf a.jsonl b.jsonl -o x.svg --label one":                    {"given 1 times", "2 files"},
		"state a.jsonl -o x.svg --slo consumer-chat-70b":               {"--slo does nothing for state"},
		"pareto p.sweep/results.json -o x.svg --label x --goodput a:1": {"--label does nothing", "--goodput does nothing", `unknown metric "a"`},
		"pareto a.jsonl b.jsonl -o x.svg":                              {"of one sweep or capacity; found 2 files"},
		"pareto a.jsonl -o x.svg":                                      {"a.jsonl", "results.json"},
		"pareto none.json -o x.svg":                                    {"none.json", "no such file"},
		"hockeystick p.sweep/results.json -o x.svg --where rate_per_s=2": {
			"hockeystick", "sweep over rate_per_s"},
		"hockeystick p.sweep/results.json -o x.svg --metrics e2e --where seed=3": {"write KEY=VALUE", "workload.rate_per_s"},
		"stalls none.jsonl other.jsonl -o x.svg":                                 {"none.jsonl", "other.jsonl", "no such file"},
		"stalls p.sweep/results.json -o x.svg":                                   {"isn't the records of a run", "servesim run --records"},
		"timeline r.jsonl -o x.svg":                                              {"r.jsonl", "leaves out the steps"},
		"ecdf s.toml -o x.svg":                                                   {"s.toml"},
		"stalls a.jsonl -o none/x.svg":                                           {"none/x.svg", "does not exist"},
	} {
		o := do(t, append([]string{"plot"}, strings.Fields(args)...)...)
		if o.code != exitUsage || o.stdout != "" {
			t.Errorf("plot %s: exit %d, stdout %q", args, o.code, o.stdout)
		}
		for _, want := range wants {
			if !strings.Contains(o.stderr, want) {
				t.Errorf("plot %s: says %q, which lacks %q", args, o.stderr, want)
			}
		}
		if left, _ := filepath.Glob("*x.svg*"); len(left) > 0 {
			t.Errorf("plot %s leaves %v", args, left)
		}
	}
}

// TestPlotsDoc executes the commands of the manual of pictures, in order, and holds that
// they write the pictures that it shows. With -update it writes these anew.
func TestPlotsDoc(t *testing.T) {
	const docs = "../../docs"
	text, err := os.ReadFile(filepath.Join(docs, "plots.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range figure.Kinds() {
		if strings.Count(string(text), "| `"+k.Name+"` |") != 1 {
			t.Errorf("the manual of pictures has no row of %s", k.Name)
		}
	}
	home, err := filepath.Abs(filepath.Join(docs, "plots"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := os.ReadFile(filepath.Join(home, "frontier.toml"))
	if err != nil {
		t.Fatal(err)
	}
	inFolder(t, map[string]string{"frontier.toml": string(plan)})
	pictures := 0
	for _, b := range blocks(string(text)) {
		ok(t, b.args...)
		if b.args[0] != "plot" {
			continue
		}
		pictures++
		name := b.args[len(b.args)-1]
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "](plots/"+name+")") {
			t.Errorf("the manual doesn't show %s, which it draws", name)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(home, name), got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("docs/plots/%s isn't what servesim %s draws; go test ./cmd/servesim -run PlotsDoc -update writes it, CHANGELOG's Results says why", name, b.command)
		}
	}
	if pictures != 3 {
		t.Errorf("the manual draws %d pictures, want 3", pictures)
	}
}
