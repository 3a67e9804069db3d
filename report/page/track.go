package page

import (
	"fmt"
	"strings"

	"servesim/analysis/blame"
	"servesim/sim"
)

// The size of a track: a column for each part of a life, in which each cause is as
// high as its share of that part.
const (
	trackWidth  = 320
	trackHeight = 50
)

// A Path is the places of a cause on a track.
type Path struct {
	Cause int
	Name  string
	D     string
}

// trackOf returns the paths of pieces that begin each where the one before ends, and
// last for whole together, none of a life too short to be divided.
func trackOf(pieces []blame.Piece, whole sim.Duration) []Path {
	if whole < sim.Microsecond || len(pieces) == 0 {
		return nil
	}
	columns := columnsOf(pieces, whole)
	var b [blame.Causes]strings.Builder
	from := 0
	for i := range columns {
		if i+1 < len(columns) && columns[i+1] == columns[from] {
			continue
		}
		low := 0
		for c, h := range columns[from] {
			if h > low {
				fmt.Fprintf(&b[c], "M%d %dH%dV%dH%dZ", from, trackHeight-h, i+1, trackHeight-low, from)
				low = h
			}
		}
		from = i + 1
	}
	var paths []Path
	for c := range b {
		if b[c].Len() > 0 {
			paths = append(paths, Path{c, blame.Cause(c).String(), b[c].String()})
		}
	}
	return paths
}

// columnsOf returns for each column how high the causes up to each stand in it.
func columnsOf(pieces []blame.Piece, whole sim.Duration) (out [trackWidth][blame.Causes]int) {
	var shares [trackWidth]blame.Parts
	begin := pieces[0].Start
	column := func(d sim.Duration) int { return int(min(trackWidth-1, int64(float64(d)/float64(whole)*trackWidth))) }
	edge := func(i int) sim.Duration { return sim.Duration(float64(whole) / trackWidth * float64(i)) }
	for _, p := range pieces {
		from := p.Start.Sub(begin)
		to := from + p.Lasts
		for i := column(from); i < trackWidth && from < to; i++ {
			end := to
			if i+1 < trackWidth {
				end = min(to, max(from, edge(i+1)))
			}
			shares[i][p.Cause] += end - from
			from = end
		}
	}
	for i := range shares {
		sum, up := shares[i].Sum(), sim.Duration(0)
		for c, d := range shares[i] {
			up += d
			out[i][c] = int(int64(float64(up) / float64(max(1, sum)) * trackHeight))
		}
	}
	return out
}
