package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
)

// classedRun gives n completed requests to s and to one Summary of each group by
// itself, and returns those by title. Class k is there from request appear[k].
func classedRun(t *testing.T, s *Summary, n int64, appear []int64) (byClass, byOutput map[string]*Summary, ttft []int64) {
	t.Helper()
	src := rand.New(rand.NewPCG(3, uint64(n)))
	byClass, byOutput = map[string]*Summary{}, map[string]*Summary{}
	take := func(in map[string]*Summary, title string) *Summary {
		if in[title] == nil {
			in[title] = NewSummary(Options{OutputEdges: []int32{}})
			in[title].options.Percentiles = s.options.Percentiles
		}
		return in[title]
	}
	var seen []string
	for i := range n {
		r := request(i, [5]int64{i, 0, 0, 0, 0}, int32(1+src.IntN(800)))
		r.First = r.Scheduled + sim.Time(src.ExpFloat64()*1e11)
		r.Last = r.First + sim.Time(1e10+src.Int64N(5e9))*sim.Time(r.Output-1)
		r.End = r.Last
		there := 0
		for there < len(appear) && appear[there] <= i {
			there++
		}
		r.Class = fmt.Sprintf("c%02d", src.IntN(there))
		if !slices.Contains(seen, r.Class) {
			seen = append(seen, r.Class)
		}
		title, output := r.Class, "below 300"
		if slices.Index(seen, r.Class) >= MaxClasses {
			title = "other classes"
		}
		if r.Output >= 300 {
			output = "300 or more"
		}
		for _, to := range []*Summary{s, take(byClass, title), take(byOutput, output)} {
			if err := to.Request(r); err != nil {
				t.Fatal(err)
			}
		}
		ttft = append(ttft, int64(r.First-r.Arrival))
	}
	return byClass, byOutput, ttft
}

// Law: a group is what a Summary of its requests alone says, exactly as long as all
// values are kept, and within the resolution otherwise; however late its class is seen.
func TestGroupsAreTheirRequests(t *testing.T) {
	every := make([]int64, MaxClasses+4)
	for name, c := range map[string]struct {
		limit  int64
		appear []int64
	}{
		"kept": {exactValues, []int64{0, 0, 5000}}, "parted": {8192, []int64{0, 0, 0}},
		"parted, another class late": {8192, []int64{0, 20_000, 25_000}}, "many classes": {8192, every},
	} {
		s := NewSummary(Options{OutputEdges: []int32{300}})
		s.groups.limit = int(c.limit)
		for _, g := range s.groups.metrics() {
			g.all.limit = c.limit
		}
		byClass, byOutput, ttft := classedRun(t, s, 30_000, c.appear)
		r := s.Report()
		if len(r.ByClass) != len(byClass) || len(r.ByOutput) != len(byOutput) {
			t.Errorf("%s: %d classes, %d ranges", name, len(r.ByClass), len(r.ByOutput))
		}
		for _, g := range slices.Concat(r.ByClass, r.ByOutput) {
			alone := byClass[g.Title()]
			if alone == nil {
				alone = byOutput[g.Title()]
			}
			want := alone.Report()
			if g.Completed != want.TTFT.Count || g.OutputTokens != want.Tokens.Output {
				t.Errorf("%s, %s: %d requests, want %d", name, g.Title(), g.Completed, want.TTFT.Count)
			}
			for i, pair := range [][2]*Distribution{{&g.TTFT, &want.TTFT}, {&g.TPOT, &want.TPOT}, {g.MaxGap, &want.MaxGap}, {&g.E2E, &want.E2E}} {
				if pair[0] == nil {
					continue
				}
				likeAlone(t, fmt.Sprintf("%s, %s, metric %d", name, g.Title(), i), *pair[0], *pair[1], c.limit < exactValues)
			}
		}
		for _, q := range r.TTFT.Quantiles {
			want := naive(ttft, q.P)
			if off := int64(q.Value) - want; off < -want/subs || off > want/subs || (c.limit == exactValues) != (off == 0) {
				t.Errorf("%s: %v is %d, exactly %d", name, q.P, q.Value, want)
			}
		}
	}
}

// likeAlone compares got with want, which is exact: up to got's resolution if it
// was folded before it was a group of its own.
func likeAlone(t *testing.T, name string, got, want Distribution, folded bool) {
	t.Helper()
	if !folded {
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Percentile{})); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		return
	}
	if got.Mean != want.Mean || got.Min != want.Min || got.Max != want.Max || got.Count != want.Count {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
	for i, q := range got.Quantiles {
		if off := q.Value - want.Quantiles[i].Value; off < -q.Resolution || off > q.Resolution {
			t.Errorf("%s: %+v, want %+v", name, q, want.Quantiles[i])
		}
	}
}

// The ranges of output tokens have the words of their bounds.
func TestRangeNames(t *testing.T) {
	s := newGroups([]int32{1, 2, 100, 300})
	var got []string
	for i := range s.width() {
		got = append(got, s.rangeName(i))
	}
	if want := []string{"below 1", "1", "2 to 99", "100 to 299", "300 or more"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParseOutputEdges(t *testing.T) {
	for text, want := range map[string][]int32{"100,300,500": {100, 300, 500}, "none": {}, " 1, 2": {1, 2}} {
		if got, err := ParseOutputEdges(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": `"" is not a number`, "0": `"0" is not`, "5,5": "5 is not above 5", "1,x,0": `"x" is not`, "3e9": "is not a number",
		"1,2,3,4,5,6,7": "7 output edges; at most 6",
	} {
		if _, err := ParseOutputEdges(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, edges := range [][]int32{{0}, {3, 3}, {1, 2, 3, 4, 5, 6, 7}} {
		if err := NewSummary(Options{OutputEdges: edges}).Request(request(1, [5]int64{}, 2)); err == nil || !strings.Contains(err.Error(), "output edges") {
			t.Errorf("%d: %v", edges, err)
		}
	}
}

// Law: a sketch is within 2^-10, or 0.1 %, of each exact percentile, far below 0.2 %,
// and merges to what all its values say, whatever the order.
func TestSketchIsNearAndMerges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(drawSpan(), 1, 400).Draw(t, "values")
		ps := drawPercentiles(t)
		var all sketch
		var parts [3]sketch
		for i, v := range values {
			all.add(v)
			parts[i%3].add(v)
		}
		parts[2].merge(&parts[0])
		parts[2].merge(&parts[1])
		d := all.distribution(ps)
		if diff := cmp.Diff(d, parts[2].distribution(ps), cmp.AllowUnexported(Percentile{})); diff != "" {
			t.Fatal(diff)
		}
		for _, q := range d.Quantiles {
			want := naive(values, q.P)
			off := float64(int64(q.Value) - want)
			if math.Abs(off) > float64(q.Resolution) {
				t.Fatalf("%+v, exactly %d", q, want)
			}
			if lo, _ := Linear.Rank(q.P, d.Count); q.Resolution > 1 {
				next := slices.Sorted(slices.Values(values))[min(lo+1, d.Count-1)]
				if float64(q.Resolution-1) > float64(next)/1024 {
					t.Fatalf("%+v is coarser than promised", q)
				}
			}
		}
	})
}

// Law: what is selected from all groups at once is what each group's values say.
func TestGroupsAreSelectedAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewSummary(Options{OutputEdges: []int32{2, 200}})
		for i := range rapid.IntRange(1, 300).Draw(t, "n") {
			r := drawRequest(t, int64(i))
			r.Class = rapid.SampledFrom([]string{"", "a"}).Draw(t, "class")
			if err := s.Request(r); err != nil {
				t.Fatal(err)
			}
		}
		ps := drawPercentiles(t)
		g := &s.groups
		of := func(cell int) int { return cell % g.width() }
		for _, m := range g.metrics() {
			selected := g.selected(m, g.width(), of, ps)
			for i, values := range g.divided(m, g.width(), of, nil) {
				want := (&Sample{cur: values, n: len(values)}).Distribution(ps)
				want.MeanInterval = Interval{}
				for k := range want.Quantiles {
					want.Quantiles[k].Interval = Interval{}
				}
				if diff := cmp.Diff(want, selected[i], cmp.AllowUnexported(Percentile{})); diff != "" {
					t.Fatal(diff)
				}
			}
		}
	})
}
