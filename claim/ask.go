package claim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/internal/workers"
	"servesim/scenario"
)

// A Question is one to ask whoever made a claim.
type Question struct {
	// About is what it is about, and Text the question with what is known of it.
	About, Text string
	// Decides is the share of the combinations of everything else in which this alone
	// decides whether the claim is reached, and Factor by how much, in the median of
	// them, it changes the figure, NaN where that isn't known.
	Decides, Factor float64
}

// A dimension is something in which points differ.
type dimension struct {
	about string
	// key is the same for points that differ in nothing else.
	key func(p *Point) Point
	// text is the question, from the verdict on a reading.
	text func(v *Verdict, points []Point) string
}

// dimensions lists them.
func dimensions() []dimension {
	return []dimension{
		{"lengths", func(p *Point) Point {
			return Point{Layout: p.Layout, Users: p.Users}
		}, askLengths},
		{"load", func(p *Point) Point {
			return Point{Layout: p.Layout, Lengths: p.Lengths}
		}, askLoad},
		{"precision", func(p *Point) Point {
			return Point{Layout: Layout{TP: p.TP}, Lengths: p.Lengths, Users: p.Users}
		}, askPrecision},
		{"GPUs", func(p *Point) Point {
			return Point{Layout: Layout{Weights: p.Weights, KV: p.KV}, Lengths: p.Lengths, Users: p.Users}
		}, askGPUs},
	}
}

// leastFactor is how much of a change is worth a question if nothing is decided by it.
const leastFactor = 1.05

// ask returns the questions of a, by how much depends on them: first by the share of
// the rest in which they decide, then by how much they change.
func (a *Answer) ask(ctx context.Context, src scenario.Source, o *Options) ([]Question, error) {
	var list []Question
	v := &a.Readings[0]
	add := func(q Question) {
		if q.Decides > 0 || q.Factor >= leastFactor {
			list = append(list, q)
		}
	}
	if len(a.Readings) > 1 {
		add(a.askReading())
	}
	for _, d := range dimensions() {
		q := v.depends(a.Points, d.key)
		q.About, q.Text = d.about, d.text(v, a.Points)
		if d.about == "lengths" && len(o.Lengths) > 1 && v.Possible > 0 {
			edge, err := a.edge(ctx, src, o)
			if err != nil {
				return nil, err
			}
			q.Text += edge
		}
		add(q)
	}
	slices.SortStableFunc(list, func(x, y Question) int {
		return cmp.Or(cmp.Compare(y.Decides, x.Decides), cmp.Compare(y.Factor, x.Factor))
	})
	return append(list, Question{About: "features", Factor: math.NaN(), Text: "With speculative decoding, or with prompts out of a prefix cache? Neither is modelled here, and either changes the figure."}), nil
}

// depends returns how much the figure depends on that in which points with the same
// key differ.
func (v *Verdict) depends(points []Point, key func(p *Point) Point) Question {
	type group struct {
		low, high float64
		n, kept   int
	}
	at := map[Point]int{}
	var groups []group
	for i := range points {
		p := &points[i]
		if x := v.Most(p); p.Reason == "" && x > 0 {
			k := key(p)
			n, ok := at[k]
			if !ok {
				n = len(groups)
				at[k] = n
				groups = append(groups, group{low: x, high: x})
			}
			g := &groups[n]
			g.low, g.high, g.n = min(g.low, x), max(g.high, x), g.n+1
			if v.Reached(p) {
				g.kept++
			}
		}
	}
	var factors []float64
	decided := 0
	for _, g := range groups {
		if g.n < 2 {
			continue
		}
		factors = append(factors, g.high/g.low)
		if g.kept > 0 && g.kept < g.n {
			decided++
		}
	}
	return question(decided, factors)
}

// question returns what is counted of groups, of each of which factors has one.
func question(decided int, factors []float64) Question {
	if len(factors) == 0 {
		return Question{Factor: 1}
	}
	slices.Sort(factors)
	return Question{Decides: float64(decided) / float64(len(factors)), Factor: factors[len(factors)/2]}
}

// askReading asks what the figure means.
func (a *Answer) askReading() Question {
	x, y := &a.Readings[0], &a.Readings[1]
	var factors []float64
	decided := 0
	for i := range a.Points {
		p := &a.Points[i]
		if u, w := x.Most(p), y.Most(p); p.Reason == "" && u > 0 && w > 0 {
			factors = append(factors, max(u, w)/min(u, w))
			if x.Reached(p) != y.Reached(p) {
				decided++
			}
		}
	}
	q := question(decided, factors)
	q.About = "meaning"
	what := "Which percentile"
	if x.Quantity == Tokens && x.Scope != User {
		what = "Output tokens, or input and output tokens together"
	}
	q.Text = fmt.Sprintf("%s? It is reached in %d of %s as %s, in %d as %s.", what,
		x.Possible, analysis.Counted(int64(x.Ran), "combination"), x.Name, y.Possible, y.Name)
	return q
}

// reaching returns, for each value that a function has of points, in their order,
// whether any of those that have it reaches the claim.
func reaching[T comparable](v *Verdict, points []Point, of func(p *Point) T) (yes, no []T) {
	kept := map[T]bool{}
	var order []T
	for i := range points {
		p := &points[i]
		if p.Reason != "" || v.replicas(p) == 0 {
			continue
		}
		x := of(p)
		if _, ok := kept[x]; !ok {
			order = append(order, x)
		}
		kept[x] = kept[x] || v.Reached(p)
	}
	for _, x := range order {
		if kept[x] {
			yes = append(yes, x)
		} else {
			no = append(no, x)
		}
	}
	return yes, no
}

// names joins what of says of each value.
func names[T any](list []T, of func(x T) string) string {
	var parts []string
	for _, x := range list {
		parts = append(parts, of(x))
	}
	return strings.Join(parts, ", ")
}

// split says which values reach a claim and which don't.
func split[T any](yes, no []T, of func(x T) string) string {
	switch {
	case len(yes) == 0:
		return ""
	case len(no) == 0:
		return " Each of those tried reaches it under some of the rest."
	}
	return fmt.Sprintf(" Reached with %s; under nothing that was tried with %s.", names(yes, of), names(no, of))
}

// askLengths asks for the lengths.
func askLengths(v *Verdict, points []Point) string {
	yes, no := reaching(v, points, func(p *Point) Lengths { return p.Lengths })
	return "Which prompt and output lengths?" + split(yes, no, Lengths.String)
}

// askLoad asks for the load.
func askLoad(v *Verdict, points []Point) string {
	yes, no := reaching(v, points, func(p *Point) int64 { return p.Users })
	return "At how many requests at once, and with which TTFT and TPOT?" + split(yes, no, func(n int64) string {
		if n == 0 || !v.deployment() {
			return loadName(n)
		}
		return loadName(n) + " a replica"
	})
}

// askPrecision asks for the number formats.
func askPrecision(v *Verdict, points []Point) string {
	yes, no := reaching(v, points, func(p *Point) string { return p.precision() })
	return "In which number formats, of weights and KV cache, and how accurate are its answers?" + split(yes, no, func(s string) string { return s })
}

// askGPUs asks for the number of GPUs.
func askGPUs(v *Verdict, points []Point) string {
	if !v.deployment() || v.GPUs > 0 {
		yes, no := reaching(v, points, func(p *Point) int64 { return p.TP })
		return "How many GPUs share each layer (TP)?" + split(yes, no, func(n int64) string { return fmt.Sprint(n) })
	}
	text, fewest := "On how many GPUs, and how many share each layer (TP)?", int64(math.MaxInt64)
	for i := range points {
		if p := &points[i]; v.Reached(p) {
			fewest = min(fewest, v.Needs(p)*p.TP)
		}
	}
	if v.Possible == 0 {
		return text
	}
	return fmt.Sprintf("%s It takes %s at least.", text, analysis.Counted(fewest, "GPU"))
}

// edge says up to which prompt the claim holds with everything else as in the point
// that reaches the most: the lengths tried are those between which it is √2, and what
// is said is the last before the first that misses, so that a larger claim never holds
// for longer ones.
func (a *Answer) edge(ctx context.Context, src scenario.Source, o *Options) (string, error) {
	v := &a.Readings[0]
	var ladder []Point
	most := int64(maxLength)
	if m, err := a.longest(src, v.Best); err != nil {
		return "", err
	} else if m > 0 {
		most = m - v.Best.Lengths.Output
	}
	for x := float64(v.Best.Lengths.Prompt) * math.Sqrt2; int64(x) <= most; x *= math.Sqrt2 {
		p := Point{Layout: v.Best.Layout, Users: v.Best.Users, Lengths: Lengths{rounded(x), v.Best.Lengths.Output}}
		ladder = append(ladder, p)
	}
	errs := make([]error, len(ladder))
	workers.Each(ctx, o.Jobs, len(ladder), func(i int) bool {
		errs[i] = ladder[i].try(ctx, src)
		var usage *scenario.UsageError
		if errors.As(errs[i], &usage) { // it fits no more
			ladder[i].Reason, errs[i] = reason(errs[i]), nil
		}
		return errs[i] == nil
	})
	if err := errors.Join(append(errs, context.Cause(ctx))...); err != nil {
		return "", err
	}
	rest := fmt.Sprintf("%s, %s and %s", analysis.Counted(v.Best.Lengths.Output, "output token"), v.Best.Layout, loadName(v.Best.Users))
	last := v.Best.Lengths.Prompt
	for i := range ladder {
		if ladder[i].Reason != "" {
			return fmt.Sprintf(" With %s it holds for prompts up to %s tokens; of %s they don't run.", rest, analysis.Grouped(last), analysis.Grouped(ladder[i].Lengths.Prompt)), nil
		}
		if !v.Reached(&ladder[i]) {
			return fmt.Sprintf(" With %s it holds for prompts up to %s tokens, and no more at %s.", rest, analysis.Grouped(last), analysis.Grouped(ladder[i].Lengths.Prompt)), nil
		}
		last = ladder[i].Lengths.Prompt
	}
	return fmt.Sprintf(" With %s it holds for prompts of %s tokens and more, as long as the model takes.", rest, analysis.Grouped(v.Best.Lengths.Prompt)), nil
}

// longest returns the longest sequence of the model, in tokens, 0 if it doesn't say.
func (a *Answer) longest(src scenario.Source, p *Point) (int64, error) {
	plan, err := scenario.Load(with(src, p))
	if err != nil {
		return 0, err
	}
	return int64(plan.Machine.Model.MaxContextTokens), nil
}

// rounded returns x with two digits.
func rounded(x float64) int64 {
	scale := 1.0
	for x/scale >= 100 {
		scale *= 10
	}
	return int64(math.Round(x/scale) * scale)
}
