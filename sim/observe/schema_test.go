package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
