package explain

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"servesim/report"
	"servesim/scenario"
)

var update = flag.Bool("update", false, "write the golden files anew")

// text is a scenario that runs in no time: short prompts with now and then a long one.
const text = `schema = 1
name = "short"
seed = 7
[workload]
requests = 300
arrival = { process = "poisson", rate_per_s = 8 }
prompt = { dist = "uniform", min = 50, max = 800 }
output = { dist = "uniform", min = 1, max = 120 }
[[workload.classes]]
name = "chat"
weight = 95
[[workload.classes]]
name = "long"
weight = 5
prompt = { dist = "uniform", min = 4000, max = 12000 }
[engine]
policy = "vllm@0.20"
max_model_len = 32768
[hardware]
gpu = "h100"
[model]
name = "Llama-3.1-8B"
dtype = "bf16"
[slo]
goodput = "ttft:500 tpot:15"
`

// source returns the scenario with some keys set.
func source(tb testing.TB, settings ...string) scenario.Source {
	tb.Helper()
	src := scenario.Source{Path: "short.toml", Content: text}
	for _, one := range settings {
		s, err := scenario.ParseSetting(one)
		if err != nil {
			tb.Fatal(err)
		}
		src.Settings = append(src.Settings, s)
	}
	return src
}

// golden compares got with testdata/name, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s has moved; go test -update writes it, CHANGELOG's Results says why\n%s", path, d)
	}
}

// written returns what write writes, and holds that no line of text is wider
// than it may be.
func written(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(line) - 1; n > report.Width && b.Bytes()[0] != '{' {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	return b.Bytes()
}
