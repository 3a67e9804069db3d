package conform

import (
	"os"
	"path/filepath"
	"testing"
)

func TestVectors(t *testing.T) {
	for _, name := range []string{"named.json", "random.json"} {
		path := filepath.Join("..", "..", "..", "shared", "vectors", name)
		f, err := os.Open(path)
		if err != nil {
			t.Skip("../shared/vectors is not here; its recorded schedules cannot be replayed")
		}
		vectors, err := Read(f, name)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		matched, skipped := 0, map[string]int{}
		for _, v := range vectors {
			r, err := Replay(v, "", Policy)
			switch {
			case err != nil:
				t.Error(err)
			case r.Skip != "":
				skipped[r.Skip]++
			case r.Diff != "":
				t.Errorf("%s %s [%s]: %s", name, v.Name, v.Label, r.Diff)
			default:
				matched++
			}
		}
		t.Logf("%s: %d match; skipped %v", name, matched, skipped)
	}
}
