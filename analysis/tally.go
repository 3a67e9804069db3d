package analysis

// A Tally counts how many of a run's requests were good, in the order of their
// records, and says how precisely the share of them is known. The zero value is
// an empty Tally. It takes 16 KB however many requests there are.
type Tally struct {
	cells        []tallyCell
	span, filled int64 // requests that a cell takes, and those in the last one
}

// tallyCell is a stretch of requests.
type tallyCell struct{ good, n int64 }

// Add counts a request.
func (t *Tally) Add(good bool) {
	if t.filled == t.span || len(t.cells) == 0 {
		t.next()
	}
	c := &t.cells[len(t.cells)-1]
	c.n++
	if good {
		c.good++
	}
	t.filled++
}

// next begins a stretch; when there are twice as many as needed, each two become one.
func (t *Tally) next() {
	t.span = max(t.span, 1)
	if len(t.cells) == 4*stretchCells {
		for i := range 2 * stretchCells {
			a, b := t.cells[2*i], t.cells[2*i+1]
			t.cells[i] = tallyCell{a.good + b.good, a.n + b.n}
		}
		t.cells = t.cells[:2*stretchCells]
		t.span *= 2
	}
	t.cells = append(t.cells, tallyCell{})
	t.filled = 0
}

// Interval returns the 95 % interval of the share of good requests. Where none or
// all were good nothing in it says how failures crowd: it then is that of effective
// independent requests, as many as say as much by another measure, such as the
// latencies that are limited; there is none if that is below 1.
func (t *Tally) Interval(effective float64) ShareInterval {
	return shareInterval(t.cells, false, func() float64 { return effective })
}

// shareInterval returns the interval of the share of good requests in cells,
// which are successive stretches of a run, or replications of it. effective is
// asked where none or all are good.
func shareInterval(cells []tallyCell, replications bool, effective func() float64) ShareInterval {
	s := stretches{replications: replications, levels: []Percentile{{}}, marks: []int64{0}}
	var good, n int64
	for _, c := range cells {
		good, n = good+c.good, n+c.n
		s.cells = append(s.cells, stretch{n: c.n, less: []int64{c.good}, equal: []int64{0}})
	}
	e, ok := s.enough()
	if !ok {
		return ShareInterval{Evidence: e}
	}
	if good == 0 || good == n {
		e.Needs, e.Effective = 0, min(effective(), float64(n))
		if e.OK = e.Effective >= 1; !e.OK {
			return ShareInterval{Evidence: e}
		}
		if off := uniformShare(e.Effective); good == 0 {
			return ShareInterval{e, 0, off}
		} else {
			return ShareInterval{e, 1 - off, 1}
		}
	}
	from := s.effective(Percentile{})
	if e = s.evidence(from, fewestEffective); !e.OK {
		return ShareInterval{Evidence: e}
	}
	lo, hi := scoreShares(float64(good)/float64(n), from)
	return ShareInterval{e, lo, hi}
}
