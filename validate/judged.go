package validate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A judgement is the errors of the held-out lines of one GPU, engine and metric, of
// the models that have calibration rows there or of those that have none, against
// what the model is meant to reach.
type judgement struct {
	cell   Cell
	fitted bool
	target target
	models []string
	// beyond says how many of the rows go beyond what calibration rows tell.
	beyond []string
}

// unseenTarget is what TPOT of models without calibration rows is meant to reach on a
// GPU and engine that have some.
func unseenTarget() target { return target{TPOTMean, 6, 0} }

// judge returns the judgements of lines, in order. GPUs and engines without any
// calibration row are left out.
func judge(lines []Line) []judgement {
	seen := calibrated(lines)
	groups := map[judgedKey][]*Line{}
	for i := range lines {
		l := &lines[i]
		r := l.Row
		if r.Split != HeldOut || l.Skipped != "" || !seen[calibratedKey{r.GPU, r.Engine, "", ""}] || l.Saturated && l.Metric.isTTFT() {
			continue
		}
		k := judgedKey{r.GPU, r.Engine, !seen[calibratedKey{r.GPU, r.Engine, "model", r.Model}], l.Metric}
		if _, ok := k.target(); ok {
			groups[k] = append(groups[k], l)
		}
	}
	var out []judgement
	for k, of := range groups {
		t, _ := k.target()
		j := judgement{fitted: !k.unseen, target: t, beyond: beyond(of, seen)}
		models, errors := map[string]bool{}, make([]float64, 0, len(of))
		for _, l := range of {
			models[l.Row.Model] = true
			errors = append(errors, l.Error())
		}
		j.models = slices.Sorted(maps.Keys(models))
		j.cell = sumUp(Key{GPU: k.GPU, Engine: k.Engine, Metric: k.metric}, errors)
		out = append(out, j)
	}
	slices.SortFunc(out, func(a, b judgement) int {
		first := map[bool]int{true: 0, false: 1}
		return cmp.Or(cmp.Compare(first[a.fitted], first[b.fitted]), a.cell.Key.compare(b.cell.Key))
	})
	return out
}

// A judgedKey says which lines a judgement is of.
type judgedKey struct {
	GPU, Engine string
	unseen      bool // the model has no calibration row there
	metric      Metric
}

// target returns what k is meant to reach, if anything.
func (k judgedKey) target() (target, bool) {
	if k.unseen {
		return unseenTarget(), k.metric == TPOTMean
	}
	for _, t := range targets() {
		if t.metric == k.metric {
			return t, true
		}
	}
	return target{}, false
}

// A calibratedKey is something that a calibration row of a GPU and engine has: a
// model, a version or a format of weights; nothing is that there is such a row.
type calibratedKey struct{ GPU, Engine, what, value string }

// calibrated returns what the calibration rows among lines have.
func calibrated(lines []Line) map[calibratedKey]bool {
	seen := map[calibratedKey]bool{}
	for i := range lines {
		r := lines[i].Row
		if r.Split != Calibration {
			continue
		}
		for _, what := range [][2]string{{}, {"model", r.Model}, {"version", release(r.Version)}, {"weights", r.Weights}} {
			seen[calibratedKey{r.GPU, r.Engine, what[0], what[1]}] = true
		}
	}
	return seen
}

// release returns the first two numbers of a version.
func release(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// beyond says how many of lines have what no calibration row has or what their source
// does not document.
func beyond(lines []*Line, seen map[calibratedKey]bool) []string {
	count := map[string]int{}
	for _, l := range lines {
		r := l.Row
		if strings.Contains(r.Lengths, "unknown") {
			count["lengths not documented"]++
		}
		if !seen[calibratedKey{r.GPU, r.Engine, "weights", r.Weights}] {
			count["weights in "+r.Weights+", not calibrated"]++
		}
		if v := release(r.Version); v == "" {
			count["version not stated"]++
		} else if !seen[calibratedKey{r.GPU, r.Engine, "version", v}] {
			count["version "+v+", not calibrated"]++
		}
		if r.Load == Offline {
			count["offline, calibrated on servers"]++
		}
	}
	var out []string
	for _, c := range counts(count) {
		out = append(out, fmt.Sprintf("%d: %s", c.N, c.What))
	}
	return out
}

// markdownJudged writes the judgements as two tables.
func markdownJudged(b *strings.Builder, all []judgement) {
	for _, fitted := range []bool{true, false} {
		head := judgedUnseen
		if fitted {
			head = judgedFitted
		}
		b.WriteString(head + "\n| GPU | engine | models | metric | target | n | median / P90 | missed | figures beyond what calibration rows tell |\n|---|---|---|---|---|---:|---:|---|---|\n")
		met, n := 0, 0
		for _, j := range all {
			if j.fitted != fitted {
				continue
			}
			n++
			miss := j.target.misses(&j.cell)
			if miss == "" {
				met++
				miss = "no"
			}
			c := &j.cell
			fmt.Fprintf(b, "| %s | %s | %s | %s | %v | %d | %.1f / %.1f | %s | %s |\n", c.GPU, c.Engine, strings.Join(j.models, ", "),
				c.Metric, j.target, c.N, c.Median, c.P90, miss, strings.Join(j.beyond, "; "))
		}
		fmt.Fprintf(b, "\n%d of %d are met.\n", met, n)
	}
}

const judgedFitted = `
### Targets by GPU and engine, models that have calibration rows there

Meant are, in median / P90: TPOT 3 / 10 %, mean TTFT below saturation 6 / 18 %, throughput 4 % in
the median. A model counts in all formats of its weights; nothing is left out, and the last column
says of how many figures the calibration rows tell less.
`

const judgedUnseen = `
### Targets by GPU and engine, models that have none

Meant is TPOT 6 % in the median.
`
