package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servesim/analysis/publish"
)

// TestExportFaults holds what is said of --export that can't be, before anything
// runs, and that no file is left.
func TestExportFaults(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small, "a.jsonl": aiperf, "g.jsonl": sglang, "two.jsonl": sglang + sglang})
	if err := os.Mkdir("dir", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("x.csv", "link.csv"); err != nil {
		t.Fatal(err)
	}
	before, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "s.toml", "--export", "vlm=x.json"}, `--export vlm=x.json: unknown format "vlm"; the formats are vllm, vllm-summary, aiperf, openmetrics, perfetto, csv, parquet, parquet-steps`},
		{[]string{"run", "s.toml", "--export", "vllm"}, "--export vllm: names no file; write vllm=PATH"},
		{[]string{"run", "s.toml", "--export", "csv="}, "--export csv=: names no file; write csv=PATH"},
		{[]string{"run", "s.toml", "--export", "csv=-"}, "--export csv=-: stdout is for the summary; name a file, or a pipe or device such as /dev/stderr"},
		{[]string{"run", "s.toml", "--export", "csv=x.csv", "--export", "vllm=./x.csv"}, "--export vllm=./x.csv: --export csv=x.csv writes ./x.csv too; give each a file of its own"},
		{[]string{"run", "s.toml", "--export", "aiperf=dir", "--export", "vllm=dir/../dir/profile_export.jsonl"}, "--export aiperf=dir writes dir/../dir/profile_export.jsonl too"},
		{[]string{"run", "s.toml", "--records", "x.jsonl", "--export", "csv=x.jsonl"}, "--export csv=x.jsonl: --records writes x.jsonl too"},
		{[]string{"run", "s.toml", "--export", "csv=no/x.csv"}, "--export csv=no/x.csv: create no/x.csv: the folder no does not exist; create it first"},
		{[]string{"run", "s.toml", "--export", "aiperf=no"}, "the folder no does not exist; create it first"},
		{[]string{"run", "s.toml", "--export", "aiperf=s.toml"}, "--export aiperf=s.toml: create s.toml/profile_export.jsonl"},
		{[]string{"run", "s.toml", "--export", "vllm=dir"}, "--export vllm=dir: dir is a folder; name a file in it"},
		{[]string{"run", "s.toml", "--export", "csv=x.csv", "--export", "vllm=dir"}, "dir is a folder"},
		{[]string{"run", "s.toml", "--export", "csv=x.csv", "--print"}, "--print runs nothing, so --export would have nothing to write"},
		{[]string{"run", "s.toml", "--export", "csv=x.csv", "--replications", "2"}, "--export is of one run; leave it or --replications out"},
		{[]string{"run", "s.toml", "--export-interval", "1s"}, "--export-interval is about --export, of which there is none"},
		{[]string{"run", "s.toml", "--export", "openmetrics=x", "--export-interval", "0s"}, `--export-interval "0s": want a time above 0, such as 15s`},
		{[]string{"run", "s.toml", "--export", "csv=x.csv", "--export-start", "yesterday"}, `--export-start "yesterday": want an instant since 1970 as RFC 3339 has it`},
		{[]string{"run", "s.toml", "--export", "x=y", "--export", "csv"}, "--export csv: names no file"},
		{[]string{"run", "s.toml", "--perfetto", "x", "--perfetto-window", "9s-1s"}, `--perfetto-window "9s-1s": "9s-1s" ends before it begins`},
		{[]string{"run", "s.toml", "--perfetto-window", "all"}, "--perfetto-window is about --perfetto, which is not there"},
		{[]string{"run", "s.toml", "--perfetto", ""}, "--perfetto is empty"},
		{[]string{"run", "s.toml", "--perfetto", "x", "--export", "csv=x"}, "writes x too; give each a file of its own"},
		{[]string{"run", "s.toml", "--trace", "-", "--perfetto", "x"}, "can be read only once; say which part by --perfetto-window all"},
		{[]string{"run", "s.toml", "--print", "--perfetto", "x"}, "--print runs nothing, so --perfetto would have nothing to write"},
		{[]string{"analyze", "a.jsonl", "--perfetto", "x"}, "--export perfetto=x: it is made of servesim's records, which a.jsonl isn't"},
		{[]string{"analyze", "a.jsonl", "--export", "csv=x.csv"}, "--export csv=x.csv: it is made of servesim's records, which a.jsonl isn't; of a measured run it takes vllm, vllm-summary, aiperf"},
		{[]string{"analyze", "g.jsonl", "--export", "aiperf=."}, "as aiperf the run can't be written: it needs when calls were sent, which the source doesn't have"},
		{[]string{"analyze", "g.jsonl", "--export", "vllm=x.json"}, "it needs when calls were sent, or how long the run took, which the source doesn't have"},
		{[]string{"analyze", "two.jsonl", "--export", "vllm=x.json"}, "writes one run, and two.jsonl has 2; take one out of the file"},
		{[]string{"analyze", "a.jsonl", "g.jsonl", "--export", "vllm=x.json"}, "writes one run, and there are 2 files; give one"},
	} {
		o := do(t, c.args...)
		if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%q: exit %d\n%s%s\nwant %s", c.args, o.code, o.stdout, o.stderr, c.want)
		}
	}
	if o := do(t, "run", "s.toml", "--export", "csv=link.csv", "--export", "parquet=x.csv"); o.code != exitOK {
		t.Errorf("%+v", o) // the link leads nowhere yet, so it is a file of its own
	}
	for _, made := range []string{"link.csv", "x.csv"} {
		if err := os.Remove(made); err != nil {
			t.Error(err)
		}
	}
	if o := do(t, "run", "s.toml", "--export", "openmetrics=x.txt", "--export", "csv=x.csv", "--export-interval", "1us"); o.code != exitFailed || !strings.Contains(o.stderr, "a sample every 1us is more than 100000 of them") {
		t.Errorf("%+v", o)
	}
	after, err := filepath.Glob("*")
	if hidden, _ := filepath.Glob(".*.tmp"); err != nil || len(after) != len(before)-1 || hidden != nil {
		t.Errorf("before %q, after %q, %q, %v", before, after, hidden, err)
	}
}

// TestExportsAreListed holds that the list, the completion and the page about
// exports have every format.
func TestExportsAreListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/exports.md")
	if err != nil {
		t.Fatal(err)
	}
	out := ok(t, "list", "exports")
	completed, _ := completeExport(nil, nil, "")
	for i, f := range publish.Formats() {
		if !strings.Contains(out, f.Name+" ") || !strings.HasPrefix(completed[i], f.Name+"=\t") || strings.Count(string(page), "| `"+f.Name+"=") != 1 {
			t.Errorf("%s isn't in %s, %q or the page", f.Name, out, completed)
		}
	}
	if list, _ := completeExport(nil, nil, "par"); len(list) != 2 {
		t.Errorf("%q", list)
	}
}

// TestConverted writes records as vLLM's result and as AIPerf's records, and these
// as each other, which say the same of what both have.
func TestConverted(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	direct := ok(t, "run", "s.toml", "--records", "r.jsonl", "--export", "csv=a.csv", "--export", "parquet=a.parquet", "--export", "parquet-steps=a.steps", "--perfetto", "a.trace", "--perfetto-window", "worst=1", "--set", "timeout=\"300ms\"", "--set", "rate_per_s=60")
	if direct == "" {
		t.Error("nothing is printed")
	}
	ok(t, "analyze", "r.jsonl", "--export", "vllm=v.json", "--export", "csv=b.csv", "--export", "parquet=b.parquet", "--export", "parquet-steps=b.steps", "--perfetto", "b.trace", "--perfetto-window", "worst=1")
	ok(t, "analyze", "v.json", "--export", "aiperf=.")
	ok(t, "analyze", "profile_export.jsonl", "--export", "vllm=w.json")
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for a, b := range map[string]string{"a.csv": "b.csv", "a.parquet": "b.parquet", "a.steps": "b.steps", "a.trace": "b.trace"} {
		if read(a) != read(b) {
			t.Errorf("%s and %s differ", a, b)
		}
	}
	v, w := read("v.json"), read("w.json")
	for _, key := range []string{"completed", "output_lens", "latencies", "queue_times", "mean_ttft_ms", "std_itl_ms"} {
		from := func(s string) string {
			at := strings.Index(s, `"`+key+`": `)
			return s[at : at+min(200, strings.IndexByte(s[at:], '"')+60)]
		}
		if from(v) != from(w) {
			t.Errorf("%s\n%s", from(v), from(w))
		}
	}
}
