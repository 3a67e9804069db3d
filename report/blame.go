package report

import (
	"fmt"
	"io"
	"strconv"

	"servesim/analysis"
	"servesim/analysis/blame"
	"servesim/sim"
)

// Blame writes for people what latencies were spent on. The only errors are those of w.
func Blame(w io.Writer, r *blame.Report) error {
	var p page
	p.blame(r)
	return p.to(w)
}

// BlameBlocks returns what Blame writes, in its order.
func BlameBlocks(r *blame.Report) []Block {
	var p page
	p.blame(r)
	return p.blocks
}

// blame is all that Blame writes.
func (p *page) blame(r *blame.Report) {
	p.bands("Blame, ms", &r.Bands[blame.TTFT], &r.Bands[blame.E2E])
	p.bands("Between tokens, ms", &r.Bands[blame.TPOT], &r.Bands[blame.WorstGap])
	p.blameGaps(&r.Gaps)
	p.culprits(r)
	p.item("blame", "%s", "means of the completed requests from the 40th to the 60th percentile (middle) and from the 99th on (tail) of each metric; neighbours within 0.4 % count as one. A step's time beyond that of its decodes alone is charged to its prompts by their tokens.")
}

// bands is the table of two metrics by cause.
func (p *page) bands(title string, a, b *blame.Bands) {
	columns := []*blame.Band{&a.All, &a.Middle, &a.Tail, &b.All, &b.Middle, &b.Tail}
	t := table{left: 1}
	t.add(title, a.Metric.String(), "middle", "tail", b.Metric.String(), "middle", "tail")
	row := func(name string, cell func(*blame.Band) string) {
		cells := []string{name}
		for _, c := range columns {
			if c.Count == 0 {
				cells = append(cells, "no data")
				continue
			}
			cells = append(cells, cell(c))
		}
		t.add(cells...)
	}
	row("  requests", func(c *blame.Band) string { return analysis.Grouped(c.Count) })
	row("  from", func(c *blame.Band) string { return milliseconds(c.Low) })
	row("  mean", func(c *blame.Band) string { return milliseconds(c.Mean) })
	for cause := range blame.Cause(blame.Causes) {
		any := sim.Duration(0)
		for _, c := range columns {
			any += c.Parts[cause]
		}
		if any > 0 {
			row("  "+cause.String(), func(c *blame.Band) string { return milliseconds(c.Parts[cause]) })
		}
	}
	t.write(p)
	p.line("")
}

// blameGaps says whose the longest gaps are.
func (p *page) blameGaps(g *blame.Gaps) {
	if g.Count == 0 {
		p.item("ITL", "no data: no request got two tokens")
		return
	}
	text := fmt.Sprintf("%s of %s gaps are about the 99th percentile, %s ms, or longer. In the mean they exceed the median, %s ms, by %s ms: %s of that is charged to other requests' prompts.",
		analysis.Grouped(g.Tail), analysis.Grouped(g.Count), milliseconds(g.P99), milliseconds(g.Median), milliseconds(g.Excess), Percent(named(g)))
	if from, prompts, share := g.Most(); prompts > 0 {
		text += fmt.Sprintf(" The %s of %s tokens or more took %s of what all prompts took of them.",
			analysis.Counted(prompts, "prompt"), analysis.Grouped(from), Percent(share))
	}
	p.item("ITL", "%s", text)
}

// named returns the share of the tail's excess that prompts took.
func named(g *blame.Gaps) float64 {
	if g.Excess == 0 {
		return 0
	}
	return float64(g.Named) / float64(g.Excess)
}

// culprits says which prompts cost others time.
func (p *page) culprits(r *blame.Report) {
	p.item("Prompts", "a request lost %s ms between its tokens, and %s ms before them, to the prompts of others", milliseconds(r.Decode), milliseconds(r.Wait))
	if r.Decode+r.Wait == 0 {
		p.line("")
		return
	}
	t := table{}
	t.add("  prompt tokens", "requests", "share", "of time between tokens", "before them")
	for _, l := range r.Lengths {
		t.add(fmt.Sprintf("  %s to %s", analysis.Grouped(l.From), analysis.Grouped(l.Below-1)), analysis.Grouped(l.Prompts),
			Percent(float64(l.Prompts)/float64(max(1, r.Requests))), Percent(l.Decode), Percent(l.Wait))
	}
	t.write(p)
	p.line("")
	if len(r.Top) == 0 {
		return
	}
	top := table{}
	top.add("  costliest", "prompt tokens", "ms between others' tokens", "ms before them")
	for _, c := range r.Top {
		top.add("  "+strconv.FormatInt(c.ID, 10), analysis.Grouped(int64(c.Prompt)), milliseconds(c.Decode), milliseconds(c.Wait))
	}
	top.write(p)
	p.line("")
}

// BlameMember is r as a member of JSON.
func BlameMember(r *blame.Report) Member {
	bands := object{}
	for i := range r.Bands {
		b := &r.Bands[i]
		bands = append(bands, Member{b.Metric.Key(), object{{"all", bandObject(&b.All)}, {"middle", bandObject(&b.Middle)}, {"tail", bandObject(&b.Tail)}}})
	}
	g := &r.Gaps
	lengths, tail, top := []object{}, []object{}, []object{}
	for _, l := range g.Lengths {
		tail = append(tail, object{{"from", l.From}, {"below", l.Below}, {"prompts", l.Prompts}, {"share", real(l.Share)}})
	}
	for _, l := range r.Lengths {
		lengths = append(lengths, object{{"from", l.From}, {"below", l.Below}, {"requests", l.Prompts}, {"culprits", l.Culprits},
			{"decode_share", real(l.Decode)}, {"wait_share", real(l.Wait)}})
	}
	for _, c := range r.Top {
		top = append(top, object{{"id", c.ID}, {"prompt", c.Prompt}, {"decode_ps", int64(c.Decode)}, {"wait_ps", int64(c.Wait)}})
	}
	return Member{"blame", object{
		{"requests", r.Requests}, {"bands", bands},
		{"itl", object{{"count", g.Count}, {"median_ps", int64(g.Median)}, {"p99_ps", int64(g.P99)}, {"tail", g.Tail},
			{"tail_excess_ps", int64(g.Excess)}, {"tail_named_ps", int64(g.Named)}, {"tail_prompts_by_length", tail}}},
		{"mean_decode_cost_ps", int64(r.Decode)}, {"mean_wait_cost_ps", int64(r.Wait)},
		{"prompts_by_length", lengths}, {"culprits", top},
	}}
}

// bandObject is b as an object, nil if it has no requests.
func bandObject(b *blame.Band) any {
	if b.Count == 0 {
		return nil
	}
	return object{{"count", b.Count}, {"low_ps", int64(b.Low)}, {"high_ps", int64(b.High)}, {"mean_ps", int64(b.Mean)}, {"parts_ps", partsObject(&b.Parts)}}
}

// partsObject is parts as an object, without those that are 0.
func partsObject(parts *blame.Parts) object {
	o := object{}
	for c, d := range parts {
		if d > 0 {
			o = append(o, Member{blame.Cause(c).Key(), int64(d)})
		}
	}
	return o
}
