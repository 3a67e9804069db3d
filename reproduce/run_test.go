package reproduce

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"servesim/scenario"

	"github.com/google/go-cmp/cmp"
)

// ran tests claims with so many jobs.
func ran(t *testing.T, jobs int, claims ...*Claim) []*Result {
	t.Helper()
	results, err := Run(t.Context(), claims, Work{Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestRun follows a small claim from its file to its verdict.
func TestRun(t *testing.T) {
	c, err := smallClaim()
	if err != nil {
		t.Fatal(err)
	}
	var last, total int
	results, err := Run(t.Context(), []*Claim{c}, Work{Jobs: 1, Progress: func(done, of int) { last, total = done, of }})
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	if last != 11 || total != 11 { // 5 seeds of either run, and the gaps
		t.Errorf("%d of %d tasks", last, total)
	}
	if r.Verdict != Reproduced || r.Stale || len(r.Checks) != 2 || len(r.Facts) != 1 {
		t.Fatalf("%+v", r)
	}
	ttft, gap, ratio := r.Checks[0], r.Checks[1], r.Facts[0]
	if ttft.Runs != 5 || !(ttft.Lo < ttft.Value && ttft.Value < ttft.Hi) {
		t.Errorf("TTFT %+v", ttft)
	}
	if gap.Value != 2 || !gap.Exact() || gap.Runs != 0 {
		t.Errorf("mean gap %+v; want exactly 2", gap)
	}
	if ratio.Runs != 5 || ratio.Value <= 1 || ratio.Value >= 2 {
		t.Errorf("ratio %+v", ratio)
	}
	if strings.ContainsAny(r.Explanation, "{}") || !strings.HasPrefix(r.Explanation, "It is ") {
		t.Errorf("explanation %q", r.Explanation)
	}
}

// TestStaleExplanation holds that an explanation whose facts don't hold says so.
func TestStaleExplanation(t *testing.T) {
	c, err := smallClaim("from = 1\nto = 2", "from = 2")
	if err != nil {
		t.Fatal(err)
	}
	r := ran(t, 2, c)[0]
	if !r.Stale || r.Verdict != Reproduced {
		t.Errorf("stale %v, %s", r.Stale, r.Verdict)
	}
	if got := r.because(); !strings.HasPrefix(got, "the explanation does not hold any more, for these facts don't: ratio; it was: It is ") {
		t.Error(got)
	}
}

// TestNothingDependsOnJobs holds that results are the same in every form, whatever
// is done at once.
func TestNothingDependsOnJobs(t *testing.T) {
	c, err := smallClaim()
	if err != nil {
		t.Fatal(err)
	}
	forms := func(jobs int) string {
		var b bytes.Buffer
		results := ran(t, jobs, c)
		if err := errors.Join(Text(&b, results), JSON(&b, results), Markdown(&b, results)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if diff := cmp.Diff(forms(1), forms(4)); diff != "" {
		t.Error(diff)
	}
}

func TestRunEnds(t *testing.T) {
	c, err := smallClaim()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, []*Claim{c}, Work{Jobs: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	c, err = smallClaim("output = { dist = \"constant\", value = 20 }", "output = { dist = \"constant\", value = 1 }")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), []*Claim{c}, Work{Jobs: 2}); err == nil || !strings.Contains(err.Error(), "claim small: TPOT on 1 / on 2: one has no tpot_mean_ms") {
		t.Errorf("answers of one token have no TPOT: %v", err)
	}
}

// TestDivided by hand.
func TestDivided(t *testing.T) {
	got := divided([]sample{{value: 6, lo: 4, hi: 8}}, []sample{{value: 2, lo: 1, hi: 4}})
	if want := (sample{value: 3, lo: 1, hi: 8}); got[0] != want {
		t.Errorf("%+v, want %+v", got[0], want)
	}
}

// TestOneSeedDrawsNothing holds that what is run once would be the same under any
// seed, so that its value is exact.
func TestOneSeedDrawsNothing(t *testing.T) {
	list, err := Claims()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, c := range list {
		for _, task := range tasksOf([]*Claim{c}) {
			s := c.subjects[task.subject]
			r, ok := s.subject.(*run)
			if !ok || r.seeds != 1 || r.tasks([]string{"x"}) != r.tasks(task.columns) || cmp.Equal(task.columns, []string{capacityRate}) {
				continue
			}
			n++
			first, err := r.measure(t.Context(), 0, task.columns)
			if err != nil {
				t.Fatal(err)
			}
			other, err := r.measure(t.Context(), 1, task.columns)
			if err != nil {
				t.Fatal(err)
			}
			for name := range first {
				if first[name] != other[name] {
					t.Errorf("%s: %s has %s %v, under another seed %v; give it seeds", c.Name, s.name, name, first[name].value, other[name].value)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d runs were looked at", n)
	}
}

// TestColumnsOfRuns looks at those beside the sweeps' on one prompt of 1,000 tokens,
// then 19 tokens alone.
func TestColumnsOfRuns(t *testing.T) {
	c, err := smallClaim("requests = 20, ", "requests = 1, ")
	if err != nil {
		t.Fatal(err)
	}
	columns := append(ownColumns()[2:], kvTokens, "ttft_mean_ms", "queue_mean_ms")
	got, err := c.subjects[0].measure(t.Context(), 0, columns)
	if err != nil {
		t.Fatal(err)
	}
	if x := got[runningMean].value; x != 1 {
		t.Errorf("%v requests run at once, want 1", x)
	}
	if x := got[gapsBeside].value; x != 0 {
		t.Errorf("%v of the gaps are beside prompts, want none", x)
	}
	step := got["ttft_mean_ms"].value - got["queue_mean_ms"].value - 10 // and the network's 10 ms
	if x := got[promptCompute].value; x <= 0 || x > step {
		t.Errorf("the GPU computes %v ms of a step of %v ms", x, step)
	}
	p, err := scenario.Load(c.subjects[0].subject.(*run).source)
	if err != nil {
		t.Fatal(err)
	}
	if x, want := got[kvTokens].value, float64(p.Ledger.KVBytes/p.Ledger.BytesPerToken); x != want || x < 100_000 {
		t.Errorf("room for %v tokens, the ledger says %v", x, want)
	}
}
