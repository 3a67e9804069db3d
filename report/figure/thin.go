package figure

import "math"

// thin returns the indices, ascending, of at most most of the points x, y that show
// the same picture: the first and the last, the lowest and the highest, and of each
// of equal parts of the rest that which makes the largest triangle with the one
// chosen before and the mean of the part after (LTTB; Steinarsson, "Downsampling
// Time Series for Visual Representation", 2013). Values are as they are laid out: of
// a logarithmic axis their logarithms.
func thin(x, y []float64, most int) []int {
	n := len(y)
	if n <= most || most < 6 {
		return all(n)
	}
	low, high := 0, 0
	for i, v := range y {
		if v < y[low] {
			low = i
		}
		if v > y[high] {
			high = i
		}
	}
	keep := make([]bool, n)
	keep[0], keep[n-1], keep[low], keep[high] = true, true, true, true
	parts := most - 4
	last := 0
	for p := range parts {
		from, to := part(n, parts, p)
		next, end := part(n, parts, p+1)
		if p == parts-1 {
			next, end = n-1, n
		}
		mx, my := mean(x[next:end]), mean(y[next:end])
		best, area := from, -1.0
		for i := from; i < to; i++ {
			a := math.Abs(float64((x[last]-mx)*(y[i]-y[last])) - float64((x[last]-x[i])*(my-y[last])))
			if a > area {
				best, area = i, a
			}
		}
		keep[best], last = true, best
	}
	var chosen []int
	for i, k := range keep {
		if k {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// fineness is the part of the range of an axis that a curve is traced to.
const fineness = 1.0 / 200

// trace returns the indices, ascending, of the points of a curve that rises or falls all
// the way that show the same picture: one wherever it has gone on by fineness along
// either axis, and the corners of jumps. Other curves are thinned by thin.
func trace(x, y []float64) []int {
	n := len(x)
	if n < 3 {
		return all(n)
	}
	farX, farY := float64((x[n-1]-x[0])*fineness), float64(math.Abs(y[n-1]-y[0])*fineness)
	far := func(a, b int) bool { return math.Abs(x[b]-x[a]) > farX || math.Abs(y[b]-y[a]) > farY }
	keep := []int{0}
	for i := 1; i < n; i++ {
		last := keep[len(keep)-1]
		switch {
		case !far(last, i) && i < n-1:
			continue
		case i-1 > last && far(i-1, i):
			keep = append(keep, i-1)
		}
		keep = append(keep, i)
	}
	return keep
}

// part returns the points of part p of parts that those between the first and the
// last of n are divided into.
func part(n, parts, p int) (from, to int) {
	return 1 + p*(n-2)/parts, 1 + (p+1)*(n-2)/parts
}

// all returns the indices of n points.
func all(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// mean returns that of v, which isn't empty.
func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// pick returns the elements of v at indices.
func pick[T any](v []T, indices []int) []T {
	if v == nil {
		return nil
	}
	out := make([]T, len(indices))
	for i, k := range indices {
		out[i] = v[k]
	}
	return out
}
