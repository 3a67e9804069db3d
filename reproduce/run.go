package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"servesim/analysis"
	"servesim/internal/workers"
	"servesim/report"
)

// A Finding is what came of a check.
type Finding struct {
	*Check
	Estimate
	Outcome Outcome
}

// A Result is what came of a claim.
type Result struct {
	*Claim
	Verdict Verdict
	// Checks and Facts are in the order of the claim's.
	Checks, Facts []Finding
	// Explanation says why, with the values that it rests on. Stale tells that one of
	// the facts doesn't hold, so that the explanation is wrong.
	Explanation string
	Stale       bool
}

// Work says how simulations are done.
type Work struct {
	// Jobs is the number of simulations at once, at least 1. What comes of them
	// doesn't depend on it.
	Jobs int
	// Progress, if it isn't nil, is called whenever one ends, with how many have of
	// how many, from one goroutine at a time.
	Progress func(done, of int)
}

// A task is one of what a subject of a claim takes.
type task struct {
	claim, subject, number int
	columns                []string
}

// tasksOf lists what measuring claims takes.
func tasksOf(claims []*Claim) []task {
	var list []task
	for i, c := range claims {
		for k, s := range c.subjects {
			var columns []string
			for _, check := range c.all() {
				if (check.Of == s.name || check.Over == s.name) && !slices.Contains(columns, check.Column) {
					columns = append(columns, check.Column)
				}
			}
			for n := range s.tasks(columns) {
				list = append(list, task{i, k, n, columns})
			}
		}
	}
	return list
}

// Run tests claims.
func Run(ctx context.Context, claims []*Claim, w Work) ([]*Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tasks := tasksOf(claims)
	samples, faults := make([]map[string]sample, len(tasks)), make([]error, len(tasks))
	var mu sync.Mutex
	done := 0
	workers.Each(ctx, w.Jobs, len(tasks), func(i int) bool {
		t := tasks[i]
		s := claims[t.claim].subjects[t.subject]
		var err error
		if samples[i], err = s.measure(ctx, t.number, t.columns); err != nil {
			faults[i] = fmt.Errorf("claim %s: %s: %w", claims[t.claim].Name, s.name, err)
			cancel()
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; w.Progress != nil {
			w.Progress(done, len(tasks))
		}
		return true
	})
	if err := workers.Fault(faults); err != nil {
		return nil, err
	}
	if err := errors.Join(append(faults, ctx.Err())...); err != nil {
		return nil, err
	}
	var results []*Result
	for i, c := range claims {
		measured := make([][]map[string]sample, len(c.subjects))
		for k, t := range tasks {
			if t.claim == i {
				measured[t.subject] = append(measured[t.subject], samples[k])
			}
		}
		r, err := c.judge(measured)
		if err != nil {
			return nil, fmt.Errorf("claim %s: %w", c.Name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// judge says what became of c, whose subjects have samples, one of each task.
func (c *Claim) judge(measured [][]map[string]sample) (*Result, error) {
	r := &Result{Claim: c}
	values := map[string]string{}
	found := func(k *Check) (Finding, error) {
		over := -1
		if k.Over != "" {
			over = c.find(k.Over)
		}
		e, err := estimate(k, measured, c.find(k.Of), over)
		if err != nil {
			return Finding{}, err
		}
		values[k.Name] = report.Number(e.Value)
		return Finding{k, e, Judge(e, k.Range)}, nil
	}
	var outcomes []Outcome
	for i := range c.Checks {
		f, err := found(&c.Checks[i])
		if err != nil {
			return nil, err
		}
		r.Checks, outcomes = append(r.Checks, f), append(outcomes, f.Outcome)
	}
	for i := range c.Facts {
		f, err := found(&c.Facts[i])
		if err != nil {
			return nil, err
		}
		r.Facts = append(r.Facts, f)
		r.Stale = r.Stale || f.Outcome != Met
	}
	r.Verdict = VerdictOf(outcomes)
	r.Explanation = placeholder().ReplaceAllStringFunc(c.explanation, func(s string) string { return values[s[1:len(s)-1]] })
	return r, nil
}

// estimate returns the quantity of k, of subject of, divided by that of subject over
// unless that is -1.
func estimate(k *Check, measured [][]map[string]sample, of, over int) (Estimate, error) {
	list := column(measured[of], k.Column)
	if over >= 0 {
		list = divided(list, column(measured[over], k.Column))
	}
	if len(list) == 0 {
		return Estimate{}, fmt.Errorf("%s: %s has no %s", k.Says, k.Of, k.Column)
	}
	values := make([]float64, len(list))
	for i, s := range list {
		if values[i] = s.value; math.IsNaN(s.value) {
			return Estimate{}, fmt.Errorf("%s: %s has no %s", k.Says, k.Of, k.Column)
		}
	}
	e := Estimate{Value: values[0], Lo: list[0].lo, Hi: list[0].hi}
	if len(list) > 1 {
		rate := analysis.RateOf(values)
		e.Value, e.Lo, e.Hi = rate.Mean, rate.Lo, rate.Hi
	}
	if list[0].simulated {
		e.Runs = int64(len(list))
	}
	return e, nil
}

// column returns the samples of a column, those of tasks that concern it.
func column(tasks []map[string]sample, name string) []sample {
	var list []sample
	for _, t := range tasks {
		if s, ok := t[name]; ok {
			list = append(list, s)
		}
	}
	return list
}

// divided returns a by b, one by one. The ends of intervals are those of the
// quotients of their ends, which all are 0 or more.
func divided(a, b []sample) []sample {
	out := make([]sample, len(a))
	for i := range a {
		out[i] = sample{value: a[i].value / b[i].value, lo: a[i].lo / b[i].hi, hi: a[i].hi / b[i].lo, simulated: a[i].simulated}
	}
	return out
}
