package sweep

import (
	"os"
	"path/filepath"
	"testing"
)

// TestExamples settles every point of every plan of examples/sweep.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/sweep/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ReadPlan(f, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if s := opened(t, p, t.TempDir()); len(s.Points) < 2 {
			t.Errorf("%s has %d points", f, len(s.Points))
		}
	}
}
