package validate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Key says which lines a Cell sums up. A field that is empty stands for any.
type Key struct {
	Split                              Split
	GPU, Engine, Model, Weights, Users string
	Metric                             Metric
	// Saturated tells apart the runs that exhausted their KV cache or fell behind,
	// for times to the first token and end to end, which are then all queue.
	Saturated bool
}

// Cell is the errors of the lines of one key, in percent.
type Cell struct {
	Key
	// N is the number of lines.
	N int
	// Median and P90 are of the absolute errors, between two ranks by the
	// straight line; Bias is the mean error.
	Median, P90, Bias float64
}

// By says what a table of cells is grouped by.
type By int

// The groupings, each within a split and by metric.
const (
	ByGPUAndEngine By = iota
	ByModel           // and GPU, engine and format of the weights
	ByWeights
	ByUsers
)

// Groupings lists them in the order of tables.
func Groupings() []By { return []By{ByGPUAndEngine, ByModel, ByWeights, ByUsers} }

// String returns what tables call b.
func (b By) String() string {
	return [...]string{"GPU and engine", "model", "format of the weights", "concurrency"}[b]
}

// key returns the key of l under b.
func (b By) key(l *Line) Key {
	k := Key{Split: l.Row.Split, Metric: l.Metric}
	k.Saturated = l.Saturated && (l.Metric.isTTFT() || l.Metric >= E2EMean && l.Metric <= E2EP99)
	r := l.Row
	switch b {
	case ByGPUAndEngine:
		k.GPU, k.Engine = r.GPU, r.Engine
	case ByModel:
		k.GPU, k.Engine, k.Model, k.Weights = r.GPU, r.Engine, r.Model, r.Weights
	case ByWeights:
		k.Weights = r.Weights
	case ByUsers:
		k.Users = users(r)
	}
	return k
}

// users returns the band of concurrency of r.
func users(r *Row) string {
	if r.Load != Closed {
		return string(r.Load)
	}
	least := int64(1)
	for _, most := range []int64{4, 16, 64, 256} {
		if r.Concurrency <= most {
			return fmt.Sprintf("%3d to %d users", least, most)
		}
		least = most + 1
	}
	return fmt.Sprintf("%3d users or more", least)
}

// compare orders keys as tables show them.
func (k Key) compare(o Key) int {
	s := 0
	if k.Saturated != o.Saturated {
		s = 1
		if o.Saturated {
			s = -1
		}
	}
	return cmp.Or(
		cmp.Compare(slices.Index(Splits(), k.Split), slices.Index(Splits(), o.Split)),
		cmp.Compare(k.GPU, o.GPU), cmp.Compare(k.Engine, o.Engine), cmp.Compare(k.Model, o.Model),
		cmp.Compare(k.Weights, o.Weights), cmp.Compare(k.Users, o.Users), cmp.Compare(k.Metric, o.Metric), s)
}

// Cells sums up the lines that were not skipped, grouped by b and in order.
func Cells(lines []Line, b By) []Cell {
	errors := map[Key][]float64{}
	var keys []Key
	for i := range lines {
		l := &lines[i]
		if l.Skipped != "" {
			continue
		}
		k := b.key(l)
		if _, ok := errors[k]; !ok {
			keys = append(keys, k)
		}
		errors[k] = append(errors[k], l.Error())
	}
	slices.SortFunc(keys, Key.compare)
	cells := make([]Cell, 0, len(keys))
	for _, k := range keys {
		cells = append(cells, sumUp(k, errors[k]))
	}
	return cells
}

// sumUp returns the cell of errors, at least one.
func sumUp(k Key, errors []float64) Cell {
	c := Cell{Key: k, N: len(errors)}
	abs := make([]float64, len(errors))
	for i, e := range errors {
		abs[i] = math.Abs(e)
		c.Bias += e / float64(len(errors))
	}
	slices.Sort(abs)
	c.Median, c.P90 = quantile(abs, 0.5), quantile(abs, 0.9)
	return c
}

// quantile returns the q-quantile of sorted values, on the straight line between
// two ranks (type 7).
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + float64((at-float64(i))*(sorted[i+1]-sorted[i]))
}

// names returns what stands before the metric in a table: the fields of k that b
// groups by.
func (b By) names(k Key) []string {
	switch b {
	case ByGPUAndEngine:
		return []string{k.GPU, k.Engine}
	case ByModel:
		return []string{k.GPU, k.Engine, k.Model, k.Weights}
	case ByWeights:
		return []string{k.Weights}
	}
	return []string{strings.TrimSpace(k.Users)}
}

// heads returns the names of the columns of names.
func (b By) heads() []string {
	switch b {
	case ByGPUAndEngine:
		return []string{"GPU", "engine"}
	case ByModel:
		return []string{"GPU", "engine", "model", "weights"}
	case ByWeights:
		return []string{"weights"}
	}
	return []string{"concurrency"}
}

// metricName returns the metric of k as tables name it.
func (k Key) metricName() string {
	if k.Saturated {
		return k.Metric.String() + " saturated"
	}
	return k.Metric.String()
}
