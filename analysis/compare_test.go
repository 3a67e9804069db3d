package analysis

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// runOf gives requests to the sinks of a Run.
func runOf(t interface{ Fatal(...any) }, name string, list []*observe.Request) Run {
	p := &Pairing{}
	for _, r := range list {
		if err := p.Request(r); err != nil {
			t.Fatal(err)
		}
	}
	return Run{name, feed(t, Options{}, list...).Report(), p}
}

func TestComparisonEqualsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []*observe.Request {
			var list []*observe.Request
			for _, id := range rapid.Permutation([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).Draw(t, name) {
				if rapid.IntRange(0, 9).Draw(t, "there") > 0 {
					list = append(list, drawRequest(t, id))
				}
			}
			return list
		}
		a, b := draw("a"), draw("b")
		c, err := Compare([]Run{runOf(t, "a", a), runOf(t, "b", b)})
		if err != nil {
			t.Fatal(err)
		}
		p := c.Paired[0]
		var ttft []int64
		matched, both := int64(0), int64(0)
		for _, x := range a {
			for _, y := range b {
				if x.ID != y.ID {
					continue
				}
				matched++
				if x.Outcome == observe.Completed && y.Outcome == observe.Completed {
					both++
					ttft = append(ttft, int64(y.First.Sub(y.Arrival)-x.First.Sub(x.Arrival)))
				}
			}
		}
		if p.Both != both || p.Both+p.OnlyBase+p.OnlyRun+p.Neither != matched || p.Unmatched != int64(len(a)+len(b))-2*matched {
			t.Fatalf("%+v; %d in both, %d matched", p, both, matched)
		}
		d := p.Differences[0]
		if d.Count != both || d.Better+d.Equal+d.Worse != both || d.OK != (both > 0) {
			t.Fatalf("%+v of %d", d, both)
		}
		checkDifference(t, d, ttft)
	})
}

// checkDifference compares d with the differences that it describes.
func checkDifference(t *rapid.T, d Difference, values []int64) {
	if !d.OK {
		return
	}
	total := new(big.Int)
	for _, v := range values {
		total.Add(total, big.NewInt(v))
	}
	twice := new(big.Int).Abs(total.Mul(total, big.NewInt(2)))
	sign := int64(total.Sign())
	twice.Add(twice, big.NewInt(int64(len(values))))
	if want := sign * twice.Quo(twice, big.NewInt(2*int64(len(values)))).Int64(); int64(d.Mean) != want {
		t.Fatalf("mean %d, want %d", d.Mean, want)
	}
	for _, q := range d.Quantiles {
		if want := naive(values, q.P); int64(q.Value) != want {
			t.Fatalf("%v = %d, want %d", q.P, q.Value, want)
		}
	}
	if int64(d.Min) != slices.Min(values) || int64(d.Max) != slices.Max(values) {
		t.Fatalf("extremes %d, %d", d.Min, d.Max)
	}
}

func TestARunEqualsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []*observe.Request
		for i := range rapid.IntRange(0, 20).Draw(t, "n") {
			list = append(list, drawRequest(t, int64(i)))
		}
		backwards := slices.Clone(list)
		slices.Reverse(backwards)
		c, err := Compare([]Run{runOf(t, "a", list), runOf(t, "b", backwards)})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Paired[0].Differences {
			if d.Equal != d.Count || d.Mean != 0 || d.Min != 0 || d.Max != 0 {
				t.Fatalf("%+v", d)
			}
		}
		if p := c.Paired[0]; p.OnlyBase+p.OnlyRun+p.Unmatched+p.Moved != 0 {
			t.Fatalf("%+v", p)
		}
	})
}

func TestCompareRefuses(t *testing.T) {
	list := []*observe.Request{request(1, [5]int64{1, 1, 1, 1, 1}, 3)}
	one := runOf(t, "one", list)
	twice := runOf(t, "twice", append(list, list...))
	limits := runOf(t, "limits", list)
	limits.Report = feed(t, Options{SLO: wanted(t, "ttft <= 5ps")}, list...).Report()
	tail := runOf(t, "tail", list)
	tail.Report = feed(t, Options{Percentiles: TailPercentiles()}, list...).Report()
	for _, c := range []struct {
		runs []Run
		want string
	}{
		{nil, "two runs"},
		{[]Run{one}, "two runs"},
		{[]Run{one, twice}, "twice: request 1 has two records"},
		{[]Run{one, limits}, "one and limits have different goodput limits"},
		{[]Run{one, tail}, "one and tail report different percentiles: [p50 p90 p99] and [p50 p90 p99 p99.9 max]"},
	} {
		if _, err := Compare(c.runs); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// Of four requests, one is 3 ms faster to its first token in the second run, one
// 1 ms slower, one the same, and one did not complete.
func ExampleCompare() {
	var a, b Pairing
	for id, prefill := range []int64{10, 20, 30} {
		_ = a.Request(request(int64(id), [5]int64{0, 0, 0, prefill, 1}, 2))
	}
	for id, prefill := range []int64{7, 21, 30} {
		_ = b.Request(request(int64(id), [5]int64{0, 0, 0, prefill, 1}, 2))
	}
	_ = a.Request(request(3, [5]int64{0, 0, 0, 40, 1}, 2))
	_ = b.Request(&observe.Request{ID: 3, Outcome: observe.TimedOut, End: sim.Time(sim.Second)})
	c, _ := Compare([]Run{{"a", &Report{}, &a}, {"b", &Report{}, &b}})
	p := c.Paired[0]
	d := p.Differences[0]
	fmt.Println("completed in both", p.Both, "only in a", p.OnlyBase)
	fmt.Println(d.Name, "better", d.Better, "equal", d.Equal, "worse", d.Worse)
	fmt.Println("mean", d.Mean, "median", d.Quantiles[2].Value, "from", d.Min, "to", d.Max)
	// Output:
	// completed in both 3 only in a 1
	// TTFT better 1 equal 1 worse 1
	// mean -666.666667us median 0s from -3ms to 1ms
}
