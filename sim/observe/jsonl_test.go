package observe

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
)

// list keeps copies of records.
type list struct{ records []any }

func (l *list) Request(r *Request) error {
	c := *r
	c.Made, c.Lost = append([]Span(nil), r.Made...), append([]int64(nil), r.Lost...)
	c.Attempts = append([]Attempt(nil), r.Attempts...)
	l.records = append(l.records, c)
	return nil
}

func (l *list) Step(r *StepRun) error {
	c := *r
	c.Chunks, c.Gaps = append([]Chunk(nil), r.Chunks...), append([]Gaps(nil), r.Gaps...)
	l.records = append(l.records, c)
	return nil
}

// send gives records to sink.
func send(sink Sink, records []any) error {
	for _, r := range records {
		var err error
		switch r := r.(type) {
		case Request:
			err = sink.Request(&r)
		case StepRun:
			err = sink.Step(&r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write returns the record file of records.
func write(h Header, records []any) ([]byte, error) {
	var b bytes.Buffer
	w, err := NewWriter(&b, h)
	if err == nil {
		err = send(w, records)
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

// read returns what a record file holds.
func read(file []byte) (Header, []any, error) {
	r, err := NewReader(bytes.NewReader(file), "f.jsonl")
	if err != nil {
		return Header{}, nil, err
	}
	var l list
	err = r.Replay(&l)
	return r.Header(), l.records, err
}

func drawRequest(t *rapid.T) Request {
	instant := rapid.Custom(func(t *rapid.T) sim.Time { return sim.Time(rapid.Int64Range(-1, math.MaxInt64).Draw(t, "t")) })
	n32, n64 := rapid.Int32Min(0), rapid.Int64Min(0)
	r := Request{
		ID: rapid.Int64().Draw(t, "id"), Name: rapid.String().Draw(t, "name"), Line: n64.Draw(t, "line"),
		Class: rapid.String().Draw(t, "class"), Session: rapid.Int64().Draw(t, "session"),
		Priority: rapid.Int32().Draw(t, "priority"), Replica: n32.Draw(t, "replica"),
		Outcome: rapid.SampledFrom(Outcomes()).Draw(t, "outcome"), Reason: rapid.String().Draw(t, "reason"),
		Arrival: instant.Draw(t, "arrival"), Sent: instant.Draw(t, "sent"), Scheduled: instant.Draw(t, "scheduled"),
		First: instant.Draw(t, "first"), Last: instant.Draw(t, "last"), End: instant.Draw(t, "end"),
		Response: sim.Duration(n64.Draw(t, "response")), Prompt: n32.Draw(t, "prompt"), Wanted: n32.Draw(t, "wanted"),
		Output: n32.Draw(t, "output"), Cached: n32.Draw(t, "cached"), Preemptions: n32.Draw(t, "preemptions"),
		Computed: n64.Draw(t, "computed"), Recomputed: n64.Draw(t, "recomputed"), MaxGap: sim.Duration(n64.Draw(t, "gap")),
		Queued: instant.Draw(t, "queued"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "spans") {
		r.Made = append(r.Made, Span{Step: n64.Draw(t, "step"), Steps: rapid.Int64Min(1).Draw(t, "span")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "losses") {
		r.Lost = append(r.Lost, n64.Draw(t, "lost"))
	}
	r.Detour = sim.Duration(n64.Draw(t, "detour"))
	for range rapid.IntRange(0, 2).Draw(t, "attempts") {
		r.Attempts = append(r.Attempts, Attempt{
			Replica: n32.Draw(t, "at"), From: sim.Time(n64.Draw(t, "from")), To: sim.Time(n64.Draw(t, "to")), Output: n32.Draw(t, "made"), Computed: n64.Draw(t, "done"),
		})
	}
	return r
}

func drawStep(t *rapid.T) StepRun {
	n32, n64 := rapid.Int32Min(0), rapid.Int64Min(0)
	r := StepRun{
		Replica: n32.Draw(t, "replica"), Start: sim.Time(n64.Draw(t, "start")), Steps: rapid.Int64Min(1).Draw(t, "steps"),
		First: sim.Duration(n64.Draw(t, "first")), Inc: sim.Duration(rapid.Int64().Draw(t, "inc")),
		Decodes: n32.Draw(t, "decodes"), DecodeKV: n64.Draw(t, "kv"), Running: n32.Draw(t, "running"),
		Waiting: n32.Draw(t, "waiting"), Preempted: n32.Draw(t, "preempted"), BlocksUsed: n64.Draw(t, "blocks"),
		Serial: n64.Draw(t, "serial"), Base: sim.Duration(n64.Draw(t, "base")),
		Oldest: sim.Time(rapid.Int64Range(-1, math.MaxInt64).Draw(t, "oldest")),
		Held:   Held(rapid.IntRange(0, int(HeldOrder)).Draw(t, "held")),
		Cut:    rapid.Bool().Draw(t, "cut"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "chunks") {
		r.Chunks = append(r.Chunks, Chunk{
			ID: rapid.Int64().Draw(t, "id"), Start: n32.Draw(t, "from"), Tokens: n32.Draw(t, "tokens"), Resumed: rapid.Bool().Draw(t, "resumed"), Ghost: rapid.Bool().Draw(t, "ghost"),
		})
	}
	for range rapid.IntRange(0, 3).Draw(t, "gaps") {
		r.Gaps = append(r.Gaps, Gaps{
			Seqs: n32.Draw(t, "seqs"), Steps: n64.Draw(t, "gap steps"),
			First: sim.Duration(n64.Draw(t, "gap first")), Inc: sim.Duration(rapid.Int64().Draw(t, "gap inc")),
		})
	}
	return r
}

func TestRecordsReadBackAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		var records, want []any
		for range rapid.IntRange(0, 5).Draw(t, "records") {
			if rapid.Bool().Draw(t, "step") {
				records = append(records, drawStep(t))
				if h.RequestsOnly {
					continue
				}
			} else {
				records = append(records, drawRequest(t))
			}
			want = append(want, records[len(records)-1])
		}
		file, err := write(h, records)
		if err != nil {
			t.Fatal(err)
		}
		gotHeader, got, err := read(file)
		if err != nil {
			t.Fatalf("%v in\n%s", err, file)
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(h, gotHeader); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestAFileCutAnywhereIsAnError(t *testing.T) {
	file, err := write(Header{Version: "1"}, []any{Request{ID: 1, Name: "a"}, StepRun{Steps: 1, Gaps: []Gaps{{Seqs: 1, Steps: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range file {
		if _, _, err := read(file[:n]); err == nil || !strings.HasPrefix(err.Error(), "f.jsonl") {
			t.Fatalf("cut to %d of %d bytes: error %v", n, len(file), err)
		}
	}
}

// example is a small record file with one request and one step.
const example = `{"schema":4,"kind":"servesim-records","version":"1.0","seed":7,"scenario":"ab12","profile":"h100","model":"m","policy":"vllm@0.20","requests_only":false,"streaming":null}
{"type":"step","replica":0,"start_ps":0,"steps":1,"first_ps":20000000000,"inc_ps":0,"decodes":0,"decode_kv":0,"chunks":[{"id":0,"start":0,"tokens":100,"resumed":false,"ghost":false}],"gaps":[],"running":1,"waiting":0,"preempted":0,"blocks_used":7,"serial":0,"base_ps":0,"held":"","oldest_ps":0,"cut":false}
{"type":"request","id":0,"name":"","line":2,"class":"","session":0,"priority":0,"replica":0,"outcome":"completed","reason":"","arrival_ps":0,"sent_ps":0,"scheduled_ps":0,"first_ps":20000000000,"last_ps":20000000000,"end_ps":20000000000,"response_ps":0,"prompt":100,"wanted":1,"output":1,"cached":0,"preemptions":0,"computed":100,"recomputed":0,"max_gap_ps":0,"queued_ps":0,"made":[{"step":0,"steps":1}],"lost":[],"detour_ps":0,"attempts":[]}
{"type":"end","requests":1,"steps":1}
`

func TestReaderRefuses(t *testing.T) {
	if h, got, err := read([]byte(example)); err != nil || len(got) != 2 || h.Seed != 7 {
		t.Fatal(h, got, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{example, "", "f.jsonl: is empty"},
		{`"kind":"servesim-records"`, `"kind":"other"`, "f.jsonl:1: this is not a record file"},
		{`{"schema":4,`, `TIMESTAMP,ContextTokens`, "f.jsonl:1: this is not a record file"},
		{`"schema":4,`, `"schema":5,"new":[1],`, `f.jsonl:1: schema: found "5"; this version reads schemas 1 to 4`},
		{`"schema":4,`, `"schema":1,`, `f.jsonl:1: streaming: unknown key`},
		{`"schema":4,`, `"schema":3,`, `f.jsonl:2: cut: unknown key`},
		{`"detour_ps":0`, `"detour_ps":-1`, `f.jsonl:3: detour_ps: found -1`},
		{`"attempts":[]`, `"attempts":[{"replica":0}]`, `f.jsonl:3: attempts: key "from_ps" is missing`},
		{`"held":""`, `"held":"soon"`, `f.jsonl:2: held: found "soon"; the reasons are`},
		{`"step":0,"steps":1`, `"step":0,"steps":0`, `f.jsonl:3: made.steps: found 0`},
		{`"lost":[]`, `"lost":[-1]`, `f.jsonl:3: lost: found -1`},
		{`"seed":7`, `"seed":-7`, "f.jsonl:1: seed: found"},
		{`"seed":7`, `"seed":18446744073709551616`, "f.jsonl:1: seed: found"},
		{`"policy":"vllm@0.20",`, ``, `f.jsonl:1: key "policy" is missing`},
		{`"policy":`, `"polcy":`, `f.jsonl:1: polcy: unknown key`},
		{`"line":2`, `"line":2,"line":2`, "f.jsonl:3: line: key is given twice"},
		{`"line":2`, `"line":2.5`, "f.jsonl:3: line: found \"2.5"},
		{`"line":2`, `"line":02`, "f.jsonl:3: line: found"},
		{`"line":2`, `"line":"2"`, "f.jsonl:3: line: found"},
		{`"line":2`, `"line":1e3`, "f.jsonl:3: line: found"},
		{`"line":2`, `"line":-2`, "f.jsonl:3: line: found -2, want an integer from 0"},
		{`"prompt":100`, `"prompt":2147483648`, "f.jsonl:3: prompt: found 2147483648, want an integer from 0 to 2147483647"},
		{`"prompt":100`, `"prompt":NaN`, "f.jsonl:3: prompt: found"},
		{`"prompt":100,`, ``, `f.jsonl:3: key "prompt" is missing`},
		{`"prompt":100`, `"Prompt":100`, `f.jsonl:3: Prompt: unknown key`},
		{`"completed"`, `"done"`, `f.jsonl:3: outcome: found "done"; the outcomes are`},
		{`"arrival_ps":0`, `"arrival_ps":-1`, "f.jsonl:3: arrival_ps: found -1"},
		{`"arrival_ps":0`, `"arrival_ps":9223372036854775808`, "f.jsonl:3: arrival_ps: found"},
		{`"name":""`, `"name":"\x"`, "f.jsonl:3: name: "},
		{`"name":""`, "\"name\":\"\xff\"", "f.jsonl:3: name: a string is not valid UTF-8"},
		{`"name":""`, "\"name\":\"\t\"", "f.jsonl:3: name: a string has a control character"},
		{`"attempts":[]}`, `"attempts":[]} x`, "f.jsonl:3: found \"x\" after the object"},
		{`"resumed":false`, `"resumed":0`, "f.jsonl:2: chunks.resumed: found"},
		{`"gaps":[]`, `"gaps":[{"seqs":1}]`, `f.jsonl:2: gaps: key "steps" is missing`},
		{`"gaps":[]`, `"gaps":[`, "f.jsonl:2: gaps: found"},
		{`"gaps":[]`, `"gaps":null`, "f.jsonl:2: gaps: found"},
		{`"steps":1,"first_ps"`, `"steps":0,"first_ps"`, "f.jsonl:2: steps: found 0, want an integer from 1"},
		{`"type":"step"`, `"type":"stop"`, `f.jsonl:2: found type "stop"`},
		{`{"type":"step"`, `["type"`, `f.jsonl:2: found "[\"type\"`},
		{`"requests_only":false`, `"requests_only":true`, "f.jsonl:2: type: a step in a file whose header says requests_only"},
		{`{"type":"end","requests":1,"steps":1}` + "\n", ``, "f.jsonl:3: the file has no end line: it was cut short"},
		{`"requests":1`, `"requests":2`, "f.jsonl:4: requests: the end line counts 2 requests, the file has 1"},
		{`"steps":1}` + "\n", `"steps":1}` + "\n\n", "f.jsonl:5: found a line after the end line"},
	} {
		if !strings.Contains(example, c.old) {
			t.Fatalf("%q is not in the example", c.old)
		}
		_, _, err := read([]byte(strings.Replace(example, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q:\ngot  %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}

func TestReplayNamesTheLineThatTheSinkRefuses(t *testing.T) {
	r, err := NewReader(strings.NewReader(example), "f.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	if err := r.Replay(refuse{refused}); !errors.Is(err, refused) || err.Error() != "f.jsonl:3: refused" {
		t.Error(err)
	}
}

// refuse is a Sink that refuses requests.
type refuse struct{ err error }

func (f refuse) Request(*Request) error { return f.err }
func (f refuse) Step(*StepRun) error    { return nil }

func TestWriterReportsWhatItCannotWrite(t *testing.T) {
	if _, err := write(Header{}, []any{Request{Name: "a\xffb"}}); err == nil || !strings.Contains(err.Error(), "name is not valid UTF-8") {
		t.Error(err)
	}
	if _, err := write(Header{Model: "\xff"}, nil); err == nil || !strings.Contains(err.Error(), "model is not valid UTF-8") {
		t.Error(err)
	}
	if _, err := write(Header{}, []any{StepRun{Held: 9}}); err == nil || !strings.Contains(err.Error(), "unknown reason 9") {
		t.Error(err)
	}
	if _, err := write(Header{}, []any{Request{Outcome: 9}}); err == nil || !strings.Contains(err.Error(), "unknown outcome 9") {
		t.Error(err)
	}
}

func TestRequestKeysNameTheirUnits(t *testing.T) {
	for _, k := range requestKeys {
		for _, word := range []string{"arrival", "sent", "scheduled", "first", "last", "end", "response", "gap", "queued"} {
			if strings.Contains(k, word) && !strings.HasSuffix(k, "_ps") {
				t.Errorf("key %q has no unit", k)
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte(strings.Replace(example, `"name":""`, `"name":"\ud83d\ude00 \"x\\"`, 1)))
	f.Add([]byte(example1))
	f.Add([]byte(strings.ReplaceAll(example, ":", " : ")))
	f.Fuzz(func(t *testing.T, file []byte) {
		h, records, err := read(file)
		if err != nil {
			return
		}
		h.Schema = Schema // in which it is written
		again, err := write(h, records)
		if err != nil {
			t.Fatalf("read, but cannot be written: %v", err)
		}
		h2, records2, err := read(again)
		if diff := cmp.Diff(records, records2) + cmp.Diff(h, h2); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

func ExampleWriter() {
	w, _ := NewWriter(os.Stdout, Header{Version: "1.0", Seed: 7, Model: "llama", Policy: "vllm@0.20", RequestsOnly: true})
	_ = w.Request(&Request{ID: 3, Outcome: Rejected, Reason: "too long", Arrival: 1500, Sent: Never, Queued: Never, Scheduled: Never, First: Never, Last: Never, End: 1500})
	_ = w.Close()
	// Output:
	// {"schema":4,"kind":"servesim-records","version":"1.0","seed":7,"scenario":"","profile":"","model":"llama","policy":"vllm@0.20","requests_only":true,"streaming":null}
	// {"type":"request","id":3,"name":"","line":0,"class":"","session":0,"priority":0,"replica":0,"outcome":"rejected","reason":"too long","arrival_ps":1500,"sent_ps":null,"scheduled_ps":null,"first_ps":null,"last_ps":null,"end_ps":1500,"response_ps":0,"prompt":0,"wanted":0,"output":0,"cached":0,"preemptions":0,"computed":0,"recomputed":0,"max_gap_ps":0,"queued_ps":null,"made":[],"lost":[],"detour_ps":0,"attempts":[]}
	// {"type":"end","requests":1,"steps":0}
}

// benchRequest and benchStep are typical records.
func benchRequest() Request {
	return Request{
		ID: 123456, Line: 123457, Class: "chat", Arrival: 3_600_123_456_789, Sent: 3_600_123_456_789, Scheduled: 3_600_173_456_789,
		First: 3_600_273_456_789, Last: 3_608_273_456_789, End: 3_608_273_456_789, Prompt: 1024, Wanted: 256, Output: 256,
		Computed: 1279, MaxGap: 48_273_456_789, Queued: 3_600_133_456_789, Made: []Span{{Step: 1234, Steps: 256}},
	}
}

func benchStep() StepRun {
	return StepRun{
		Start: 3_600_123_456_789, Steps: 12, First: 11_123_456_789, Inc: 4_123_456, Decodes: 64, DecodeKV: 81920,
		Gaps:    []Gaps{{Seqs: 64, Steps: 12, First: 11_123_456_789, Inc: 4_123_456}},
		Running: 64, BlocksUsed: 5120,
	}
}

func BenchmarkWriter(b *testing.B) {
	r, s := benchRequest(), benchStep()
	for name, write := range map[string]func(*Writer) error{
		"record=request": func(w *Writer) error { return w.Request(&r) },
		"record=step":    func(w *Writer) error { return w.Step(&s) },
	} {
		b.Run(name, func(b *testing.B) {
			w, err := NewWriter(io.Discard, Header{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := write(w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReader(b *testing.B) {
	const n = 1000
	var records []any
	for range n {
		records = append(records, benchRequest())
	}
	file, err := write(Header{}, records)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(file) / n))
	for done := 0; b.Loop(); done++ {
		if done%n != 0 {
			continue // one pass over the file is n records
		}
		r, err := NewReader(bytes.NewReader(file), "bench")
		if err == nil {
			err = r.Replay(refuse{})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func TestWriterAllocatesNothingARecord(t *testing.T) {
	w, err := NewWriter(io.Discard, Header{})
	if err != nil {
		t.Fatal(err)
	}
	r, s := benchRequest(), benchStep()
	if err := w.Step(&s); err != nil { // the buffer grows to its size
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(100, func() {
		if err := errors.Join(w.Request(&r), w.Step(&s)); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for a request and a step", n)
	}
}
