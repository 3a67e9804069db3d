package sweep

import (
	"strings"
	"testing"
)

// TestLoadStates runs a rate that a replica carries and one at which its queue grows,
// and pools states by hand: the greatest is that of all, and no data stays none.
func TestLoadStates(t *testing.T) {
	p := read(t, "schema = 1\nscenario = \"base.toml\"\n[set]\nrequests = 2000\n[grid]\narrival.rate_per_s = [4, 400]\n")
	files, _ := done(t, p, 2)
	for name, text := range files {
		if !strings.Contains(text, "stable") || !strings.Contains(text, "overloaded") {
			t.Errorf("%s doesn't say the states:\n%s", name, text[:min(len(text), 2000)])
		}
	}
	k, ok := column("load_state")
	c := Columns()[k]
	if _, err := ordered("load_state"); !ok || err == nil {
		t.Error("points can be ranked by their states")
	}
	rows := pool{}
	for i := range c.Words {
		row := Row{Values: make([]float64, len(Columns()))}
		row.Values[k] = float64(i)
		rows = append(rows, row)
		mean := rows.mean()
		if word, _ := c.word(mean.at(k)); word != c.Words[i] {
			t.Errorf("%q is the greatest of %q", word, c.Words[:i+1])
		}
	}
	rows = append(rows, Row{Values: nil})
	mean := rows.mean()
	if word, ok := c.word(mean.at(k)); ok {
		t.Errorf("%q is said of a point without data", word)
	}
}
