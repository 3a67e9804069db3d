package publish

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"servesim/analysis/publish/perfetto"
	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/sim"
	"servesim/sim/observe"
)

// testRun is a run of a model.
func testRun(model string) *Run {
	whole, err := perfetto.ParseChoice("all")
	if err != nil {
		panic(err)
	}
	return &Run{
		Timeline: whole,
		Model:    model, Label: model, Begin: exact.Instant{Sec: 1_700_000_000, Ps: 5}, Facts: transcript.Everything(), Burstiness: 1,
		MaxModelLen: 4096, BlockSize: 16, NumGPUBlocks: 101, UsableBlocks: 100, Interval: sim.Second,
	}
}

// fataler is what tests and laws have in common.
type fataler interface {
	Fatal(args ...any)
}

// written returns what a format writes of records, file by file.
func written(t fataler, format string, run *Run, records []any) (texts []string) {
	f, err := Find(format)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "publish")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x")
	if f.Folder {
		path = dir
	}
	e, err := New(f, path, run)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Abort()
	sinks := observe.Tee{}
	if e.Records != nil {
		sinks = append(sinks, e.Records)
	}
	var calls *transcript.Transcriber
	if e.Calls != nil {
		if calls, err = transcript.NewTranscriber(e.Calls, transcript.Streaming{}); err != nil {
			t.Fatal(err)
		}
		sinks = append(sinks, calls)
	}
	for _, r := range records {
		switch r := r.(type) {
		case observe.Request:
			err = sinks.Request(&r)
		case observe.StepRun:
			err = sinks.Step(&r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, file := range f.Files(path) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// hostile are names that formats have to escape.
func hostile() []string {
	return []string{
		"", " ", `"`, `\`, `\"`, "\n", "\r\n", "a\rb", "\x00", "a,b;c\td", "'", "</script>", "=1+1", "\u202Eevil\u2066", "é\u2028\u2029", "𝒳",
		`{"a":[1`, "# EOF\n", `x"} 1.0`, "\x7f\x1b[31m", strings.Repeat("long ", 1_000), "\ufeff",
	}
}

// Law: whatever names of requests, classes, models and reasons are, each file is
// well formed, and the names read back.
func TestHostileNames(t *testing.T) {
	names := rapid.OneOf(rapid.SampledFrom(hostile()), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		name := names.Draw(t, "name")
		records, _, _ := drawn(t, name)
		run := testRun(name)
		var requests []observe.Request
		failed := 0
		for _, r := range records {
			if r, is := r.(observe.Request); is {
				requests = append(requests, r)
				if r.Outcome != observe.Completed {
					failed++
				}
			}
		}
		checkVLLM(t, written(t, "vllm", run, records)[0], run, requests)
		if text := written(t, "vllm-summary", run, records)[0]; !json.Valid([]byte(text)) {
			t.Fatal(text)
		}
		checkAIPerf(t, written(t, "aiperf", run, records), requests)
		if families, err := parseMetrics(written(t, "openmetrics", run, records)[0]); err != nil || len(families) < 20 {
			t.Fatal(err)
		}
		checkTables(t, written(t, "csv", run, records)[0], written(t, "parquet", run, records)[0], requests)
		checkSteps(t, written(t, "parquet-steps", run, records)[0], records)
		if text := written(t, "perfetto", run, records)[0]; text == "" { // package perfetto reads it back
			t.Fatal("an empty timeline")
		}
	})
}

// checkVLLM checks the names in a result.
func checkVLLM(t *rapid.T, text string, run *Run, requests []observe.Request) {
	var got struct {
		Label  *string  `json:"label"`
		Model  string   `json:"model_id"`
		Errors []string `json:"errors"`
		ITLs   [][]any  `json:"itls"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Model != run.Model || (got.Label == nil) != (run.Label == "") || len(got.Errors) != len(requests) || len(got.ITLs) != len(requests) {
		t.Fatalf("%+v of %q", got, run.Model)
	}
	for i, r := range requests { // which were sent in this order
		if (r.Outcome == observe.Completed) != (got.Errors[i] == "") || !strings.HasSuffix(got.Errors[i], r.Reason) && r.Outcome != observe.Completed {
			t.Fatalf("%q for %v, %q", got.Errors[i], r.Outcome, r.Reason)
		}
	}
}

// checkAIPerf checks the names in AIPerf's files.
func checkAIPerf(t *rapid.T, texts []string, requests []observe.Request) {
	lines := strings.SplitAfter(texts[0], "\n")
	if len(lines) != len(requests)+1 || !json.Valid([]byte(texts[1])) {
		t.Fatalf("%d lines of %d requests, or %s", len(lines), len(requests), texts[1])
	}
	seen := map[string]bool{}
	for i, r := range requests {
		var got struct {
			Metadata struct {
				Name string `json:"x_request_id"`
			}
			Error *struct{ Message string }
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(got.Metadata.Name, r.Name) || seen[got.Metadata.Name] {
			t.Fatalf("%q is called %q, or that is another's name", r.Name, got.Metadata.Name)
		}
		seen[got.Metadata.Name] = true
		if (got.Error == nil) != (r.Outcome == observe.Completed) || got.Error != nil && r.Reason != "" && got.Error.Message != r.Reason {
			t.Fatalf("%+v for %q", got.Error, r.Reason)
		}
	}
	tables := csv.NewReader(strings.NewReader(texts[2]))
	tables.FieldsPerRecord = -1
	if _, err := tables.ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// checkTables checks that both tables have the requests, under the same columns.
func checkTables(t *rapid.T, text, table string, requests []observe.Request) {
	rows, err := parquet.Read[requestRow](bytes.NewReader([]byte(table)), int64(len(table)))
	if err != nil || len(rows) != len(requests) {
		t.Fatal(len(rows), err)
	}
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) != len(requests)+1 {
		t.Fatal(len(lines), err)
	}
	var names []string
	for _, f := range parquet.SchemaOf(requestRow{}).Columns() {
		names = append(names, f[0])
	}
	if diff := cmp.Diff(names, lines[0][:len(names)]); diff != "" {
		t.Fatal(diff)
	}
	for i := range requests {
		want := requestRowOf(&requests[i])
		if diff := cmp.Diff(want, rows[i]); diff != "" {
			t.Fatal(diff)
		}
		for k, c := range columns() {
			// Go's reader of CSV takes a line's end within a text for "\n".
			if got, want := lines[i+1][k], strings.ReplaceAll(c.text(&want), "\r\n", "\n"); got != want {
				t.Fatalf("%s: %q, want %q", c.name, got, want)
			}
		}
	}
}

// checkSteps checks that the table has the steps.
func checkSteps(t *rapid.T, table string, records []any) {
	rows, err := parquet.Read[stepRow](bytes.NewReader([]byte(table)), int64(len(table)))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		s, is := r.(observe.StepRun)
		if !is {
			continue
		}
		if len(rows) == 0 {
			t.Fatal("steps are missing")
		}
		got, want := rows[0], stepRowOf(&s)
		rows = rows[1:]
		if len(got.Chunks) == 0 {
			got.Chunks = nil
		}
		if len(got.Gaps) == 0 {
			got.Gaps = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	if len(rows) > 0 {
		t.Fatalf("%d steps too many", len(rows))
	}
}
