package conform

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim/scheduler"
)

var update = flag.Bool("update", false, "count the recordings again and write recordings.txt")

// TestRecordings holds that recordings.txt counts what is recorded.
func TestRecordings(t *testing.T) {
	total, exact := map[string]int{}, map[string]int{}
	skipped := map[string]map[string]int{}
	for _, v := range append(shared(t, "named.json"), shared(t, "random.json")...) {
		r, err := Replay(v, "", Policy)
		if err != nil {
			t.Fatal(err)
		}
		preset := v.Preset()
		total[preset]++
		switch {
		case r.Skip != "":
			if skipped[preset] == nil {
				skipped[preset] = map[string]int{}
			}
			skipped[preset][r.Skip]++
		case r.Diff == "":
			exact[preset]++
		}
	}
	var b strings.Builder
	b.WriteString("# Public recordings of each engine version: version | recorded | reproduced exactly | the others, by what they need\n")
	for _, p := range scheduler.Presets() {
		var why []string
		for _, reason := range slices.Sorted(maps.Keys(skipped[p.Name])) {
			why = append(why, fmt.Sprintf("%d %s", skipped[p.Name][reason], reason))
		}
		fmt.Fprintf(&b, "%s | %d | %d | %s\n", p.Name, total[p.Name], exact[p.Name], orDash(why))
	}
	if *update {
		if err := os.WriteFile("recordings.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(recordings, b.String()); d != "" {
		t.Errorf("recordings.txt is out of date; run go test ./internal/conform -run Recordings -update (- file, + counted):\n%s", d)
	}
}

// TestEveryPresetIsCounted holds that recordings.txt has a line for each version.
func TestEveryPresetIsCounted(t *testing.T) {
	for _, p := range scheduler.Presets() {
		if r, ok := RecordingsOf(p.Name); !ok || r.Recorded < 1 || r.Exact > r.Recorded {
			t.Errorf("%s: %+v, %v", p.Name, r, ok)
		}
	}
	if _, ok := RecordingsOf("vllm@0"); ok {
		t.Error("a version that there is none of has recordings")
	}
}

// orDash joins words, or stands for none.
func orDash(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}
