package workload

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// benchTraces returns a trace of n rows in each of the formats that matter for
// speed, in the shape of the public files.
func benchTraces(n int) map[string][]byte {
	var azure, vidur, mooncake, own bytes.Buffer
	azure.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\r\n")
	vidur.WriteString("arrived_at,num_prefill_tokens,num_decode_tokens\n")
	own.WriteString("{\"schema\":1}\n")
	for i := range n {
		prompt, output := i*7919%4000+1, i*31%900+1
		s := i / 100
		fmt.Fprintf(&azure, "2023-11-%02d %02d:%02d:%02d.%06d0,%d,%d\r\n",
			s/86400+1, s/3600%24, s/60%60, s%60, i%100*10000, prompt, output)
		fmt.Fprintf(&vidur, "%d.%06d,%d,%d\n", s, i%100*10000, prompt, output)
		fmt.Fprintf(&mooncake, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [0`, i*10, prompt, output)
		for j := 1; j < (prompt+511)/512; j++ {
			fmt.Fprintf(&mooncake, ", %d", i*10+j)
		}
		mooncake.WriteString("]}\n")
		fmt.Fprintf(&own, `{"id":"%d","arrival":%d.%02d,"prompt":%d,"output":%d}`+"\n", i, s, i%100, prompt, output)
	}
	return map[string][]byte{"azure": azure.Bytes(), "vidur": vidur.Bytes(), "mooncake": mooncake.Bytes(), "servesim": own.Bytes()}
}

// BenchmarkRead reads whole traces from memory. A row is a request.
func BenchmarkRead(b *testing.B) {
	const n = 200_000
	traces := benchTraces(n)
	for _, format := range []string{"azure", "vidur", "mooncake", "servesim"} {
		b.Run("format="+format, func(b *testing.B) {
			data := traces[format]
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				tr, err := Read(bytes.NewReader(data), format, Options{})
				if err != nil {
					b.Fatal(err)
				}
				rows := 0
				for ; err == nil; rows++ {
					_, err = tr.Next()
				}
				if err != io.EOF || rows != n+1 {
					b.Fatal(rows, err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// Reading a row allocates nothing where the row has no text of its own.
func TestReadDoesNotAllocate(t *testing.T) {
	traces := benchTraces(5_000)
	for _, format := range []string{"azure", "vidur", "mooncake"} {
		tr, err := Read(bytes.NewReader(traces[format]), format, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if _, err := tr.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(4000, func() { _, err = tr.Next() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations a row, %v", format, n, err)
		}
	}
}
