package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBlameGolden(t *testing.T) {
	out := ok(t, "run", "--blame", "--explain", "100", "--worst", "itl", "--set", "enable_chunked_prefill=false")
	i := strings.Index(out, "Blame, ms")
	if i < 0 {
		t.Fatal(out)
	}
	golden(t, "blame.txt", out[i:])
	for line := range strings.Lines(out[i:strings.Index(out, "\nblame ")]) {
		most := 100 // of text; tables have less
		if strings.HasPrefix(line, "  ") && line[2] != ' ' || strings.HasPrefix(line, "B") {
			most = 80
		}
		if n := utf8.RuneCountInString(line) - 1; n > most {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// parts is a latency by cause in JSON.
type parts map[string]int64

func (p parts) sum() (n int64) {
	for _, v := range p {
		n += v
	}
	return n
}

// TestBlameInJSON holds that parts sum to what they are parts of.
func TestBlameInJSON(t *testing.T) {
	inFolder(t, map[string]string{"s.toml": small})
	var doc struct {
		Blame struct {
			Requests int64
			Bands    map[string]map[string]struct {
				Count int64
				Mean  int64 `json:"mean_ps"`
				Parts parts `json:"parts_ps"`
			}
		}
		Explain []struct {
			ID    int64
			Total int64 `json:"total_ps"`
			Parts parts `json:"parts_ps"`
			Acts  []struct {
				Parts parts `json:"parts_ps"`
			}
			Culprits []struct{ PS int64 }
		}
		Input any
	}
	if err := json.Unmarshal([]byte(ok(t, "run", "s.toml", "--json", "--blame", "--explain", "7", "--explain", "3", "--explain", "7", "--worst", "itl,TTFT")), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Input == nil || doc.Blame.Requests == 0 || len(doc.Blame.Bands) != 4 || len(doc.Explain) != 4 || doc.Explain[0].ID != 7 {
		t.Fatalf("%+v", doc)
	}
	for name, bands := range doc.Blame.Bands {
		for which, b := range bands {
			if b.Count == 0 || b.Parts.sum() != b.Mean {
				t.Errorf("%s, %s: %+v", name, which, b)
			}
		}
	}
	for _, s := range doc.Explain {
		var acts, culprits int64
		for _, a := range s.Acts {
			acts += a.Parts.sum()
		}
		for _, c := range s.Culprits {
			culprits += c.PS
		}
		named := s.Parts["behind_prompts"] + s.Parts["prefill_beside_prompts"] + s.Parts["decode_beside_prompts"] + s.Parts["stalled_by_prompts"]
		if s.Total == 0 || s.Parts.sum() != s.Total || acts != s.Total || culprits != named {
			t.Errorf("%+v: acts sum to %d, culprits to %d", s, acts, culprits)
		}
	}
}
