package publish

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"servesim/sim"
)

// histogram counts values in buckets, for each interval of a run apart.
type histogram struct {
	name, help string
	// edges are the upper ends of the buckets but the last, which has none, in ps
	// or tokens; text is how each is written.
	edges []int64
	text  []string
	// seconds tells that values are times.
	seconds bool
	// rows has for each interval, if there are values in it, the number in each
	// bucket, and the sum as whole seconds (or millions of millions of tokens) and
	// the rest.
	rows [][]int64
}

// whole is what a sum is carried at.
const whole = int64(sim.Second)

// add takes value v n times, in interval k.
func (h *histogram) add(k int, v int64, n int64) {
	row := at(&h.rows, k)
	if *row == nil {
		*row = make([]int64, len(h.edges)+3)
	}
	b, _ := slices.BinarySearch(h.edges, v)
	(*row)[b] += n
	sum := (*row)[len(h.edges)+1:]
	hi, lo := bits.Mul64(uint64(v%whole), uint64(n))
	carry, rest := bits.Div64(hi, lo, uint64(whole))
	sum[0] += v/whole*n + int64(carry)
	if sum[1] += int64(rest); sum[1] >= whole {
		sum[0], sum[1] = sum[0]+1, sum[1]-whole
	}
}

// merge adds interval k of h to a row of sums so far.
func (h *histogram) merge(sums []int64, k int) {
	if k >= len(h.rows) || h.rows[k] == nil {
		return
	}
	for i, n := range h.rows[k] {
		sums[i] += n
	}
	if last := len(sums) - 1; sums[last] >= whole {
		sums[last-1], sums[last] = sums[last-1]+1, sums[last]-whole
	}
}

// sum writes the sum of a row.
func (h *histogram) sum(b []byte, sums []int64) []byte {
	s := sums[len(sums)-2:]
	if !h.seconds {
		return append(strconv.AppendInt(b, s[0]*whole+s[1], 10), ".0"...)
	}
	b = strconv.AppendInt(b, s[0], 10)
	return append(b, appendTime(nil, sim.Duration(s[1]), inSeconds)[1:]...) // without its 0
}

// at returns element k of a list, which is made longer if need be.
func at[T any](list *[]T, k int) *T {
	if k >= len(*list) {
		*list = append(*list, make([]T, k+1-len(*list))...)
	}
	return &(*list)[k]
}

// times returns a histogram of times with edges in seconds, as vLLM spells them.
func times(name, help, edges string) *histogram {
	h := &histogram{name: name, help: help, seconds: true}
	for _, e := range strings.Fields(edges) {
		x, _ := strconv.ParseFloat(e, 64) // of a constant
		h.edges, h.text = append(h.edges, int64(x*1000)*int64(sim.Millisecond)), append(h.text, goFloat(x))
	}
	return h
}

// tokens returns a histogram of numbers.
func tokens(name, help string, edges []int64) *histogram {
	h := &histogram{name: name, help: help, edges: edges}
	for _, e := range edges {
		h.text = append(h.text, goFloat(float64(e)))
	}
	return h
}

// oneTwoFive returns 1, 2, 5, 10, 20 and so on up to most.
func oneTwoFive(most int64) []int64 {
	var list []int64
	for ten := int64(1); ten <= most; ten *= 10 {
		for _, m := range [...]int64{1, 2, 5} {
			if m*ten <= most {
				list = append(list, m*ten)
			}
		}
	}
	return list
}

// goFloat writes x as Prometheus' Python client does: 1.0, 0.075, 1e+06.
func goFloat(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if x >= 1e6 {
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
