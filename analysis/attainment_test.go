package analysis

import (
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// E2E ends with the whole answer, which comes Response after the last token, and a
// strict limit is missed by what equals it.
func TestGoodputCountsTheResponse(t *testing.T) {
	r := request(1, [5]int64{0, 0, 0, 100, 10}, 11) // the last token comes after 200 ms
	for _, c := range []struct {
		limits   string
		response sim.Duration
		good     int64
	}{
		{"e2e <= 200ms", 0, 1},
		{"e2e <= 200ms", 1, 0},
		{"e2e < 200ms", 0, 0},
		{"e2e < 200.001ms", 0, 1},
		{"tpot <= 10ms", 0, 1},
		{"tpot < 10ms", 0, 0},
		{"max_gap < 10ms", 0, 0},
		{"e2e <= 1ms for outputs below 11 tokens", 0, 1},
		{"e2e <= 1ms for outputs below 12 tokens", 0, 0},
		{"e2e <= 1ms for class x", 0, 1},
		{"e2e <= 1ms except class x", 0, 0},
	} {
		r.Response = c.response
		a := feed(t, Options{SLO: wanted(t, c.limits)}, r).Report().Goodput
		if a.Good != c.good {
			t.Errorf("%s, a response of %v: %d good, want %d", c.limits, c.response, a.Good, c.good)
		}
	}
}

func TestGoodputIsMonotoneAndJoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawRequests(t, 40)
		var strict, loose Goodput
		for _, o := range []Objective{TTFT, Queue, TPOT, MaxGap, E2EL} {
			if rapid.Bool().Draw(t, o.String()) {
				l := Limit{Objective: o, Max: sim.Duration(rapid.Int64Range(0, 9e12).Draw(t, "limit")), Strict: rapid.Bool().Draw(t, "strict")}
				if rapid.Bool().Draw(t, "scoped") {
					l.Scope = Scope{Classes: []string{"a"}, Except: rapid.Bool().Draw(t, "except"), Below: rapid.Int32Range(1, 500).Draw(t, "below")}
				}
				strict = append(strict, l)
				l.Max += sim.Duration(rapid.Int64Range(0, 3e12).Draw(t, "more"))
				loose = append(loose, l)
			}
		}
		if len(strict) == 0 {
			t.Skip("no limits")
		}
		a := feed(t, Options{SLO: SLO{Goodput: strict}}, list...).Report().Goodput
		b := feed(t, Options{SLO: SLO{Goodput: loose}}, list...).Report().Goodput
		if a.Good > b.Good || a.Requests != int64(len(list)) {
			t.Fatalf("%+v, looser %+v", a, b)
		}
		misses := a.Requests - a.Good
		for i, e := range a.Each {
			if e.Met > b.Each[i].Met || e.Requests != b.Each[i].Requests || e.Requests > a.Requests || e.MissedOnly > e.Requests-e.Met {
				t.Fatalf("limit %d: %+v of %+v, looser %+v", i, e, a, b)
			}
			if a.Good > a.Requests-(e.Requests-e.Met) {
				t.Fatalf("limit %d was missed by some that are good: %+v", i, a)
			}
			if a.Binding >= 0 && e.Requests-e.Met > a.Each[a.Binding].Requests-a.Each[a.Binding].Met {
				t.Fatalf("limit %d binds more than %d: %+v", i, a.Binding, a)
			}
			misses -= e.MissedOnly
		}
		if misses < 0 {
			t.Fatalf("more requests miss one limit only than miss any: %+v", a)
		}
	})
}

// byHand counts good requests one by one, from the definition.
func byHand(g Goodput, list []*observe.Request) (good, tokens int64) {
	for _, r := range list {
		ok := r.Outcome == observe.Completed
		for _, l := range g {
			if !ok || l.Scope.Classes != nil && (r.Class == l.Scope.Classes[0]) == l.Scope.Except || l.Scope.Below > 0 && r.Output >= l.Scope.Below || r.Output < l.Scope.From {
				continue
			}
			var v sim.Duration
			switch l.Objective {
			case TTFT:
				v = r.First.Sub(r.Arrival)
			case Queue:
				v = r.Scheduled.Sub(r.Sent)
			case E2EL:
				v = r.Last.Sub(r.Arrival) + r.Response
			case MaxGap:
				v = r.MaxGap
			}
			ok = v <= l.Max
		}
		if ok {
			good++
			tokens += int64(r.Output)
		}
	}
	return good, tokens
}

func TestGoodputIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawRequests(t, 40)
		s := wanted(t, rapid.SampledFrom([]string{
			"ttft <= 4s", "ttft <= 4s for class a, e2e <= 6s except class a", "queue <= 2s for outputs below 100 tokens, max_gap <= 1s for outputs from 100 tokens",
		}).Draw(t, "limits"))
		r := feed(t, Options{SLO: s}, list...).Report()
		good, tokens := byHand(s.Goodput, list)
		if a := r.Goodput; a.Good != good || a.OutputTokens != tokens {
			t.Fatalf("%d good with %d tokens, want %d with %d", a.Good, a.OutputTokens, good, tokens)
		}
		var inGroups, inClasses int64
		for _, g := range r.ByOutput {
			inGroups += g.Good
		}
		for _, g := range r.ByClass {
			inClasses += g.Good
		}
		if inGroups != good || r.ByClass != nil && inClasses != good {
			t.Fatalf("%d good by output, %d by class, want %d", inGroups, inClasses, good)
		}
	})
}

// Law: a limit at a percentile passes where the percentile of all requests keeps
// within it, those that failed being longer than any limit.
func TestVerdictsAreThePercentiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawRequests(t, 60)
		p := Percentile{rapid.SampledFrom([]int64{0, whole / 2, 900_000_000, 990_000_000, whole}).Draw(t, "p")}
		l := RunLimit{p, Limit{Objective: TTFT, Max: sim.Duration(rapid.Int64Range(0, 9e12).Draw(t, "limit")), Strict: rapid.Bool().Draw(t, "strict")}}
		if rapid.Bool().Draw(t, "scoped") {
			l.Scope = Scope{Classes: []string{"a"}}
		}
		var values []int64
		for _, r := range list {
			switch {
			case l.Scope.Classes != nil && r.Class != "a":
			case r.Outcome == observe.Completed:
				values = append(values, int64(r.First-r.Arrival))
			default:
				values = append(values, 1<<62) // longer than any limit, however little of it an interpolation takes
			}
		}
		v := feed(t, Options{SLO: SLO{Run: []RunLimit{l}}}, list...).Report().Verdicts[0]
		want := NoData
		if len(values) > 0 {
			at := naive(values, p)
			if want = Fail; at < int64(l.Max) || at == int64(l.Max) && !l.Strict {
				want = Pass
			}
		}
		if v.Judgement != want || v.Count != int64(len(values)) {
			t.Fatalf("%+v, want %s of %d", v, want, len(values))
		}
	})
}

// A limit within the resolution of a percentile can't be judged, one outside can.
func TestVerdictsKnowTheirResolution(t *testing.T) {
	s := NewSummary(Options{SLO: wanted(t, "ttft p50 <= 1s, ttft p50 <= 1.01s for class x, ttft p50 <= 0.99s except class x")})
	s.groups.limit, s.groups.ttft.all.limit = chunkValues, chunkValues
	for i := range s.limits.own {
		s.limits.own[i].limit = chunkValues
	}
	for i := range int64(9000) {
		r := request(i, [5]int64{i, 0, 0, 1000, 1}, 2)
		r.Class = "x"
		if i%3 > 0 {
			r.Class = "y"
		}
		if err := s.Request(r); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []Judgement{TooClose, Pass, Fail} {
		if v := s.Report().Verdicts[i]; v.Judgement != want {
			t.Errorf("%s: %+v, want %s", v.Limit, v, want)
		}
	}
	if Missed(s.Report().Verdicts) == nil {
		t.Error("a limit was missed")
	}
}

// Two of three requests are good, which have 200 prompt and 8 output tokens of 10;
// the run lasts 400 ms. A share that is exactly the least one is enough.
func TestGoodputByHand(t *testing.T) {
	s := feed(t, Options{SLO: wanted(t, "ttft <= 200ms, goodput >= 66.6%")},
		request(1, [5]int64{0, 0, 0, 100, 10}, 3), request(2, [5]int64{0, 0, 0, 200, 10}, 5), request(3, [5]int64{0, 0, 0, 390, 10}, 2))
	g := s.Report().Goodput
	if g.Good != 2 || g.PromptTokens != 200 || g.OutputTokens != 8 || g.PerSecond != 5 || g.OutputPerSecond != 20 || g.TokensPerSecond != 520 {
		t.Errorf("%+v", g)
	}
	for _, c := range []struct {
		least int64
		want  Judgement
	}{{900_000_000, Pass}, {900_000_001, Fail}, {899_999_999, Pass}} {
		if v := shareVerdict(Percentile{c.least}, tallyCell{900, 1000}, 0, ShareInterval{}); v.Judgement != c.want {
			t.Errorf("at least %d ppb of 90 %%: %s; want %s", c.least, v.Judgement, c.want)
		}
	}
}

// One of three requests failed: the median of all three is the slower of the two
// that completed, and the P90 is a request that never got an answer.
func TestVerdictsByHand(t *testing.T) {
	failed := &observe.Request{ID: 9, Outcome: observe.Rejected, Wanted: 1, Reason: "full"}
	s := feed(t, Options{SLO: wanted(t, "ttft p50 <= 200ms, e2e p50 < 220ms, ttft p90 <= 1000s, tpot max <= 10ms, itl p99 <= 1s, ttft:100, goodput >= 33.4%")},
		request(1, [5]int64{0, 0, 0, 100, 10}, 3), request(2, [5]int64{0, 0, 0, 200, 10}, 3), failed)
	for i, want := range []struct {
		j           Judgement
		count, fail int64
	}{{Pass, 3, 1}, {Fail, 3, 1}, {Fail, 3, 1}, {Pass, 2, 0}, {NoData, 0, 0}, {Fail, 3, 1}} {
		if v := s.Report().Verdicts[i]; v.Judgement != want.j || v.Count != want.count || v.Failed != want.fail {
			t.Errorf("%+v, want %+v", v, want)
		}
	}
	if share, ok := s.Report().Verdicts[0].Share(); !ok || share != 2.0/3 {
		t.Errorf("share %v", share)
	}
}
