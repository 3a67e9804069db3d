package workload

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/internal/infile"
	"servesim/sim"
)

// check reads text and compares what it yields.
func check(t *testing.T, text string, opt Options, want []Request) Report {
	t.Helper()
	got, report, err := readText(text, opt)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	return report
}

func at(d sim.Duration) sim.Time { return sim.Time(d) }

func TestBurstGPT12(t *testing.T) {
	report := check(t, "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"+
		"5,s1,1.5,ChatGPT,472,18,490,Conversation log\n"+
		"45,,2,GPT-4,1087,0,1087,API log\n"+
		"45.5,s2,2,GPT-4,1087,230,1317,API log\n"+
		"118,s1,3,ChatGPT,417,276,693,Conversation log\n", Options{}, []Request{
		{ID: 0, Line: 2, Prompt: 472, Output: 18, Session: 1, Class: "ChatGPT"},
		{ID: 1, Line: 4, Arrival: at(40500 * sim.Millisecond), Prompt: 1087, Output: 230, Session: 2, Class: "GPT-4"},
		{ID: 2, Line: 5, Arrival: at(113 * sim.Second), Prompt: 417, Output: 276, Session: 1, Class: "ChatGPT"},
	})
	if diff := cmp.Diff([]Count{{"0 Response tokens", 1}}, report.Dropped); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Elapsed time", "Total tokens", "Log Type"}, report.Ignored); diff != "" {
		t.Error(diff)
	}
}

func TestVidurOldNamesAndIndex(t *testing.T) {
	check(t, ",PromptTokenCount,GeneratedTokenCount,Time\n0,374,44,1e-05\n1,396,109,0.30000000000000004\n", Options{}, []Request{
		{ID: 0, Line: 2, Prompt: 374, Output: 44},
		{ID: 1, Line: 3, Arrival: at(299_990 * sim.Microsecond), Prompt: 396, Output: 109},
	})
}

func TestSplitwiseLeavesOutOtherTypes(t *testing.T) {
	report := check(t, splitHead+"a,2,0,1,1,4096,32\nb,1,0,2,1,7,7\nc,2,0,3.25,1,2048,8\n", Options{}, []Request{
		{ID: 0, Line: 2, Name: "a", Prompt: 4096, Output: 32},
		{ID: 1, Line: 4, Name: "c", Arrival: at(2250 * sim.Millisecond), Prompt: 2048, Output: 8},
	})
	if diff := cmp.Diff([]Count{{`request_type "1" is not 2, LLM inference`, 1}}, report.Dropped); diff != "" {
		t.Error(diff)
	}
}

func TestPlainCSVColumns(t *testing.T) {
	cols := Columns{Arrival: "When", Prompt: "in", Output: "out", ID: "id", Session: "user", Class: "kind", Priority: "rank", Unit: "us"}
	want := []Request{
		{ID: 0, Line: 2, Name: "x", Prompt: 2, Output: 3, Session: 1, Class: "chat, long", Priority: -1},
		{ID: 1, Line: 3, Arrival: at(1500 * sim.Nanosecond), Prompt: 4, Output: 5, Session: 2},
		{ID: 2, Line: 4, Arrival: at(1500 * sim.Nanosecond), Name: "z", Prompt: 4, Output: 5, Session: 1, Class: "chat, long", Priority: 9},
	}
	report := check(t, "in,out,when,id,user,kind,rank,note\n2,3,1700000000000000,x,ann,\"chat, long\",-1,\n"+
		"4,5,1700000000000001.5,,bob,,0,\"say \"\"hi\"\"\"\n4,5,1700000000000001.5,z,ann,\"chat, long\",9,\n", Options{Columns: cols}, want)
	if report.Format != "csv" || !slices.Equal(report.Ignored, []string{"note"}) {
		t.Errorf("%+v", report)
	}
}

func TestPlainCSVFindsWallClock(t *testing.T) {
	report := check(t, "when,in,out\n2024-05-12 00:00:00,1,2\n2024-05-12 00:00:01.5,1,2\n", mapped(""), []Request{
		{ID: 0, Line: 2, Prompt: 1, Output: 2},
		{ID: 1, Line: 3, Arrival: at(1500 * sim.Millisecond), Prompt: 1, Output: 2},
	})
	if len(report.Notes) != 1 {
		t.Errorf("%+v", report)
	}
	_, _, err := readText("when,in,out\n2024-05-12 00:00:00,1,2\n2024-05-12 00:00:01Z,1,2\n", mapped(""))
	if want := `t.csv:3: when: found "2024-05-12 00:00:01Z" with a zone, want one kind in the whole file: line 2 has none`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestMooncakeDialects(t *testing.T) {
	const top = 1<<64 - 1
	report := check(t, `{"output_length":2,"timestamp":1000,"input_length":1025,"hash_ids":[7,8,18446744073709551615],"session_id":"a","text_input":"x, \"y\" {"}
{ "timestamp" : 1000.5 , "input_length" : 5 , "output_length" : 2 , "hash_ids" : [ ] , "delay" : [null, {"a": -1.5e3}] }
{"timestamp":1001,"input_length":5,"output_length":2,"hash_ids":null,"session_id":"a"}
{"timestamp":1001,"input_length":5,"output_length":2,"hash_ids": [ 1 ]}
`, Options{}, []Request{
		{ID: 0, Line: 1, Prompt: 1025, Output: 2, Session: 1, Blocks: []uint64{7, 8, top}, BlockTokens: 512},
		{ID: 1, Line: 2, Arrival: at(500 * sim.Microsecond), Prompt: 5, Output: 2},
		{ID: 2, Line: 3, Arrival: at(sim.Millisecond), Prompt: 5, Output: 2, Session: 1},
		{ID: 3, Line: 4, Arrival: at(sim.Millisecond), Prompt: 5, Output: 2, Blocks: []uint64{1}, BlockTokens: 512},
	})
	if !slices.Equal(report.Ignored, []string{"text_input", "delay"}) || report.Hashed != 2 {
		t.Errorf("%+v", report)
	}
	check(t, `{"timestamp":0,"input_length":33,"output_length":2,"hash_ids":[1,2,3]}`, Options{BlockTokens: 16}, []Request{
		{Line: 1, Prompt: 33, Output: 2, Blocks: []uint64{1, 2, 3}, BlockTokens: 16}})
}

func TestServesimLines(t *testing.T) {
	check(t, "\xef\xbb\xbf\n{\"source\":\"caf\\u00e9\",\"schema\":1}\r\n"+
		`{"id":17,"arrival":2,"prompt":5,"output":7}`+"\r\n"+
		`{"output":7,"prompt":5,"arrival":2.000000000001,"id":"\u0041\n","class":"chat","blocks":[],"block_tokens":4}`, Options{}, []Request{
		{ID: 0, Line: 3, Name: "17", Prompt: 5, Output: 7},
		{ID: 1, Line: 4, Name: "A\n", Arrival: 1, Prompt: 5, Output: 7, Class: "chat"},
	})
}

func TestAmbiguousHeader(t *testing.T) {
	text := "\nTIMESTAMP,ContextTokens,GeneratedTokens,arrived_at,num_prefill_tokens,num_decode_tokens\n2023-11-16 18:15:46,1,2,0,3,4\n"
	_, _, err := readText(text, Options{})
	if want := "t.csv:2: found a layout that fits the formats azure and vidur; say which with --format"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	check(t, text, Options{Format: "azure"}, []Request{{Line: 3, Prompt: 1, Output: 2}})
	check(t, text, Options{Format: "vidur"}, []Request{{Line: 3, Prompt: 3, Output: 4}})
}

// Lines may be longer than the buffer and than what the format is told from.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 2*infile.BufferBytes+17)
	text := `{"timestamp":0,"input_length":5,"output_length":2,"text":"` + long + `"}` + "\n"
	second := strings.Replace(text, ":0,", ":1,", 1)
	check(t, text+second, Options{}, []Request{
		{ID: 0, Line: 1, Prompt: 5, Output: 2}, {ID: 1, Line: 2, Arrival: at(sim.Millisecond), Prompt: 5, Output: 2}})
}

// endless is text without a line end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	tr, err := Read(io.MultiReader(strings.NewReader(azureHead+first), endless{}), "t.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Next(); err == nil || err.Error() != "t.csv:3: found a line of more than 64 MiB, want one request a line" {
		t.Errorf("got %v", err)
	}
}

// Sorting is what a stable sort of the rows would be, blocks and all.
func TestSortEqualsSortedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type line struct{ ms, prompt int }
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) line {
			return line{rapid.IntRange(0, 5).Draw(t, "ms"), rapid.IntRange(1, 2000).Draw(t, "prompt")}
		}), 1, 60).Draw(t, "lines")
		text := func(lines []line) string {
			var b strings.Builder
			for _, l := range lines {
				fmt.Fprintf(&b, `{"timestamp":%d,"input_length":%d,"output_length":1,"hash_ids":[0`, l.ms, l.prompt)
				for i := 512; i < l.prompt; i += 512 {
					fmt.Fprintf(&b, ",%d", l.prompt*i)
				}
				b.WriteString("]}\n")
			}
			return b.String()
		}
		late, most := int64(0), 0
		for _, l := range lines {
			if l.ms < most {
				late++
			}
			most = max(most, l.ms)
		}
		got, report, err := readText(text(lines), Options{Sort: true})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(lines, func(a, b line) int { return a.ms - b.ms })
		want, _, err := readText(text(lines), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].Line, want[i].Line = 0, 0
		}
		if diff := cmp.Diff(want, got); diff != "" || report.OutOfOrder != late {
			t.Errorf("%d out of order, want %d %s", report.OutOfOrder, late, diff)
		}
	})
}
