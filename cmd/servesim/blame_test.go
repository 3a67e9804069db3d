package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBlameGolden(t *testing.T) {
	out := ok(t, "run", "--blame", "--set", "enable_chunked_prefill=false")
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
		Input any
	}
	if err := json.Unmarshal([]byte(ok(t, "run", "s.toml", "--json", "--blame")), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Input == nil || doc.Blame.Requests == 0 || len(doc.Blame.Bands) != 4 {
		t.Fatalf("%+v", doc)
	}
	for name, bands := range doc.Blame.Bands {
		for which, b := range bands {
			if b.Count == 0 || b.Parts.sum() != b.Mean {
				t.Errorf("%s, %s: %+v", name, which, b)
			}
		}
	}
}
