package export

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"servesim/analysis/transcript"
	"servesim/internal/exact"
	"servesim/internal/infile"
	"servesim/sim"
)

// columns checks that arrays with an element for each request are there and are
// as long as each other.
type columns struct {
	n      int // elements of the first
	first  string
	absent []string
	wrong  []string
}

// need takes an array that must be there; absent tells that it isn't.
func (c *columns) need(name string, there bool, n int) {
	if !there {
		c.absent = append(c.absent, name)
		return
	}
	c.may(name, true, n)
}

// may takes an array that need not be there.
func (c *columns) may(name string, there bool, n int) {
	switch {
	case !there:
	case c.first == "":
		c.first, c.n = name, n
	case n != c.n:
		c.wrong = append(c.wrong, fmt.Sprintf("%d %s", n, name))
	}
}

// check adds faults for what is missing or of another length; fix says how to
// get what is missing.
func (c *columns) check(p *pass, fix string) bool {
	if c.absent != nil {
		p.fault("", "no "+infile.List(c.absent, "and"), "an element of each for every request", fix)
	}
	if c.wrong != nil {
		p.fault("", fmt.Sprintf("%d %s but %s", c.n, c.first, infile.List(c.wrong, "and")), "arrays of one length, an element for every request", "")
	}
	return c.absent == nil && c.wrong == nil
}

// tolerance is how much two ways to time the same may differ: what is lost where
// a float64 of seconds since 1970 is rounded, and a share for sums of many.
func tolerance(d sim.Duration) sim.Duration { return 2*sim.Microsecond + d/1_000_000 }

// parts adds a fault if whole is shorter than sum, that of its parts, which of says
// in words, or so much longer that they are in different units. It may be longer by
// what ends a stream. It tells whether there was none.
func parts(p *pass, path string, whole, sum sim.Duration, of string) bool {
	before := p.faults.Len()
	switch ratio := float64(whole) / float64(max(sum, 1)); {
	case whole+tolerance(sum) < sum:
		fix := "no part of a call can be longer than the call"
		if ratio < 5e-3 {
			fix = "the parts seem to be in units a thousand times smaller"
		}
		p.fault(path, seconds(whole), "at least "+of+", "+seconds(sum), fix)
	case ratio > 500 && whole > sim.Second:
		p.fault(path, seconds(whole), "about "+of+", "+seconds(sum), "one of them seems to be in units a thousand times smaller")
	}
	return p.faults.Len() == before
}

// units adds a fault if the mean that a file states differs from that of its
// values by about a factor of a thousand. Otherwise it says how they differ, if
// they do, or returns "".
func units(p *pass, key string, said *float64, is float64, of string) (note string) {
	if said == nil || *said != *said || is == 0 || *said == 0 {
		return ""
	}
	ratio := *said / is
	switch {
	case ratio > 500 || ratio < 2e-3:
		p.fault(key, strconv.FormatFloat(*said, 'g', 6, 64)+" ms", "the mean of "+of+", "+strconv.FormatFloat(is, 'g', 6, 64)+" ms",
			"one of the two is in another unit than the tool writes")
	case ratio > 1+1e-6 || ratio < 1-1e-6:
		return fmt.Sprintf("the file says %s %.6g, its %s give %.6g", key, *said, of, is)
	}
	return ""
}

// sumOf returns the sum of gaps, at most the longest time that there is.
func sumOf(gaps []span) (sum sim.Duration) {
	for _, g := range gaps {
		if sum += sim.Duration(g); sum < 0 {
			return sim.MaxDuration / 2
		}
	}
	return min(sum, sim.MaxDuration/2) // something is added to it
}

// stream makes the chunks of a call that came first after it was sent, and then
// with gaps between them. The tokens of each are known only if there is one.
func (f *found) stream(first sim.Duration, gaps []span) {
	at, tokens := sim.Time(first), transcript.Unknown
	if f.call.Output == int32(len(gaps)+1) {
		tokens = 1
	}
	f.call.Chunks = make([]transcript.Chunk, 0, len(gaps)+1)
	f.call.Chunks = append(f.call.Chunks, transcript.Chunk{At: at, Tokens: tokens})
	for _, g := range gaps {
		if at += sim.Time(g); at < 0 {
			at = sim.MaxTime // which is a fault
		}
		f.call.Chunks = append(f.call.Chunks, transcript.Chunk{At: at, Tokens: tokens})
	}
	f.call.Closed = at
}

// twoEnds makes the chunks of a call of which the first and the last instant are
// known.
func (f *found) twoEnds(first, last sim.Duration) {
	a, b := firstOf(f.call.Output)
	f.call.Chunks = []transcript.Chunk{{At: sim.Time(first), Tokens: a}, {At: sim.Time(last), Tokens: b}}
	f.call.Closed = sim.Time(last)
	if f.gaps = f.call.Output == 1; f.gaps {
		f.call.Chunks = f.call.Chunks[:1]
	}
}

// closed notes when the stream ended, if that is after its last chunk; what is
// before it by less than the clock can tell is not.
func (f *found) closed(at sim.Duration) { f.call.Closed = max(f.call.Closed, sim.Time(at)) }

// fingerprint returns what stands for a name where only equality matters.
func fingerprint(name string) (key [16]byte) {
	sum := sha256.Sum256([]byte(name))
	copy(key[:], sum[:])
	return key
}

// lineName says which line.
func lineName(line int64) string { return "line " + strconv.FormatInt(line, 10) }

// seconds writes d in s.
func seconds(d sim.Duration) string { return string(exact.FromDuration(d).Append(nil)) + " s" }
