package analysis

import "testing"

// TestUnseenLimitsAreNotJudged holds which limits are judged of what clients saw: all
// on requests or none, and each on the run by itself.
func TestUnseenLimitsAreNotJudged(t *testing.T) {
	clients := Unseen{Engine: true}
	ends := Unseen{Engine: true, ITL: true, MaxGap: true}
	for _, c := range []struct {
		unseen Unseen
		limits string
		judged string
		not    int
	}{
		{Unseen{}, "queue <= 1s, max_gap <= 1s, itl p99 <= 1s", "queue <= 1s, max_gap <= 1s, itl p99 <= 1s", 0},
		{clients, "ttft <= 1s, max_gap <= 1s, itl p99 <= 1s", "ttft <= 1s, max_gap <= 1s, itl p99 <= 1s", 0},
		{clients, "ttft <= 1s, queue <= 1s, goodput >= 90 %, ttft p99 <= 2s", "ttft p99 <= 2s", 1},
		{ends, "ttft <= 1s, max_gap <= 1s, itl p99 <= 1s, tpot p50 <= 1s", "tpot p50 <= 1s", 2},
		{ends, "ttft <= 1s, goodput >= 90 %, max_gap p99 <= 1s", "ttft <= 1s, goodput >= 90 %", 1},
	} {
		s, err := ParseSLO(c.limits)
		if err != nil {
			t.Fatal(err)
		}
		got, not := c.unseen.Judged(s)
		if got.String() != c.judged || len(not) != c.not {
			t.Errorf("%+v: of %q judges %q, not %v; want %q and %d not", c.unseen, c.limits, got.String(), not, c.judged, c.not)
		}
		for _, n := range not {
			if n.Limit == "" || n.Why == "" {
				t.Errorf("%q: %+v", c.limits, n)
			}
		}
	}
}
