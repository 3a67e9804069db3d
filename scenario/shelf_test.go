package scenario

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShelvesChangeNothing holds that plans which share what they name come to what
// they come to alone, also at the same time.
func TestShelvesChangeNothing(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "t.csv")
	text := "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,374,44\n2023-11-16 18:15:50.99,396,109\n2023-11-16 18:15:51.22,879,55\n"
	if err := os.WriteFile(trace, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	shelf := &Shelf{}
	var all sync.WaitGroup
	for _, rate := range []string{"0.5", "1.0", "2.5"} {
		run := func(shelf *Shelf) *Result {
			src := Source{Content: small, Path: "s.toml", Shelf: shelf}
			for _, text := range []string{"trace=" + trace, "transform.rate=" + rate} {
				s, err := ParseSetting(text)
				if err != nil {
					t.Error(err)
				}
				src.Settings = append(src.Settings, s)
			}
			p, err := Load(src)
			if err != nil {
				t.Error(err)
				return nil
			}
			r, err := p.Simulate(t.Context(), Options{})
			if err != nil {
				t.Error(err)
				return nil
			}
			return r
		}
		want := run(nil)
		for range 3 {
			all.Go(func() {
				got := run(shelf)
				if want == nil || got == nil {
					return
				}
				if diff := cmp.Diff(want.Input(), got.Input()); diff != "" {
					t.Errorf("rate %s: %s", rate, diff)
				}
				if want.Report.E2E.Mean != got.Report.E2E.Mean || want.Report.Counts.Requests != got.Report.Counts.Requests {
					t.Errorf("rate %s: the reports differ", rate)
				}
			})
		}
	}
	all.Wait()
}
