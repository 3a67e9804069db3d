package observe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
)

// example1 is a record file of schema 1.
const example1 = `{"schema":1,"kind":"servesim-records","version":"1.0","seed":7,"scenario":"ab12","profile":"h100","model":"m","policy":"vllm@0.20","requests_only":false}
{"type":"step","replica":0,"start_ps":0,"steps":1,"first_ps":20,"inc_ps":0,"decodes":0,"decode_kv":0,"chunks":[{"id":0,"start":0,"tokens":100,"resumed":false}],"gaps":[],"running":1,"waiting":0,"preempted":0,"blocks_used":7}
{"type":"request","id":0,"name":"","line":2,"class":"","session":0,"priority":0,"replica":0,"outcome":"completed","reason":"","arrival_ps":0,"sent_ps":0,"scheduled_ps":0,"first_ps":20,"last_ps":20,"end_ps":20,"response_ps":0,"prompt":100,"wanted":1,"output":1,"cached":0,"preemptions":0,"computed":100,"recomputed":0,"max_gap_ps":0}
{"type":"end","requests":1,"steps":1}
`

func TestSchema1IsReadWithoutWhatItLacks(t *testing.T) {
	h, got, err := read([]byte(example1))
	if err != nil || h.Schema != 1 {
		t.Fatal(h, err)
	}
	want := []any{
		StepRun{Steps: 1, First: 20, Chunks: []Chunk{{Tokens: 100}}, Running: 1, BlocksUsed: 7, Oldest: Never},
		Request{Line: 2, First: 20, Last: 20, End: 20, Prompt: 100, Wanted: 1, Output: 1, Computed: 100, Queued: Never},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSchema2IsReadWithoutStreaming(t *testing.T) {
	file, err := write(Header{Version: "1.0", Seed: 7, Streaming: &Streaming{Interval: 2}}, []any{Request{ID: 1, Queued: Never, Made: []Span{{Step: 0, Steps: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(file), `"schema":4`, `"schema":2`, 1)
	old = strings.Replace(old, `,"detour_ps":0,"attempts":[]`, ``, 1)
	at := strings.Index(old, `,"streaming":`)
	end := at + strings.Index(old[at:], "}") // of the object in the header
	h, got, err := read([]byte(old[:at] + old[end+1:]))
	if err != nil || h.Schema != 2 || h.Streaming != nil || len(got) != 1 || len(got[0].(Request).Made) != 1 {
		t.Error(h, got, err)
	}
	if _, _, err := read([]byte(old)); err == nil || !strings.Contains(err.Error(), "streaming: unknown key") {
		t.Errorf("streaming in schema 2: %v", err)
	}
}

// example3 is a record file of schema 3.
const example3 = `{"schema":3,"kind":"servesim-records","version":"1.0","seed":7,"scenario":"ab12","profile":"h100","model":"m","policy":"vllm@0.20","requests_only":false,"streaming":null}
{"type":"step","replica":0,"start_ps":0,"steps":1,"first_ps":20,"inc_ps":0,"decodes":0,"decode_kv":0,"chunks":[],"gaps":[],"running":1,"waiting":0,"preempted":0,"blocks_used":7,"serial":0,"base_ps":0,"held":"","oldest_ps":0}
{"type":"request","id":0,"name":"","line":2,"class":"","session":0,"priority":0,"replica":0,"outcome":"completed","reason":"","arrival_ps":0,"sent_ps":0,"scheduled_ps":0,"first_ps":20,"last_ps":20,"end_ps":20,"response_ps":0,"prompt":100,"wanted":1,"output":1,"cached":0,"preemptions":0,"computed":100,"recomputed":0,"max_gap_ps":0,"queued_ps":0,"made":[{"step":0,"steps":1}],"lost":[]}
{"type":"end","requests":1,"steps":1}
`

func TestSchema3IsReadWithoutFailures(t *testing.T) {
	h, got, err := read([]byte(example3))
	if err != nil || h.Schema != 3 {
		t.Fatal(h, err)
	}
	want := []any{
		StepRun{Steps: 1, First: 20, Running: 1, BlocksUsed: 7},
		Request{Line: 2, First: 20, Last: 20, End: 20, Prompt: 100, Wanted: 1, Output: 1, Computed: 100, Made: []Span{{Steps: 1}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func drawHeader(t *rapid.T) Header {
	var how *Streaming
	if n32, n64 := rapid.Int32Min(0), rapid.Int64Min(0); rapid.Bool().Draw(t, "streaming is known") {
		how = &Streaming{
			Interval: n32.Draw(t, "interval"), Coalesce: sim.Duration(n64.Draw(t, "coalesce")), Role: rapid.String().Draw(t, "role"),
			Finish: rapid.Bool().Draw(t, "finish"), Usage: rapid.Bool().Draw(t, "usage"), DoneDelay: sim.Duration(n64.Draw(t, "done")),
		}
	}
	return Header{
		Streaming: how,
		Schema:    Schema,
		Version:   rapid.String().Draw(t, "version"), Seed: rapid.Uint64().Draw(t, "seed"),
		Scenario: rapid.String().Draw(t, "scenario"), Profile: rapid.String().Draw(t, "profile"),
		Model: rapid.String().Draw(t, "model"), Policy: rapid.String().Draw(t, "policy"),
		RequestsOnly: rapid.Bool().Draw(t, "requests only"),
	}
}
