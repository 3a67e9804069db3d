package export

import (
	"fmt"
	"strings"
	"testing"

	"servesim/analysis/transcript"
)

// BenchmarkRead reads 2,000 records of AIPerf with 250 gaps each, once to check
// them and once for their calls.
func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	gaps := strings.Repeat("9.123456,", 248) + "9.123456"
	for i := range 2000 {
		fmt.Fprintf(&text, `{"metadata":{"x_request_id":"r%d","request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling"},`+
			`"metrics":{"time_to_first_token":{"value":100.0,"unit":"ms"},"request_latency":{"value":2371.740544,"unit":"ms"},`+
			`"inter_chunk_latency":{"value":[%s],"unit":"ms"},"output_sequence_length":{"value":250,"unit":"tokens"}},"error":null}`+"\n",
			i, 1_759_813_207_532_900_363+int64(i)*1e8, 1_759_813_209_904_640_907+int64(i)*1e8, gaps)
	}
	src := textSource("f", text.String())
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		f, err := Read(src)
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Replay(func(*Run) (transcript.Sink, error) { return nothing{}, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// nothing is a sink that does nothing.
type nothing struct{}

func (nothing) Call(*transcript.Call) error { return nil }
